"""The variables of a custom target, and the rows they take in q and in other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahmc.targets.base import Draws


@dataclass(frozen=True)
class Variable:
    """A part of the state. With `values` it is discrete; `other` says that it belongs to q^O."""

    name: str
    size: int | None
    other: bool
    values: tuple[int, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    first: int = 0  # its first row in q or in other

    @property
    def rows(self) -> int:
        return self.size or 1


def real(
    name: str, size: int | None = None, *, other: bool = False, low: float = -math.inf, high: float = math.inf
) -> Variable:
    """A real variable, or `size` of them: of q^H, which leapfrogs move; or of q^O, if `other`, between low and high."""
    return Variable(name, size, other, low=low, high=high)


def discrete(name: str, size: int | None = None, *, values: tuple[int, ...] = (0, 1)) -> Variable:
    """A variable of q^O, or `size` of them, each one of `values`."""
    return Variable(name, size, True, tuple(values))


def any_start(variables: tuple[Variable, ...], rng: np.random.Generator) -> dict[str, Any]:
    """Standard normal reals, and discrete variables at random."""
    return {v.name: rng.choice(v.values, v.size) if v.values else rng.standard_normal(v.size) for v in variables}


def pack(variables: tuple[Variable, ...], draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Draws by variable → rows of q and of other."""
    sides: Mapping[bool, list[np.ndarray]] = {False: [], True: []}
    for v in variables:
        sides[v.other].append(np.asarray(draws[v.name], float).reshape(-1, v.rows))
    n = len(sides[False][0])
    q, other = (np.concatenate([np.empty((n, 0)), *sides[side]], axis=1) for side in (False, True))
    return q, other
