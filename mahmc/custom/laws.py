"""Tests whether updates of q^O leave exp(−U(q, ·)) invariant.

A *site* is a row of q^O. All sites are tested, by the first of these methods that applies:

- If q^O has at most MOST_STATES states, the probability of each state is computed. States drawn with these
  probabilities are updated, and the states and the values of each site are counted afterwards.
- A full conditional of more states, or of real variables, is compared with the conditional law of each site given the
  other sites. One update tests all sites. For a discrete site, the frequency of each value is compared with its
  probability. For a real site, scores are computed whose mean is zero if the law is right (`RealSites`). Sums over
  blocks of sites, and over all sites, find errors that are small but everywhere.
- If the target has exact draws, each draw is updated so often that single sites are visited several times. Then all
  variables and the energy are compared with other exact draws.

Other updates (many states or real variables, no full conditional, no exact draws) are not tested here.

Updates of many sites are repeated less often, so that a test takes some seconds; see `affordable`. The p-values come
from inequalities (Hoeffding, Bernstein) that hold for few repeats and rare values. The p-values of sums use an
estimated variance: a simulation in the test suite shows that these p-values are not too small, but there is no proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter
from typing import Protocol

import numpy as np

from mahmc.checks.two_samples import ELEMENTS, compare_samples
from mahmc.checks.verdicts import ComparedStatistic, corrected
from mahmc.custom.points import CustomTarget, PointBlock, affordable
from mahmc.custom.variables import Variable
from mahmc.lanes import LANES

MOST_STATES = 1024
REPEATS = 4096  # updates of each of LANES points if states are counted
FEWEST_EXPECTED = 10.0  # the smallest expected count in a cell
FEWEST_REPEATS, MOST_REPEATS = 16, 1024  # of an update of many sites
STARTS = 16  # starting states for updates by a full conditional
SITE_BLOCKS = 16  # blocks of neighbouring sites of a variable; the sums over blocks are tested
FEWEST_BATCHES, MOST_BATCHES = 32, 512  # batches of LANES exact draws
VISITS_OF_EACH_SITE = 3  # on average, by updates that visit one site at a time
CLEAR = 1e-8  # below this corrected p-value the message names a single site
PILOT = 32  # updates that estimate the centre and width of each real site

Evidence = tuple[float, str]  # a p-value, and the words for the message


def tested_updates(custom: CustomTarget, block: PointBlock) -> Iterator[tuple[str, float, str]]:
    """For each update that can be tested: its name, its p-value, and the largest deviation in words."""
    others = [v for v in custom.variables if v.other]
    counted = all(v.values for v in others)
    states = np.prod([float(len(v.values)) ** v.rows for v in others]) if counted else np.inf
    for index, (name, function) in enumerate(custom.updates.items()):
        full = function.full_conditional  # type: ignore[attr-defined]
        if states <= MOST_STATES:
            yield name, *_counted(block, others, index, name, full)
        elif full:
            yield name, *_conditionals(block, others, index, name)
        elif custom.target.truth.exact is not None:
            yield name, *_moved(custom, block, index, name)


def _worst(by_site: list[Evidence], together: list[Evidence]) -> Evidence:
    """The smallest p-value, corrected for the number of tests of its kind and for two kinds, with its words.

    A single site that is clearly wrong is named even if states or blocks of sites have a smaller p-value: the name of
    the site helps to find the mistake.
    """
    best = [min(((min(1.0, 2 * p * len(kind)), words) for p, words in kind), key=itemgetter(0), default=(1.0, ""))
            for kind in (by_site, together)]  # fmt: skip
    return best[0] if best[0][0] < CLEAR else min(best, key=itemgetter(0))


def _element(v: Variable, i: int) -> str:
    """An element of a variable, with its row: "w[3] (other[4])"."""
    return f"{v.name if v.size is None else f'{v.name}[{i}]'} (other[{v.first + i}])"


# ---------------------------------------------------------------------------------------------------- few states


def _counted(block: PointBlock, others: list[Variable], index: int, name: str, full: bool) -> Evidence:
    """Compare counts of updated states with exp(−U) at LANES points q.

    States are drawn with probabilities ∝ exp(−U) before the update; for a full conditional, from any distribution.
    """
    sites = [(v, i) for v in others for i in range(v.rows)]
    states = np.array(list(itertools.product(*(v.values for v, _ in sites))), float)
    block.start()
    U = np.empty((len(states), LANES))
    for k, state in enumerate(states):
        block.other[:] = state[:, None]
        U[k] = block.U()
    weights = np.exp(U.min(axis=0) - U)
    mass = weights / weights.sum(axis=0)
    steps = np.linspace(0, 1, len(states) + 1)[1:, None] if full else np.cumsum(mass, axis=0)
    place = {state.tobytes(): k for k, state in enumerate(states)}
    counts = np.zeros((len(states), LANES))
    for _ in range(REPEATS):
        drawn = np.minimum((block.rng.random(LANES) * steps[-1] >= steps).sum(axis=0), len(states) - 1)
        block.other[:] = states[drawn].T
        block.grad_U()
        block.update(index, name, times=1 if full else 2 * len(sites) + 1)  # enough to visit most sites
        for lane, state in enumerate(block.other.T):
            counts[place[(state + 0.0).tobytes()], lane] += 1  # -0.0 is 0.0
    by_site = []
    for column, (v, i) in enumerate(sites):
        for value in v.values[1:]:
            has = states[:, column] == value
            words = f"{_element(v, i)} took the value {value}"
            by_site.append(_frequency(block, words, counts[has].sum(axis=0), mass[has].sum(axis=0), REPEATS))
    return _worst(by_site, [_state_counts(block, states, counts[:, c], mass[:, c], c) for c in range(LANES)])


def _state_counts(block: PointBlock, states: np.ndarray, seen: np.ndarray, mass: np.ndarray, lane: int) -> Evidence:
    expected = REPEATS * mass
    k = int(np.argmax((seen - expected) ** 2 / np.maximum(expected, FEWEST_EXPECTED)))
    words = (
        f"with {block.point(lane, q_only=True)}, qᴼ = {states[k].astype(int).tolist()} occurred in {seen[k]:.0f} of "
        f"{REPEATS} updates; {expected[k]:.1f} were expected"
    )
    return _same_counts(seen, expected), words


def _same_counts(seen: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of counts, by the likelihood ratio, which is accurate in the far tails. Rare states are merged."""
    from scipy import stats

    order = np.argsort(expected)
    cells: list[list[float]] = [[0.0, 0.0]]
    for s, e in zip(seen[order], expected[order], strict=True):
        if cells[-1][1] >= FEWEST_EXPECTED:
            cells.append([0.0, 0.0])
        cells[-1][0] += s
        cells[-1][1] += e
    table = np.array(cells)
    if len(table) > 1 and table[-1, 1] < FEWEST_EXPECTED:
        table[-2] += table[-1]
        table = table[:-1]
    if len(table) == 1:
        return 1.0
    return float(stats.power_divergence(table[:, 0], table[:, 1], lambda_="log-likelihood").pvalue)


def _frequency(block: PointBlock, event: str, seen: np.ndarray, chance: np.ndarray, repeats: int) -> Evidence:
    """Compare how often an event occurred in each lane with the mean of its probabilities there."""
    share = seen / repeats
    lane = int(np.argmax(_depths(share, chance, repeats)))
    words = (
        f"with {block.point(lane, q_only=True)}, {event} in {seen[lane]:.0f} of {repeats} updates; "
        f"{repeats * chance[lane]:.1f} were expected"
    )
    return frequency_p_value(share, chance, repeats), words


def _depths(share: np.ndarray, chance: np.ndarray, repeats: int) -> np.ndarray:
    """n·KL(share, chance): such a share, or a larger deviation, has a probability of at most 2·exp(−depth)."""
    from scipy import special

    chance = np.clip(chance, 0.0, 1.0)
    depths: np.ndarray = repeats * (special.rel_entr(share, chance) + special.rel_entr(1.0 - share, 1.0 - chance))
    return depths


def frequency_p_value(share: np.ndarray, chance: np.ndarray, repeats: int) -> float:
    """The p-value of shares of trials in LANES lanes, given the mean probabilities in these lanes."""
    return _tail(_depths(share, chance, repeats) - np.log(2.0))


def _tail(depths: np.ndarray) -> float:
    """The joint p-value of LANES independent tests, each with a p-value of at most exp(−depth).

    A depth is then at most exponential, and their sum at most Gamma(LANES).
    """
    from scipy import stats

    return float(stats.gamma.sf(depths.sum(), LANES))


# ---------------------------------------------------------------------------------- full conditionals, site by site


class Sites(Protocol):
    """The sites of one variable. `add` collects evidence about their conditional laws after each update."""

    @property
    def evaluations(self) -> int:
        """Evaluations of U that `add` makes."""
        ...

    def add(self, block: PointBlock, U: np.ndarray) -> None:
        """Add the state after an update, with energy U."""
        ...

    def evidence(self, block: PointBlock) -> tuple[list[Evidence], list[Evidence]]:
        """The evidence for each site, and for blocks of sites."""
        ...


def _conditionals(block: PointBlock, others: list[Variable], index: int, name: str) -> Evidence:
    """Make updates from a few states at the same q, and test the conditional law of every site after each update."""
    starts = []
    for _ in range(STARTS):
        block.start()
        starts.append(block.other.copy())
    pilot = []
    for k in range(PILOT):
        _update_from(block, starts[k % STARTS], index, name)
        pilot.append(block.other.copy())
    sites: list[Sites] = [DiscreteSites(v) if v.values else RealSites(v, np.array(pilot)) for v in others]
    evaluations = sum(site.evaluations for site in sites)
    for k in range(affordable(block, evaluations, FEWEST_REPEATS, MOST_REPEATS)):
        _update_from(block, starts[k % STARTS], index, name)
        U = block.U()
        for site in sites:
            site.add(block, U)
    evidence = [site.evidence(block) for site in sites]
    return _worst([p for by_site, _ in evidence for p in by_site], [p for _, blocks in evidence for p in blocks])


def _update_from(block: PointBlock, other: np.ndarray, index: int, name: str) -> None:
    """Update a given state. Repeats are independent, for every update, because each begins at a given state."""
    block.other[:] = other
    block.grad_U()
    block.update(index, name)


class DiscreteSites:
    """The sites of a discrete variable.

    Given the other sites, site i has value k with probability P ∝ exp(−U(x_i = k)), so the mean of 1[x_i = k] − P is 0.
    Given the other sites, repeats are independent trials with known probabilities. Hoeffding (1963): with mean
    probability p, a share s of n trials has a probability of at most exp(−n·KL(s, p)), on either side.
    """

    def __init__(self, v: Variable) -> None:
        self.v, self.values = v, np.array(v.values, float)
        self.rows = np.arange(v.first, v.first + v.rows)
        self.seen, self.chance = np.zeros((2, len(v.values), v.rows, LANES))
        self.edges = np.unique(np.linspace(0, v.rows, SITE_BLOCKS + 1).astype(int)[:-1])
        self.sums: list[np.ndarray] = []  # values and energies minus their means: (2, blocks and all sites, LANES)
        self.variances: list[np.ndarray] = []
        self._grid = np.ogrid[: v.rows, :LANES]

    @property
    def evaluations(self) -> int:
        return (len(self.values) - 1) * self.v.rows

    def add(self, block: PointBlock, U: np.ndarray) -> None:
        n, (row, lane) = len(self.values), self._grid
        now = np.searchsorted(self.values, block.other[self.rows])
        places = [(now + shift) % n for shift in range(n)]
        others = [block.energies("other", self.rows, self.values[place]) for place in places[1:]]
        E = np.array([np.broadcast_to(U, now.shape), *others])
        E[np.isnan(E)] = np.inf
        weights = np.exp(E.min(axis=0) - E)
        chance = weights / weights.sum(axis=0)
        self.seen[now, row, lane] += 1.0
        for place, share in zip(places, chance, strict=True):
            self.chance[place, row, lane] += share
        sums, variances = [], []
        for x in (self.values[np.array(places)], np.where(chance > 0.0, E, 0.0)):
            mean = (chance * x).sum(axis=0)
            sums.append(self._blocks(x[0] - mean))
            variances.append(self._blocks((chance * (x - mean) ** 2).sum(axis=0)))
        self.sums.append(np.array(sums))
        self.variances.append(np.array(variances))

    def _blocks(self, x: np.ndarray) -> np.ndarray:
        """Sums over blocks of neighbouring sites, and over all sites."""
        return np.concatenate([np.add.reduceat(x, self.edges, axis=0), x.sum(axis=0, keepdims=True)])

    def evidence(self, block: PointBlock) -> tuple[list[Evidence], list[Evidence]]:
        repeats = len(self.sums)
        first = 1 if len(self.values) == 2 else 0  # the frequency of one of two values determines the other
        by_site = [
            _frequency(block, f"{_element(self.v, i)} took the value {int(self.values[k])}", self.seen[k, i],
                       self.chance[k, i] / repeats, repeats)
            for k in range(first, len(self.values)) for i in range(self.v.rows)
        ]  # fmt: skip
        p_values = sums_p_values(np.array(self.sums), np.mean(self.variances, axis=0))
        edges = [*self.edges, self.v.rows]
        spans = [*itertools.pairwise(edges), (0, self.v.rows)]
        blocks = [
            (float(p_values[kind, b]), f"the {what} of {self.v.name}[{begin}…{end - 1}] are not distributed as exp(−U) "
             "says, given the other sites")
            for kind, what in ((0, "values"), (1, "energies"))
            for b, (begin, end) in enumerate(spans)
        ]  # fmt: skip
        return by_site, blocks


class RealSites:
    """The sites of a real variable.

    Let π be the law of a site x, and y = x + d or x − d. Exchanging x for y with probability π(y)/(π(x) + π(y)) leaves
    π invariant. So the mean of Σ_y (h(y) − h(x))·π(y)/(π(x) + π(y)) is zero for any function h. Two bounded functions
    are tested: the position of x, and its distance from the centre. A pilot gives the scale of h and the distances d.
    """

    WORDS = ("has another location than", "has another spread than")
    DISTANCES = (0.5, 1.5, 4.0)

    def __init__(self, v: Variable, pilot: np.ndarray) -> None:
        self.v = v
        self.rows = np.arange(v.first, v.first + v.rows)
        seen = pilot[:, self.rows]
        self.centre, self.width = np.median(seen, axis=0), np.maximum(np.ptp(seen, axis=0) / 4.0, 1e-12)
        self.scores: list[list[np.ndarray]] = [[] for _ in self.DISTANCES]  # (2, rows, LANES) each

    @property
    def evaluations(self) -> int:
        return 2 * len(self.DISTANCES) * self.v.rows

    def add(self, block: PointBlock, U: np.ndarray) -> None:
        x = block.other[self.rows].copy()
        for d, scores in zip(self.DISTANCES, self.scores, strict=True):
            step = d * self.width
            scores.append(self._exchange(block, U, x, x + step) + self._exchange(block, U, x, x - step))

    def _exchange(self, block: PointBlock, U: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(h(y) − h(x))·π(y)/(π(x) + π(y)) for both functions h."""
        inside = (y > self.v.low) & (y < self.v.high)
        E = block.energies("other", self.rows, np.where(inside, y, x))
        with np.errstate(over="ignore", invalid="ignore"):
            exchanged: np.ndarray = np.where(inside & np.isfinite(E), 1.0 / (1.0 + np.exp(E - U)), 0.0)
        scores: np.ndarray = exchanged * (self._places(y) - self._places(x))
        return scores

    def _places(self, x: np.ndarray) -> np.ndarray:
        u = (x - self.centre) / self.width
        places: np.ndarray = np.array([u, np.abs(u)]) / (1.0 + np.abs(u))
        return places

    def p_values(self) -> np.ndarray:
        """P-values by distance, function h, and row."""
        found = []
        for d, scores in zip(self.DISTANCES, self.scores, strict=True):
            bounds = np.array(
                [2.0 * d / (2.0 + d), 2.0 * d / (1.0 + d)]
            )  # for y on both sides: opposite signs, any sign
            found.append(bounded_p_values(np.array(scores), bounds[:, None, None]))
        return np.array(found)

    def evidence(self, block: PointBlock) -> tuple[list[Evidence], list[Evidence]]:
        lanes = np.argmax(np.abs(np.mean(self.scores[1], axis=0)), axis=-1)
        by_site = []
        for (_, kind, i), p_value in np.ndenumerate(self.p_values()):
            where = block.point(int(lanes[kind, i]), q_only=True)
            words = f"{_element(self.v, i)} {self.WORDS[kind]} exp(−U) says, given the other sites"
            by_site.append((float(p_value), f"with {where}, {words}"))
        return by_site, []


def bernstein(total: np.ndarray, variance: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """P-values of sums (…, LANES) of independent scores with mean zero, given their variance and bound.

    A p-value is for all lanes together.
    """
    from scipy import stats

    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(total != 0.0, total**2 / (2.0 * (variance + bound * np.abs(total) / 3.0)), 0.0)
    p_values: np.ndarray = stats.gamma.sf((depth - np.log(2.0)).sum(axis=-1), LANES)
    return p_values


def sums_p_values(scores: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """P-values of scores (repeats, …, LANES) with mean zero, whose variance is approximately known from the model.

    If the sum of squared scores is larger than this variance, it is used instead. The variance of the model is needed
    because a rare value may not have occurred.
    """
    expected = len(scores) * variance
    bound = np.maximum(np.abs(scores).max(axis=0), np.sqrt(expected))
    return bernstein(scores.sum(axis=0), np.maximum((scores**2).sum(axis=0), expected), bound)


def bounded_p_values(scores: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """P-values of scores (repeats, …, LANES) with mean zero, for which only a bound is known.

    A sum may differ from zero because a rare score did not occur. If this score occurs λ times on average, the sum is
    at most λ·bound, and the score never occurs with probability exp(−λ). So the depth must stay below λ; here it is at
    most 0.75·λ.
    """
    total = scores.sum(axis=0)
    return bernstein(total, (scores**2).sum(axis=0) + bound * np.abs(total) / 3.0, bound)


# --------------------------------------------------------------------------------------------------- exact draws


def _moved(custom: CustomTarget, block: PointBlock, index: int, name: str) -> Evidence:
    """Compare exact draws that were updated many times with other exact draws: all variables and the energy."""
    times = affordable(block, FEWEST_BATCHES // 4, fewest=1, most=VISITS_OF_EACH_SITE * len(block.other) + 1)
    draws = LANES * affordable(block, times // 2 + 1, FEWEST_BATCHES, MOST_BATCHES)
    fresh, moved = (_exact(custom, block, index, name, draws, updates) for updates in (0, times))
    comparisons = compare_samples(fresh, moved)
    by_element = [c for c in comparisons if c.family == ELEMENTS and c.what.partition(" of ")[2] != "energy"]
    worst = min(comparisons, key=lambda c: c.p_value)
    named = min(by_element, key=lambda c: c.p_value)
    if named.p_value * len(comparisons) < CLEAR:
        worst = named
    return corrected(comparisons), f"{times} updates change, in exact draws, the {_in_words(worst, fresh, moved)}"


def _exact(
    custom: CustomTarget, block: PointBlock, index: int, name: str, draws: int, updates: int
) -> dict[str, np.ndarray]:
    """Exact draws by variable, and their energy, after a number of updates."""
    assert custom.target.truth.exact is not None
    q, other = custom.target.density.pack(custom.target.truth.exact(block.rng, draws))
    energy = np.empty(draws)
    for begin in range(0, draws, LANES):
        here = slice(begin, begin + LANES)
        block.q[:], block.other[:] = q[here].T, other[here].T
        if updates:
            block.grad_U()
            block.update(index, name, updates)
        other[here], energy[here] = block.other.T, block.U()
    found = {}
    for v in custom.variables:
        part = (other if v.other else q)[:, v.first : v.first + v.rows]
        part = part.astype(int) if v.values else part
        found[v.name] = part[:, 0] if v.size is None else part
    return found | {"energy": energy}


def _in_words(worst: ComparedStatistic, fresh: dict[str, np.ndarray], moved: dict[str, np.ndarray]) -> str:
    """The statistic that differs most; for a discrete element, its value and both shares."""
    element = worst.what.partition("distribution of ")[2]
    base, _, index = element.partition("[")
    if base not in fresh or not np.issubdtype(fresh[base].dtype, np.integer):
        return worst.what
    a, b = (x[:, int(index[:-1])] if index else x for x in (fresh[base], moved[base]))
    value = max(np.unique(np.concatenate([a, b])), key=lambda k: abs((a == k).mean() - (b == k).mean()))
    after, before = (b == value).mean(), (a == value).mean()
    return f"{worst.what}: {after:.2%} are {value} after the updates, {before:.2%} without"
