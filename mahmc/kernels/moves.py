"""The moves of Algorithms 1 to 3, on a block of chains."""

from __future__ import annotations

import math

from mahmc.compiled import inlined, otherwise
from mahmc.kernels.state import Backup, Counts
from mahmc.lanes import as_count, load, splat, store, where
from mahmc.streams import normal_pair
from mahmc.targets.base import Point, Selected, potential, step_scale, update, update_where

TRAJECTORY, OUTER, NON_FINITE, LEAPFROGS, INNER = (int(row) for row in Counts)


@inlined
def refresh(rng, p, alpha):
    """p ← α·p + √(1 − α²)·n with n ~ N(0, I), as in Algo. 2; α = 0 draws a new momentum.

    At α = 0 the old p is not read: after an overflow p is infinite, and 0·∞ would be NaN.
    """
    beta = math.sqrt(1.0 - alpha * alpha)
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
    """p ← p − kick_size·∇U, then q ← q + ε·p, row by row, so that p is still in a register when q needs it."""
    for i in range(q.shape[0]):
        kicked = load(p, i) - kick_size * load(grad, i)
        store(p, i, kicked)
        store(q, i, load(q, i) + epsilon * kicked)


@inlined
def between(last, size):
    """The size of the kick between two leapfrogs, which is half a kick of each; 0 stands for none before the first."""
    return 0.5 * (last + size)


@inlined
def leapfrogs(target, state, epsilon, n):
    """n ≥ 1 leapfrogs of size ε·step_scale under U(·, q^O), as in Algo. 1; returns U at the end.

    One leapfrog: p ← p − (ε/2)·∇U, q ← q + ε·p, p ← p − (ε/2)·∇U. Two half kicks between two leapfrogs are one kick.
    The compiler computes ∇U in all steps, but U only in the last step.
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
    """now ← before in the lanes that rejected."""
    for i in range(now.shape[0]):
        store(now, i, where(accepted, load(now, i), load(before, i)))


@inlined
def count(counts, row, condition):
    """counts[row] ← counts[row] + 1 in the lanes where the condition holds."""
    store(counts, row, load(counts, row) + as_count(condition))


@inlined
def count_inner(counts, op, accepted, made):
    """Count update `op` inside a trajectory: one row counts the lanes that accepted, the next the lanes that tried."""
    row = INNER + 2 * (op - 1)
    count(counts, row, accepted)
    count(counts, row + 1, made)


@inlined
def remember(state, counts):
    """state.before ← state; needed for a rejection, and for a stop in the middle of the iteration."""
    before = state.before
    copy(state.q, before.q)
    copy(state.other, before.other)
    copy(state.grad, before.grad)
    copy(state.rng, before.rng)
    copy(state.block_rng, before.block_rng)
    copy(counts, before.counts)


@inlined
def undo(state, counts):
    """state ← state.before, with random numbers and counters, so that a later call repeats the iteration exactly."""
    before = state.before
    copy(before.q, state.q)
    copy(before.other, state.other)
    copy(before.grad, state.grad)
    copy(before.rng, state.rng)
    copy(before.block_rng, state.block_rng)
    copy(before.counts, counts)


@inlined
def conclude(state, counts, U, accepted, finite, leapfrogs_made):
    """Keep the end of the trajectory where accepted, restore the state before it elsewhere, and count both."""
    before = state.before
    restore(accepted, state.q, before.q)
    restore(accepted, state.other, before.other)
    restore(accepted, state.grad, before.grad)
    store(state.U, 0, where(accepted, U, load(state.U, 0)))
    count(counts, TRAJECTORY, accepted)
    count(counts, NON_FINITE, ~finite)
    store(counts, LEAPFROGS, load(counts, LEAPFROGS) + leapfrogs_made)


@inlined
def point_of(state):
    """The parts of the state that an update of q^O reads and writes."""
    return Point(state.q, state.other, state.grad, state.rng)


@inlined
def update_after(target, state, op, counts):
    """q^O ← update number `op` of the target, after a trajectory; op = 0 means no update."""
    if op > 0:
        delta_U, accepted = update(target, op - 1, point_of(state))
        store(state.U, 0, load(state.U, 0) + delta_U)
        count(counts, OUTER, accepted)


@otherwise(update_where)
def update_and_restore(target, index, selected, point, backup):
    """Update q^O in all lanes, then restore q^O and ∇U in the lanes that are not selected."""
    if selected.partial:
        copy(point.other, backup.other)
        copy(point.grad, backup.grad)
    delta_U, accepted = update(target, index, point)
    if selected.partial:
        restore(selected.mask, point.other, backup.other)
        restore(selected.mask, point.grad, backup.grad)
        delta_U = where(selected.mask, delta_U, 0.0)
        accepted = accepted & selected.mask
    return delta_U, accepted


@otherwise(update)
def update_everywhere(target, index, point):
    """Update q^O in all lanes, for targets that define only `update_where`."""
    zero = splat(0.0)
    return update_where(target, index, Selected(zero == zero, False), point, Backup(point.other, point.grad))


@inlined
def update_inside(target, state, op, selected, counts):
    """q^O ← update number `op` in the selected lanes, inside a trajectory; returns U after − U before."""
    delta_U, accepted = update_where(target, op - 1, selected, point_of(state), state.backup)
    count_inner(counts, op, accepted, selected.mask)
    return delta_U


@inlined
def record_draw(state, record, iteration):
    """Write the state to `record` in every thin-th iteration."""
    if (iteration + 1) % record.thin == 0:
        slot = (iteration + 1) // record.thin - 1
        for c in range(record.reals.shape[0]):
            for j in range(record.real_rows.size):
                record.reals[c, slot, j] = state.stack[record.real_rows[j], c]
            for j in range(record.discrete_rows.size):
                record.discretes[c, slot, j] = state.stack[record.discrete_rows[j], c]  # converted to an integer
