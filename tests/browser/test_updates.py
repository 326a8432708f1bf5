"""Updates change what is shown and nothing else: charts stay, zooms stay, and Streamlit's connection is silent."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import (
    FINISHED,
    LONG,
    SMALL,
    WAIT,
    address,
    cell,
    cell_is,
    chart,
    choose,
    drawn,
    drawn_further,
    enter,
    frames,
    is_drawn,
    is_marked,
    mark,
    open_page,
    place,
    press,
    query,
    says,
    settled,
    sidebar,
    status,
    until,
    until_drawn,
    vertical_range,
    zoom,
)

# Far more than a test waits for.
MANY = {"target": "gmm", "samplers": "hmc,mahmc", "budget": 9_600_000, "replicates": 100}


def changes(page: Page, times: int) -> None:
    """Until the status line has changed so many times."""
    for _ in range(times):
        before = status(page).inner_text()
        expect(status(page)).not_to_have_text(before, timeout=WAIT)


def test_a_run_is_followed_and_its_chart_outlives_updates_moved_controls_and_stops(page: Page, serve: Servers) -> None:
    """Updates come without a refresh of the page: Streamlit's connection is silent."""
    received = frames(page)
    open_page(page, address(serve, "explore", LONG))
    press(page, "Run")
    says(page, "Drawing:")
    settled(page)
    trace = chart(page, "trace")
    drawn_further(page, trace, 1)
    mark(trace)
    received.clear()
    before = drawn(page)
    drawn_further(page, trace)
    assert drawn(page) > before
    assert received == []

    zoomed = zoom(page, trace)

    def stays() -> None:
        assert is_marked(trace)
        assert vertical_range(trace) == pytest.approx(zoomed)

    until_drawn(page, drawn(page) + 200)
    stays()
    enter(page, "L Leapfrogs, exact", "7")  # Streamlit runs the page
    until(page, lambda: query(page).get("L"), "7")
    expect(page.get_by_text("belong to earlier settings")).to_be_visible(timeout=WAIT)
    until_drawn(page, drawn(page) + 200)
    stays()
    enter(page, "L Leapfrogs, exact", "10")  # the default
    until(page, lambda: query(page).get("L"), None)
    expect(page.get_by_text("belong to earlier settings")).to_have_count(0, timeout=WAIT)

    press(page, "Stop")  # the layout changes
    says(page, "Stopped at")
    settled(page)
    stays()
    stopped = drawn(page)
    press(page, "Continue")
    says(page, "Drawing:")
    until_drawn(page, stopped)
    press(page, "Reset")
    says(page, "Choose a target and a sampler")


def test_a_comparison_is_followed_and_its_charts_outlive_updates_and_moved_controls(page: Page, serve: Servers) -> None:
    received = frames(page)
    open_page(page, address(serve, "compare", MANY), "Compare")
    press(page, "Run")
    expect(place(page, "table").locator("tbody tr")).to_have_count(2, timeout=WAIT)  # both samplers have intervals
    bars = chart(page, "bars")
    is_drawn(bars)
    mark(bars)
    settled(page)
    changes(page, 1)
    received.clear()
    table = place(page, "table").inner_text()
    changes(page, 3)
    expect(place(page, "table")).not_to_have_text(table, timeout=WAIT)
    assert received == []

    zoomed = zoom(page, bars)
    changes(page, 4)
    assert is_marked(bars)
    assert vertical_range(bars) == pytest.approx(zoomed)
    choose(page, "Cost", "gradients really evaluated")  # another figure, in the same node
    until(page, lambda: query(page).get("cost"), "gradients")
    expect(bars).to_contain_text("ESS per gradient", timeout=WAIT)
    assert is_marked(bars)
    assert vertical_range(bars) == pytest.approx(zoomed)
    press(page, "Stop")
    says(page, "Stopped after")
    is_drawn(chart(page, "histogram.hmc"))
    assert is_marked(bars)
    mark(chart(page, "histogram.hmc"))
    zoomed = zoom(page, chart(page, "histogram.hmc"))
    choose(page, "Cost", "leapfrogs, the paper's measure")
    expect(bars).to_contain_text("ESS per leapfrog", timeout=WAIT)
    settled(page)
    for there in (bars, chart(page, "histogram.hmc")):
        assert is_marked(there)
    assert vertical_range(chart(page, "histogram.hmc")) == pytest.approx(zoomed)


def test_a_chart_of_checks_outlives_updates_and_moved_controls(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "checks", {"budget": 0.02}), "Checks")
    page.get_by_role("button", name="Check this cell").click()
    cell_is(page, "naive", "gmm", "wrong")
    says(page, "Finished: ")
    histogram = chart(page, "histogram")
    is_drawn(histogram)
    mark(histogram)
    zoomed = zoom(page, histogram)
    page.get_by_role("switch", name="Add a case of your own").click(force=True)
    expect(page.get_by_role("columnheader", name="your own GMM")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Check MALA on all targets").click()
    cell_is(page, "mala", "mdc", "running")
    says(page, "Finished: ")  # each verdict on the way was a change of the layout
    settled(page)
    assert is_marked(histogram)
    assert vertical_range(histogram) == pytest.approx(zoomed)


def test_charts_stay_when_a_word_above_them_comes_or_goes(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "explore", {"target": "gmm", "unknown": 1, **SMALL}))
    expect(page.get_by_text("Ignored in this link")).to_be_visible(timeout=WAIT)
    is_drawn(chart(page, "trace"))
    mark(chart(page, "trace"))
    press(page, "Run")
    says(page, FINISHED)
    expect(page.get_by_text("Ignored in this link")).to_have_count(0, timeout=WAIT)
    settled(page)
    assert is_marked(chart(page, "trace"))
    sidebar(page).get_by_role("radio", name="Full").click()
    is_drawn(chart(page, "mean"))
    settled(page)
    assert is_marked(chart(page, "trace"))

    open_page(page, address(serve, "compare", MANY | {"budget": 48_000, "replicates": 2}), "Compare")
    press(page, "Run")
    says(page, "Finished: ")
    is_drawn(chart(page, "histogram.hmc"))
    for name in ("bars", "histogram.hmc"):
        mark(chart(page, name))
    enter(page, "Leapfrogs of a replicate", "12")
    expect(page.get_by_text("too few for an ESS")).to_be_visible(timeout=WAIT)
    settled(page)
    for name in ("bars", "histogram.hmc"):
        assert is_marked(chart(page, name))


def test_checks_are_followed_without_refreshing_the_page(page: Page, serve: Servers) -> None:
    """From the first check to the last of a cell that is not the chosen one, there is nothing new to lay out."""
    received = frames(page)
    open_page(page, address(serve, "checks", {"budget": 0.5}), "Checks")
    page.get_by_role("button", name="Check MALA on all targets").click()
    cell_is(page, "mala", "blr", "running")
    settled(page)
    assert cell(page, "mala", "blr").inner_text().split("\n")[-1] == "marginals"
    received.clear()
    expect(cell(page, "mala", "blr")).to_contain_text(re.compile("joint distribution|calibration"), timeout=WAIT)
    assert received == []
