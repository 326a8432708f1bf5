"""Elementary functions of lanes, as polynomials: no call into a library, and the same code for every lane.

`tools/coefficients.py` makes the coefficients; tests/test_accuracy.py measures the errors in units in the last place.
"""

from __future__ import annotations

import numpy as np

from mahmc.compiled import inlined
from mahmc.lanes.values import absolute, bits_of, float_of, floor, lane_value, splat, where

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 21 trailing zeros
_ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the low bits


@inlined
def maximum(a, b):
    """The larger of two values in each lane; b where one of them is NaN."""
    return where(a > b, a, b)


@inlined
def is_finite(x):
    """True where x is neither infinite nor NaN: only then is x − x zero."""
    return x - x == 0.0


@inlined
def _exp_terms(r, r2, r4):
    """e^r = 1 + r + r²·first + r⁴·rest, in Estrin's order for short latency."""
    first = 0.5000000000000019 + 0.1666666666666668 * r
    middle = (0.04166666666648666 + 0.00833333333331949 * r) + r2 * (0.0013888888952696516 + 0.00019841269890340666 * r)
    high = (2.4801485074105115e-05 + 2.7557240604663896e-06 * r) + r2 * (
        2.763279054211718e-07 + 2.511015364692893e-08 * r
    )
    return first, middle + r4 * high


@inlined
def exp(x):
    """e^x = 2^k e^r with |r| ≤ ln 2 / 2, e^r by its Chebyshev polynomial. Zero below −708, infinite above 709.4."""
    shifted = x * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    first, rest = _exp_terms(r, r2, r4)
    power = float_of((bits_of(shifted) + 1023) << 52)
    value = (((1.0 + r) + r2 * first) + r4 * rest) * power
    value = where(x > 709.4, np.inf, where(x < -708.0, 0.0, value))  # outside this range `value` is garbage
    return where(x == x, value, x)


@inlined
def log(x):
    """log(2^k m) = k ln 2 + log m, m in [√½, √2); log m = 2s + s³·P(s²), s = (m − 1)/(m + 1).

    For subnormal numbers, below 2.2e-308, the result is inaccurate: it is between −709.8 and −708.
    """
    k = (bits_of(x) - 0x3FE6A09E667F3BCD) >> 52  # the constant has the bits of √½
    exponent = float_of((k ^ 0x800) | 0x4330000000000000) - 4503599627372544.0  # k, of 12 bits and signed
    m = float_of(bits_of(x) - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (0.6666666666666666 + 0.4000000000000088 * z) + z2 * (0.28571428570801954 + 0.22222222392089008 * z)
    high = (0.18181795600060793 + 0.15386241881938595 * z) + z2 * (0.13268714792348096 + 0.1308723619665962 * z)
    value = exponent * _LN2_HIGH + (2.0 * s + (s * z * (low + z4 * high) + exponent * _LN2_LOW))
    value = where(x > 0.0, where(x < np.inf, value, np.inf), where(x == 0.0, -np.inf, np.nan))
    return where(x == x, value, x)


@inlined
def exp_of_number(x):
    """e^x of one number. The C library's function may have other last bits on another processor."""
    return lane_value(exp(splat(x)), 0)


@inlined
def log_of_number(x):
    """log x of one number; see `exp_of_number`."""
    return lane_value(log(splat(x)), 0)


@inlined
def expm1(x):
    """e^x − 1 = 2^k (e^r − 1) + (2^k − 1), by the polynomial of `exp` without its first term."""
    shifted = where(absolute(x) < 709.0, x, 0.0) * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    first, rest = _exp_terms(r, r2, r4)
    power = float_of((bits_of(shifted) + 1023) << 52)
    value = power * (r + (r2 * first + r4 * rest)) + (power - 1.0)
    return where((x > -38.0) & (x < 709.0), value, exp(x) - 1.0)


@inlined
def log1p(x):
    """log(1 + x) = log u + (x − (u − 1))/u, where u is 1 + x rounded: the second term corrects the rounding error."""
    u = 1.0 + x
    lost = where(u > 2.0, 1.0 - (u - x), x - (u - 1.0)) / u
    return where((u > 0.0) & (u < np.inf), log(u) + lost, where(u == 1.0, x, log(u)))


@inlined
def tanh(x):
    """sign(x)·m/(m + 2) with m = e^2|x| − 1."""
    m = expm1(2.0 * where(absolute(x) < 20.0, absolute(x), 20.0))
    value = where(absolute(x) < 20.0, m / (m + 2.0), 1.0)
    return where(x == x, where(x < 0.0, -value, where(x == 0.0, x, value)), x)


@inlined
def sigmoid(x):
    """1 / (1 + e^−x)."""
    return 1.0 / (1.0 + exp(-x))


@inlined
def sigmoid_softplus(x):
    """1 / (1 + e^−x) and log(1 + e^x), by one exponential and without overflow."""
    small = exp(-absolute(x))
    return where(x > 0.0, 1.0, small) / (1.0 + small), maximum(x, splat(0.0)) + log(1.0 + small)


@inlined
def cos_sin_turns(turns):
    """cos and sin of 2π·turns, for turns in [0, 1]: the nearest quarter turn, and a polynomial for the remainder."""
    quarter = floor(4.0 * turns + 0.5)
    r = turns - 0.25 * quarter
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    sine = r * (
        ((6.283185307179586 - 41.34170224039976 * z) + z2 * (81.60524927607493 - 76.70585975299812 * z))
        + z4 * ((42.05869392898878 - 15.094640403891546 * z) + z2 * (3.8197881201632113 - 0.7116358090781666 * z))
    )
    cosine = ((1.0 - 19.739208802178716 * z) + z2 * (64.93939402266795 - 85.45681720652271 * z)) + z4 * (
        (60.244641328867296 - 26.426250908622137 * z) + z2 * (7.903091687751697 - 1.6968494702918826 * z)
    )
    odd = (quarter == 1.0) | (quarter == 3.0)
    a, b = where(odd, sine, cosine), where(odd, cosine, sine)
    cos_negative = (quarter == 1.0) | (quarter == 2.0)
    sin_negative = (quarter == 2.0) | (quarter == 3.0)
    return where(cos_negative, -a, a), where(sin_negative, -b, b)
