"""The parts of a page as last sent to the browser, and the parts that changed since. No Streamlit in here.

Chains and browser often share their cores, and it takes time to make and to draw a chart. So while work runs, a chart
is made again only if its size has grown by the share GROWTH; otherwise it would look the same. Each request makes at
most AT_ONCE of these charts, those that have waited longest. The other charts wait for their turn.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any
from zlib import crc32

from dashboard.figures.look import Chart
from dashboard.live.assets import LIBRARY
from dashboard.live.message import chart_message, no_chart
from dashboard.views.view import ChartRequest, View

AT_ONCE = 1
GROWTH = 0.05
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Part:
    number: int
    text: str
    content: Any


@dataclass(frozen=True)
class _CachedChart:
    number: int
    about: Hashable
    size: int
    message: bytes


class PartCache:
    """The parts and charts of one page in one tab. Each gets a new number when it changes.

    Several threads may call `changes` at the same time.
    """

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._charts: dict[str, _CachedChart] = {}
        self._gone: dict[str, int] = {}
        self._last = 0
        self._lock = Lock()

    def changes(self, view: View, since: int) -> bytes:
        """The changes after the number `since`: length of the header (uint32), header (JSON), messages of charts.

        The header contains the last number, the state of the view, the content of each changed part, the places that
        are gone, and the size of each chart's message, in the order of the messages.
        """
        with self._lock:
            self._forget_all_but(view)
            self._take_parts(view)
            self._make_charts(view)
            since = since if since <= self._last else 0  # an unknown number: send everything
            charts = {place: chart.message for place, chart in self._charts.items() if chart.number > since}
            header = {
                "last": self._last,
                "busy": view.busy,
                "faded": view.faded,
                "seconds": view.seconds,
                "mark": view.mark,
                "parts": {place: part.content for place, part in self._parts.items() if part.number > since},
                "gone": [place for place, number in self._gone.items() if number > since],
                "charts": {place: len(message) for place, message in charts.items()},
            }
        text = json.dumps(header).encode()
        return b"".join([len(text).to_bytes(4, "little"), text, *charts.values()])

    def _forget_all_but(self, view: View) -> None:
        kept = set(view.parts) | {request.place for request in view.charts}
        for place in (self._parts.keys() | self._charts.keys()) - kept:
            self._parts.pop(place, None)
            self._charts.pop(place, None)
            self._gone[place] = self._next()
        for place in self._gone.keys() & kept:
            del self._gone[place]

    def _take_parts(self, view: View) -> None:
        for place, content in view.parts.items():
            text = _json(place, content)
            if place not in self._parts or self._parts[place].text != text:
                self._parts[place] = _Part(self._next(), text, content)

    def _make_charts(self, view: View) -> None:
        """Make charts whose `about` changed at once; while work runs, only some of the charts that have grown."""
        known = {request.place for request in view.charts if self._is_known(request)}
        missing = [request for request in view.charts if request.place not in known]
        waiting = [request for request in view.charts if request.place in known and self._has_grown(request, view.live)]
        waiting.sort(key=lambda request: self._charts[request.place].number)
        chosen = missing + (waiting[:AT_ONCE] if view.live else waiting)
        rows = {request.row for request in chosen if request.row}
        places = {request.place for request in chosen}
        for request in [request for request in view.charts if request.place in places or request.row in rows]:
            made = message(request, request.make)
            self._charts[request.place] = _CachedChart(self._next(), _about(request), request.size, made)

    def _is_known(self, request: ChartRequest) -> bool:
        return request.place in self._charts and self._charts[request.place].about == _about(request)

    def _has_grown(self, request: ChartRequest, live: bool) -> bool:
        before = self._charts[request.place].size
        return request.size > before * (1.0 + GROWTH) if live else request.size != before

    def _next(self) -> int:
        self._last += 1
        return self._last


def _about(request: ChartRequest) -> Hashable:
    return request.about, request.title, request.height, request.origin


def message(request: ChartRequest, make: Callable[[], Chart]) -> bytes:
    """The chart that `make` makes, as bytes. An error in a chart must not affect the other charts."""
    subject, closer = crc32(repr(_about(request)).encode()), request.closer is not None
    about = (request.place, request.title, request.height, LIBRARY)
    more: dict[str, Any] = {"origin": request.origin, "subject": subject, "closer": closer}
    try:
        return chart_message(make(), *about, **more)
    except Exception:  # noqa: BLE001 (logged; a chart can fail in any way)
        _log.exception("The chart at %r cannot be drawn", request.place)
        return chart_message(no_chart(), *about, **more)


def _json(place: str, content: Any) -> str:
    try:
        return json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the part at {place!r} is not JSON: {error}") from error
