"""What every page does, in the same order: open, let widgets change settings, follow, lay out, share.

here = page.opened("explore")     # the address becomes settings, once
explore.sidebar(here)             # widgets show the settings; their events have changed them already
shown = page.followed(here)       # settings and jobs become a view, which the browser follows
explore.body(here, shown)         # a place for each part of the view
page.share(here, shown)           # the link, and files
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.state.session_state import WStates

from dashboard.live import component
from dashboard.live.screen import Screen
from dashboard.settings import link
from dashboard.views.registry import SHOWN
from dashboard.views.view import ChartRequest
from dashboard.widgets.controls import Controls
from dashboard.widgets.markup import unmarked
from dashboard.work.estimates import preload
from dashboard.work.tab import Tab

FIRST_PAGE = "overview"  # at the app's own address

_pages_are_claimed = False


def _iterated(states: WStates) -> Iterator[str]:
    """The keys as they are now.

    When a page runs again while its last run ends, both work on the same states, each under a lock of its own.
    Streamlit iterates over the dict itself, and a key that comes or goes meanwhile ended the run with an error.
    """
    return iter(list(states.states))


WStates.__iter__ = _iterated  # type: ignore[method-assign]


def opened(name: str) -> Controls:
    """This tab on the page of that name. The link counts that the page was opened with."""
    _claim_pages()
    _preloaded()
    tab = _screen().tab
    tab.open(name, st.query_params.to_dict())
    return Controls(tab, name)


def followed(here: Controls) -> Any:
    """What the page shows at this moment; the browser follows it from here on, and shows its link as the address."""
    tab, page = here.tab, here.page
    shown = SHOWN[page](here.settings, tab.now())
    component.follow(
        _screen().address(page), shown.view().mark, link.text(here.settings), path="" if page == FIRST_PAGE else page,
        on_navigate=lambda query: tab.follow(page, link.split(query)),
    )  # fmt: skip
    return shown


def problem(here: Controls, *others: str) -> None:
    """What is wrong with the link, or with the settings."""
    with place("problem"):
        for text in (here.tab.problem(here.page), *others):
            if text:
                st.warning(unmarked(text), icon=":material/error:")


def title(text: str) -> Any:
    """The page's title, in a row with room for the one button that matters now."""
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    with row:
        st.title(text, width="content")
    return row


def charts(requests: Sequence[ChartRequest], columns: int = 2) -> None:
    """A place for each chart, side by side."""
    for first in range(0, len(requests), columns):
        row = requests[first : first + columns]
        for column, request in zip(st.columns(columns), row, strict=False):
            with column:
                component.part(request.place, "chart")


def place(name: str) -> Any:
    """Room for a part of the page that may be empty.

    Streamlit knows blocks and widgets by their number in the page. With room for each part, whatever comes or goes in
    one of them leaves the others as they are. Without it a chart is built again, and a button that moves up is there
    twice until the page has run to its end.
    """
    return st.container(key=f"place.{name}")


def share(here: Controls, about: str, files: str, python: str = "") -> None:
    """The link that brings the settings back, the program that gives the same, and files to download."""
    with st.expander("Share and download", icon=":material/share:", key=f"{here.page}.share"):
        st.caption(about)
        st.code(f"?{link.text(here.settings)}", language=None, wrap_lines=True)
        if python:
            st.caption("The same run in Python:")
            st.code(python, language="python", wrap_lines=True)
        component.part("files", "files")
        if files:
            st.caption(files)


# ------------------------------------------------------------------------------------------------------ the session


def _screen() -> Screen:
    """This session's screen. Its jobs end, and its address is forgotten, when the browser's tab is closed.

    A browser that lost its connection comes back to the same session, but Streamlit has released what was cached for
    it: so each run of a page looks whether the screen is among what is to be released.
    """
    if "screen" not in st.session_state:
        st.session_state.screen = Screen(Tab())
    screen, held = st.session_state.screen, _ends_with_the_tab()
    if screen not in held:
        held.append(screen)
        screen.open()
    return screen


def _end(screens: list[Screen]) -> None:
    for screen in screens:
        screen.close()


@st.cache_resource(scope="session", on_release=_end, show_spinner=False)
def _ends_with_the_tab() -> list[Screen]:
    return []


@st.cache_resource(show_spinner=False)
def _preloaded() -> bool:
    """Once in the life of the server."""
    preload()
    return True


def _claim_pages() -> None:
    """Have app.py run even where the first thing a new server is asked for is the link of a page.

    Streamlit then runs the file in pages/ by itself, with a menu of its own, until st.navigation is called once in the
    process. So the first page to run calls it, and starts over.
    """
    global _pages_are_claimed
    if not _pages_are_claimed:
        _pages_are_claimed = True
        pages = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))
        st.navigation([st.Page(page, default=page.stem == FIRST_PAGE) for page in pages], position="hidden")
        st.rerun()
