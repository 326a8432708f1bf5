"""Background work. No Streamlit in here: a job is a thread that advances a run or a comparison, and what it left.

All runs of the process share the engine's pool of threads chunk by chunk; at most MOST_AT_ONCE jobs run at a time,
and further ones wait for a place.
"""

from __future__ import annotations

import logging
import threading
import time
from enum import StrEnum
from itertools import count
from typing import Self

from mahmc import Comparison, InvalidInput, Run, RunSpec
from mahmc.compare import Step
from mahmc.targets import Target

MOST_AT_ONCE = 4
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


class Comparing(Background):
    """A comparison in the background, replicate by replicate; those that are done stay after a stop."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison
        self.step: Step | None = None

    @property
    def over(self) -> bool:
        return self.comparison.finished or bool(self.problem)

    def stop(self) -> None:
        super().stop()
        self.comparison.stop()

    def _advance(self) -> None:
        steps = iter(self.comparison)  # from here on a stop reaches the kernels, as above
        while not self._stop.is_set() and (step := next(steps, None)):
            self.step = step
