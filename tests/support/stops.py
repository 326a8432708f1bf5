"""Stops inside an iteration, after a counted number of steps: neither a clock nor another thread decides.

A kernel reads its stop flag before each step of a trajectory, and it counts the updates that it makes. Here the flag is
one byte of that counter. The counter starts at 65,536 - n, so the byte becomes one after exactly n updates, and the
kernel stops itself there, on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import numpy as np

from mahmc import Run, RunSpec
from mahmc.kernels import Counts
from mahmc.run import Block

FULL = 2**16  # the count at which the flag becomes one
FLAG = 2 if np.little_endian else 5  # the byte of the counter that is the flag


class Interrupted(Run):
    """A run that stops after each of these numbers of steps: by default after 1 step, then after 2, 3, … more.

    A step is an update inside a trajectory, so every stop falls inside a trajectory. Samplers without such updates stop
    between iterations only: for them a step is an iteration.
    """

    def __init__(self, spec: RunSpec, lengths: Iterable[int] | None = None) -> None:
        super().__init__(spec, threads=1)
        self.stops = 0
        self._lengths = iter(lengths or count(1))
        inside = spec.method.inside
        # The row that counts updates made, not those accepted.
        self._row = Counts.INNER + 2 * self.target.density.number(spec.updates[0]) - 1 if inside else Counts.LEAPFROGS
        self._per_step = 1 if inside else int(spec.values["L"])
        self._chunk = FULL

    def _advance_block(self, block: Block, goal: int) -> None:
        if self.stopped:  # another block was stopped: this one must not go on
            super()._advance_block(block, goal)
            return
        phase = 0 if block.done < self._setup.warmup else 1
        counter = block.counts[phase, self._row]
        before, start = counter[0], FULL - self._per_step * next(self._lengths)
        asked, self._stop = self._stop, counter.view(np.uint8)[FLAG : FLAG + 1]
        goal = min(goal, self._setup.end_of_phase(block.done))
        counter[0] = start
        super()._advance_block(block, goal)
        counter[0] += before - start
        self._stop = asked
        if block.done < goal:
            self.stops += 1
            self.stop()


def stopped_often(spec: RunSpec) -> Interrupted:
    """A whole run of this spec, stopped inside iterations and continued, ten times or more."""
    run = Interrupted(spec)
    while not run.finished:
        for _ in run:
            run._chunk = FULL
    assert run.stops >= 10, "too short a run to be stopped often"
    return run
