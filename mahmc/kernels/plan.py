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
from mahmc.streams import lane_uniform

EVERYONE, FORWARD, BACKWARD = 0, 1, 2
MOST_ROWS = 8  # for each segment of D: two fingers come by, each at most once and a half, with three rows at most


class Plan(NamedTuple):
    """P^D for the kernel: a list of pairs {D, D⁻¹} with their probabilities.

    A pair is kept side by side, in rows of (which, how many, whose): which = 0 are leapfrogs, i > 0 is the target's
    update i, made once. Pair k has the rows ends[k] to ends[k + 1], the share forward[k] = P(D)/(P(D) + P(D⁻¹)), which
    is one for a palindrome, and log_ratio[k] = log P(D⁻¹) − log P(D). `cumulative` are the pairs' probabilities, added
    up; there are none where all pairs are equally likely.
    """

    cumulative: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    sizes: np.ndarray  # room for step sizes by lane: of everyone, of those who go forward, of the others

    def with_room(self) -> Plan:
        """The same with room of its own: blocks run on several threads."""
        return self._replace(sizes=lane_rows(3))


@inlined
def _put(rows, n, which, times, whose):
    """Put a row after the n there are, unless there is nothing to be made."""
    rows[n, 0], rows[n, 1], rows[n, 2] = which, times, whose
    return n + (times > 0)


@stored
def side_by_side(D, n_updates, patience, rows):
    """Lay D and D⁻¹ side by side; returns how many rows, and whether D is a palindrome.

    D has rows of leapfrogs and the update after them, 0 after the last; `rows` has room for MOST_ROWS for each.
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
def draw_pair(plan, rng):
    """Draw {D, D⁻¹}: its first row and its end, P(D)/(P(D) + P(D⁻¹)), and log P(D⁻¹) − log P(D).  (Algo. 3, line 2)

    Of a palindrome that share is one, and no lane has anything to choose.
    """
    k, pairs = 0, plan.forward.size
    if pairs > 1:
        u = lane_uniform(rng, 0)
        if plan.cumulative.size > 0:
            while u >= plan.cumulative[k]:
                k += 1
        else:
            k = int(u * pairs)
    return plan.ends[k], plan.ends[k + 1], plan.forward[k], plan.log_ratio[k]
