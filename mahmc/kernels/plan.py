"""Schedules as kernels read them: sequences D, each beside its mirror image D⁻¹.

The lanes of a block run in lockstep, so they share the *unordered* pair {D, D⁻¹}, and each lane draws whether it
follows D or D⁻¹ (`mahmc.schedules` says why chains stay independent). Two pointers walk D from both ends. If both
pointers are at the same step, all lanes make that step together; otherwise some lanes wait. D and D⁻¹ have the same
number of leapfrogs, so all lanes make all leapfrogs together, and only updates are made by some lanes. There is one
exception: if an update costs as much as a few leapfrogs, some lanes make these few leapfrogs earlier than the others,
so that all lanes make the update together.

Drawing a pair step by step and laying it out takes long compared with a short trajectory. So a block keeps a few drawn
pairs, uses each pair several times, and sometimes replaces the oldest pair by a new pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined, stored
from mahmc.kernels.state import lane_rows
from mahmc.lanes import LANES, floor, log, store
from mahmc.streams import lane_uniform, uniform

ALL_LANES, FORWARD, BACKWARD = 0, 1, 2  # groups of lanes: all lanes, lanes that follow D, lanes that follow D⁻¹
KEPT = 32  # the number of drawn pairs that a block keeps; fewer if the pairs are long
STEPS_KEPT = 2**15  # the largest number of steps in all kept pairs, if a block keeps more than one pair
USES = 16  # mean number of iterations that use a drawn pair


class Law(NamedTuple):
    """How the steps of D are drawn one by one."""

    steps: int  # steps of a trajectory; 0 where no steps are drawn
    log_leapfrog: float  # log of the probability that a step is a leapfrog
    kinds: np.ndarray  # cumulative probabilities of the kinds of update
    ops: np.ndarray  # the target's number of each kind of update
    max_lead: np.ndarray  # for each update by number: the leapfrogs that lanes may go ahead, to make it together


class Plan(NamedTuple):
    """P^D as the kernel reads it: a list of pairs {D, D⁻¹} with their probabilities, or a law of single steps.

    A pair is a list of rows (op, count, lane_group). op = 0: `count` leapfrogs; op = i > 0: the target's update number
    i, once. `lane_group` says which lanes make the row: ALL_LANES, FORWARD or BACKWARD.

    Pair k has the rows begins[k] … ends[k] − 1, forward[k] = P(D)/(P(D) + P(D⁻¹)), which is 1 for a palindrome, and
    log_ratio[k] = log P(D⁻¹) − log P(D). `cumulative` has the cumulative probabilities of the pairs; it is empty if
    steps are drawn. Then each block fills and renews its own list of pairs (`_renew`).
    """

    cumulative: np.ndarray
    rows: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    forward: np.ndarray
    log_ratio: np.ndarray
    law: Law
    D: np.ndarray  # memory for a drawn D: rows of leapfrogs and the update after them, 0 after the last
    random: np.ndarray  # memory for random numbers of two kinds, LANES of each

    def for_a_block(self) -> Plan:
        """The plan for one block. If steps are drawn it has new arrays: blocks run on several threads."""
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
    """The largest number of rows of a pair: one row for each step and pointer, and a scratch row."""
    return 2 * steps + 1


@inlined
def _put(rows, n, op, count, lane_group):
    """Write row n; returns the new number of rows, which is n if count = 0."""
    rows[n, 0], rows[n, 1], rows[n, 2] = op, count, lane_group
    return n + (count > 0)


@stored
def side_by_side(D, n_updates, max_lead, rows):
    """Lay D and D⁻¹ side by side into `rows`; returns the number of rows, and whether D is a palindrome.

    D has rows of leapfrogs and the update after them, 0 after the last; `rows` has `most_rows` rows. Pointer a walks
    from the front, with a_left leapfrogs to its next update x; pointer b walks from the back, with b_left leapfrogs to
    its next update y. x or y is 0 where no update is left.
    """
    n, palindrome = 0, True
    a, b = 0, n_updates
    a_left, b_left = D[a, 0], D[b, 0]
    while True:
        x, y = D[a, 1], D[b - 1, 1] if b > 0 else 0
        both = min(a_left, b_left)
        n = _put(rows, n, 0, both, ALL_LANES)
        a_left, b_left = a_left - both, b_left - both
        lead = a_left + b_left  # one of the two is zero
        together = x == y and (lead <= max_lead[x] or x == 0)
        palindrome &= together and lead == 0
        if together:
            n = _put(rows, n, 0, a_left, FORWARD)
            n = _put(rows, n, 0, b_left, BACKWARD)
            if x == 0:
                return n, palindrome
            n = _put(rows, n, x, 1, ALL_LANES)
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
        else:  # one pointer is at its end, and the other still has leapfrogs before its next update
            n = _put(rows, n, 0, a_left, FORWARD)
            n = _put(rows, n, 0, b_left, BACKWARD)
            a_left = b_left = 0


@inlined
def _draw_steps(law, rng, random, D):
    """Draw the steps of D one by one; returns the number of updates.

    With p the probability of a leapfrog, the leapfrogs before the next update are geometric: P(n or more) = pⁿ, so
    n = ⌊log u / log p⌋ by inversion. LANES such numbers are drawn at a time.
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
        D[n, 1] = law.ops[k]
        n, left, j = n + 1, left - 1, j + 1


@stored
def _renew(plan, rng, k):
    """Draw a new pair k.

    D and D⁻¹ are equally likely, as P(D) depends on how often each step occurs, not on the order.
    """
    updates = _draw_steps(plan.law, rng, plan.random, plan.D)
    n, palindrome = side_by_side(plan.D, updates, plan.law.max_lead, plan.rows[plan.begins[k] :])
    plan.ends[k] = plan.begins[k] + n
    plan.forward[k] = 1.0 if palindrome else 0.5


@inlined
def _keep_new(plan, rng, iteration):
    """Replace the oldest pair by a new pair in every USES-th iteration; returns the number of pairs.

    Each of the first iterations draws a new pair, until the list is full. The place of a new pair depends only on the
    iteration's number, so an iteration that is undone and repeated puts the same pair into the same place.
    """
    places = plan.forward.size
    since = iteration - places  # iterations since the list was full
    if since < 0:
        _renew(plan, rng, iteration)
    elif since % USES == 0:
        _renew(plan, rng, since // USES % places)
    return min(iteration + 1, places)


@inlined
def draw_pair(plan, rng, iteration):
    """Draw {D, D⁻¹}; returns its first row, its end, P(D)/(P(D) + P(D⁻¹)) and log P(D⁻¹) − log P(D).

    This is line 2 of Algo. 3. For a palindrome the probability is 1, and no lane draws a direction.
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
