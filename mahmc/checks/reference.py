"""Expectations of functions of the state from exact draws, which long chains are compared with.

A first set of exact draws gives the cuts (quantiles, values of whole numbers, a grid for ranks). A second, independent
set gives the expectation of each function with its standard error. The same functions are applied to long chains, so
the exact places of the cuts do not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from mahmc.checks import functions
from mahmc.checks.subjects import Derived, Exact, derive

CUTTING_DRAWS = 8192
GROUPS, GROUP_SIZE = 256, 512  # of the second set; errors come from the spread between groups
GRID = 256  # points from which a rank is determined
TAILS = (0.1, 0.9)
LEAST_MASS = 0.02  # of a whole number that has a comparison of its own
MOST_DRAWS = 256  # evenly spaced draws of each chain for functions of many scalars
CHAINS_AT_A_TIME = 16
ELEMENTS, TOGETHER, PRODUCTS = "elements", "together", "products"
Label = tuple[str, str, str]  # of a function: its name, kind and family


class Means(NamedTuple):
    """Means of functions over each chain, (chains, functions), with the name, kind and family of each function."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]  # "probability" or "product"
    families: tuple[str, ...]
    values: np.ndarray
    draws: int  # of each chain, for functions of many scalars


class Expectations(NamedTuple):
    """Expectations of the same functions, with their errors and standard deviations."""

    values: np.ndarray
    errors: np.ndarray
    sds: np.ndarray


class Reference:
    """Functions of the state with expectations from exact draws.

    Scalars in `known` have a known distribution, and are left out where scalars are compared one by one.
    """

    def __init__(self, exact: Exact, derived: Derived, rng: np.random.Generator, known: Collection[str] = ()) -> None:
        self.known = frozenset(known)
        first = derive(dict(exact(rng, CUTTING_DRAWS)), derived)
        table = functions.columns(first)
        self.names, self.vectors, self.beyond_names = table.names, table.vectors, table.beyond_names
        self.all_names = table.names + table.beyond_names
        self.beyond_cuts = functions.cuts_of(table.beyond) if table.beyond_names else np.empty((0, 0))
        self.unseen = functions.not_looked_at(table)
        self.whole = tuple(functions.is_whole(x) for x in table.values)
        self.cuts = [self._cuts(x, whole) for x, whole in zip(table.values, self.whole, strict=True)]
        ends = np.linspace(0.0, 1.0, GRID + 2)[1:-1]
        self.grids = [np.quantile(x, ends, method="inverted_cdf") for x in table.values]
        self.pairs = functions.pairs(len(self.all_names))
        joint = functions.together(self._ranks(table.values, table.beyond), self.vectors)
        self.tails = {name: np.quantile(x, TAILS) for name, x in joint.items()}
        drawn = derive(dict(exact(rng, GROUPS * GROUP_SIZE)), derived)
        means = self.means({name: x.reshape(GROUPS, GROUP_SIZE, *x.shape[1:]) for name, x in drawn.items()}, GROUP_SIZE)
        spread = means.values.std(axis=0, ddof=1)
        self.expected = Expectations(
            means.values.mean(axis=0), spread / np.sqrt(GROUPS), spread * np.sqrt(GROUP_SIZE)
        )  # fmt: skip

    @staticmethod
    def _cuts(x: np.ndarray, whole: bool) -> np.ndarray:
        """The common values of whole numbers, or quantiles of real numbers."""
        if not whole:
            return np.unique(np.quantile(x, functions.CUTS))
        values, counts = np.unique(x, return_counts=True)
        # One of two probabilities determines the other.
        return values[1:] if values.size == 2 else values[counts >= LEAST_MASS * x.size]

    def _ranks(self, values: tuple[np.ndarray, ...], beyond: np.ndarray) -> np.ndarray:
        """Centred ranks of each column by its grid. All values between the same two points have the same rank."""
        found = np.empty((values[0].size, len(values)))
        for k, (x, grid) in enumerate(zip(values, self.grids, strict=True)):
            found[:, k] = np.searchsorted(grid, x, "left")
            if self.whole[k]:  # equal values have their mean rank
                found[:, k] = 0.5 * (found[:, k] + np.searchsorted(grid, x, "right"))
        found = found / GRID - 0.5
        if not self.beyond_names:
            return found
        return np.concatenate([found, functions.coarse_ranks(beyond, self.beyond_cuts)], axis=1)

    def means(self, draws: Mapping[str, np.ndarray], most: int = MOST_DRAWS) -> Means:
        """The mean of every function over each chain of draws (chains, draws, …), derived quantities included."""
        chains, n = next(iter(draws.values())).shape[:2]
        spaced = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
        single = {name: x.reshape(chains, n, -1) for name, x in draws.items()}
        parts: list[np.ndarray] = []
        labels: list[Label] = []
        for begin in range(0, chains, CHAINS_AT_A_TIME):
            some = {name: x[begin : begin + CHAINS_AT_A_TIME] for name, x in single.items()}
            labels, found = self._of_some(some, spaced)
            parts.append(found)
        names, kinds, families = zip(*labels, strict=True)
        return Means(names, kinds, families, np.concatenate(parts), spaced.size)

    def _of_some(self, draws: Mapping[str, np.ndarray], spaced: np.ndarray) -> tuple[list[Label], np.ndarray]:
        """The labels of all functions, and their means over each of a few chains."""
        columns = [x[:, :, i] for x in draws.values() for i in range(x.shape[2])]
        columns, others = columns[: len(self.names)], columns[len(self.names) :]
        labels: list[Label] = []
        found: list[np.ndarray] = []
        for name, x, cuts, whole in zip(self.names, columns, self.cuts, self.whole, strict=True):
            if name in self.known:
                continue
            for cut in cuts:
                labels.append((f"P({name} {'=' if whole else '<'} {cut:.4g})", "probability", ELEMENTS))
                found.append((x == cut if whole else x < cut).mean(axis=1))
        chains, n = columns[0].shape[0], spaced.size
        beyond = np.empty((chains * n, 0))
        if others:
            beyond = np.stack([x[:, spaced] for x in others], axis=-1).reshape(chains * n, -1)
            for share, cut in zip(functions.CUTS, self.beyond_cuts, strict=True):
                what = f"up to its quantile {share:g}"
                labels += [(f"P({name} {what})", "probability", ELEMENTS) for name in self.beyond_names]
                found += list((beyond <= cut).reshape(chains, n, -1).mean(axis=1).T)
        ranks = self._ranks(tuple(np.ascontiguousarray(x[:, spaced]).ravel() for x in columns), beyond)
        for name, function in functions.together(ranks, self.vectors).items():
            x = function.reshape(chains, n)
            low, high = self.tails[name]
            labels += [(f"P({name} low)", "probability", TOGETHER), (f"P({name} high)", "probability", TOGETHER)]
            found += [(x < low).mean(axis=1), (x > high).mean(axis=1)]
        if len(self.pairs):
            names, products = self.all_names, functions.products(ranks.reshape(chains, n, -1), self.pairs)
            labels += [(f"product of {names[a]} and {names[b]}", "product", PRODUCTS) for a, b in self.pairs]
            found += list(products.T)
        return labels, np.column_stack(found)
