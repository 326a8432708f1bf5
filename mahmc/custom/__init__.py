"""A custom target: a class, a decorator, and helpers to write its functions with. See docs/custom-target.md.

    import mahmc
    from mahmc.custom import exp, real

    @mahmc.target
    class Funnel:
        ...

Then `Funnel(dim=5)` is a target, and "funnel" one of `mahmc.targets.FAMILIES`: known to `sample`, `compare`, the
command line and every page of the dashboard in this process.
"""

from mahmc.custom.declare import setting, target, update, visit
from mahmc.custom.load import find, load_targets
from mahmc.custom.tools import (
    absolute,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    ceil,
    cos,
    cosh,
    digamma,
    erf,
    erfc,
    exp,
    expm1,
    floor,
    grad_U,
    hypot,
    lgamma,
    log,
    log1p,
    logaddexp,
    logit,
    maximum,
    minimum,
    normal,
    sigmoid,
    sin,
    sinh,
    softplus,
    sqrt,
    tan,
    tanh,
    uniform,
    where,
)  # fmt: skip
from mahmc.custom.variables import discrete, real
from mahmc.targets.base import Truth, Views, mass_truth

__all__ = [
    "Truth", "Views", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil",
    "cos", "cosh", "digamma", "discrete", "erf", "erfc", "exp", "expm1", "find", "floor", "grad_U", "hypot", "lgamma",
    "load_targets", "log", "log1p", "logaddexp", "logit", "mass_truth", "maximum", "minimum", "normal", "real",
    "setting", "sigmoid", "sin", "sinh", "softplus", "sqrt", "tan", "tanh", "target", "uniform", "update", "visit",
    "where",
]  # fmt: skip
