"""The live transport in Streamlit: a component that is mounted once to follow a page, and once for each place.

The component's script only loads the module of assets.py, because Streamlit sends the script with each mount.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any, Literal

import streamlit as st

from dashboard.live.assets import MODULE

Kind = Literal["status", "remarks", "lines", "table", "matrix", "files", "chart", "moving", "player", "keys"]
LINK = "link"  # the place and the kind of a link

OUT_OF_REACH = (
    "This page cannot load its charts: the server's addresses below live/ cannot be reached. If the dashboard is "
    "behind a proxy, let the proxy pass on all paths below the app. Then reload the page."
)
# The app's address, which may be below a path, is the folder that contains Streamlit's static/ files.
_LOADER = f"""
const page = document.querySelector('script[src*="static/js/"]')?.src ?? new URL("/a/b/", location);
const live = import(new URL("../../{MODULE}", page)).catch(() => ({{ default: explain }}));
function explain({{ data, parentElement }}) {{
  if (data.kind === "feed") parentElement.textContent = "{OUT_OF_REACH}";
}}
export default async (component) => (await live).default(component);
"""
_mount = st.components.v2.component("mahmc_live", html='<div class="live"></div>', js=_LOADER, isolate_styles=False)
_runs = count()


def follow(
    address: str,
    view_mark: str,
    link: str,
    path: str,
    *,
    on_refresh: Callable[[], None] | None = None,
    on_navigate: Callable[[str], None] | None = None,
    key: str = "live.feed",
) -> None:
    """Let the browser fetch the page's content from `address`, now and as long as the view is busy.

    A page calls this once in each run, before its parts. While the browser is at the page's `path` below the app's
    address, the address bar shows `link` as its query. When the layout differs from `view_mark`, the page runs again,
    after `on_refresh`. When Back or Forward leads to another query of this page, `on_navigate` gets the query.
    """

    def refresh() -> None:
        if on_refresh:
            on_refresh()

    def navigate() -> None:
        query = _sent(key, "navigate")
        if on_navigate and isinstance(query, str):
            on_navigate(query.removeprefix("?"))

    # Streamlit calls the script only if data changed. `run` makes each run of a page a change.
    feed = {"address": address, "mark": view_mark, "link": link, "path": path, "run": next(_runs)}
    _mount(key=key, data={"kind": "feed", **feed}, on_refresh_change=refresh, on_navigate_change=navigate)


def part(
    place: str, kind: Kind, key: str | None = None, on_event: Callable[[Any], None] | None = None, room: int = 0
) -> None:  # fmt: skip
    """A place that the browser fills. The same key and place in the next run keep their DOM nodes.

        With `room` the place keeps its room while it is empty, so that what comes into it moves nothing: of a table, of
    lines, or of remarks, whose number is `room`.
    `on_event` gets the user's action as plain JSON: from a matrix {"chosen": [row, column]} or {"row": [row]}, from a
    player {"draws": number}, from keys {"action": name}.
    """
    key = f"live.{place}" if key is None else key

    def event() -> None:
        value = _sent(key, "event")
        if on_event and value is not None:
            on_event(value)

    _mount(key=key, data={"kind": kind, "place": place, "room": room}, on_event_change=event)


def link(path: str, query: str) -> None:
    """The full address of the page at `path` below the app's address, with this query and a button that copies it."""
    _mount(key=f"live.{LINK}", data={"kind": LINK, "place": LINK, "content": {"path": path, "query": query}})


def _sent(key: str, name: str) -> Any:
    """The plain JSON that the browser sent; None if it sent nothing, or something else."""
    try:
        return json.loads(json.dumps(st.session_state[key][name], allow_nan=False))
    except (KeyError, TypeError, ValueError):
        return None
