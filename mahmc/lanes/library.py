"""Elementary functions of lanes by the C library, one lane after the other: as accurate as the library.

A call takes about eight times as long as a call with one number. `exp`, `log` and other functions in `functions` are
polynomials instead.
"""

from __future__ import annotations

import math
import operator

from numba.core import types
from numba.extending import overload

from mahmc.compiled import INLINED, Function, inlined
from mahmc.lanes.functions import log
from mahmc.lanes.operators import whole_power
from mahmc.lanes.types import LANES, lanes
from mahmc.lanes.values import floor, lane_value, splat, sqrt, where, with_lane


def by_lane(function: Function) -> Function:
    """Make a function of lanes from a compiled function of one number."""
    of_number = inlined(lambda x: function(x))

    @inlined
    def of_lanes(x):
        result = splat(0.0)
        for c in range(LANES):
            result = with_lane(result, c, of_number(lane_value(x, c)))
        return result

    return of_lanes


def by_two_lanes(function: Function) -> Function:
    """Make a function of two lanes values from a compiled function of two numbers; one argument may be a number."""
    of_numbers = inlined(lambda x, y: function(x, y))

    @inlined
    def of_lanes(x, y):
        a, b, result = splat(x), splat(y), splat(0.0)
        for c in range(LANES):
            result = with_lane(result, c, of_numbers(lane_value(a, c), lane_value(b, c)))
        return result

    return of_lanes


sin, cos, tan = by_lane(math.sin), by_lane(math.cos), by_lane(math.tan)
arcsin, arccos, arctan = by_lane(math.asin), by_lane(math.acos), by_lane(math.atan)
sinh, cosh = by_lane(math.sinh), by_lane(math.cosh)
arcsinh, arccosh, arctanh = by_lane(math.asinh), by_lane(math.acosh), by_lane(math.atanh)
erf, erfc, lgamma = by_lane(math.erf), by_lane(math.erfc), by_lane(math.lgamma)
arctan2, hypot = by_two_lanes(math.atan2), by_two_lanes(math.hypot)
_any_power = by_two_lanes(math.pow)


_whole_power = inlined(whole_power)


@inlined
def _power_of_lanes(x, y):
    """x^y for a number y; frequent powers (½, −½, small whole numbers) are computed without the library."""
    if y == 0.5:
        return sqrt(x)
    if y == -0.5:
        return 1.0 / sqrt(x)
    if y == math.floor(y) and abs(y) <= 16.0:
        return _whole_power(x, int(y))
    return _any_power(x, y)


@overload(operator.pow, jit_options=INLINED, strict=False)
def _power(x, y):
    """x**y where y is not a whole number."""
    if x == lanes and isinstance(y, types.Float):
        return lambda x, y: _power_of_lanes(x, y)
    if y == lanes and (x == lanes or isinstance(x, types.Number)):
        return lambda x, y: _any_power(x, y)
    return None


# B_2k / 2k, where B_2k are Bernoulli numbers
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_SHIFT = 8  # for arguments of at least 8 the series is accurate to the last digit


@inlined
def _digamma_of_positive(x):
    below = splat(0.0)
    for i in range(_SHIFT):
        below += 1.0 / (x + i)
    y = x + _SHIFT
    z = 1.0 / (y * y)
    series = splat(_SERIES[6])
    for k in range(5, -1, -1):
        series = series * z + _SERIES[k]
    return log(y) - 0.5 / y - z * series - below


@inlined
def digamma(x):
    """ψ(x) = ψ(x + 8) − Σ 1/(x + i), where ψ(x + 8) is an asymptotic series. For x < 0: ψ(1 − x) − π·cot(πx)."""
    value = _digamma_of_positive(where(x > 0.0, x, 1.0 - x))
    rest = x - floor(x)
    reflected = where(rest == 0.0, math.nan, value - math.pi / tan(math.pi * rest))
    return where(x > 0.0, where(x < math.inf, value, x), reflected)
