"""Back and Forward go from page to page; what a page was set to, and what it showed, is there when one comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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

GMM = "GMM: Gaussian mixture model"


OVERVIEW = "A laboratory for mixed samplers"
LABELS = {"explore": "CSV", "compare": "CSV", "checks": "Report"}  # of a file of each page
# By the menu from each page to each other one, once.
ROUND = ("Compare", "Explore", "Checks", "Explore", "Overview", "Compare", "Checks", "Compare", "Overview", "Checks",
         "Overview", "Explore")  # fmt: skip


class Seen(NamedTuple):
    """What a person sees of a page: its link, its controls, and how its work stands."""

    link: dict[str, str]
    controls: list[str]
    status: str


def look(page: Page) -> Seen:
    settled(page)
    return Seen(query(page), controls(page), status(page).inner_text())


def file_address(page: Page, label: str) -> str | None:
    """Where the file is. It has the number of the run: the same address means that no new run was made."""
    if not page.get_by_role("link", name=label, exact=True).is_visible():
        open_files(page)
    return file(page, label).get_attribute("href")


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


def test_settings_results_and_history_on_a_walk_through_all_pages(page: Page, serve: Servers) -> None:
    """Controls add nothing to the history, a page one entry; whoever comes back finds settings and results."""
    open_page(page, address(serve, "explore", SMALL))
    begin, seen, files = entries(page), {}, {}
    for count, (name, title) in enumerate(TITLES.items()):
        if count:
            go_to(page, title)
        assert entries(page) == begin + count
        SET_AND_RUN[name](page)
        files[title] = file_address(page, LABELS[name])
        seen[title] = look(page)
        assert entries(page) == begin + count

    def is_as_before(title: str) -> None:
        shown(page, title)
        until(page, lambda: look(page), seen[title])

    for title in ("Compare", "Explore"):
        page.go_back()
        is_as_before(title)
    page.go_forward()
    is_as_before("Compare")
    page.go_back()
    is_as_before("Explore")
    assert entries(page) == begin + 2

    for title in ROUND:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
        if title == "Overview":
            expect(page.get_by_role("heading", name=OVERVIEW, exact=True)).to_be_visible(timeout=WAIT)
        else:
            is_as_before(title)
            label = next(LABELS[name] for name in TITLES if TITLES[name] == title)
            assert file_address(page, label) == files[title]

    go_to(page, "Compare")
    begin = entries(page)
    main_part(page).get_by_role("button", name="HMC", exact=True).click()  # opens this sampler of the comparison
    shown(page, "Explore")
    until(page, lambda: query(page).get("sampler"), "hmc")
    assert entries(page) == begin + 1
    page.go_back()
    is_as_before("Compare")

    open_page(page, address(serve, "explore", {"sampler": "hmc", "L": 7}))  # typed into the same tab
    until_query(page, sampler="hmc", L="7")
    until_controls(page, "Sampler: HMC", "L Leapfrogs, exact: 7")
    says(page, "Choose a target and a sampler")


def test_a_card_of_the_overview_is_one_entry(page: Page, serve: Servers) -> None:
    """The card opens Explore and runs; Back leads to the overview, Forward to the finished run."""
    page.set_default_timeout(WAIT)
    page.goto(serve(APP))
    settled(page)
    begin, card = entries(page), {"target": "gmm", "seed": "7", "2.sampler": "hmc"}
    page.get_by_role("link", name="Open and run").last.click()
    shown(page, "Explore")
    says(page, "Finished:", "run.1")
    until_query(page, **card)
    assert entries(page) == begin + 1
    page.go_back()
    expect(page.get_by_role("heading", name=OVERVIEW)).to_be_visible(timeout=WAIT)
    assert (path(page), query(page)) == ("/", {})
    page.go_forward()  # at once: the overview may still be running
    shown(page, "Explore")
    until_query(page, **card)
    says(page, "Finished:", "run.1")
    assert entries(page) == begin + 1


def test_back_shows_the_results_of_earlier_settings_again(page: Page, serve: Servers) -> None:
    """Two runs of one tab, with another page between: Back brings settings and results of the first run."""
    open_page(page, address(serve, "explore", {"target": "gmm", **SMALL}))
    press(page, "Run")
    says(page, FINISHED)
    first, results = look(page), file_address(page, "CSV")
    go_to(page, "Checks")
    go_to(page, "Explore")
    enter(page, "L Leapfrogs, exact", "2")
    until(page, lambda: query(page).get("L"), "2")
    press(page, "Run")
    says(page, FINISHED)
    until(page, lambda: file_address(page, "CSV") != results, True)
    page.go_back()
    shown(page, "Checks")
    page.go_back()
    shown(page, "Explore")
    until(page, lambda: look(page), first)
    assert file_address(page, "CSV") == results
    expect(page.get_by_text("belong to earlier settings")).to_have_count(0)
