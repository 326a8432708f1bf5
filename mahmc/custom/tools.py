"""Functions for U, grad_U and updates of a custom target.

Each function takes a quantity of eight chains (see mahmc/lanes) or plain numbers, and in Python also NumPy arrays:

    exp  expm1  log  log1p  sqrt  absolute  floor  ceil     of one value
    sin  cos  tan  arcsin  arccos  arctan                   of one value
    sinh  cosh  tanh  arcsinh  arccosh  arctanh             of one value
    erf  erfc  lgamma  digamma  sigmoid  softplus  logit    of one value
    arctan2(a, b)  hypot(a, b)  logaddexp(a, b)             of two values
    maximum(a, b)  minimum(a, b)                            of two values, for each chain
    where(condition, a, b)                                  a choice for each chain, instead of `if`
    uniform(rng)  normal(rng)                               random numbers, one for each chain
    grad_U(self, q, other, grad)                            the target's own gradient: updates call it at the new point

The operators + − * / // % **, comparisons, & | ~ of conditions, and loops over range(n) work as in Python. In compiled
functions, many functions of Python, math, NumPy and SciPy have the same meaning; see `names`.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.extending import overload

from mahmc import lanes as _lanes
from mahmc.compiled import INLINED, Function, inlined
from mahmc.custom.described import describe
from mahmc.lanes import library, lookup, values
from mahmc.lanes.types import lanes, mask
from mahmc.streams import normal_pair, uniform

lane_value, splat, _where = (cast(Any, part) for part in (values.lane_value, values.splat, values.where))

__all__ = [
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil", "cos", "cosh",
    "digamma", "erf", "erfc", "exp", "expm1", "floor", "grad_U", "hypot", "lgamma", "log", "log1p", "logaddexp",
    "logit", "maximum", "minimum", "normal", "sigmoid", "sin", "sinh", "softplus", "sqrt", "tan", "tanh", "uniform",
    "where",
]  # fmt: skip


def U(target, q, other):
    """U(q^H, q^O) of a custom target."""
    raise NotImplementedError("compiled code only")


def grad_U(target, q, other, grad) -> None:
    """Write ∇U with respect to q^H into `grad`. Updates call this function at the new point.

    Parameters
    ----------
    target
        The target: `self` in the methods of a class.
    q, other
        The rows of q^H and q^O.
    grad
        The rows that get the gradient.

    Examples
    --------
    >>> def update(self, q, other, grad, rng):
    ...     other[0] = 1 - other[0]
    ...     mahmc.custom.grad_U(self, q, other, grad)
    """
    raise NotImplementedError("compiled code only")


def _special(name: str) -> Function:
    """A function of scipy.special. SciPy is imported when Python first calls the function."""

    def function(*arguments: Any) -> Any:
        from scipy import special

        return getattr(special, name)(*arguments)

    return function


def _of_one(of_lanes: Function, of_numbers: Function, in_python: Function) -> Function:
    """Make a function that compiled code calls with lanes or a number, and Python with a number or an array."""

    def function(x: Any) -> Any:
        return in_python(x)

    def choose(x):
        if x == lanes:
            return lambda x: of_lanes(x)
        return (lambda x: of_numbers(x)) if isinstance(x, types.Number) else None

    overload(function, jit_options=INLINED, strict=False)(choose)
    return function


def _of_two(of_lanes: Function, of_numbers: Function, in_python: Function) -> Function:
    """Make such a function of two values (see `_of_one`). In compiled code each value is lanes or a number."""

    def function(a: Any, b: Any) -> Any:
        return in_python(a, b)

    def choose(a, b):
        if not all(x == lanes or isinstance(x, types.Number) for x in (a, b)):
            return None
        return (lambda a, b: of_lanes(a, b)) if lanes in (a, b) else (lambda a, b: of_numbers(a, b))

    overload(function, jit_options=INLINED, strict=False)(choose)
    return function


def _by_lanes(of_lanes: Function) -> Function:
    """Make a function of numbers from a function of lanes, so that both have the same bits on every processor."""
    return inlined(lambda x: lane_value(of_lanes(splat(x)), 0))


_softplus = inlined(lambda x: _lanes.sigmoid_softplus(x)[1])
_logit = inlined(lambda x: _lanes.log(x / (1.0 - x)))

exp = _of_one(_lanes.exp, _by_lanes(_lanes.exp), np.exp)
expm1 = _of_one(_lanes.expm1, _by_lanes(_lanes.expm1), np.expm1)
log = _of_one(_lanes.log, _by_lanes(_lanes.log), np.log)
log1p = _of_one(_lanes.log1p, _by_lanes(_lanes.log1p), np.log1p)
sqrt = _of_one(values.sqrt, math.sqrt, np.sqrt)
absolute = _of_one(values.absolute, inlined(lambda x: abs(x)), np.absolute)
floor = _of_one(values.floor, np.floor, np.floor)
ceil = _of_one(values.ceil, np.ceil, np.ceil)
sin = _of_one(library.sin, math.sin, np.sin)
cos = _of_one(library.cos, math.cos, np.cos)
tan = _of_one(library.tan, math.tan, np.tan)
arcsin = _of_one(library.arcsin, math.asin, np.arcsin)
arccos = _of_one(library.arccos, math.acos, np.arccos)
arctan = _of_one(library.arctan, math.atan, np.arctan)
sinh = _of_one(library.sinh, math.sinh, np.sinh)
cosh = _of_one(library.cosh, math.cosh, np.cosh)
tanh = _of_one(_lanes.tanh, _by_lanes(_lanes.tanh), np.tanh)
arcsinh = _of_one(library.arcsinh, math.asinh, np.arcsinh)
arccosh = _of_one(library.arccosh, math.acosh, np.arccosh)
arctanh = _of_one(library.arctanh, math.atanh, np.arctanh)
erf = _of_one(library.erf, math.erf, _special("erf"))
erfc = _of_one(library.erfc, math.erfc, _special("erfc"))
lgamma = _of_one(library.lgamma, math.lgamma, _special("gammaln"))
digamma = _of_one(library.digamma, _by_lanes(library.digamma), _special("digamma"))
sigmoid = _of_one(_lanes.sigmoid, _by_lanes(_lanes.sigmoid), _special("expit"))
softplus = _of_one(_softplus, _by_lanes(_softplus), lambda x: np.logaddexp(0.0, x))
logit = _of_one(_logit, _by_lanes(_logit), _special("logit"))
# The result is NaN if a or b is NaN, so that a chain that ends there is rejected.
maximum = _of_two(
    inlined(lambda a, b: _where((a > b) | (a != a), a, b)), inlined(lambda a, b: np.maximum(a, b)), np.maximum
)
minimum = _of_two(
    inlined(lambda a, b: _where((a < b) | (a != a), a, b)), inlined(lambda a, b: np.minimum(a, b)), np.minimum
)
arctan2 = _of_two(library.arctan2, math.atan2, np.arctan2)
hypot = _of_two(library.hypot, math.hypot, np.hypot)


@inlined
def _log_sum(a, b):
    """log(e^a + e^b): the larger value plus log(1 + e^−|a − b|)."""
    larger, smaller = _where(a > b, a, b), _where(a > b, b, a)
    return _where(larger == smaller, larger + 0.6931471805599453, larger + _lanes.log1p(_lanes.exp(smaller - larger)))


logaddexp = _of_two(_log_sum, inlined(lambda a, b: lane_value(_log_sum(splat(a), splat(b)), 0)), np.logaddexp)

describe(globals())


def where(condition, a, b):
    """Choose for each chain: a where the condition holds, else b.

    Parameters
    ----------
    condition
        A comparison, as q[0] > 0. Conditions are joined by & and |, and negated by ~.
    a, b
        Quantities of chains, numbers or, in Python, arrays.

    Returns
    -------
    quantity, number or numpy.ndarray
        The choice.

    Examples
    --------
    >>> mahmc.custom.where(np.array([True, False]), 1, 2).tolist()
    [1, 2]
    """
    return np.where(condition, a, b)


@overload(where, jit_options=INLINED, strict=False)
def _choose_where(condition, a, b):
    if condition == mask:
        if a == mask and b == mask:
            return lambda condition, a, b: (condition & a) | (~condition & b)
        return lambda condition, a, b: _where(condition, a, b)
    if isinstance(condition, types.Boolean | types.Number):
        return lambda condition, a, b: a if condition else b
    return None


@inlined
def normal(rng):
    """A standard normal number in each lane."""
    first, _ = normal_pair(rng)
    return first


# ------------------------------------------------------------------------- functions with other names in Python


def largest(a, *more):
    """max(a, b, …), or the maximum of rows."""
    return max(a, *more)


def least(a, *more):
    """min(a, b, …), or the minimum of rows."""
    return min(a, *more)


def total(a):
    """The sum of rows or of an array."""
    return sum(a)


def whole(x):
    """int(x)."""
    return int(x)


def real_number(x):
    """float(x)."""
    return float(x)


def truth(x):
    """Whether x is a condition that holds, or a number that is not 0."""
    return x if isinstance(x, bool) else x != 0


def nearest(x):
    """round(x)."""
    return round(x)


power = inlined(lambda x, y: x**y)
real_power = inlined(lambda x, y: real_number(x) ** real_number(y))  # math.pow of whole numbers is a float
both, either = inlined(lambda a, b: truth(a) & truth(b)), inlined(lambda a, b: truth(a) | truth(b))
negation = inlined(lambda a: ~truth(a))
clip = inlined(lambda x, low, high: minimum(maximum(x, low), high))
inner_product = inlined(lambda a, b: a @ b)
whole_floor = _of_one(values.floor, math.floor, np.floor)  # math.floor of a number is an int, np.floor a float
whole_ceil = _of_one(values.ceil, math.ceil, np.ceil)
square = _of_one(inlined(lambda x: x * x), inlined(lambda x: x * x), np.square)
_log2 = inlined(lambda x: _lanes.log(x) * 1.4426950408889634)  # 1/log 2
_log10 = inlined(lambda x: _lanes.log(x) * 0.4342944819032518)  # 1/log 10
log2 = _of_one(_log2, math.log2, np.log2)  # of numbers: exact for powers of 2
log10 = _of_one(_log10, math.log10, np.log10)
sign = _of_one(
    inlined(lambda x: _where(x > 0.0, 1.0, _where(x < 0.0, -1.0, x))),
    inlined(lambda x: np.sign(x)),
    np.sign,
)
is_finite = _of_one(_lanes.is_finite, inlined(lambda x: np.isfinite(x)), np.isfinite)
is_nan = _of_one(inlined(lambda x: x != x), inlined(lambda x: np.isnan(x)), np.isnan)
normal_cdf = _of_one(
    inlined(lambda x: 0.5 * library.erfc(x * -math.sqrt(0.5))),
    inlined(lambda x: 0.5 * math.erfc(x * -math.sqrt(0.5))),
    _special("ndtr"),
)
_log_sigmoid = inlined(lambda x: -_lanes.sigmoid_softplus(-x)[1])
log_sigmoid = _of_one(_log_sigmoid, _by_lanes(_log_sigmoid), _special("log_expit"))


def _extreme(function: Function, of_two: Function, of_rows: Function, of_others: Function) -> None:
    def choose(a, *more):
        if not more:
            return (lambda a, *more: of_rows(a)) if isinstance(a, _lanes.RowsType) else (lambda a, *more: of_others(a))
        if len(more) == 1:
            return lambda a, *more: of_two(a, more[0])
        return lambda a, *more: of_two(a, function(*more))

    overload(function, jit_options=INLINED, strict=False)(choose)


_extreme(largest, maximum, lookup.rows_max, inlined(lambda a: max(a)))
_extreme(least, minimum, lookup.rows_min, inlined(lambda a: min(a)))


@overload(total, jit_options=INLINED, strict=False)
def _choose_total(a):
    return (lambda a: lookup.rows_sum(a)) if isinstance(a, _lanes.RowsType) else (lambda a: sum(a))


@overload(whole, jit_options=INLINED, strict=False)
def _choose_whole(x):
    return (lambda x: values.trunc(x)) if x == lanes else (lambda x: int(x))


@overload(real_number, jit_options=INLINED, strict=False)
def _choose_real_number(x):
    if x == mask:
        return lambda x: _where(x, 1.0, 0.0)
    return (lambda x: x) if x == lanes else (lambda x: float(x))


@overload(truth, jit_options=INLINED, strict=False)
def _choose_truth(x):
    return (lambda x: x) if x == mask or isinstance(x, types.Boolean) else (lambda x: x != 0.0)


@overload(nearest, jit_options=INLINED, strict=False)
def _choose_nearest(x):
    return (lambda x: values.rint(x)) if x == lanes else (lambda x: round(x))
