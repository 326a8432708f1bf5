"""The persistent kernel: MALA, MALA-P and MALA-PN within Gibbs (Algo. 2), whose momentum outlives an iteration."""

from __future__ import annotations

from mahmc.compiled import kernel
from mahmc.kernels.moves import copy, count, kinetic, leapfrogs, record, refresh, restore, update_after
from mahmc.kernels.state import Counts
from mahmc.lanes import absolute, exp, floor, is_finite, load, store, where
from mahmc.streams import uniform

TRAJECTORY, _, NON_FINITE, LEAPFROGS, _ = (int(row) for row in Counts)


@kernel
def persistent(target, state, L, outer, epsilon, alpha, delta, nonreversible, counts, out, first, n, stop):
    """Run iterations first … first + n − 1, each of L steps and one update of q^O; returns how many were done.

    α = 0 is MALA. `nonreversible` takes |v| for the uniform of the test and moves v by δ (MALA-PN); otherwise the
    uniform is drawn anew (MALA, MALA-P) and v is left alone.
    """
    before = state.before
    for iteration in range(first, first + n):
        if stop[0]:
            return iteration - first
        for _ in range(L):
            refresh(state.rng, state.p, alpha)
            copy(state.q, before.q)
            copy(state.p, before.p)
            copy(state.grad, before.grad)
            U0 = load(state.U, 0)
            E0 = U0 + kinetic(state.p)
            U = leapfrogs(target, state, epsilon, 1)
            E = U + kinetic(state.p)
            ratio = exp(E0 - E)
            v = load(state.v, 0)
            u = absolute(v) if nonreversible else uniform(state.rng)
            finite = is_finite(E)
            accepted = (u < ratio) & finite
            if nonreversible:
                v = where(accepted, v / ratio, v) + (1.0 + delta)
                store(state.v, 0, v - 2.0 * floor(0.5 * v) - 1.0)  # (v + 1 + δ) mod 2 − 1
            restore(accepted, state.q, before.q)
            restore(accepted, state.grad, before.grad)
            for i in range(state.p.shape[0]):  # accepted: go on; rejected: turn round
                store(state.p, i, where(accepted, load(state.p, i), -load(before.p, i)))
            store(state.U, 0, where(accepted, U, U0))
            count(counts, TRAJECTORY, accepted)
            count(counts, NON_FINITE, ~finite)
        store(counts, LEAPFROGS, load(counts, LEAPFROGS) + L)
        update_after(target, state, outer, counts)
        record(state, out, iteration)
    return n
