"""Whether chains move: in every element, to every common value, and away from where they started.

A sampler that never changes an element, or never reaches one of its values, leaves exact draws exact, so other checks
cannot see this mistake. So this check asks whether each element changes, and whether each common value is reached. The
stated level holds for a right sampler that does both at least once in 1/RARELY recorded draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mahmc import diagnostics
from mahmc.checks import functions
from mahmc.checks.reference import LEAST_MASS
from mahmc.checks.subjects import Chains
from mahmc.checks.verdicts import ComparedStatistic

RARELY = 1e-3  # changes of an element in each recorded draw; a sampler with fewer changes may be called wrong
FEWEST_PER_CHAIN = 10  # the least ESS of a chain that did not start from an exact draw
DRIFT = 1e-3  # the level of the test that both halves of chains have the same mean
MOVEMENT = "movement"


def movement(chains: Chains) -> list[ComparedStatistic]:
    """Whether each element changes in some chain, and each common value of a whole number is reached from another.

    The p-value is the probability that an event that happens once in 1/RARELY draws is never seen.
    """
    found: list[ComparedStatistic] = []
    if next(iter(chains.draws.values())).shape[1] < 2:
        return found
    for name, x in {n: chains.get(n) for n in chains.names if n not in chains.derived}.items():
        changed = bool((x != x[:, :1]).any())
        p_value = 1.0 if changed else math.exp(-RARELY * x.size)
        what = f"{name} changes" if changed else f"{name} never changes in any chain"
        found.append(ComparedStatistic(what, p_value, family=MOVEMENT))
        if not functions.is_whole(x) or not changed:
            continue
        values, counts = np.unique(x, return_counts=True)
        for value, mass in zip(values, counts / x.size, strict=True):
            here = x == value
            if mass >= LEAST_MASS and not (here[:, 1:] & ~here[:, :-1]).any():
                p_value = math.exp(-RARELY * x.size * mass)
                found.append(ComparedStatistic(f"{name} never becomes {value} in any chain", p_value, family=MOVEMENT))
    return found


def start_remembered(values: Mapping[str, np.ndarray]) -> str:
    """Why chains may still depend on their start: a small ESS, or a drift. The text is empty if there is neither."""
    from scipy import stats

    sizes = {name: diagnostics.ess(np.asarray(x, float)) / len(x) for name, x in values.items()}
    slowest = min(sizes, key=lambda key: -1.0 if math.isnan(sizes[key]) else sizes[key])
    if not sizes[slowest] >= FEWEST_PER_CHAIN:
        return f"Each chain has an ESS of only {max(sizes[slowest], 0.0):.2g} for {slowest}"
    worst = {}
    for name, x in values.items():
        first, second = np.array_split(x, 2, axis=1)
        apart = second.mean(axis=1) - first.mean(axis=1)
        worst[name] = float(stats.ttest_1samp(apart, 0.0).pvalue) if np.ptp(apart) > 0 else 1.0
    name = min(worst, key=lambda key: worst[key])
    return f"Chains still drift in {name}" if worst[name] * len(worst) < DRIFT else ""
