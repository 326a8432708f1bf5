"""How fast a run draws: as fast as possible, or some draws a second; with pauses and single draws.

The pace says when the next draws are due. It never changes the draws themselves.

While somebody looks, a run at a slow pace waits until its last draws were shown: on a busy machine draws come later,
but the eye misses none.
"""

from __future__ import annotations

import math
import time
from threading import Event, Lock

FASTEST = math.inf  # draws a second: as fast as possible
TICK = 0.02  # seconds: at a high pace, draws come in groups with this distance
LATEST = 0.1  # seconds: draws that are later than this are not made up for
AWAY = 1.5  # seconds after which a person who has not looked again counts as away


class Pace:
    """The pace of one run. The run asks what is due; any thread may change the pace, and the run wakes at once."""

    def __init__(self, rate: float = FASTEST) -> None:
        self._rate = rate
        self._paused = False
        self._single = 0  # draws that are due although the run is paused
        self._due_at = time.monotonic()  # when the next draw is due
        self._seen = 0  # draws that were shown
        self._looked_at = -math.inf
        self._waits = False  # for draws to be shown
        self._lock = Lock()
        self._awake = Event()

    @property
    def rate(self) -> float:
        """Draws of each chain in a second, after the warm-up."""
        return self._rate

    @property
    def paused(self) -> bool:
        return self._paused

    # ------------------------------------------------------------------------------------- changes, from any thread

    def change(self, rate: float) -> None:
        """Take another rate, from now on."""
        with self._lock:
            if rate != self._rate:
                self._rate, self._due_at = rate, time.monotonic()
        self.wake()

    def pause(self) -> None:
        """Draw nothing more until `go_on` or `step`."""
        with self._lock:
            self._paused, self._single = True, 0
        self.wake()

    def go_on(self) -> None:
        """End a pause."""
        with self._lock:
            self._paused, self._single, self._due_at = False, 0, time.monotonic()
        self.wake()

    def step(self) -> None:
        """Make one draw of each chain, and pause."""
        with self._lock:
            self._single = self._single + 1 if self._paused else 1
            self._paused = True
        self.wake()

    def look(self, done: int) -> None:
        """Say that the draws up to this one are shown now."""
        with self._lock:
            self._seen, self._looked_at = done, time.monotonic()
        if self._rate != FASTEST:
            self.wake()

    def wake(self) -> None:
        """End the present rest: something has changed."""
        self._awake.set()

    # ---------------------------------------------------------------------------------------------- the run's side

    def due(self, done: int) -> float:
        """The number of draws to make now, after `done` draws: infinite at full speed, 0 if the run should rest."""
        with self._lock:
            if self._paused:
                return self._single
            if self._rate == FASTEST:
                return math.inf
            late = min(time.monotonic() - self._due_at, LATEST)
            self._waits = self._is_ahead(done)
            return min(math.floor(late * self._rate) + 1, self._group) if late >= 0 and not self._waits else 0

    def made(self, draws: int) -> None:
        """Count draws that were due. A run that cannot keep up does not hurry later."""
        with self._lock:
            if self._paused:
                self._single = max(0, self._single - draws)
            else:
                self._due_at = max(self._due_at + draws / self._rate, time.monotonic() - LATEST)

    def rest(self) -> None:
        """Wait until draws may be due, or until something changes."""
        with self._lock:
            due_at = self._looked_at + AWAY if self._waits else self._due_at
            seconds = None if self._paused else max(due_at - time.monotonic(), TICK)
        self._awake.wait(seconds)
        self._awake.clear()

    def _is_ahead(self, done: int) -> bool:
        """Whether the draws of a tenth of a second were made, but not shown to a person who looks."""
        looks = time.monotonic() - self._looked_at < AWAY
        return looks and done - self._seen >= self._group

    @property
    def _group(self) -> int:
        """The draws of a tenth of a second. At most this number is made and shown together."""
        return max(1, int(LATEST * self._rate))
