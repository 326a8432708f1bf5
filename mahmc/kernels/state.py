"""The arguments of kernels: the state of a block, its counters, the arrays for its draws, the iterations to run."""

from __future__ import annotations

from enum import IntEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from mahmc.compiled import kernel
from mahmc.lanes import LANES, store
from mahmc.streams import Purpose, Seeds
from mahmc.targets.base import Target, potential


class SavedState(NamedTuple):
    """The state at the start of an iteration. A rejection restores this state, and so does a stop."""

    q: np.ndarray
    other: np.ndarray
    p: np.ndarray
    grad: np.ndarray
    rng: np.ndarray
    block_rng: np.ndarray
    counts: np.ndarray


class Backup(NamedTuple):
    """A copy of q^O and ∇U, to restore the lanes that do not make an update."""

    other: np.ndarray
    grad: np.ndarray


class State(NamedTuple):
    """Everything that the next iteration of a block needs. Each array has the shape (rows, LANES)."""

    stack: np.ndarray  # q, other, U, p and v in one array, so that a row can be recorded by its number
    q: np.ndarray  # q^H
    other: np.ndarray  # q^O
    U: np.ndarray  # U at (q, other)
    p: np.ndarray  # the momentum of q; kept between iterations by MALA-P and MALA-PN
    v: np.ndarray  # MALA-PN's persistent uniform on (−1, 1)
    grad: np.ndarray  # ∇U at (q, other)
    rng: np.ndarray  # the state of each lane's generator: four words
    block_rng: np.ndarray  # four more words for each lane; lane 0 draws what all lanes share
    scratch: np.ndarray  # memory for the target's arithmetic; its content has no meaning between calls
    sizes: np.ndarray  # the step size of each lane, by group of lanes: ALL_LANES, FORWARD, BACKWARD
    before: SavedState
    backup: Backup


class Counts(IntEnum):
    """Rows of the counters, with one number for each lane."""

    TRAJECTORY = 0  # accepted tests of q^H (for MAHMC: accepted trajectories)
    OUTER = 1  # accepted updates of q^O after trajectories
    NON_FINITE = 2  # rejections because the energy was not finite
    LEAPFROGS = 3  # leapfrogs made
    INNER = 4  # updates of q^O inside trajectories: for each update of the target a row "accepted" and a row "made"


def lane_rows(n: int, dtype: type = np.float64) -> np.ndarray:
    """n rows of zeros. Each row fills one cache line of the processor: access across two lines takes twice as long.

    Parameters
    ----------
    n
        The number of rows.
    dtype
        The type of the numbers, of 8 bytes.

    Returns
    -------
    numpy.ndarray
        Zeros of shape (n, LANES).

    Examples
    --------
    >>> mahmc.kernels.state.lane_rows(3).shape
    (3, 8)
    """
    size = LANES * np.dtype(dtype).itemsize
    memory = np.zeros((n + 1) * size, np.uint8)
    begin = -memory.ctypes.data % size
    return memory[begin : begin + n * size].view(dtype).reshape(n, LANES)


def new_counts(target: Target, phases: int = 1) -> np.ndarray:
    """Counters that are zero.

    Parameters
    ----------
    target
        The target, whose updates of q^O are counted.
    phases
        The number of phases of a run that are counted separately.

    Returns
    -------
    numpy.ndarray
        Zeros of shape (phases, kinds, LANES); the kinds are those of `Counts`.

    Examples
    --------
    >>> mahmc.kernels.new_counts(mahmc.targets.build("gmm"), phases=2).shape
    (2, 12, 8)
    """
    kinds = Counts.INNER + 2 * len(target.density.updates)
    return lane_rows(phases * kinds, np.int64).reshape(phases, kinds, LANES)


class Record(NamedTuple):
    """The arrays for the draws of a block, of shape (chains, draws, columns): real and discrete values separately.

    `real_rows` and `discrete_rows` contain, for each column, the number of the row of `State.stack` that is recorded.
    """

    reals: np.ndarray
    real_rows: np.ndarray
    discretes: np.ndarray
    discrete_rows: np.ndarray
    thin: int  # every thin-th iteration is recorded


class Output(NamedTuple):
    """The draws and counters that a kernel writes."""

    record: Record
    counts: np.ndarray  # (kind, lane), see `Counts`


class Chunk(NamedTuple):
    """The iterations that one call of a kernel runs: first … first + n − 1, or fewer if `stop[0]` is set."""

    first: int
    n: int
    stop: np.ndarray


def new_state(target: Target, q: np.ndarray, other: np.ndarray, seeds: Seeds, block: int) -> State:
    """The state of LANES chains at given starts.

    All arrays are views of one array: allocating each array separately took longer than a few iterations.

    Parameters
    ----------
    target
        The target. Its U and ∇U are evaluated at the starts.
    q, other
        The starts, of shapes (LANES, dim) and (LANES, n_other).
    seeds
        The random numbers of the run.
    block
        The number of the block in `seeds`.

    Returns
    -------
    State
        The state before the first iteration, with momenta p ~ N(0, I) and v uniform on (−1, 1).

    Examples
    --------
    >>> target, seeds = mahmc.targets.build("mdc", n_w=3), mahmc.streams.Seeds(seed=7)
    >>> state = mahmc.kernels.new_state(target, np.zeros((8, 2)), np.zeros((8, 4)), seeds, block=0)
    >>> state.U.shape, state.grad.shape
    ((1, 8), (2, 8))
    """
    dim, n_other, kinds = target.density.dim, target.density.n_other, Counts.INNER + 2 * len(target.density.updates)
    numbers = (
        dim, n_other, 1, dim, 1, dim, 4, 4, target.density.n_scratch, 3,
        dim, n_other, dim, dim, 4, 4, kinds,  # before
        n_other, dim,  # backup
    )  # fmt: skip
    ends = [0, *accumulate(numbers)]
    memory = lane_rows(ends[-1])
    rows = [memory[begin:end] for begin, end in pairwise(ends)]
    q_rows, other_rows, U, p, v, grad, rng, block_rng, scratch, sizes = rows[:10]
    rng, block_rng = rng.view(np.uint64), block_rng.view(np.uint64)
    q_rows[:], other_rows[:] = q.T, other.T
    refreshed = seeds.generator(block, Purpose.MOMENTA)
    p[:], v[:] = refreshed.standard_normal(p.shape), refreshed.uniform(-1.0, 1.0, v.shape)
    rng[:], block_rng[:] = seeds.lanes(block, Purpose.CHAINS), seeds.lanes(block, Purpose.SHARED)
    words = (rows[14].view(np.uint64), rows[15].view(np.uint64), rows[16].view(np.int64))
    before, backup = SavedState._make([*rows[10:14], *words]), Backup._make(rows[17:])
    state = State(memory[: ends[5]], q_rows, other_rows, U, p, v, grad, rng, block_rng, scratch, sizes, before, backup)
    evaluate(target.density.data, state)
    return state


def energies(target: Target, q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """U(q^H, q^O) at n states.

    Parameters
    ----------
    target
        The target whose U is evaluated.
    q, other
        The states, of shapes (n, dim) and (n, n_other), as `target.pack` gives them.

    Returns
    -------
    numpy.ndarray
        U at each state, of shape (n,).

    Examples
    --------
    >>> mdc = mahmc.targets.build("mdc", n_w=1)
    >>> mahmc.kernels.energies(mdc, np.zeros((1, 2)), np.zeros((1, 2))).round(4).tolist()  # log 2
    [0.6931]
    """
    padding = -len(q) % LANES
    q, other = (np.pad(rows, ((0, padding), (0, 0)), mode="edge") for rows in (q, other))
    U = np.empty(len(q))
    evaluate_all(target.density.data, new_state(target, q[:LANES], other[:LANES], Seeds(0), 0), q, other, U)
    return U[: len(q) - padding]


@kernel
def evaluate_all(target, state, q, other, U):
    """U[i] ← U(q[i], other[i]) for states of shapes (n, dim) and (n, n_other), where n is a multiple of LANES."""
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
    """state.U ← U(q, other) and state.grad ← ∇U(q, other)."""
    store(state.U, 0, potential(target, state.q, state.other, state.grad, state.scratch))
