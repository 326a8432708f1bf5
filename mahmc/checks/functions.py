"""Which functions of a state are compared: every scalar by itself, and functions of many scalars together.

A mistake may sit in one element of a long vector, or in how two elements go together while each by itself is right. So
these are looked at:

- each element of each quantity, by itself, up to MOST_ELEMENTS of them;
- products of pairs: all pairs of up to MOST_PAIRED scalars, otherwise MOST_PAIRS random ones;
- of each vector its sum, its least and greatest element, and the sorted elements of blocks of BLOCK neighbours;
- PROJECTIONS random projections of all scalars.

Functions of several scalars are taken of their centred ranks: these lie between −½ and ½, so no scale and no heavy tail
can hide another scalar.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

MOST_ELEMENTS = 4096  # scalars that are looked at one by one
MOST_PAIRED = 96  # scalars of which all pairs are looked at
MOST_PAIRS = 4608  # random pairs, where there are more scalars
PROJECTIONS = 8
BLOCK = 8  # neighbours whose sorted values are looked at
MOST_BLOCKS = 16


class Columns(NamedTuple):
    """A sample as a table: a column for each scalar, and which columns belong to one vector."""

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]  # (n,) each
    vectors: Mapping[str, range]  # columns of each vector quantity
    left_out: int  # elements beyond MOST_ELEMENTS


def columns(draws: Mapping[str, np.ndarray]) -> Columns:
    """The columns of draws by quantity, (n,) or (n, size)."""
    names: list[str] = []
    values: list[np.ndarray] = []
    vectors: dict[str, range] = {}
    total = 0
    for name, x in draws.items():
        flat = x.reshape(len(x), -1)
        total += flat.shape[1]
        kept = min(flat.shape[1], MOST_ELEMENTS - len(names))
        if x.ndim > 1:
            vectors[name] = range(len(names), len(names) + kept)
        names += [name] if x.ndim == 1 else [f"{name}[{i}]" for i in range(kept)]
        values += [flat[:, i] for i in range(kept)]
    return Columns(tuple(names[:MOST_ELEMENTS]), tuple(values[:MOST_ELEMENTS]), vectors, total - len(values))


def is_whole(x: np.ndarray) -> bool:
    """Whether a column holds whole numbers, which are compared value by value."""
    return bool(np.issubdtype(x.dtype, np.integer) or x.dtype == bool)


@cache
def pairs(d: int) -> np.ndarray:
    """The pairs of d columns whose products are looked at, (pairs, 2)."""
    if d < 2:
        return np.empty((0, 2), np.int64)
    if d <= MOST_PAIRED:
        return np.array(list(combinations(range(d), 2)))
    rng = np.random.default_rng((d, 1))
    neighbours = np.column_stack([np.arange(d - 1), np.arange(1, d)])[: MOST_PAIRS // 2]
    drawn = np.sort(rng.integers(0, d, (2 * MOST_PAIRS, 2)), axis=1)
    drawn = np.unique(drawn[drawn[:, 0] != drawn[:, 1]], axis=0)
    return np.unique(np.concatenate([neighbours, rng.permutation(drawn)[: MOST_PAIRS - len(neighbours)]]), axis=0)


def together(ranks: np.ndarray, vectors: Mapping[str, range]) -> dict[str, np.ndarray]:
    """Functions of many scalars by name, from the centred ranks (n, scalars) of all of them."""
    found: dict[str, np.ndarray] = {}
    for name, members in vectors.items():
        if len(members) < 2:
            continue
        part = ranks[:, members.start : members.stop]
        found |= {f"sum of {name}": part.sum(axis=1), f"least {name}": part.min(axis=1)}
        found[f"greatest {name}"] = part.max(axis=1)
        for number, begin in enumerate(range(0, len(members) - BLOCK + 1, BLOCK)):
            if number == MOST_BLOCKS:
                break
            block = np.sort(part[:, begin : begin + BLOCK], axis=1)
            for place in (0, BLOCK // 2, BLOCK - 1):
                found[f"sorted {name}[{begin}…{begin + BLOCK - 1}], place {place}"] = block[:, place]
    d = ranks.shape[1]
    if d > 1:
        directions = np.random.default_rng((d, 2)).standard_normal((d, PROJECTIONS))
        projected = ranks @ (directions / np.sqrt(d))
        found |= {f"projection {k + 1}": projected[:, k] for k in range(PROJECTIONS)}
    return found


def not_looked_at(table: Columns) -> str:
    """What of a table is not compared, in words; "" if everything is."""
    parts = []
    if table.left_out:
        parts.append(f"{table.left_out} elements beyond the first {MOST_ELEMENTS}")
    d = len(table.names)
    if d > MOST_PAIRED:
        seen = len(pairs(d))
        parts.append(f"{d * (d - 1) // 2 - seen} of {d * (d - 1) // 2} products of pairs")
    return " and ".join(parts)
