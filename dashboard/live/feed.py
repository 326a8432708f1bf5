"""Where browsers fetch what pages show. No Streamlit in here.

A refresh of Streamlit's elements has the browser go over the whole page, which takes longer than drawing what is new:
time that chains on the same machine could use. So a page only lays out places, and its content is fetched from here.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any, Protocol
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dashboard.live import assets
from dashboard.live.cache import PartCache
from dashboard.views.view import View

_LONGEST_NUMBER = 15  # digits
_HEADERS = {"Content-Encoding": "identity", "Cache-Control": "no-store"}  # compressing took longer than the rest
_log = logging.getLogger(__name__)


class Tab(Protocol):
    """One browser tab. Both methods raise KeyError for a page that the tab does not have."""

    def view(self, page: str) -> View:
        """What the page shows now."""

    def cache(self, page: str) -> PartCache:
        """What the browser has of the page; the same object at each call."""


_tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()


def register(tab: Tab) -> str:
    """A token that nobody can guess; with it the tab is found for as long as the tab exists."""
    token = secrets.token_urlsafe(16)
    _tabs[token] = tab
    return token


def restore(token: str, tab: Tab) -> None:
    """Have a tab found again by the token that it had: its browser has come back."""
    _tabs[token] = tab


def forget(token: str) -> None:
    """The tab was closed: it is not found any more."""
    _tabs.pop(token, None)


def find(token: str) -> Any:
    """The tab with this token, or None."""
    return _tabs.get(token)


def address(token: str, page: str) -> str:
    """Where a page's content is, relative to the app's address."""
    return f"live/{token}/{page}"


def routes(base: str) -> list[Route]:
    """All routes of the live transport, below the path `base` that the server has for the app."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    return [*assets.routes(prefix), Route(f"{prefix}/{address('{token}', '{page}')}", _answer)]


def _answer(request: Request) -> Response:
    """200 with news; 205 if the page's layout differs; 404 for an unknown tab or page; 500 if the view fails.

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
        return Response(cache.news(view, int(since)), headers=_HEADERS)
    except Exception:
        _log.exception("The page %r has no view", page)
        return _empty(500)


def _empty(status: int) -> Response:
    return Response(status_code=status, headers=_HEADERS)
