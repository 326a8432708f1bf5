"""The mixed kernel: M-HMC with Laplace momentum (Zhou 2020, with its erratum of 2021; here Sec. 3.2).

A trajectory visits discrete variables one by one. Variable i has a kinetic energy k_i ~ Exponential(1), drawn when the
trajectory begins. A visit proposes a value whose cost is −log of the Metropolis–Hastings ratio, accepts where
cost ≤ k_i, and then k_i ← k_i − cost. So M-HMC is MAHMC with a uniform e^(−k_i) that persists from visit to visit: with
a new k_i at each visit it *is* MAHMC.

The final test is the test of MAHMC: accept with probability min(1, exp(E₀ + ΔE − E)), where ΔE is the sum of all
changes of *U* by visits. The sum of all costs, which the k_i lost, is another number: costs contain the log ratios of
proposals. To use the sum of costs instead of ΔE is wrong if a proposal is not symmetric; the erratum says so.

The order of visits: each lane draws a random order of the variables and repeats this order. The times of visits: V
visits cut the travel time T into V + 1 gaps. There is one gap length for each variable, with shares drawn from
Dirichlet(1, …, 1), and these lengths are repeated too. A trajectory begins at a random point of a gap, so the first and
the last gap are two parts of one gap. The reversed gaps have the same law. The lanes of a block share the *unordered*
pair of gaps and reversed gaps, and each lane draws its direction (`mahmc.schedules` says why). A gap takes ⌈gap/ε⌉
leapfrogs of equal size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined, kernel
from mahmc.kernels.moves import (
    between,
    conclude,
    count_inner,
    kick,
    kick_and_drift,
    kinetic,
    point_of,
    record_draw,
    refresh,
    remember,
    undo,
    update_after,
)
from mahmc.lanes import LANES, exp, is_finite, load, splat, store, where
from mahmc.streams import exponential, lane_exponential, lane_uniform, uniform
from mahmc.targets.base import potential, step_scale, visit


class Timetable(NamedTuple):
    """The times and the order of visits, with memory for the gaps, orders and energies that each iteration draws."""

    T: float
    drawn: bool  # whether gaps are drawn; otherwise gaps are equal, but the first and the last gap are half as long
    op: int  # the target's number of the proposal, from 1
    shares: np.ndarray  # one for each variable
    gaps: np.ndarray  # visits + 1
    order: np.ndarray  # (variables, LANES): the variables that each lane visits first, second, …
    k: np.ndarray  # (variables, LANES): kinetic energies of the variables that are visited first, second, …

    def for_a_block(self) -> Timetable:
        """A copy with new arrays for one block: blocks run on several threads."""
        shares, gaps, order, k = (np.empty_like(array) for array in (self.shares, self.gaps, self.order, self.k))
        return self._replace(shares=shares, gaps=gaps, order=order, k=k)


class MixedParameters(NamedTuple):
    """Parameters of the mixed kernel; T and the visits are in its timetable."""

    epsilon: float  # the longest leapfrog
    persistent: bool  # whether k outlives a visit (M-HMC); otherwise each visit draws a new k, which is MAHMC
    outer: int  # the update of q^O after each trajectory, 0 for none


@inlined
def draw_gaps(timetable, rng):
    """Draw gaps of total length T: shares ∝ e_i ~ Exponential(1), repeated; a random part of the first gap is used."""
    shares, gaps = timetable.shares, timetable.gaps
    visits, variables = gaps.size - 1, shares.size
    for i in range(variables):
        shares[i] = lane_exponential(rng, 0) if timetable.drawn else 1.0
    split = lane_uniform(rng, 0) if timetable.drawn else 0.5
    for j in range(visits):
        gaps[j] = shares[j % variables]
    gaps[0] *= split
    gaps[visits] = (1.0 - split) * shares[visits % variables]
    total = 0.0
    for j in range(visits + 1):
        total += gaps[j]
    for j in range(visits + 1):
        gaps[j] *= timetable.T / total


@inlined
def draw_order(order, rng):
    """Draw a random order of the variables for each lane (Fisher and Yates)."""
    for c in range(LANES):
        for j in range(order.shape[0]):
            order[j, c] = j
        for j in range(order.shape[0] - 1, 0, -1):
            other = int(lane_uniform(rng, c) * (j + 1))
            order[j, c], order[other, c] = order[other, c], order[j, c]


@inlined
def steps_in(gap, epsilon):
    """max(1, ⌈gap/ε⌉)."""
    return max(1, math.ceil(gap / epsilon))


@inlined
def step_sizes(j, forward, here, n_here, there, n_there):
    """The size of leapfrog j in each lane: gap/n for j < n, then 0; gap and n are `here` or `there` by direction."""
    return where(forward, here / n_here if j < n_here else 0.0, there / n_there if j < n_there else 0.0)


@inlined
def leapfrogs_through(target, state, forward, here, there, epsilon):
    """Leapfrogs through the gap `here` in forward lanes and `there` in the other lanes; returns U at the end.

    Lanes with fewer leapfrogs wait: their last step sizes are 0.
    """
    q, p, other, grad, scratch = state.q, state.p, state.other, state.grad, state.scratch
    n_here, n_there = steps_in(here, epsilon), steps_in(there, epsilon)
    scale = step_scale(target, other)
    size = scale * step_sizes(0, forward, here, n_here, there, n_there)
    kick_and_drift(q, p, grad, 0.5 * size, size)
    for j in range(1, max(n_here, n_there)):
        potential(target, q, other, grad, scratch)
        last = size
        size = scale * step_sizes(j, forward, here, n_here, there, n_there)
        kick_and_drift(q, p, grad, between(last, size), size)
    U = potential(target, q, other, grad, scratch)
    kick(p, grad, 0.5 * size)
    return U


@kernel
def mixed(target, state, timetable, parameters, output, chunk):
    """Run the iterations of a chunk: a trajectory of M-HMC and an update of q^O each; returns the number of iterations.

    `chunk.stop` is read before each gap. If it is set, the unfinished iteration is undone.
    """
    gaps, k, epsilon, counts = timetable.gaps, timetable.k, parameters.epsilon, output.counts
    visits, variables = gaps.size - 1, timetable.order.shape[0]
    for iteration in range(chunk.first, chunk.first + chunk.n):
        remember(state, counts)
        refresh(state.rng, state.p, 0.0)
        U = U0 = load(state.U, 0)
        E0 = U0 + kinetic(state.p)
        delta_E = splat(0.0)
        draw_gaps(timetable, state.block_rng)
        draw_order(timetable.order, state.rng)
        all_lanes = forward = U0 == U0
        if timetable.drawn:
            forward = uniform(state.rng) < 0.5
        if parameters.persistent:
            for i in range(variables):
                store(k, i, exponential(state.rng))
        leapfrogs_made = 0
        for j in range(visits + 1):
            if chunk.stop[0]:
                break
            U = leapfrogs_through(target, state, forward, gaps[j], gaps[visits - j], epsilon)
            leapfrogs_made += steps_in(gaps[j], epsilon)
            if j < visits:
                i = j % variables
                if not parameters.persistent:
                    store(k, i, exponential(state.rng))
                site = load(timetable.order, i)
                delta_U, cost, accepted = visit(target, timetable.op - 1, site, point_of(state), load(k, i))
                store(k, i, load(k, i) - cost)
                U += delta_U
                delta_E += delta_U
                count_inner(counts, timetable.op, accepted, all_lanes)
        if chunk.stop[0]:
            undo(state, counts)
            return iteration - chunk.first
        E = U + kinetic(state.p)
        finite = is_finite(E)
        accepted = (uniform(state.rng) < exp(E0 + delta_E - E)) & finite
        conclude(state, counts, U, accepted, finite, leapfrogs_made)
        update_after(target, state, parameters.outer, counts)
        record_draw(state, output.record, iteration)
    return chunk.n
