"""Points of a target that a person wrote, LANES at once, where its compiled functions are tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahmc.compiled import kernel
from mahmc.lanes import LANES, load, rows, splat, store, where
from mahmc.own.tools import U, grad_U
from mahmc.own.variables import Variable
from mahmc.parameters import InvalidInput
from mahmc.streams import seeded
from mahmc.targets.base import Target, update

GUARD = 64  # rows around each array that nobody may touch
WORK = 2**28  # numbers that a test may go through, if each evaluation of U reads all rows and all data: some seconds
NOTHING = np.array([-1])  # changes no row


@dataclass(frozen=True)
class Own:
    """A target that a person wrote, with what its class declares."""

    target: Target
    variables: tuple[Variable, ...]
    updates: Mapping[str, Callable]
    cls: type

    def wrong(self, function: str, what: str) -> InvalidInput:
        return InvalidInput(f"{self.cls.__name__}.{function} {what}.")


@kernel
def _energies(target, q, other, changed, numbers, values, out):
    """U with row numbers[k] of `changed` (which is q or other) set to values[k]; as it is where the number is −1."""
    for k in range(len(numbers)):
        row = max(numbers[k], 0)
        before = load(changed, row)
        if numbers[k] >= 0:
            store(changed, row, load(values, k))
        store(out, k, splat(U(target, rows(q), rows(other))))
        if numbers[k] >= 0:
            store(changed, row, before)


@kernel
def _gradient(target, q, other, grad):
    grad_U(target, rows(q), rows(other), rows(grad))


@kernel
def _updated(target, which, times, q, other, grad, rng, out):
    for _ in range(times):
        delta_U, accepted = update(target, which, q, other, grad, rng)
        store(out, 0, delta_U)
        store(out, 1, where(accepted, 1.0, 0.0))


class Block:
    """LANES points at once, in arrays with guard rows around them."""

    def __init__(self, own: Own, seed: int) -> None:
        self.own, self.data = own, own.target.data
        self.rng = np.random.default_rng(seed)
        self.words = seeded(seed, 0)
        self._whole = {name: np.full((2 * GUARD + size, LANES), np.nan) for name, size in
                       (("q", own.target.dim), ("other", own.target.n_other), ("grad", own.target.dim))}  # fmt: skip
        self.q, self.other, self.grad = (whole[GUARD : len(whole) - GUARD] for whole in self._whole.values())
        self._out = np.empty((2, LANES))
        self.guarded = True

    @property
    def cost(self) -> int:
        """Numbers that an evaluation of U may read: all rows, and all data."""
        return len(self.q) + len(self.other) + sum(np.size(field) for field in self.data)

    def start(self, spread: float = 0.0) -> None:
        """Go to where chains start, q^H as far from there as `spread` says."""
        starts = [self.own.target.start(self.rng) for _ in range(LANES)]
        q, other = self.own.target.pack({name: np.array([s[name] for s in starts]) for name in starts[0]})
        self.q[:], self.other[:] = q.T + spread * self.rng.standard_normal(self.q.shape), other.T
        self.grad[:] = np.nan

    def U(self) -> np.ndarray:
        return self.energies("q", NOTHING, self.q[:1])[0]

    def energies(self, which: str, numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
        """U where one row of q or of other is changed: for each k row numbers[k] has values[k], (LANES,)."""
        out = np.empty((len(numbers), LANES))
        changed = self.q if which == "q" else self.other
        self._call("U", _energies, self.data, self.q, self.other, changed, numbers, np.ascontiguousarray(values), out)
        return out

    def grad_U(self) -> np.ndarray:
        """The gradient, written over NaN, so that a row which is left out or only added to shows."""
        self.grad[:] = np.nan
        self._call("grad_U", _gradient, self.data, self.q, self.other, self.grad)
        return self.grad.copy()

    def update(self, which: int, name: str, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Update so many times. Returns ΔU as the last update reports it, and who accepted that."""
        self._call(name, _updated, self.data, which, times, self.q, self.other, self.grad, self.words, self._out)
        return self._out[0].copy(), self._out[1] == 1.0

    def _call(self, function: str, compiled: Callable, *arguments: Any) -> None:
        if not self.guarded:
            compiled(*arguments)
            return
        q = self.q.copy()
        try:
            compiled(*arguments)
        except Exception as error:
            raise self.own.wrong(function, f"cannot be compiled: {_gist(error)}") from error
        if not np.array_equal(q, self.q, equal_nan=True):
            raise self.own.wrong(function, "changes q, which only leapfrogs may")
        for name, whole in self._whole.items():
            if not (np.isnan(whole[:GUARD]).all() and np.isnan(whole[-GUARD:]).all()):
                raise self.own.wrong(function, f"writes beyond the {len(whole) - 2 * GUARD} rows of {name}")

    def point(self, lane: int, q_only: bool = False) -> str:
        """Where a lane is, in words."""
        values = []
        for v in [v for v in self.own.variables if not (q_only and v.other)]:
            array = (self.other if v.other else self.q)[v.first : v.first + v.rows, lane]
            shown = ", ".join(f"{x:.6g}" for x in array[:4]) + (", …" if array.size > 4 else "")
            values.append(f"{v.name} = {shown}" if v.size is None else f"{v.name} = ({shown})")
        return "; ".join(values)


def affordable(block: Block, evaluations: int, fewest: int, most: int) -> int:
    """How often so many evaluations of U can be made within WORK, between `fewest` and `most`."""
    return int(min(max(WORK // (evaluations * block.cost), fewest), most))


def _gist(error: Exception) -> str:
    """The lines of a compiler's message that help: what it could not do, and where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    what = [line for line in lines if not line.startswith(("Failed in", "During", "There are", "- Of which", "File"))]
    calls = [line[4:] for line in lines if line.startswith(">>>")]
    places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    where = f" ({places[0][0].rpartition('/')[2]}, line {places[0][1]})" if places else ""
    shown = " ".join([what[0] if what else type(error).__name__, *calls[:1]])
    return shown[:300] + where
