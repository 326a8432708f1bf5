"""The persistent kernel: MALA, MALA-P and MALA-PN within Gibbs (Algo. 2), which keep momentum between iterations."""

from __future__ import annotations

from typing import NamedTuple

from mahmc.compiled import inlined, kernel
from mahmc.kernels.moves import copy, count, kinetic, leapfrogs, record_draw, refresh, restore, update_after
from mahmc.kernels.state import Counts
from mahmc.lanes import absolute, exp, floor, is_finite, load, store, where
from mahmc.streams import uniform

TRAJECTORY, _, NON_FINITE, LEAPFROGS, _ = (int(row) for row in Counts)


class PersistentParameters(NamedTuple):
    """Parameters of the persistent kernel."""

    epsilon: float
    L: int  # steps in an iteration
    alpha: float  # how much momentum is kept; 0 is MALA
    delta: float  # how far v moves in a step
    nonreversible: bool  # whether |v| is the uniform of the test (MALA-PN); otherwise the uniform is new (MALA, MALA-P)
    outer: int  # the update of q^O after each iteration, 0 for none


@inlined
def moved(v, ratio, accepted, delta):
    """The next v of MALA-PN: v/r where accepted, and then (v + 1 + δ) mod 2 − 1."""
    v = where(accepted, v / ratio, v) + (1.0 + delta)
    return v - 2.0 * floor(0.5 * v) - 1.0


@kernel
def persistent(target, state, parameters, output, chunk):
    """Run the iterations of a chunk: L steps and one update of q^O each; returns the number of iterations.

    One step: p ← α·p + √(1 − α²)·n, one leapfrog (q, p) → (q*, p*), and the ratio r = exp(E − E*). Accept where u < r:
    (q, p) ← (q*, p*). Otherwise turn round: p ← −p. With MALA-PN u = |v|, and v ← v/r where accepted, then
    v ← (v + 1 + δ) mod 2 − 1.
    """
    before, counts = state.before, output.counts
    for iteration in range(chunk.first, chunk.first + chunk.n):
        if chunk.stop[0]:
            return iteration - chunk.first
        for _ in range(parameters.L):
            refresh(state.rng, state.p, parameters.alpha)
            copy(state.q, before.q)
            copy(state.p, before.p)
            copy(state.grad, before.grad)
            U0 = load(state.U, 0)
            E0 = U0 + kinetic(state.p)
            U = leapfrogs(target, state, parameters.epsilon, 1)
            E = U + kinetic(state.p)
            ratio = exp(E0 - E)
            v = load(state.v, 0)
            u = absolute(v) if parameters.nonreversible else uniform(state.rng)
            finite = is_finite(E)
            accepted = (u < ratio) & finite
            if parameters.nonreversible:
                store(state.v, 0, moved(v, ratio, accepted, parameters.delta))
            restore(accepted, state.q, before.q)
            restore(accepted, state.grad, before.grad)
            for i in range(state.p.shape[0]):  # accepted: go on; rejected: turn round
                store(state.p, i, where(accepted, load(state.p, i), -load(before.p, i)))
            store(state.U, 0, where(accepted, U, U0))
            count(counts, TRAJECTORY, accepted)
            count(counts, NON_FINITE, ~finite)
        store(counts, LEAPFROGS, load(counts, LEAPFROGS) + parameters.L)
        update_after(target, state, parameters.outer, counts)
        record_draw(state, output.record, iteration)
    return chunk.n
