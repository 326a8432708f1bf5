"""A block's state, what is counted of it, and where its draws go."""

from __future__ import annotations

from enum import IntEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from mahmc.compiled import kernel
from mahmc.lanes import LANES, store
from mahmc.streams import Purpose, Seeds
from mahmc.targets.base import Target, potential


class Before(NamedTuple):
    """Room for the state that a rejection goes back to."""

    q: np.ndarray
    other: np.ndarray
    p: np.ndarray
    grad: np.ndarray
    rng: np.ndarray
    block_rng: np.ndarray
    counts: np.ndarray


class Aside(NamedTuple):
    """Room for what an update that only some lanes make must leave alone in the others."""

    other: np.ndarray
    grad: np.ndarray


class State(NamedTuple):
    """What the next iteration of a block needs; every array has shape (rows, LANES)."""

    stack: np.ndarray  # q, other, U, p and v above each other, so that any row can be recorded by its number
    q: np.ndarray  # q^H
    other: np.ndarray  # q^O
    U: np.ndarray  # U at (q, other)
    p: np.ndarray  # the momentum of q; kept between iterations by MALA-P and MALA-PN
    v: np.ndarray  # MALA-PN's persistent uniform on (−1, 1)
    grad: np.ndarray  # ∇U at (q, other)
    rng: np.ndarray  # four words a lane
    block_rng: np.ndarray  # likewise, of which lane 0 draws what all lanes share
    scratch: np.ndarray  # room for the target's arithmetic; means nothing between calls
    sizes: np.ndarray  # room for step sizes: of everyone, of lanes that go forward, of the others
    before: Before
    aside: Aside


class Counts(IntEnum):
    """Rows of the counters, each with one number a lane."""

    TRAJECTORY = 0  # accepted tests of q^H (and with MAHMC of the whole trajectory)
    OUTER = 1  # accepted updates of q^O after trajectories
    NON_FINITE = 2  # rejections because the energy was not finite
    LEAPFROGS = 3  # made
    INNER = 4  # updates of q^O inside trajectories: two rows for each of the target's updates, accepted and made


def lane_rows(n: int, dtype: type = np.float64) -> np.ndarray:
    """n rows of zeros, each a line of the processor's cache: a row across two of them would take twice as long."""
    size = LANES * np.dtype(dtype).itemsize
    room = np.zeros((n + 1) * size, np.uint8)
    begin = -room.ctypes.data % size
    return room[begin : begin + n * size].view(dtype).reshape(n, LANES)


def new_counts(target: Target, phases: int = 1) -> np.ndarray:
    """Counters at zero: (phase, kind, lane)."""
    kinds = Counts.INNER + 2 * len(target.updates)
    return lane_rows(phases * kinds, np.int64).reshape(phases, kinds, LANES)


class Record(NamedTuple):
    """Where the draws of a block go: (chains, draws, columns), real and whole numbers apart.

    A column is named by its row in the stack of q, other, U, p and v.
    """

    reals: np.ndarray
    real_rows: np.ndarray
    discretes: np.ndarray
    discrete_rows: np.ndarray
    thin: int


def new_state(target: Target, q: np.ndarray, other: np.ndarray, seeds: Seeds, block: int) -> State:
    """The state of LANES chains that start at the given (LANES, rows) values.

    All of it is in one piece of memory: asking for each part took longer than running a few iterations.
    """
    dim, n_other, kinds = target.dim, target.n_other, Counts.INNER + 2 * len(target.updates)
    numbers = (
        dim, n_other, 1, dim, 1, dim, 4, 4, target.n_scratch, 3,
        dim, n_other, dim, dim, 4, 4, kinds,  # before
        n_other, dim,  # aside
    )  # fmt: skip
    ends = [0, *accumulate(numbers)]
    room = lane_rows(ends[-1])
    rows = [room[begin:end] for begin, end in pairwise(ends)]
    q_rows, other_rows, U, p, v, grad, rng, block_rng, scratch, sizes = rows[:10]
    rng, block_rng = rng.view(np.uint64), block_rng.view(np.uint64)
    q_rows[:], other_rows[:] = q.T, other.T
    refreshed = seeds.generator(block, Purpose.MOMENTA)
    p[:], v[:] = refreshed.standard_normal(p.shape), refreshed.uniform(-1.0, 1.0, v.shape)
    rng[:], block_rng[:] = seeds.lanes(block, Purpose.CHAINS), seeds.lanes(block, Purpose.SHARED)
    words = (rows[14].view(np.uint64), rows[15].view(np.uint64), rows[16].view(np.int64))
    before, aside = Before._make([*rows[10:14], *words]), Aside._make(rows[17:])
    state = State(room[: ends[5]], q_rows, other_rows, U, p, v, grad, rng, block_rng, scratch, sizes, before, aside)
    evaluate(target.data, state)
    return state


def energies(target: Target, q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """U at each of the (n, dim) and (n, n_other) states."""
    padding = -len(q) % LANES
    q, other = (np.pad(rows, ((0, padding), (0, 0)), mode="edge") for rows in (q, other))
    U = np.empty(len(q))
    evaluate_all(target.data, new_state(target, q[:LANES], other[:LANES], Seeds(0), 0), q, other, U)
    return U[: len(q) - padding]


@kernel
def evaluate_all(target, state, q, other, U):
    """Put the energy at each of the states (n, dim) and (n, n_other) into U; n is a multiple of LANES."""
    for begin in range(0, len(q), LANES):
        for c in range(LANES):
            for i in range(q.shape[1]):
                state.q[i, c] = q[begin + c, i]
            for i in range(other.shape[1]):
                state.other[i, c] = other[begin + c, i]
        store(state.U, 0, potential(target, state.q, state.other, state.grad, state.scratch))
        for c in range(LANES):
            U[begin + c] = state.U[0, c]


@kernel
def evaluate(target, state):
    """Put U and ∇U of the block's state where they belong."""
    store(state.U, 0, potential(target, state.q, state.other, state.grad, state.scratch))
