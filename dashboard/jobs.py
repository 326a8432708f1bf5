"""Background work. No Streamlit in here: a job is a thread that advances a run, a comparison or checks, and its result.

All runs of the process share the engine's pool of threads chunk by chunk; at most MOST_AT_ONCE jobs run at a time,
and further ones wait for a place.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np

from mahmc import Comparison, InvalidInput, Run, RunSpec
from mahmc.checks import LEVEL, Case, Checking, margins, new_cell
from mahmc.checks.two_samples import MOST_ELEMENTS
from mahmc.checks.verdicts import Round
from mahmc.targets import Target

MOST_AT_ONCE = 4
LOOKS = tuple(2**k for k in range(13))  # draws of each chain, after which a contest looks
_places = threading.BoundedSemaphore(MOST_AT_ONCE)
_numbers = count(1)
log = logging.getLogger(__name__)


class Status(StrEnum):
    WAITING = "waiting"  # for a place
    PREPARING = "preparing"  # kernels are loaded, or compiled if they never were
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


class Background:
    """Work on a thread of its own: `start` does nothing while it is under way, `stop` returns at once."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.problem = ""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether it is under way: waiting for a place, or at work."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def working(self) -> bool:
        """Whether it is under way and not asked to stop: then kernels leave off at once, statistics a little later."""
        return self.alive and not self._stop.is_set()

    @property
    def over(self) -> bool:
        """Whether there is nothing to go on with."""
        raise NotImplementedError

    def start(self) -> Self:
        """Start, or go on; nothing happens if it is under way or over."""
        with self._lock:
            if not self.alive and not self.over:
                self._stop.clear()
                self._before()
                self._thread = threading.Thread(target=self._work, name=f"job-{self.number}", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Ask it to stop; returns at once. Only flags are set, so it may be called from any thread."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> Self:
        """Until it is no longer under way."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def _work(self) -> None:
        try:
            while not _places.acquire(timeout=0.1):
                if self._stop.is_set():
                    return
            try:
                self._advance()
            finally:
                _places.release()
        except InvalidInput as error:
            self.problem = str(error)
        except MemoryError:
            self.problem = "There is not enough memory for this run: take fewer draws or chains, or a larger thinning."
        except Exception:
            log.exception("job %d failed: %r", self.number, self)
            self.problem = "Something went wrong inside the run; the server's log has the details. Please report it."
        finally:
            self._after()

    def _before(self) -> None:
        """What is to be done when it starts."""

    def _advance(self) -> None:
        """The work itself, until it is over or `_stop` is set."""
        raise NotImplementedError

    def _after(self) -> None:
        """What is to be done at the end, however it came about."""


class Job(Background):
    """One run in the background."""

    def __init__(self, spec: RunSpec, target: Target | None = None) -> None:
        super().__init__()
        self.spec = spec
        self.target = target or spec.build_target()
        self.run: Run | None = None
        self.status = Status.WAITING
        self.started_at = time.monotonic()
        self._begun = threading.Event()

    def __repr__(self) -> str:
        return f"Job({self.spec})"

    @property
    def over(self) -> bool:
        return self.status in (Status.FINISHED, Status.FAILED)

    @property
    def drawn(self) -> int:
        """Draws of each chain after the warm-up so far."""
        return max(0, self.run.done - self.spec.warmup) if self.run else 0

    def stop(self) -> None:
        super().stop()
        if self.run is not None:
            self.run.stop()

    def wait_for_first(self, seconds: float) -> None:
        """Until there are draws, or none will come; at most so long."""
        self._begun.wait(seconds)

    def _before(self) -> None:
        self.status = Status.WAITING

    def _advance(self) -> None:
        if self.run is None:
            self.status = Status.PREPARING
            self.run = Run(self.spec, self.target)
        else:
            self.status = Status.RUNNING
        chunks = iter(self.run)  # from here on a stop reaches the kernels; one that came before is seen below
        while not self._stop.is_set() and next(chunks, None):
            self.status = Status.RUNNING
            self._begun.set()

    def _after(self) -> None:
        finished = self.run is not None and self.run.finished
        self.status = Status.FAILED if self.problem else Status.FINISHED if finished else Status.STOPPED
        self._begun.set()


class Stepwise(Background):
    """Work that comes in steps, in the background; what is done stays after a stop."""

    def __init__(self, work: Comparison | Checking) -> None:
        super().__init__()
        self.work = work
        self.step: Any = None  # the last one

    @property
    def over(self) -> bool:
        return self.work.finished or bool(self.problem)

    def stop(self) -> None:
        super().stop()
        self.work.stop()

    def _advance(self) -> None:
        steps: Iterator[Any] = iter(self.work)  # from here on a stop reaches the kernels, as above
        while not self._stop.is_set() and (step := next(steps, None)):
            self._take(step)

    def _take(self, step: Any) -> None:
        self.step = step


class Comparing(Stepwise):
    """A comparison, replicate by replicate."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(comparison)
        self.comparison = comparison


class Checks(Stepwise):
    """Checks of some cells, one after the other."""

    def __init__(self, checking: Checking) -> None:
        super().__init__(checking)
        self.checking = checking

    def _take(self, step: Any) -> None:
        """Of chains that started from exact draws only what pictures show is kept: all of it would be gigabytes."""
        found = step.cell.findings[step.check]
        if isinstance(found.exhibit, Run) and found.exhibit.spec.start == "exact":
            step.cell.findings[step.check] = replace(found, exhibit=Kept.of(found.exhibit))
        super()._take(step)


class Kept(NamedTuple):
    """Draws of a run to look at, (chains, draws) by scalar: of vectors the first few elements."""

    spec: RunSpec
    values: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, run: Run) -> Kept:
        names = [name for name in run.names if "[" not in name or int(name.partition("[")[2][:-1]) < MOST_ELEMENTS]
        values = {name: run.get(name) for name in names}
        small = {np.dtype(float): np.float32, np.dtype(int): np.int16}
        return cls(run.spec, {name: np.array(x, small.get(x.dtype, x.dtype)) for name, x in values.items()})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def get(self, name: str) -> np.ndarray:
        return self.values[name]


class Contest(Background):
    """Two samplers on one target from one seed, and what the test of marginals says of each after ever more draws."""

    def __init__(self, case: Case, samplers: tuple[str, str], seed: int) -> None:
        super().__init__()
        self.cells = {sampler: new_cell(case, sampler) for sampler in samplers}
        self.seed = seed
        self.runs: dict[str, Run] = {}
        self.rounds: dict[str, dict[int, Round]] = {sampler: {} for sampler in samplers}

    @property
    def over(self) -> bool:
        return bool(self.problem) or all(len(rounds) == len(LOOKS) for rounds in self.rounds.values())

    @property
    def share(self) -> float:
        looked = sum(sum(rounds) for rounds in self.rounds.values())  # a look takes as long as there are draws
        return looked / (2 * sum(LOOKS))

    def stop(self) -> None:
        super().stop()
        for run in self.runs.values():
            run.stop()

    def _advance(self) -> None:
        for sampler in self.cells:
            if sampler not in self.runs:
                self.runs[sampler] = self._new_run(sampler)
            chunks = iter(self.runs[sampler])
            while not self._stop.is_set() and next(chunks, None):
                pass
        for draws in LOOKS:
            for sampler, run in self.runs.items():
                if self._stop.is_set() or not run.finished:
                    return
                if draws not in self.rounds[sampler]:
                    self.rounds[sampler][draws] = margins.judge(run, LEVEL, draws)

    def _new_run(self, sampler: str) -> Run:
        cell = self.cells[sampler]
        kept = tuple(quantity.name for quantity in cell.target.quantities)
        about = {"start": "exact", "chains": margins.CHAINS, "draws": LOOKS[-1], "warmup": 0, "keep": kept}
        return Run(RunSpec.of(cell.target, sampler, **about, seed=self.seed, **cell.chosen), cell.target)
