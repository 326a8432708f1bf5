"""The route from which browsers fetch the content of pages. No Streamlit in here.

When Streamlit updates its elements, the browser processes the whole page. This takes longer than drawing the changes,
time that chains on the same machine could use. So a page only lays out places, and the browser fetches their content
from here.
"""

from __future__ import annotations

import logging
import secrets
from functools import partial
from math import isfinite
from typing import Any, Protocol
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dashboard.live import assets
from dashboard.live.cache import PartCache, message
from dashboard.views.view import View

Range = tuple[float, float] | None
_LONGEST_NUMBER = 15  # digits
_HEADERS = {"Content-Encoding": "identity", "Cache-Control": "no-store"}  # compression was slower
_log = logging.getLogger(__name__)


class Tab(Protocol):
    """A browser tab. Both methods raise KeyError for a page that the tab does not have."""

    def view(self, page: str) -> View:
        """The view of the page at this moment."""

    def cache(self, page: str) -> PartCache:
        """The parts of the page that the browser has; the same object at each call."""


_tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()


def register(tab: Tab) -> str:
    """Register a tab under a new token that nobody can guess. It stays registered as long as the tab exists."""
    token = secrets.token_urlsafe(16)
    _tabs[token] = tab
    return token


def restore(token: str, tab: Tab) -> None:
    """Register a tab again under its old token: its browser has returned."""
    _tabs[token] = tab


def forget(token: str) -> None:
    """Remove a tab that was closed."""
    _tabs.pop(token, None)


def find(token: str) -> Any:
    """The tab with this token, or None."""
    return _tabs.get(token)


def address(token: str, page: str) -> str:
    """The address of a page's content, relative to the app's address."""
    return f"live/{token}/{page}"


def routes(base: str) -> list[Route]:
    """All routes of the live transport, below the app's path `base` on the server."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    page = f"{prefix}/{address('{token}', '{page}')}"
    return [*assets.routes(prefix), Route(page, _answer), Route(f"{page}/closer/{{place}}", _answer_closer)]


def _answer(request: Request) -> Response:
    """200 with changes; 205 if the layout differs; 404 for an unknown tab or page; 500 if the view raises an error.

    Not async, so that Starlette runs it in a thread: a view may take time.
    """
    tab, page = _tabs.get(request.path_params["token"]), request.path_params["page"]
    if tab is None:
        return _empty(404)
    try:
        cache = tab.cache(page)
    except KeyError:
        return _empty(404)
    since = request.query_params.get("since", "")
    if not since.isdecimal() or len(since) > _LONGEST_NUMBER:
        return _empty(400)
    try:
        view = tab.view(page)
        if view.mark != request.query_params.get("mark"):
            return _empty(205)
        return Response(cache.changes(view, int(since)), headers=_HEADERS)
    except Exception:  # noqa: BLE001 (logged; a view can fail in any way)
        _log.exception("The page %r has no view", page)
        return _empty(500)


def _answer_closer(request: Request) -> Response:
    """The chart at a place, with x limited to `from` … `to`; 400 for a wrong range, 404 without such a chart."""
    tab, page = _tabs.get(request.path_params["token"]), request.path_params["page"]
    between = parsed_range(request.query_params.get("from", ""), request.query_params.get("to", ""))
    if between is None:
        return _empty(400)
    try:
        charts = tab.view(page).charts if tab is not None else ()
    except KeyError:
        return _empty(404)
    except Exception:  # noqa: BLE001 (logged; a view can fail in any way)
        _log.exception("The page %r has no view", page)
        return _empty(500)
    for chart in charts:
        if chart.place == request.path_params["place"] and chart.closer is not None:
            return Response(message(chart, partial(chart.closer, *between)), headers=_HEADERS)
    return _empty(404)


def parsed_range(first: str, last: str) -> Range:
    """The range from the first number to the last; None if the texts are not such a range."""
    try:
        low, high = float(first), float(last)
    except ValueError:
        return None
    return (low, high) if isfinite(low) and isfinite(high) and low < high else None


def _empty(status: int) -> Response:
    return Response(status_code=status, headers=_HEADERS)
