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

from mahmc.compiled import inlined, stored
from mahmc.kernels.state import lane_rows
from mahmc.lanes import LANES, floor, log, store
from mahmc.streams import lane_uniform, uniform

EVERYONE, FORWARD, BACKWARD = 0, 1, 2


class Plan(NamedTuple):
    """P^D for the kernel: a list of pairs {D, D⁻¹} with their probabilities, or a law of single steps.

    A pair is kept side by side, in rows of (which, how many, whose): which = 0 are leapfrogs, i > 0 is the target's
    update i, made once. Pair k has the rows ends[k] to ends[k + 1], the share forward[k] = P(D)/(P(D) + P(D⁻¹)), which
    is one for a palindrome, and log_ratio[k] = log P(D⁻¹) − log P(D). `cumulative` are the probabilities, added up, of
    the pairs, or of the kinds of update where steps are drawn.
    """

    cumulative: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    steps: int  # to be drawn one by one; 0 if none are
    log_leapfrog: float  # log of the probability that one is a leapfrog
    numbers: np.ndarray  # the target's numbers of the kinds of update
    patience: int  # how many leapfrogs some lanes may make ahead of an update, while others wait
    D: np.ndarray  # room for the D that is drawn: leapfrogs and the update after them, 0 after the last
    drawn: np.ndarray  # room for eight random numbers of two kinds
    sizes: np.ndarray  # room for step sizes by lane: of everyone, of those who go forward, of the others

    def with_room(self) -> Plan:
        """The same with room of its own: blocks run on several threads."""
        if self.steps == 0:
            return self._replace(sizes=lane_rows(3))
        return self._replace(
            rows=np.empty_like(self.rows), D=np.empty_like(self.D), drawn=lane_rows(2), sizes=lane_rows(3)
        )


def room_for(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and D that are large enough for a sequence of so many steps."""
    return np.zeros((3 * steps + 3, 3), np.int64), np.zeros((steps + 1, 2), np.int64)


@inlined
def _put(rows, n, which, times, whose):
    """Put a row after the n there are, unless there is nothing to be made."""
    rows[n, 0], rows[n, 1], rows[n, 2] = which, times, whose
    return n + (times > 0)


@stored
def side_by_side(D, n_updates, patience, rows):
    """Lay D and D⁻¹ side by side; returns how many rows, and whether D is a palindrome. At most three for each of D's.

    The fingers a and b have a_left and b_left leapfrogs to go to their next updates, x and y, 0 where none is left.
    """
    n, palindrome = 0, True
    a, b = 0, n_updates
    a_left, b_left = D[a, 0], D[b, 0]
    while True:
        x, y = D[a, 1], D[b - 1, 1] if b > 0 else 0
        both = min(a_left, b_left)
        n = _put(rows, n, 0, both, EVERYONE)
        a_left, b_left = a_left - both, b_left - both
        apart = a_left + b_left  # one of them is zero
        together = x == y and (apart <= patience or x == 0)
        palindrome &= together and apart == 0
        if together:
            n = _put(rows, n, 0, a_left, FORWARD)
            n = _put(rows, n, 0, b_left, BACKWARD)
            if x == 0:
                return n, palindrome
            n = _put(rows, n, x, 1, EVERYONE)
            a, b = a + 1, b - 1
            a_left, b_left = D[a, 0], D[b, 0]
        elif a_left == 0 and x > 0:
            n = _put(rows, n, x, 1, FORWARD)
            a += 1
            a_left = D[a, 0]
        elif b_left == 0 and y > 0:
            n = _put(rows, n, y, 1, BACKWARD)
            b -= 1
            b_left = D[b, 0]
        else:  # one is at the end, and the other still goes to its next update
            n = _put(rows, n, 0, a_left, FORWARD)
            n = _put(rows, n, 0, b_left, BACKWARD)
            a_left = b_left = 0


@inlined
def _draw_steps(plan, rng):
    """Draw every step of D by itself; returns how many of them are updates.

    With p the probability of a leapfrog, so many of them in a row come before the next update as a geometric law says:
    P(n or more) = pⁿ, n = ⌊log u / log p⌋ by inversion. Eight such numbers are drawn at a time.
    """
    D, n, left, j = plan.D, 0, plan.steps, LANES
    while True:
        if j == LANES:
            store(plan.drawn, 0, floor(log(1.0 - uniform(rng)) / plan.log_leapfrog))
            if plan.numbers.size > 1:
                store(plan.drawn, 1, uniform(rng))
            j = 0
        D[n, 0] = int(min(plan.drawn[0, j], float(left)))
        left -= D[n, 0]
        if left == 0:
            D[n, 1] = 0
            return n
        k = 0
        if plan.numbers.size > 1:
            while plan.drawn[1, j] >= plan.cumulative[k]:
                k += 1
        D[n, 1] = plan.numbers[k]
        n, left, j = n + 1, left - 1, j + 1


@inlined
def draw_pair(plan, rng):
    """Draw {D, D⁻¹}: its first row and its end, P(D)/(P(D) + P(D⁻¹)), and log P(D⁻¹) − log P(D).  (Algo. 3, line 2)

    Of a palindrome that share is one, and no lane has anything to choose. Steps that are drawn one by one give D and
    D⁻¹ the same probability.
    """
    if plan.steps > 0:
        n, palindrome = side_by_side(plan.D, _draw_steps(plan, rng), plan.patience, plan.rows)
        return 0, n, 1.0 if palindrome else 0.5, 0.0
    k = 0
    if plan.cumulative.size > 1:
        u = lane_uniform(rng, 0)
        while u >= plan.cumulative[k]:
            k += 1
    return plan.ends[k], plan.ends[k + 1], plan.forward[k], plan.log_ratio[k]
