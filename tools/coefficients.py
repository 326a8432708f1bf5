"""The polynomial coefficients in mahmc/lanes/functions.py: what they are of, and how good.

    python tools/coefficients.py

Each polynomial interpolates its function at the Chebyshev points of an interval, worked out with 60 digits and rounded
to float64. A test compares these numbers with the constants in the code, to the last digit. The error that is printed
is that of the rounded polynomial, as a share of the function: half a unit in the last place of float64 is 1.1e-16.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, getcontext
from typing import NamedTuple

getcontext().prec = 60
TINY = Decimal(10) ** -58
Function = Callable[[Decimal], Decimal]


class Polynomial(NamedTuple):
    """A function, and where it is interpolated by a polynomial of this degree."""

    text: str
    used_in: str  # a function of mahmc/lanes/functions.py
    function: Function
    low: Decimal
    high: Decimal
    degree: int

    @property
    def coefficients(self) -> list[float]:
        """From the constant term on."""
        return [float(c) for c in _interpolation(self.function, self.low, self.high, self.degree)]

    def error(self, points: int = 2001) -> float:
        """The largest relative error of the rounded polynomial on the interval."""
        coefficients = [Decimal(c) for c in self.coefficients]
        worst = Decimal(0)
        for i in range(points):
            x = self.low + (self.high - self.low) * i / (points - 1)
            value, exact = Decimal(0), self.function(x)
            for c in reversed(coefficients):
                value = value * x + c
            worst = max(worst, abs(value / exact - 1))
        return float(worst)


def _series(first: Decimal, x: Decimal, k: int) -> Decimal:
    """first − first·x²/((k + 1)(k + 2)) + …, the sine's series from k = 1 on and the cosine's from k = 0 on."""
    term = total = first
    while abs(term) > TINY:
        term = -term * x * x / ((k + 1) * (k + 2))
        total, k = total + term, k + 2
    return total


def cosine(x: Decimal) -> Decimal:
    """cos x."""
    return _series(Decimal(1), x, 0)


def sine(x: Decimal) -> Decimal:
    """sin x."""
    return _series(x, x, 1)


def _arctan_of_inverse(n: int) -> Decimal:
    term = total = Decimal(1) / n
    k = 1
    while abs(term) > TINY:
        term, k = -term / (n * n), k + 2
        total += term / k
    return total


PI = 4 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))  # Machin's formula


def _interpolation(function: Function, low: Decimal, high: Decimal, degree: int) -> list[Decimal]:
    """The polynomial through the function's values at the Chebyshev points, by Newton's divided differences."""
    n = degree + 1
    points = [(low + high) / 2 + (high - low) / 2 * cosine(PI * (2 * i + 1) / (2 * n)) for i in range(n)]
    differences = [function(x) for x in points]
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (points[i] - points[i - j])
    coefficients = [Decimal(0)] * n
    for i in range(n - 1, -1, -1):
        shifted = [Decimal(0), *coefficients[:-1]]
        coefficients = [s - points[i] * c for s, c in zip(shifted, coefficients, strict=True)]
        coefficients[0] += differences[i]
    return coefficients


def _log_series(z: Decimal) -> Decimal:
    """P(z) in log((1 + s)/(1 − s)) = 2s + s³·P(s²)."""
    if z == 0:
        return Decimal(2) / 3
    s = z.sqrt()
    return (((1 + s) / (1 - s)).ln() - 2 * s) / (s * z)


def _sine_of_turns(z: Decimal) -> Decimal:
    """S(z) in sin(2πr) = r·S(r²)."""
    r = z.sqrt()
    return 2 * PI if r == 0 else sine(2 * PI * r) / r


def _cosine_of_turns(z: Decimal) -> Decimal:
    """C(z) in cos(2πr) = C(r²)."""
    return cosine(2 * PI * z.sqrt())


_HALF_LN2 = Decimal(2).ln() / 2 * Decimal("1.001")  # a little more than ln 2 / 2, where rounding may lead
POLYNOMIALS = (
    Polynomial("e^r", "exp", Decimal.exp, -_HALF_LN2, _HALF_LN2, 11),
    Polynomial("P(z), log((1 + s)/(1 − s)) = 2s + s³·P(s²)", "log", _log_series, Decimal(0), Decimal("0.02945"), 7),
    Polynomial("S(z), sin(2πr) = r·S(r²)", "cos_sin_turns", _sine_of_turns, Decimal(0), Decimal(1) / 64, 7),
    Polynomial("C(z), cos(2πr) = C(r²)", "cos_sin_turns", _cosine_of_turns, Decimal(0), Decimal(1) / 64, 7),
)  # fmt: skip


def main() -> None:
    """Print the coefficients of all polynomials."""
    for polynomial in POLYNOMIALS:
        print(f"{polynomial.text}, in {polynomial.used_in}, on [{polynomial.low:.6g}, {polynomial.high:.6g}]")
        print("   ", ", ".join(map(repr, polynomial.coefficients)))
        print(f"    relative error at most {polynomial.error():.2g}")


if __name__ == "__main__":
    main()
