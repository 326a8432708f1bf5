"""Tests of whether two samples of independent draws come from one distribution.

The Kolmogorov-Smirnov test compares the distribution of every scalar; for whole numbers it is the chi-squared test.
The spread of a scalar, products of pairs and functions of many scalars are compared by ranks in the pooled sample.
Ranks are bounded, so heavy tails do no harm. They are symmetric in the two samples, so a difference of means has its
usual law if the distributions are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mahmc.checks import functions
from mahmc.checks.verdicts import ComparedStatistic

FEWEST_EXPECTED = 20  # in a cell of a chi-squared test; rarer values are pooled
ELEMENTS, SPREADS, PRODUCTS, TOGETHER = "elements", "spreads", "products", "together"  # families


def compare_samples(a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray]) -> tuple[ComparedStatistic, ...]:
    """All comparisons of two samples by quantity, (n,) or (n, size) each. `functions` lists what is compared.

    Parameters
    ----------
    a, b
        Independent draws: arrays (n,) or (n, size) by quantity, with the same names, sizes and n in both.

    Returns
    -------
    tuple of ComparedStatistic
        The p-value of each comparison, not yet corrected for their number.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> same = mahmc.checks.compare_samples({"x": rng.normal(size=(500, 2))}, {"x": rng.normal(size=(500, 2))})
    >>> same[0].what, min(statistic.p_value for statistic in same) > 1e-4
    ('distribution of x[0]', True)
    """
    from scipy import stats

    first, second = functions.columns(a), functions.columns(b)
    n = len(first.values[0])
    pooled = [np.concatenate([x, y]) for x, y in zip(first.values, second.values, strict=True)]
    ranks = centred_ranks(pooled)
    results = _distributions(first.names, pooled, n, ELEMENTS)
    results += _means("spread of {}", first.names, ranks**2, n, SPREADS)
    names = first.names + first.beyond_names
    if first.beyond_names:
        others = np.concatenate([first.beyond, second.beyond])
        cuts = functions.cuts_of(others)
        for share, cut in zip(functions.CUTS, cuts, strict=True):
            what = f"share of {{}} up to its quantile {share:g}"
            results += _means(what, first.beyond_names, others <= cut, n, ELEMENTS)
        ranks = np.concatenate([ranks, functions.coarse_ranks(others, cuts)], axis=1)
    pairs = functions.pairs(len(names))
    if len(pairs):
        z = _product_scores(ranks, n, pairs)
        p_values = 2.0 * stats.norm.sf(np.abs(z))
        results += [
            ComparedStatistic(f"product of {names[i]} and {names[j]}", float(p), family=PRODUCTS)
            for (i, j), p in zip(pairs, p_values, strict=True)
        ]
    joint = functions.together(ranks, first.vectors)
    return (*results, *_distributions(tuple(joint), list(joint.values()), n, TOGETHER))


def unseen(draws: Mapping[str, np.ndarray]) -> str:
    """What `compare_samples` does not compare of such draws, in words."""
    return functions.not_looked_at(functions.columns(draws))


def centred_ranks(pooled: list[np.ndarray]) -> np.ndarray:
    """Ranks of each column between −½ and ½, (n, columns); equal values have their mean rank."""
    found = np.empty((pooled[0].size, len(pooled)))
    for k, x in enumerate(pooled):
        found[:, k] = mean_ranks(x)
    return (found - 0.5) / pooled[0].size - 0.5


def mean_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values have their mean rank. The same as `scipy.stats.rankdata`, in a third of its time."""
    order = np.argsort(x)
    ends = np.flatnonzero(_is_last(x[order])) + 1
    counts = np.diff(ends, prepend=0)
    ranks = np.empty(x.size)
    ranks[order] = np.repeat(ends - 0.5 * (counts - 1), counts)
    return ranks


def _is_last(ordered: np.ndarray) -> np.ndarray:
    """Whether each ordered value is the last of its equals."""
    return np.append(ordered[1:] != ordered[:-1], True)


def _distributions(names: tuple[str, ...], pooled: list[np.ndarray], n: int, family: str) -> list[ComparedStatistic]:
    """Whether the first n values of each column have the distribution of the others."""
    from scipy import stats

    p_values = np.ones(len(pooled))
    whole = [k for k, x in enumerate(pooled) if functions.is_whole(x)]
    real = [k for k, x in enumerate(pooled) if not functions.is_whole(x)]
    if real:  # all p-values in one call: one call for each takes longer than the test
        m = pooled[0].size - n
        p_values[real] = stats.kstwobign.sf(np.sqrt(n * m / (n + m)) * np.array([distance(pooled[k], n) for k in real]))
    if whole:
        p_values[whole] = [same_masses(pooled[k][:n], pooled[k][n:]) for k in whole]
    return [
        ComparedStatistic(f"distribution of {name}", float(p), family=family)
        for name, p in zip(names, p_values, strict=True)
    ]


def same_distribution(pooled: np.ndarray, n: int) -> float:
    """Kolmogorov-Smirnov p-value of the first n values against the rest."""
    return _distributions(("",), [np.asarray(pooled, float)], n, "")[0].p_value


def distance(pooled: np.ndarray, n: int) -> float:
    """The largest distance between the distribution functions of the first n values and of the rest."""
    order = np.argsort(pooled)
    steps = np.cumsum(np.where(order < n, 1.0 / n, -1.0 / (pooled.size - n)))
    return float(
        np.abs(steps[_is_last(pooled[order])]).max()
    )  # after the last of equal values all their steps are made


def same_masses(x: np.ndarray, y: np.ndarray) -> float:
    """Chi-squared p-value of two samples of whole numbers; rare values are pooled."""
    from scipy import stats

    values, place = np.unique(np.concatenate([x, y]), return_inverse=True)
    table = np.stack([np.bincount(part, minlength=values.size) for part in np.split(place, [x.size])])
    rare = table.sum(axis=0) < 2 * FEWEST_EXPECTED
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        table = table[:, table.sum(axis=0) >= 2 * FEWEST_EXPECTED]
    if table.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def _means(what: str, names: tuple[str, ...], values: np.ndarray, n: int, family: str) -> list[ComparedStatistic]:
    """Whether each column has the same mean in the first n rows as in the others."""
    from scipy import stats

    x, y = values[:n], values[n:]
    error = np.sqrt(x.var(axis=0) / len(x) + y.var(axis=0) / len(y))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(error > 0, np.abs(x.mean(axis=0) - y.mean(axis=0)) / error, 0.0)
    p_values = 2.0 * stats.norm.sf(z)
    return [
        ComparedStatistic(what.format(name), float(p), family=family) for name, p in zip(names, p_values, strict=True)
    ]


def _product_scores(ranks: np.ndarray, n: int, pairs: np.ndarray) -> np.ndarray:
    """z-scores of the difference in the mean of r_i·r_j."""
    moments = []
    for part in (ranks[:n], ranks[n:]):
        mean, second = functions.products(part, pairs), functions.products(part**2, pairs)
        moments.append((mean, (second - mean**2) / len(part)))
    (one, e1), (two, e2) = moments
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(e1 + e2 > 0, (one - two) / np.sqrt(e1 + e2), 0.0)
