"""In a browser: runs side by side on the same axes, stacked on a phone; and the moving picture of the overview."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import APP, SMALL, WAIT, address, chart, open_page, place, press, says, until

RANGES = "node => ['xaxis', 'yaxis'].map((axis) => node._fullLayout[axis].range.join())"


def test_runs_side_by_side_have_the_same_axes_and_are_stacked_on_a_phone(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "explore", SMALL | {"2.sampler": "hmc"}))
    press(page, "Run")
    says(page, "Finished: 2,200 of 2,200", "run.1")
    says(page, "Finished: 5,500 of 5,500", "run.2")
    expect(place(page, "ratio")).to_contain_text("times that of HMC", timeout=WAIT)
    for row in ("trace", "density"):
        one, other = chart(page, f"{row}.1"), chart(page, f"{row}.2")
        one.scroll_into_view_if_needed()
        until(page, lambda: other.evaluate("node => Boolean(node._fullLayout)"), True)  # noqa: B023
        until(page, lambda: one.evaluate(RANGES) == other.evaluate(RANGES), True)  # noqa: B023
        assert one.bounding_box()["y"] == other.bounding_box()["y"]  # type: ignore[index]
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, lambda: chart(page, "trace.2").bounding_box()["x"] == chart(page, "trace.1").bounding_box()["x"], True)  # type: ignore[index]
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_the_moving_picture_plays_and_stands_still_for_people_who_ask_for_less_motion(
    page: Page, serve: Servers
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(serve(APP))
    button, cost = place(page, "moving").get_by_role("button"), place(page, "moving").locator(".live-moving-cost")
    expect(button).to_have_text("Play", timeout=WAIT)
    expect(cost).to_have_text("22,500 leapfrogs of each sampler")
    expect(place(page, "moving").locator(".jumps")).to_have_text(["1 jump between hills", "12 jumps between hills"])
    button.click()
    expect(button).to_have_text("Pause")
    expect(cost).not_to_have_text(re.compile(r"^(0|22,500) "), timeout=WAIT)
    button.click()
    expect(button).to_have_text("Go on")
    page.emulate_media(reduced_motion="no-preference")
    page.reload()
    expect(button).to_have_text("Pause", timeout=WAIT)
