"""Compare, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Servers

APP = Path(__file__).parents[2] / "app.py"
WAIT = 60_000


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    def address(**query: object) -> str:
        return f"{serve(APP)}/compare?{urlencode({f'compare.{name}': value for name, value in query.items()})}"

    return address


def run_to_the_end(page: Page) -> None:
    expect(page.get_by_role("heading", name="Compare")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Finished: ")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("heading", name="Open in Explore")).to_be_visible(timeout=WAIT)


@pytest.mark.parametrize(("target", "budget"), [("mdc", 160_000), ("blr", 16_000)])
def test_run_download_and_open_in_explore(
    page: Page, link: Callable[..., str], target: str, budget: int, tmp_path: Path
) -> None:
    page.goto(link(target=target, replicates=2, **{f"budget.{target}": budget}))
    run_to_the_end(page)
    expect(page.locator(".live-chart .main-svg").first).to_be_visible(timeout=WAIT)
    expect(page.locator(".live-chart").nth(10)).to_be_attached(timeout=WAIT)
    page.get_by_text("Share and download").click()
    with page.expect_download(timeout=WAIT) as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    download.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["sampler"] for row in rows] == ["mala", "hmc", "mala-p", "mala-pn", "mahmc"]
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="mala-pn").click()
    expect(page.get_by_role("heading", name="Explore", exact=True)).to_be_visible(timeout=WAIT)
    page.wait_for_function("() => /sampler=mala-pn/.test(location.search)", timeout=WAIT)
    query = parse_qs(urlparse(page.url).query)
    assert query["target"] == [target]
    assert int(query["draws"][0]) * int(query["chains"][0]) * int(query["L"][0]) == budget


def test_edit_a_sampler_and_stop(page: Page, link: Callable[..., str]) -> None:
    page.goto(link(target="mdc", replicates=100))
    expect(page.get_by_role("heading", name="Compare")).to_be_visible(timeout=WAIT)
    page.get_by_test_id("stSidebarUserContent").get_by_text("HMC", exact=True).last.click()
    field = page.locator("input[aria-label='L Leapfrogs']:visible").first
    field.fill("20")
    field.press("Enter")
    page.wait_for_function("() => /mdc.hmc.L=20/.test(location.search)", timeout=WAIT)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("about")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped after")).to_be_visible(timeout=WAIT)


def test_links_that_ask_for_nonsense_are_refused(page: Page, link: Callable[..., str]) -> None:
    page.goto(link(target="<script>alert(1)</script>", replicates="nan", **{"budget.mdc": "12"}))
    expect(page.get_by_text("too few for an ESS")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    page.goto(link(target="<script>alert(1)</script>", replicates="nan", seed="1e400"))
    expect(page.get_by_text("Not used of this link")).to_be_visible(timeout=WAIT)
    assert page.locator("script", has_text="alert(1)").count() == 0
