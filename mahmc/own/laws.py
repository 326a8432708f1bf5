"""Does an update of q^O leave exp(−U(q, ·)) alone? Looked at in every row of q^O, by what is possible:

- where q^O has at most MOST_STATES states, all are weighed, states drawn from these weights are updated, and states and
  the values of each site are counted;
- a full conditional of more states, or of reals, is held to the conditional law of each site given the others. One
  update serves all sites: of a discrete site each value's frequency is compared with its probabilities, of a real site
  it is compared how often the site would be exchanged for a value at some distance (see `RealSites`). Sums over blocks
  of sites, and over all, see errors that are small but everywhere;
- otherwise, if the target has exact draws, each is updated so often that single sites are visited several times, and
  all variables and the energy are compared with those of other exact draws.

An update that is none of this (many states or reals, no full conditional, no exact draws) is not looked at here.

Updates of many sites are repeated less often, so that the test takes some seconds; see `affordable`. The p-values come
from inequalities (Hoeffding, Bernstein), which are meant for few repeats and rare values. Those of sums use a variance
that is estimated: that they are not too small is shown by simulation, in the tests, and not by proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter
from typing import Protocol

import numpy as np

from mahmc.checks.two_samples import ELEMENTS, compare
from mahmc.checks.verdicts import Comparison, corrected
from mahmc.lanes import LANES
from mahmc.own.points import Block, Own, affordable
from mahmc.own.variables import Variable

MOST_STATES = 1024
REPEATS = 4096  # updates of each of LANES points, where states are counted
FEWEST_EXPECTED = 10.0  # in a cell of counts of states
FEWEST_REPEATS, MOST_REPEATS = 16, 1024  # of an update of many sites
STARTS = 16  # states that a full conditional is started from
BLOCKS = 16  # of neighbouring sites of a variable, whose sum is looked at
FEWEST_BLOCKS, MOST_BLOCKS = 32, 512  # of LANES exact draws
VISITS = 3  # of each row, on average, by updates that visit one row at a time
CLEAR = 1e-8  # a corrected p-value at which a single site is named
PILOT = 32  # updates that show where a real site lies, and how wide

Found = tuple[float, str]  # a p-value, and what it is about


def laws(own: Own, block: Block) -> Iterator[tuple[str, float, str]]:
    """For each update that can be tested: its name, its p-value, and what is most amiss."""
    others = [v for v in own.variables if v.other]
    counted = all(v.values for v in others)
    states = np.prod([float(len(v.values)) ** v.rows for v in others]) if counted else np.inf
    for which, (name, function) in enumerate(own.updates.items()):
        full = function.full_conditional  # type: ignore[attr-defined]
        if states <= MOST_STATES:
            yield name, *_counted(block, others, which, name, full)
        elif full:
            yield name, *_conditionals(block, others, which, name)
        elif own.target.exact is not None:
            yield name, *_moved(own, block, which, name)


def _worst(by_site: list[Found], together: list[Found]) -> Found:
    """The smallest p-value, corrected for the number of tests of its kind and for two kinds, with its words.

    A site that is clearly wrong is named even where states or blocks of sites show more: it helps to find the mistake.
    """
    best = [min(((min(1.0, 2 * p * len(kind)), words) for p, words in kind), key=itemgetter(0), default=(1.0, ""))
            for kind in (by_site, together)]  # fmt: skip
    return best[0] if best[0][0] < CLEAR else min(best, key=itemgetter(0))


def _element(v: Variable, i: int) -> str:
    """An element of a variable, with its row: "w[3] (other[4])"."""
    return f"{v.name if v.size is None else f'{v.name}[{i}]'} (other[{v.first + i}])"


# ---------------------------------------------------------------------------------------------------- few states


def _counted(block: Block, others: list[Variable], which: int, name: str, full: bool) -> Found:
    """Every state weighed by exp(−U) at LANES points q; states drawn by these weights (or any), updated, counted."""
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
        block.update(which, name, times=1 if full else 2 * len(sites) + 1)  # so that most sites are visited
        for lane, state in enumerate(block.other.T):
            counts[place[(state + 0.0).tobytes()], lane] += 1  # -0.0 is 0.0
    by_site = []
    for column, (v, i) in enumerate(sites):
        for value in v.values[1:]:
            has = states[:, column] == value
            by_site.append(_frequency(block, v, i, value, counts[has].sum(axis=0), mass[has].sum(axis=0), REPEATS))
    return _worst(by_site, [_state_counts(block, states, counts[:, c], mass[:, c], c) for c in range(LANES)])


def _state_counts(block: Block, states: np.ndarray, seen: np.ndarray, mass: np.ndarray, lane: int) -> Found:
    expected = REPEATS * mass
    k = int(np.argmax((seen - expected) ** 2 / np.maximum(expected, FEWEST_EXPECTED)))
    words = (
        f"with {block.point(lane, q_only=True)}, qᴼ = {states[k].astype(int).tolist()} came up {seen[k]:.0f} times of "
        f"{REPEATS}, and {expected[k]:.1f} were to be expected"
    )
    return _same_counts(seen, expected), words


def _same_counts(seen: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of counts, by the likelihood ratio, whose tails are right far out; rare states are put together."""
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
    ratio = np.where(table[:, 0] > 0, table[:, 0] * np.log(np.maximum(table[:, 0], 1.0) / table[:, 1]), 0.0)
    return float(stats.chi2.sf(2.0 * ratio.sum(), len(table) - 1))


def _frequency(
    block: Block, v: Variable, i: int, value: int, seen: np.ndarray, chance: np.ndarray, repeats: int
) -> Found:
    """How often a site had a value in each lane, against the mean of its probabilities there."""
    share = seen / repeats
    lane = int(np.argmax(_depths(share, chance, repeats)))
    words = (
        f"with {block.point(lane, q_only=True)}, {_element(v, i)} took the value {value} in {seen[lane]:.0f} of "
        f"{repeats} updates, and {repeats * chance[lane]:.1f} were to be expected"
    )
    return frequency_p_value(share, chance, repeats), words


def _depths(share: np.ndarray, chance: np.ndarray, repeats: int) -> np.ndarray:
    """n·KL(share, chance): the probability of such a share, or of one farther off, is at most 2·exp(−depth)."""
    from scipy import special

    chance = np.clip(chance, 0.0, 1.0)
    return repeats * (special.rel_entr(share, chance) + special.rel_entr(1.0 - share, 1.0 - chance))


def frequency_p_value(share: np.ndarray, chance: np.ndarray, repeats: int) -> float:
    """The p-value of shares of trials in LANES lanes, given the mean probabilities there."""
    return _tail(_depths(share, chance, repeats) - np.log(2.0))


def _tail(depths: np.ndarray) -> float:
    """The p-value of LANES independent tests together, whose p-values are at most exp(−depth) each.

    A depth is then at most exponential, and their sum at most Gamma(LANES).
    """
    from scipy import stats

    return float(stats.gamma.sf(depths.sum(), LANES))


# ---------------------------------------------------------------------------------- full conditionals, site by site


class Sites(Protocol):
    """The sites of one variable, whose conditional laws are tallied update by update."""

    @property
    def evaluations(self) -> int:
        """Evaluations of U that `add` makes."""
        ...

    def add(self, block: Block, U: np.ndarray) -> None:
        """Look at the state that an update came to, where the energy is U."""
        ...

    def found(self, block: Block) -> tuple[list[Found], list[Found]]:
        """P-values by site, and of blocks of sites."""
        ...


def _conditionals(block: Block, others: list[Variable], which: int, name: str) -> Found:
    """Updates from a few states, all at the same q, and the conditional law of every site after each."""
    starts = []
    for _ in range(STARTS):
        block.start()
        starts.append(block.other.copy())
    pilot = []
    for k in range(PILOT):
        _update_from(block, starts[k % STARTS], which, name)
        pilot.append(block.other.copy())
    sites: list[Sites] = [DiscreteSites(v) if v.values else RealSites(v, np.array(pilot)) for v in others]
    evaluations = sum(site.evaluations for site in sites)
    for k in range(affordable(block, evaluations, FEWEST_REPEATS, MOST_REPEATS)):
        _update_from(block, starts[k % STARTS], which, name)
        U = block.U()
        for site in sites:
            site.add(block, U)
    found = [site.found(block) for site in sites]
    return _worst([p for by_site, _ in found for p in by_site], [p for _, blocks in found for p in blocks])


def _update_from(block: Block, other: np.ndarray, which: int, name: str) -> None:
    """Whatever the update is, repeats are independent if each begins at a given state."""
    block.other[:] = other
    block.grad_U()
    block.update(which, name)


class DiscreteSites:
    """Given the other sites, site i has value k with probability ∝ exp(−U(x_i = k)): Σ (1[x_i = k] − P) is tallied.

    Given the others, repeats are independent trials with known probabilities. Hoeffding (1963): with mean probability p
    a share s of n trials has a probability of at most exp(−n·KL(s, p)), on either side.
    """

    def __init__(self, v: Variable) -> None:
        self.v, self.values = v, np.array(v.values, float)
        self.rows = np.arange(v.first, v.first + v.rows)
        self.seen, self.chance = np.zeros((2, len(v.values), v.rows, LANES))
        self.edges = np.unique(np.linspace(0, v.rows, BLOCKS + 1).astype(int)[:-1])
        self.sums: list[np.ndarray] = []  # values and energies less their means: (2, blocks and all, LANES)
        self.variances: list[np.ndarray] = []
        self._grid = np.ogrid[: v.rows, :LANES]

    @property
    def evaluations(self) -> int:
        return (len(self.values) - 1) * self.v.rows

    def add(self, block: Block, U: np.ndarray) -> None:
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
        """Sums over blocks of neighbouring sites, and over all."""
        return np.concatenate([np.add.reduceat(x, self.edges, axis=0), x.sum(axis=0, keepdims=True)])

    def found(self, block: Block) -> tuple[list[Found], list[Found]]:
        repeats = len(self.sums)
        first = 1 if len(self.values) == 2 else 0  # of two frequencies one says all
        by_site = [
            _frequency(block, self.v, i, int(self.values[k]), self.seen[k, i], self.chance[k, i] / repeats, repeats)
            for k in range(first, len(self.values)) for i in range(self.v.rows)
        ]  # fmt: skip
        p_values = sums_p_values(np.array(self.sums), np.mean(self.variances, axis=0))
        edges = [*self.edges, self.v.rows]
        spans = [*itertools.pairwise(edges), (0, self.v.rows)]
        blocks = [
            (float(p_values[kind, b]), f"the {what} of {self.v.name}[{begin}…{end - 1}] {are} not distributed as "
             "exp(−U) says, given the others")
            for kind, what, are in ((0, "values", "are"), (1, "energies", "are"))
            for b, (begin, end) in enumerate(spans)
        ]  # fmt: skip
        return by_site, blocks


class RealSites:
    """A real site x with law π, and x + d and x − d: exchanging x for y with probability π(y)/(π(x) + π(y)) leaves π
    alone. So of any function h the mean of Σ_y (h(y) − h(x))·π(y)/(π(x) + π(y)) is zero.

    h is where x lies, and how far out; both are bounded. A pilot gives their scale, and that of the distances d.
    """

    WORDS = ("lies elsewhere than", "is spread otherwise than")
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

    def add(self, block: Block, U: np.ndarray) -> None:
        x = block.other[self.rows].copy()
        for d, scores in zip(self.DISTANCES, self.scores, strict=True):
            step = d * self.width
            scores.append(self._exchange(block, U, x, x + step) + self._exchange(block, U, x, x - step))

    def _exchange(self, block: Block, U: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(h(y) − h(x))·π(y)/(π(x) + π(y)) of both h."""
        inside = (y > self.v.low) & (y < self.v.high)
        E = block.energies("other", self.rows, np.where(inside, y, x))
        with np.errstate(over="ignore", invalid="ignore"):
            exchanged = np.where(inside & np.isfinite(E), 1.0 / (1.0 + np.exp(E - U)), 0.0)
        return exchanged * (self._places(y) - self._places(x))

    def _places(self, x: np.ndarray) -> np.ndarray:
        u = (x - self.centre) / self.width
        return np.array([u, np.abs(u)]) / (1.0 + np.abs(u))

    def p_values(self) -> np.ndarray:
        """By distance, function h, and row."""
        found = []
        for d, scores in zip(self.DISTANCES, self.scores, strict=True):
            bounds = np.array([2.0 * d / (2.0 + d), 2.0 * d / (1.0 + d)])  # both sides: of opposite signs, of any sign
            found.append(bounded_p_values(np.array(scores), bounds[:, None, None]))
        return np.array(found)

    def found(self, block: Block) -> tuple[list[Found], list[Found]]:
        lanes = np.argmax(np.abs(np.mean(self.scores[1], axis=0)), axis=-1)
        by_site = []
        for (_, kind, i), p_value in np.ndenumerate(self.p_values()):
            where = block.point(int(lanes[kind, i]), q_only=True)
            words = f"{_element(self.v, i)} {self.WORDS[kind]} exp(−U) says, given the others"
            by_site.append((float(p_value), f"with {where}, {words}"))
        return by_site, []


def bernstein(total: np.ndarray, variance: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """P-values of sums (…, LANES) of independent scores with mean zero, of that variance and bound; lanes together."""
    from scipy import stats

    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(total != 0.0, total**2 / (2.0 * (variance + bound * np.abs(total) / 3.0)), 0.0)
    return stats.gamma.sf((depth - np.log(2.0)).sum(axis=-1), LANES)


def sums_p_values(scores: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """P-values of scores (repeats, …, LANES) having mean zero, whose variance is about known from the model.

    It is that of the scores themselves where this is greater. Of rare values none may have come up.
    """
    expected = len(scores) * variance
    bound = np.maximum(np.abs(scores).max(axis=0), np.sqrt(expected))
    return bernstein(scores.sum(axis=0), np.maximum((scores**2).sum(axis=0), expected), bound)


def bounded_p_values(scores: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """P-values of scores (repeats, …, LANES) having mean zero, of which only a bound is known.

    What is missing to a sum of zero may be rare and not have come up. If it comes λ times on average, the sum is at
    most λ·bound, and it never comes with probability exp(−λ): the depth must stay below λ. Here it is at most 0.75·λ.
    """
    total = scores.sum(axis=0)
    return bernstein(total, (scores**2).sum(axis=0) + bound * np.abs(total) / 3.0, bound)


# --------------------------------------------------------------------------------------------------- exact draws


def _moved(own: Own, block: Block, which: int, name: str) -> Found:
    """Exact draws, updated many times, against other exact draws: all variables and the energy."""
    times = affordable(block, FEWEST_BLOCKS // 4, fewest=1, most=VISITS * len(block.other) + 1)
    draws = LANES * affordable(block, times // 2 + 1, FEWEST_BLOCKS, MOST_BLOCKS)
    fresh, moved = (_exact(own, block, which, name, draws, updates) for updates in (0, times))
    comparisons = compare(fresh, moved)
    by_element = [c for c in comparisons if c.family == ELEMENTS and c.what.partition(" of ")[2] != "energy"]
    worst = min(comparisons, key=lambda c: c.p_value)
    named = min(by_element, key=lambda c: c.p_value)
    if named.p_value * len(comparisons) < CLEAR:
        worst = named
    return corrected(comparisons), f"after {times} updates exact draws have another {_in_words(worst, fresh, moved)}"


def _exact(own: Own, block: Block, which: int, name: str, draws: int, updates: int) -> dict[str, np.ndarray]:
    """Exact draws by variable, and their energy, after so many updates."""
    assert own.target.exact is not None
    q, other = own.target.pack(own.target.exact(block.rng, draws))
    energy = np.empty(draws)
    for begin in range(0, draws, LANES):
        here = slice(begin, begin + LANES)
        block.q[:], block.other[:] = q[here].T, other[here].T
        if updates:
            block.grad_U()
            block.update(which, name, updates)
        other[here], energy[here] = block.other.T, block.U()
    found = {}
    for v in own.variables:
        part = (other if v.other else q)[:, v.first : v.first + v.rows]
        part = part.astype(int) if v.values else part
        found[v.name] = part[:, 0] if v.size is None else part
    return found | {"energy": energy}


def _in_words(worst: Comparison, fresh: dict[str, np.ndarray], moved: dict[str, np.ndarray]) -> str:
    """What differs most; of a discrete element, its value and both shares."""
    element = worst.what.partition("distribution of ")[2]
    base, _, index = element.partition("[")
    if base not in fresh or not np.issubdtype(fresh[base].dtype, np.integer):
        return worst.what
    a, b = (x[:, int(index[:-1])] if index else x for x in (fresh[base], moved[base]))
    value = max(np.unique(np.concatenate([a, b])), key=lambda k: abs((a == k).mean() - (b == k).mean()))
    return f"{worst.what}: {(b == value).mean():.2%} are {value}, and {(a == value).mean():.2%} of others before"
