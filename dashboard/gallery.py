"""The live charts of a page: which of them are made anew at an update. No Streamlit in here.

Chains and browser often share their cores, and making and drawing a chart costs both. So while chains run, a chart is
made anew once there are NEWS more draws, relatively (with fewer it would look the same), and an update renews AT_ONCE
of those, the ones that have waited longest; the others stay as they are until their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Generic, TypeVar

AT_ONCE = 1
NEWS = 0.05
T = TypeVar("T")  # a chart as it is shown


@dataclass(frozen=True)
class Wanted(Generic[T]):
    """A chart to show: its key, what it is about, how many draws there are, and how to make it."""

    key: str
    about: Hashable
    draws: int
    make: Callable[[], T]


@dataclass
class _Hung(Generic[T]):
    about: Hashable
    draws: int
    made: int
    chart: T


class Gallery(Generic[T]):
    """The charts as they were last made, numbered as they were. A page and its feed may ask at the same time."""

    def __init__(self) -> None:
        self._hung: dict[str, _Hung[T]] = {}
        self._numbers = count(1)
        self._lock = Lock()

    def show(self, wanted: Sequence[Wanted[T]], live: bool) -> list[T]:
        """The charts asked for. One about something else is made at once; of those only further on, some, if live."""
        with self._lock:
            missing = [w for w in wanted if w.key not in self._hung or self._hung[w.key].about != w.about]
            waiting = [w for w in wanted if w not in missing and self._grown(w, live)]
            waiting.sort(key=lambda w: self._hung[w.key].made)
            for w in missing + (waiting[:AT_ONCE] if live else waiting):
                self._hung[w.key] = _Hung(w.about, w.draws, next(self._numbers), w.make())
            return [self._hung[w.key].chart for w in wanted]

    @property
    def last(self) -> int:
        """The number of the chart made last; 0 before the first."""
        return max((hung.made for hung in self._hung.values()), default=0)

    def since(self, number: int) -> dict[str, T]:
        """The charts made after the one of this number, by key."""
        return {key: hung.chart for key, hung in self._hung.items() if hung.made > number}

    def _grown(self, wanted: Wanted[T], live: bool) -> bool:
        before = self._hung[wanted.key].draws
        return wanted.draws > before * (1.0 + NEWS) if live else wanted.draws != before
