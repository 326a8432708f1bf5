"""What a trajectory does, for the kernel: sequences D, each with its mirror image, and how to go through both at once.

Chains of a block run in lockstep, so they share the *unordered* pair {D, D⁻¹}, and each lane draws for itself which of
the two it takes (why this keeps chains independent is told in `mahmc.schedules`). Two fingers go over D, one from
either end, and what both point at is made by everyone. Elsewhere some lanes wait for others, and the less they do, the
better. D and D⁻¹ have equally many leapfrogs, so all of these can be made together, and updates by some lanes alone;
but where an update costs as much as a few leapfrogs, it pays to let some lanes go those few ahead, and then to make the
update together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined
from mahmc.lanes import LANES, floor, log, store
from mahmc.streams import lane_uniform, uniform

EVERYONE, FORWARD, BACKWARD = 0, 1, 2


class Plan(NamedTuple):
    """P^D for the kernel: a list of pairs {D, D⁻¹} with their probabilities, or a law of single steps.

    D is kept in runs, rows of (which, how many): which = 0 are leapfrogs, i > 0 is the target's update i. Pair k has
    the runs ends[k] to ends[k + 1], the share forward[k] = P(D)/(P(D) + P(D⁻¹)), which is one for a palindrome, and
    log_ratio[k] = log P(D⁻¹) − log P(D). `cumulative` are the probabilities, added up, of the pairs, or of the kinds
    of update where steps are drawn.
    """

    cumulative: np.ndarray
    runs: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    patience: int  # how many leapfrogs some lanes may make ahead of an update, while others wait
    steps: int  # to be drawn one by one, into `runs`; 0 if none are
    log_leapfrog: float  # log of the probability that one is a leapfrog
    numbers: np.ndarray  # the target's numbers of the kinds of update
    drawn: np.ndarray  # room for eight random numbers of two kinds

    def with_room(self) -> Plan:
        """The same with room of its own, if anything is drawn into it: blocks run on several threads."""
        if self.steps == 0:
            return self
        return self._replace(runs=np.empty_like(self.runs), drawn=np.empty_like(self.drawn))


@inlined
def first_steps(runs, begin, end, palindrome):
    """Both fingers at their beginnings: a and b are runs, a_left and b_left the steps that are left of them.

    A palindrome needs only one.
    """
    return begin, begin - 1 if palindrome else end - 1, runs[begin, 1], runs[end - 1, 1]


@inlined
def next_steps(runs, begin, end, palindrome, fingers, patience):
    """What is made next, of which kind and how often, and whose it is; and the fingers after it.

    Where the two differ, one waits: an update for leapfrogs that lead to the same update, if these are few, and
    otherwise leapfrogs for an update.
    """
    a, b, a_left, b_left = fingers
    if palindrome:
        return runs[a, 0], runs[a, 1], EVERYONE, (a + 1, b, a_left, b_left)
    forward = runs[a, 0] if a < end else -1
    backward = runs[b, 0] if b >= begin else -1
    if forward == backward:
        which, times, whose = forward, min(a_left, b_left), EVERYONE
    else:
        if forward < 0 or backward < 0:
            first = backward < 0
        elif forward == 0:
            first = a_left <= patience and a + 1 < end and runs[a + 1, 0] == backward
        else:
            first = backward > 0 or b_left > patience or b == begin or runs[b - 1, 0] != forward
        which, times, whose = (forward, a_left, FORWARD) if first else (backward, b_left, BACKWARD)
    if whose != BACKWARD:
        a_left -= times
        if a_left == 0:
            a += 1
            a_left = runs[a, 1] if a < end else 0
    if whose != FORWARD:
        b_left -= times
        if b_left == 0:
            b -= 1
            b_left = runs[b, 1] if b >= begin else 0
    return which, times, whose, (a, b, a_left, b_left)


@inlined
def _is_palindrome(runs, n):
    i = 0
    while i < n // 2 and runs[i, 0] == runs[n - 1 - i, 0] and runs[i, 1] == runs[n - 1 - i, 1]:
        i += 1
    return i == n // 2


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
            if plan.numbers.size > 1:
                store(plan.drawn, 1, uniform(rng))
            j = 0
        times = int(min(plan.drawn[0, j], float(left)))
        if times > 0:
            plan.runs[n, 0], plan.runs[n, 1] = 0, times
            n, left = n + 1, left - times
        if left > 0:
            k = 0
            if plan.numbers.size > 1:
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
    """Draw {D, D⁻¹}: its first run and its end, P(D)/(P(D) + P(D⁻¹)), and log P(D⁻¹) − log P(D).  (Algo. 3, line 2)

    Of a palindrome that share is one, and no lane has anything to choose. Steps that are drawn one by one give D and
    D⁻¹ the same probability.
    """
    if plan.steps > 0:
        n = _draw_steps(plan, rng)
        return 0, n, 1.0 if _is_palindrome(plan.runs, n) else 0.5, 0.0
    k = 0
    if plan.cumulative.size > 1:
        u = lane_uniform(rng, 0)
        while u >= plan.cumulative[k]:
            k += 1
    return plan.ends[k], plan.ends[k + 1], plan.forward[k], plan.log_ratio[k]
