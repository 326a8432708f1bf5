"""A Plotly chart that takes new data without being rebuilt: one DOM node, one `Plotly.react` per update.

plotly.js is the file inside the installed plotly package. `components.v1.declare_component` is the public way to
let Streamlit's server hand out a folder that is not the app's own, so it serves plotly's folder over plain HTTP; the
chart itself is a components-v2 component. A page fetches the library once, however many charts it has, and its address
carries the version, so that the browser's stored copy is used after a reload: no CDN, no copy in the repository,
nothing of it on the websocket.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import plotly
import streamlit as st
from plotly.graph_objects import Figure
from plotly.io.json import to_json_plotly
from streamlit.components.v1 import declare_component

_NOT_THE_FIGURES = {"template", "width", "height"}  # theme and container decide

_mount = st.components.v2.component(
    "mahmc_live_chart",
    html="""<div class="live-chart-title"></div>
            <div class="live-chart" role="img"></div>
            <p class="live-chart-caption"></p>""",
    css=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,  # plotly.js puts its style sheet into the document's head, out of a shadow root's reach
)


class LiveChart(NamedTuple):
    """A figure as it is sent. Made once, it may be shown at many refreshes of a page."""

    message: bytes

    @staticmethod
    def of(
        figure: Figure | dict[str, Any],
        *,
        height: int = 320,
        alt: str = "",
        title: str = "",
        caption: str = "",
        place: str = "",
    ) -> LiveChart:
        """`figure`, as wide as its container and `height` pixels high; `alt` says what it shows.

        Colours come from Streamlit's theme in place of the figure's template, width and height from here. Title and
        caption are part of it: as elements of their own the page would refresh them at every update. By its `place` a
        feed finds it on the page.
        """
        words = {"alt": alt, "title": title, "caption": caption}
        return LiveChart(payload(figure, height=height, place=place, library=_library(), **words))

    def show(self, key: str) -> None:
        """Draw it; with the same `key` again, update what is there.

        What the user zoomed, panned or hid in the legend stays, as long as `layout.uirevision` does.
        """
        _mount(key=key, data=self.message)


def payload(figure: Figure | dict[str, Any], **settings: Any) -> bytes:
    """What is sent: length of the header (uint32), header (JSON: figure, settings, version), arrays as raw numbers.

    Equal figures have equal versions, and the browser does not draw them again.
    """
    content = figure if isinstance(figure, dict) else figure.to_dict()
    layout = {name: value for name, value in content.get("layout", {}).items() if name not in _NOT_THE_FIGURES}
    arrays = _Arrays()
    header = {"figure": arrays.taken_from({"data": content.get("data", []), "layout": layout}), **settings}
    version = crc32(b"".join(arrays.blocks), crc32(repr(header).encode()))
    text = to_json_plotly(header | {"version": version}, engine="json").encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays.blocks])


class _Arrays:
    """The number arrays of a figure, end to end; the figure keeps plotly.js's array form with their place in it."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.size = 0

    def taken_from(self, node: Any) -> Any:
        """`node` with each array replaced by its type, shape and place."""
        if isinstance(node, dict):
            if isinstance(node.get("bdata"), str):
                return self._placed(_decoded(node))
            return {name: self.taken_from(value) for name, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [self.taken_from(value) for value in node]
        if isinstance(node, np.ndarray) and node.ndim and node.dtype.kind in "fiu":
            return self._placed(node)
        return node

    def _placed(self, array: np.ndarray) -> dict[str, Any]:
        block = _compact(array)
        start, self.size = self.size, self.size + block.nbytes
        self.blocks.append(block.tobytes())
        return {"dtype": block.dtype.str[1:], "shape": ",".join(map(str, block.shape)), "bdata": [start, self.size]}


def _decoded(spec: dict[str, Any]) -> np.ndarray:
    """The array behind plotly.py's {"dtype", "bdata", "shape"}."""
    flat = np.frombuffer(base64.b64decode(spec["bdata"]), dtype=spec["dtype"])
    return flat.reshape([int(length) for length in str(spec.get("shape", flat.size)).split(",")])


def _compact(array: np.ndarray) -> np.ndarray:
    """No wider than a screen shows: float32, or the integers as they are. plotly.js has no 64-bit ones: float64."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # beyond float32 is infinity, which plotly.js leaves out
            return array.astype("<f4")
    return array.astype("<f8" if array.dtype.itemsize == 8 else array.dtype.newbyteorder("<"))


@cache
def _library() -> str:
    """Register plotly's folder with the server; the address of plotly.js in it, relative to the app's."""
    folder = Path(plotly.__file__).parent / "package_data"
    served = declare_component("plotly", path=folder)
    return f"component/{served.name}/plotly.min.js?v={plotly.__version__}"
