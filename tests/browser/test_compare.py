"""Compare, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from dashboard.settings import link as codec
from dashboard.settings.explore import ExploreSettings
from dashboard.views.words import EARLIER
from tests.support.browser import Servers
from tests.support.browser_pages import (
    FINISHED,
    SMALL,
    WAIT,
    address,
    chart,
    choose,
    download,
    enter,
    is_drawn,
    main_part,
    open_files,
    open_page,
    place,
    press,
    query,
    says,
    shown,
    sidebar,
    until,
    until_query,
)


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    return lambda **query: address(serve, "compare", query)


@pytest.mark.parametrize(("target", "budget"), [("mdc", 160_000), ("blr", 16_000)])
def test_run_download_and_open_in_explore(page: Page, link: Callable[..., str], target: str, budget: int) -> None:
    open_page(page, link(target=target, replicates=2, budget=budget), "Compare")
    press(page, "Run")
    says(page, "Finished: ")
    is_drawn(chart(page, "bars"))
    expect(page.locator(".live-chart").nth(10)).to_be_attached(timeout=WAIT)
    page.set_viewport_size({"width": 1440, "height": 900})
    until(page, lambda: place(page, "table").locator(".live-table").evaluate(SIDEWAYS), 0)
    open_files(page)
    rows = list(csv.DictReader(download(page, "CSV").decode().splitlines()))
    assert [row["sampler"] for row in rows] == ["mala", "hmc", "mala-p", "mala-pn", "mahmc"]
    main_part(page).get_by_role("button", name="MALA-PN", exact=True).click()
    shown(page, "Explore")
    page.wait_for_function("() => /sampler=mala-pn/.test(location.search)", timeout=WAIT)
    settings, problem = codec.read(ExploreSettings(), query(page))
    assert problem == ""
    spec = settings.spec({})
    assert spec.target == target
    assert spec.draws * spec.chains * spec.values["L"] == budget


SIDEWAYS = "node => node.scrollWidth - node.clientWidth"
# The contrast of an element's text to the page behind it, with the opacities of all that is around it.
CONTRAST = """(node) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  let opacity = 1;
  for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
  const behind = numbers(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  const seen = numbers(getComputedStyle(node).color).map((part, i) => opacity * part + (1 - opacity) * behind[i]);
  const light = (rgb) => rgb.map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0) + 0.05;
  const [one, other] = [light(seen), light(behind)];
  return Math.max(one, other) / Math.min(one, other);
}"""
OPACITY = "node => Number(getComputedStyle(node).opacity)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_of_earlier_settings_are_faded_and_what_says_so_is_not(
    page: Page, link: Callable[..., str], serve: Servers, scheme: Literal["light", "dark"]
) -> None:
    """On Compare and on Explore alike: charts and numbers are pale, and all words have a contrast of 4.5 or more."""
    page.emulate_media(color_scheme=scheme)
    seed = 5 if scheme == "light" else 6
    open_page(page, link(target="gmm", budget=48_000, replicates=2, samplers="hmc,mahmc", seed=seed), "Compare")
    press(page, "Run")
    says(page, "Finished: ")
    is_drawn(chart(page, "bars"))
    assert chart(page, "bars").evaluate(OPACITY) == 1
    enter(page, "Seed", "7")
    is_faded(page, {"bars"}, {"table": ".live-table td", "headlines": ".live-lines p"})
    open_page(page, address(serve, "explore", {"target": "gmm", **SMALL}))
    press(page, "Run")
    says(page, FINISHED)
    choose(page, "Sampler", "HMC")
    is_faded(page, {"trace", "density"}, {"status": ".live-tile .label", "origin": ".live-lines p"})


def is_faded(page: Page, charts: set[str], words: dict[str, str]) -> None:
    """Until the charts are faded; then words at these places, and those that say so, can be read."""
    expect(place(page, "remarks")).to_contain_text(EARLIER, timeout=WAIT)
    for name in charts:
        until(page, partial(chart(page, name).evaluate, OPACITY), 0.72)
        origin = place(page, name).locator(".live-origin")
        assert "Earlier settings" in origin.evaluate("node => getComputedStyle(node, '::before').content")
        assert origin.evaluate(CONTRAST) >= 4.5
    assert place(page, "remarks").locator(".text").evaluate(CONTRAST) >= 4.5
    for name, part in words.items():
        assert place(page, name).locator(part).first.evaluate(CONTRAST) >= 4.5
        faded = "node => node.closest('.live-tiles, .live-lines, .live-table')"
        assert place(page, name).locator(part).first.evaluate(f"node => ({OPACITY})(({faded})(node))") < 1


def test_edit_a_sampler_and_stop(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(target="mdc", replicates=100), "Compare")
    sidebar(page).get_by_text("HMC", exact=True).last.click()
    field = page.locator("input[aria-label='L Leapfrogs']:visible").first
    field.fill("20")
    field.press("Enter")
    until_query(page, replicates="100", **{"hmc.L": "20"})
    press(page, "Run")
    says(page, "about")
    press(page, "Stop")
    says(page, "Stopped after")


def test_links_that_ask_for_nonsense_are_refused(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(target="<script>alert(1)</script>", replicates="nan", budget="12"), "Compare")
    expect(page.get_by_text("too few for an ESS")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    open_page(page, link(target="<script>alert(1)</script>", replicates="nan", seed="1e400"), "Compare")
    for name in ("target", "replicates", "seed"):
        expect(page.get_by_text("Ignored in this link:")).to_contain_text(f"{name} (must be", timeout=WAIT)
    assert page.locator("script", has_text="alert(1)").count() == 0
    until_query(page)
