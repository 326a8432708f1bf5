"""The trajectory kernel: MAHMC within Gibbs (Algo. 3), and HMC within Gibbs, which is the same with one segment."""

from __future__ import annotations

from mahmc.compiled import kernel
from mahmc.kernels.moves import copy, count, kinetic, leapfrogs, record, refresh, restore
from mahmc.kernels.state import Counts
from mahmc.lanes import exp, is_finite, load, splat, store, where
from mahmc.streams import uniform
from mahmc.targets.base import update

TRAJECTORY, INNER, OUTER, NON_FINITE = (int(row) for row in Counts)


@kernel
def trajectory(target, state, D, outer, epsilon, correction, counts, out, first, n, stop):
    """Run iterations first … first + n − 1 of MAHMC within Gibbs; returns how many were done.

    D is the sequence of updates in runs, rows of (which, how many): which = 0 are leapfrogs, i > 0 is the target's
    update i of q^O. `outer` is the update after the trajectory, 0 for none. `correction` is 1; at 0 the test forgets
    ΔE, which is the naive sampler, and wrong. `stop[0]` is looked at in each run of D: once set, the iteration under
    way is undone, randomness and all, so that the chain goes on later as if never stopped.
    """
    before = state.before
    for iteration in range(first, first + n):
        copy(state.q, before.q)
        copy(state.other, before.other)
        copy(state.grad, before.grad)
        copy(state.rng, before.rng)
        store(before.inner_count, 0, load(counts, INNER))
        refresh(state.rng, state.p, 0.0)
        U0 = load(state.U, 0)
        E0 = U0 + kinetic(state.p)
        U = U0
        delta_E = splat(0.0)
        for run in range(D.shape[0]):
            if stop[0]:
                break
            which, times = D[run, 0], D[run, 1]
            if which == 0:
                U = leapfrogs(target, state, epsilon, times)
            else:
                for _ in range(times):
                    delta_U, accepted = update(target, which - 1, state.q, state.other, state.grad, state.rng)
                    U += delta_U
                    delta_E += delta_U  # Algo. 3, line 9
                    count(counts, INNER, accepted)
        if stop[0]:
            copy(before.q, state.q)
            copy(before.other, state.other)
            copy(before.grad, state.grad)
            copy(before.rng, state.rng)
            store(counts, INNER, load(before.inner_count, 0))
            return iteration - first
        E = U + kinetic(state.p)
        finite = is_finite(E)
        accepted = (uniform(state.rng) < exp(E0 + correction * delta_E - E)) & finite  # Algo. 3, line 11
        restore(accepted, state.q, before.q)
        restore(accepted, state.other, before.other)
        restore(accepted, state.grad, before.grad)
        U = where(accepted, U, U0)
        count(counts, TRAJECTORY, accepted)
        count(counts, NON_FINITE, ~finite)
        if outer > 0:
            delta_U, accepted = update(target, outer - 1, state.q, state.other, state.grad, state.rng)
            U += delta_U
            count(counts, OUTER, accepted)
        store(state.U, 0, U)
        record(state, out, iteration)
    return n
