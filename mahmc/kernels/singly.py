"""The moves of the kernels one at a time, for recordings.

Each function makes a move by the function that the kernels call, so a recording has the bits of the run. Rows of `out`
are results: a number for each lane, and for a condition 1 or 0.
"""

from __future__ import annotations

from mahmc.compiled import kernel, stored
from mahmc.kernels.mixed import draw_gaps, draw_order, steps_in
from mahmc.kernels.moves import between, copy, kick, kick_and_drift, kinetic, point_of, refresh
from mahmc.kernels.persistent import moved
from mahmc.kernels.plan import ALL_LANES, draw_pair
from mahmc.lanes import exp, load, store, where
from mahmc.streams import exponential, uniform
from mahmc.targets.base import Selected, potential, step_scale, update, update_where, visit


@kernel
def leapfrog(target, state, sizes, p, out):
    """A leapfrog of size ε₁·s after a leapfrog of size ε₀·s; `sizes` has ε₀, which is 0 at first, and ε₁.

    The last half kick is left to the next leapfrog. `p` ← the momentum after this half kick. out ← U, ε₁·s.
    """
    scale = step_scale(target, state.other)
    last, size = load(sizes, 0) * scale, load(sizes, 1) * scale
    kick_and_drift(state.q, state.p, state.grad, between(last, size), size)
    store(out, 0, potential(target, state.q, state.other, state.grad, state.scratch))
    store(out, 1, size)
    copy(state.p, p)
    kick(p, state.grad, 0.5 * size)


@kernel
def update_in_group(target, state, op, lane_group, out):
    """q^O ← update number `op` in the lanes of the group whose size is not 0; out ← ΔU, accepted."""
    selected = Selected(load(state.sizes, lane_group) > 0.0, lane_group != ALL_LANES)
    delta_U, accepted = update_where(target, op - 1, selected, point_of(state), state.backup)
    store(out, 0, delta_U)
    store(out, 1, where(accepted, 1.0, 0.0))


@kernel
def update_all(target, state, op, out):
    """q^O ← update number `op`; out ← ΔU, accepted."""
    delta_U, accepted = update(target, op - 1, point_of(state))
    store(out, 0, delta_U)
    store(out, 1, where(accepted, 1.0, 0.0))


@kernel
def visit_site(target, state, op, site, out):
    """Visit a variable by proposal `op`; `site` has the variable of each lane, and k. out ← ΔU, cost, accepted."""
    delta_U, cost, accepted = visit(target, op - 1, load(site, 0), point_of(state), load(site, 1))
    store(out, 0, delta_U)
    store(out, 1, cost)
    store(out, 2, where(accepted, 1.0, 0.0))


@stored
def refresh_momentum(rng, p, alpha):
    """p ← α·p + √(1 − α²)·n."""
    refresh(rng, p, alpha)


@stored
def kinetic_energy(p, out):
    """out ← K(p)."""
    store(out, 0, kinetic(p))


@stored
def next_pair(plan, rng, iteration):
    """Draw {D, D⁻¹}; returns the same as `draw_pair`."""
    return draw_pair(plan, rng, iteration)


@stored
def follow_pairs(plan, rng, iterations):
    """Draw the pairs of the first iterations, so that the plan and `rng` are as after these iterations."""
    for iteration in range(iterations):
        draw_pair(plan, rng, iteration)


@stored
def next_gaps(timetable, rng):
    """Draw the gaps between visits."""
    draw_gaps(timetable, rng)


@stored
def next_order(order, rng):
    """Draw the order of visits."""
    draw_order(order, rng)


@stored
def leapfrogs_in(gap, epsilon):
    """The number of leapfrogs in a gap."""
    return steps_in(gap, epsilon)


@stored
def next_uniform(rng, out):
    """out ← U(0, 1)."""
    store(out, 0, uniform(rng))


@stored
def next_exponential(rng, out):
    """out ← Exponential(1)."""
    store(out, 0, exponential(rng))


@stored
def exponential_of(log_odds, out):
    """out ← e^log_odds."""
    store(out, 0, exp(load(log_odds, 0)))


@stored
def move_slice(v, ratio, accepted, delta):
    """v ← the next v of MALA-PN; `ratio` and `accepted` are rows."""
    store(v, 0, moved(load(v, 0), load(ratio, 0), load(accepted, 0) > 0.5, delta))
