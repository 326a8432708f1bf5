"""How far a run is, and a row of figures, which change several times a second: one component for all of it.

With ten st.metric the browser took as long to refresh the page's elements as to draw its charts, and st.progress
slides, which keeps it drawing between updates: time that chains on the same machine could use.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

_HERE = Path(__file__)


class Tile(NamedTuple):
    label: str
    value: str
    help: str
    simple: bool = False  # whether the simple view has it
    beside: str = ""  # what it is to be compared with


_mount = st.components.v2.component(
    "mahmc_live_status",
    html="""<p class="live-status-text" role="status"></p>
            <progress class="live-status-bar" max="1" aria-label="Progress of the run"></progress>
            <div class="live-tiles"></div>
            <p class="live-tiles-help" role="status"></p>""",
    css=_HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=_HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def said(text: str, share: float | None, tiles: Iterable[Tile]) -> dict[str, Any]:
    """A line of text, a bar filled to `share` and the tiles, as they are sent."""
    shown = [{"label": t.label, "value": t.value, "beside": t.beside, "help": t.help} for t in tiles]
    return {"text": text, "share": share, "tiles": shown}


def live_status(
    text: str, share: float | None, tiles: Iterable[Tile], key: str, feed: dict[str, Any] | None = None
) -> None:
    """Show a line of text, a bar filled to `share` and the tiles; with the same `key` again, update them.

    From a feed's address it fetches news by itself: the same, and charts made after the number `since`. Where there are
    none it has the page, or the fragment that it is in, run again.
    """
    _mount(key=key, data={**said(text, share, tiles), "feed": feed}, on_refresh_change=lambda: None)
