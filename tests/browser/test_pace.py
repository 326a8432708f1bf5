"""Watching chains in Chromium: each draw as it is made, pauses, single draws, and Present mode with its keys."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from dashboard.figures.look import count
from dashboard.settings.presets import PRESETS
from tests.support.browser import Servers
from tests.support.browser_pages import (
    WAIT,
    address,
    chart,
    drawn,
    is_drawn,
    is_marked,
    main_part,
    mark,
    open_page,
    query,
    says,
    settled,
    sidebar,
    until,
    vertical_range,
    zoom,
)

SLOW = {"pace": 10, "draws": 5_000, "warmup": 0, "chains": 4, "seed": 7}
NUMBERS = """() => {
  window.numbers = [];
  const node = document.querySelector(".live-status-text");
  const note = () => {
    const number = Number(node.textContent.match(/Drawing: ([\\d,]+)/)?.[1].replaceAll(",", ""));
    if (number && number !== window.numbers.at(-1)) window.numbers.push(number);
  };
  new MutationObserver(note).observe(node, { childList: true, characterData: true, subtree: true });
}"""
LAST_DRAW = "node => node.calcdata[0].at(-1).x"


def click(page: Page, name: str) -> None:
    main_part(page).get_by_role("button", name=name, exact=True).click()


def has(page: Page, draws: int) -> None:
    """Until status, trace and histogram have this number of draws."""
    until(page, lambda: drawn(page), draws)
    until(page, lambda: chart(page, "trace").evaluate(LAST_DRAW), draws)
    expect(chart(page, "density")).to_have_attribute(
        "aria-label", re.compile(f": {count(4 * draws)} draws"), timeout=WAIT
    )


def test_at_ten_draws_a_second_every_draw_shows_up_in_the_same_charts(page: Page, serve: Servers) -> None:
    """However busy the machine is: a draw waits until the one before it was shown."""
    open_page(page, address(serve, "explore", SLOW))
    click(page, "Run")
    says(page, "10 a second")
    trace = chart(page, "trace")
    is_drawn(trace)
    settled(page)
    mark(trace)
    page.evaluate(NUMBERS)
    until(page, lambda: len(page.evaluate("window.numbers")) > 15, True)
    numbers = page.evaluate("window.numbers")
    assert {after - before for before, after in pairwise(numbers)} == {1}

    click(page, "Pause")
    says(page, "Paused at")
    settled(page)
    paused = drawn(page)
    has(page, paused)
    click(page, "Step")
    has(page, paused + 1)
    zoomed = zoom(page, trace)
    click(page, "Step")
    until(page, lambda: drawn(page), paused + 2)
    click(page, "Continue")
    says(page, "Drawing")
    until(page, lambda: drawn(page) > paused + 5, True)
    assert vertical_range(trace) == pytest.approx(zoomed)
    assert is_marked(trace)
    main_part(page).get_by_role("radio", name="Fastest").click()
    until(page, lambda: query(page).get("pace"), None)
    says(page, "Finished: 5,000 of 5,000")
    assert is_marked(trace)


def test_present_mode_is_led_by_keys(page: Page, serve: Servers) -> None:
    page.set_default_timeout(WAIT)
    page.goto(address(serve, "explore", SLOW | {"present": 1}))
    settled(page)
    expect(sidebar(page)).to_be_hidden(timeout=WAIT)
    trace = chart(page, "trace")
    is_drawn(trace)
    until(page, lambda: trace.evaluate("node => node._fullLayout.font.size") >= 20, True)

    page.keyboard.press("r")
    says(page, "10 a second")
    page.keyboard.press("Space")
    says(page, "Paused at")
    paused = drawn(page)
    page.keyboard.press("s")
    until(page, lambda: drawn(page), paused + 1)
    page.keyboard.press("+")
    until(page, lambda: query(page)["pace"], "100")

    page.evaluate("() => document.body.append(Object.assign(document.createElement('input'), { id: 'field' }))")
    page.locator("#field").press_sequentially("s n+")
    assert page.locator("#field").input_value() == "s n+"  # and the pace and the preset are still those before
    page.locator("#field").evaluate("node => node.remove()")
    page.keyboard.press("ArrowRight")
    until(page, lambda: drawn(page), paused + 2)
    assert query(page)["pace"] == "100"

    page.keyboard.press("n")
    first = next(preset.query for preset in PRESETS if preset.page == "explore")
    until(page, lambda: query(page), {"pace": "100", "present": "1"} | dict(first))
    says(page, "of 4,400 draws", "run.1")  # the first preset has runs side by side
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Explore", exact=True)).to_be_visible(timeout=WAIT)
    expect(sidebar(page)).to_be_visible(timeout=WAIT)
    beside = chart(page, "trace.1")
    until(page, lambda: beside.evaluate("node => node._fullLayout.font.size") < 20, True)
    says(page, "of 4,400 draws", "run.1")
