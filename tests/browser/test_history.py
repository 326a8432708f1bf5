"""Back and Forward go from page to page; what a page was set to, and what it showed, is there when one comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import (
    APP,
    FINISHED,
    SMALL,
    TITLES,
    WAIT,
    address,
    cell_is,
    choose,
    controls,
    enter,
    file,
    go_to,
    main_part,
    open_files,
    open_page,
    path,
    press,
    query,
    says,
    settled,
    shown,
    sidebar,
    status,
    until,
    until_controls,
    until_query,
)

GMM = "GMM: Gaussian mixture with its component"


class Seen(NamedTuple):
    """What a person sees of a page: its link, its controls, and how its work stands."""

    link: dict[str, str]
    controls: list[str]
    status: str


def look(page: Page) -> Seen:
    settled(page)
    return Seen(query(page), controls(page), status(page).inner_text())


def entries(page: Page) -> int:
    """How many entries the tab's history has."""
    return page.evaluate("() => history.length")


def set_and_run_explore(page: Page) -> None:
    """Move several controls, one of which brings more of them, and run."""
    choose(page, "Target", GMM)
    until_query(page, target="gmm", **texts(SMALL))
    enter(page, "ε Step size, exact", "0.25")
    until_query(page, target="gmm", epsilon="0.25", **texts(SMALL))
    sidebar(page).get_by_role("radio", name="Full").click()
    until_query(page, target="gmm", epsilon="0.25", view="full", **texts(SMALL))
    press(page, "Run")
    says(page, FINISHED)


def set_and_run_compare(page: Page) -> None:
    choose(page, "Target", GMM)
    until_query(page, target="gmm")
    enter(page, "Leapfrogs of a replicate", "48000")
    until_query(page, target="gmm", budget="48000")
    enter(page, "Replicates", "2")
    until_query(page, target="gmm", budget="48000", replicates="2")
    choose(page, "Cost", "gradients really evaluated")
    until_query(page, target="gmm", budget="48000", replicates="2", cost="gradients")
    press(page, "Run")
    says(page, "Finished: ")


def set_and_run_checks(page: Page) -> None:
    enter(page, "Budget, exact", "0.02")
    until_query(page, budget="0.02")
    enter(page, "Seed", "3")
    until_query(page, budget="0.02", seed="3")
    page.get_by_role("button", name="Check this cell").click()
    cell_is(page, "naive", "gmm", "wrong")
    says(page, "Finished: ")


SET_AND_RUN: dict[str, Callable[[Page], None]] = {
    "explore": set_and_run_explore,
    "compare": set_and_run_compare,
    "checks": set_and_run_checks,
}


def texts(values: dict[str, int]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def test_controls_add_nothing_to_the_history_and_a_page_one_entry(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "explore", SMALL))
    begin = entries(page)
    set_and_run_explore(page)
    explored = look(page)
    assert entries(page) == begin
    go_to(page, "Compare")
    assert entries(page) == begin + 1
    set_and_run_compare(page)
    compared = look(page)
    assert entries(page) == begin + 1

    page.go_back()
    shown(page, "Explore")
    until(page, lambda: look(page), explored)
    page.go_forward()
    shown(page, "Compare")
    until(page, lambda: look(page), compared)
    assert entries(page) == begin + 1


def test_a_card_of_the_overview_is_one_entry(page: Page, serve: Servers) -> None:
    page.set_default_timeout(WAIT)
    page.goto(serve(APP))
    settled(page)
    begin = entries(page)
    page.get_by_role("link", name="Open and run").last.click()
    shown(page, "Explore")
    says(page, "Finished:")
    until_query(page, target="gmm", seed="7")
    assert entries(page) == begin + 1
    page.go_back()
    expect(page.get_by_role("heading", name="A laboratory for mixed samplers")).to_be_visible(timeout=WAIT)
    assert (path(page), query(page)) == ("/", {})
    page.go_forward()
    shown(page, "Explore")
    until_query(page, target="gmm", seed="7")
    says(page, "Finished:")
    assert entries(page) == begin + 1


def test_from_compare_to_explore_is_one_entry(page: Page, serve: Servers) -> None:
    """By a button that opens a sampler of the comparison."""
    open_page(page, address(serve, "compare"), "Compare")
    set_and_run_compare(page)
    compared, begin = look(page), entries(page)
    main_part(page).get_by_role("button", name="hmc", exact=True).click()
    shown(page, "Explore")
    until(page, lambda: query(page).get("sampler"), "hmc")
    assert entries(page) == begin + 1
    page.go_back()
    shown(page, "Compare")
    until(page, lambda: look(page), compared)


def test_a_link_typed_into_the_same_tab_is_opened(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "explore", SMALL))
    set_and_run_explore(page)
    open_page(page, address(serve, "explore", {"sampler": "hmc", "L": 7}))
    until_query(page, sampler="hmc", L="7")
    until_controls(page, "Sampler: HMC", "L Leapfrogs, exact: 7")
    says(page, "Choose a target and a sampler")


@pytest.mark.parametrize("name", SET_AND_RUN)
def test_whoever_comes_back_finds_settings_and_result(page: Page, serve: Servers, name: str) -> None:
    """The address of the files has the number of the run: no new one was made."""
    open_page(page, address(serve, name, SMALL if name == "explore" else {}), TITLES[name])
    SET_AND_RUN[name](page)
    open_files(page)
    label = {"explore": "CSV", "compare": "CSV", "checks": "Report"}[name]
    before, where = look(page), file(page, label).get_attribute("href")
    for other in ("Overview", *(title for title in TITLES.values() if title != TITLES[name])):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=other, exact=True).click()
        heading = "A laboratory for mixed samplers" if other == "Overview" else other
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible(timeout=WAIT)
        go_to(page, TITLES[name])
        until(page, lambda: look(page), before)
        open_files_again(page, label)
        assert file(page, label).get_attribute("href") == where


def open_files_again(page: Page, label: str) -> None:
    """Whether the part with the files is still open is of no importance here."""
    if not page.get_by_role("link", name=label, exact=True).is_visible():
        open_files(page)
