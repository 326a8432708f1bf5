"""A chart as bytes. The one module outside figures/ that knows Plotly; no Streamlit in here."""

from __future__ import annotations

import base64
from typing import Any
from zlib import crc32

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from dashboard.figures.look import Chart

CANNOT_BE_DRAWN = "This chart cannot be drawn; the server's log has the details."
_SET_ELSEWHERE = {"template", "width", "height"}  # theme and container decide


def chart_message(chart: Chart, place: str, title: str, height: int, library: str) -> bytes:
    """`chart` as the browser reads it, `height` pixels high; `library` is where the browser finds plotly.js.

    Colours come from Streamlit's theme in place of the figure's template.
    """
    words = {"alt": chart.alt, "title": title, "caption": chart.caption}
    return figure_message(chart.figure, place=place, height=height, library=library, **words)


def no_chart() -> Chart:
    """What is shown in place of a chart that raised an error."""
    hidden = {"visible": False}
    note = {"text": CANNOT_BE_DRAWN, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    figure = go.Figure(layout={"xaxis": hidden, "yaxis": hidden, "annotations": [note]})
    return Chart(figure, "", CANNOT_BE_DRAWN)


def figure_message(figure: go.Figure | dict[str, Any], **settings: Any) -> bytes:
    """Length of the header (uint32), header (JSON: figure, settings, version), arrays as raw numbers.

    Equal figures have equal versions, and the browser does not draw them again.
    """
    content = figure if isinstance(figure, dict) else figure.to_dict()
    layout = {name: value for name, value in content.get("layout", {}).items() if name not in _SET_ELSEWHERE}
    arrays = _Arrays()
    header = {"figure": arrays.taken_from({"data": content.get("data", []), "layout": layout}), **settings}
    version = crc32(b"".join(arrays.blocks), crc32(repr(header).encode()))
    text = to_json_plotly(header | {"version": version}, engine="json").encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays.blocks])


class _Arrays:
    """The number arrays of a figure, end to end. The figure keeps plotly.js's array form with start and end of each."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.size = 0

    def taken_from(self, node: Any) -> Any:
        """`node` with each array replaced by its type, shape, start and end."""
        if isinstance(node, dict):
            if isinstance(node.get("bdata"), str):
                return self._stored(_decoded(node))
            return {name: self.taken_from(value) for name, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [self.taken_from(value) for value in node]
        if isinstance(node, np.ndarray) and node.ndim and node.dtype.kind in "fiu":
            return self._stored(node)
        return node

    def _stored(self, array: np.ndarray) -> dict[str, Any]:
        block = _compact(array)
        start, self.size = self.size, self.size + block.nbytes
        self.blocks.append(block.tobytes())
        return {"dtype": block.dtype.str[1:], "shape": ",".join(map(str, block.shape)), "bdata": [start, self.size]}


def _decoded(spec: dict[str, Any]) -> np.ndarray:
    """The array behind plotly.py's {"dtype", "bdata", "shape"}."""
    flat = np.frombuffer(base64.b64decode(spec["bdata"]), dtype=spec["dtype"])
    return flat.reshape([int(length) for length in str(spec.get("shape", flat.size)).split(",")])


def _compact(array: np.ndarray) -> np.ndarray:
    """No wider than a screen shows: float32, or the integers as they are. plotly.js has no 64-bit integers: float64."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # beyond float32 is infinity, which plotly.js leaves out
            return array.astype("<f4")
    return array.astype("<f8" if array.dtype.itemsize == 8 else array.dtype.newbyteorder("<"))
