"""A job: work on its own thread. There is one kind of job; its `Work` says what it does.

All jobs of the process share the engine's pool of threads. At most MOST_AT_ONCE jobs run at the same time; more jobs
wait.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import Any, Generic, Protocol, Self, TypeVar

from mahmc import InvalidInput

MOST_AT_ONCE = 4
_places = threading.BoundedSemaphore(MOST_AT_ONCE)
_numbers = count(1)
FAILURE = "An error in the program ended the run. The server's log has the details. Please report it."
log = logging.getLogger(__name__)


class Work(Protocol):
    """The work of a job, step by step."""

    @property
    def finished(self) -> bool:
        """Whether all work is done."""

    def steps(self) -> Generator[Any]:
        """Prepare, and return a generator that advances the work by one step at a time. It obeys `stop`."""

    def stop(self) -> None:
        """Stop soon. Any thread may call this: it only sets flags."""

    def snapshot(self) -> Any:
        """The present state of the work. Nothing in the snapshot changes later."""


R = TypeVar("R")  # the snapshot of a work
W = TypeVar("W", bound=Work)


class Status(StrEnum):
    """The state of a job."""

    WAITING = "waiting"  # for other jobs to end
    PREPARING = "preparing"  # kernels are loaded, or compiled the first time
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True)
class Snapshot(Generic[R]):
    """The state of a job at one moment."""

    number: int
    status: Status
    alive: bool  # waiting or running
    stopping: bool  # asked to stop, but still alive
    problem: str  # why the job failed, as a message
    result: R

    @property
    def working(self) -> bool:
        """Whether the job is alive and was not asked to stop."""
        return self.alive and not self.stopping


class Job(Generic[W]):
    """Work on a thread. `start` does nothing while the job is alive or over; `stop` returns at once."""

    def __init__(self, work: W) -> None:
        self.number = next(_numbers)
        self.work = work
        self.problem = ""
        self._status = Status.WAITING
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Job {self.number} of {self.work!r}"

    @property
    def status(self) -> Status:
        return self._status

    @property
    def alive(self) -> bool:
        """Whether the job is waiting or running."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def over(self) -> bool:
        """Whether the job cannot go on: it failed, or all work is done."""
        return bool(self.problem) or self.work.finished

    def start(self) -> Self:
        """Start or continue; nothing happens if the job is alive or over."""
        with self._lock:
            if not self.alive and not self.over:
                self._stop.clear()
                self._status = Status.WAITING
                self._thread = threading.Thread(target=self._run, name=f"job-{self.number}", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Ask the job to stop, and return at once. Any thread may call this: it only sets flags."""
        self._stop.set()
        self.work.stop()

    def wait(self, seconds: float | None = None) -> Self:
        """Wait until the job is not alive."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def snapshot(self) -> Snapshot[Any]:
        """The present state of the job."""
        alive = self.alive  # read first: if the job is not alive, the rest is final
        status = self._status
        return Snapshot(self.number, status, alive, self._stop.is_set(), self.problem, self.work.snapshot())

    def _run(self) -> None:
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
            self.problem = "There is not enough memory for this run. Take fewer draws or chains, or a larger thinning."
        except Exception:
            log.exception("%r failed", self)
            self.problem = FAILURE
        finally:
            finished = not self.problem and self.work.finished
            self._status = Status.FAILED if self.problem else Status.FINISHED if finished else Status.STOPPED

    def _advance(self) -> None:
        self._status = Status.PREPARING
        with closing(self.work.steps()) as steps:  # this loop sees an earlier stop, the work itself a later stop
            while not self._stop.is_set() and next(steps, None) is not None:
                self._status = Status.RUNNING
