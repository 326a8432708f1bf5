"""A block's state, what is counted of it, and where its draws go."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from mahmc.compiled import kernel
from mahmc.lanes import LANES, store
from mahmc.streams import seeded, source
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


def like(values: np.ndarray) -> np.ndarray:
    """Such rows with these values."""
    copy = lane_rows(len(values), values.dtype.type)
    copy[:] = values
    return copy


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


def new_state(target: Target, q: np.ndarray, other: np.ndarray, seed: int, block: int) -> State:
    """The state of LANES chains that start at the given (LANES, rows) values."""
    stack = lane_rows(2 * target.dim + target.n_other + 2)
    split = np.cumsum([target.dim, target.n_other, 1, target.dim])
    q_rows, other_rows, U, p, v = np.split(stack, split)
    q_rows[:], other_rows[:] = q.T, other.T
    refreshed = np.random.default_rng(source(seed, block, 1))
    p[:], v[:] = refreshed.standard_normal(p.shape), refreshed.uniform(-1.0, 1.0, v.shape)
    grad, scratch = lane_rows(target.dim), lane_rows(target.n_scratch)
    rng, block_rng = like(seeded(seed, block)), like(seeded(seed, block, 3))
    before = Before(
        like(q_rows), like(other_rows), like(p), like(grad), like(rng), like(block_rng), new_counts(target)[0]
    )
    aside = Aside(like(other_rows), like(grad))
    state = State(stack, q_rows, other_rows, U, p, v, grad, rng, block_rng, scratch, before, aside)
    evaluate(target.data, state)
    return state


def energies(target: Target, q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """U at each of the (n, dim) and (n, n_other) states."""
    padding = -len(q) % LANES
    q, other = (np.pad(rows, ((0, padding), (0, 0)), mode="edge") for rows in (q, other))
    blocks = range(0, len(q), LANES)
    U = [new_state(target, q[b : b + LANES], other[b : b + LANES], 0, 0).U[0] for b in blocks]
    return np.concatenate(U)[: len(q) - padding]


@kernel
def evaluate(target, state):
    """Put U and ∇U of the block's state where they belong."""
    store(state.U, 0, potential(target, state.q, state.other, state.grad, state.scratch))
