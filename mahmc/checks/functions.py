"""The functions of a state that checks compare: every scalar by itself, and functions of many scalars together.

A mistake may change one element of a long vector. It may also change how two elements depend on each other, while each
element by itself is right. So checks compare:

- each element of each quantity: the whole distribution of the first MOST_ELEMENTS elements, and for all others the
  probability to lie below each of five quantiles;
- products of pairs: all pairs of up to MOST_PAIRED scalars, otherwise MOST_PAIRS random ones;
- for each vector its sum, its least and greatest element, and the sorted elements of at most MOST_BLOCKS blocks, each
  of at least BLOCK neighbours;
- PROJECTIONS random projections of all scalars.

Functions of several scalars use their centred ranks, which lie between −½ and ½. So no scale and no heavy tail can hide
another scalar.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

MOST_ELEMENTS = 4096  # scalars whose whole distribution is compared
CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)  # the quantiles of other scalars
MOST_PAIRED = 256  # scalars all of whose pairs are compared
MOST_PAIRS = 32_640  # random pairs, where there are more scalars
PAIRS_AT_A_TIME = 64
PROJECTIONS = 8
BLOCK = 8  # neighbours whose sorted values are compared
MOST_BLOCKS = 16


class Columns(NamedTuple):
    """A sample as a table: a column for each scalar, and which columns belong to one vector."""

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]  # (n,) each, at most MOST_ELEMENTS
    vectors: Mapping[str, range]  # columns of each vector quantity; columns beyond MOST_ELEMENTS come last
    beyond: np.ndarray  # all other scalars, (n, scalars)
    beyond_names: tuple[str, ...]


def columns(draws: Mapping[str, np.ndarray]) -> Columns:
    """The columns of draws by quantity, (n,) or (n, …)."""
    names: list[str] = []
    parts: list[np.ndarray] = []
    vectors: dict[str, range] = {}
    for name, x in draws.items():
        if x.ndim > 1:
            vectors[name] = range(len(names), len(names) + x[0].size)
        names += scalar_names(name, x.shape[1:])
        parts.append(x.reshape(len(x), -1))
    values = [part[:, i] for part in parts for i in range(part.shape[1])]
    first, rest = values[:MOST_ELEMENTS], values[MOST_ELEMENTS:]
    beyond = np.column_stack(rest) if rest else np.empty((len(parts[0]), 0))
    return Columns(tuple(names[:MOST_ELEMENTS]), tuple(first), vectors, beyond, tuple(names[MOST_ELEMENTS:]))


def scalar_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the elements of a quantity: x, x[0] and so on, or x[0,0] and so on."""
    return [f"{name}[{','.join(map(str, place))}]" if place else name for place in np.ndindex(*shape)]


def coarse_ranks(x: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Ranks between −½ and ½ in each column of x (n, scalars): how many of its cuts (cuts, scalars) lie below."""
    found: np.ndarray = sum((x > cut for cut in cuts), np.zeros(x.shape)) / len(cuts) - 0.5
    return found


def cuts_of(x: np.ndarray) -> np.ndarray:
    """The quantiles of each column (n, scalars) at which it is cut, (cuts, scalars)."""
    found: np.ndarray = np.quantile(x, CUTS, axis=0, method="inverted_cdf")
    return found


def is_whole(x: np.ndarray) -> bool:
    """Whether a column holds whole numbers, which are compared value by value."""
    return bool(np.issubdtype(x.dtype, np.integer) or x.dtype == bool)


@cache
def pairs(d: int) -> np.ndarray:
    """The pairs of d columns whose products are compared, (pairs, 2)."""
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
    """Functions of many scalars by name, from the centred ranks (n, scalars) of all scalars."""
    found: dict[str, np.ndarray] = {}
    for name, members in vectors.items():
        if len(members) < 2:
            continue
        part = ranks[:, members.start : members.stop]
        found |= {f"sum of {name}": part.sum(axis=1), f"least {name}": part.min(axis=1)}
        found[f"greatest {name}"] = part.max(axis=1)
        size = max(BLOCK, -(-len(members) // MOST_BLOCKS))
        for begin in range(0, len(members) - size + 1, size):
            block = np.sort(part[:, begin : begin + size], axis=1)
            for place in (0, size // 2, size - 1):
                found[f"sorted {name}[{begin}…{begin + size - 1}], place {place}"] = block[:, place]
    d = ranks.shape[1]
    if d > 1:
        directions = np.random.default_rng((d, 2)).standard_normal((d, PROJECTIONS))
        projected = ranks @ (directions / np.sqrt(d))
        found |= {f"projection {k + 1}": projected[:, k] for k in range(PROJECTIONS)}
    return found


def products(x: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The mean of x_i·x_j over the rows of x (…, n, scalars), for each pair of (pairs, 2): (…, pairs)."""
    n, d = x.shape[-2:]
    i, j = chosen.T
    by_column = np.swapaxes(x, -1, -2)
    if d <= MOST_PAIRED:  # one product of matrices is faster than many pairs
        means: np.ndarray = (by_column @ x)[..., i, j] / n
        return means
    by_column = np.ascontiguousarray(by_column)
    parts = [slice(begin, begin + PAIRS_AT_A_TIME) for begin in range(0, len(chosen), PAIRS_AT_A_TIME)]
    return np.concatenate([(by_column[..., i[k], :] * by_column[..., j[k], :]).mean(axis=-1) for k in parts], axis=-1)


def not_looked_at(table: Columns) -> str:
    """What is not compared of a table, in words; empty if everything is compared."""
    parts = []
    if table.beyond_names:
        parts.append(f"the distributions of {len(table.beyond_names)} elements, except at {len(CUTS)} points each")
    d = len(table.names) + len(table.beyond_names)
    if d > MOST_PAIRED:
        seen = len(pairs(d))
        parts.append(f"{d * (d - 1) // 2 - seen} of {d * (d - 1) // 2} products of pairs")
    return " and ".join(parts)
