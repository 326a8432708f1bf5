"""Elementary functions of lanes against 64-bit mantissas, in units in the last place (ulps), over their whole range."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mahmc.compiled import inlined
from mahmc.custom import described, tools
from mahmc.lanes import functions, library
from tests.support.lanes import by_row

ROOT = Path(__file__).parent.parent
LONG = np.longdouble
needs_long_double = pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="long double is no longer than double here")


def magnitudes(low: float, high: float, n: int = 4001) -> np.ndarray:
    """Numbers from low to high whose logarithms are evenly spaced."""
    return np.exp(np.linspace(np.log(low), np.log(high), n)).clip(low, high)


def both_signs(x: np.ndarray) -> np.ndarray:
    return np.concatenate([-x[::-1], x])


def around(centre: float, n: int = 500) -> np.ndarray:
    """The numbers next to this one, and some further off."""
    steps = np.arange(-n, n + 1) * np.spacing(centre)
    return np.concatenate([centre + steps, centre * (1 + both_signs(magnitudes(1e-15, 0.1, n)))])


def errors_in_ulps(found: np.ndarray, exact: np.ndarray, least: float) -> np.ndarray:
    """|found − exact| in units in the last place of the exact value, or of `least` where that is larger."""
    scale = np.spacing(np.maximum(np.abs(exact.astype(float)), least))
    with np.errstate(invalid="ignore"):
        return np.abs(found.astype(LONG) - exact) / scale


# ------------------------------------------------------------------------------------- functions in long double


def long_pi() -> Any:
    return 4 * np.arctan(LONG(1))


def long_sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(LONG)))


def long_erfc(x: np.ndarray) -> np.ndarray:
    """By the series with positive terms up to 2, by the continued fraction beyond."""
    x = x.astype(LONG)
    a = np.abs(x)
    term = total = a.copy()
    for n in range(1, 80):
        term = term * 2 * a * a / (2 * n + 1)
        total = total + term
    small = 1 - 2 / np.sqrt(long_pi()) * np.exp(-a * a) * total
    fraction = a.copy()
    for k in range(400, 0, -1):
        fraction = a + LONG(k) / 2 / fraction
    with np.errstate(under="ignore"):
        large = np.exp(-a * a) / (np.sqrt(long_pi()) * fraction)
    tail = np.where(a < 2, small, large)
    return np.where(x < 0, 2 - tail, tail)


def long_erf(x: np.ndarray) -> np.ndarray:
    x = x.astype(LONG)
    term = total = x.copy()
    for n in range(1, 200):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return np.where(
        np.abs(x) < 5, 2 / np.sqrt(long_pi()) * np.exp(-x * x) * total, np.sign(x) * (1 - long_erfc(np.abs(x)))
    )


STIRLING = [LONG(1) / 12, -LONG(1) / 360, LONG(1) / 1260, -LONG(1) / 1680, LONG(1) / 1188, -LONG(691) / 360360,
            LONG(1) / 156, -LONG(3617) / 122400]  # fmt: skip
SHIFT = 24


def long_lgamma(x: np.ndarray) -> np.ndarray:
    """Stirling's series at x + 24."""
    x = x.astype(LONG)
    y = x + SHIFT
    below = sum(np.log(x + i) for i in range(SHIFT))
    series = sum(c / y ** (2 * k + 1) for k, c in enumerate(STIRLING))
    return (y - LONG(0.5)) * np.log(y) - y + np.log(2 * long_pi()) / 2 + series - below


def long_digamma(x: np.ndarray) -> np.ndarray:
    x = x.astype(LONG)
    y = x + SHIFT
    below = sum(1 / (x + i) for i in range(SHIFT))
    series = sum((2 * k + 1) * c / y ** (2 * k + 2) for k, c in enumerate(STIRLING))
    return np.log(y) - 1 / (2 * y) - series - below


# ----------------------------------------------------------------------------------------------------- the table


class Case(NamedTuple):
    """A function of lanes, what it should be, where, and how many ulps it may be off (of `least` at least)."""

    name: str
    ours: Callable[..., Any]
    exact: Callable[[np.ndarray], np.ndarray]
    points: np.ndarray
    ulps: float
    least: float = 0.0


@inlined
def softplus(x):
    return functions.sigmoid_softplus(x)[1]


@inlined
def sigmoid_beside_softplus(x):
    return functions.sigmoid_softplus(x)[0]


@inlined
def cosine_of_turns(x):
    return functions.cos_sin_turns(x)[0]


@inlined
def sine_of_turns(x):
    return functions.cos_sin_turns(x)[1]


@inlined
def root(x):
    return x**0.5


@inlined
def power(x):
    return x**2.7


@inlined
def cube(x):
    return x**-3.0


@inlined
def log_sum(x):
    return tools.logaddexp(x, 3.0)


@inlined
def angle(x):
    return tools.arctan2(x, 3.0)


@inlined
def length(x):
    return tools.hypot(x, 3.0)


def long_logit(x: np.ndarray) -> np.ndarray:
    return np.log(x / (1 - x))


def long_log_sigmoid(x: np.ndarray) -> np.ndarray:
    return -np.logaddexp(-x, LONG(0))


def long_normal_cdf(x: np.ndarray) -> np.ndarray:
    return long_erfc(-x / np.sqrt(LONG(2))) / 2


def of_turns(function: Callable[..., Any]) -> Callable[[np.ndarray], np.ndarray]:
    def exact(turns: np.ndarray) -> np.ndarray:
        quarter = np.floor(4 * turns + 0.5)
        r = 2 * long_pi() * (turns.astype(LONG) - quarter / 4)
        s, c = np.sin(r), np.cos(r)
        k = quarter.astype(int) % 4
        return np.choose(k, [c, -s, -c, s]) if function is np.cos else np.choose(k, [s, c, -s, -c])

    return exact


SMALLEST, LARGEST = 2.0**-1022, np.finfo(float).max
EVERY = magnitudes(SMALLEST, LARGEST)
CASES = [
    Case("exp", functions.exp, np.exp, np.linspace(-707.9, 709.39, 20_001), 2.0),
    Case("exp near 0", functions.exp, np.exp, both_signs(magnitudes(1e-300, 1.0)), 2.0),
    Case("log", functions.log, np.log, EVERY, 1.0),
    Case("log near 1", functions.log, np.log, around(1.0), 2.5),
    Case("expm1", functions.expm1, np.expm1, both_signs(magnitudes(1e-300, 709.0)), 1.5),
    Case("log1p", functions.log1p, np.log1p, EVERY, 2.0),
    Case("log1p below 0", functions.log1p, np.log1p, -magnitudes(1e-300, 1 - 1e-16), 2.0),
    Case("tanh", functions.tanh, np.tanh, both_signs(magnitudes(1e-300, 100.0)), 2.0),
    Case("sigmoid", functions.sigmoid, long_sigmoid, np.linspace(-707.9, 745, 20_001), 3.5),
    Case("sigmoid, with softplus", sigmoid_beside_softplus, long_sigmoid, np.linspace(-707.9, 745, 20_001), 3.0),
    Case("softplus", softplus, lambda x: np.logaddexp(x, LONG(0)), np.linspace(-745, 745, 20_001), 1.5, 1.0),
    Case("cos of turns", cosine_of_turns, of_turns(np.cos), np.linspace(0, 1, 20_001), 2.5, 0.5),
    Case("sin of turns", sine_of_turns, of_turns(np.sin), np.linspace(0, 1, 20_001), 2.5, 0.5),
    Case("x**0.5", root, np.sqrt, EVERY, 0.5),
    Case("x**2.7", power, lambda x: x.astype(LONG) ** LONG(2.7), magnitudes(1e-113, 1e113), 1.0),
    Case("x**-3.0", cube, lambda x: x.astype(LONG) ** -3, both_signs(magnitudes(1e-100, 1e100)), 2.5),
    Case("sin", library.sin, np.sin, both_signs(magnitudes(1e-300, 1e15)), 1.0),
    Case("cos", library.cos, np.cos, both_signs(magnitudes(1e-300, 1e15)), 1.0),
    Case("tan", library.tan, np.tan, both_signs(magnitudes(1e-300, 1e15)), 1.0),
    Case("arcsin", library.arcsin, np.arcsin, both_signs(magnitudes(1e-300, 1.0)), 1.0),
    Case("arccos", library.arccos, np.arccos, both_signs(magnitudes(1e-300, 1.0)), 1.0),
    Case("arctan", library.arctan, np.arctan, both_signs(EVERY), 1.0),
    Case("sinh", library.sinh, np.sinh, both_signs(magnitudes(1e-300, 710.0)), 2.0),
    Case("cosh", library.cosh, np.cosh, both_signs(magnitudes(1e-300, 710.0)), 1.5),
    Case("arcsinh", library.arcsinh, np.arcsinh, both_signs(EVERY), 1.5),
    Case("arccosh", library.arccosh, np.arccosh, 1 + magnitudes(1e-10, 1e300), 1.5),
    Case("arctanh", library.arctanh, np.arctanh, both_signs(magnitudes(1e-300, 1 - 1e-16)), 1.5),
    Case("erf", library.erf, long_erf, both_signs(magnitudes(1e-300, 10.0)), 1.0),
    Case("erfc", library.erfc, long_erfc, both_signs(magnitudes(1e-300, 26.0)), 2.0),
    Case("lgamma", library.lgamma, long_lgamma, magnitudes(1e-300, 1e15), 1.5, 1.0),
    Case("log2", tools.log2, np.log2, EVERY, 1.5),
    Case("log10", tools.log10, np.log10, EVERY, 2.5),
    Case("log2 near 1", tools.log2, np.log2, around(1.0), 3.0),
    Case("log10 near 1", tools.log10, np.log10, around(1.0), 4.5),
    Case("logit", tools.logit, long_logit, magnitudes(1e-300, 0.4), 1.0),
    Case("logit above 0.4", tools.logit, long_logit, np.linspace(0.4, 1 - 1e-9, 20_001), 1.5, 1.0),
    Case("log_sigmoid", tools.log_sigmoid, long_log_sigmoid, np.linspace(-745, 745, 20_001), 1.5, 1.0),
    Case("normal_cdf", tools.normal_cdf, long_normal_cdf, np.linspace(-37, 9, 20_001), 1.0, 1.0),
    Case("normal_cdf, relative", tools.normal_cdf, long_normal_cdf, np.linspace(-5, 9, 20_001), 35.0),
    Case("logaddexp", log_sum, lambda x: np.logaddexp(x, LONG(3)), both_signs(magnitudes(1e-300, 700.0)), 1.0),
    Case("arctan2", angle, lambda x: np.arctan2(x, LONG(3)), both_signs(EVERY), 1.0),
    Case("hypot", length, lambda x: np.hypot(x, LONG(3)), both_signs(EVERY), 1.0),
    Case("digamma", library.digamma, long_digamma, magnitudes(1e-300, 1e300), 4.0, 1.0),
]  # fmt: skip


@needs_long_double
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_ulps(case: Case) -> None:
    with np.errstate(all="ignore"):
        exact = case.exact(case.points.astype(LONG))
    found = by_row(case.ours)(case.points)
    errors = errors_in_ulps(found, exact, case.least)
    worst = int(np.argmax(errors))
    assert errors[worst] <= case.ulps, (
        f"{case.name}({case.points[worst]!r}) = {found[worst]!r}, off {errors[worst]:.3g} ulps"
    )


EXACT = {"absolute", "ceil", "floor", "maximum", "minimum", "sqrt"}  # nothing is rounded; sqrt is that of the processor


def test_every_elementary_function_has_a_case() -> None:
    cases = {re.split("[, ]", case.name)[0] for case in CASES}
    assert {*described.ABOUT, "log2", "log10", "log_sigmoid", "normal_cdf"} - EXACT <= cases


INF, NAN = np.inf, np.nan
BORDERS = {
    functions.exp: [(INF, INF), (-INF, 0), (NAN, NAN), (0, 1), (709.5, INF), (1e300, INF), (-708.1, 0), (-1e300, 0)],
    functions.log: [(INF, INF), (-INF, NAN), (NAN, NAN), (0, -INF), (-0.0, -INF), (-1, NAN), (1, 0)],
    functions.expm1: [
        (INF, INF),
        (-INF, -1),
        (NAN, NAN),
        (0, 0),
        (-50, -1),
        (1e300, INF),
        (-1e300, -1),
        (5e-324, 5e-324),
    ],
    functions.log1p: [(INF, INF), (-INF, NAN), (NAN, NAN), (0, 0), (-1, -INF), (-1.5, NAN), (5e-324, 5e-324)],
    functions.tanh: [(INF, 1), (-INF, -1), (NAN, NAN), (0, 0), (30, 1), (-30, -1), (5e-324, 5e-324)],
    functions.sigmoid: [(INF, 1), (-INF, 0), (NAN, NAN), (0, 0.5), (1e300, 1), (-1e300, 0)],
    softplus: [(INF, INF), (-INF, 0), (NAN, NAN), (1e300, 1e300), (-1e300, 0)],
    library.digamma: [(INF, INF), (NAN, NAN), (0, NAN), (-1, NAN), (-2, NAN)],
    library.lgamma: [(INF, INF), (NAN, NAN), (0, INF), (-1, INF), (1, 0), (2, 0)],
    root: [(INF, INF), (NAN, NAN), (0, 0), (-1, NAN)],
    power: [(INF, INF), (NAN, NAN), (0, 0), (-1, NAN), (1, 1)],
}


@pytest.mark.parametrize("function", BORDERS, ids=lambda function: function.py_func.__name__)
def test_borders(function: Callable[..., Any]) -> None:
    x, expected = (np.array(column, float) for column in zip(*BORDERS[function], strict=True))
    assert np.array_equal(by_row(function)(x), expected, equal_nan=True)


def test_subnormal_numbers() -> None:
    """exp gives none, and log takes all for numbers near the smallest normal one: finite, and not far off."""
    x = magnitudes(5e-324, 2.2e-308, 200)
    assert np.all(by_row(functions.exp)(np.linspace(-745, -708.01, 100)) == 0.0)
    found = by_row(functions.log)(x)
    assert np.all((found > -710.0) & (found < -708.0))
    assert np.array_equal(by_row(functions.log1p)(x), x)
    assert np.array_equal(by_row(functions.expm1)(x), x)
    assert np.array_equal(by_row(functions.tanh)(x), x)


# ------------------------------------------------------------------------------------------------ coefficients


def script() -> Any:
    spec = importlib.util.spec_from_file_location("coefficients", ROOT / "tools" / "coefficients.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers_in(function: Any) -> set[float]:
    """Numbers that are written in a function, and those of the function's own terms."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function.py_func)))
    found = {
        float(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }
    return found | (numbers_in(functions._exp_terms) if function is functions.exp else set())


@pytest.mark.quick
def test_the_script_makes_the_coefficients_that_are_in_the_code() -> None:
    """To the last digit, and with an error below half a unit in the last place."""
    polynomials = script().POLYNOMIALS
    assert {p.used_in for p in polynomials} == {"exp", "log", "cos_sin_turns"}
    for polynomial in polynomials:
        made = {abs(c) for c in polynomial.coefficients}
        assert made <= numbers_in(getattr(functions, polynomial.used_in)), polynomial.text
        assert polynomial.error(201) < 2.0**-53, polynomial.text
