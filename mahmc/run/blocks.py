"""Blocks of chains: how they begin and advance, the threads that run them, and the initial values of their chains."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral

import numpy as np

from mahmc.kernels import Chunk, Output, Plan, Record, State, Timetable, new_counts, new_state
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.run.recording import nothing_recorded
from mahmc.spec import RunSpec
from mahmc.streams import Purpose, Seeds
from mahmc.targets import Target

Rows = tuple[np.ndarray, np.ndarray]  # of q and other, a row for each chain


@dataclass
class Block:
    """LANES chains in lockstep. `counts` are separate for warm-up and draws: (phase, kind, lane)."""

    number: int
    state: State
    plan: Plan | Timetable
    record: Record
    counts: np.ndarray
    done: int = 0  # iterations


@dataclass(frozen=True)
class Setup:
    """What all blocks of a run share: how a block begins, and how it advances."""

    spec: RunSpec
    target: Target
    plan: Plan | Timetable
    starts: Rows | None  # the rows of q and other of all chains; else the target says where chains start

    @classmethod
    def of(cls, spec: RunSpec, target: Target, starts: Rows | None = None) -> Setup:
        """The setup of a run of this spec."""
        return cls(spec, target, spec.law.plan(target, spec.updates), starts)

    @cached_property
    def nothing_recorded(self) -> Record:
        """A record without chains."""
        return nothing_recorded(self.spec, self.target)

    @cached_property
    def outer(self) -> int:
        """The target's number of the update after a trajectory."""
        return self.target.density.number(self.spec.outer)

    @property
    def warmup(self) -> int:
        """The iterations of the warm-up."""
        return self.spec.warmup * self.spec.thin

    @property
    def iterations(self) -> int:
        """All iterations of a chain."""
        return self.spec.slots * self.spec.thin

    def block(self, number: int, seeds: Seeds, record: Record) -> Block:
        """The block before its first iteration."""
        chains = chains_of(number)
        if self.starts is None:
            q, other = self.target.density.pack(self._drawn_start(seeds.generator(number, Purpose.START)))
        else:
            q, other = self.starts[0][chains], self.starts[1][chains]
        state = new_state(self.target, q, other, seeds, number)
        if not np.isfinite(state.U).all():
            lane = int(np.flatnonzero(~np.isfinite(state.U[0]))[0])
            raise InvalidInput(
                f"{self.target.name} has an energy of {state.U[0, lane]} where chain {number * LANES + lane} starts. "
                "Check its data, or the initial values. A custom target defines start(self, rng), which must return a "
                "point where U is finite."
            )
        return Block(number, state, self.plan.for_a_block(), record, new_counts(self.target, phases=2))

    def advance(self, block: Block, goal: int, stop: np.ndarray) -> None:
        """Advance to `goal`, but not across the end of the warm-up, where other counts begin."""
        phase = 0 if block.done < self.warmup else 1
        n = min(goal, self.end_of_phase(block.done)) - block.done
        if n > 0:
            block.done += self.spec.method.advance(
                self.spec.method, self.outer, self.spec.values, block.plan, self.target.density.data, block.state,
                Output(block.record, block.counts[phase]), Chunk(block.done, n, stop),
            )  # fmt: skip

    def end_of_phase(self, done: int) -> int:
        """The end of the warm-up, or of the run."""
        return self.warmup if done < self.warmup else self.iterations

    def _drawn_start(self, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        """The states from which the chains of a block start."""
        if self.spec.start == "exact":
            assert self.target.truth.exact is not None  # the spec made sure
            return self.target.truth.exact(rng, LANES)
        starts = [self.target.density.start(rng) for _ in range(LANES)]
        return {name: np.array([start[name] for start in starts]) for name in starts[0]}


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """One pool for all runs of the process: they share the cores chunk by chunk."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mahmc")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """The given number of threads; by default one for each core."""
    if threads is None:
        return cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidInput(
            f"threads = {threads!r} is not allowed: a whole number of at least 1, or None for all cores."
        )
    return threads


def refuse_beyond(name: str, value: int, end: int) -> int:
    """The given number, which must be from 0 to end − 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInput(f"{name} = {value!r} is not allowed: a whole number is needed.")
    if not 0 <= value < end:
        there = f"choose a number from 0 to {end - 1}" if end > 0 else "there is none yet"
        raise InvalidInput(f"{name} = {value} is beyond the run: {there}.")
    return int(value)


def chains_of(block: int) -> slice:
    """The chains of a block."""
    return slice(block * LANES, (block + 1) * LANES)


def packed(target: Target, init: Mapping[str, np.ndarray], chains: int, argument: str = "init") -> Rows:
    """Initial values as the rows of q and other, for whole blocks. Copies of the last chain fill the last block."""
    shapes = {q.name: (chains, q.size) if q.vector else (chains,) for q in target.density.quantities}
    if set(init) != set(shapes):
        raise InvalidInput(
            f"{argument} must have a value for each of {', '.join(shapes)}, but it has {', '.join(init) or 'none'}."
        )
    values = {name: np.asarray(init[name]) for name in shapes}
    for name, shape in shapes.items():
        if values[name].shape != shape:
            raise InvalidInput(f"{argument}: {name} has the shape {values[name].shape}; {shape} is needed.")
        if not np.isfinite(values[name]).all():
            raise InvalidInput(f"{argument}: {name} has values that are not finite.")
    for q in target.density.quantities:
        if q.values and not np.isin(values[q.name], q.values).all():
            raise InvalidInput(f"{argument}: each value of {q.name} must be one of {_listed(q.values)}.")
    rows = np.minimum(np.arange(-(-chains // LANES) * LANES), chains - 1)
    return target.density.pack({name: x[rows] for name, x in values.items()})


def _listed(values: tuple[int, ...]) -> str:
    """The values in words, without the middle of a long list."""
    shown = values if len(values) <= 8 else (*values[:3], "…", values[-1])
    return ", ".join(map(str, shown))
