"""Detailed balance of the discrete variables: an exact test, with the continuous variables frozen.

The discrete states of the target must be few enough to enumerate. q^H is fixed at a point where several states have
much probability, but not the same probability, because equal energies would hide mistakes (ε is tiny, so leapfrogs do
not move q^H). States s are drawn from π(s | q^H) by enumeration, and one iteration turns each s into s′. If flows
balance, the pairs (s, s′) and (s′, s) have the same probability. So of n transitions between i and j, the number from i
to j is binomial with probability ½. This test is exact: it needs no estimate and no asymptotics.

Pairs of states with little flow would show only gross mistakes. They are counted, but not compared: every comparison
shows an imbalance of the size in RESOLUTION.

A sampler balances flows only if each of its updates does. A sweep over sites in a fixed order leaves the target
invariant without detailed balance, so the check does not apply to such an update.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from mahmc.checks.verdicts import LEVEL, POWER, ComparedStatistic, Finding, Round, Workbench, sequential, unclear
from mahmc.kernels import energies
from mahmc.run import Run
from mahmc.spec import RunSpec, built_target
from mahmc.targets import Target

CHECK = "detailed balance"
ROUNDS = 2
GROWTH = 2
FROZEN = 1e-12  # ε
CANDIDATES = 400  # points q^H to choose from
EVENNESS = 0.75  # entropy of the states as a share of the largest: states overlap, and differ
MOST_STATES = 64
FEWEST_PAIRS = 100  # transitions between two states that are compared
RESOLUTION = {"flow": 0.25}  # states are compared if a flow that exceeds its reverse by this share would show


class Flows(NamedTuple):
    """The labels of the states, and the number of transitions between each two."""

    states: tuple[str, ...]
    counts: np.ndarray  # [i, j]: from i to j


def applies(target: Target, updates: tuple[str, ...] | None = None) -> bool:
    """Whether flows of the target's small version can be counted, with these updates or with the default update."""
    used = (target.density.default_update,) if updates is None else updates
    return enumerable(target) is not None and not set(used) & set(target.density.sweeps)


def enumerable(target: Target) -> Target | None:
    """The small version, if its discrete states can be enumerated and its continuous part drawn exactly."""
    small = target.truth.small() if target.truth.small is not None else None
    if small is None or small.truth.exact is None:
        return None
    discrete = [quantity for quantity in small.density.quantities if quantity.discrete]
    states = np.prod([float(len(quantity.values)) ** quantity.size for quantity in discrete])
    return small if discrete and 1 < states <= MOST_STATES else None


def detailed_balance(
    target: str | Target,
    sampler: str,
    *,
    draws: int = 65536,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether flows between any two discrete states balance, with q^H frozen.

    Parameters
    ----------
    target
        A target by name, or a built target.
    sampler
        A sampler by name.
    draws
        The number of transitions in the first round; the second round has twice this number.
    level
        The probability of a false alarm.
    seed
        Same seed, same finding.
    workbench
        The resolution that people set, and a way to stop the check; by default the check's own resolution.
    **chosen
        Parameters of the sampler, as `mahmc.sample` takes them, and settings of a target that is given by name.

    Returns
    -------
    Finding
        The verdict with its reasons: `verdict`, `words`, `p_value` and `comparisons`.

    Raises
    ------
    InvalidInput
        If an argument cannot be used. The message says what is allowed.

    Examples
    --------
    >>> mahmc.checks.detailed_balance("gmm", "naive", draws=16384).verdict
    <Verdict.WRONG: 'wrong'>
    """
    bench = workbench or Workbench()
    built, chosen = built_target(target, chosen)
    spec = RunSpec.of(built, sampler, **chosen)  # refuses what is wrong
    small = enumerable(built)
    if small is None:
        return unclear(CHECK, f"{built.name} has no small version whose discrete states can be enumerated.", level)
    if sweeps := sorted({*spec.updates, spec.outer} & set(built.density.sweeps)):
        return unclear(
            CHECK,
            f"The update {sweeps[0]} is not declared reversible, so flows need not balance. If the update is "
            "reversible by itself, as one Metropolis step is, mark it with @update(reversible=True).",
            level,
        )

    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        flows = flow_counts(small, sampler, n, (seed, number), chosen, bench)
        return judge(flows, n, level / ROUNDS, bench.sizes(RESOLUTION)["flow"])

    compared = "the flow in each direction between pairs of discrete states, with the continuous variables frozen"
    return sequential(CHECK, compared, make_round, level, ROUNDS)


def judge(flows: Flows, n: int, level: float, largest: float = RESOLUTION["flow"]) -> Round:
    """Binomial tests of all pairs of states between which there was enough flow."""
    from scipy import stats

    pairs = list(combinations(range(len(flows.states)), 2))
    totals = np.array([flows.counts[i, j] + flows.counts[j, i] for i, j in pairs])
    order = np.argsort(-totals, kind="stable")
    compared = order[: _enough(totals[order], level, largest)]
    comparisons = []
    for i, j in (pairs[k] for k in compared):
        forth, total = int(flows.counts[i, j]), int(flows.counts[i, j] + flows.counts[j, i])
        p_value = float(stats.binomtest(forth, total).pvalue)
        what = f"flow from {flows.states[i]} to {flows.states[j]}, as a share of both directions"
        comparisons.append(ComparedStatistic(what, p_value, forth / total, 0.5, 0.5 / np.sqrt(total)))
    if not comparisons:
        return Round((), n, "nothing", False, "There were too few transitions between states: draw more.", flows)
    reach = _reach(int(totals[compared].min()), level / len(comparisons))
    left_out = len(pairs) - len(comparisons)
    return Round(
        tuple(comparisons),
        n,
        f"a flow that exceeds its reverse by {reach:.1%}, even between the two states with the least flow compared",
        exhibit=flows,
        unseen=f"flows between {left_out} of {len(pairs)} pairs of states, which were too small" if left_out else "",
    )


def _enough(totals: np.ndarray, level: float, largest: float) -> int:
    """How many pairs of states show an imbalance of `largest`. Pairs are in the order of their flow, largest first."""
    for count in range(len(totals), 0, -1):
        fewest = int(totals[count - 1])
        if fewest >= FEWEST_PAIRS and _reach(fewest, level / count) <= largest:
            return count
    return 0


@lru_cache(maxsize=4096)
def _reach(pairs: int, level: float) -> float:
    """The share by which a flow must exceed its reverse to be caught with probability POWER, by the binomial law."""
    from scipy import optimize, stats

    critical = stats.binom.isf(level / 2.0, pairs, 0.5)  # more transitions in one direction are rejected
    if critical >= pairs:
        return np.inf
    share = optimize.brentq(lambda p: stats.binom.sf(critical, pairs, p) - POWER, 0.5, 1.0 - 1e-12)
    return float(share / (1.0 - share) - 1.0)


def flow_counts(
    target: Target, sampler: str, n: int, seed: tuple[int, int], chosen: Mapping[str, Any], bench: Workbench
) -> Flows:
    """Start n chains at one q^H and states drawn by enumeration, make one iteration, and count pairs."""
    rng = np.random.default_rng((*seed, 5))
    states = enumerate_states(target)
    frozen, masses = _overlapping(target, states, rng)
    picked = rng.choice(len(masses), size=n, p=masses)
    starts = {name: values[picked] for name, values in states.items()}
    starts |= {name: np.repeat(value[None], n, axis=0) for name, value in frozen.items()}
    about: dict[str, Any] = {"chains": n, "draws": 1, "warmup": 0, "thin": 1, "keep": tuple(states)}
    spec = RunSpec.of(target, sampler, **chosen)
    about |= {name: FROZEN for name in ("epsilon", "T") if name in spec.values}
    if "visits" in spec.values:  # few variables: many visits would undo each other
        about["visits"] = 1
    if any(spec.law.updates):  # one reversible kernel after another is not reversible
        about["outer"] = "none"
    number = int(np.random.SeedSequence((*seed, 6)).generate_state(1)[0])
    spec = RunSpec.of(target, sampler, **{**chosen, **about}, seed=number)
    run = bench.advance(Run(spec, target, init=starts))
    after = {name: values[:, 0] for name, values in run.draws.items()}
    place = {key: i for i, key in enumerate(_keys(states))}
    reached = np.array([place[key] for key in _keys(after)])
    counts = np.zeros((len(masses), len(masses)), np.int64)
    np.add.at(counts, (picked, reached), 1)
    return Flows(tuple(_label(key) for key in place), counts)


def enumerate_states(target: Target) -> dict[str, np.ndarray]:
    """All values of the discrete quantities together, by quantity, with one row for each state."""
    discrete = [quantity for quantity in target.density.quantities if quantity.discrete]
    table = np.array(list(product(*(quantity.values for quantity in discrete for _ in range(quantity.size)))), np.int32)
    columns = np.cumsum([quantity.size for quantity in discrete])[:-1]
    parts = np.split(table, columns, axis=1)
    return {q.name: part if q.vector else part[:, 0] for q, part in zip(discrete, parts, strict=True)}


def _overlapping(
    target: Target, states: Mapping[str, np.ndarray], rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A point q^H where states overlap, from exact draws and midpoints of two; and the masses of the states there."""
    assert target.truth.exact is not None
    drawn = target.truth.exact(rng, CANDIDATES)
    kept = {name: np.asarray(values, float) for name, values in drawn.items() if name not in states}
    points = {name: np.concatenate([values, 0.5 * (values + values[::-1])]) for name, values in kept.items()}
    n_states = len(next(iter(states.values())))
    together = {name: np.repeat(values, n_states, axis=0) for name, values in points.items()}
    repeated = {name: np.concatenate([values] * 2 * CANDIDATES) for name, values in states.items()}
    U = energies(target, *target.density.pack({**together, **repeated})).reshape(2 * CANDIDATES, n_states)
    masses = np.exp(U.min(axis=1, keepdims=True) - U)
    masses /= masses.sum(axis=1, keepdims=True)
    entropy = -(masses * np.log(np.maximum(masses, 1e-300))).sum(axis=1)
    best = int(np.argmin(abs(entropy - EVENNESS * entropy.max())))
    return {name: np.asarray(values[best]) for name, values in points.items()}, masses[best]


def _keys(states: Mapping[str, np.ndarray]) -> list[tuple[int, ...]]:
    columns = np.column_stack([values.reshape(len(values), -1) for values in states.values()])
    return [tuple(row) for row in columns.tolist()]


def _label(key: tuple[int, ...]) -> str:
    """The values of a state: digits side by side, or numbers with commas where values are not single digits."""
    if len(key) == 1:
        return f"component {key[0]}"
    return ("" if all(0 <= value <= 9 for value in key) else ",").join(map(str, key))
