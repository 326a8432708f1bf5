"""The routes from which browsers download files, and charts as figures for print. No Streamlit in here.

A file belongs to one tab and one result, and is made on request. Its address stays the same when the page runs again,
so a click is never lost. A figure is the chart that the page shows at this moment.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dashboard.figures.printed import FORMS, Drawing, drawing, printed
from dashboard.live import feed
from dashboard.views.view import ChartRequest
from mahmc.version import __version__

MADE = f"mahmc {__version__}"  # in printed figures
GONE = "This file no longer exists: its results were replaced, or the page was closed. Make it again on the page."
FAILED = "This file could not be made. The server's log has the details."
_log = logging.getLogger(__name__)


def routes(base: str) -> list[Route]:
    """The route of files, below the app's path `base` on the server."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    page = f"{prefix}/{feed.address('{token}', '{page}')}"
    return [Route(f"{page}/files/{{mark}}/{{name}}", _answer), Route(f"{page}/figure/{{place}}", _answer_figure)]


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
    return StreamingResponse(_all(first, pieces), media_type=file.media, headers=_headers(file.name))


def _headers(name: str) -> dict[str, str]:
    """The headers of a file with this name."""
    return {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }


def _all(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


# ------------------------------------------------------------------------------------------------------- figures


def _answer_figure(request: Request) -> Response:
    """The chart at a place in one of FORMS; `x` and `y` are ranges to show. 404 without such a chart or form."""
    at, asked = request.path_params, request.query_params
    tab, form = feed.find(at["token"]), FORMS.get(asked.get("form", ""))
    try:
        charts = tab.view(at["page"]).charts if tab is not None and form is not None else ()
        chart = next((chart for chart in charts if chart.place == at["place"]), None)
        if chart is None or form is None:
            return PlainTextResponse(GONE, status_code=404)
        ranges = {axis: feed.parsed_range(*asked.get(axis, "").partition(",")[::2]) for axis in "xy"}
        stem = file_stem(chart)
        made = printed(_drawn(chart, ranges), asked["form"], stem)
    except KeyError:
        return PlainTextResponse(GONE, status_code=404)
    except Exception:  # noqa: BLE001 (logged; a chart can fail in any way)
        _log.exception("The chart at %r could not be printed", at["place"])
        return PlainTextResponse(FAILED, status_code=500)
    return Response(made, media_type=form.media, headers=_headers(f"{stem}.{form.ending}"))


def _drawn(request: ChartRequest, ranges: dict[str, feed.Range]) -> Drawing:
    """The drawing of a chart. Within a range of x, long chains are drawn with every draw."""
    make = partial(request.closer, *ranges["x"]) if request.closer and ranges["x"] else request.make
    chart, title = make(), request.title or request.place.capitalize()
    return drawing(chart.figure, title, (request.origin or chart.alt, MADE), request.height, **ranges)


def file_stem(request: ChartRequest) -> str:
    """The name of a chart's files without their ending: "gmm-mahmc-seed0-q-trace"."""
    return re.sub(r"[^\w.=+]+", "-", f"{request.stem}-{request.place}").strip("-")
