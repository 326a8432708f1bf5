"""Agreement: do samplers that share no trajectory give the same distribution?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mahmc.checks.verdicts import LEVEL, POWER, Comparison, Finding, Round, sequential, unclear
from mahmc.run import Run

CHECK = "agreement"
RESOLUTION = 0.25  # "right" is said if a mean that is off by so many standard deviations would show
NOT_COMPARED = ("momentum", "slice")  # which are of a sampler, not of the target


class Means(NamedTuple):
    """Means of the scalars and their errors, an array over `names` for each sampler, and the score of each."""

    names: tuple[str, ...]
    means: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    accuracies: Mapping[str, float]  # empty where the target has no score


def agreement(runs: Mapping[str, Run], level: float = LEVEL) -> Finding:
    """Whether all samplers give the same mean of every scalar: Welch's test, whose units are the means of chains."""
    if len(runs) < 2:
        return unclear(CHECK, "one sampler alone agrees with itself: check two or more.", level)
    names, still = _compared(runs)
    if not names:
        return unclear(CHECK, "nothing moved in any chain, so there is nothing to compare.", level)
    chain_means = {sampler: _chain_means(run, names) for sampler, run in runs.items()}
    sd = np.array([np.concatenate([np.ravel(run.get(name)) for run in runs.values()]).std() for name in names])
    means = {sampler: m.mean(axis=0) for sampler, m in chain_means.items()}
    errors = {sampler: m.std(axis=0, ddof=1) / np.sqrt(len(m)) for sampler, m in chain_means.items()}
    m = np.array(list(means.values()))
    e = np.maximum(list(errors.values()), 1e-9 * sd)  # chains that all stand at one point have no error
    n = np.array([[len(chains)] for chains in chain_means.values()])
    p_values = _welch(m, e, n)
    what = [f"mean of {name} by all samplers" for name in names]
    comparisons = tuple(Comparison(text, float(p)) for text, p in zip(what, p_values, strict=True))
    reaches = _reach(e, n, level / len(names)) / sd
    worst = int(np.argmax(reaches))
    scores = {sampler: run.target.score.of(run.draws) for sampler, run in runs.items() if run.target.score}
    found = Round(
        comparisons,
        int(sum(next(iter(run.draws.values())).shape[0] * run.spec.draws for run in runs.values())),
        f"a sampler whose mean is off by {reaches[worst]:.2g} standard deviations, in the worst case of {names[worst]}",
        bool(reaches[worst] <= RESOLUTION),
        f"To say right, this check has to see means that are off by {RESOLUTION} standard deviations: draw more.",
        Means(names, means, errors, scores),
        f"{', '.join(still)}, which moved in no chain" if still else "",
    )
    compared = f"means of {len(names)} quantities by {', '.join(runs)}{_scored(runs, scores)}"
    return sequential(CHECK, compared, lambda number: found, level, rounds=1)


def _compared(runs: Mapping[str, Run]) -> tuple[tuple[str, ...], list[str]]:
    """The scalars that all runs have and that moved in some chain; and those that moved in none."""
    first, *others = runs.values()
    names = [name for name in first.names if all(name in run.names for run in others)]
    names = [name for name in names if name.partition("[")[0] not in NOT_COMPARED]
    moved = {name: any(np.ptp(run.get(name), axis=1).any() for run in runs.values()) for name in names}
    return tuple(name for name in names if moved[name]), [name for name in names if not moved[name]]


def _chain_means(run: Run, names: tuple[str, ...]) -> np.ndarray:
    """(chains, scalars)."""
    return np.column_stack([run.get(name).mean(axis=1) for name in names])


def _scored(runs: Mapping[str, Run], scores: Mapping[str, float]) -> str:
    """How well each sampler's draws do what the target is used for, in words."""
    if not scores:
        return ""
    score = next(run.target.score for run in runs.values() if run.target.score)
    paper = "" if math.isnan(score.paper) else f" (the paper: {score.paper:.2%})"
    return f"; {score.what}: " + ", ".join(f"{sampler} {share:.2%}" for sampler, share in scores.items()) + paper


def _reach(e: np.ndarray, n: np.ndarray, level: float) -> np.ndarray:
    """How far the mean of one sampler, the worst of them, must be from the others' to be seen; by scalar.

    Of k samplers with errors e the statistic then has k − 1 times F's noncentrality (distance/error)², where the error
    is that of the sampler and of the others' mean together.
    """
    from scipy import optimize, stats

    k = len(e)
    w = 1.0 / e**2
    alone = 1.0 / w + 1.0 / (w.sum(axis=0) - w)
    freedom = max(1.0, float(n.min()) - 1.0)
    critical = stats.f.isf(level, k - 1, freedom)
    size = optimize.brentq(lambda z: stats.ncf.sf(critical, k - 1, freedom, z**2) - POWER, 0.1, 100.0)
    return size * np.sqrt(alone.max(axis=0))


def _welch(m: np.ndarray, e: np.ndarray, n: np.ndarray) -> np.ndarray:
    """p-values of equal expectations, column by column, of k means m with errors e from n values each (Welch 1951)."""
    from scipy import stats

    k = len(m)
    w = 1.0 / e**2
    pooled = (w * m).sum(axis=0) / w.sum(axis=0)
    spread = (np.square(1.0 - w / w.sum(axis=0)) / (n - 1)).sum(axis=0)
    F = (w * (m - pooled) ** 2).sum(axis=0) / (k - 1) / (1.0 + 2.0 * (k - 2) / (k**2 - 1) * spread)
    return stats.f.sf(F, k - 1, (k**2 - 1) / (3.0 * spread))
