"""The route from which browsers download files. No Streamlit in here.

A file belongs to one tab and one result, and is made on request. Its address stays the same when the page runs again,
so a click is never lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dashboard.live import feed

GONE = "This file no longer exists: its results were replaced, or the page was closed. Make it again on the page."
FAILED = "This file could not be made. The server's log has the details."
_log = logging.getLogger(__name__)


def routes(base: str) -> list[Route]:
    """The route of files, below the app's path `base` on the server."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    return [Route(f"{prefix}/live/{{token}}/{{page}}/files/{{mark}}/{{name}}", _answer)]


def _answer(request: Request) -> Response:
    """The file in pieces; 404 if it does not exist, 500 if it cannot be made. Not async, so it runs in a thread."""
    at = request.path_params
    tab = feed.find(at["token"])
    try:
        file = tab.file(at["page"], at["mark"], at["name"]) if tab is not None else None
        if file is None:
            return PlainTextResponse(GONE, status_code=404)
        pieces = file.make()
        first = next(pieces, b"")  # an error here can still change the status
    except Exception:  # noqa: BLE001 (logged; a file can fail in any way)
        _log.exception("The file %r could not be made", at["name"])
        return PlainTextResponse(FAILED, status_code=500)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(_all(first, pieces), media_type=file.media, headers=headers)


def _all(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
