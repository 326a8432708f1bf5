"""Is it right? Tests of a sampler that can fail, with a stated rate of false alarms.

Invariance, after Gandy and Scott (2021), "Unit testing for MCMC and other Monte Carlo methods": start from exact
draws, apply a few iterations, and compare with fresh exact draws. If the sampler leaves the target alone, both
samples have one distribution: no burn-in, no autocorrelation, no tolerance to guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mahmc.kernels import energies
from mahmc.lanes import LANES
from mahmc.run import Run
from mahmc.spec import RunSpec
from mahmc.targets import Target

MOST_ELEMENTS = 3  # of a vector quantity that are looked at one by one
FEWEST_EXPECTED = 20  # in a cell of a chi-squared test; rarer values are put together


class Comparison(NamedTuple):
    """One statistic of both samples."""

    what: str
    p_value: float


@dataclass(frozen=True)
class Verdict:
    """What the test says. `right` is wrong with probability at most `level` if the sampler is right."""

    right: bool
    level: float
    rounds: int
    draws: int  # in the last round
    comparisons: tuple[Comparison, ...]  # of the last round, smallest p-value first

    def __str__(self) -> str:
        worst = self.comparisons[0]
        word = "right" if self.right else "WRONG"
        return (
            f"{word}: smallest of {len(self.comparisons)} p-values {worst.p_value:.2g} ({worst.what}), "
            f"round {self.rounds}, {self.draws} draws, false alarms at most {self.level:g}"
        )


def invariance(
    target: str | Target,
    sampler: str,
    *,
    iterations: int = 3,
    draws: int = 8192,
    rounds: int = 4,
    level: float = 1e-5,
    seed: int = 0,
    **chosen: Any,
) -> Verdict:
    """Whether the sampler leaves the target invariant, by the sequential test of Gandy and Scott (their Algo. 1).

    In each round the smallest p-value, times the number of comparisons, is held against β: at most β is a failure,
    above γ + β a pass, and anything between asks for a further round with four times the draws. With β = level/rounds
    at first, γ = β^(1/rounds), and β ← β/γ from round to round, false alarms have probability at most `level`.
    """
    beta = level / rounds
    gamma = beta ** (1.0 / rounds)
    for number in range(1, rounds + 1):
        comparisons = compare(*exact_and_moved(target, sampler, iterations, draws, (seed, number), chosen))
        corrected = comparisons[0].p_value * len(comparisons)
        if corrected <= beta or corrected > gamma + beta or number == rounds:
            break
        beta, draws = beta / gamma, 4 * draws
    return Verdict(bool(corrected > beta), level, number, draws, comparisons)


def independence(
    target: str | Target, sampler: str, *, draws: int = 16384, level: float = 1e-6, seed: int = 0, **chosen: Any
) -> Verdict:
    """Whether chains that run in lockstep are independent: exact draws, one iteration, then products within blocks.

    Of every scalar, and of its spread, as centred ranks f, the mean over blocks of Σ_{i≠j} f_i f_j must be zero. False
    alarms have probability at most `level`.
    """
    from scipy import stats

    _, moved = exact_and_moved(target, sampler, 1, draws - draws % LANES, (seed, 1), chosen)
    comparisons = []
    for name, values in moved.items():
        rank = (stats.rankdata(values) - 0.5) / values.size - 0.5
        for what, x in ((name, rank), (f"spread of {name}", rank**2)):
            f = (x - x.mean()).reshape(-1, LANES)
            products = f.sum(axis=1) ** 2 - (f**2).sum(axis=1)
            comparisons.append(Comparison(f"products of {what} in a block", _same_mean(products, np.zeros(1))))
    comparisons.sort(key=lambda comparison: comparison.p_value)
    right = comparisons[0].p_value * len(comparisons) > level
    return Verdict(right, level, 1, draws, tuple(comparisons))


def exact_and_moved(
    target: str | Target, sampler: str, iterations: int, draws: int, seed: tuple[int, int], chosen: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Fresh exact draws, and other exact draws after a few iterations: scalars by name, each of shape (draws,)."""
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    wanted: dict[str, Any] = {"start": "exact", "chains": draws, "draws": 1, "warmup": 0, "thin": iterations}
    spec = RunSpec.of(target, sampler, **wanted, seed=number, **chosen)
    built = target if isinstance(target, Target) else spec.build_target()
    assert built.exact is not None  # a spec that starts from exact draws has made sure
    rng = np.random.default_rng((*seed, 1))
    fresh = built.exact(rng, draws)
    fresh["energy"] = energies(built, *built.pack(fresh))
    if "alpha" in spec.values:  # the momentum outlives an iteration, and so does v
        fresh |= {"momentum": rng.standard_normal((draws, built.dim))}
    if "delta" in spec.values:
        fresh |= {"slice": rng.uniform(-1.0, 1.0, draws)}
    run = Run(RunSpec.of(target, sampler, **wanted, seed=number, keep=tuple(fresh), **chosen), built).advance_all()
    moved = {name: values[:, 0] for name, values in run.draws.items()}
    return _scalars(fresh, built), _scalars(moved, built)


def _scalars(draws: Mapping[str, np.ndarray], target: Target) -> dict[str, np.ndarray]:
    """Scalars by name: of vectors the first few elements, and what the target derives from its quantities."""
    scalars: dict[str, np.ndarray] = {}
    for name, values in draws.items():
        if values.ndim == 1:
            scalars[name] = values
        else:
            scalars |= {f"{name}[{i}]": values[:, i] for i in range(min(values.shape[1], MOST_ELEMENTS))}
    return scalars | {name: derive(draws) for name, derive in target.derived.items()}


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
        results.append(Comparison(f"spread of {name}", _same_mean(x**2, y**2)))
    for (one, (x1, y1)), (two, (x2, y2)) in combinations(ranks.items(), 2):
        results.append(Comparison(f"product of {one} and {two}", _same_mean(x1 * x2, y1 * y2)))
    return tuple(sorted(results, key=lambda comparison: comparison.p_value))


def _same_mean(x: np.ndarray, y: np.ndarray) -> float:
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
