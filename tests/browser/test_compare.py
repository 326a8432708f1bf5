"""Compare, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.settings import link as codec
from dashboard.settings.explore import ExploreSettings
from tests.support.browser import Servers
from tests.support.browser_pages import (
    WAIT,
    address,
    chart,
    download,
    is_drawn,
    main_part,
    open_files,
    open_page,
    press,
    query,
    says,
    shown,
    sidebar,
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
    open_files(page)
    rows = list(csv.DictReader(download(page, "CSV").decode().splitlines()))
    assert [row["sampler"] for row in rows] == ["mala", "hmc", "mala-p", "mala-pn", "mahmc"]
    main_part(page).get_by_role("button", name="mala-pn").click()
    shown(page, "Explore")
    page.wait_for_function("() => /sampler=mala-pn/.test(location.search)", timeout=WAIT)
    settings, problem = codec.read(ExploreSettings(), query(page))
    assert problem == ""
    spec = settings.spec({})
    assert spec.target == target
    assert spec.draws * spec.chains * spec.values["L"] == budget


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
