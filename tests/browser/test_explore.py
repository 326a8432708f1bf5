"""Explore, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlparse

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mahmc import RunSpec
from mahmc.diagnostics import arviz
from tests.browser.conftest import Servers, edit_first_row

APP = Path(__file__).parents[2] / "app.py"
SMALL = {"draws": 2000, "warmup": 200, "chains": 8}
LONG = {"target": "blr", "sampler": "hmc", "draws": 100_000, "warmup": 100, "chains": 16}
WAIT = 60_000  # milliseconds; a cold cache compiles for some seconds


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    def address(**query: object) -> str:
        return f"{serve(APP)}/explore?{urlencode(query)}"

    return address


def open_page(page: Page, address: str) -> Page:
    page.goto(address)
    expect(page.get_by_role("heading", name="Explore")).to_be_visible(timeout=WAIT)
    return page


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebarUserContent")


def press_run(page: Page) -> None:
    sidebar(page).get_by_role("button", name="Run").click()


def status(page: Page, words: str) -> Locator:
    return page.get_by_text(words)


def drawn(page: Page) -> int:
    """Draws done, as the status line has it."""
    return int(page.locator(".live-status-text").inner_text().split(" of ")[0].split()[-1].replace(",", ""))


@pytest.mark.parametrize("target", ["mdc", "blr", "gmm"])
def test_from_click_to_finished_figures(page: Page, link: Callable[..., str], target: str) -> None:
    open_page(page, link(target=target, sampler="mahmc", view="full", **SMALL))
    press_run(page)
    expect(status(page, "Finished: 2,200 of 2,200")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("tab", name="Autocorrelation")).to_be_visible(timeout=WAIT)
    expect(page.locator(".live-chart .main-svg").first).to_be_visible(timeout=WAIT)
    assert page.locator(".live-chart").count() >= 4
    for chart in page.locator(".live-chart").all():
        assert len(chart.get_attribute("aria-label") or "") > 20
    page.get_by_role("tab", name="All quantities").click()
    expect(page.get_by_text("z-score is the distance")).to_be_visible(timeout=WAIT)


def test_updates_keep_the_node_and_the_zoom_then_stop_continue_reset(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(**LONG))
    press_run(page)
    chart = page.locator(".live-chart").first
    expect(chart.locator(".main-svg").first).to_be_visible(timeout=WAIT)
    page.wait_for_function("() => /Drawing: /.test(document.body.innerText)", timeout=WAIT)
    chart.evaluate("node => { node.dataset.mark = 'mine' }")
    plot = chart.locator(".nsewdrag").first.bounding_box()
    assert plot is not None
    page.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * 0.6, plot["y"] + plot["height"] * 0.7, steps=5)
    page.mouse.up()
    zoomed = chart.evaluate("node => (node.querySelector('.js-plotly-plot') || node).layout.yaxis.range.slice()")
    before = drawn(page)
    page.wait_for_function(
        "before => { const t = document.querySelector('.live-status-text').innerText;"
        " return Number(t.split(' of ')[0].split(' ').pop().replace(/,/g, '')) > before + 200 }",
        arg=before, timeout=WAIT,
    )  # fmt: skip
    assert chart.evaluate("node => node.dataset.mark") == "mine"
    after = chart.evaluate("node => (node.querySelector('.js-plotly-plot') || node).layout.yaxis.range.slice()")
    assert after == pytest.approx(zoomed)

    sidebar(page).get_by_role("button", name="Stop").click()
    expect(status(page, "Stopped at")).to_be_visible(timeout=WAIT)
    stopped = drawn(page)
    sidebar(page).get_by_role("button", name="Continue").click()
    expect(status(page, "Drawing:")).to_be_visible(timeout=WAIT)
    page.wait_for_function(
        "before => { const t = document.querySelector('.live-status-text').innerText;"
        " return Number(t.split(' of ')[0].split(' ').pop().replace(/,/g, '')) > before }",
        arg=stopped, timeout=WAIT,
    )  # fmt: skip
    sidebar(page).get_by_role("button", name="Reset").click()
    expect(status(page, "Choose a target and a sampler")).to_be_visible(timeout=WAIT)


def follow(page: Page, chart: Locator) -> None:
    """Until the trace has been drawn further, twice."""
    chart.locator(".scatterlayer .trace path").first.wait_for(timeout=WAIT)
    for _ in range(2):
        end = chart.evaluate("node => node._fullLayout.xaxis.range[1]")
        page.wait_for_function(
            "([node, end]) => node._fullLayout.xaxis.range[1] > end", arg=[chart.element_handle(), end], timeout=WAIT
        )


def test_a_run_is_followed_without_refreshing_the_page(page: Page, link: Callable[..., str]) -> None:
    """Charts and status change by what the feed says; nothing comes over Streamlit's connection meanwhile.

    Unless a warning comes or goes, which is for a refresh to show: some updates have none of that.
    """
    frames: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame))))
    open_page(page, link(**LONG))
    press_run(page)
    expect(status(page, "Drawing:")).to_be_visible(timeout=WAIT)
    chart = page.locator(".live-chart").first
    for _ in range(10):
        frames.clear()
        before = drawn(page)
        follow(page, chart)
        if not frames:
            break
    assert drawn(page) > before
    assert frames == []
    sidebar(page).get_by_role("button", name="Reset").click()
    expect(status(page, "Choose a target and a sampler")).to_be_visible(timeout=WAIT)


def test_a_run_is_followed_where_the_feed_is_out_of_reach(page: Page, link: Callable[..., str]) -> None:
    """As behind a proxy that answers unknown addresses with a page of its own: then this page is refreshed."""
    page.route("**/live/*", lambda route: route.fulfill(body="<!doctype html>"))
    open_page(page, link(**LONG))
    press_run(page)
    expect(status(page, "Drawing:")).to_be_visible(timeout=WAIT)
    follow(page, page.locator(".live-chart").first)
    sidebar(page).get_by_role("button", name="Stop").click()
    expect(status(page, "Stopped at")).to_be_visible(timeout=WAIT)


def test_a_component_is_edited_in_the_table(page: Page, link: Callable[..., str]) -> None:
    """A mean typed into the mixture's table is in the link, and in the run."""
    page.set_viewport_size({"width": 1400, "height": 1200})
    open_page(page, link(target="gmm", sampler="mahmc", view="full", **SMALL))
    page.get_by_text("Target's own parameters").click()
    edit_first_row(page, 0.5, "-3.5")
    page.wait_for_function("() => /means=-3.5%2C0/.test(location.search)", timeout=WAIT)
    press_run(page)
    expect(status(page, "Finished: 2,200 of 2,200")).to_be_visible(timeout=WAIT)


def test_restart_on_slider(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(**LONG, follow=1))
    press_run(page)
    expect(status(page, "Drawing:")).to_be_visible(timeout=WAIT)
    slider = page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_function("() => !/epsilon=0.09(&|$)/.test(location.search)", timeout=WAIT)
    expect(status(page, "Drawing:")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("controls have changed")).to_have_count(0)
    sidebar(page).get_by_role("button", name="Reset").click()


def test_deep_link_and_download_give_the_same_draws(
    page: Page, browser: Browser, link: Callable[..., str], tmp_path: Path
) -> None:
    """The address of one browser, opened in another, run and downloaded; and the snippet, run on its own."""
    open_page(page, link(target="gmm", sampler="mahmc", epsilon=0.25, seed=77, view="full", **SMALL))
    page.wait_for_function("() => /seed=77/.test(location.search) && /update=/.test(location.search)", timeout=WAIT)
    address = page.url
    context = browser.new_context(accept_downloads=True)
    files = []
    for i, tab in enumerate((page, context.new_page())):
        open_page(tab, address)
        press_run(tab)
        tab.get_by_text("Share and download").click()
        netcdf = tab.get_by_role("button", name="NetCDF")
        expect(netcdf).to_be_visible(timeout=WAIT)
        with tab.expect_download(timeout=WAIT) as download:
            netcdf.click()
        files.append(tmp_path / f"{i}.nc")
        download.value.save_as(files[-1])
    snippet = page.locator("[data-testid=stCode]").nth(1).inner_text()
    context.close()
    one, two = (arviz().from_netcdf(str(file))["posterior"] for file in files)
    assert np.array_equal(one["q"].values, two["q"].values)
    spec = RunSpec.from_json(one.attrs["spec"])
    assert (spec.seed, spec.values["epsilon"]) == (77, 0.25)
    program = f"{snippet}\nimport json; print(json.dumps(run.draws['q'].tolist()))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert np.array_equal(np.array(json.loads(printed.splitlines()[-1])), one["q"].values)


def test_closing_the_tab_cancels_its_run(browser: Browser, link: Callable[..., str], serve: Servers) -> None:
    """The run would take hours; once its tab is gone, the server is soon at rest."""
    context = browser.new_context()
    tab = open_page(context.new_page(), link(**(LONG | {"draws": 10**6, "thin": 100, "keep": "tau"})))
    press_run(tab)
    expect(status(tab, "Drawing:").or_(status(tab, "Warming up:"))).to_be_visible(timeout=WAIT)
    end = time.monotonic() + 60.0
    while busy(serve) < 0.5:  # other tests may use the cores for a moment
        assert time.monotonic() < end, "the run does not run"
    context.close()
    end = time.monotonic() + 60.0
    while busy(serve) > 0.2:
        assert time.monotonic() < end, "the run went on without its tab"


def busy(serve: Servers) -> float:
    """The share of one core that the server uses, over half a second."""
    before, begin = serve.cpu_seconds(APP), time.monotonic()
    time.sleep(0.5)
    return (serve.cpu_seconds(APP) - before) / (time.monotonic() - begin)


def test_simple_and_full_are_remembered_in_the_address(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link())
    expect(page.get_by_text("Target's own parameters")).to_have_count(0)
    page.get_by_role("radio", name="Full").or_(page.get_by_role("button", name="Full")).first.click()
    expect(page.get_by_text("Target's own parameters")).to_be_visible(timeout=WAIT)
    page.wait_for_function("() => /view=full/.test(location.search)", timeout=WAIT)
    assert parse_qs(urlparse(page.url).query)["view"] == ["full"]


@pytest.mark.parametrize(
    "query",
    [
        {"target": "<img src=x onerror=alert(1)>", "sampler": "hmc"},
        {"target": "mdc", "sampler": "hmc", "epsilon": "NaN"},
        {"target": "mdc", "sampler": "hmc", "L": "9" * 10_000},
    ],
    ids=["html", "nan", "long"],
)
def test_bad_links_give_a_message_and_the_defaults(page: Page, link: Callable[..., str], query: dict) -> None:
    open_page(page, link(**query))
    expect(page.get_by_text("This link cannot be used")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Choose a target and a sampler")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    page.wait_for_function("() => /target=mdc/.test(location.search) && /sampler=mahmc/.test(location.search)")


def test_a_card_of_the_overview_opens_and_runs(page: Page, serve: Servers) -> None:
    page.goto(serve(APP))
    page.get_by_role("button", name="Open and run").last.click()
    expect(page.get_by_role("heading", name="Explore")).to_be_visible(timeout=WAIT)
    expect(status(page, "Finished:")).to_be_visible(timeout=WAIT)
    assert parse_qs(urlparse(page.url).query)["target"] == ["gmm"]
