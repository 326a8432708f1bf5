"""A chart as bytes. The only module outside figures/ that imports Plotly; no Streamlit in here."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from dashboard.figures.look import Chart, decoded

CANNOT_BE_DRAWN = "This chart cannot be drawn. The server's log has the details."
_LEFT_OUT = {"template", "width", "height"}  # the theme and the container set these


def chart_message(
    chart: Chart, place: str, title: str, height: int, library: str, *, origin: str = "", subject: int = 0,
    closer: bool = False,
) -> bytes:  # fmt: skip
    """A chart as the browser reads it, `height` pixels high. `library` is the address of plotly.js.

    `subject` changes when the chart shows something else. `closer` says that the browser can request a range of x.
    Streamlit's theme replaces the colours of the figure's template.
    """
    words = {"alt": chart.alt, "title": title, "origin": origin, "caption": chart.caption}
    about = {"place": place, "height": height, "library": library, "subject": subject, "closer": closer}
    return figure_message(chart.figure, **about, **words)


def no_chart() -> Chart:
    """The chart that replaces a chart with an error."""
    hidden = {"visible": False}
    note = {"text": CANNOT_BE_DRAWN, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    figure = go.Figure(layout={"xaxis": hidden, "yaxis": hidden, "annotations": [note]})
    return Chart(figure, "", CANNOT_BE_DRAWN)


def figure_message(figure: go.Figure | dict[str, Any], **settings: Any) -> bytes:
    """Length of the header (uint32), header (JSON: figure, settings, version), arrays as raw numbers.

    Equal figures have equal versions: the browser does not draw them again.
    """
    content = figure if isinstance(figure, dict) else figure.to_dict()
    layout = {name: value for name, value in content.get("layout", {}).items() if name not in _LEFT_OUT}
    arrays = _Arrays()
    header = {"figure": arrays.taken_from({"data": content.get("data", []), "layout": layout}), **settings}
    version = crc32(b"".join(arrays.blocks), crc32(repr(header).encode()))
    text = to_json_plotly(header | {"version": version}, engine="json").encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays.blocks])


class _Arrays:
    """The number arrays of a figure, joined. In the figure, the start and end of each array replace its numbers."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.size = 0

    def taken_from(self, node: Any) -> Any:
        """`node` with each array replaced by its type, shape, start and end."""
        if isinstance(node, dict):
            if isinstance(node.get("bdata"), str):
                return self._stored(decoded(node))
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


def _compact(array: np.ndarray) -> np.ndarray:
    """The array as float32, or as its own integers. plotly.js has no 64-bit integers: they become float64."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # too large for float32 becomes infinity, which plotly.js leaves out
            return array.astype("<f4")
    return array.astype("<f8" if array.dtype.itemsize == 8 else array.dtype.newbyteorder("<"))
