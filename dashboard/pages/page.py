"""The steps of every page, in this order: open, show the controls, follow, lay out, share.

here = page.opened("explore")     # read the address into the settings, once
explore.sidebar(here)             # widgets show the settings; their events have already changed them
shown = page.followed(here)       # make a view of settings and jobs, which the browser follows
explore.body(here, shown)         # lay out a place for each part of the view
page.share(here, shown)           # show the link and the files
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import streamlit as st
from streamlit.runtime.state.session_state import WStates

from dashboard.live import component
from dashboard.live.screen import Screen
from dashboard.settings import link
from dashboard.views.registry import VIEW_STATES
from dashboard.views.view import ChartRequest
from dashboard.widgets.controls import Controls
from dashboard.widgets.markup import unmarked
from dashboard.work.estimates import preload
from dashboard.work.tab import Tab

FIRST_PAGE = "overview"  # its address is that of the app

navigation_called = Event()  # set once st.navigation was called in this process


def _iterated(states: WStates) -> Iterator[str]:
    """An iterator over a copy of the keys.

    A page may run again while its previous run ends. Both runs use the same states, each with its own lock. Streamlit
    iterates over the dict itself, so a key that was added or removed meanwhile raised an error.
    """
    return iter(list(states.states))


WStates.__iter__ = _iterated  # type: ignore[method-assign]


def opened(name: str) -> Controls:
    """Open the page of this name, with the settings of the link in the address. Return its controls."""
    _claim_pages()
    _preloaded()
    tab = _screen().tab
    tab.open(name, st.query_params.to_dict())
    return Controls(tab, name)


def followed(here: Controls) -> Any:
    """The page's state at this moment. The browser follows the page from now on and shows its link as the address."""
    tab, page = here.tab, here.page
    tab.forget_hidden(page, here.fields)
    st.set_page_config(page_title=_title(here))
    shown = VIEW_STATES[page](here.settings, tab.snapshot())
    component.follow(
        _screen().address(page), shown.view().mark, link.text(here.settings), path=_path(page),
        on_navigate=lambda query: tab.follow(page, link.split(query)),
    )  # fmt: skip
    return shown


def _title(here: Controls) -> str:
    """The title of the browser's tab: "MAHMC on MDC · Explore · mahmc"."""
    return " · ".join(filter(None, [here.settings.subject, here.page.capitalize(), "mahmc"]))


def _path(page: str) -> str:
    """The path of a page below the app's address."""
    return "" if page == FIRST_PAGE else page


def problem(here: Controls, *others: str) -> None:
    """Show what is wrong with the link or the settings."""
    with place("problem"):
        for text in (here.tab.problem(here.page), *others):
            if text:
                st.warning(unmarked(text), icon=":material/error:")


def title(text: str) -> Any:
    """Show the page's title. Return its row, which has room for the main button."""
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    with row:
        st.title(text, width="content")
    return row


def charts(requests: Sequence[ChartRequest], columns: int = 2) -> None:
    """Lay out a place for each chart, side by side."""
    for first in range(0, len(requests), columns):
        row = requests[first : first + columns]
        for column, request in zip(st.columns(columns), row, strict=False):
            with column:
                component.part(request.place, "chart")


def place(name: str) -> Any:
    """A container for a part of the page that may be empty.

    Streamlit identifies blocks and widgets by their position in the page. With a container for each part, a change in
    one part does not move the others. Without containers a chart would be built again, and a button that moves up would
    be visible twice until the page has run to its end.
    """
    return st.container(key=f"place.{name}")


def share(here: Controls, about: str, files: str, python: str = "") -> None:
    """Show the link that restores the settings, the equivalent program, and files to download."""
    with st.expander("Share and download", icon=":material/share:", key=f"{here.page}.share"):
        st.caption(about)
        component.link(_path(here.page), link.text(here.settings))
        if python:
            st.caption("The same run in Python:")
            st.code(python, language="python", wrap_lines=True)
        component.part("files", "files")
        if files:
            st.caption(files)


# ------------------------------------------------------------------------------------------------------ the session


def _screen() -> Screen:
    """The screen of this session. When the browser's tab is closed, its jobs end and its address is forgotten.

    A browser that lost its connection returns to the same session, but Streamlit has already released the objects that
    were cached for it. So each run of a page makes sure that the screen is among the cached objects.
    """
    if "screen" not in st.session_state:
        st.session_state.screen = Screen(Tab())
    screen: Screen = st.session_state.screen
    held = _ends_with_the_tab()
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
    """Import packages in the background, once for each server."""
    preload()
    return True


def _claim_pages() -> None:
    """Make Streamlit run app.py, even if the first request to a new server is the link of a page.

    Streamlit runs the file in pages/ on its own, with its own menu, until st.navigation is called once in the process.
    So the first page that runs calls st.navigation and then starts again.
    """
    if not navigation_called.is_set():
        navigation_called.set()
        pages = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))
        st.navigation([st.Page(page, default=page.stem == FIRST_PAGE) for page in pages], position="hidden")
        st.rerun()
