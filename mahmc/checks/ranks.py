"""Ranks of true values among draws of their posterior: uniform, if the draws are right (Talts et al. 2018).

This file has the test of ranks, the smallest error that the test catches, and the ranks of an inference that a user
gives as three functions. `joint.calibration` is the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mahmc.checks.power import smallest
from mahmc.checks.verdicts import ComparedStatistic, Workbench
from mahmc.parameters import InvalidInput

RANKED = 31  # draws; a true value has one of the ranks 0 … 31 among them
BINS = 16
FEWEST_IN_A_BIN = 20  # expected ranks in each bin; fewer data sets have fewer bins
REPETITIONS = 2000  # simulated tests for each size of error

Prior = Callable[[np.random.Generator, int], Mapping[str, Any]]
Simulate = Callable[[Mapping[str, Any], np.random.Generator], Any]
Fit = Callable[[Any, np.random.Generator], Mapping[str, Any]]


class Ranks(NamedTuple):
    """Ranks 0 … `ranked` of the true value of each scalar, one for each simulated data set, and the number of bins."""

    ranks: Mapping[str, np.ndarray]
    ranked: int = RANKED
    bins: int = BINS

    def compare(self) -> tuple[ComparedStatistic, ...]:
        """For each scalar, the chi-squared test that its ranks are uniform."""
        from scipy import stats

        shares = self.shares
        found = []
        for name, ranks in self.ranks.items():
            counts = np.bincount(ranks * self.bins // (self.ranked + 1), minlength=self.bins)
            found.append(
                ComparedStatistic(f"ranks of {name}", float(stats.chisquare(counts, shares * ranks.size).pvalue))
            )
        return tuple(found)

    @property
    def shares(self) -> np.ndarray:
        """The share of ranks that each bin should have: equal, if the bins divide the ranks evenly."""
        ranks = np.arange(self.ranked + 1)
        return np.bincount(ranks * self.bins // (self.ranked + 1), minlength=self.bins) / ranks.size


def bins_for(n: int, ranked: int) -> int:
    """The number of bins for the ranks of n data sets."""
    return max(2, min(BINS, ranked + 1, n // FEWEST_IN_A_BIN))


def rank(true: np.ndarray, draws: np.ndarray, rng: np.random.Generator, used: np.ndarray | None = None) -> np.ndarray:
    """Ranks of true values (n, scalars) among draws (n, ranked, scalars), or among the draws where `used` is true.

    Ties are broken at random. Discrete values often have ties.
    """
    counted = np.ones(draws.shape[:2], bool) if used is None else used
    below = ((draws < true[:, None]) & counted[..., None]).sum(axis=1)
    equal = ((draws == true[:, None]) & counted[..., None]).sum(axis=1)
    found: np.ndarray = below + rng.integers(0, equal + 1)
    return found


def smallest_rank_change(n: int, bins: int, level: float) -> float:
    """The smallest change in the probability of some set of bins that the test of n ranks catches.

    The planted error is the hardest to detect: half of the bins gain evenly what the other half loses. Every other
    change of the same size has a greater sum of squares.
    """
    return _planted(n, bins, float(f"{level:.2g}"))


@lru_cache(maxsize=256)
def _planted(n: int, bins: int, level: float) -> float:
    from scipy import stats

    rng = np.random.default_rng((n, bins, 15))
    critical = stats.chi2.isf(level, bins - 1)
    sign = np.where(np.arange(bins) < bins // 2, -1.0 / (bins // 2), 1.0 / (bins - bins // 2))

    def caught(change: float) -> float:
        counts = rng.multinomial(n, 1.0 / bins + change * sign, REPETITIONS)
        return float((((counts - n / bins) ** 2).sum(axis=1) * bins / n > critical).mean())

    return smallest(caught, (bins // 2) / bins)


# ---------------------------------------------------------------------------------------- inference by functions


class Inference(NamedTuple):
    """Functions of a user: parameters from a prior, data from parameters, draws of a posterior from data."""

    prior: Prior
    simulate: Simulate
    fit: Fit

    def ranks(self, n: int, ranked: int, rng: np.random.Generator, bench: Workbench) -> Ranks:
        """Ranks of n true parameter sets, each among draws of the posterior given data simulated from it."""
        true = self._parameters(rng, n)
        values, names = table(true, 1)
        found = np.empty(values.shape, int)
        for i in range(n):
            bench.go_on()
            data = self.simulate({name: x[i] for name, x in true.items()}, rng)
            draws = _spaced(self._draws(self.fit(data, rng), true, ranked), ranked)
            found[i] = rank(values[i : i + 1], table(draws, 1)[0][None], rng)[0]
        return Ranks(dict(zip(names, found.T, strict=True)), ranked, bins_for(n, ranked))

    def _parameters(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        given = self.prior(rng, n)
        if not isinstance(given, Mapping) or not given:
            raise InvalidInput("prior(rng, n) must return a mapping of names to n values each.")
        found = {str(name): _numbers(f"prior: {name}", x) for name, x in given.items()}
        for name, x in found.items():
            if x.shape[:1] != (n,):
                raise InvalidInput(
                    f"prior: {name} has the shape {x.shape}; its length must be {n}, the number of parameter sets."
                )
        return found

    def _draws(self, given: Any, true: Mapping[str, np.ndarray], ranked: int) -> dict[str, np.ndarray]:
        """What `fit` returned, if its names and shapes are those of the parameters."""
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"fit(data, rng) returned {type(given).__name__}; a mapping of names to draws is needed."
            )
        if set(given) != set(true):
            raise InvalidInput(
                f"fit gives draws of {_names(given)}, and prior gives {_names(true)}: both must give the same names."
            )
        found = {name: _numbers(f"fit: {name}", given[name]) for name in true}
        sizes = {name: len(x) if x.ndim else 0 for name, x in found.items()}
        for name, x in found.items():
            if x.shape[1:] != true[name].shape[1:] or not x.ndim:
                wanted = ", ".join(["draws", *map(str, true[name].shape[1:])])
                raise InvalidInput(f"fit: {name} has the shape {x.shape}; it must be ({wanted}).")
            if sizes[name] < ranked:
                raise InvalidInput(
                    f"fit gives {sizes[name]} draws of {name}: at least ranked = {ranked} are needed. Draw more, or "
                    "choose a smaller value of ranked."
                )
        if len(set(sizes.values())) > 1:
            raise InvalidInput(f"fit gives different numbers of draws: {sizes}.")
        return found


def _spaced(draws: Mapping[str, np.ndarray], ranked: int) -> dict[str, np.ndarray]:
    """`ranked` of the draws, evenly spaced, including the last draw."""
    n = len(next(iter(draws.values())))
    kept = n - 1 - (n // ranked) * np.arange(ranked)
    return {name: x[kept] for name, x in draws.items()}


def table(values: Mapping[str, np.ndarray], rows: int) -> tuple[np.ndarray, list[str]]:
    """Values by name with `rows` leading axes as one table of scalars, and the scalars' names."""
    columns, names = [], []
    for name, x in values.items():
        flat = x.reshape(*x.shape[:rows], -1)
        columns.append(flat)
        places = np.ndindex(*x.shape[rows:])
        names += [f"{name}[{', '.join(map(str, place))}]" if place else name for place in places]
    return np.concatenate(columns, axis=-1), names


def _numbers(what: str, x: Any) -> np.ndarray:
    try:
        array = np.asarray(x, float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} is not an array of numbers.") from None
    if np.isnan(array).any():
        raise InvalidInput(f"{what} has {int(np.isnan(array).sum())} values that are NaN.")
    return array


def _names(values: Mapping[str, Any]) -> str:
    return ", ".join(map(str, values)) or "nothing"
