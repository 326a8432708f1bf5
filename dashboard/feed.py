"""News of a run for the page that shows it, fetched by the page itself. No Streamlit in here.

A refresh of Streamlit's elements has the browser go over the whole page, which takes it longer than drawing what is
new: time that chains on the same machine could use. So while chains run, the page asks here several times a second for
the status and for the charts made since, and for a refresh only where there is no such answer.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_feeds: WeakValueDictionary[str, Feed] = WeakValueDictionary()


class Feed:
    """News of one tab, for those who know its address. `tell` is given the number of the last chart that they have;

    None means that there is something which only a refresh of the page can show.
    """

    def __init__(self) -> None:
        token = secrets.token_urlsafe(16)
        self.address = f"live/{token}"
        self.tell: Callable[[int], bytes | None] = lambda since: None
        _feeds[token] = self


def news(charts: Mapping[str, bytes], **said: Any) -> bytes:
    """What is sent: length of the header (uint32), header (JSON: what is said, each chart's size by place), charts."""
    header = json.dumps({**said, "charts": {place: len(message) for place, message in charts.items()}}).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *charts.values()])


def _answer(request: Request) -> Response:
    """200 with news; 205, reset the view, if a refresh is needed; 404 for who is unknown, as after a restart."""
    feed, since = _feeds.get(request.path_params["token"]), request.query_params.get("since", "")
    if feed is None:
        return Response(status_code=404)
    if not since.isdecimal():
        return Response(status_code=400)
    told = feed.tell(int(since))
    if told is None:
        return Response(status_code=205)
    # As it is: compressing took longer than the rest.
    return Response(told, headers={"Content-Encoding": "identity", "Cache-Control": "no-store"})


def route(base: str) -> Route:
    """Where a server answers, below the path that it serves the app at."""
    return Route(f"{'/' if base else ''}{base.strip('/')}/live/{{token}}", _answer)
