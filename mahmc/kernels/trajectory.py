"""The trajectory kernel: MAHMC within Gibbs (Algo. 3). HMC within Gibbs is the case of one segment."""

from __future__ import annotations

from typing import NamedTuple

from mahmc.compiled import kernel
from mahmc.kernels.moves import (
    conclude,
    kinetic,
    leapfrogs,
    record_draw,
    refresh,
    remember,
    undo,
    update_after,
    update_inside,
)
from mahmc.kernels.plan import ALL_LANES, BACKWARD, FORWARD, draw_pair
from mahmc.lanes import exp, is_finite, load, splat, store, where
from mahmc.streams import uniform
from mahmc.targets.base import Selected


class TrajectoryParameters(NamedTuple):
    """Parameters of the trajectory kernel; P^D is the plan."""

    epsilon: float
    correction: float  # factor of ΔE in the test: 1, or 0 for the naive sampler, which is wrong
    outer: int  # the update of q^O after each trajectory, 0 for none


@kernel
def trajectory(target, state, plan, parameters, output, chunk):
    """Run the iterations of a chunk: a trajectory of MAHMC and an update of q^O each; returns the number of iterations.

    Draw D ~ P^D, follow its leapfrogs and updates from (q, p), and accept the end with probability
    min(1, exp(E₀ + ΔE − E)·P(D⁻¹)/P(D)), where E = U + K and ΔE is the sum of all changes of U by updates.

    `chunk.stop` is read before each row of D. If it is set, the unfinished iteration is undone.
    """
    epsilon, counts = parameters.epsilon, output.counts
    for iteration in range(chunk.first, chunk.first + chunk.n):
        remember(state, counts)
        refresh(state.rng, state.p, 0.0)
        U = U0 = load(state.U, 0)
        E0 = U0 + kinetic(state.p)
        delta_E = log_ratio = splat(0.0)
        begin, end, share, forward_log_ratio = draw_pair(plan, state.block_rng, iteration)  # Algo. 3, line 2
        store(state.sizes, ALL_LANES, splat(epsilon))
        if share < 1.0:  # D is not a palindrome: each lane draws its direction
            forward = uniform(state.rng) < share
            store(state.sizes, FORWARD, where(forward, epsilon, 0.0))
            store(state.sizes, BACKWARD, where(forward, 0.0, epsilon))
            log_ratio = where(forward, forward_log_ratio, -forward_log_ratio)
        leapfrogs_made = 0
        for row in range(begin, end):
            if chunk.stop[0]:
                break
            op, count, lane_group = plan.rows[row, 0], plan.rows[row, 1], plan.rows[row, 2]
            size = load(state.sizes, lane_group)
            if op == 0:
                U = leapfrogs(target, state, size, count)
                leapfrogs_made += 0 if lane_group == BACKWARD else count
            else:
                delta_U = update_inside(target, state, op, Selected(size > 0.0, lane_group != ALL_LANES), counts)
                U += delta_U
                delta_E += delta_U  # Algo. 3, line 9
        if chunk.stop[0]:
            undo(state, counts)
            return iteration - chunk.first
        E = U + kinetic(state.p)
        finite = is_finite(E)
        log_odds = E0 + parameters.correction * delta_E - E + log_ratio
        accepted = (uniform(state.rng) < exp(log_odds)) & finite  # Algo. 3, line 11
        conclude(state, counts, U, accepted, finite, leapfrogs_made)
        update_after(target, state, parameters.outer, counts)
        record_draw(state, output.record, iteration)
    return chunk.n
