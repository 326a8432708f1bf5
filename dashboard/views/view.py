"""What a page shows now, as plain data: words, tables and requests for charts. No Streamlit in here.

A view is made from settings and a snapshot, by a function that changes nothing. The page lays out one place for each
part; the live transport fills the places, and goes on filling them while work runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

from dashboard.figures.look import Chart

HEIGHT = 320  # pixels of a chart, by default
SECONDS = 0.4  # between two looks at work under way
SOON = 0.1  # the same, until there is something to show


class ChartRequest(NamedTuple):
    """A chart to show: where, what it is about, how much there is to draw, and how to make it.

    A chart is made again when `about` changes, or when `size` has grown enough.
    """

    place: str
    about: Hashable
    size: int
    make: Callable[[], Chart]
    title: str = ""
    height: int = HEIGHT


class Tile(NamedTuple):
    """One figure with its label. `beside` is what it is to be compared with."""

    label: str
    value: str
    help: str
    beside: str = ""


class Line(NamedTuple):
    """One line of words. `tone` is "", "good", "bad", "unclear" or "note": of the lead, where the line has one."""

    text: str
    strong: bool = False
    tone: str = ""
    lead: str = ""  # the first words, which stand out


class Remark(NamedTuple):
    """A box with words: `tone` is "info", "warning" or "error"."""

    text: str
    tone: str = "warning"


@dataclass(frozen=True)
class View:
    """Everything that a page shows of one moment."""

    parts: Mapping[str, Any] = field(default_factory=dict)  # JSON content by place; the page decides their kinds
    charts: Sequence[ChartRequest] = ()
    layout: Hashable = ()  # what only a refresh of the page can change: buttons, choices, which places there are
    busy: bool = False  # whether more will come by itself
    live: bool = False  # whether work runs now: then charts are renewed by turns
    faded: bool = False  # whether all of it belongs to earlier settings
    seconds: float = SECONDS  # until the next look, while busy

    @property
    def mark(self) -> str:
        """The layout as a short text: where it changes, the page has to be refreshed."""
        places = sorted(self.parts), sorted(request.place for request in self.charts)
        return f"{crc32(repr((self.layout, places)).encode()):08x}"


def status(text: str, share: float | None = None, tiles: Sequence[Tile] = ()) -> dict[str, Any]:
    """Content of a status part: a line of text, a bar filled to `share` (None: no bar), and tiles."""
    return {"text": text, "share": share, "tiles": [tile._asdict() for tile in tiles]}


def lines(found: Sequence[Line]) -> list[dict[str, Any]]:
    """Content of a part with lines of words."""
    return [line._asdict() for line in found]


def remarks(found: Sequence[Remark]) -> list[dict[str, Any]]:
    """Content of a part with boxes."""
    return [remark._asdict() for remark in found]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Content of a table part: titles of columns, and cells as text."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}
