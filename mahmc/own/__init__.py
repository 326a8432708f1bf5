"""A custom target: a class, a decorator, and helpers to write its functions with. See docs/own-target.md.

    import mahmc
    from mahmc.own import exp, real

    @mahmc.target
    class Funnel:
        ...

Then `Funnel(dim=5)` is a target, and "funnel" one of `mahmc.targets.FAMILIES`: known to `sample`, `compare`, the
command line and every page of the dashboard in this process.
"""

from mahmc.own.declare import setting, target, update
from mahmc.own.load import find, load_targets
from mahmc.own.tools import (
    absolute,
    exp,
    floor,
    grad_U,
    log,
    maximum,
    minimum,
    normal,
    sigmoid,
    softplus,
    sqrt,
    uniform,
    where,
)  # fmt: skip
from mahmc.own.variables import discrete, real
from mahmc.targets.base import Truth, Views, mass_truth

__all__ = [
    "Truth", "Views", "absolute", "discrete", "exp", "find", "floor", "grad_U", "load_targets", "log", "mass_truth",
    "maximum", "minimum", "normal", "real", "setting", "sigmoid", "softplus", "sqrt", "target", "uniform", "update",
    "where",
]  # fmt: skip
