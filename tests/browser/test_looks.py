"""What a person sees: figures that can be saved, links that can be copied, nothing that jumps, and texts to read."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import (
    FINISHED,
    SMALL,
    TITLES,
    WAIT,
    address,
    chart,
    is_drawn,
    main_part,
    open_files,
    open_page,
    place,
    press,
    says,
    settled,
    zoom,
)

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MOST_SHIFT = 0.05  # by the browser's own measure, over a whole run
# Adds up how far content moved without an event of the user just before.
WATCH_SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.hadRecentInput ? 0 : entry.value;
}).observe({ type: "layout-shift" })"""
NO_TRANSITION = "() => !document.getAnimations().some((animation) => animation instanceof CSSTransition)"
# Streamlit's own, which no page can change: each selector, and why.
OF_STREAMLIT: dict[str, str] = {}
QUERIES: dict[str, dict[str, object]] = {
    "": {},
    "explore": {"target": "gmm", "view": "full", **SMALL},
    "explore, side by side": {"target": "gmm", "2.sampler": "hmc", **SMALL},
    "compare": {"target": "gmm", "budget": 48_000, "replicates": 2},
    "checks": {"budget": 0.02, "own": 1},
}
RUN = {"explore": ("Run", FINISHED), "compare": ("Run", "Finished: "), "checks": ("Check this cell", "Finished: ")}


@pytest.mark.parametrize("shown", QUERIES)
def test_nothing_jumps_and_axe_finds_nothing_serious(page: Page, serve: Servers, shown: str) -> None:
    """On each page with its results and its files, in both themes: contrast of texts, names of controls, roles."""
    name = shown.partition(",")[0]
    open_page(page, address(serve, name, QUERIES[shown]), TITLES.get(name, "A laboratory for mixed samplers"))
    if name in RUN:
        button, end = RUN[name]
        settled(page)
        if name == "explore":
            is_drawn(page.locator(".live-chart").first)
        page.evaluate(WATCH_SHIFTS)
        main_part(page).get_by_role("button", name=button, exact=True).click()
        says(page, end, "run.1" if "side" in shown else "status")
        settled(page)
        assert page.evaluate("() => window.shifted") <= MOST_SHIFT
        open_files(page)
    page.evaluate(AXE)
    found = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(
            "theme => getComputedStyle(document.querySelector('.stApp')).colorScheme === theme", arg=theme
        )
        page.wait_for_function(NO_TRANSITION)
        found += [f"{theme}: {fault}" for fault in serious(page)]
    assert found == []


def serious(page: Page) -> list[str]:
    """The serious and critical findings, with what they are about."""
    context = json.dumps({"exclude": [[selector] for selector in OF_STREAMLIT]})
    options = '{ resultTypes: ["violations"] }'
    found: list[dict[str, Any]] = page.evaluate(f"async () => (await axe.run({context}, {options})).violations")
    return [
        f"{fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def test_nothing_jumps_when_a_run_starts_and_warnings_come(page: Page, serve: Servers) -> None:
    """A run with two warnings. Room for tiles and warnings is kept before there are any."""
    open_page(page, address(serve, "explore", QUERIES["explore"]))
    is_drawn(chart(page, "density"))
    page.evaluate(WATCH_SHIFTS)
    press(page, "Run")
    says(page, FINISHED)
    expect(place(page, "remarks").locator(".live-remark")).not_to_have_count(0, timeout=WAIT)
    is_drawn(chart(page, "autocorrelation"))
    settled(page)
    assert page.evaluate("() => window.shifted") <= MOST_SHIFT


def test_a_figure_is_saved_and_a_link_is_copied_by_keyboard(page: Page, serve: Servers) -> None:
    """The figure has the zoom of the moment. If the browser refuses the clipboard, the selected text is copied."""
    open_page(page, address(serve, "explore", {"target": "gmm", "seed": 7, **SMALL}))
    press(page, "Run")
    says(page, FINISHED)
    is_drawn(chart(page, "density"))
    low, high = zoom(page, chart(page, "density"))
    button = page.get_by_role("button", name="Save figure: Distribution against the truth")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    saved = place(page, "density").get_by_role("link", name="SVG", exact=True)
    assert f"y={low},{high}" in (saved.get_attribute("href") or "").replace("%2C", ",")
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(saved).to_be_focused()
    with page.expect_download(timeout=WAIT) as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "gmm-mahmc-seed7-q-density.svg"
    expect(button).to_be_focused()  # the list has closed
    expect(saved).to_be_hidden()

    open_files(page)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject() }")
    page.evaluate("() => document.addEventListener('copy', () => { window.copied = String(getSelection()) })")
    page.get_by_role("button", name="Copy link").press("Enter")
    expect(place(page, "link")).to_contain_text("Copied.")
    assert page.evaluate("() => window.copied") == page.get_by_label("Link to these settings").input_value() == page.url
