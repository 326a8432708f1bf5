"""Traces of a Plotly figure as calls: lines, markers, bands, error bars, texts and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.figures import look
from dashboard.figures.printed.calls import Data, Sheet
from dashboard.figures.printed.styles import DASHES, OPEN, POINT, STEPS, SYMBOLS, colour, text, without_markup

Trace = Mapping[str, Any]
PLAIN = "#444444"  # for what has no colour of its own
LINE, MARKER = 2.0, 6.0  # plotly.js's own sizes in pixels
BAR_GAP = 0.2  # plotly.js's own


def add_traces(sheet: Sheet, traces: Sequence[Trace], layout: Mapping[str, Any]) -> None:
    """Add the calls that draw the visible traces. ValueError if a trace is of a kind that no chart here has."""
    shown = [trace for trace in traces if trace.get("visible", True) is True]
    bars = [trace for trace in shown if trace["type"] == "bar"]
    before: Data | None = None
    for i, trace in enumerate(shown):
        if trace["type"] == "bar":
            _add_bars(sheet, trace, bars.index(trace), len(bars) if layout.get("barmode") == "group" else 1, layout)
        elif trace["type"] in ("scatter", "scattergl"):
            before = _add_scatter(sheet, trace, i, before)
        else:
            raise ValueError(f"a trace of type {trace['type']!r} cannot be printed")


def values(found: Any) -> np.ndarray:
    """Numbers of a figure as floats. None becomes NaN."""
    return np.asarray(look.decoded(found) if isinstance(found, dict) else found, dtype=float)


def _places(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a trace; either may be given by its first value and its step."""
    both = {axis: values(trace[axis]) for axis in ("x", "y") if trace.get(axis) is not None}
    size = next(iter(both.values())).size
    for axis in {"x", "y"} - both.keys():
        both[axis] = trace.get(f"{axis}0", 0) + trace.get(f"d{axis}", 1) * np.arange(size, dtype=float)
    return both["x"], both["y"]


def _label(trace: Trace) -> str | None:
    name = text(trace.get("name") or "")
    return name if name and trace.get("showlegend") is not False else None


# ------------------------------------------------------------------------------------------------------- scatter


def _add_scatter(sheet: Sheet, trace: Trace, number: int, before: Data | None) -> Data:
    """Add a line, markers or texts. `before` is y of the trace before, to which a band is filled."""
    name = without_markup(trace.get("name") or "") or f"line {number + 1}"
    x, y = (sheet.keep(f"{name} {axis}", found) for axis, found in zip("xy", _places(trace), strict=True))
    mode, line, label = trace.get("mode", "lines"), trace.get("line", {}), _label(trace)
    ink = colour(line.get("color", PLAIN))
    width = POINT * line.get("width", LINE)
    steps = STEPS[line.get("shape", "linear")]
    if trace.get("fill") is not None:
        other = {"tozeroy": 0.0, "tonexty": before}[trace["fill"]]
        sheet.call("fill_between", x, y, other, color=colour(trace["fillcolor"]), linewidth=0, step=steps,
                   label=None if width else label)  # fmt: skip
    if "lines" in mode and width:
        sheet.call("plot", x, y, color=ink, linewidth=width, linestyle=DASHES[line.get("dash", "solid")], label=label,
                   drawstyle=f"steps-{steps}" if steps else None, alpha=trace.get("opacity"))  # fmt: skip
        label = None
    if "markers" in mode:
        _add_markers(sheet, trace, name, ink, label, (x, y))
    if "text" in mode:
        _add_texts(sheet, trace)
    for axis in "xy":
        _add_errors(sheet, trace, axis, name, (x, y))
    return y


def _add_markers(sheet: Sheet, trace: Trace, name: str, ink: str, label: str | None, places: tuple[Data, Data]) -> None:
    """Add the markers of a trace. If points have symbols of their own, the points of each symbol are added together."""
    marker = trace.get("marker", {})
    if isinstance(marker.get("symbol", ""), str):
        sheet.call("plot", *places, linestyle="none", label=label, **_marker(marker, ink, trace))
        return
    symbols = np.asarray(marker["symbol"])
    for symbol in dict.fromkeys(symbols.tolist()):
        chosen = symbols == symbol
        of_symbol = _of_point(marker, int(np.argmax(chosen)))
        at = [sheet.keep(f"{name} {symbol} {axis}", found[chosen])
              for axis, found in zip("xy", _places(trace), strict=True)]  # fmt: skip
        sheet.call("plot", *at, linestyle="none", label=label, **_marker(of_symbol, ink, trace))


def _of_point(options: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Options for one point. An option is one value, or a list with a value for each point."""
    return {name: _of_point(value, number) if isinstance(value, dict)
            else value[number] if isinstance(value, (list, tuple)) else value
            for name, value in options.items()}  # fmt: skip


def _marker(marker: Mapping[str, Any], ink: str, trace: Trace) -> dict[str, Any]:
    """Options for markers."""
    symbol, edge = marker.get("symbol", "circle"), marker.get("line", {})
    face = colour(marker.get("color", ink))
    is_line = symbol.startswith("line-") or symbol.endswith(OPEN)
    return {
        "marker": SYMBOLS[symbol.removesuffix(OPEN)], "markersize": POINT * marker.get("size", MARKER),
        "markerfacecolor": "none" if is_line else face,
        "markeredgecolor": colour(edge.get("color", face)), "alpha": marker.get("opacity", trace.get("opacity")),
        "markeredgewidth": POINT * edge.get("width", LINE if is_line else 0),
    }  # fmt: skip


def _add_texts(sheet: Sheet, trace: Trace) -> None:
    """Add a text for each point."""
    across, along = {"left": ("right", -1), "right": ("left", 1)}, {"top": ("bottom", 1), "bottom": ("top", -1)}
    where = trace.get("textposition", "middle center").split()
    (ha, dx), (va, dy) = across.get(where[-1], ("center", 0)), along.get(where[0], ("center", 0))
    font = trace.get("textfont", {})
    words = trace["text"] if isinstance(trace["text"], (list, tuple, np.ndarray)) else [trace["text"]]
    for x, y, said in zip(*_places(trace), words, strict=False):
        if said:
            sheet.call("annotate", text(str(said)), (float(x), float(y)), (3.0 * dx, 3.0 * dy),
                       textcoords="offset points", ha=ha, va=va,
                       color=colour(font["color"]) if isinstance(font.get("color"), str) else None)  # fmt: skip


def _add_errors(sheet: Sheet, trace: Trace, axis: str, name: str, places: tuple[Data, Data]) -> None:
    """Add error bars in the direction of this axis, if the trace has them."""
    error = trace.get(f"error_{axis}") or {}
    if error.get("array") is None:
        return
    above = values(error["array"])
    below = above if error.get("arrayminus") is None else values(error["arrayminus"])
    kept = sheet.keep(f"{name} error", np.maximum(np.nan_to_num(np.stack([below, above])), 0.0))
    thickness = POINT * error.get("thickness", LINE)
    sheet.call("errorbar", *places, fmt="none", **{f"{axis}err": kept}, elinewidth=thickness, capthick=thickness,
               capsize=POINT * error.get("width", 4), zorder=3,
               ecolor=colour(error.get("color") or trace.get("marker", {}).get("color", PLAIN)))  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- bars


def _add_bars(sheet: Sheet, trace: Trace, number: int, group: int, layout: Mapping[str, Any]) -> None:
    """Add the bars of a trace, which is the one with this number in a group of traces side by side."""
    lying = trace.get("orientation") == "h"
    at, length = _places(trace)[::-1] if lying else _places(trace)
    apart = float(np.diff(np.unique(at)).min()) if np.unique(at).size > 1 else 1.0
    width = apart * (1.0 - layout.get("bargap", BAR_GAP)) / group
    name = without_markup(trace.get("name") or "") or "bars"
    place = sheet.keep(f"{name} place", at + width * (number - (group - 1) / 2))
    size = sheet.keep(f"{name} length", length)
    marker = trace.get("marker", {})
    face = marker.get("color", PLAIN)
    faces = colour(face) if isinstance(face, str) else [colour(one) for one in face]
    edge = marker.get("line", {})
    sheet.call("barh" if lying else "bar", place, size, width, color=faces, label=_label(trace),
               edgecolor=colour(edge["color"]) if edge.get("color") else None,
               linewidth=POINT * edge.get("width", 0), hatch=_hatch(marker))  # fmt: skip
    for axis in "xy":
        _add_errors(sheet, trace, axis, name, (size, place) if lying else (place, size))


def _hatch(marker: Mapping[str, Any]) -> str | None:
    return {"": None, "/": "////", "\\": "\\\\\\\\", ".": "...", "x": "xxx"}[marker.get("pattern", {}).get("shape", "")]
