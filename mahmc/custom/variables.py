"""The variables of a custom target, and their rows in `q` and in `other`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahmc.targets.base import Draws


@dataclass(frozen=True)
class Variable:
    """A variable: a part of the state. A discrete variable has `values`; `other` is true for variables of q^O."""

    name: str
    size: int | None
    other: bool
    values: tuple[int, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    first: int = 0  # the first row in q or in other

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.size or 1


def real(
    name: str, size: int | None = None, *, other: bool = False, low: float = -math.inf, high: float = math.inf
) -> Variable:
    """Declare a real variable, or a vector of real variables.

    Parameters
    ----------
    name
        The name.
    size
        The length of the vector; None for a single variable.
    other
        Whether the variable belongs to q^O, which updates change. By default it belongs to q^H, which leapfrogs move.
    low, high
        The bounds of a variable of q^O.

    Returns
    -------
    Variable
        The variable, for `variables(self)`.

    Examples
    --------
    >>> mahmc.custom.real("tau", other=True, low=0.0).rows
    1
    """
    return Variable(name, size, other, low=low, high=high)


def discrete(name: str, size: int | None = None, *, values: Iterable[int] = (0, 1)) -> Variable:
    """Declare a discrete variable of q^O, or a vector of discrete variables.

    Parameters
    ----------
    name
        The name.
    size
        The length of the vector; None for a single variable.
    values
        The values that the variable can have, as whole numbers.

    Returns
    -------
    Variable
        The variable, for `variables(self)`.

    Examples
    --------
    >>> mahmc.custom.discrete("s", 5, values=(-1, 1)).rows
    5
    """
    return Variable(name, size, True, tuple(values))


def any_start(variables: tuple[Variable, ...], rng: np.random.Generator) -> dict[str, Any]:
    """A start with standard normal numbers for real variables, and random values for discrete variables."""
    return {v.name: rng.choice(v.values, v.size) if v.values else rng.standard_normal(v.size) for v in variables}


def pack(variables: tuple[Variable, ...], draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """The rows of q and of other, from draws by variable."""
    sides: Mapping[bool, list[np.ndarray]] = {False: [], True: []}
    for v in variables:
        sides[v.other].append(np.asarray(draws[v.name], float).reshape(-1, v.rows))
    n = len(sides[False][0])
    q, other = (np.concatenate([np.empty((n, 0)), *sides[side]], axis=1) for side in (False, True))
    return q, other
