"""A few earlier states of a block, from which a run can be made again without its first iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.kernels import Plan, State, Timetable, follow_pairs
from mahmc.lanes import LANES
from mahmc.run.blocks import Block, Setup
from mahmc.streams import Purpose, Seeds, seeded

BYTES_PER_DRAW, FEWEST_BYTES = 1, 1_000_000  # of the checkpoints of all blocks
SHORTEST = 64  # iterations between two checkpoints


class Checkpoint(NamedTuple):
    """The state of a block before an iteration, as rows of words: the rows of `_parts` below each other."""

    iteration: int
    rows: np.ndarray


class Checkpoints:
    """The checkpoints of one block. Their distance grows with the run, so their number has a bound."""

    def __init__(self, kept: list[Checkpoint] | None = None) -> None:
        self.kept = kept or []

    def offer(self, block: Block, most: int) -> None:
        """Keep the present state if the last checkpoint is far enough behind; beyond `most`, drop every second one."""
        last = self.kept[-1].iteration if self.kept else 0
        if most == 0 or block.done - last < max(SHORTEST, block.done // most):
            return
        kept = [*self.kept, Checkpoint(block.done, rows_of(block.state))]
        self.kept = kept if len(kept) <= most else kept[1::2]  # a new list: another thread may read the old list

    def before(self, iteration: int) -> Checkpoint | None:
        """The nearest checkpoint at or before an iteration, or None."""
        return max((c for c in self.kept if c.iteration <= iteration), default=None, key=lambda c: c.iteration)


def most_checkpoints(setup: Setup, blocks: list[Block]) -> int:
    """The number of checkpoints of each block."""
    allowed = max(FEWEST_BYTES, BYTES_PER_DRAW * setup.spec.chains * setup.spec.slots)
    return allowed // (len(blocks) * sum(part.nbytes for part in _parts(blocks[0].state)))


def rows_of(state: State) -> np.ndarray:
    """A copy of all that the next iteration needs, as words of shape (rows, LANES)."""
    rows: np.ndarray = np.concatenate([part.view(np.uint64) for part in _parts(state)])
    return rows


def block_before(setup: Setup, number: int, iteration: int, found: Checkpoint | None) -> Block:
    """The block in the state before an iteration: made anew, and advanced from the checkpoint or from its start."""
    block = setup.block(number, Seeds(setup.spec.seed, number + 1), setup.nothing_recorded)
    if found is not None:
        begin = 0
        for part in _parts(block.state):
            part.view(np.uint64)[:] = found.rows[begin : begin + len(part)]
            begin += len(part)
        block.done = found.iteration
        _follow(block.plan, setup.spec.seed, number, found.iteration)
    stop = np.zeros(1, np.uint8)
    while block.done < iteration:
        setup.advance(block, iteration, stop)
    return block


def _parts(state: State) -> tuple[np.ndarray, ...]:
    return state.stack, state.grad, state.rng, state.block_rng


def _follow(plan: Plan | Timetable, seed: int, number: int, iterations: int) -> None:
    """Draw the pairs {D, D⁻¹} again that the block has before this iteration. This takes no trajectories."""
    if isinstance(plan, Plan) and plan.law.steps > 0:
        follow_pairs(plan, seeded(seed, number, Purpose.SHARED), iterations)


def rows_in_checkpoint(state: State) -> tuple[int, int]:
    """The shape of the rows of a checkpoint."""
    return sum(len(part) for part in _parts(state)), LANES
