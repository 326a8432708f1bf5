"""P^D: in which order a trajectory's leapfrogs and updates of q^O come, and with which probability.  (Sec. 3, Algo. 3)

    >>> schedules.alternate(10, 4)                      # 10 leapfrogs, update, 10 leapfrogs, ...: always the same
    >>> schedules.iid(100, leapfrog=0.9)                # each of 100 steps on its own: a leapfrog, or an update
    >>> schedules.iid(100, 0.8, updates=(0.1, 0.1))     # two kinds of update
    >>> schedules.sequences(["0001000", "5x0 1 0", "0 1 5x0"], weights=[0.4, 0.3, 0.3])

A sequence D has a digit for each step: 0 is a leapfrog, i the i-th of the updates that the run names. Text may be
shortened by runs, "10x0 1 10x0". Every schedule is a frozen value; `str` writes it and `parse` reads it back.

**D and its mirror image.** With a given D, Algorithm 3 proposes by D and would come back by D⁻¹, so its test has the
factor P(D⁻¹)/P(D). Where D⁻¹ is never drawn that factor is zero, and such schedules are refused.

**Lockstep and independence.** The chains of a block take their steps together, so they must share what they do, and
yet be independent of each other. Sharing D itself would not do: given D, one iteration of Algorithm 3 leaves π alone
only on average over D and D⁻¹, so chains that share D would err together, and be dependent. What a block draws is the
*unordered* pair {D, D⁻¹}, with probability P(D) + P(D⁻¹), from a stream of its own, and each chain draws for itself
which of the two it takes, D with probability P(D)/(P(D) + P(D⁻¹)), and uses its own factor P(D⁻¹)/P(D). Given the pair
an iteration is Algorithm 3 with a P^D on two sequences: each chain's kernel is reversible with respect to π whatever
the pair is, so knowing the pair, and hence what other chains do, says nothing about a chain that has reached π: chains
are independent there. It costs little: D and D⁻¹ have equally many leapfrogs, so all leapfrogs are made jointly, and
only updates that the two have at different places are made by some chains and not by others. A palindrome, D = D⁻¹,
leaves nothing to choose.

**Steps that are drawn.** The same holds for a whole list of pairs: whichever they are, drawing from them leaves π
alone. So a block of chains with `iid` keeps up to 32 pairs and each iteration takes one of them at random. The first
iterations draw a new one each, until the list is full; from then on every sixteenth replaces the oldest. Every
iteration's D has the probability P(D), exactly, and a pair is used sixteen times on average, within 512 iterations.
Making up a new one each time takes on GMM a fifth of a trajectory of 100 leapfrogs, and two fifths of one of 15.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NoReturn

import numpy as np

from mahmc.kernels import Plan, Timetable
from mahmc.kernels.plan import EVERYONE, Law, most_rows, side_by_side
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.targets import Target

Runs = Sequence[tuple[int, int]]  # of (which, how many)
Steps = tuple[int, ...]

MOST_STEPS = 100_000  # of a schedule, all its sequences together
MOST_KINDS = 9  # of updates: a step is one digit
MOST_SEQUENCES = 1_000
ROUNDING = 1e-6  # how far from one probabilities may sum
FORMS = "alternate, iid(100, 0.9), iid(100, 0.8, 0.1, 0.1), sequences(10x0 1 10x0), sequences(0010:0.7, 0100:0.3)"


class Schedule:
    """What every P^D knows. Kinds of update count from 1, as the digits of D do."""

    @property
    def leapfrogs(self) -> float:
        """Their mean number."""
        raise NotImplementedError

    @property
    def updates(self) -> tuple[float, ...]:
        """The mean number of updates of each kind."""
        raise NotImplementedError

    @property
    def random(self) -> bool:
        """Whether these numbers vary from one trajectory to another."""
        raise NotImplementedError

    def log_probability(self, D: Steps) -> float:
        """log P(D), −∞ where D is never drawn."""
        raise NotImplementedError

    def log_ratio(self, D: Steps) -> float:
        """log P(D⁻¹) − log P(D), for a D that is drawn: what Algo. 3's test adds."""
        return self.log_probability(D[::-1]) - self.log_probability(D)

    def draw(self, rng: np.random.Generator) -> Steps:
        """One D."""
        raise NotImplementedError

    def examples(self, n: int, seed: int = 0) -> list[Steps]:
        """n sequences drawn from it, the same for the same seed: to look at."""
        rng = np.random.default_rng(seed)
        return [self.draw(rng) for _ in range(n)]

    def plan(self, target: Target, updates: Sequence[str]) -> Plan | Timetable:
        """For the kernel: what to do on this target; updates of these names are kinds 1, 2, …"""
        raise NotImplementedError


@dataclass(frozen=True)
class Alternate(Schedule):
    """n_u segments of L leapfrogs, with one update of q^O between two segments.  (Sec. 4)"""

    L: int
    n_u: int

    @property
    def runs(self) -> np.ndarray:
        """It begins and ends with leapfrogs, so it is a palindrome: D⁻¹ = D, and P(D⁻¹)/P(D) is one."""
        return deterministic([(0, self.L)] + [(1, 1), (0, self.L)] * (self.n_u - 1))

    @property
    def leapfrogs(self) -> float:
        return self.L * self.n_u

    @property
    def updates(self) -> tuple[float, ...]:
        return (self.n_u - 1,)

    @property
    def random(self) -> bool:
        return False

    def log_probability(self, D: Steps) -> float:
        return 0.0 if _runs(D) == [tuple(run) for run in self.runs.tolist()] else -math.inf

    def draw(self, rng: np.random.Generator) -> Steps:
        return tuple(np.repeat(*self.runs.T).tolist())

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        runs = self.runs if updates else np.array([(0, self.L * self.n_u)])  # a target may have none
        numbers = np.array([0, *map(target.number, updates)])[runs[:, 0]]
        return _plan(np.ones(1), [_for_everyone(np.column_stack([numbers, runs[:, 1]]))], [1.0], [0.0])

    def __str__(self) -> str:
        return f"alternate({self.L}, {self.n_u})"


class Asymmetric(Alternate):
    """n_u times (L leapfrogs, one update): no palindrome, and wrong with the test of one. Only for its exhibit."""

    @property
    def runs(self) -> np.ndarray:
        return np.array([(0, self.L), (1, 1)] * self.n_u, np.int64)

    @property
    def updates(self) -> tuple[float, ...]:
        return (self.n_u,)


@dataclass(frozen=True)
class IID(Schedule):
    """Every step on its own: a leapfrog with one probability, update i with probability shares[i − 1].  (Sec. 4)

    P(D) depends on how often each step occurs, not on the order: P(D⁻¹) = P(D).
    """

    steps: int
    leapfrog: float
    shares: tuple[float, ...]

    @property
    def leapfrogs(self) -> float:
        return self.steps * self.leapfrog

    @property
    def updates(self) -> tuple[float, ...]:
        return tuple(self.steps * share for share in self.shares)

    @property
    def random(self) -> bool:
        return self.leapfrog < 1.0

    def log_probability(self, D: Steps) -> float:
        if len(D) != self.steps or not set(D) <= set(range(len(self.shares) + 1)):
            return -math.inf
        shares = (self.leapfrog, *self.shares)
        return math.fsum(D.count(kind) * math.log(shares[kind]) for kind in sorted(set(D)))

    def draw(self, rng: np.random.Generator) -> Steps:
        ends = np.cumsum((self.leapfrog, *self.shares))[:-1]  # the last kind takes what rounding leaves
        return tuple(np.searchsorted(ends, rng.random(self.steps), side="right").tolist())

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        total = self.leapfrog + sum(self.shares)  # one, but for rounding
        if self.leapfrog == total:
            return _plan(np.ones(1), [_for_everyone(np.array([(0, self.steps)]))], [1.0], [0.0])
        numbers = np.array([*map(target.number, updates)], np.int64)
        law = Law(self.steps, math.log(self.leapfrog / total), _added_up(self.shares), numbers, target.patiences)
        return _plan(np.zeros(0), [], [], [], law)

    def __str__(self) -> str:
        shown = () if self.shares in ((), _rest(self.leapfrog)) else self.shares
        return f"iid({', '.join(str(number) for number in (self.steps, self.leapfrog, *shown))})"


@dataclass(frozen=True)
class Sequences(Schedule):
    """One of a few sequences, by weight."""

    choices: tuple[Steps, ...]
    weights: tuple[float, ...]

    @property
    def leapfrogs(self) -> float:
        return self._mean(0)

    @property
    def updates(self) -> tuple[float, ...]:
        return tuple(self._mean(kind) for kind in range(1, max(map(max, self.choices)) + 1))

    @property
    def random(self) -> bool:
        return len({tuple(sorted(D)) for D in self.choices}) > 1

    def _mean(self, kind: int) -> float:
        numbers = [D.count(kind) for D in self.choices]
        if len(set(numbers)) == 1:
            return numbers[0]
        return math.fsum(weight * n for n, weight in zip(numbers, self.weights, strict=True))

    def log_probability(self, D: Steps) -> float:
        return math.log(self.weights[self.choices.index(D)]) if D in self.choices else -math.inf

    def draw(self, rng: np.random.Generator) -> Steps:
        return self.choices[np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(), side="right")]

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        of = dict(zip(self.choices, self.weights, strict=True))
        pairs = [D for D in self.choices if D[::-1] >= D]  # each pair once
        both = [of[D] if D[::-1] == D else of[D] + of[D[::-1]] for D in pairs]
        rows = [_rows(D, target, updates) for D in pairs]
        forward = [of[D] / total for D, total in zip(pairs, both, strict=True)]
        return _plan(_added_up(both), rows, forward, [self.log_ratio(D) for D in pairs])

    def __str__(self) -> str:
        texts = [_text(D) for D in self.choices]
        if len(texts) > 1:
            texts = [f"{text}:{weight!r}" for text, weight in zip(texts, self.weights, strict=True)]
        return f"sequences({', '.join(texts)})"


@dataclass(frozen=True)
class Arrivals(Schedule):
    """M-HMC's: visits to discrete variables at random times in a trajectory of travel time T (`kernels.mixed`).

    Step sizes vary with the gaps between visits, so that this is no law of sequences of digits, and has no text.
    """

    T: float
    visits: int
    epsilon: float
    sites: int  # discrete variables of the target
    even: bool = False  # visits at equal distances instead, as a fixed sequence has them

    @property
    def leapfrogs(self) -> float:
        """The mean of Σ ⌈gap/ε⌉; of gaps that are drawn by simulation, to about a thousandth."""
        return _mean_leapfrogs(self)

    @property
    def updates(self) -> tuple[float, ...]:
        return (self.visits,)

    @property
    def random(self) -> bool:
        return not self.even

    def plan(self, target: Target, updates: Sequence[str]) -> Timetable:
        shares, gaps, order = np.zeros(self.sites), np.zeros(self.visits + 1), np.zeros((self.sites, LANES))
        return Timetable(self.T, not self.even, target.number(updates[0]), shares, gaps, order, order.copy())


@lru_cache(64)
def _mean_leapfrogs(law: Arrivals) -> float:
    """See there; the same law has always the same mean."""
    n, rng = max(50, 200_000 // max(law.visits, law.sites)), np.random.default_rng(0)
    shares, split = rng.exponential(size=(n, law.sites)), rng.random(n)
    if law.even:
        shares, split = np.ones((1, law.sites)), np.full(1, 0.5)
    gaps = shares[:, np.arange(law.visits + 1) % law.sites]
    gaps[:, 0] *= split
    gaps[:, -1] *= 1.0 - split
    gaps *= law.T / gaps.sum(axis=1, keepdims=True)
    return float(np.ceil(gaps / law.epsilon).sum(axis=1).mean())


# -------------------------------------------------------------------------------------------------- making one


def alternate(L: int, n_u: int) -> Alternate:
    """n_u segments of L leapfrogs, with one update of q^O between two segments.  (Sec. 4)"""
    return Alternate(_whole(L, "L"), _whole(n_u, "n_u"))


def iid(steps: int, leapfrog: float = 0.9, updates: Sequence[float] | None = None) -> IID:
    """Each of `steps` steps on its own: a leapfrog with probability `leapfrog`, update i with updates[i − 1].

    Of such sequences a run keeps a few at a time, and takes each for several iterations (see above).

    Unless `updates` says otherwise one update takes what is left.
    """
    steps, leapfrog = _whole(steps, "steps"), _probability(leapfrog, "leapfrog")
    shares = _rest(leapfrog) if updates is None else tuple(_probability(share, "updates") for share in updates)
    if len(shares) > MOST_KINDS:
        raise InvalidInput(f"iid has {len(shares)} kinds of update: at most {MOST_KINDS} have a digit.")
    if steps > MOST_STEPS:
        raise InvalidInput(f"iid has {steps} steps: a trajectory may have at most {MOST_STEPS}.")
    _refuse_unless_one((leapfrog, *shares), "iid")
    return IID(steps, leapfrog, shares)


def sequences(choices: Sequence[str | Sequence[int]], weights: Sequence[float] | None = None) -> Sequences:
    """One of these sequences of steps, by weight: as text ("0001000", "3x0 1 3x0") or as digits; equal weights if none.

    Refused where one can be drawn but its mirror image cannot.
    """
    if isinstance(choices, str):
        raise InvalidInput(f"sequences takes a list: sequences([{choices[:40]!r}]).")
    found = [_steps(D) for D in choices]
    shares = _equal(len(found)) if weights is None else [_probability(w, "weights") for w in weights]
    if not 1 <= len(found) <= MOST_SEQUENCES:
        raise InvalidInput(f"{len(found)} sequences: there must be 1 to {MOST_SEQUENCES}.")
    if len(shares) != len(found):
        raise InvalidInput(f"{len(shares)} weights for {len(found)} sequences: give each one.")
    if sum(map(len, found)) > MOST_STEPS:
        raise InvalidInput(f"the sequences have {sum(map(len, found))} steps in all: at most {MOST_STEPS} are allowed.")
    if len(set(found)) < len(found):
        raise InvalidInput("a sequence is there twice: give it once, with the weights added up.")
    _refuse_unless_one(shares, "sequences")
    for D in found:
        if D[::-1] not in set(found):
            _refuse_mirror(D)
    if not any(0 in D for D in found):
        raise InvalidInput("no sequence has a leapfrog (a 0): q^H would never move.")
    return Sequences(tuple(found), tuple(shares))


def same_mean(schedule: Schedule) -> IID:
    """The i.i.d. schedule with as many leapfrogs and updates on average; exactly so if they sum to a whole number."""
    made = [schedule.leapfrogs, *schedule.updates]
    while made[-1] == 0:  # an update that is never made
        made.pop()
    shares = [number / math.fsum(made) for number in made]
    return iid(max(1, round(math.fsum(made))), shares[0], shares[1:] if len(shares) > 2 else None)


def mirrored(choices: Sequence[str], weights: Sequence[float] | None = None) -> Sequences:
    """`sequences` of these and of mirror images that are missing, each of which takes half its sequence's weight."""
    found = [_steps(D) for D in choices]
    shares = weights or _equal(len(found))
    both: dict[Steps, float] = {}
    for D, share in zip(found, shares, strict=True):
        parts = [D] if D[::-1] in found else [D, D[::-1]]
        for part in parts:
            both[part] = both.get(part, 0.0) + share / len(parts)
    return sequences(list(both), list(both.values()))


def arrivals(T: float, visits: int, epsilon: float, sites: int) -> Arrivals:
    """M-HMC's: `visits` visits at random times in a trajectory of travel time T, with leapfrogs of at most epsilon."""
    if T / epsilon > MOST_STEPS:
        raise InvalidInput(
            f"T = {T:g} takes {T / epsilon:.3g} leapfrogs of ε = {epsilon:g}: at most {MOST_STEPS} are allowed. Take a "
            "shorter T or a larger epsilon."
        )
    return Arrivals(T, visits, epsilon, sites)


def deterministic(runs: Runs) -> np.ndarray:
    """The one sequence with these runs of (which, how many), always; refused unless it is a palindrome."""
    if list(runs) != list(runs)[::-1]:
        raise InvalidInput(
            "this sequence D of leapfrogs and updates is no palindrome: read backwards it is another one, which is "
            "never drawn, so that Algorithm 3's factor P(D⁻¹)/P(D) is zero and every trajectory would have to be "
            "rejected. Mirror it (leapfrogs, update, leapfrogs), or draw D at random, with its mirror image among what "
            "can be drawn."
        )
    return np.array(runs, np.int64)


def _refuse_mirror(D: Steps) -> NoReturn:
    text = "".join(map(str, D[:40])) + ("…" if len(D) > 40 else "")
    raise InvalidInput(
        f"the sequence {text} can be drawn and its mirror image cannot: Algorithm 3's factor P(D⁻¹)/P(D) is zero, and "
        "every such trajectory would have to be rejected. Add the mirror image, with a weight of its own, or make it a "
        "palindrome."
    )


# ---------------------------------------------------------------------------------------------------- as text


@lru_cache(64)
def parse(text: str) -> Schedule:
    """The schedule that `str` wrote, or a person."""
    name, bracket, rest = text.strip().partition("(")
    if not bracket or not rest.endswith(")"):
        raise _unreadable(text)
    items = [item.strip() for item in rest[:-1].split(",")]
    if name == "sequences":
        return sequences(*weighted(items))
    numbers = [_number(item, text) for item in items]
    if name == "alternate" and len(numbers) == 2:
        return alternate(*numbers)  # type: ignore[arg-type]
    if name == "iid" and len(numbers) == 1:
        return iid(numbers[0])  # type: ignore[arg-type]
    if name == "iid":
        return iid(numbers[0], numbers[1], numbers[2:] or None)  # type: ignore[arg-type]
    raise _unreadable(text)


def weighted(items: Sequence[str]) -> tuple[list[str], list[float] | None]:
    """Sequences and their weights, from texts such as "0010" or "0010:0.7"."""
    parts = [item.partition(":") for item in items]
    if not any(colon for _, colon, _ in parts):
        return list(items), None
    if missing := [D for D, _, weight in parts if not weight.strip()]:
        raise InvalidInput(f"the sequence {missing[0].strip()[:40]!r} has no weight: give each one, or none of them.")
    return [D for D, _, _ in parts], [_number(weight.strip(), ", ".join(items)) for _, _, weight in parts]


def _unreadable(text: str) -> InvalidInput:
    return InvalidInput(f"schedule {text[:60]!r} cannot be read. Write it as one of: {FORMS}.")


def _number(text: str, whole_text: str) -> int | float:
    try:
        return int(text) if re.fullmatch(r"\d{1,9}", text) else float(text)
    except ValueError:
        raise _unreadable(whole_text) from None


def _steps(D: str | Sequence[int]) -> Steps:
    """A sequence as a tuple of digits, from text or digits."""
    if not isinstance(D, str):
        if not all(isinstance(step, int) and 0 <= step <= MOST_KINDS for step in D):
            raise InvalidInput(f"a sequence has steps 0 (a leapfrog) and 1 to {MOST_KINDS} (updates), not {D!r:.60}.")
        found = tuple(D)
    else:
        tokens = [re.fullmatch(r"(?:(\d{1,6})x(\d)|(\d+))", token) for token in D.split()]
        if not all(tokens):
            raise InvalidInput(
                f"the sequence {D[:60]!r} cannot be read. Write a digit for each step, 0 a leapfrog and 1 to "
                f"{MOST_KINDS} an update, or runs of them: 0001000, or 3x0 1 3x0."
            )
        if sum(int(token[1] or len(token[3] or "")) for token in tokens if token) > MOST_STEPS:
            raise InvalidInput(f"the sequence {D[:40]!r} is too long: at most {MOST_STEPS} steps are allowed.")
        pieces = (token[2] * int(token[1]) if token[1] else token[3] for token in tokens if token)
        found = tuple(int(digit) for digit in "".join(pieces))
    if not found:
        raise InvalidInput("a sequence is empty: give it at least one step.")
    return found


def _text(D: Steps) -> str:
    """A sequence as digits or as runs, whichever is shorter."""
    runs = " ".join(f"{n}x{which}" if n > 1 else str(which) for which, n in _runs(D))
    return runs if len(runs) < len(D) else "".join(map(str, D))


def _runs(D: Steps) -> list[tuple[int, int]]:
    return [(which, sum(1 for _ in group)) for which, group in groupby(D)]


# ------------------------------------------------------------------------------------------------------- inside


def _whole(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} = {value!r:.40} is not allowed: it must be a whole number of at least 1.")
    return value


def _probability(value: object, name: str) -> float:
    if not isinstance(value, int | float) or not 0.0 < value <= 1.0:
        raise InvalidInput(f"{name} = {value!r:.40} is not allowed: a probability here is in (0, 1].")
    return float(value)


def _equal(n: int) -> list[float]:
    return [1.0 / n for _ in range(n)]


def _rest(leapfrog: float) -> tuple[float, ...]:
    """What one update takes where a leapfrog has this probability."""
    return (1.0 - leapfrog,) if leapfrog < 1.0 else ()


def _refuse_unless_one(shares: Sequence[float], what: str) -> None:
    if abs(sum(shares) - 1.0) > ROUNDING:
        raise InvalidInput(f"the probabilities of {what} sum to {sum(shares):g}, not to one: divide each by their sum.")


def _rows(D: Steps, target: Target, updates: Sequence[str]) -> np.ndarray:
    """D and D⁻¹ side by side, with the target's numbers for kinds of update."""
    steps, numbers = np.array(D), np.array([0, *map(target.number, updates)])
    places = np.flatnonzero(steps)  # of updates
    parts = np.zeros((places.size + 1, 2), np.int64)  # leapfrogs, and the update after them
    parts[:, 0] = np.diff(places, prepend=-1, append=steps.size) - 1
    parts[:-1, 1] = numbers[steps[places]]
    rows = np.empty((most_rows(len(D)), 3), np.int32)
    n, _ = side_by_side(parts, places.size, target.patiences, rows)
    return rows[:n].copy()


def _for_everyone(runs: np.ndarray) -> np.ndarray:
    return np.column_stack([runs, np.full(len(runs), EVERYONE)]).astype(np.int32)


def _added_up(shares: Sequence[float]) -> np.ndarray:
    """The share of the first, of the first two, …; of all it is one, and not a rounding error less."""
    ends = np.cumsum(shares) / sum(shares)
    ends[-1] = 1.0
    return ends


NOTHING_DRAWN = Law(0, 0.0, np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


def _plan(
    shares: np.ndarray, rows: list[np.ndarray], forward: Sequence[float], log_ratio: Sequence[float],
    law: Law = NOTHING_DRAWN,
) -> Plan:  # fmt: skip
    """A plan; see there. Shares are added up."""
    sizes = np.array([len(one) for one in rows], np.int64)
    ends = np.cumsum(sizes)
    return Plan(
        shares, np.concatenate([np.zeros((0, 3), np.int32), *rows]), ends - sizes, ends, np.array(forward, float),
        np.array(log_ratio, float), law, D=np.zeros((0, 2), np.int64), random=np.zeros((0, LANES)),
    )  # fmt: skip
