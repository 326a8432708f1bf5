"""Background runs. No Streamlit in here: a job is a thread that advances a Run, and what it left behind.

All runs of the process share the engine's pool of threads chunk by chunk; at most MOST_AT_ONCE jobs run at a time,
and further ones wait for a place.
"""

from __future__ import annotations

import logging
import threading
import time
from enum import StrEnum
from itertools import count

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


class Job:
    """One run in the background. `start` is idempotent; `stop` takes effect at once; `start` again goes on."""

    def __init__(self, spec: RunSpec, target: Target | None = None) -> None:
        self.number = next(_numbers)
        self.spec = spec
        self.target = target or spec.build_target()
        self.run: Run | None = None
        self.problem = ""
        self.status = Status.WAITING
        self.started_at = time.monotonic()
        self._stop = threading.Event()
        self._begun = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether it is under way: waiting for a place, preparing or running."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def drawn(self) -> int:
        """Draws of each chain after the warm-up so far."""
        return max(0, self.run.done - self.spec.warmup) if self.run else 0

    def start(self) -> Job:
        """Start, or go on; nothing happens if it is under way, finished or failed."""
        with self._lock:
            if self.alive or self.status in (Status.FINISHED, Status.FAILED):
                return self
            self._stop.clear()
            self.status = Status.WAITING
            self._thread = threading.Thread(target=self._work, name=f"job-{self.number}", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Ask it to stop; returns at once. Only flags are set, so it may be called from any thread."""
        self._stop.set()
        if self.run is not None:
            self.run.stop()

    def wait(self, seconds: float | None = None) -> Job:
        """Until it is no longer under way."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def wait_for_first(self, seconds: float) -> None:
        """Until there are draws, or none will come; at most so long."""
        self._begun.wait(seconds)

    def _work(self) -> None:
        while not _places.acquire(timeout=0.1):
            if self._stop.is_set():
                self.status = Status.STOPPED
                return
        try:
            self._advance()
        except InvalidInput as error:
            self._fail(str(error))
        except MemoryError:
            self._fail("There is not enough memory for this run: take fewer draws or chains, or a larger thinning.")
        except Exception:
            log.exception("job %d failed: %s", self.number, self.spec)
            self._fail("Something went wrong inside the run; the server's log has the details. Please report it.")
        finally:
            self._begun.set()
            _places.release()

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
        self.status = Status.FINISHED if self.run.finished else Status.STOPPED

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self.status = Status.FAILED


class Comparing:
    """A comparison in the background: a thread that advances it replicate by replicate."""

    def __init__(self, comparison: Comparison) -> None:
        self.number = next(_numbers)
        self.comparison = comparison
        self.step: Step | None = None
        self.problem = ""
        self._thread: threading.Thread | None = None
        self._stopped = False

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> Comparing:
        """Start, or go on."""
        if not self.alive:
            self._stopped = False
            self._thread = threading.Thread(target=self._work, name=f"comparing-{self.number}", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Ask it to stop; replicates that are done stay."""
        self._stopped = True
        self.comparison.stop()

    def wait(self, seconds: float | None = None) -> Comparing:
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def _work(self) -> None:
        while not _places.acquire(timeout=0.1):
            if self._stopped:
                return
        try:
            for step in self.comparison:
                self.step = step
                if self._stopped:
                    break
        except Exception as error:
            log.exception("comparison %d failed", self.number)
            known = isinstance(error, InvalidInput)
            self.problem = str(error) if known else "Something went wrong inside it; the server's log has the details."
        finally:
            _places.release()
