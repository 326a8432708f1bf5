"""The smallest error that a test catches: errors are planted, and the share that the test catches is counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from mahmc.checks.verdicts import POWER

REPETITIONS = 400  # simulated tests for each size of error
SIMULATED = 1024  # draws in a simulated sample; for larger samples the error scales as 1/√n
HALVINGS = 12  # of the interval with the smallest error


def smallest(caught: Callable[[float], float], high: float) -> float:
    """The smallest error below `high` that is caught with probability POWER, by bisection of `caught(error)`."""
    low = 0.0
    if caught(high) < POWER:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if caught(middle) >= POWER else (middle, high)
    return high


def smallest_change(n: int, level: float) -> float:
    """The smallest change of a probability that a Kolmogorov-Smirnov test of n and n draws catches.

    The planted error moves a share of the draws from just below a random point to just above it. The test depends on √n
    times the share, so one simulation of SIMULATED draws gives the result for every larger n.
    """
    simulated = min(n, SIMULATED)
    return min(1.0, _planted(simulated, float(f"{level:.2g}")) * float(np.sqrt(simulated / n)))


@lru_cache(maxsize=256)
def _planted(n: int, level: float) -> float:
    from scipy import stats

    rng = np.random.default_rng((n, 3))
    critical = float(stats.kstwobign.isf(level)) * np.sqrt(2.0 / n)
    fresh, other = rng.random((2, REPETITIONS, n))
    labels = np.repeat([1.0 / n, -1.0 / n], n)

    def caught(share: float) -> float:
        point = rng.uniform(min(0.5, max(0.1, share)), max(0.5, min(0.9, 1.0 - share)), (REPETITIONS, 1))
        moved = np.where((other > point - share) & (other < point), other + share, other)
        order = np.argsort(np.concatenate([fresh, moved], axis=1), axis=1)
        return float((np.abs(np.cumsum(labels[order], axis=1)).max(axis=1) > critical).mean())

    return smallest(caught, 0.5)


def smallest_mass(masses: np.ndarray, n: int, level: float) -> float:
    """The smallest mass, moved between the two likeliest values, that a chi-squared test of n and n draws catches.

    Between these two the test is least sensitive.
    """
    return _planted_mass(tuple(np.round(np.sort(masses[masses > 0])[::-1], 3)), n, float(f"{level:.2g}"))


@lru_cache(maxsize=1024)
def _planted_mass(masses: tuple[float, ...], n: int, level: float) -> float:
    from scipy import stats

    p = np.array(masses) / np.sum(masses)
    if p.size < 2:
        return 0.0
    rng = np.random.default_rng((n, 4))
    critical = stats.chi2.isf(level, p.size - 1)
    fresh = rng.multinomial(n, p, REPETITIONS)

    def caught(share: float) -> float:
        q = p.copy()
        q[0], q[1] = q[0] - share, q[1] + share
        both = np.stack([fresh, rng.multinomial(n, q / q.sum(), REPETITIONS)])
        expected = both.mean(axis=0, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            terms = np.where(expected > 0, (both - expected) ** 2 / expected, 0.0)
        return float((terms.sum(axis=(0, 2)) > critical).mean())

    return smallest(caught, float(p[0]))
