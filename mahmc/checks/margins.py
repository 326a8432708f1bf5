"""Marginals: long chains against exact distributions, or against exact draws.

Many independent chains start from exact draws, so that each draw of each chain has the target's distribution if the
sampler is right, however slowly it mixes. Of each scalar, the means of chains and thinned draws are compared with the
known distribution (`scalars`). Where a target has exact draws, functions of many scalars (products of pairs,
projections, sums, sorted elements) and scalars without a known distribution are compared with the means of exact draws
(`reference`). The check also asks whether chains move at all (`movement`).

A target may have no exact draws, such as the posterior of BLR. Then chains start as usual and have a warm-up. Chains
are not judged if they are short compared with their autocorrelation time, or still drift. Means and variances are
compared with a reference that has errors of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping

import numpy as np

from mahmc.checks.movement import movement, start_remembered
from mahmc.checks.reference import Reference
from mahmc.checks.scalars import Statistic, statistics_of, whole_distribution
from mahmc.checks.subjects import Chains, EngineSubject, Size, Subject
from mahmc.checks.verdicts import LEVEL, Finding, Round, Workbench, factors, sequential, unclear
from mahmc.run import Run
from mahmc.targets import Truth

CHECK = "marginals"
ROUNDS = 3
GROWTH = 2
# A verdict of right needs a check that would catch errors of this size: in a mean and in a product of two ranks, in
# standard deviations; in a variance, as a share of it; in a probability (or half of a small probability).
RESOLUTION = {"mean": 0.125, "variance": 0.3, "probability": 0.04, "product": 0.125}
MOST_REFERENCES = 8  # in memory
_references: dict[Hashable, Reference] = {}


def check_marginals(
    subject: Subject,
    size: Size,
    *,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
) -> Finding:
    """Whether long chains have the known distribution, or the distribution of exact draws."""
    bench = workbench or Workbench()
    reference = reference_of(subject, (seed, 9))
    if not subject.truths and reference is None:
        return unclear(CHECK, f"no distribution is known to compare {subject.label} with.", level)

    def make_round(number: int) -> Round:
        chains = subject.chains(size, GROWTH ** (number - 1), (seed, number), bench)
        return judge(chains, subject.truths, level / ROUNDS, reference, bench.sizes(RESOLUTION))

    return sequential(CHECK, compared(subject.truths, reference), make_round, level, ROUNDS)


def reference_of(subject: Subject, seed: tuple[int, ...]) -> Reference | None:
    """Expectations from exact draws, where there are such draws."""
    exact = subject.exact
    if exact is None:
        return None
    if not isinstance(subject, EngineSubject):
        return Reference(exact, subject.derived, np.random.default_rng(seed), subject.truths)
    target = subject.target
    key = (target.name, *target.settings.items(), target.fingerprint, getattr(exact, "__code__", exact), seed)
    if key not in _references:  # all samplers on one target share its reference
        while len(_references) >= MOST_REFERENCES:
            _references.pop(next(iter(_references)), None)
        _references[key] = Reference(
            exact, target.presentation.derived, np.random.default_rng(seed), target.truth.scalars
        )
    return _references[key]


def compared(truths: Mapping[str, Truth], reference: Reference | None) -> str:
    """The comparisons that marginals make, in words."""
    parts = []
    if truths:
        parts.append("mean, variance and tail probabilities (or masses) of scalars with their known values")
    if reference is not None:
        parts.append("products of pairs, projections, sums, sorted elements and other scalars with exact draws")
    return f"{' and '.join(parts)}, with errors from the spread between chains; and whether each element changes"


def judge(
    found: Chains | Run,
    truths: Mapping[str, Truth],
    level: float,
    reference: Reference | None = None,
    resolution: Mapping[str, float] = RESOLUTION,
) -> Round:
    """All comparisons of long chains, and the errors that they would have caught."""
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
    obstacle = f"For a verdict of right, this check must catch errors of {in_words(resolution)}: draw more, or tune."
    if moves and all(c.p_value < 1.0 for c in moves):
        comparisons, enough, obstacle = [], False, "No chain moved at all: take a smaller step size."
    elif not chains.from_exact and (reason := start_remembered(values or _elements(chains))):
        comparisons, enough = [], False
        obstacle = f"{reason}, so chains may still depend on their start: draw more, or tune for better mixing."
    n = math.prod(next(iter(chains.draws.values())).shape[:2])
    catches = f"errors of {in_words(reaches)}, even in the least sensitive comparison"
    exhibit = found if isinstance(found, Run) else found.kept()
    return Round(tuple(comparisons), n, catches, enough, obstacle, exhibit, _unseen(chains, values, reference))


def _reaches_of(
    statistics: list[Statistic], factor: Mapping[str, int], level: float, resolution: Mapping[str, float]
) -> tuple[dict[str, float], bool]:
    """By kind, the smallest error that the least sensitive statistic catches; and whether all are small enough."""
    reaches: dict[str, float] = {}
    enough = True
    for kind in resolution:
        mine = [s for s in statistics if s.kind == kind]
        if not mine:
            continue
        by_formula = [s.reach(level / factor[s.family]) for s in mine]
        enough &= all(r <= s.limit(resolution) for r, s in zip(by_formula, mine, strict=True))
        worst = mine[int(np.argmax(by_formula))]
        reaches[kind] = max(*by_formula, worst.planted_reach(level / factor[worst.family]))
        enough &= reaches[kind] <= resolution[kind]
    return reaches, enough


def in_words(reaches: Mapping[str, float]) -> str:
    """Sizes of errors in words."""
    words = {"mean": "{:.2g} standard deviations in a mean", "variance": "{:.0%} in a variance",
             "probability": "{:.2g} in a probability",
             "product": "{:.2g} standard deviations in a product of two ranks"}  # fmt: skip
    return ", ".join(words[kind].format(reach) for kind, reach in reaches.items())


def _units(x: np.ndarray, group: int) -> np.ndarray:
    """Dependent chains put together: (groups, draws of all chains of a group)."""
    return x if group == 1 else x.reshape(len(x) // group, -1)


def _elements(chains: Chains) -> dict[str, np.ndarray]:
    return {name: chains.get(name) for name in chains.names}


def _unseen(chains: Chains, values: Mapping[str, np.ndarray], reference: Reference | None) -> str:
    """What was not compared, in words."""
    if reference is not None:
        return reference.unseen
    left = [name for name in chains.names if name not in values]
    shown = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return "products of pairs, as there are no exact draws" + (f", and {shown}" if left else "")


def _against_exact(chains: Chains, reference: Reference) -> Iterator[Statistic]:
    """Functions of chains against their expectations by exact draws."""
    found, expected = reference.means(chains.everything()), reference.expected
    means = found.values if chains.group == 1 else found.values.reshape(-1, chains.group, len(found.names)).mean(axis=1)
    independent = 1.0 / math.sqrt(len(found.values) * found.draws)
    for k, (name, kind, family) in enumerate(zip(found.names, found.kinds, found.families, strict=True)):
        unit = float(expected.sds[k]) if kind == "product" else 1.0
        if unit > 0.0:
            yield Statistic(
                name, kind, means[:, k], float(expected.values[k]), unit, float(expected.errors[k]), family,
                unit * independent,
            )  # fmt: skip
