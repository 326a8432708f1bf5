"""The mixed kernel: M-HMC with Laplace momentum (Zhou 2020, with its erratum of 2021; here Sec. 3.2).

Discrete variables are visited one by one in the course of a trajectory. Each has a kinetic energy k of its own, drawn
from Exponential(1) when the trajectory begins. At a visit a value is proposed that costs −log of the
Metropolis–Hastings ratio; it is accepted if k pays for it, and then k is so much less. In other words it is MAHMC with
a uniform, e^−k, that persists from visit to visit: with k drawn anew at each of them it *is* MAHMC.

The final test is MAHMC's, exp(E₀ + ΔU − E) with ΔU the change of *U* by visits. What k lost is another sum, ΔU with the
proposals' log ratios; taking it instead is wrong wherever a proposal is not symmetric.

Whom to visit: the variables in an order that each chain draws for itself, over and over. When: V visits cut the travel
time T into V + 1 gaps, with shares of Dirichlet(1, …, 1), one for each variable, that come over and over as well; a
trajectory begins at random between two visits, so that the first gap and the last are parts of one. Read backwards both
have the same law. The chains of a block share the *unordered* pair of the gaps and the gaps read backwards, and each
draws its direction for itself, as with other schedules (`mahmc.schedules` says why). A gap takes ⌈gap/ε⌉ leapfrogs of
equal size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mahmc.compiled import inlined, kernel
from mahmc.kernels.moves import (
    conclude,
    count_inner,
    kick,
    kick_and_drift,
    kinetic,
    record,
    refresh,
    remember,
    undo,
    update_after,
)  # fmt: skip
from mahmc.lanes import LANES, exp, is_finite, load, splat, store, where
from mahmc.streams import exponential, lane_uniform, uniform
from mahmc.targets.base import potential, step_scale, visit


class Timetable(NamedTuple):
    """When and whom to visit: room for what is drawn of it in each iteration."""

    T: float
    drawn: bool  # whether gaps are drawn; else they are even, and only the first and the last are half as long
    which: int  # the target's number of the proposal, from 1
    shares: np.ndarray  # one for each variable
    gaps: np.ndarray  # visits + 1
    order: np.ndarray  # (variables, LANES): whom each lane visits first, second, …
    k: np.ndarray  # likewise: kinetic energy of the variable that is visited first, second, …

    def for_a_block(self) -> Timetable:
        """The same with room of its own: blocks run on several threads."""
        shares, gaps, order, k = (np.empty_like(room) for room in (self.shares, self.gaps, self.order, self.k))
        return self._replace(shares=shares, gaps=gaps, order=order, k=k)


@inlined
def draw_gaps(timetable, rng):
    """Gaps of total length T: an exponential for each variable over their sum, the first cut at random."""
    shares, gaps = timetable.shares, timetable.gaps
    visits, variables = gaps.size - 1, shares.size
    for i in range(variables):
        shares[i] = -math.log(1.0 - lane_uniform(rng, 0)) if timetable.drawn else 1.0
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
    """A random order of the variables, in each lane its own (Fisher and Yates)."""
    for c in range(LANES):
        for j in range(order.shape[0]):
            order[j, c] = j
        for j in range(order.shape[0] - 1, 0, -1):
            other = int(lane_uniform(rng, c) * (j + 1))
            order[j, c], order[other, c] = order[other, c], order[j, c]


@inlined
def steps_in(gap, epsilon):
    """⌈gap/ε⌉, and at least one."""
    return max(1, math.ceil(gap / epsilon))


@inlined
def step_sizes(j, forward, here, n_here, there, n_there):
    """By lane, the size of leapfrog j in a gap: n of equal size, and none after them."""
    return where(forward, here / n_here if j < n_here else 0.0, there / n_there if j < n_there else 0.0)


@inlined
def leapfrogs_through(target, state, forward, here, there, epsilon):
    """Leapfrogs through the gap `here` in forward lanes and `there` in the others; who is done waits. Returns U."""
    q, p, other, grad, scratch = state.q, state.p, state.other, state.grad, state.scratch
    n_here, n_there = steps_in(here, epsilon), steps_in(there, epsilon)
    scale = step_scale(target, other)
    size = scale * step_sizes(0, forward, here, n_here, there, n_there)
    kick_and_drift(q, p, grad, 0.5 * size, size)
    for j in range(1, max(n_here, n_there)):
        potential(target, q, other, grad, scratch)
        last = size
        size = scale * step_sizes(j, forward, here, n_here, there, n_there)
        kick_and_drift(q, p, grad, 0.5 * (last + size), size)
    U = potential(target, q, other, grad, scratch)
    kick(p, grad, 0.5 * size)
    return U


@kernel
def mixed(target, state, timetable, persistent, outer, epsilon, counts, out, first, n, stop):
    """Run iterations first … first + n − 1 of M-HMC; returns how many were done.

    `persistent` is how it should be; without it k is drawn anew at each visit, which is MAHMC. `outer` and `stop` are
    those of the trajectory kernel.
    """
    gaps, k = timetable.gaps, timetable.k
    visits, variables = gaps.size - 1, timetable.order.shape[0]
    for iteration in range(first, first + n):
        remember(state, counts)
        refresh(state.rng, state.p, 0.0)
        U = U0 = load(state.U, 0)
        E0 = U0 + kinetic(state.p)
        delta_E = splat(0.0)
        draw_gaps(timetable, state.block_rng)
        draw_order(timetable.order, state.rng)
        everyone = forward = U0 == U0
        if timetable.drawn:
            forward = uniform(state.rng) < 0.5
        if persistent:
            for i in range(variables):
                store(k, i, exponential(state.rng))
        made = 0
        for j in range(visits + 1):
            if stop[0]:
                break
            U = leapfrogs_through(target, state, forward, gaps[j], gaps[visits - j], epsilon)
            made += steps_in(gaps[j], epsilon)
            if j < visits:
                i = j % variables
                if not persistent:
                    store(k, i, exponential(state.rng))
                delta_U, cost, accepted = visit(
                    target, timetable.which - 1, load(timetable.order, i), state.q, state.other, state.grad, state.rng,
                    load(k, i),
                )  # fmt: skip
                store(k, i, load(k, i) - cost)
                U += delta_U
                delta_E += delta_U
                count_inner(counts, timetable.which, accepted, everyone)
        if stop[0]:
            undo(state, counts)
            return iteration - first
        E = U + kinetic(state.p)
        finite = is_finite(E)
        accepted = (uniform(state.rng) < exp(E0 + delta_E - E)) & finite
        conclude(state, accepted, finite, U, U0, made, counts)
        update_after(target, state, outer, counts)
        record(state, out, iteration)
    return n
