"""What a page shows at one moment, as plain data: words, tables and requests for charts. No Streamlit in here.

A function that changes nothing makes the view of settings and a snapshot. The page lays out a place for each part of
the view. The live transport fills the places, and updates them while work runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

from dashboard.figures.look import Chart

HEIGHT = 320  # pixels of a chart, by default
SECONDS = 0.4  # between two requests of the browser while work runs
AT_A_PACE = 0.06  # the same while a run draws at a slow pace, so that people see each draw
SOON = 0.1  # between two requests until there is something to show


class ChartRequest(NamedTuple):
    """A chart to show: its place, what determines it, how much data it has, and a function that makes it.

    A chart is made again when `about` changes, or when `size` has grown enough. `closer` makes the same chart of a
    range of x, with all there is to see in it: the browser asks for it when somebody zooms in. The charts of a `row`
    are always made together, so that their axes agree.
    """

    place: str
    about: Hashable
    size: int
    make: Callable[[], Chart]
    title: str = ""
    height: int = HEIGHT
    origin: str = ""  # the settings that its data come from, in words
    closer: Callable[[float, float], Chart] | None = None
    row: str = ""
    stem: str = "chart"  # begins the names of its files: target, sampler, seed and quantity, as "gmm-mahmc-seed0-q"


class Tile(NamedTuple):
    """A number with its label. `beside` is a number to compare it with."""

    label: str
    value: str
    help: str
    beside: str = ""


class Line(NamedTuple):
    """A line of text. `tone` is "", "good", "bad", "unclear" or "note"; it colours the lead if there is one."""

    text: str
    strong: bool = False
    tone: str = ""
    lead: str = ""  # the first words, emphasised
    swatch: str = ""  # a colour shown before the lead


class Remark(NamedTuple):
    """A box with text. `tone` is "info", "warning" or "error"."""

    text: str
    tone: str = "warning"


@dataclass(frozen=True)
class View:
    """Everything that a page shows at one moment."""

    parts: Mapping[str, Any] = field(default_factory=dict)  # JSON content by place; the page decides the kinds
    charts: Sequence[ChartRequest] = ()
    layout: Hashable = ()  # what needs a new run of the page if it changes: buttons, choices, places
    busy: bool = False  # whether the view will change without an event
    live: bool = False  # whether work runs now; then charts are made again in turns
    faded: bool = False  # whether the view belongs to earlier settings
    seconds: float = SECONDS  # until the browser asks again, while busy

    @property
    def mark(self) -> str:
        """A checksum of the layout. When it changes, the page must run again."""
        places = sorted(self.parts), sorted(request.place for request in self.charts)
        return f"{crc32(repr((self.layout, places)).encode()):08x}"


def status(text: str, share: float | None = None, tiles: Sequence[Tile] = ()) -> dict[str, Any]:
    """Content of a status part: a line of text, a bar filled to `share` (None: no bar), and tiles."""
    return {"text": text, "share": share, "tiles": [tile._asdict() for tile in tiles]}


def lines(found: Sequence[Line]) -> list[dict[str, Any]]:
    """Content of a part with lines of text."""
    return [line._asdict() for line in found]


def remarks(found: Sequence[Remark]) -> list[dict[str, Any]]:
    """Content of a part with boxes."""
    return [remark._asdict() for remark in found]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> dict[str, Any]:
    """Content of a table part: titles of columns, cells as text, and a caption that says what the numbers are of."""
    return {"columns": list(columns), "rows": [list(row) for row in rows], "caption": caption}
