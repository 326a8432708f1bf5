"""The moves of Algorithms 1 to 3, on a block of chains."""

from __future__ import annotations

import numpy as np

from mahmc.compiled import inlined, otherwise
from mahmc.kernels.state import Aside, Counts
from mahmc.lanes import as_count, load, splat, store, where
from mahmc.streams import normal_pair
from mahmc.targets.base import potential, step_scale, update, update_where

TRAJECTORY, OUTER, NON_FINITE, LEAPFROGS, INNER = (int(row) for row in Counts)


@inlined
def refresh(rng, p, alpha):
    """p ← α·p + √(1 − α²)·n, n ~ N(0, I).  (Algo. 2; α = 0 draws the momentum anew)

    Anew means without a look at the old one: after a trajectory that overflowed it is infinite, and 0·∞ is NaN.
    """
    beta = (1.0 - alpha * alpha) ** 0.5
    rows = p.shape[0]
    for i in range(0, rows, 2):
        first, second = normal_pair(rng)
        store(p, i, alpha * load(p, i) + beta * first if alpha > 0.0 else first)
        if i + 1 < rows:
            store(p, i + 1, alpha * load(p, i + 1) + beta * second if alpha > 0.0 else second)


@inlined
def kinetic(p):
    """K(p) = |p|²/2."""
    total = splat(0.0)
    for i in range(p.shape[0]):
        total += load(p, i) * load(p, i)
    return 0.5 * total


@inlined
def kick(p, grad, epsilon):
    """p ← p − ε·∇U."""
    for i in range(p.shape[0]):
        store(p, i, load(p, i) - epsilon * load(grad, i))


@inlined
def kick_and_drift(q, p, grad, kick_size, epsilon):
    """p ← p − kick_size·∇U, then q ← q + ε·p, row by row: p is still in its register when q needs it."""
    for i in range(q.shape[0]):
        kicked = load(p, i) - kick_size * load(grad, i)
        store(p, i, kicked)
        store(q, i, load(q, i) + epsilon * kicked)


@inlined
def leapfrogs(target, state, epsilon, n):
    """n ≥ 1 leapfrogs of size ε·step_scale under U(·, q^O): half kick, drift, half kick each.  (Algo. 1)

    Two half kicks that meet, at the end of one step and the beginning of the next, are one kick. Returns U at the end;
    only there is it worked out.
    """
    q, p, other, grad, scratch = state.q, state.p, state.other, state.grad, state.scratch
    scaled = epsilon * step_scale(target, other)
    half = 0.5 * scaled
    kick_and_drift(q, p, grad, half, scaled)
    for _ in range(n - 1):
        potential(target, q, other, grad, scratch)
        kick_and_drift(q, p, grad, scaled, scaled)
    U = potential(target, q, other, grad, scratch)
    kick(p, grad, half)
    return U


@inlined
def copy(source, destination):
    """destination ← source, row by row."""
    for i in range(source.shape[0]):
        store(destination, i, load(source, i))


@inlined
def restore(accepted, now, before):
    """now ← before, in the lanes that did not accept."""
    for i in range(now.shape[0]):
        store(now, i, where(accepted, load(now, i), load(before, i)))


@inlined
def count(counts, row, condition):
    """Add one where the condition holds."""
    store(counts, row, load(counts, row) + as_count(condition))


@inlined
def count_inner(counts, which, accepted, made):
    """Count an update inside a trajectory where it was made, and where accepted."""
    row = INNER + 2 * (which - 1)
    count(counts, row, accepted)
    count(counts, row + 1, made)


@inlined
def remember(state, counts):
    """Keep what a rejection goes back to, and what a stop in the midst of an iteration has to undo."""
    before = state.before
    copy(state.q, before.q)
    copy(state.other, before.other)
    copy(state.grad, before.grad)
    copy(state.rng, before.rng)
    copy(state.block_rng, before.block_rng)
    copy(counts, before.counts)


@inlined
def undo(state, counts):
    """Undo the iteration under way, randomness and all, so that the chain goes on later as if never stopped."""
    before = state.before
    copy(before.q, state.q)
    copy(before.other, state.other)
    copy(before.grad, state.grad)
    copy(before.rng, state.rng)
    copy(before.block_rng, state.block_rng)
    copy(before.counts, counts)


@inlined
def conclude(state, accepted, finite, U, U0, made, counts):
    """Go back in the lanes that did not accept the trajectory, and count; `made` are its leapfrogs."""
    before = state.before
    restore(accepted, state.q, before.q)
    restore(accepted, state.other, before.other)
    restore(accepted, state.grad, before.grad)
    store(state.U, 0, where(accepted, U, U0))
    count(counts, TRAJECTORY, accepted)
    count(counts, NON_FINITE, ~finite)
    store(counts, LEAPFROGS, load(counts, LEAPFROGS) + made)


@inlined
def update_after(target, state, which, counts):
    """The target's update `which` of q^O after a trajectory, 0 for none."""
    if which > 0:
        delta_U, accepted = update(target, which - 1, state.q, state.other, state.grad, state.rng)
        store(state.U, 0, load(state.U, 0) + delta_U)
        count(counts, OUTER, accepted)


@otherwise(update_where)
def update_and_undo(target, which, theirs, some, q, other, grad, rng, aside):
    """Update q^O in all lanes, and undo it in those that wait."""
    if some:
        copy(other, aside.other)
        copy(grad, aside.grad)
    delta_U, accepted = update(target, which, q, other, grad, rng)
    if some:
        restore(theirs, other, aside.other)
        restore(theirs, grad, aside.grad)
        delta_U = where(theirs, delta_U, 0.0)
        accepted = accepted & theirs
    return delta_U, accepted


@otherwise(update)
def update_everywhere(target, which, q, other, grad, rng):
    """Update q^O in all lanes, none of which waits."""
    nothing = splat(0.0)
    return update_where(target, which, nothing == nothing, False, q, other, grad, rng, Aside(other, grad))


@inlined
def update_some(target, state, which, theirs, some, counts):
    """The target's update `which` of q^O in the lanes where it is theirs; returns U after − U before."""
    q, other, grad, rng = state.q, state.other, state.grad, state.rng
    delta_U, accepted = update_where(target, which - 1, theirs, some, q, other, grad, rng, state.aside)
    count_inner(counts, which, accepted, theirs)
    return delta_U


@inlined
def record(state, out, iteration):
    """Write the state to its place in `out` if this iteration is one that is kept."""
    if (iteration + 1) % out.thin == 0:
        slot = (iteration + 1) // out.thin - 1
        for c in range(out.reals.shape[0]):
            for j in range(out.real_rows.size):
                out.reals[c, slot, j] = state.stack[out.real_rows[j], c]
            for j in range(out.discrete_rows.size):
                out.discretes[c, slot, j] = np.int8(state.stack[out.discrete_rows[j], c])
