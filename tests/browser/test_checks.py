"""Checks, as a person uses it: in Chromium, on a real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import Servers, edit_first_row
from tests.support.browser_pages import (
    WAIT,
    address,
    cell,
    cell_is,
    chart,
    download,
    enter,
    is_drawn,
    open_files,
    open_page,
    place,
    says,
    settled,
    until,
    until_query,
)

CUSTOM = {"own": 1, "own.target": "gmm", "own.weights": "0.5,0.5", "own.means": "-1,1", "own.sds": "0.5,1"}


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    return lambda **query: address(serve, "checks", {"budget": 0.02} | query)


def open_checks(page: Page, where: str) -> None:
    open_page(page, where, "Checks")
    expect(page.locator(".verdicts .square").first).to_be_visible(timeout=WAIT)


def checked(page: Page) -> None:
    """Until checks have ended and the page has been laid out with all that they found."""
    says(page, "Finished: ")
    expect(page.get_by_role("button", name="Run all")).to_be_visible(timeout=WAIT)


def test_a_cell_turns_red_and_is_looked_at_closely(page: Page, link: Callable[..., str]) -> None:
    """Chosen with a click and with the keyboard; every check has its picture or its table."""
    open_checks(page, link(cell="mahmc.mdc"))
    cell(page, "naive", "gmm").click()
    expect(page.get_by_role("heading", name="(wrong on purpose) on GMM, the paper's")).to_be_visible(timeout=WAIT)
    until_query(page, budget="0.02")  # this cell is the default
    node = cell(page, "naive", "gmm").element_handle()
    page.get_by_role("button", name="Check this cell").click()
    cell_is(page, "naive", "gmm", "wrong")
    checked(page)
    assert node.evaluate("node => node.isConnected"), "the cell was rebuilt"
    assert "✕" in cell(page, "naive", "gmm").inner_text()
    assert "wrong" in cell(page, "naive", "gmm").inner_text()
    expect(page.get_by_text("moves downhill are rewarded twice").first).to_be_visible(timeout=WAIT)
    for title in ("Histogram against the truth", "Distribution function minus", "Differences from the truth"):
        expect(page.get_by_text(title)).to_be_visible(timeout=WAIT)
    is_drawn(page.locator(".live-chart").first)
    page.get_by_role("radio", name="Detailed balance").click()
    expect(page.get_by_text("Flows each way between discrete states")).to_be_visible(timeout=WAIT)
    cell(page, "naive", "gmm").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="M-HMC on GMM, the paper's")).to_be_visible(timeout=WAIT)
    expect(cell(page, "m-hmc", "gmm")).to_have_attribute("aria-pressed", "true", timeout=WAIT)
    until_query(page, budget="0.02", cell="m-hmc.gmm", check="detailed balance")


def test_a_row_is_run_from_the_matrix_and_stopped(page: Page, link: Callable[..., str]) -> None:
    open_checks(page, link(budget=5, cell="mala.gmm"))
    page.get_by_role("button", name="Check MALA on all targets").click()
    cell_is(page, "mala", "mdc", "running")
    cell_is(page, "mala", "gmm", "waiting")
    cell_is(page, "hmc", "mdc", "open")
    says(page, "Check 1 of 19: marginals of MALA on MDC")
    page.get_by_role("button", name="Stop").click()
    says(page, "Stopped: ")
    expect(page.get_by_role("button", name="Run all")).to_be_enabled(timeout=WAIT)
    cell_is(page, "mala", "gmm", "open")


def _heard(page: Page) -> tuple[list[str], list[str]]:
    """The addresses that the page requests from now on, and its messages and errors."""
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type != "debug" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return asked, said


def test_the_report_opens_alone(page: Page, browser: Browser, link: Callable[..., str], tmp_path: Path) -> None:
    """From its file, without a request and without an error, in light and dark, wide and narrow; charts are drawn."""
    open_checks(page, link(cell="naive.gmm-overlapping"))
    page.get_by_role("button", name="Check this cell").click()
    checked(page)
    open_files(page)
    (tmp_path / "checks.html").write_bytes(download(page, "Report"))
    looks: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1200, "light"), (390, "dark"))
    for width, scheme in looks:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
        alone = context.new_page()
        asked, said = _heard(alone)
        alone.goto((tmp_path / "checks.html").as_uri())
        alone.locator("summary").first.click()
        expect(alone.locator("details .main-svg").first).to_be_visible(timeout=WAIT)
        assert "✕ wrong" in alone.locator(".matrix").inner_text()
        box = alone.get_by_role("rowheader", name="MAHMC", exact=True).bounding_box()
        assert box is not None
        assert box["height"] < 60
        assert alone.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        assert asked == [(tmp_path / "checks.html").as_uri()]
        assert said == []
        context.close()


def test_right_against_wrong(page: Page, link: Callable[..., str]) -> None:
    """The slider goes from where neither eye nor test can tell to where the test is sure."""
    open_page(page, link(exhibit="asymmetric", draws=1), "Checks")
    page.get_by_role("button", name="Run both").click()
    expect(page.get_by_text("p-value against draws")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Tested after")).to_have_count(0, timeout=WAIT)
    expect(page.get_by_text("after 1 draws")).to_have_count(2, timeout=WAIT)
    assert page.get_by_text("no error found").count() == 2
    page.get_by_role("slider", name="Draws of each chain").focus()
    page.keyboard.press("End")
    expect(page.get_by_text("after 4,096 draws")).to_have_count(2, timeout=WAIT)
    assert page.get_by_text("no error found").count() == 1
    until_query(page, budget="0.02", exhibit="asymmetric", draws="4096", view="contest")


TEXTS = """node => {
  window.texts = [];
  const take = ({ addedNodes }) => addedNodes.forEach((added) => window.texts.push(added.data.split(": ")[1]));
  new MutationObserver((changes) => changes.forEach(take)).observe(node, { childList: true });
}"""


def test_a_contest_plays_by_itself_unless_motion_is_reduced(page: Page, link: Callable[..., str]) -> None:
    """From one draw to where the test can tell, with the first charts above the fold, also at 1024 × 768."""
    page.set_viewport_size({"width": 1024, "height": 768})
    page.emulate_media(reduced_motion="reduce")
    open_page(page, link(view="contest", exhibit="asymmetric"), "Checks")
    player = place(page, "contest.player")
    play, shown = player.get_by_role("button"), player.locator("output")
    page.get_by_role("button", name="Run both").click()
    expect(play).to_be_enabled(timeout=WAIT)
    assert (play.inner_text(), shown.inner_text()) == ("▶ Play", "Draws of each chain: 16")
    settled(page)
    for name in ("mahmc", "asymmetric"):
        box = chart(page, f"contest.component.{name}").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768
    shown.evaluate(TEXTS)
    page.emulate_media(reduced_motion="no-preference")
    play.click()
    expect(play).to_have_text("❚❚ Pause", timeout=WAIT)
    expect(play).to_have_text("▶ Play", timeout=WAIT)
    assert page.evaluate("window.texts") == ["1", "2", "4", "8", "16"]
    until_query(page, budget="0.02", exhibit="asymmetric", view="contest")
    enter(page, "Seed", "1")
    page.get_by_role("button", name="Run both").click()
    expect(play).to_have_text("❚❚ Pause", timeout=WAIT)  # nobody has clicked
    play.click()
    expect(play).to_have_text("▶ Play", timeout=WAIT)


def test_a_custom_mixture(page: Page, link: Callable[..., str]) -> None:
    """Added at the side and checked; refused while its weights sum to more than one, and nothing is lost by that."""
    page.set_viewport_size({"width": 1400, "height": 1200})
    open_checks(page, link(**CUSTOM, **{"own.sampler": "naive"}))
    expect(page.get_by_role("columnheader", name="your own GMM, 2 components")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Check this case").click()
    cell_is(page, "naive", "own", "wrong")
    checked(page)
    edit_first_row(page, 0.25, "0.7")
    expect(page.get_by_text("sum to 1.2, not to one")).to_be_visible(timeout=WAIT)
    cell_is(page, "naive", "own", "wrong")
    page.get_by_role("button", name="Make the weights sum to one").click()
    cell_is(page, "naive", "own", "open")
    page.wait_for_function("() => /own.weights=0.583/.test(location.search)", timeout=WAIT)


def test_links_that_ask_for_nonsense_are_refused(page: Page, link: Callable[..., str]) -> None:
    nonsense = {"budget": "<script>alert(1)</script>", "seed": "1e400", "cell": "<img src=x onerror=alert(1)>"}
    open_checks(page, link(**nonsense, z="z"))
    refused = page.get_by_text("Ignored in this link:")
    for words in (*(f"{name} (must be" for name in nonsense), "1 parameter that this page does not know"):
        expect(refused).to_contain_text(words, timeout=WAIT)
    assert page.locator("script", has_text="alert(1)").count() == 0
    assert page.locator("img[src=x]").count() == 0
    until_query(page)
    open_checks(page, link(**{"own": 1, "own.target": "blr", "own.shape": 2}))
    expect(page.get_by_text("the exact posterior of BLR under this prior is unknown")).to_be_visible(timeout=WAIT)


def test_the_matrix_fits_the_screen(page: Page, link: Callable[..., str]) -> None:
    """On a phone it scrolls sideways in its own frame, with the samplers' names in sight; the page does not."""
    page.set_viewport_size({"width": 390, "height": 844})
    open_checks(page, link())
    frame = page.locator(".verdicts")
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 844})
        until(page, lambda: frame.evaluate("node => node.scrollWidth > node.clientWidth"), width == 390)
        frame.evaluate("node => (node.scrollLeft = 1000)")
        expect(cell(page, "mahmc", "gmm-overlapping")).to_be_in_viewport()
        expect(page.get_by_role("rowheader", name="MAHMC").first).to_be_in_viewport()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
