"""What a trajectory does, for the kernel: sequences D, each with its mirror image, and how to go through both at once.

Chains of a block run in lockstep, so they share the *unordered* pair {D, D⁻¹}, and each lane draws for itself which of
the two it takes (why this keeps chains independent is told in `mahmc.schedules`). Two fingers go over D, one from
either end, and what both point at is made by everyone. Elsewhere some lanes wait for others, and the less they do, the
better. D and D⁻¹ have equally many leapfrogs, so all of these can be made together, and updates by some lanes alone;
but where an update costs as much as a few leapfrogs, it pays to let some lanes go those few ahead, and then to make the
update together.

Of steps that are drawn one by one a block keeps a few pairs, uses each several times, and replaces the oldest by a new
one now and then: to draw a pair and lay it out takes long beside a short trajectory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined, stored
from mahmc.kernels.state import lane_rows
from mahmc.lanes import LANES, floor, log, store
from mahmc.streams import lane_uniform, uniform

EVERYONE, FORWARD, BACKWARD = 0, 1, 2
KEPT = 32  # pairs of drawn steps, fewer of long ones ...
STEPS_KEPT = 2**15  # ... with so many steps in all, and one pair at least
USES = 16  # of a pair that is kept, on average


class Law(NamedTuple):
    """How steps are drawn one by one."""

    steps: int  # of a trajectory; 0 where none are drawn
    log_leapfrog: float  # log of the probability that one is a leapfrog
    kinds: np.ndarray  # the probabilities of the kinds of update, added up
    updates: np.ndarray  # the target's numbers for them
    patience: np.ndarray  # by the target's update: so many leapfrogs some lanes may make ahead, while others wait


class Plan(NamedTuple):
    """P^D for the kernel: a list of pairs {D, D⁻¹} with their probabilities, or a law of single steps.

    A pair is kept side by side, in rows of (which, how many, whose): which = 0 are leapfrogs, i > 0 is the target's
    update i, made once. Pair k has the rows begins[k] to ends[k], the share forward[k] = P(D)/(P(D) + P(D⁻¹)), which is
    one for a palindrome, and log_ratio[k] = log P(D⁻¹) − log P(D). `cumulative` are the pairs' probabilities, added up;
    there are none where steps are drawn, and then the block that runs fills the list and changes it (`_renew`).
    """

    cumulative: np.ndarray
    rows: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    law: Law
    D: np.ndarray  # room for a sequence that is drawn: leapfrogs and the update after them, 0 after the last
    random: np.ndarray  # room for eight random numbers of two kinds

    def for_a_block(self) -> Plan:
        """The same with pairs of its own, if they are drawn: blocks run on several threads."""
        steps = self.law.steps
        if steps == 0:
            return self
        kept = max(1, min(KEPT, STEPS_KEPT // steps))
        begins = most_rows(steps) * np.arange(kept)
        return self._replace(
            rows=np.empty((most_rows(steps) * kept, 3), np.int32), begins=begins, ends=begins.copy(),
            forward=np.ones(kept), log_ratio=np.zeros(kept), D=np.empty((steps + 1, 2), np.int64), random=lane_rows(2),
        )  # fmt: skip


def most_rows(steps: int) -> int:
    """Room for a pair of so many steps: each row is a step at least of one finger, and one more is written in vain."""
    return 2 * steps + 1


@inlined
def _put(rows, n, which, times, whose):
    """Put a row after the n there are, unless there is nothing to be made."""
    rows[n, 0], rows[n, 1], rows[n, 2] = which, times, whose
    return n + (times > 0)


@stored
def side_by_side(D, n_updates, patience, rows):
    """Lay D and D⁻¹ side by side; returns how many rows, and whether D is a palindrome.

    D has rows of leapfrogs and the update after them, 0 after the last; `rows` has room for `most_rows`.
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
        together = x == y and (apart <= patience[x] or x == 0)
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
def _draw_steps(law, rng, random, D):
    """Draw every step of D by itself; returns how many of them are updates.

    With p the probability of a leapfrog, so many of them in a row come before the next update as a geometric law says:
    P(n or more) = pⁿ, n = ⌊log u / log p⌋ by inversion. Eight such numbers are drawn at a time.
    """
    n, left, j = 0, law.steps, LANES
    while True:
        if j == LANES:
            store(random, 0, floor(log(1.0 - uniform(rng)) / law.log_leapfrog))
            store(random, 1, uniform(rng))
            j = 0
        D[n, 0] = int(min(random[0, j], float(left)))
        left -= D[n, 0]
        if left == 0:
            D[n, 1] = 0
            return n
        k = 0
        while random[1, j] >= law.kinds[k]:
            k += 1
        D[n, 1] = law.updates[k]
        n, left, j = n + 1, left - 1, j + 1


@stored
def _renew(plan, rng, k):
    """Draw a new pair k in the place of the one there is.

    D and D⁻¹ are equally likely, as P(D) depends on how often each step occurs, not on the order.
    """
    updates = _draw_steps(plan.law, rng, plan.random, plan.D)
    n, palindrome = side_by_side(plan.D, updates, plan.law.patience, plan.rows[plan.begins[k] :])
    plan.ends[k] = plan.begins[k] + n
    plan.forward[k] = 1.0 if palindrome else 0.5


@inlined
def _keep_new(plan, rng, iteration):
    """Put a new pair in the place of the oldest if it is time to; returns how many there are.

    The first iterations draw one each, until all places are taken; later every USES-th does. Which place it is depends
    on the iteration's number alone: an iteration that is undone and made again puts the same pair into the same place.
    """
    places = plan.forward.size
    since = iteration - places  # all places were taken
    if since < 0:
        _renew(plan, rng, iteration)
    elif since % USES == 0:
        _renew(plan, rng, since // USES % places)
    return min(iteration + 1, places)


@inlined
def draw_pair(plan, rng, iteration):
    """Draw {D, D⁻¹}: its first row and its end, P(D)/(P(D) + P(D⁻¹)), and log P(D⁻¹) − log P(D).  (Algo. 3, line 2)

    Of a palindrome that share is one, and no lane has anything to choose.
    """
    k = 0
    if plan.law.steps > 0:
        pairs = _keep_new(plan, rng, iteration)
        k = int(lane_uniform(rng, 0) * pairs)
    elif plan.cumulative.size > 1:
        u = lane_uniform(rng, 0)
        while u >= plan.cumulative[k]:
            k += 1
    return plan.begins[k], plan.ends[k], plan.forward[k], plan.log_ratio[k]
