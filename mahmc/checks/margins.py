"""Marginals: long chains against exact distributions, or against exact draws.

Many independent chains start from exact draws, so that each draw of each chain has the target's distribution if the
sampler is right, however slowly it mixes. *The chain is the unit*: of any function f the chains' means are independent,
with expectation E f, and (their mean − E f)/(their standard error) is held against Student's t with chains − 1 degrees
of freedom. That takes no estimate of an autocorrelation. f is x, (x − mean)², "x is in the lower (upper) tenth", and
for whole numbers "x is k". Where a target has exact draws, functions of many scalars (products of pairs, projections,
sums, sorted elements) and scalars without a known distribution are held against the means of exact draws.

Kolmogorov-Smirnov and chi-squared tests want independent draws. The rule: of each chain as many draws are kept, evenly
spaced and the last among them, as a quarter of its ESS, and at least one. Then draws that are kept lie four
autocorrelation times apart (their correlation is e⁻⁸ for a chain of order one), and one draw a chain is independent
exactly. tests/test_checks.py shows by simulation that false alarms keep their rate.

Where no exact draws can be had (BLR's posterior), chains start as usual, a warm-up is left out, chains that are short
for their memory, or still drift, are not judged, and means and variances are held against a reference with errors of
its own.

A sampler that never changes some element, or never reaches one of its values, leaves exact draws exact. So chains are
also asked whether each element changes and each common value is reached. If a right sampler does so at least once in
1/RARELY recorded draws, the stated level holds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahmc import diagnostics
from mahmc.checks import power
from mahmc.checks.reference import LEAST_MASS, Reference
from mahmc.checks.subjects import Chains, Derived, EngineSubject, Exact, Size, Subject, engine_subject
from mahmc.checks.verdicts import (
    LEVEL,
    POWER,
    Comparison,
    Finding,
    Round,
    Workbench,
    checked_level,
    factors,
    sequential,
    unclear,
)
from mahmc.parameters import InvalidInput
from mahmc.run import Run
from mahmc.spec import checked_seed
from mahmc.targets import Target, Truth

CHECK = "marginals"
ROUNDS = 3
GROWTH = 2
TAIL = 0.1
# "Right" is said only if errors of this size would show: standard deviations of a mean, a share of a variance, a
# probability (or half of a small one), standard deviations of a product of two ranks.
RESOLUTION = {"mean": 0.125, "variance": 0.3, "probability": 0.04, "product": 0.125}
SMALL_PROBABILITY = 0.5  # the share of a small probability that an error must stay below
THINNING = 4  # autocorrelation times between the draws that are kept for a Kolmogorov-Smirnov test
FEWEST_PER_CHAIN = 10  # ESS of a chain that did not start from an exact draw
DRIFT = 1e-3  # level at which the halves of chains are said to differ
RARELY = 1e-3  # changes of an element a recorded draw: a sampler that makes fewer may be called wrong
FEWEST_CHAINS = 4  # whose spread says how far off their mean may be
RESAMPLED = 400  # sets of chains with a planted error
MOST_REFERENCES = 8  # that are kept
_references: dict[Hashable, Reference] = {}
ELEMENTS, WHOLE, MOVEMENT = "elements", "whole distributions", "movement"


@dataclass(frozen=True)
class Statistic:
    """The mean of f over each chain, against E f."""

    what: str
    kind: str  # "mean", "variance", "probability" or "product"
    chain_means: np.ndarray
    truth: float
    unit: float  # what an error is measured in: sd, variance, or one
    truth_error: float = 0.0
    family: str = ELEMENTS

    def compare(self) -> Comparison:
        """Student's t of the chains' means."""
        from scipy import stats

        error = math.hypot(self.error, self.truth_error)
        off = float(self.chain_means.mean()) - self.truth
        if error <= 1e-12 * self.unit:
            p_value = 1.0 if abs(off) <= 1e-9 * self.unit else 0.0
        else:
            p_value = float(2.0 * stats.t.sf(abs(off) / error, self.chain_means.size - 1))
        return Comparison(self.what, p_value, off + self.truth, self.truth, error, self.family)

    @property
    def error(self) -> float:
        return float(self.chain_means.std(ddof=1)) / math.sqrt(self.chain_means.size)

    def reach(self, level: float) -> float:
        """The least error, in its unit, that a test at `level` catches with probability POWER, by formula."""
        from scipy import stats

        freedom = self.chain_means.size - 1
        wide = stats.t.isf(level / 2.0, freedom) + stats.t.ppf(POWER, freedom)
        return float(wide) * math.hypot(self.error, self.truth_error) / self.unit

    def planted_reach(self, level: float) -> float:
        """The same by planting errors: chains drawn from these with replacement, shifted, and tested."""
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
        """The largest error that may go unseen."""
        if self.kind != "probability":
            return resolution[self.kind]
        small = max(LEAST_MASS, min(self.truth, 1.0 - self.truth))
        return min(resolution[self.kind], SMALL_PROBABILITY * small)


def check_marginals(
    subject: Subject,
    size: Size,
    *,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    resolution: Mapping[str, float] = RESOLUTION,
) -> Finding:
    """Whether long chains have the distribution that is known to be true, or that of exact draws."""
    bench = workbench or Workbench()
    reference = reference_of(subject, (seed, 9))
    if not subject.truths and reference is None:
        return unclear(CHECK, f"no distribution is known to compare {subject.label} with.", level)

    def make_round(number: int) -> Round:
        chains = subject.chains(size, GROWTH ** (number - 1), (seed, number), bench)
        return judge(chains, subject.truths, level / ROUNDS, reference, resolution)

    return sequential(CHECK, _compared(subject.truths, reference), make_round, level, ROUNDS)


def reference_of(subject: Subject, seed: tuple[int, ...]) -> Reference | None:
    """Expectations from exact draws, where there are such draws."""
    exact = subject.exact
    if exact is None:
        return None
    if not isinstance(subject, EngineSubject):
        return Reference(exact, subject.derived, np.random.default_rng(seed), subject.truths)
    target = subject.target
    key = (target.name, *target.settings.items(), target.fingerprint, getattr(exact, "__code__", exact), seed)
    if key not in _references:  # samplers that are checked on one target share it
        while len(_references) >= MOST_REFERENCES:
            _references.pop(next(iter(_references)), None)
        _references[key] = Reference(exact, target.derived, np.random.default_rng(seed), target.truths)
    return _references[key]


def _compared(truths: Mapping[str, Truth], reference: Reference | None) -> str:
    parts = []
    if truths:
        parts.append("mean, variance and tail probabilities (or masses) of scalars with their known values")
    if reference is not None:
        parts.append("products of pairs, projections, sums, sorted elements and other scalars with exact draws")
    return f"{' and '.join(parts)}, in errors between chains; and whether each element changes"


def judge(
    found: Chains | Run,
    truths: Mapping[str, Truth],
    level: float,
    reference: Reference | None = None,
    resolution: Mapping[str, float] = RESOLUTION,
) -> Round:
    """All comparisons of long chains, and what they would have caught."""
    chains = Chains.of(found) if isinstance(found, Run) else found
    values = {name: chains.get(name) for name in chains.names if name in truths}
    statistics = [s for name, x in values.items() for s in statistics_of(name, _units(x, chains.group), truths[name])]
    statistics += _against_exact(chains, reference) if reference is not None else []
    comparisons = [s.compare() for s in statistics]
    if chains.group == 1:
        comparisons += [c for name, x in values.items() if (c := whole_distribution(name, x, truths[name]))]
    moves = movement(chains)
    comparisons += moves
    factor = factors(comparisons)
    reaches, enough = _reaches_of(statistics, factor, level, resolution)
    obstacle = f"To say right, this check has to see errors of {in_words(resolution)}: draw more, or tune the sampler."
    if moves and all(c.p_value < 1.0 for c in moves):
        comparisons, enough, obstacle = [], False, "No chain moved at all: take a smaller step size."
    elif not chains.from_exact and (reason := _start_remembered(values or _elements(chains))):
        comparisons, enough = [], False
        obstacle = f"{reason}, so the start may not be forgotten: draw more, or tune so that it mixes."
    n = math.prod(next(iter(chains.draws.values())).shape[:2])
    catches = f"errors of {in_words(reaches)}, for the worst of all it compared"
    exhibit = found if isinstance(found, Run) else found.kept()
    return Round(tuple(comparisons), n, catches, enough, obstacle, exhibit, _unseen(chains, values, reference))


def _reaches_of(
    statistics: list[Statistic], factor: Mapping[str, int], level: float, resolution: Mapping[str, float]
) -> tuple[dict[str, float], bool]:
    """The smallest errors that are caught, by kind, of the statistic that sees least; and whether these are enough."""
    reaches: dict[str, float] = {}
    enough = True
    for kind in resolution:
        mine = [s for s in statistics if s.kind == kind]
        if not mine:
            continue
        by_formula = [s.reach(level / factor[s.family]) for s in mine]
        enough &= all(r <= s.limit(resolution) for r, s in zip(by_formula, mine, strict=True))
        worst = mine[int(np.argmax(by_formula))]
        reaches[kind] = max(max(by_formula), worst.planted_reach(level / factor[worst.family]))
        enough &= reaches[kind] <= resolution[kind]
    return reaches, enough


def in_words(reaches: Mapping[str, float]) -> str:
    """Sizes of errors in words."""
    words = {"mean": "{:.2g} standard deviations in a mean", "variance": "{:.0%} in a variance",
             "probability": "{:.2g} in a probability",
             "product": "{:.2g} standard deviations in a product of two"}  # fmt: skip
    return ", ".join(words[kind].format(reach) for kind, reach in reaches.items())


def _units(x: np.ndarray, group: int) -> np.ndarray:
    """Chains that know of each other put together: (groups, draws of all of them)."""
    return x if group == 1 else x.reshape(len(x) // group, -1)


def _elements(chains: Chains) -> dict[str, np.ndarray]:
    return {name: chains.get(name) for name in chains.names}


def _unseen(chains: Chains, values: Mapping[str, np.ndarray], reference: Reference | None) -> str:
    """What was not looked at."""
    if reference is not None:
        return reference.unseen
    left = [name for name in chains.names if name not in values]
    shown = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return "products of pairs, as there are no exact draws" + (f", and {shown}" if left else "")


def _against_exact(chains: Chains, reference: Reference) -> Iterator[Statistic]:
    """Functions of chains against their expectations by exact draws."""
    found, expected = reference.means(chains.everything()), reference.expected
    means = found.values if chains.group == 1 else found.values.reshape(-1, chains.group, len(found.names)).mean(axis=1)
    for k, (name, kind, family) in enumerate(zip(found.names, found.kinds, found.families, strict=True)):
        unit = float(expected.sds[k]) if kind == "product" else 1.0
        if unit > 0.0:
            yield Statistic(
                name, kind, means[:, k], float(expected.values[k]), unit, float(expected.errors[k]), family
            )  # fmt: skip


def movement(chains: Chains) -> list[Comparison]:
    """Whether each element changes in some chain, and each common value of a whole number is reached from another.

    The p-value is the probability that nothing is seen of something that happens once in 1/RARELY draws.
    """
    found: list[Comparison] = []
    if next(iter(chains.draws.values())).shape[1] < 2:
        return found
    for name, x in {n: chains.get(n) for n in chains.names if n not in chains.derived}.items():
        changed = bool((x != x[:, :1]).any())
        p_value = 1.0 if changed else math.exp(-RARELY * x.size)
        what = f"{name} changes" if changed else f"{name} never changes in any chain"
        found.append(Comparison(what, p_value, family=MOVEMENT))
        if not np.issubdtype(x.dtype, np.integer) or not changed:
            continue
        values, counts = np.unique(x, return_counts=True)
        for value, mass in zip(values, counts / x.size, strict=True):
            here = x == value
            if mass >= LEAST_MASS and not (here[:, 1:] & ~here[:, :-1]).any():
                p_value = math.exp(-RARELY * x.size * mass)
                found.append(Comparison(f"{name} never becomes {value} in any chain", p_value, family=MOVEMENT))
    return found


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
        possible = {k: mass for k, mass in masses.items() if mass > 0.0}
        looked_at = [k for k, mass in possible.items() if mass >= LEAST_MASS]
        for k in list(possible)[1:] if len(possible) == 2 else looked_at:  # of two probabilities one says all
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
        p_value = float(stats.kstest(kept, truth.cdf, method="asymp").pvalue)
        return Comparison(f"distribution of {name}", p_value, family=WHOLE)
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
    return Comparison(f"distribution of {name}", float(p_value), family=WHOLE)


def marginals(found: Any, known: Any, size: Size | None = None, *, from_exact: bool = False, level: float = LEVEL,
              seed: int | None = 0, workbench: Workbench | None = None, **chosen: Any) -> Finding:  # fmt: skip
    """Whether chains have the distribution that they should have.

    Either draws that somebody made, `marginals(draws, exact)`: arrays (chains, draws, …) by quantity, and a function
    `exact(rng, n)` that draws exact states, or a mapping of a `Truth` by scalar, or a target; `from_exact` says that
    each chain started from an exact draw. Or a sampler of ours on a target: `marginals("gmm", "mahmc", Size(…))`.
    """
    if not isinstance(found, Mapping):
        subject = engine_subject(found, known, chosen)
        about = {"level": checked_level(level), "seed": checked_seed(seed)}
        return check_marginals(subject, size or subject.size(1.0), **about, workbench=workbench)  # type: ignore[arg-type]
    exact, truths, derived = _known(known)
    draws = _checked_draws(found)
    reference, seed = None, checked_seed(seed)
    if exact is not None:
        draws = _in_order(draws, exact)
        reference = Reference(exact, derived, np.random.default_rng((seed, 9)), truths)
    elif missing := [name for name in truths if name not in Chains(draws).names]:
        raise InvalidInput(
            f"there are no draws of {missing[0]}, whose distribution is known; there are {_listed(draws)}."
        )
    made = judge(Chains(draws, derived, from_exact), truths, checked_level(level), reference)
    return sequential(CHECK, _compared(truths, reference), lambda number: made, level, rounds=1)


def _known(known: Any) -> tuple[Exact | None, Mapping[str, Truth], Derived]:
    """Exact draws, known distributions and derived quantities, from whatever says them."""
    if isinstance(known, Target):
        return known.exact, known.truths, known.derived
    if isinstance(known, Mapping) and known and all(isinstance(truth, Truth) for truth in known.values()):
        return None, known, {}
    if callable(known):
        return known, {}, {}
    raise InvalidInput(
        "the second argument says what is right: a function exact(rng, n), a Truth by scalar, or a target."
    )


def _in_order(draws: Mapping[str, np.ndarray], exact: Exact) -> dict[str, np.ndarray]:
    """Draws in the order of exact draws, if the two have the same quantities of the same shapes."""
    shapes = {str(name): np.shape(x)[1:] for name, x in exact(np.random.default_rng(0), 2).items()}
    if missing := [name for name in shapes if name not in draws]:
        raise InvalidInput(f"exact gives {missing[0]}, of which there are no draws; there are {_listed(draws)}.")
    if extra := [name for name in draws if name not in shapes]:
        raise InvalidInput(f"there are draws of {extra[0]}, which exact does not give: leave it out, or draw it there.")
    for name, shape in shapes.items():
        if draws[name].shape[2:] != shape:
            raise InvalidInput(f"{name} has the shape {draws[name].shape[2:]} in a draw and {shape} in an exact one.")
    return {name: draws[name] for name in shapes}


def _listed(draws: Mapping[str, np.ndarray]) -> str:
    return ", ".join(draws)


def _checked_draws(draws: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Draws as arrays (chains, draws, …), all of the same length."""
    found = {str(name): np.asarray(x) for name, x in draws.items()}
    shapes = {name: x.shape for name, x in found.items()}
    if not found or any(len(shape) not in (2, 3) for shape in shapes.values()):
        raise InvalidInput(f"draws must be arrays (chains, draws) or (chains, draws, size) by name; there is {shapes}.")
    first = next(iter(shapes.values()))[:2]
    if any(shape[:2] != first for shape in shapes.values()):
        raise InvalidInput(f"draws must have the same chains and draws for each quantity; there is {shapes}.")
    if first[0] < FEWEST_CHAINS or first[1] < 2:
        raise InvalidInput(f"{first[0]} chains of {first[1]} draws: at least {FEWEST_CHAINS} chains of 2 are needed.")
    for name, x in found.items():
        if not np.isfinite(x).all():
            raise InvalidInput(f"draws of {name} have values that are not finite.")
    return found
