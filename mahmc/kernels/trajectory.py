"""The trajectory kernel: MAHMC within Gibbs (Algo. 3), and HMC within Gibbs, which is the same with one segment."""

from __future__ import annotations

from mahmc.compiled import kernel
from mahmc.kernels.moves import conclude, kinetic, leapfrogs, record, refresh, remember, undo, update_after, update_some
from mahmc.kernels.plan import BACKWARD, EVERYONE, FORWARD, draw_pair
from mahmc.lanes import exp, is_finite, load, splat, store, where
from mahmc.streams import uniform


@kernel
def trajectory(target, state, plan, outer, epsilon, correction, counts, out, first, n, stop):
    """Run iterations first … first + n − 1 of MAHMC within Gibbs; returns how many were done.

    `plan` is P^D. `outer` is the update after the trajectory, 0 for none. `correction` is 1; at 0 the test forgets
    ΔE, which is the naive sampler, and wrong. `stop[0]` is looked at in each row of D: once set, the iteration under
    way is undone.
    """
    for iteration in range(first, first + n):
        remember(state, counts)
        refresh(state.rng, state.p, 0.0)
        U = U0 = load(state.U, 0)
        E0 = U0 + kinetic(state.p)
        delta_E = log_ratio = splat(0.0)
        begin, end, share, forward_log_ratio = draw_pair(plan, state.block_rng, iteration)  # Algo. 3, line 2
        store(state.sizes, EVERYONE, splat(epsilon))
        if share < 1.0:  # no palindrome: each lane draws its direction
            forward = uniform(state.rng) < share
            store(state.sizes, FORWARD, where(forward, epsilon, 0.0))
            store(state.sizes, BACKWARD, where(forward, 0.0, epsilon))
            log_ratio = where(forward, forward_log_ratio, -forward_log_ratio)
        made = 0
        for row in range(begin, end):
            if stop[0]:
                break
            which, times, whose = plan.rows[row, 0], plan.rows[row, 1], plan.rows[row, 2]
            size = load(state.sizes, whose)
            if which == 0:
                U = leapfrogs(target, state, size, times)
                made += 0 if whose == BACKWARD else times
            else:
                delta_U = update_some(target, state, which, size > 0.0, whose != EVERYONE, counts)
                U += delta_U
                delta_E += delta_U  # Algo. 3, line 9
        if stop[0]:
            undo(state, counts)
            return iteration - first
        E = U + kinetic(state.p)
        finite = is_finite(E)
        accepted = (uniform(state.rng) < exp(E0 + correction * delta_E - E + log_ratio)) & finite  # Algo. 3, line 11
        conclude(state, accepted, finite, U, U0, made, counts)
        update_after(target, state, outer, counts)
        record(state, out, iteration)
    return n
