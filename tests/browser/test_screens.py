"""From a phone to a wide screen: no page scrolls sideways, with a finished result on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.support.browser import Servers
from tests.support.browser_pages import (
    FINISHED,
    SMALL,
    TITLES,
    address,
    chart,
    is_drawn,
    main_part,
    open_files,
    open_page,
    says,
    settled,
    until,
)

WIDTHS = (390, 1024, 1440)
QUERIES: dict[str, dict[str, object]] = {
    "explore": {"target": "gmm", "view": "full", **SMALL},
    "compare": {"target": "gmm", "budget": 48_000, "replicates": 2},
    "checks": {"budget": 0.02, "own": 1},
}
RUN: dict[str, tuple[str, str, str]] = {  # the button, what the status line says at the end, and a chart
    "explore": ("Run", FINISHED, "trace"),
    "compare": ("Run", "Finished: ", "bars"),
    "checks": ("Check this cell", "Finished: ", "histogram"),
}
# What can scroll sideways as a whole: the document, and the part in which Streamlit scrolls the page.
SIDEWAYS = """() => [...document.querySelectorAll("html, [data-testid=stMain]")]
    .filter((node) => node.scrollWidth > node.clientWidth)
    .map((node) => `${node.tagName} ${node.scrollWidth} > ${node.clientWidth}`)"""


@pytest.mark.parametrize("name", TITLES)
def test_no_page_scrolls_sideways(page: Page, serve: Servers, name: str) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 844})
    open_page(page, address(serve, name, QUERIES[name]), TITLES[name])
    button, end, place = RUN[name]
    main_part(page).get_by_role("button", name=button, exact=True).click()
    says(page, end)
    settled(page)
    open_files(page)
    is_drawn(chart(page, place))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        until(page, drawn_at_full_width(page, place), True)
        until(page, lambda: page.evaluate(SIDEWAYS), [])


def drawn_at_full_width(page: Page, place: str) -> Callable[[], bool]:
    """Whether the chart has been fitted to the width it has now."""
    return lambda: chart(page, place).evaluate("node => node._fullLayout.width === node.offsetWidth")


def test_the_overview_does_not_scroll_sideways(page: Page, serve: Servers) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 844})
    open_page(page, address(serve, ""), "A laboratory for mixed samplers")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        until(page, lambda: page.evaluate(SIDEWAYS), [])
