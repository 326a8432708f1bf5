"""What a trajectory does, for the kernel: pairs {D, D⁻¹} of sequences, laid side by side.

Chains of a block run in lockstep, so they share the *unordered* pair {D, D⁻¹}, and each lane draws for itself which of
the two it takes (why this keeps chains independent is told in `mahmc.schedules`). Laid side by side a pair is a list of
runs, rows of (which, how many, whose): `which` is 0 for leapfrogs and i for the target's update i, and `whose` says
which lanes make them: all, those that go through D forwards, or those that go backwards. The fewer steps are made by
some lanes while others wait, the better. D and D⁻¹ have equally many leapfrogs, so all of these can be made together;
but where an update costs as much as a few leapfrogs, it pays to let some lanes go a few of them ahead, and then to make
the update together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined, stored
from mahmc.lanes import LANES, floor, log, store
from mahmc.streams import lane_uniform, uniform

EVERYONE, FORWARD, BACKWARD = 0, 1, 2


class Plan(NamedTuple):
    """P^D for the kernel: a list of pairs with their probabilities, or a law of single steps.

    `cumulative` are the probabilities, added up, of the pairs, or of the kinds of update. Pair k has the rows ends[k]
    to ends[k + 1], the probability forward[k] = P(D)/(P(D) + P(D⁻¹)), and log_ratio[k] = log P(D⁻¹) − log P(D).
    """

    cumulative: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    steps: int  # to be drawn one by one, 0 if none are
    log_leapfrog: float  # log of the probability that one is a leapfrog
    numbers: np.ndarray  # the target's numbers of the kinds of update
    patience: int  # how many leapfrogs some lanes may make ahead of an update, while others wait
    runs: np.ndarray  # room for D as runs of (which, how many)
    drawn: np.ndarray  # room for eight random numbers of two kinds

    def with_room(self) -> Plan:
        """The same with room of its own, if anything is drawn into it: blocks run on several threads."""
        if self.steps == 0:
            return self
        return self._replace(
            rows=np.empty_like(self.rows), runs=np.empty_like(self.runs), drawn=np.empty_like(self.drawn)
        )


def room_for(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and runs that are large enough for a sequence of so many steps."""
    return np.zeros((2 * steps, 3), np.int64), np.zeros((steps, 2), np.int64)


@stored
def pair_up(runs, n_runs, patience, rows):
    """Lay D, the first n_runs runs, and D⁻¹ side by side; returns how many rows, and whether D is a palindrome.

    Two fingers go over D, one from either end, and what both point at is made by everyone. Else one of them waits: an
    update for leapfrogs that lead to the same update, if these are few, and otherwise leapfrogs for an update.
    """
    n, palindrome = 0, True
    a, b = 0, n_runs - 1
    a_left, b_left = runs[a, 1], runs[b, 1]
    while a < n_runs or b >= 0:
        forward = runs[a, 0] if a < n_runs else -1
        backward = runs[b, 0] if b >= 0 else -1
        if forward == backward:
            which, times, whose = forward, min(a_left, b_left), EVERYONE
        else:
            palindrome = False
            if forward < 0 or backward < 0:
                first = backward < 0
            elif forward == 0:
                first = a_left <= patience and a + 1 < n_runs and runs[a + 1, 0] == backward
            else:
                first = backward > 0 or b_left > patience or b == 0 or runs[b - 1, 0] != forward
            which, times, whose = (forward, a_left, FORWARD) if first else (backward, b_left, BACKWARD)
        rows[n, 0], rows[n, 1], rows[n, 2] = which, times, whose
        n += 1
        if whose != BACKWARD:
            a_left -= times
            if a_left == 0:
                a += 1
                a_left = runs[a, 1] if a < n_runs else 0
        if whose != FORWARD:
            b_left -= times
            if b_left == 0:
                b -= 1
                b_left = runs[b, 1] if b >= 0 else 0
    return n, palindrome


@inlined
def _draw_steps(plan, rng):
    """Draw every step of D by itself, and put D down in runs; returns how many runs.

    With p the probability of a leapfrog, so many of them in a row come before the next update as a geometric law says:
    P(n or more) = pⁿ, n = ⌊log u / log p⌋ by inversion. Eight such numbers are drawn at a time.
    """
    n, left, j = 0, plan.steps, LANES
    while left > 0:
        if j == LANES:
            store(plan.drawn, 0, floor(log(1.0 - uniform(rng)) / plan.log_leapfrog))
            store(plan.drawn, 1, uniform(rng))
            j = 0
        times = int(min(plan.drawn[0, j], float(left)))
        if times > 0:
            plan.runs[n, 0], plan.runs[n, 1] = 0, times
            n, left = n + 1, left - times
        if left > 0:
            k = 0
            while plan.drawn[1, j] >= plan.cumulative[k]:
                k += 1
            which = plan.numbers[k]
            if n > 0 and plan.runs[n - 1, 0] == which:
                plan.runs[n - 1, 1] += 1
            else:
                plan.runs[n, 0], plan.runs[n, 1] = which, 1
                n += 1
            left -= 1
        j += 1
    return n


@inlined
def draw_pair(plan, rng):
    """Draw {D, D⁻¹}: its first row and its end, P(D)/(P(D) + P(D⁻¹)), and log P(D⁻¹) − log P(D).  (Algo. 3, line 2)

    Of a palindrome that share is one, and no lane has anything to choose. Steps that are drawn one by one give D and
    D⁻¹ the same probability.
    """
    if plan.steps > 0:
        n, palindrome = pair_up(plan.runs, _draw_steps(plan, rng), plan.patience, plan.rows)
        return 0, n, 1.0 if palindrome else 0.5, 0.0
    k = 0
    if plan.cumulative.size > 1:
        u = lane_uniform(rng, 0)
        while u >= plan.cumulative[k]:
            k += 1
    return plan.ends[k], plan.ends[k + 1], plan.forward[k], plan.log_ratio[k]
