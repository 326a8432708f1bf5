"""What is compared of one scalar with its known distribution: the means of its chains, and thinned draws.

*The chain is the unit*: for any function f, the means of the chains are independent and have the expectation E f. So
(mean of the chains' means − E f)/(its standard error) has Student's t distribution with chains − 1 degrees of freedom.
This needs no estimate of an autocorrelation. f is x, (x − mean)², "x is in the lower (upper) tenth", and for whole
numbers "x is k".

The spread between chains is smaller in samples with fewer rare events, or with fewer large values. Then a mean that is
too small by chance would look significant. So the error of a probability or a variance is at least what the spread
would be at the true value. If only a few chains had a rare event, the error is that of chains that never move. The
error of a product of two ranks is at least that of independent draws.

Kolmogorov-Smirnov and chi-squared tests need independent draws. So each chain keeps as many draws as a quarter of its
ESS, and at least one; they are evenly spaced, and the last draw is kept. Draws that are kept lie four autocorrelation
times apart (their correlation is e⁻⁸ for a chain of order one). One draw of each chain is exactly independent.
tests/test_checks.py shows by simulation that false alarms keep their rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mahmc import diagnostics
from mahmc.checks import power
from mahmc.checks.reference import LEAST_MASS
from mahmc.checks.verdicts import POWER, ComparedStatistic
from mahmc.targets import Truth

TAIL = 0.1
SMALL_PROBABILITY = 0.5  # the share of a small probability that an error must stay below
FEWEST_VISITORS = 30  # chains in an event, or half of all chains: fewer do not tell how precise their mean is
THINNING = 4  # autocorrelation times between draws that a Kolmogorov-Smirnov test uses
RESAMPLED = 400  # sets of chains, each with a planted error
ELEMENTS, WHOLE = "elements", "whole distributions"


@dataclass(frozen=True)
class Statistic:
    """The mean of f over each chain, and its true value E f."""

    what: str
    kind: str  # "mean", "variance", "probability" or "product"
    chain_means: np.ndarray
    truth: float
    unit: float  # of errors: the standard deviation, the variance, or one
    truth_error: float = 0.0
    family: str = ELEMENTS
    least_error: float = 0.0  # of the mean, if all draws were independent

    def compare(self) -> ComparedStatistic:
        """Student's t test of the chains' means."""
        from scipy import stats

        error = math.hypot(self.error, self.truth_error)
        off = float(self.chain_means.mean()) - self.truth
        if error <= 1e-12 * self.unit:
            p_value = 1.0 if abs(off) <= 1e-9 * self.unit else 0.0
        else:
            p_value = float(2.0 * stats.t.sf(abs(off) / error, self.chain_means.size - 1))
        return ComparedStatistic(self.what, p_value, off + self.truth, self.truth, error, self.family)

    @property
    def spread(self) -> float:
        """The standard error of the mean, from the spread between chains alone."""
        return float(self.chain_means.std(ddof=1)) / math.sqrt(self.chain_means.size)

    @property
    def error(self) -> float:
        """The standard error of the mean: from the spread between chains, and not too small for the true value."""
        mean = float(self.chain_means.mean())
        if self.kind == "probability":
            return self._error_of_a_probability(mean)
        if self.kind == "variance" and 0.0 < mean < self.truth:
            return self.spread * self.truth / mean
        return max(self.spread, self.least_error)

    def _error_of_a_probability(self, mean: float) -> float:
        n, true = self.chain_means.size, self.truth * (1.0 - self.truth)
        rare = self.chain_means if self.truth <= 0.5 else 1.0 - self.chain_means
        squares = float(np.square(rare).sum())
        visitors = float(rare.sum()) ** 2 / squares if squares > 0.0 else 0.0  # the number of chains, if all are alike
        if visitors < min(FEWEST_VISITORS, n / 2):
            return max(self.spread, math.sqrt(max(true, 0.0) / n))
        seen = mean * (1.0 - mean)
        return self.spread * math.sqrt(true / seen) if 0.0 < seen < true else self.spread

    def reach(self, level: float) -> float:
        """The smallest error, in its unit, that a test at `level` catches with probability POWER, by formula."""
        from scipy import stats

        freedom = self.chain_means.size - 1
        wide = float(stats.t.isf(level / 2.0, freedom) + stats.t.ppf(POWER, freedom))
        above, below = (wide * math.hypot(e, self.truth_error) / self.unit for e in (self.spread, self.error))
        if self.kind == "probability":  # a sampler cannot miss more of a rare event than its probability
            below = min(below, self.truth, 1.0 - self.truth)
        return max(above, below)

    def planted_reach(self, level: float) -> float:
        """The same by planting errors: chains are resampled with replacement, shifted and tested."""
        from scipy import stats

        n = self.chain_means.size
        rng = np.random.default_rng((n, 8))
        drawn = self.chain_means[rng.integers(0, n, (RESAMPLED, n))] - self.chain_means.mean()
        errors = np.hypot(drawn.std(axis=1, ddof=1) / math.sqrt(n), self.truth_error)
        off = drawn.mean(axis=1) + self.truth_error * rng.standard_normal(RESAMPLED)
        critical = float(stats.t.isf(level / 2.0, n - 1))
        highest = 4.0 * self.reach(level) * self.unit
        if highest == 0.0:
            return 0.0
        return power.smallest(lambda e: float((np.abs(off + e) > critical * errors).mean()), highest) / self.unit

    def limit(self, resolution: Mapping[str, float]) -> float:
        """The largest error that the check may miss."""
        if self.kind != "probability":
            return resolution[self.kind]
        small = max(LEAST_MASS, min(self.truth, 1.0 - self.truth))
        return min(resolution[self.kind], SMALL_PROBABILITY * small)


def statistics_of(name: str, x: np.ndarray, truth: Truth) -> Iterator[Statistic]:
    """The statistics of one scalar x (chains, draws) that are compared by the means of its chains."""
    if truth.discrete:
        low, high = (int(end) for end in truth.support)
        masses = {k: float(truth.density(np.array([k]))[0]) for k in range(low, high + 1)}
        possible = {k: mass for k, mass in masses.items() if mass > 0.0}
        common = [k for k, mass in possible.items() if mass >= LEAST_MASS]
        for k in list(possible)[1:] if len(possible) == 2 else common:  # one of two probabilities determines the other
            yield Statistic(f"P({name} = {k})", "probability", (x == k).mean(axis=1), masses[k], 1.0)
        return
    x = np.asarray(x, float)
    if truth.moments >= 2:
        yield Statistic(f"mean of {name}", "mean", x.mean(axis=1), truth.mean, truth.sd, truth.mean_se)
    if truth.moments >= 4:
        variance, error = truth.sd**2, 2.0 * truth.sd * truth.sd_se
        squares = np.square(x - truth.mean).mean(axis=1)
        yield Statistic(f"variance of {name}", "variance", squares, variance, variance, error)
    if truth.cdf is not None:
        lower, upper = (quantile(truth, p) for p in (TAIL, 1.0 - TAIL))
        yield Statistic(f"P({name} < {lower:.3g})", "probability", (x < lower).mean(axis=1), TAIL, 1.0)
        yield Statistic(f"P({name} > {upper:.3g})", "probability", (x > upper).mean(axis=1), TAIL, 1.0)


def quantile(truth: Truth, p: float) -> float:
    """The p-quantile, by bisection of the exact distribution function."""
    from scipy import optimize

    assert truth.cdf is not None
    cdf = truth.cdf
    low, high = truth.support
    while float(cdf(np.array([low]))[0]) > p:
        low -= high - low
    while float(cdf(np.array([high]))[0]) < p:
        high += high - low
    return float(optimize.brentq(lambda t: float(cdf(np.array([t]))[0]) - p, low, high))


def thinned(x: np.ndarray) -> np.ndarray:
    """Draws of (chains, draws) that are nearly independent, by the rule above."""
    sizes = [diagnostics.ess(x, kind) for kind in ("bulk", "tail")]
    effective = min((size for size in sizes if not math.isnan(size)), default=0.0)
    chains, draws = x.shape
    kept = int(min(max(1.0, effective / (THINNING * chains)), draws))
    spacing = draws // kept
    return x[:, draws - 1 - spacing * np.arange(kept)].ravel()


def whole_distribution(name: str, x: np.ndarray, truth: Truth) -> ComparedStatistic | None:
    """Kolmogorov-Smirnov, or chi-squared for whole numbers, of thinned draws; None where the truth has no such form."""
    from scipy import stats

    if truth.cdf is None or "[" in name:  # for vectors, the means and masses of each element are enough
        return None
    kept = thinned(np.asarray(x, float))
    if not truth.discrete:
        p_value = float(stats.kstest(kept, truth.cdf, method="asymp").pvalue)
        return ComparedStatistic(f"distribution of {name}", p_value, family=WHOLE)
    values = np.arange(int(truth.support[0]), int(truth.support[1]) + 1)
    expected = np.asarray(truth.density(values), float) * kept.size
    observed = np.array([(kept == k).sum() for k in values], float)
    rare = expected < 5.0
    if rare.any():
        expected, observed = (np.append(part[~rare], part[rare].sum()) for part in (expected, observed))
    if expected.size > 1 and expected[-1] < 5.0:  # the rare values together may still be rare
        expected = np.append(expected[:-2], expected[-2:].sum())
        observed = np.append(observed[:-2], observed[-2:].sum())
    if expected.size < 2:
        return None
    p_value = stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
    return ComparedStatistic(f"distribution of {name}", float(p_value), family=WHOLE)
