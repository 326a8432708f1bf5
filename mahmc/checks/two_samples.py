"""Two samples of independent draws: do they come from one distribution?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from mahmc.checks.verdicts import Comparison
from mahmc.targets import Target

MOST_ELEMENTS = 3  # of a vector quantity that are looked at one by one
FEWEST_EXPECTED = 20  # in a cell of a chi-squared test; rarer values are put together


def scalars(draws: Mapping[str, np.ndarray], target: Target) -> dict[str, np.ndarray]:
    """Scalars by name: of vectors the first few elements, and what the target derives from its quantities."""
    found: dict[str, np.ndarray] = {}
    for name, values in draws.items():
        if values.ndim == 1:
            found[name] = values
        else:
            found |= {f"{name}[{i}]": values[:, i] for i in range(min(values.shape[1], MOST_ELEMENTS))}
    return found | {name: derive(draws) for name, derive in target.derived.items()}


def compare(a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray]) -> tuple[Comparison, ...]:
    """Two samples of independent draws: every scalar's distribution and spread, and every pair's product.

    Spread and products are of ranks in the pooled sample, centred: bounded, so that heavy tails do no harm, and
    symmetric in the two samples, so that under equality the difference of means has its usual law.
    """
    from scipy import stats

    results = []
    ranks = {}
    for name in a:
        pooled = np.concatenate([a[name], b[name]])
        whole = np.issubdtype(pooled.dtype, np.integer)
        p_value = _same_masses(a[name], b[name]) if whole else stats.ks_2samp(a[name], b[name], method="asymp").pvalue
        results.append(Comparison(f"distribution of {name}", float(p_value)))
        ranks[name] = np.split((stats.rankdata(pooled) - 0.5) / pooled.size - 0.5, [a[name].size])
    for name, (x, y) in ranks.items():
        results.append(Comparison(f"spread of {name}", same_mean(x**2, y**2)))
    for (one, (x1, y1)), (two, (x2, y2)) in combinations(ranks.items(), 2):
        results.append(Comparison(f"product of {one} and {two}", same_mean(x1 * x2, y1 * y2)))
    return tuple(sorted(results, key=lambda comparison: comparison.p_value))


def same_mean(x: np.ndarray, y: np.ndarray) -> float:
    """Two-sided p-value of the difference of two means."""
    from scipy import stats

    error = np.sqrt(x.var() / x.size + y.var() / y.size)
    return float(2.0 * stats.norm.sf(abs(x.mean() - y.mean()) / error)) if error > 0 else 1.0


def _same_masses(x: np.ndarray, y: np.ndarray) -> float:
    """Chi-squared p-value of two samples of whole numbers."""
    from scipy import stats

    values, place = np.unique(np.concatenate([x, y]), return_inverse=True)
    table = np.stack([np.bincount(part, minlength=values.size) for part in np.split(place, [x.size])])
    rare = table.sum(axis=0) < 2 * FEWEST_EXPECTED
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        table = table[:, table.sum(axis=0) >= 2 * FEWEST_EXPECTED]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
