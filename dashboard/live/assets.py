"""The files that every browser fetches once: the script and plotly.js. No Streamlit in here.

Their names change with their content, so a browser may keep them forever. The script joins the files of browser/ to one
module, which contains the style sheet as a text.
"""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

_BROWSER = Path(__file__).parent / "browser"
_SCRIPTS = (
    "dom", "files", "save", "chart", "status", "words", "table", "matrix", "moving", "player", "keys", "link", "part",
    "address", "reader", "entry",
)  # fmt: skip
_STYLES = (
    "chart", "save", "status", "words", "table", "files", "matrix", "moving", "player", "keys", "link", "reader",
    "streamlit",
)  # fmt: skip
_FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}
_PLOTLY_FILE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def _joined(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((_BROWSER / f"{name}.{suffix}").read_text(encoding="utf-8") for name in names)


_MODULE = f"const STYLE = {json.dumps(_joined(_STYLES, 'css'))};\n{_joined(_SCRIPTS, 'js')}".encode()

LIBRARY = f"live/plotly-{plotly.__version__}.js"  # relative to the app's address, like all addresses here
MODULE = f"live/live-{crc32(_MODULE):08x}.js"


def routes(prefix: str) -> list[Route]:
    """The routes of these files."""
    return [Route(f"{prefix}/{LIBRARY}", _library), Route(f"{prefix}/{MODULE}", _module)]


def _library(_: Request) -> Response:
    return FileResponse(_PLOTLY_FILE, media_type="text/javascript", headers=_FOR_GOOD)


def _module(_: Request) -> Response:
    return Response(_MODULE, media_type="text/javascript", headers=_FOR_GOOD)
