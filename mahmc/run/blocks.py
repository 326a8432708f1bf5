"""Blocks of chains, the threads that run them, and the initial values of their chains."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from mahmc.kernels import Plan, Record, State, Timetable
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.targets import Target


@dataclass
class Block:
    """LANES chains in lockstep. `counts` are separate for warm-up and draws: (phase, kind, lane)."""

    state: State
    plan: Plan | Timetable
    record: Record
    counts: np.ndarray
    done: int = 0  # iterations


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


def chains_of(block: int) -> slice:
    """The chains of a block."""
    return slice(block * LANES, (block + 1) * LANES)


def packed(target: Target, init: Mapping[str, np.ndarray], chains: int) -> tuple[np.ndarray, np.ndarray]:
    """Initial values as the rows of q and other, for whole blocks. Copies of the last chain fill the last block."""
    shapes = {q.name: (chains, q.size) if q.vector else (chains,) for q in target.density.quantities}
    if set(init) != set(shapes):
        raise InvalidInput(f"init must have a value for each of {', '.join(shapes)}, but it has {', '.join(init)}.")
    values = {name: np.asarray(init[name]) for name in shapes}
    for name, shape in shapes.items():
        if values[name].shape != shape:
            raise InvalidInput(f"init: {name} has the shape {values[name].shape}; {shape} is needed.")
        if not np.isfinite(values[name]).all():
            raise InvalidInput(f"init: {name} has values that are not finite.")
    rows = np.minimum(np.arange(-(-chains // LANES) * LANES), chains - 1)
    return target.density.pack({name: x[rows] for name, x in values.items()})
