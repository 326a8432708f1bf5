"""What U, grad_U and updates of a custom target are written with.

Each works on a quantity of eight chains at once (see mahmc/lanes.py) and on plain numbers alike:

    exp  log  sqrt  absolute  floor  sigmoid  softplus      of one value
    maximum(a, b)  minimum(a, b)  where(condition, a, b)    by chain; there is no `if` by chain
    uniform(rng)  normal(rng)                               random numbers, one a chain
    grad_U(self, q, other, grad)                            the target's own: for an update to leave the gradient right

+ − * / , whole powers (x**2), < <= > >= == , & | ~ of conditions, and loops over range(n) work as they are written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from mahmc import lanes as _lanes
from mahmc.compiled import INLINED, inlined
from mahmc.lanes import lanes, maximum, where
from mahmc.streams import normal_pair, uniform

__all__ = [
    "absolute", "exp", "floor", "grad_U", "log", "maximum", "minimum", "normal", "sigmoid", "softplus", "sqrt",
    "uniform", "where",
]  # fmt: skip


def U(target, q, other):
    """U(q^H, q^O) of a target that a person wrote."""
    raise NotImplementedError("compiled code only")


def grad_U(target, q, other, grad):
    """Write ∇U with respect to q^H into `grad`."""
    raise NotImplementedError("compiled code only")


def _of_lanes_and_numbers(of_lanes: Callable, of_numbers: Callable) -> Callable:
    """A function that compiled code may call with lanes or with a number; its own name is that of the first."""

    def function(x: Any) -> Any:
        return of_numbers(x)

    def choose(x):
        if x == lanes:
            return lambda x: of_lanes(x)
        return (lambda x: of_numbers(x)) if isinstance(x, types.Number) else None

    overload(function, jit_options=INLINED, strict=False)(choose)
    return function


@inlined
def _softplus(x):
    return _lanes.sigmoid_softplus(x)[1]


exp = _of_lanes_and_numbers(_lanes.exp, math.exp)
log = _of_lanes_and_numbers(_lanes.log, math.log)
sqrt = _of_lanes_and_numbers(_lanes.sqrt, math.sqrt)
absolute = _of_lanes_and_numbers(_lanes.absolute, math.fabs)
floor = _of_lanes_and_numbers(_lanes.floor, np.floor)
sigmoid = _of_lanes_and_numbers(_lanes.sigmoid, inlined(lambda x: 1.0 / (1.0 + math.exp(-x))))
softplus = _of_lanes_and_numbers(_softplus, inlined(lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))))


@inlined
def minimum(a, b):
    return where(a < b, a, b)


@inlined
def normal(rng):
    """A standard normal number in each lane."""
    first, _ = normal_pair(rng)
    return first
