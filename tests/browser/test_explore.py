"""Explore, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import mahmc
from dashboard.live.component import OUT_OF_REACH
from mahmc import RunSpec
from mahmc.diagnostics import arviz
from tests.support.browser import Servers, edit_first_row
from tests.support.browser_pages import (
    FINISHED,
    LONG,
    SMALL,
    WAIT,
    HeldMessages,
    address,
    chart,
    download,
    drawn_further,
    is_drawn,
    open_files,
    open_page,
    place,
    press,
    query,
    says,
    settled,
    sidebar,
    until,
    until_controls,
    until_query,
    zoom,
)


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    return lambda **query: address(serve, "explore", query)


@pytest.mark.parametrize("target", ["mdc", "blr", "gmm"])
def test_from_click_to_finished_figures(page: Page, link: Callable[..., str], target: str) -> None:
    open_page(page, link(target=target, sampler="mahmc", view="full", **SMALL))
    press(page, "Run")
    says(page, FINISHED)
    expect(page.get_by_role("tab", name="Autocorrelation")).to_be_visible(timeout=WAIT)
    is_drawn(page.locator(".live-chart").first)
    assert page.locator(".live-chart").count() >= 4
    for there in page.locator(".live-chart").all():
        expect(there).to_have_attribute("aria-label", re.compile(".{21}"), timeout=WAIT)
    page.get_by_role("tab", name="All quantities").click()
    expect(page.get_by_text("z-score is the difference")).to_be_visible(timeout=WAIT)


def test_where_the_script_is_out_of_reach_the_page_says_so(
    new_tab: Callable[[], Page], link: Callable[..., str]
) -> None:
    """As behind a proxy that answers unknown addresses with a page of its own."""
    page = new_tab()  # the browser itself notes the error, which the fixture `page` would not allow
    page.route("**/live/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(link(**SMALL))
    expect(page.get_by_text(OUT_OF_REACH)).to_be_visible(timeout=WAIT)


def test_where_the_feed_is_out_of_reach_the_page_says_so_and_goes_on_later(
    page: Page, link: Callable[..., str]
) -> None:
    open_page(page, link(**LONG))
    page.route("**/live/*/explore?*", lambda route: route.fulfill(body="<!doctype html>"))
    press(page, "Run")
    expect(page.get_by_text("The server does not answer. Trying again …")).to_be_visible(timeout=WAIT)
    page.unroute("**/live/*/explore?*")
    says(page, "Drawing:")
    drawn_further(page, chart(page, "trace"))
    expect(page.get_by_text("The server does not answer")).to_have_count(0)
    press(page, "Stop")
    says(page, "Stopped at")


def test_a_component_is_edited_in_the_table(page: Page, link: Callable[..., str]) -> None:
    """A mean typed into the mixture's table is in the link, and in the run."""
    page.set_viewport_size({"width": 1400, "height": 1200})
    open_page(page, link(target="gmm", sampler="mahmc", view="full", **SMALL))
    page.get_by_text("Parameters of the target").click()
    edit_first_row(page, 0.5, "-3.5")
    page.wait_for_function("() => /means=-3.5%2C0/.test(location.search)", timeout=WAIT)
    press(page, "Run")
    says(page, FINISHED)
    open_files(page)
    spec = RunSpec.from_json(download(page, "Settings").decode())
    assert dict(spec.settings)["means"][0] == -3.5


def test_restart_on_slider(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(**LONG, follow=1))
    press(page, "Run")
    says(page, "Drawing:")
    before = query(page)
    slider = page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_function("() => /epsilon=/.test(location.search)", timeout=WAIT)
    assert query(page) == before | {"epsilon": query(page)["epsilon"]}
    says(page, "Drawing:")
    expect(page.get_by_text("belong to earlier settings")).to_have_count(0)
    press(page, "Reset")


def test_a_slider_and_run_faster_than_the_page_answers(page: Page, link: Callable[..., str]) -> None:
    """The click on Run also brings the field beside the slider as it was before the slider moved."""
    held = HeldMessages(page)
    open_page(page, link(target="gmm", **SMALL))
    held.is_holding = True
    slider = page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    held.until_runs(page, 1)
    press(page, "Run")
    held.until_runs(page, 2)
    held.release()
    says(page, FINISHED)
    page.wait_for_function("() => /epsilon=/.test(location.search)", timeout=WAIT)
    assert query(page)["epsilon"] == page.get_by_label("ε Step size, exact").input_value()
    expect(page.get_by_text("belong to earlier settings")).to_have_count(0)


def test_deep_link_and_download_give_the_same_draws(
    page: Page, browser: Browser, link: Callable[..., str], tmp_path: Path
) -> None:
    """The address of one browser, opened in another, run and downloaded; and the snippet, run on its own."""
    open_page(page, link(target="gmm", sampler="mahmc", epsilon=0.25, seed=77, view="full", **SMALL))
    until_query(page, target="gmm", epsilon="0.25", seed="77", view="full", draws="2000", warmup="200", chains="8")
    context = browser.new_context(accept_downloads=True)
    files = []
    for i, tab in enumerate((page, context.new_page())):
        open_page(tab, page.url)
        press(tab, "Run")
        open_files(tab)
        files.append(tmp_path / f"{i}.nc")
        files[-1].write_bytes(download(tab, "NetCDF"))
    snippet = page.locator("[data-testid=stCode]").first.inner_text()
    context.close()
    one, two = (arviz().from_netcdf(str(file))["posterior"] for file in files)
    assert np.array_equal(one["q"].values, two["q"].values)
    spec = RunSpec.from_json(one.attrs["spec"])
    assert (spec.seed, spec.values["epsilon"]) == (77, 0.25)
    program = f"{snippet}\nimport json; print(json.dumps(run.draws['q'].tolist()))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert np.array_equal(np.array(json.loads(printed.splitlines()[-1])), one["q"].values)


def test_simple_and_full_are_remembered_in_the_address(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link())
    expect(page.get_by_text("Parameters of the target")).to_have_count(0)
    sidebar(page).get_by_role("radio", name="Full").click()
    expect(page.get_by_text("Parameters of the target")).to_be_visible(timeout=WAIT)
    until_query(page, view="full")
    sidebar(page).get_by_role("radio", name="Simple").click()
    expect(page.get_by_text("Parameters of the target")).to_have_count(0, timeout=WAIT)
    until_query(page)


def test_clicks_faster_than_the_page_runs_change_nothing_else(page: Page, link: Callable[..., str]) -> None:
    """Runs of the page overtake each other; controls that come and go meanwhile keep their values."""
    settings = {"target": "gmm", "epsilon": "0.25", "draws": "2000", "warmup": "200", "chains": "8"}
    open_page(page, link(**settings))
    page.evaluate(
        """async () => {
          const [simple, full] = document.querySelectorAll("[data-testid=stSidebarUserContent] [role=radio]");
          for (let i = 0; i < 60; i++) {
            (i % 2 ? simple : full).click();
            await new Promise((resolve) => setTimeout(resolve, 20 + 10 * (i % 20)));
          }
        }"""
    )
    settled(page)
    sidebar(page).get_by_role("radio", name="Full").click()
    expect(page.get_by_text("Parameters of the target")).to_be_visible(timeout=WAIT)
    until_query(page, **settings, view="full")
    settled(page)
    assert query(page) == settings | {"view": "full"}
    until_controls(page, "ε Step size, exact: 0.25", "Chains, exact: 8", "Draws, exact: 2000")


def test_a_bad_link_gives_a_message_and_the_defaults(page: Page, link: Callable[..., str]) -> None:
    """What cannot be used is named and left out; everything else is used."""
    given = {"target": "<img src=x onerror=alert(1)>", "sampler": "hmc", "epsilon": "NaN", "L": "9" * 10_000}
    open_page(page, link(**given, seed=5))
    refused = page.get_by_text("Ignored in this link: target (must be one of")
    expect(refused).to_be_visible(timeout=WAIT)
    for words in ("epsilon (must", "L (must be"):
        expect(refused).to_contain_text(words, timeout=WAIT)
    says(page, "Choose a target and a sampler")
    assert page.locator("img[src=x]").count() == 0
    until_query(page, sampler="hmc", seed="5")


def test_a_zoom_into_a_trace_shows_true_draws(page: Page, link: Callable[..., str]) -> None:
    """Drawn through peaks alone, nearly independent draws look like a slow zigzag. The whole range comes back."""
    chosen = {"target": "gmm", "sampler": "mahmc", "draws": 20_000, "warmup": 0, "chains": 4, "seed": 5}
    open_page(page, link(**chosen))
    press(page, "Run")
    says(page, "Finished: 20,000 of 20,000")
    trace, caption = chart(page, "trace"), place(page, "trace").locator(".live-chart-caption")
    expect(caption).to_contain_text("only the peaks", timeout=WAIT)
    zoom(page, trace)  # to 6 000 draws, which are still too many
    expect(caption).to_contain_text("only the peaks", timeout=WAIT)
    zoom(page, trace)
    expect(caption).to_contain_text("Every draw of this range is shown.", timeout=WAIT)
    until(page, lambda: trace.evaluate("node => node._fullData[0].dx"), 1)  # draw by draw
    first, lines = trace.evaluate("node => [node._fullData[0].x0, node._fullData.map((line) => [...line.y])]")
    true = mahmc.sample("gmm", "mahmc", draws=20_000, warmup=0, chains=4, seed=5).draws["q"]
    assert len(lines) == 4
    for line, draws in zip(lines, true, strict=True):
        assert 1000 < len(line) <= 2000
        np.testing.assert_array_equal(np.float32(line), np.float32(draws[first - 1 : first - 1 + len(line)]))
    trace.locator(".nsewdrag").first.dblclick()
    expect(caption).to_contain_text("only the peaks", timeout=WAIT)
    until(page, lambda: trace.evaluate("node => node._fullLayout.xaxis.range"), [0.5, 20_000.5])
