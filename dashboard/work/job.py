"""A job: work on its own thread. There is one kind of job; its `Work` says what it does.

All jobs of the process share the engine's pool of threads. At most MOST_AT_ONCE jobs run at the same time; more jobs
wait.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
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


@dataclass(frozen=True)
class Rest:
    """A step that only waits. Meanwhile another job may have the place. `stop` of the work must end the waiting."""

    wait: Callable[[], None]


class Work(Protocol):
    """The work of a job, step by step."""

    @property
    def finished(self) -> bool:
        """Whether all work is done."""

    def steps(self) -> Generator[Any]:
        """Prepare, and return a generator that advances the work by one step at a time. It obeys `stop`.

        A step that yields a `Rest` makes the job wait.
        """

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
        self._has_place = False
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
            if self._take_place():
                self._advance()
        except InvalidInput as error:
            self.problem = str(error)
        except MemoryError:
            self.problem = "There is not enough memory for this run. Take fewer draws or chains, or a larger thinning."
        except Exception:
            log.exception("%r failed", self)
            self.problem = FAILURE
        finally:
            self._give_place()
            finished = not self.problem and self.work.finished
            self._status = Status.FAILED if self.problem else Status.FINISHED if finished else Status.STOPPED

    def _advance(self) -> None:
        self._status = Status.PREPARING
        with closing(self.work.steps()) as steps:  # this loop sees an earlier stop, the work itself a later stop
            while not self._stop.is_set() and (step := next(steps, None)) is not None:
                self._status = Status.RUNNING
                if isinstance(step, Rest) and not self._rest(step):
                    return

    def _rest(self, rest: Rest) -> bool:
        """Wait without a place. Return whether there is a place again."""
        self._give_place()
        rest.wait()
        if _places.acquire(blocking=False):
            self._has_place = True
            return True
        self._status = Status.WAITING
        return self._take_place()

    def _take_place(self) -> bool:
        """Wait for a place. Return whether there is one: a stop ends the waiting."""
        while not self._has_place and not self._stop.is_set():
            self._has_place = _places.acquire(timeout=0.1)
        return self._has_place

    def _give_place(self) -> None:
        if self._has_place:
            self._has_place = False
            _places.release()
