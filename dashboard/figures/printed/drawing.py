"""A Plotly figure as a drawing: calls of Matplotlib's Axes with their arrays, below a title and above the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.printed.calls import Call, Sheet
from dashboard.figures.printed.styles import DASHES, FAINT, GRID, POINT, colour, pieces, text
from dashboard.figures.printed.traces import add_traces, values

WIDTH = 6.3  # inches between the margins of A4
PIXEL = WIDTH / 640  # inches of a pixel
LETTERS = 112  # in a line of settings
LETTER = 12  # pixels of a text that says nothing else: plotly.js's own
LEGEND = 84  # letters in a row of the legend, its lines counted as letters
BELOW, ABOVE = ("x", "x domain"), ("y", "y domain")
Range = tuple[float, float] | None


@dataclass(frozen=True)
class Drawing:
    """What is drawn: title, lines of settings, height in inches, calls in their order, and arrays by name."""

    title: str
    settings: tuple[str, ...]
    height: float
    calls: tuple[Call, ...]
    data: Mapping[str, np.ndarray]

    @property
    def heading(self) -> str:
        """The title as Matplotlib writes it."""
        return fill(text(self.title), 72)

    @property
    def footer(self) -> str:
        """The settings as Matplotlib writes them."""
        return "\n".join(fill(text(line), LETTERS) for line in self.settings)


def drawing(
    figure: go.Figure, title: str, settings: Sequence[str], height: int, x: Range = None, y: Range = None
) -> Drawing:
    """The drawing of a figure of this height in pixels. `x` and `y` are the ranges to show, as the figure's by default.

    ValueError if the figure has something that cannot be printed, such as a second pair of axes.
    """
    content = figure.to_plotly_json()
    layout = content["layout"]
    if any(name[:5] in ("xaxis", "yaxis") and name[5:] for name in layout):
        raise ValueError("a figure with several pairs of axes cannot be printed")
    sheet = Sheet()
    for axis in "xy":
        _set_axis(sheet, axis, layout.get(f"{axis}axis", {}))
    for shape in layout.get("shapes", ()):
        _add_shape(sheet, shape)
    add_traces(sheet, content["data"], layout)
    for annotation in layout.get("annotations", ()):
        _add_annotation(sheet, annotation)
    for axis, chosen in (("x", x), ("y", y)):
        _set_range(sheet, axis, layout.get(f"{axis}axis", {}), chosen)
    labels = [call.options["label"] for call in sheet.calls if "label" in call.options]
    if layout.get("showlegend") and labels:
        columns = max(1, LEGEND // (6 + max(map(len, labels))))
        sheet.call("legend", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(columns, len(labels)),
                   frameon=False, borderaxespad=0.2, columnspacing=1.4)  # fmt: skip
    inches = round(PIXEL * height + 0.3 + 0.12 * len(settings), 2)
    return Drawing(title, tuple(settings), inches, tuple(sheet.calls), sheet.data)


def _set_axis(sheet: Sheet, axis: str, settings: Mapping[str, Any]) -> None:
    """Title, scale, ticks and grid of an axis."""
    if title := settings.get("title", {}).get("text"):
        sheet.call(f"set_{axis}label", text(title))
    if settings.get("type") == "log":
        sheet.call(f"set_{axis}scale", "log")
    if settings.get("tickvals") is not None:
        labels = [text(str(label)) for label in settings["ticktext"]]
        sheet.call(f"set_{axis}ticks", values(settings["tickvals"]).tolist(), labels)
        sheet.call("minorticks_off")
    elif settings.get("tickformat") == "d":
        sheet.call("locator_params", axis=axis, integer=True)
    if settings.get("showgrid") is not False:
        sheet.call("grid", True, axis=axis, color=GRID, linewidth=0.6)
    if settings.get("showticklabels") is False or settings.get("visible") is False:
        sheet.call("tick_params", axis=axis, length=0, labelbottom=axis == "y", labelleft=axis == "x")


def _set_range(sheet: Sheet, axis: str, settings: Mapping[str, Any], chosen: Range) -> None:
    """The range of an axis, last of all: a drawing would widen it. Plotly has logarithms of the ends of a log axis."""
    found = chosen or settings.get("range")
    if found is not None:
        ends = values(found)
        sheet.call(f"set_{axis}lim", *(10.0**ends if settings.get("type") == "log" else ends).tolist())
    elif settings.get("rangemode") == "tozero":
        sheet.call(f"set_{axis}lim", **{{"x": "left", "y": "bottom"}[axis]: 0.0})
    else:
        sheet.call("margins", **{axis: 0.02 if axis == "x" else 0.05})


def _add_shape(sheet: Sheet, shape: Mapping[str, Any]) -> None:
    """A line or a rectangle from side to side, or from top to bottom; or a line between two points."""
    line = shape.get("line", {})
    pen = {
        "color": colour(line.get("color", FAINT)), "linewidth": POINT * line.get("width", 2),
        "linestyle": DASHES[line.get("dash", "solid")],
    }  # fmt: skip
    across, along = shape.get("xref", "x") == BELOW[1], shape.get("yref", "y") == ABOVE[1]
    x, y = (shape["x0"], shape["x1"]), (shape["y0"], shape["y1"])
    if shape["type"] == "line":
        if across:
            sheet.call("axhline", float(y[0]), **pen)
        elif along:
            sheet.call("axvline", float(x[0]), **pen)
        else:
            sheet.call("plot", [float(end) for end in x], [float(end) for end in y], **pen)
    elif shape["type"] == "rect" and across != along:
        method, (low, high) = ("axvspan", x) if along else ("axhspan", y)
        sheet.call(method, float(low), float(high), color=colour(shape["fillcolor"]), linewidth=0, zorder=0)
    else:
        raise ValueError(f"a shape of type {shape['type']!r} cannot be printed")


def _add_annotation(sheet: Sheet, note: Mapping[str, Any]) -> None:
    """A text at a point of the data, or at a share of the width and height."""
    frame = tuple("data" if note.get(f"{axis}ref", axis) == axis else "axes fraction" for axis in "xy")
    ha, va = note.get("xanchor", "center"), note.get("yanchor", "middle")
    font = note.get("font", {})
    size, ink = POINT * font.get("size", LETTER), colour(font["color"]) if font.get("color") else None
    beside = any(place == "axes fraction" and not 0 <= note[axis] <= 1 for axis, place in zip("xy", frame, strict=True))
    for i, (words, own) in enumerate(pieces(note["text"])):
        sheet.call(
            "annotate", words, (float(note["x"]), float(note["y"])),
            (POINT * note.get("xshift", 0) + i * size, POINT * note.get("yshift", 0)),
            xycoords=frame, textcoords="offset points",
            ha={"auto": "center"}.get(ha, ha), va={"auto": "center", "middle": "center"}.get(va, va), fontsize=size,
            annotation_clip=not beside,  # outside the range that is shown, a text would take room
            color=own or ink,
        )  # fmt: skip
