"""Marginals: every coordinate against its exact distribution.

Many independent chains start from exact draws, so that each draw of each chain has the target's distribution if the
sampler is right, however slowly it mixes. *The chain is the unit*: of any function f the chains' means are independent,
with expectation E f, and (their mean − E f)/(their standard error) is held against Student's t with chains − 1 degrees
of freedom. That takes no estimate of an autocorrelation. f is x, (x − mean)², "x is in the lower (upper) tenth", and
for whole numbers "x is k".

Kolmogorov-Smirnov and chi-squared tests want independent draws. The rule: of each chain as many draws are kept, evenly
spaced and the last among them, as a quarter of its ESS, and at least one. Then draws that are kept lie four
autocorrelation times apart (their correlation is e⁻⁸ for a chain of order one), and one draw a chain is independent
exactly. tests/test_checks.py shows by simulation that false alarms keep their rate.

Where no exact draws can be had (BLR's posterior), chains start as usual, a warm-up is left out, chains that are short
for their memory, or still drift, are not judged, and means and variances are held against a reference with errors of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mahmc import diagnostics
from mahmc.checks.verdicts import LEVEL, POWER, Comparison, Finding, Round, Workbench, sequential, unclear
from mahmc.run import Run
from mahmc.spec import RunSpec, built_target
from mahmc.targets import Target, Truth

CHECK = "marginals"
ROUNDS = 3
GROWTH = 2
CHAINS = 256
CHAINS_WITHOUT_EXACT = 64  # where each has to find its way first
SLOTS = 1000  # recorded draws of a chain; further ones are thinned out
TAIL = 0.1
RESOLUTION = {"mean": 0.125, "variance": 0.3, "probability": 0.04}  # "right" is said if errors of that size would show
THINNING = 4  # autocorrelation times between the draws that are kept for a Kolmogorov-Smirnov test
LEAST_MASS = 0.005  # of a whole number that is looked at on its own
FEWEST_PER_CHAIN = 10  # ESS of a chain that did not start from an exact draw
DRIFT = 1e-3  # level at which the halves of chains are said to differ


class Size(NamedTuple):
    """How much of a target is drawn: chains, and iterations of each after as many of warm-up as said."""

    chains: int
    iterations: int
    warmup: int = 0


@dataclass(frozen=True)
class Statistic:
    """The mean of f over each chain, against E f."""

    what: str
    kind: str  # "mean", "variance" or "probability"
    chain_means: np.ndarray
    truth: float
    unit: float  # what an error is measured in: sd, variance, or one
    truth_error: float = 0.0

    def compare(self) -> Comparison:
        """Student's t of the chains' means."""
        from scipy import stats

        error = math.hypot(self.error, self.truth_error)
        off = float(self.chain_means.mean()) - self.truth
        if error <= 1e-12 * self.unit:
            p_value = 1.0 if abs(off) <= 1e-9 * self.unit else 0.0
        else:
            p_value = float(2.0 * stats.t.sf(abs(off) / error, self.chain_means.size - 1))
        return Comparison(self.what, p_value, off + self.truth, self.truth, error)

    @property
    def error(self) -> float:
        return float(self.chain_means.std(ddof=1)) / math.sqrt(self.chain_means.size)

    def reach(self, level: float) -> float:
        """The least error, in its unit, that a test at `level` catches with probability POWER."""
        from scipy import stats

        freedom = self.chain_means.size - 1
        wide = stats.t.isf(level / 2.0, freedom) + stats.t.ppf(POWER, freedom)
        return float(wide) * math.hypot(self.error, self.truth_error) / self.unit


def marginals(
    target: str | Target,
    sampler: str,
    size: Size,
    *,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether every coordinate of long chains has the distribution that is known to be true."""
    bench = workbench or Workbench()
    built, chosen = built_target(target, chosen)
    RunSpec.of(built, sampler, **chosen)  # refuses what is wrong
    if not built.truths:
        return unclear(CHECK, f"of {built.name} with these settings no distribution is known to compare with.", level)

    def make_round(number: int) -> Round:
        run = bench.advance(new_run(built, sampler, size, (seed, number), GROWTH ** (number - 1), chosen))
        return judge(run, level / ROUNDS)

    compared = (
        "mean, variance and tail probabilities (or masses) of every coordinate with their exact values, in errors "
        "between chains, and whole distributions by Kolmogorov-Smirnov and chi-squared tests of thinned draws"
    )
    return sequential(CHECK, compared, make_round, level, ROUNDS)


def new_run(
    target: Target, sampler: str, size: Size, seed: tuple[int, int], times: int, chosen: Mapping[str, Any]
) -> Run:
    """Chains of that size, with `times` the iterations."""
    number = int(np.random.SeedSequence((*seed, 7)).generate_state(1)[0])
    exact = target.exact is not None
    thin = max(1, size.iterations * times // SLOTS)
    about = {
        "start": "exact" if exact else "default", "chains": size.chains, "thin": thin,
        "draws": max(2, size.iterations * times // thin), "warmup": 0 if exact else -(-size.warmup // thin),
        "keep": tuple(quantity.name for quantity in target.quantities),
    }  # fmt: skip
    return Run(RunSpec.of(target, sampler, **about, seed=number, **chosen), target)


def judge(run: Run, level: float, draws: int | None = None) -> Round:
    """All comparisons of the first `draws` draws of a run, and what they would have caught."""
    known = run.target.truths
    values = {name: run.get(name)[:, :draws] for name in run.names if name in known}
    statistics = [s for name, x in values.items() for s in statistics_of(name, x, known[name])]
    comparisons = [s.compare() for s in statistics]
    comparisons += [c for name, x in values.items() if (c := whole_distribution(name, x, known[name]))]
    reaches = dict.fromkeys(RESOLUTION, 0.0)
    for statistic in statistics:
        reaches[statistic.kind] = max(reaches[statistic.kind], statistic.reach(level / len(comparisons)))
    enough = all(reach <= RESOLUTION[kind] for kind, reach in reaches.items())
    obstacle = f"To say right, it has to see errors of {_reaches(RESOLUTION)}: draw more, or tune so that it mixes."
    if run.spec.start != "exact" and (reason := _start_remembered(values)):
        comparisons, enough = [], False
        obstacle = f"{reason}, so the start may not be forgotten: draw more, or tune so that it mixes."
    n = next(iter(values.values())).shape[1] * run.spec.chains
    return Round(tuple(comparisons), n, f"errors of {_reaches(reaches)}", enough, obstacle, run)


def _reaches(reaches: Mapping[str, float]) -> str:
    """Sizes of errors in words."""
    words = {"mean": "{:.2g} standard deviations in a mean", "variance": "{:.0%} in a variance",
             "probability": "{:.2g} in a probability"}  # fmt: skip
    return ", ".join(words[kind].format(reach) for kind, reach in reaches.items() if reach > 0)


def _start_remembered(values: Mapping[str, np.ndarray]) -> str:
    """Why chains may not have forgotten where they started: too short for their memory, or adrift; "" if neither."""
    from scipy import stats

    sizes = {name: diagnostics.ess(np.asarray(x, float)) / len(x) for name, x in values.items()}
    slowest = min(sizes, key=lambda key: -1.0 if math.isnan(sizes[key]) else sizes[key])
    if not sizes[slowest] >= FEWEST_PER_CHAIN:
        return f"A chain is worth {max(sizes[slowest], 0.0):.2g} independent draws of {slowest}"
    worst = {}
    for name, x in values.items():
        first, second = np.array_split(x, 2, axis=1)
        apart = second.mean(axis=1) - first.mean(axis=1)
        worst[name] = float(stats.ttest_1samp(apart, 0.0).pvalue) if np.ptp(apart) > 0 else 1.0
    name = min(worst, key=lambda key: worst[key])
    return f"Chains still drift in {name}" if worst[name] * len(worst) < DRIFT else ""


def statistics_of(name: str, x: np.ndarray, truth: Truth) -> Iterator[Statistic]:
    """What is compared of one scalar x (chains, draws) by the means of its chains."""
    if truth.discrete:
        low, high = (int(end) for end in truth.support)
        masses = {k: float(truth.density(np.array([k]))[0]) for k in range(low, high + 1)}
        looked_at = [k for k, mass in masses.items() if mass >= LEAST_MASS]
        for k in looked_at[1:] if len(masses) == 2 else looked_at:  # of two probabilities one says all
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
    """The point below which a share p lies, by bisection of the exact distribution function."""
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
    """Draws of (chains, draws) that are as good as independent, by the rule above."""
    sizes = [diagnostics.ess(x, kind) for kind in ("bulk", "tail")]
    effective = min((size for size in sizes if not math.isnan(size)), default=0.0)
    chains, draws = x.shape
    kept = int(min(max(1.0, effective / (THINNING * chains)), draws))
    spacing = draws // kept
    return x[:, draws - 1 - spacing * np.arange(kept)].ravel()


def whole_distribution(name: str, x: np.ndarray, truth: Truth) -> Comparison | None:
    """Kolmogorov-Smirnov, or chi-squared for whole numbers, of thinned draws; None where the truth has no such form."""
    from scipy import stats

    if truth.cdf is None or "[" in name:  # of vectors, means and masses of each element are enough
        return None
    kept = thinned(np.asarray(x, float))
    if not truth.discrete:
        return Comparison(f"distribution of {name}", float(stats.kstest(kept, truth.cdf, method="asymp").pvalue))
    values = np.arange(int(truth.support[0]), int(truth.support[1]) + 1)
    expected = np.asarray(truth.density(values), float) * kept.size
    observed = np.array([(kept == k).sum() for k in values], float)
    rare = expected < 5.0
    if rare.any():
        expected, observed = (np.append(part[~rare], part[rare].sum()) for part in (expected, observed))
    if expected.size > 1 and expected[-1] < 5.0:  # what was put together may still be rare
        expected = np.append(expected[:-2], expected[-2:].sum())
        observed = np.append(observed[:-2], observed[-2:].sum())
    if expected.size < 2:
        return None
    p_value = stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
    return Comparison(f"distribution of {name}", float(p_value))
