"""What may be written in a custom target's compiled functions: as in Python, with the same values."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from scipy import special

import mahmc
from mahmc import custom
from mahmc.compiled import OPTIONS
from mahmc.custom import discrete, exp, grad_U, real, uniform, update, where
from mahmc.custom.prepare import Prepared
from mahmc.kernels import energies
from mahmc.lanes import LANES, rows
from tests.support.custom import registered

pytestmark = pytest.mark.usefixtures("families_as_before")
ROOT = Path(__file__).parent.parent
CENTRES = np.array([1.0, 2.0, 5.0])
TABLE = np.arange(6.0).reshape(2, 3)
PAIR = (1.0, 3.0)
SIZE = 14


def helper(x, scale=2.0):
    return inner_helper(x) * scale


def inner_helper(x):
    return np.log1p(abs(x))


@numba.njit
def compiled_helper(x):
    return np.exp(-abs(x))


def written_as_in_python(self, r, out):
    """r has three values, of which the first two are a and b. `out` has room for what is worked out."""
    a, b = r[0], r[1]
    out[0] = np.exp(a) + math.exp(1.0) + np.log(abs(a)) + math.log(2) + np.sqrt(np.abs(a)) + math.fabs(a) + pow(a, 2)
    out[1] = np.sin(a) + math.cos(a) + np.tan(a) + np.arctan(a) + np.tanh(a) + math.sinh(a) + np.cosh(a) + np.arcsinh(a)
    out[2] = max(a, b) + min(a, b, 0.5) + max(a, b, 0.1, 0.2) + np.maximum(a, 0) + np.minimum(1, b) + max(1, 2)
    out[3] = (
        abs(a) ** 0.5 + abs(a) ** b + a**-2 + 2.0**a + abs(a) ** -0.5 + a**3.0 + abs(a) ** 1.3 + np.power(abs(a), b)
    )
    out[4] = np.where(a != b, a, b) + np.where(a > 0, 1, 0) + (a > 0) * b + (a > 0) + np.where(self.n == 2, 1.0, 2.0)
    out[5] = sum(r) + np.sum(r[1:]) + max(r) + min(r[:2]) + CENTRES[:2] @ r[:2] + np.dot(r, r) + len(r[1:])
    k = int(abs(a) * 2) % 3
    out[6] = CENTRES[k] + TABLE[1, k] + TABLE[1 - (a > 0), k] + r[k] + PAIR[1] + CENTRES[-1]
    out[7] = (
        helper(a) + helper(b, 3.0) + self.force(a) + math.lgamma(abs(a)) + special.gammaln(abs(b)) + compiled_helper(a)
    )
    out[8] = (
        7 // 2 + a // 0.3 + a % 0.3 + (+a) + float(a) + round(a) + np.clip(a, -0.5, 0.5) + np.sign(a) + np.square(a)
    )
    out[9] = a > 0
    out[10] = (
        np.logaddexp(a, b) + np.hypot(a, b) + np.arctan2(a, b) + special.digamma(abs(a)) + special.ndtr(a) + math.erf(a)
    )
    for i in range(int(self.n)):
        out[11] = out[11] + np.floor(a) + math.floor(2.5) + np.ceil(b) + np.pi + math.pi + i
    out[12] = (
        np.logical_and(a > 0, b > 0) * 1.0 + ((a > 0) ^ (b > 0)) + np.log2(abs(a)) + np.log10(abs(a)) + np.expm1(a)
    )
    out[13] = (
        special.expit(a) + special.log_expit(b) + np.arcsin(a / 10) + np.arccos(a / 10) + math.erfc(a) + np.log1p(b * b)
    )
    out[k] = a


class Anything:
    n: int = 2
    written_as_in_python = written_as_in_python

    def force(self, x, power=1):
        return x**power * self.n


def test_compiled_functions_do_what_python_does() -> None:
    """In each lane the same numbers as in Python, with NumPy's, math's and SciPy's functions, helpers and methods."""
    data = namedtuple("data", "n")
    prepared = Prepared(Anything, ["n"])
    prepared.belong_to(data)
    compiled = prepared.compiled(written_as_in_python, "method")

    @numba.njit(**OPTIONS)
    def run(self, r, out):
        compiled(self, rows(r), rows(out))

    r = np.random.default_rng(1).standard_normal((3, LANES))
    found = np.zeros((SIZE, LANES))
    run(data(2), r, found)
    for lane in range(LANES):
        expected = np.zeros(SIZE)
        written_as_in_python(SimpleNamespace(n=2, force=lambda x: 2 * x), r[:, lane], expected)
        np.testing.assert_allclose(found[:, lane], expected, rtol=1e-12, atol=1e-13)


NUMBERS = ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "arcsinh",
           "erf", "erfc", "lgamma", "digamma", "sigmoid", "softplus", "floor", "ceil", "absolute", "arcsin", "arccos",
           "arctanh", "logit")  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_custom_functions_take_numbers_and_arrays(name: str) -> None:
    """In compiled code with a number as with lanes, and in Python with arrays, as in `exact` and `truth`."""
    function: Callable[..., Any] = getattr(custom, name)
    prepared = Prepared(Anything, ["n"])

    def both(self, r, out):
        out[0] = function(r[0])
        out[1] = function(0.3)

    compiled = prepared.compiled(both)

    @numba.njit(**OPTIONS)
    def run(r, out):
        compiled(0, rows(r), rows(out))

    x, out = np.linspace(0.1, 0.9, LANES)[None], np.empty((2, LANES))
    run(x, out)
    np.testing.assert_allclose(out[0], function(x[0]), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(out[1], function(0.3), rtol=1e-14, atol=1e-15)


def lookup(index: Any, width: int = 3) -> np.ndarray:
    values = np.arange(10.0, 10.0 + width)
    prepared = Prepared(Anything, ["n"])

    def read(r, out):
        out[0] = values[r[0]]
        out[1] = r[r[0]]
        out[r[0]] = 5.0

    compiled = prepared.compiled(read)

    @numba.njit(**OPTIONS)
    def run(r, out):
        compiled(rows(r), rows(out))

    r, out = np.zeros((width, LANES)), np.zeros((width, LANES))
    r[0] = index
    run(r, out)
    return out


def test_an_index_outside_reads_nan_and_writes_nothing() -> None:
    """From the end if it is negative, as in Python; no lane touches memory that is not its own."""
    out = lookup([0, 1, 2, -1, -3, 3, -4, np.nan])
    assert np.array_equal(out[0], [5, 11, 12, 12, 5, np.nan, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(out[1], [0, 5, 0, 0, -3, np.nan, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(out[2], [0, 0, 5, 5, 0, 0, 0, 0])
    out = lookup([-0.5, -1e-9, 2.9, -2.5, -3.5, 1.0, 3.0, -np.inf])
    assert np.array_equal(out[0][2:], [12, 5, np.nan, 11, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(out[2], [5, 5, 5, 0, 0, 0, 0, 0])


PROGRAM = """
from typing import NamedTuple
import numba
from mahmc.custom.prepare import Prepared

class Mine:
    def U(self, q):
        return q[0]

    def change(self, q, other, grad, rng):
        return self.U(q)

class State(NamedTuple):
    U: float

Prepared(Mine, []).compiled(Mine.change, "method")
print(numba.njit(lambda state: state.U + 1.0)(State(1.0)))
"""


def test_a_method_does_not_hide_a_field_of_the_same_name(tmp_path: Path) -> None:
    """Of the kernels' own tuples, which have a field U: also if nothing was compiled in this process before."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, program],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2.0\n", done.stderr


def with_method(factor: float) -> type:
    class Scaled:
        def scaled(self, x, scale=2.0):
            return factor * scale * x

        def run(self, r, out):
            out[0] = self.scaled(r[0]) + self.scaled(r[0], 3.0) + self.scaled(x=r[0], scale=5.0)

    return Scaled


def test_methods_of_the_same_name_belong_to_their_own_targets() -> None:
    """Two targets in one process, and calls with defaults and with the names of arguments."""
    r, out = np.ones((1, LANES)), np.zeros((1, LANES))
    for factor in (1.0, 7.0):
        cls: Any = with_method(factor)
        prepared = Prepared(cls, ["n"])
        data: Any = namedtuple("data", "n")
        compiled = prepared.compiled(cls.run, "method")
        prepared.belong_to(data)

        @numba.njit(**OPTIONS)
        def run(self, r, out, compiled=compiled):
            compiled(self, rows(r), rows(out))

        run(data(2), r, out)
        assert np.array_equal(out[0], np.full(LANES, 10.0 * factor))


class Flagged:
    def run(self, r, out):
        flags = self.flags
        out[0] = where(~flags[0], 10.0, 20.0) + r[0] ** flags[1] + r[0] / (1 + flags[0]) + flags[r[0]] + flags @ r[:2]


def test_true_and_false_in_data_are_conditions_and_numbers() -> None:
    prepared, data = Prepared(Flagged, ["flags"]), namedtuple("data", "flags")
    compiled = prepared.compiled(Flagged.run, "method")
    prepared.belong_to(data)

    @numba.njit(**OPTIONS)
    def run(self, r, out):
        compiled(self, rows(r), rows(out))

    out = np.zeros((1, LANES))
    run(data(np.array([True, False])), np.ones((2, LANES)), out)
    assert np.array_equal(out[0], np.full(LANES, 20.0 + 1.0 + 0.5 + 0.0 + 1.0))


class Logical:
    def run(self, r, out):
        a, b, n = r[0], r[1], self.n
        out[0] = np.logical_and(a, b) * 1.0 + 2.0 * np.logical_or(a, 0) + 4.0 * np.logical_not(b)
        out[1] = np.where(np.logical_and(n, a > 0), 1.0, 2.0) + np.where(np.logical_not(n), 4.0, 8.0)
        out[2] = math.pow(n, 64) + math.pow(a, 2)


def test_logical_functions_of_numbers_and_powers_of_math() -> None:
    logical: Any = Logical
    prepared = Prepared(logical, ["n"])
    data: Any = namedtuple("data", "n")
    compiled = prepared.compiled(logical.run, "method")
    prepared.belong_to(data)

    @numba.njit(**OPTIONS)
    def run(self, r, out):
        compiled(self, rows(r), rows(out))

    r, out = np.zeros((2, LANES)), np.zeros((3, LANES))
    r[0, 1], r[:, 2] = 2.0, 4.0
    run(data(2), r, out)
    for lane in range(LANES):
        expected = np.zeros(3)
        logical.run(SimpleNamespace(n=2), r[:, lane], expected)
        assert np.array_equal(out[:, lane], expected)


@pytest.mark.quick
def test_functions_of_a_module_that_is_imported_late_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = Prepared(Anything, ["n"])

    def early(x):
        return np.exp(x)

    def late(x):
        return special.expit(x)

    with monkeypatch.context() as without:
        without.delitem(sys.modules, "scipy.special")
        prepared.compiled(early)
    prepared.compiled(late)


class Unfinished:
    def variables(self) -> Any:
        return real("x")

    def U(self, q):
        return NOT_THERE * q[0]  # noqa: F821

    def grad_U(self, q, grad):
        grad[0] = 1.0


@pytest.mark.quick
def test_the_same_mistake_has_the_same_message_again() -> None:
    family = registered(Unfinished)
    for _ in range(2):
        with pytest.raises(mahmc.InvalidInput, match="NOT_THERE"):
            family()


def log_density(x, centre, width):
    return ((x - centre) / width) ** 2 / 2 + np.log(width)


SHIFT = np.array([0.0])


def test_machine_code_has_the_values_that_were_there_when_the_target_was_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if it is compiled later: an array that changes meanwhile would be kept under a wrong digest."""
    monkeypatch.setattr("mahmc.custom.declare.check", lambda own: None)  # which would compile U

    class Shifted:
        def variables(self) -> Any:
            return real("x")

        def U(self, q):
            return (q[0] - SHIFT[0]) ** 2 / 2

        def grad_U(self, q, grad):
            grad[0] = q[0] - SHIFT[0]

    target = mahmc.target(Shifted)()
    SHIFT[0] = 3.0
    try:
        assert energies(target, np.array([[1.0]]), np.zeros((1, 0)))[0] == 0.5
    finally:
        SHIFT[0] = 0.0


class Mixture:
    """x around one of three centres, written with a helper, a table and NumPy's functions."""

    centres: np.ndarray
    widths: np.ndarray

    def data(self) -> dict[str, Any]:
        return {"centres": np.array([-2.0, 0.0, 3.0]), "widths": np.array([0.5, 1.0, 1.5])}

    def variables(self) -> Any:
        return real("x"), discrete("k", values=(0, 1, 2))

    def U(self, q, other):
        return log_density(q[0], self.centres[other[0]], self.widths[other[0]])

    def grad_U(self, q, other, grad):
        grad[0] = (q[0] - self.centres[other[0]]) / self.widths[other[0]] ** 2

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        before = self.U(q, other)
        total = 0.0
        for k in range(3):
            total += exp(-log_density(q[0], self.centres[k], self.widths[k]))
        u = uniform(rng) * total
        chosen, reached = 0.0, 0.0
        for k in range(3):
            reached += exp(-log_density(q[0], self.centres[k], self.widths[k]))
            chosen = where(u >= reached, k + 1, chosen)
        other[0] = min(chosen, 2)
        grad_U(self, q, other, grad)
        return self.U(q, other) - before

    def exact(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        k = rng.integers(0, 3, n)
        return {"x": self.centres[k] + self.widths[k] * rng.standard_normal(n), "k": k}


def test_a_target_with_helpers_tables_and_methods_passes_its_checks() -> None:
    family = registered(Mixture)
    run = mahmc.sample(family(), "mahmc", epsilon=0.4, L=5, n_u=3, draws=4000, seed=3)
    assert abs((run.get("k") == 1).mean() - 1 / 3) < 0.03
    assert mahmc.checks.invariance(family(), "mahmc", epsilon=0.4, L=2, n_u=3, draws=32_768).right
