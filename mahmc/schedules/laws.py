"""The schedules: how each draws D, the probability of D, mean numbers of steps, text, and the plan for kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mahmc.kernels import Plan, Timetable
from mahmc.kernels.plan import Law
from mahmc.parameters import InvalidInput
from mahmc.rounding import log
from mahmc.schedules.plans import cumulative, plan_of_law, plan_of_one, plan_of_pairs, rows_of, timetable
from mahmc.schedules.steps import Steps, runs_of, write_steps
from mahmc.targets import Target


class Schedule:
    """A law P^D of sequences D. The digits 1, 2, … of D are kinds of update."""

    @property
    def leapfrogs(self) -> float:
        """The mean number of leapfrogs in a trajectory."""
        raise NotImplementedError

    @property
    def updates(self) -> tuple[float, ...]:
        """The mean number of updates of each kind in a trajectory."""
        raise NotImplementedError

    @property
    def random(self) -> bool:
        """Whether the numbers of leapfrogs and updates vary from trajectory to trajectory."""
        raise NotImplementedError

    def log_probability(self, D: Steps) -> float:
        """log P(D), which is −∞ if D is never drawn.

        Parameters
        ----------
        D
            The sequence of steps.

        Returns
        -------
        float
            The logarithm of its probability.

        Examples
        --------
        >>> law = schedules.iid(3, leapfrog=0.5)
        >>> round(float(np.exp(law.log_probability((0, 1, 0)))), 6)
        0.125
        """
        raise NotImplementedError

    def log_ratio(self, D: Steps) -> float:
        """log P(D⁻¹) − log P(D): a term in the Metropolis test of Algo. 3.

        Parameters
        ----------
        D
            A sequence of steps that can be drawn.

        Returns
        -------
        float
            The difference; 0 for a palindrome.

        Examples
        --------
        >>> law = schedules.sequences(["001", "100"], weights=[0.75, 0.25])
        >>> round(float(np.exp(law.log_ratio((1, 0, 0)))), 6)
        3.0
        """
        return self.log_probability(D[::-1]) - self.log_probability(D)

    def draw(self, rng: np.random.Generator) -> Steps:
        """Draw one D.

        Parameters
        ----------
        rng
            The source of random numbers.

        Returns
        -------
        tuple of int
            The sequence: 0 is a leapfrog, i the i-th update.

        Examples
        --------
        >>> schedules.alternate(2, 2).draw(np.random.default_rng(0))
        (0, 0, 1, 0, 0)
        """
        raise NotImplementedError

    def examples(self, n: int, seed: int = 0) -> list[Steps]:
        """Draw sequences to look at.

        Parameters
        ----------
        n
            The number of sequences.
        seed
            Same seed, same sequences.

        Returns
        -------
        list of tuple of int
            The sequences.

        Examples
        --------
        >>> schedules.alternate(2, 2).examples(1)
        [(0, 0, 1, 0, 0)]
        """
        rng = np.random.default_rng(seed)
        return [self.draw(rng) for _ in range(n)]

    def plan(self, target: Target, updates: Sequence[str]) -> Plan | Timetable:
        """The schedule as the kernel reads it.

        Parameters
        ----------
        target
            The target. It gives the numbers and costs of its updates.
        updates
            Names of the target's updates: kinds 1, 2, … of D.

        Returns
        -------
        Plan or Timetable
            The plan. Each block makes a copy by `for_a_block`.

        Examples
        --------
        >>> schedules.alternate(3, 2).plan(mahmc.targets.build("mdc"), ["gibbs"]).rows[:, :2].tolist()
        [[0, 3], [1, 1], [0, 3]]
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Alternate(Schedule):
    """n_u segments of L leapfrogs, with one update of q^O between two segments, as in Sec. 4 of the paper."""

    L: int
    n_u: int

    @property
    def runs(self) -> np.ndarray:
        """The runs of D: rows of (step, count). D begins and ends with leapfrogs, so it is a palindrome."""
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
        return 0.0 if runs_of(D) == [tuple(run) for run in self.runs.tolist()] else -math.inf

    def draw(self, rng: np.random.Generator) -> Steps:
        return tuple(np.repeat(*self.runs.T).tolist())

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        found = self.runs if updates else np.array([(0, self.L * self.n_u)])  # a target may have no update
        ops = np.array([0, *map(target.density.number, updates)])[found[:, 0]]
        return plan_of_one(np.column_stack([ops, found[:, 1]]))

    def __str__(self) -> str:
        return f"alternate({self.L}, {self.n_u})"


class Asymmetric(Alternate):
    """n_u times (L leapfrogs, one update). This is wrong: D is not a palindrome. A sampler shows this mistake."""

    @property
    def runs(self) -> np.ndarray:
        return np.array([(0, self.L), (1, 1)] * self.n_u, np.int64)

    @property
    def updates(self) -> tuple[float, ...]:
        return (self.n_u,)


@dataclass(frozen=True)
class IID(Schedule):
    """Each step is drawn independently: a leapfrog, or update i with probability shares[i − 1], as in Sec. 4.

    P(D) depends on the number of steps of each kind, not on their order: P(D⁻¹) = P(D).
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
        return math.fsum(D.count(kind) * log(shares[kind]) for kind in sorted(set(D)))

    def draw(self, rng: np.random.Generator) -> Steps:
        ends = np.cumsum((self.leapfrog, *self.shares))[:-1]  # rounding errors go to the last kind
        return tuple(np.searchsorted(ends, rng.random(self.steps), side="right").tolist())

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        total = math.fsum((self.leapfrog, *self.shares))  # one, except for rounding
        if self.leapfrog == total:
            return plan_of_one(np.array([(0, self.steps)]))
        ops = np.array([*map(target.density.number, updates)], np.int64)
        log_leapfrog = log(self.leapfrog / total)
        return plan_of_law(Law(self.steps, log_leapfrog, cumulative(self.shares), ops, target.density.costs_by_number))

    def __str__(self) -> str:
        shown = () if self.shares in ((), remainder(self.leapfrog)) else self.shares
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
        return log(self.weights[self.choices.index(D)]) if D in self.choices else -math.inf

    def draw(self, rng: np.random.Generator) -> Steps:
        return self.choices[np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(), side="right")]

    def plan(self, target: Target, updates: Sequence[str]) -> Plan:
        weight = dict(zip(self.choices, self.weights, strict=True))
        pairs = [D for D in self.choices if D[::-1] >= D]  # each pair once
        both = [weight[D] if D[::-1] == D else weight[D] + weight[D[::-1]] for D in pairs]
        rows = [rows_of(D, target, updates) for D in pairs]
        forward = [weight[D] / total for D, total in zip(pairs, both, strict=True)]
        return plan_of_pairs(both, rows, forward, [self.log_ratio(D) for D in pairs])

    def __str__(self) -> str:
        texts = [write_steps(D) for D in self.choices]
        if len(texts) > 1:
            texts = [f"{text}:{weight!r}" for text, weight in zip(texts, self.weights, strict=True)]
        return f"sequences({', '.join(texts)})"


@dataclass(frozen=True)
class Arrivals(Schedule):
    """M-HMC's schedule: visits to discrete variables at random times in a trajectory of travel time T.

    See `mahmc.kernels.mixed`. Step sizes vary with the gaps between visits, so this schedule is not a law of sequences
    of digits, and it cannot be written as text.
    """

    T: float
    visits: int
    epsilon: float
    sites: int  # discrete variables of the target
    even: bool = False  # whether the gaps between visits are equal, as in a fixed sequence

    @property
    def leapfrogs(self) -> float:
        """The mean of Σ ⌈gap/ε⌉. If gaps are drawn, the mean is estimated by simulation, to about a thousandth."""
        return _mean_leapfrogs(self)

    @property
    def updates(self) -> tuple[float, ...]:
        return (self.visits,)

    @property
    def random(self) -> bool:
        return not self.even

    def plan(self, target: Target, updates: Sequence[str]) -> Timetable:
        return timetable(self.T, not self.even, target.density.number(updates[0]), self.visits, self.sites)


@lru_cache(64)
def _mean_leapfrogs(law: Arrivals) -> float:
    """The mean of Σ ⌈gap/ε⌉ over simulated trajectories, the same for the same law."""
    n, rng = max(50, 200_000 // max(law.visits, law.sites)), np.random.default_rng(0)
    shares, split = rng.exponential(size=(n, law.sites)), rng.random(n)
    if law.even:
        shares, split = np.ones((1, law.sites)), np.full(1, 0.5)
    gaps = shares[:, np.arange(law.visits + 1) % law.sites]
    gaps[:, 0] *= split
    gaps[:, -1] *= 1.0 - split
    gaps *= law.T / gaps.sum(axis=1, keepdims=True)
    return float(np.ceil(gaps / law.epsilon).sum(axis=1).mean())


def deterministic(runs: Sequence[tuple[int, int]]) -> np.ndarray:
    """The runs of one sequence D that every trajectory follows.

    Parameters
    ----------
    runs
        Pairs (step, count), which must be a palindrome.

    Returns
    -------
    numpy.ndarray
        The runs as rows.

    Raises
    ------
    InvalidInput
        If the sequence is not a palindrome: then Algorithm 3's factor P(D⁻¹)/P(D) is zero.

    Examples
    --------
    >>> schedules.deterministic([(0, 3), (1, 1), (0, 3)]).tolist()
    [[0, 3], [1, 1], [0, 3]]
    """
    if list(runs) != list(runs)[::-1]:
        raise InvalidInput(
            "this sequence D of leapfrogs and updates is not a palindrome: the reversed sequence is never drawn, so "
            "Algorithm 3's factor P(D⁻¹)/P(D) is zero, and every trajectory would have to be rejected. Mirror the "
            "sequence (leapfrogs, update, leapfrogs), or draw D at random from sequences that include its mirror image."
        )
    return np.array(runs, np.int64)


def remainder(leapfrog: float) -> tuple[float, ...]:
    """The probability of the only kind of update, 1 − leapfrog, in a tuple; empty if it is zero."""
    return (1.0 - leapfrog,) if leapfrog < 1.0 else ()
