"""Two tabs of one browser have nothing in common, and what belongs to a tab ends with it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from mahmc import RunSpec
from tests.support.browser import Servers
from tests.support.browser_pages import (
    APP,
    FINISHED,
    LONG,
    SMALL,
    WAIT,
    address,
    controls,
    download,
    enter,
    file,
    open_files,
    open_page,
    press,
    query,
    says,
    status,
    until,
)


def test_two_tabs_have_settings_and_runs_of_their_own(new_tab: Callable[[], Page], serve: Servers) -> None:
    one, two = new_tab(), new_tab()
    open_page(one, address(serve, "explore", {"target": "gmm", **SMALL}))
    open_page(two, address(serve, "explore", {"sampler": "hmc", "seed": 5, **SMALL}))
    for tab in (one, two):
        press(tab, "Run")
    for tab in (one, two):
        says(tab, FINISHED)
    before = (query(two), controls(two), status(two).inner_text())
    enter(one, "L Leapfrogs, exact", "7")
    until(one, lambda: query(one).get("L"), "7")
    until(one, lambda: one.get_by_text("belong to earlier settings").count(), 1)
    press(one, "Run")
    until(one, lambda: one.get_by_text("belong to earlier settings").count(), 0)
    says(one, FINISHED)
    assert (query(two), controls(two), status(two).inner_text()) == before
    found = []
    for tab in (one, two):
        open_files(tab)
        found.append(RunSpec.from_json(download(tab, "Settings").decode()))
    assert [(spec.target, spec.sampler, spec.seed, spec.values["L"]) for spec in found] == [
        ("gmm", "mahmc", 0, 7), ("mdc", "hmc", 5, 40),
    ]  # fmt: skip


def test_a_file_ends_with_its_tab(new_tab: Callable[[], Page], serve: Servers) -> None:
    """While the tab is there, whoever knows the address gets the file; when the tab is closed, nobody does."""
    one, two = new_tab(), new_tab()
    open_page(one, address(serve, "explore", {"target": "gmm", **SMALL}))
    open_page(two, address(serve, "explore"))
    press(one, "Run")
    says(one, FINISHED)
    open_files(one)
    where = file(one, "Settings").get_attribute("href") or ""
    feed = where.partition("/files/")[0] + "?since=0&mark=none"
    assert [fetched(two, where), fetched(two, feed)] == [200, 205]
    one.close()
    until(two, lambda: [fetched(two, where), fetched(two, feed)], [404, 404])
    says(two, "Choose a target and a sampler")


@pytest.mark.parametrize("reconnected", [False, True])
def test_closing_the_tab_cancels_its_run(new_tab: Callable[[], Page], serve: Servers, reconnected: bool) -> None:
    """The run would take hours; once its tab is gone, the server is soon at rest. A lost connection changes nothing."""
    tab = new_tab()
    connections: list[WebSocketRoute] = []
    tab.route_web_socket(re.compile("/_stcore/stream"), lambda socket: connections.append(socket.connect_to_server()))
    open_page(tab, address(serve, "explore", LONG | {"draws": 10**6, "thin": 100}))
    if reconnected:
        reconnect(tab, connections)
    press(tab, "Run")
    expect(status(tab)).to_contain_text(re.compile("Drawing:|Warming up:"), timeout=WAIT)
    used = serve.cpu_seconds(APP)
    until(tab, lambda: serve.cpu_seconds(APP) > used + 2.0, True)
    tab.close()
    deadline = time.monotonic() + WAIT / 1000
    while share_of_a_core(serve) > 0.1:
        assert time.monotonic() < deadline, "the run went on without its tab"


def reconnect(page: Page, connections: list[WebSocketRoute]) -> None:
    """Cut Streamlit's connection, and wait until the browser has another one and has used it."""
    enter(page, "L Leapfrogs, exact", "5")
    until(page, lambda: query(page).get("L"), "5")
    connections[-1].close()
    until(page, lambda: len(connections), 2)
    enter(page, "L Leapfrogs, exact", "6")
    until(page, lambda: query(page).get("L"), "6")


def share_of_a_core(serve: Servers) -> float:
    """That the server uses, over two seconds."""
    before, begin = serve.cpu_seconds(APP), time.monotonic()
    time.sleep(2.0)
    return (serve.cpu_seconds(APP) - before) / (time.monotonic() - begin)


def fetched(page: Page, where: str) -> int:
    """The status of the answer."""
    return page.evaluate("async (where) => (await fetch(where)).status", where)
