"""The dashboard's pages, as tests use them in a browser: open, look, and wait until something is there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlparse

from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.browser import ROOT, Servers

APP = ROOT / "app.py"
WAIT = 120_000  # milliseconds; only what never comes takes so long
SMALL = {"draws": 2000, "warmup": 200, "chains": 8}  # a run of a second
LONG = {"target": "blr", "sampler": "hmc", "draws": 100_000, "warmup": 100, "chains": 16}  # of minutes
TITLES = {"explore": "Explore", "compare": "Compare", "checks": "Checks"}
FINISHED = "Finished: 2,200 of 2,200"  # what Explore says of a SMALL run

# ------------------------------------------------------------------------------------------------------- addresses


def address(serve: Servers, name: str, query: Mapping[str, object] | None = None) -> str:
    """Where a page is, with this query."""
    return f"{serve(APP)}/{name}" + (f"?{urlencode(query)}" if query else "")


def query(page: Page) -> dict[str, str]:
    """The query in the address bar."""
    return dict(parse_qsl(urlparse(page.evaluate("() => location.href")).query, keep_blank_values=True))


def path(page: Page) -> str:
    """The path in the address bar."""
    return urlparse(page.evaluate("() => location.href")).path


def until(page: Page, look: Callable[[], Any], expected: Any) -> None:
    """Until `look` gives what is expected."""
    deadline = time.monotonic() + WAIT / 1000
    while (seen := look()) != expected:
        assert time.monotonic() < deadline, f"{seen!r}, where {expected!r} was expected"
        page.wait_for_timeout(50)


def until_query(page: Page, **expected: str) -> None:
    """Until the address bar shows this query, and nothing more."""
    until(page, lambda: query(page), expected)


# ----------------------------------------------------------------------------------------------------------- pages


def open_page(page: Page, where: str, title: str = "Explore") -> Page:
    """Go to an address, and wait for the page's title."""
    page.set_default_timeout(WAIT)
    page.goto(where)
    return shown(page, title)


def shown(page: Page, title: str) -> Page:
    """Wait until the page with this title is there, and all its content."""
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=WAIT)
    settled(page)
    return page


def settled(page: Page) -> None:
    """Until Streamlit runs nothing, and the browser has had the content of all places."""
    page.wait_for_function(
        "() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"
        " && /rest|busy/.test(document.querySelector('.live-feed')?.dataset.state)",
        timeout=WAIT,
    )


def go_to(page: Page, title: str) -> Page:
    """Go to another page by the menu at the side."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    return shown(page, title)


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebarUserContent")


def main_part(page: Page) -> Locator:
    return page.get_by_test_id("stMainBlockContainer")


def place(page: Page, name: str) -> Locator:
    """A place of the page, which the browser fills."""
    return page.locator(f'.live-part[data-place="{name}"]')


def chart(page: Page, name: str) -> Locator:
    """The chart at a place."""
    return place(page, name).locator(".live-chart")


def status(page: Page, name: str = "status") -> Locator:
    """The line that says how far work is."""
    return place(page, name).locator(".live-status-text")


def says(page: Page, words: str, name: str = "status") -> None:
    """Until the status line has these words."""
    expect(status(page, name)).to_contain_text(words, timeout=WAIT)


# ------------------------------------------------------------------------------------------------------- controls


def press(page: Page, name: str) -> None:
    """Press a button at the side of Explore, or the one beside the title of another page."""
    side = sidebar(page).get_by_role("button", name=name, exact=True)
    (side if path(page).endswith("/explore") else page.get_by_role("button", name=name, exact=True)).click()


def enter(page: Page, label: str, text: str) -> None:
    """Type into the field with this label, and press Enter."""
    field = page.get_by_role("spinbutton", name=label, exact=True)
    field.fill(text)
    field.press("Enter")


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of the list with this label. The page is scrolled first, as scrolling closes an open list."""
    box = page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()
    page.evaluate("() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))")
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def controls(page: Page) -> list[str]:
    """What all controls at the side show, in their order."""
    return sidebar(page).evaluate(
        """side => [...side.querySelectorAll("input, textarea, [role=radio], [data-testid=stMultiSelect]")].map(
          (node) => `${node.getAttribute("aria-label") ?? node.innerText}: ${
            node.type === "checkbox" ? node.checked : node.getAttribute("aria-checked") ?? node.value ?? ""}`)"""
    )


def until_controls(page: Page, *expected: str) -> None:
    """Until controls at the side show this, among others."""
    until(page, lambda: set(expected) - set(controls(page)), set())


def cell(page: Page, sampler: str, case: str) -> Locator:
    """A cell of the matrix of Checks."""
    return page.locator(f"[data-cell='{json.dumps([sampler, case], separators=(',', ':'))}']")


def cell_is(page: Page, sampler: str, case: str, state: str) -> None:
    """Until a cell of the matrix has this state."""
    expect(cell(page, sampler, case)).to_have_attribute("data-state", state, timeout=WAIT)


# --------------------------------------------------------------------------------------------------------- charts


def drawn(page: Page) -> int:
    """Draws of a chain that are done, as Explore's status line has it."""
    return int(status(page).inner_text().split(" of ")[0].split()[-1].replace(",", ""))


def until_drawn(page: Page, more_than: int) -> None:
    """Until Explore's status line has more draws."""
    until(page, lambda: drawn(page) > more_than, True)


def is_drawn(there: Locator) -> None:
    """Until plotly.js has drawn the chart."""
    expect(there.locator(".main-svg").first).to_be_visible(timeout=WAIT)


def drawn_further(page: Page, there: Locator, times: int = 2) -> None:
    """Until a trace has been drawn further, so many times."""
    there.locator(".scatterlayer .trace path").first.wait_for(timeout=WAIT)
    for _ in range(times):
        end = there.evaluate("node => node._fullLayout.xaxis.range[1]")
        page.wait_for_function(
            "([node, end]) => node._fullLayout.xaxis.range[1] > end", arg=[there.element_handle(), end], timeout=WAIT
        )


def zoom(page: Page, there: Locator) -> list[float]:
    """Zoom into the chart with the mouse; gives the range of the vertical axis from then on."""
    there.scroll_into_view_if_needed()
    before = vertical_range(there)
    plot = there.locator(".nsewdrag").first.bounding_box()
    assert plot is not None
    page.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * 0.6, plot["y"] + plot["height"] * 0.7, steps=5)
    page.mouse.up()
    until(page, lambda: vertical_range(there) != before, True)
    return vertical_range(there)


def vertical_range(there: Locator) -> list[float]:
    return there.evaluate("node => node._fullLayout.yaxis.range.slice()")


def mark(there: Locator) -> None:
    """Mark a node, to recognise it later."""
    there.evaluate("node => { node.dataset.mark = 'mine' }")


def is_marked(there: Locator) -> bool:
    """Whether this is the node that was marked."""
    return there.evaluate("node => node.dataset.mark === 'mine'")


# ---------------------------------------------------------------------------------------------------------- files


def open_files(page: Page) -> None:
    """Open the part with the link and the files."""
    page.get_by_text("Share and download").click()


def file(page: Page, label: str) -> Locator:
    """The link to a file, once it is there."""
    link = page.get_by_role("link", name=label, exact=True)
    expect(link).to_be_visible(timeout=WAIT)
    return link


def download(page: Page, label: str) -> bytes:
    """Click on a file, and give what was downloaded."""
    link = file(page, label)
    with page.expect_download(timeout=WAIT) as found:
        link.click()
    return Path(found.value.path()).read_bytes()


# ---------------------------------------------------------------------------------------- Streamlit's connection


def frames(page: Page) -> list[int]:
    """The sizes of all messages that come over Streamlit's connection. To be called before the page is opened."""
    found: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: found.append(len(frame))))
    return found


# -------------------------------------------------------------------------------------------- what the server says


class HeldMessages:
    """What the server says to Streamlit's own script, kept back while a test wants it."""

    def __init__(self, page: Page) -> None:
        self.is_holding = False
        self.messages: list[str | bytes] = []
        page.route_web_socket("**/_stcore/stream", self.connected)

    def connected(self, browser: WebSocketRoute) -> None:
        self.browser, server = browser, browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(lambda message: self.messages.append(message) if self.is_holding else browser.send(message))

    def runs(self) -> int:
        """How many runs have ended."""
        return [_kind(message) for message in self.messages].count("script_finished")

    def until_runs(self, page: Page, count: int) -> None:
        until(page, lambda: self.runs() >= count, True)

    def release(self) -> None:
        self.is_holding = False
        for message in self.messages:
            self.browser.send(message)
        self.messages.clear()

    def release_all_but_the_end(self) -> None:
        """What a run said, without the news that the run has ended: the page is as it is in the midst of a run."""
        while _kind(self.messages[0]) != "script_finished":
            self.browser.send(self.messages.pop(0))


def _kind(message: str | bytes) -> str | None:
    return ForwardMsg.FromString(message).WhichOneof("type")
