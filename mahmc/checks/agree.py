"""Agreement: do samplers that share no trajectory give the same posterior?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mahmc.checks.verdicts import LEVEL, Comparison, Finding, Round, sequential, unclear
from mahmc.compare import accuracy
from mahmc.run import Run

CHECK = "agreement"
PAPER_ACCURACY = 562 / 569  # 98.77 %: the paper, Sec. 4.2


class Means(NamedTuple):
    """Posterior means of the coefficients and their errors, by sampler, and the accuracy of each."""

    means: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    accuracies: Mapping[str, float]


def agreement(runs: Mapping[str, Run], level: float = LEVEL) -> Finding:
    """Whether all samplers give the same mean of every β: Welch's test, whose units are the means of chains."""
    if len(runs) < 2:
        return unclear(CHECK, "one sampler alone agrees with itself: check two or more.", level)
    chain_means = {name: run.draws["beta"].mean(axis=1) for name, run in runs.items()}  # (chains, coefficients)
    means = {name: m.mean(axis=0) for name, m in chain_means.items()}
    errors = {name: m.std(axis=0, ddof=1) / np.sqrt(len(m)) for name, m in chain_means.items()}
    m, e = np.array(list(means.values())), np.array(list(errors.values()))
    p_values = _welch(m, e, np.array([[len(chains)] for chains in chain_means.values()]))
    comparisons = tuple(Comparison(f"mean of beta[{j}] by all samplers", float(p)) for j, p in enumerate(p_values))
    shares = {name: accuracy(run) for name, run in runs.items()}
    sd = np.concatenate([run.draws["beta"].reshape(-1, m.shape[1]) for run in runs.values()]).std(axis=0)
    catches = f"a sampler whose mean is off by {5.0 * float((e / sd).max()):.2g} standard deviations"
    draws = sum(run.draws["tau"].size for run in runs.values())
    classified = ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
    return sequential(
        CHECK,
        f"posterior means of β by {', '.join(runs)}; points classified right: {classified} (the paper: "
        f"{PAPER_ACCURACY:.2%})",
        lambda number: Round(comparisons, draws, catches, exhibit=Means(means, errors, shares)),
        level,
        rounds=1,
    )


def _welch(m: np.ndarray, e: np.ndarray, n: np.ndarray) -> np.ndarray:
    """p-values of equal expectations, column by column, of k means m with errors e from n values each (Welch 1951)."""
    from scipy import stats

    k = len(m)
    w = 1.0 / e**2
    pooled = (w * m).sum(axis=0) / w.sum(axis=0)
    spread = (np.square(1.0 - w / w.sum(axis=0)) / (n - 1)).sum(axis=0)
    F = (w * (m - pooled) ** 2).sum(axis=0) / (k - 1) / (1.0 + 2.0 * (k - 2) / (k**2 - 1) * spread)
    return stats.f.sf(F, k - 1, (k**2 - 1) / (3.0 * spread))
