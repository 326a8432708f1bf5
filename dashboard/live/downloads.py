"""Where browsers fetch files. No Streamlit in here.

A file belongs to one tab and to one result, and is made when somebody asks for it. Its address does not change when the
page is refreshed, so a click is never lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dashboard.live import feed

GONE = "This file is gone: its results were replaced, or the page was closed. Go back to the page and make it again."
FAILED = "This file could not be made; the server's log has the details."
_log = logging.getLogger(__name__)


def routes(base: str) -> list[Route]:
    """The route of files, below the path `base` that the server has for the app."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    return [Route(f"{prefix}/live/{{token}}/{{page}}/files/{{mark}}/{{name}}", _answer)]


def _answer(request: Request) -> Response:
    """The file, piece by piece; 404 if there is none, 500 if it cannot be made. Not async: it runs in a thread."""
    at = request.path_params
    tab = feed.find(at["token"])
    try:
        file = tab.file(at["page"], at["mark"], at["name"]) if tab is not None else None
        if file is None:
            return PlainTextResponse(GONE, status_code=404)
        pieces = file.make()
        first = next(pieces, b"")  # what goes wrong goes wrong here, while there is still a status to say so
    except Exception:
        _log.exception("the file %r could not be made", at["name"])
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
