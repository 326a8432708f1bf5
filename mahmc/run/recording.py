"""The memory that holds draws, and how much of it a run needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mahmc.kernels import Record
from mahmc.numerals import rounded_down, rounded_up
from mahmc.parameters import InvalidInput
from mahmc.spec import RunSpec
from mahmc.targets import Target

MEMORY_SHARE = 0.5  # of the free memory; diagnostics need memory as well


class Columns(NamedTuple):
    """The recorded rows of the state, and the columns of each quantity: (name, discrete, columns)."""

    real_rows: np.ndarray
    discrete_rows: np.ndarray
    quantities: tuple[tuple[str, bool, int | slice], ...]
    whole: np.dtype  # the smallest type for all discrete values


class Recording:
    """The draws of all chains, warm-up first. Real and whole numbers are separate, each (chains, draws, columns)."""

    def __init__(self, spec: RunSpec, target: Target) -> None:
        self.columns = _columns(spec, target)
        self.thin = spec.thin
        _refuse_if_too_large(spec, self.columns)
        shape = (spec.chains, spec.slots)
        self.reals = np.zeros((*shape, len(self.columns.real_rows)))
        self.discretes = np.zeros((*shape, len(self.columns.discrete_rows)), self.columns.whole)

    def of(self, chains: slice) -> Record:
        """The part of the memory for these chains, in the form that a kernel takes."""
        columns = self.columns
        return Record(
            self.reals[chains], columns.real_rows, self.discretes[chains], columns.discrete_rows, self.thin
        )  # fmt: skip

    def fill(self, reals: np.ndarray, discretes: np.ndarray) -> None:
        """Copy the first draws from another recording."""
        self.reals[:, : reals.shape[1]] = reals
        self.discretes[:, : discretes.shape[1]] = discretes

    def first(self, draws: int) -> tuple[np.ndarray, np.ndarray]:
        """The first draws, real and whole numbers."""
        return self.reals[:, :draws], self.discretes[:, :draws]

    def quantities(self, begin: int, end: int) -> dict[str, np.ndarray]:
        """The draws from `begin` to `end` by quantity, as views."""
        arrays: dict[bool, np.ndarray] = {True: self.discretes, False: self.reals}
        return {name: arrays[discrete][:, begin:end, columns] for name, discrete, columns in self.columns.quantities}


def nothing_recorded(spec: RunSpec, target: Target) -> Record:
    """A record without chains, of the same types as the records of a run."""
    columns = _columns(spec, target)
    reals = np.zeros((0, 0, len(columns.real_rows)))
    discretes = np.zeros((0, 0, len(columns.discrete_rows)), columns.whole)
    return Record(reals, columns.real_rows, discretes, columns.discrete_rows, spec.thin)


def memory_needed(spec: RunSpec, target: Target) -> int:
    """The memory that the draws of a run need, in bytes.

    Parameters
    ----------
    spec
        The settings of the run.
    target
        The target of the run, built.

    Returns
    -------
    int
        Bytes of all draws, including the warm-up.

    Examples
    --------
    >>> mahmc.run.memory_needed(mahmc.RunSpec.of("gmm", "hmc", draws=1_000, warmup=0), mahmc.targets.gmm())
    272000
    """
    return _bytes_per_slot(spec, _columns(spec, target)) * spec.slots


def free_memory() -> int:
    """Free memory in bytes, as the system reports it."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return 4 * 2**30


def _columns(spec: RunSpec, target: Target) -> Columns:
    energy = target.density.dim + target.density.n_other
    places = {q.name: (q.discrete, q.first + (target.density.dim if q.source == "other" else 0), q.size, q.vector)
              for q in target.density.quantities}  # fmt: skip
    places |= {
        "energy": (False, energy, 1, False),
        "momentum": (False, energy + 1, target.density.dim, True),
        "slice": (False, energy + 1 + target.density.dim, 1, False),
    }
    rows: dict[bool, list[int]] = {True: [], False: []}
    quantities: list[tuple[str, bool, int | slice]] = []
    for name in spec.keep:
        discrete, first, size, vector = places[name]
        begin = len(rows[discrete])
        rows[discrete] += range(first, first + size)
        quantities.append((name, discrete, slice(begin, begin + size) if vector else begin))
    values = [value for q in target.density.quantities if q.name in spec.keep for value in q.values]
    whole = next(t for t in (np.int8, np.int16, np.int32) if _fit(values, np.iinfo(t)))
    return Columns(np.array(rows[False], np.int64), np.array(rows[True], np.int64), tuple(quantities), np.dtype(whole))


def _fit(values: Sequence[int], limits: np.iinfo) -> bool:
    return all(limits.min <= value <= limits.max for value in values)


def _bytes_per_slot(spec: RunSpec, columns: Columns) -> int:
    return spec.chains * (8 * len(columns.real_rows) + columns.whole.itemsize * len(columns.discrete_rows))


def _refuse_if_too_large(spec: RunSpec, columns: Columns) -> None:
    per_slot = _bytes_per_slot(spec, columns)
    needed, allowed = per_slot * spec.slots, int(free_memory() * MEMORY_SHARE)
    if needed > allowed:
        fits = max(1, allowed // per_slot)
        raise InvalidInput(
            f"draws = {spec.draws} on {spec.chains} chains take {rounded_up(needed / 2**30)} GiB; "
            f"{rounded_down(allowed / 2**30)} GiB may be used. Take at most {fits} draws including the warm-up, "
            "fewer chains, "
            f"thin = {-(-needed // allowed) * spec.thin} with draws divided by the same factor, or keep fewer "
            f"quantities than {', '.join(spec.keep)}."
        )
