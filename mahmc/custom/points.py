"""Blocks of LANES points, at which the compiled functions of a custom target are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mahmc.compiled import kernel
from mahmc.custom.prepare import Prepared
from mahmc.custom.tools import U, grad_U
from mahmc.custom.translate import mistake_of
from mahmc.custom.variables import Variable
from mahmc.lanes import LANES, load, rows, splat, store, where
from mahmc.parameters import InvalidInput
from mahmc.streams import seeded
from mahmc.targets.base import Point, Target, step_scale, update

GUARD = 64  # rows before and after each array that no function may write
MOST_READS = 2**28  # numbers that a test may read, if each evaluation of U reads all rows and all data: some seconds
NO_CHANGE = np.array([-1])  # the number of no row


@dataclass(frozen=True)
class CustomTarget:
    """A custom target, with its class and the variables and updates that the class declares."""

    target: Target
    variables: tuple[Variable, ...]
    updates: Mapping[str, Callable[..., Any]]
    cls: type
    compiled: Prepared

    def wrong(self, function: str, what: str) -> InvalidInput:
        """The error for a function of the class that does something wrong."""
        return InvalidInput(f"{self.cls.__name__}.{function} {what}.")

    def not_compiled(self, function: str, error: Exception) -> InvalidInput:
        """The error for a function of the class that cannot be compiled."""
        written = getattr(self.cls, function)
        mistake = mistake_of(self.compiled, written, self.target.density.data, error)
        return InvalidInput(f"{self.cls.__name__}.{function} cannot be compiled: {mistake}")


class Changes(NamedTuple):
    """Changes of single rows, one after another: row numbers[k] of `array` becomes values[k]; −1 means no change."""

    array: np.ndarray  # q or other
    numbers: np.ndarray
    values: np.ndarray


@kernel
def _energies(target, q, other, changes, out):
    """out[k] ← U(q, other) with change k; each change is undone before the next."""
    array, numbers = changes.array, changes.numbers
    for k in range(len(numbers)):
        row = max(numbers[k], 0)
        before = load(array, row)
        if numbers[k] >= 0:
            store(array, row, load(changes.values, k))
        store(out, k, splat(U(target, rows(q), rows(other))))
        if numbers[k] >= 0:
            store(array, row, before)


@kernel
def _gradient(target, q, other, grad):
    grad_U(target, rows(q), rows(other), rows(grad))


@kernel
def _scaled(target, other, out):
    store(out, 0, step_scale(target, other))


@kernel
def _updated(target, index, times, point, out):
    for _ in range(times):
        delta_U, accepted = update(target, index, point)
        store(out, 0, delta_U)
        store(out, 1, where(accepted, 1.0, 0.0))


class PointBlock:
    """A block of LANES points, in arrays with guard rows before and after."""

    def __init__(self, custom: CustomTarget, seed: int) -> None:
        density = custom.target.density
        self.custom, self.data = custom, density.data
        self.rng = np.random.default_rng(seed)
        self.words = seeded(seed, 0)
        self._with_guards = {name: np.full((2 * GUARD + size, LANES), np.nan) for name, size in
                       (("q", density.dim), ("other", density.n_other), ("grad", density.dim))}  # fmt: skip
        self.q, self.other, self.grad = (whole[GUARD : len(whole) - GUARD] for whole in self._with_guards.values())
        self._out = np.empty((2, LANES))
        self.guarded = True

    @property
    def cost(self) -> int:
        """The number of numbers that an evaluation of U can read: all rows, and all data."""
        return len(self.q) + len(self.other) + sum(np.size(field) for field in self.data)

    def start(self, spread: float = 0.0) -> None:
        """Draw starts of chains, and add normal numbers with standard deviation `spread` to q^H."""
        starts = [self.custom.target.density.start(self.rng) for _ in range(LANES)]
        q, other = self.custom.target.density.pack({name: np.array([s[name] for s in starts]) for name in starts[0]})
        self.q[:], self.other[:] = q.T + spread * self.rng.standard_normal(self.q.shape), other.T
        self.grad[:] = np.nan

    def U(self) -> np.ndarray:
        """U at the points, of shape (LANES,)."""
        U: np.ndarray = self.energies("q", NO_CHANGE, self.q[:1])[0]
        return U

    def energies(self, side: str, numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
        """U after changes of one row of q or other (`side`): for each k, row numbers[k] has values[k], (LANES,)."""
        out = np.empty((len(numbers), LANES))
        changes = Changes(self.q if side == "q" else self.other, numbers, np.ascontiguousarray(values))
        self._call("U", _energies, self.data, self.q, self.other, changes, out)
        return out

    def grad_U(self) -> np.ndarray:
        """The gradient. Before the call all rows are NaN, so a row that is not set remains NaN."""
        self.grad[:] = np.nan
        self._call("grad_U", _gradient, self.data, self.q, self.other, self.grad)
        return self.grad.copy()

    def step_scale(self) -> np.ndarray:
        """The factor of the step size at the points, of shape (LANES,)."""
        self._call("step_scale", _scaled, self.data, self.other, self._out)
        factors: np.ndarray = self._out[0].copy()
        return factors

    def update(self, index: int, name: str, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Make update number `index` `times` times. Returns the last update's ΔU, and which lanes accepted it."""
        point = Point(self.q, self.other, self.grad, self.words)
        self._call(name, _updated, self.data, index, times, point, self._out)
        return self._out[0].copy(), self._out[1] == 1.0

    def _call(self, function: str, compiled: Callable[..., Any], *arguments: Any) -> None:
        if not self.guarded:
            compiled(*arguments)
            return
        q = self.q.copy()
        try:
            compiled(*arguments)
        except Exception as error:
            raise self.custom.not_compiled(function, error) from error
        if not np.array_equal(q, self.q, equal_nan=True):
            raise self.custom.wrong(function, "changes q, which only leapfrogs may change")
        for name, whole in self._with_guards.items():
            if not (np.isnan(whole[:GUARD]).all() and np.isnan(whole[-GUARD:]).all()):
                raise self.custom.wrong(function, f"writes beyond the {len(whole) - 2 * GUARD} rows of {name}")

    def point(self, lane: int, q_only: bool = False) -> str:
        """The point of one lane, as text."""
        values = []
        for v in [v for v in self.custom.variables if not (q_only and v.other)]:
            array = (self.other if v.other else self.q)[v.first : v.first + v.rows, lane]
            shown = ", ".join(f"{x:.6g}" for x in array[:4]) + (", …" if array.size > 4 else "")
            values.append(f"{v.name} = {shown}" if v.size is None else f"{v.name} = ({shown})")
        return "; ".join(values)


def affordable(block: PointBlock, evaluations: int, fewest: int, most: int) -> int:
    """How many times a number of evaluations of U fits into MOST_READS; between `fewest` and `most`."""
    return int(min(max(MOST_READS // (evaluations * block.cost), fewest), most))
