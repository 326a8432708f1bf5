"""A job: work on a thread of its own. There is one kind of job; what it does is its `Work`.

All jobs of the process share the engine's pool of threads chunk by chunk; at most MOST_AT_ONCE run at a time, and
further ones wait for a place.
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
log = logging.getLogger(__name__)


class Work(Protocol):
    """What a job does, step by step."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""

    def steps(self) -> Generator[Any]:
        """Prepare, and return what advances the work by a step each time. From the return on, `stop` is heard."""

    def stop(self) -> None:
        """Leave off at once. Called from any thread: sets flags only."""

    def snapshot(self) -> Any:
        """What is known now; nothing in it changes later."""


R = TypeVar("R")  # what is known of a work
W = TypeVar("W", bound=Work)


class Status(StrEnum):
    WAITING = "waiting"  # for a place
    PREPARING = "preparing"  # kernels are loaded, or compiled if they never were
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True)
class Snapshot(Generic[R]):
    """What is known of a job at one moment."""

    number: int
    status: Status
    alive: bool  # under way: waiting for a place, or at work
    stopping: bool  # under way, and asked to stop
    problem: str  # why it failed, in words for people
    result: R

    @property
    def working(self) -> bool:
        """Under way and not asked to stop: kernels leave off at once, statistics a little later."""
        return self.alive and not self.stopping


class Job(Generic[W]):
    """`start` does nothing while the job is under way or over, `stop` returns at once."""

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
        """Whether it is under way: waiting for a place, or at work."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def over(self) -> bool:
        """Whether there is nothing to go on with."""
        return bool(self.problem) or self.work.finished

    def start(self) -> Self:
        """Start, or go on; nothing happens if it is under way or over."""
        with self._lock:
            if not self.alive and not self.over:
                self._stop.clear()
                self._status = Status.WAITING
                self._thread = threading.Thread(target=self._run, name=f"job-{self.number}", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Ask it to stop; returns at once. Only flags are set, so it may be called from any thread."""
        self._stop.set()
        self.work.stop()

    def wait(self, seconds: float | None = None) -> Self:
        """Until it is no longer under way."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def snapshot(self) -> Snapshot[Any]:
        """What is known now."""
        alive = self.alive  # first: if it is not under way, the rest is final
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
            self.problem = "There is not enough memory for this run: take fewer draws or chains, or a larger thinning."
        except Exception:
            log.exception("%r failed", self)
            self.problem = "Something went wrong inside the run; the server's log has the details. Please report it."
        finally:
            finished = not self.problem and self.work.finished
            self._status = Status.FAILED if self.problem else Status.FINISHED if finished else Status.STOPPED

    def _advance(self) -> None:
        self._status = Status.PREPARING
        with closing(self.work.steps()) as steps:  # a stop from before is seen here, a later one by the work itself
            while not self._stop.is_set() and next(steps, None) is not None:
                self._status = Status.RUNNING
