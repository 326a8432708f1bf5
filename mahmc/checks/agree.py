"""Agreement of samplers: all of them must give the same mean of every scalar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mahmc.checks.verdicts import LEVEL, POWER, ComparedStatistic, Finding, Round, Workbench, sequential, unclear
from mahmc.run import Run
from mahmc.targets import Score

CHECK = "agreement"
RESOLUTION = {"mean": 0.25}  # standard deviations; a verdict of right needs a check that catches such an error
LEAST_ERROR = 1e-9  # in standard deviations: for a mean of chains that all have the same mean
NOT_COMPARED = ("momentum", "slice")  # variables of a sampler, not of the target


class Means(NamedTuple):
    """For each sampler the means of the scalars and their errors, in the order of `names`, and its score."""

    names: tuple[str, ...]
    means: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    accuracies: Mapping[str, float]  # empty where the target has no score


def agreement(runs: Mapping[str, Run], level: float = LEVEL, workbench: Workbench | None = None) -> Finding:
    """Whether all samplers give the same mean of every scalar, by Welch's test of the means of chains.

    Parameters
    ----------
    runs
        A run on the same target for each sampler.
    level
        The probability of a false alarm.
    workbench
        The resolution that people set; by default the check's own resolution.

    Returns
    -------
    Finding
        The verdict with its reasons: `verdict`, `words`, `p_value` and `comparisons`.

    Examples
    --------
    >>> runs = {name: mahmc.sample("gmm", name, draws=500, warn=False) for name in ("hmc", "mahmc")}
    >>> mahmc.checks.agreement(runs).wrong
    False
    """
    if len(runs) < 2:
        return unclear(CHECK, "agreement is between samplers: check two or more.", level)
    largest = (workbench or Workbench()).sizes(RESOLUTION)["mean"]
    names, still = _compared(runs)
    if not names:
        return unclear(CHECK, "no quantity changed in any chain, so there is nothing to compare.", level)
    chain_means = {sampler: _chain_means(run, names) for sampler, run in runs.items()}
    sd = np.array([np.concatenate([np.ravel(run.get(name)) for run in runs.values()]).std() for name in names])
    means = {sampler: m.mean(axis=0) for sampler, m in chain_means.items()}
    errors = {sampler: m.std(axis=0, ddof=1) / np.sqrt(len(m)) for sampler, m in chain_means.items()}
    spread = [_spread(chains, LEAST_ERROR * sd) for chains in chain_means.values()]
    e = np.array([chains.std(axis=0, ddof=1) / np.sqrt(len(chains)) for chains in spread])
    n = np.array([[len(chains)] for chains in spread])
    p_values = _welch(spread)
    what = [f"mean of {name} by all samplers" for name in names]
    comparisons = tuple(ComparedStatistic(text, float(p)) for text, p in zip(what, p_values, strict=True))
    reaches = _reach(e, n, level / len(names)) / sd
    worst = int(np.argmax(reaches))
    scored = {sampler: score for sampler, run in runs.items() if (score := run.target.presentation.score)}
    scores = {sampler: score.of(runs[sampler].draws) for sampler, score in scored.items()}
    found = Round(
        comparisons,
        int(sum(next(iter(run.draws.values())).shape[0] * run.spec.draws for run in runs.values())),
        f"a sampler whose mean is off by {reaches[worst]:.2g} standard deviations, even for {names[worst]}, the least "
        "precise quantity",
        bool(reaches[worst] <= largest),
        f"For a verdict of right, this check must catch means that are off by {largest:g} standard deviations: draw "
        "more.",
        Means(names, means, errors, scores),
        f"{', '.join(still)}, which changed in no chain" if still else "",
    )
    compared = (
        f"means of {len(names)} quantities by {', '.join(runs)}{_scored(next(iter(scored.values()), None), scores)}"
    )
    return sequential(CHECK, compared, lambda number: found, level, rounds=1)


def _compared(runs: Mapping[str, Run]) -> tuple[tuple[str, ...], list[str]]:
    """The scalars that all runs have: first the scalars that changed in some chain, then the others."""
    first, *others = runs.values()
    names = [name for name in first.names if all(name in run.names for run in others)]
    names = [name for name in names if name.partition("[")[0] not in NOT_COMPARED]
    moved = {name: any(_moved(run.get(name)) for run in runs.values()) for name in names}
    return tuple(name for name in names if moved[name]), [name for name in names if not moved[name]]


def _chain_means(run: Run, names: tuple[str, ...]) -> np.ndarray:
    """(chains, scalars)."""
    return np.column_stack([run.get(name).mean(axis=1) for name in names])


def _scored(score: Score | None, scores: Mapping[str, float]) -> str:
    """The score of each sampler's draws, in words."""
    if score is None:
        return ""
    paper = "" if math.isnan(score.paper) else f" (the paper: {score.paper:.2%})"
    return f"; {score.what}: " + ", ".join(f"{sampler} {share:.2%}" for sampler, share in scores.items()) + paper


def _reach(e: np.ndarray, n: np.ndarray, level: float) -> np.ndarray:
    """For each scalar, the smallest error in one sampler's mean that the test catches, for the least precise sampler.

    If one of k samplers with errors e is off by a distance, k − 1 times the F statistic has the noncentrality
    (distance/error)², where the error combines that of this sampler with that of the other samplers' mean.
    """
    from scipy import optimize, stats

    k = len(e)
    w = 1.0 / e**2
    alone = 1.0 / w + 1.0 / (w.sum(axis=0) - w)
    freedom = max(1.0, float(n.min()) - 1.0)
    critical = stats.f.isf(level, k - 1, freedom)
    size = optimize.brentq(lambda z: stats.ncf.sf(critical, k - 1, freedom, z**2) - POWER, 0.1, 100.0)
    found: np.ndarray = size * np.sqrt(alone.max(axis=0))
    return found


def _welch(samples: Sequence[np.ndarray]) -> np.ndarray:
    """For each column, the p-value of equal expectations. Samples may have different sizes and variances."""
    from scipy import stats

    found: np.ndarray = stats.f_oneway(*samples, axis=0, equal_var=False).pvalue
    return found


def _spread(chain_means: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Means of chains (chains, scalars). Equal means are spread a little, because Welch's test needs an error."""
    n = len(chain_means)
    even = np.linspace(-1.0, 1.0, n)[:, None]
    apart = chain_means.mean(axis=0) + error * np.sqrt(n) * even / even.std(ddof=1)
    return np.where(chain_means.std(axis=0, ddof=1) / np.sqrt(n) < error, apart, chain_means)


def _moved(x: np.ndarray) -> bool:
    """Whether any chain of (chains, draws) moved. Differences of small whole numbers could overflow."""
    return bool((x.max(axis=1) > x.min(axis=1)).any())
