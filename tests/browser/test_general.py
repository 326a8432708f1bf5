"""Schedules, M-HMC and uploaded data, as a person uses them: in Chromium, on a real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import (
    APP,
    FINISHED,
    SMALL,
    WAIT,
    HeldMessages,
    address,
    enter,
    is_drawn,
    main_part,
    open_page,
    place,
    press,
    query,
    says,
    settled,
    shown,
    sidebar,
    until,
    until_query,
)

FULL = {"view": "full", **SMALL}
MIRRORED = "0001 : 0.25\n1000 : 0.25\n010 : 0.5"


@pytest.fixture
def link(serve: Servers) -> Callable[..., str]:
    return lambda **query: address(serve, "explore", query)


def choose_schedule(page: Page, kind: str) -> None:
    sidebar(page).get_by_role("radio", name=kind, exact=True).click()


def beads(page: Page) -> Locator:
    """The drawing, at the side."""
    return sidebar(page).locator(".live-chart")


def type_sequences(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name="Sequences, one in each line")
    field.fill(text)
    field.press("Control+Enter")


def until_schedule(page: Page, text: str) -> None:
    """Until the link has this schedule."""
    until(page, lambda: query(page).get("schedule"), text)


def test_iid_is_chosen_drawn_and_run(page: Page, link: Callable[..., str]) -> None:
    page.set_viewport_size({"width": 1400, "height": 1400})  # a drawing out of sight waits
    open_page(page, link(target="mdc", sampler="mahmc", **FULL))
    is_drawn(beads(page))
    expect(beads(page).locator(".scatterlayer .trace .points path")).to_have_count(109, timeout=WAIT)
    choose_schedule(page, "I.i.d.")
    expect(page.get_by_text("On average 100 leapfrogs and 9 updates")).to_be_visible(timeout=WAIT)
    expect(beads(page).locator(".scatterlayer .trace .points path")).to_have_count(3 * 109, timeout=WAIT)
    before = beads(page).get_attribute("aria-label")
    enter(page, "P(leapfrog), exact", "0.5")
    until_schedule(page, "iid(109, 0.5)")
    expect(beads(page)).not_to_have_attribute("aria-label", before or "", timeout=WAIT)
    press(page, "Run")
    says(page, FINISHED)
    expect(page.get_by_text("Inner updates")).to_be_visible(timeout=WAIT)


def test_a_sequence_without_its_mirror_image_is_refused_with_the_reason(page: Page, link: Callable[..., str]) -> None:
    open_page(page, link(target="gmm", sampler="mahmc", schedule="sequences(010)", **FULL))
    type_sequences(page, "0001 : 0.5\n010 : 0.5")
    expect(page.get_by_text("P(D⁻¹)/P(D) is zero")).to_be_visible(timeout=WAIT)
    assert query(page)["schedule"] == "sequences(010)"
    page.get_by_role("button", name="Add mirror images").click()
    until_schedule(page, "sequences(0001:0.25, 1000:0.25, 010:0.5)")
    expect(page.get_by_text("P(D⁻¹)/P(D) is zero")).to_have_count(0, timeout=WAIT)
    press(page, "Run")
    says(page, FINISHED)


def test_there_is_one_run_button_while_a_warning_above_it_goes(page: Page, link: Callable[..., str]) -> None:
    """In the midst of the page's run, too: a click would have met the button that is about to go."""
    held = HeldMessages(page)
    open_page(page, link(target="gmm", sampler="mahmc", schedule="sequences(010)", **FULL))
    type_sequences(page, "0001 : 0.5\n010 : 0.5")
    repair = page.get_by_role("button", name="Add mirror images")
    expect(repair).to_be_visible(timeout=WAIT)
    settled(page)
    held.is_holding = True
    repair.click()
    held.until_runs(page, 1)
    held.release_all_but_the_end()
    expect(page.get_by_role("textbox", name="Sequences, one in each line").last).to_have_value(MIRRORED, timeout=WAIT)
    expect(sidebar(page).get_by_role("button", name="Run", exact=True)).to_have_count(1)
    held.release()
    until_schedule(page, "sequences(0001:0.25, 1000:0.25, 010:0.5)")


def a_table(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [f"{age:.2f},{dose:.3f},{i % 2}" for i, (age, dose) in enumerate(rng.normal(size=(80, 2)))]
    path = folder / "patients.csv"
    path.write_text("\n".join(["age,dose,cured", *rows]))
    return path


def upload(page: Page, path: Path) -> None:
    page.locator("input[type=file]").set_input_files(path)


def test_a_table_is_uploaded_and_run_and_its_link_asks_for_it_again(
    page: Page, browser: Browser, link: Callable[..., str], tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1400, "height": 1200})
    open_page(page, link(target="blr", sampler="mahmc", **FULL))
    page.get_by_text("Parameters of the target").click()
    bad = tmp_path / "bad.csv"
    bad.write_text("age,sex,cured\n" + "1.5,<img src=x onerror=alert(1)>,0\n2.5,f,1\n" * 10)
    upload(page, bad)
    expect(page.get_by_text("This file cannot be used: column 'sex' holds text")).to_be_visible(timeout=WAIT)
    assert page.locator("img[src=x]").count() == 0
    assert "data" not in query(page)
    upload(page, a_table(tmp_path))
    expect(page.get_by_text("The first 5 of 80 rows.")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Use these data").click()
    expect(page.get_by_text("BLR on your data: patients.csv, 80 × 2")).to_be_visible(timeout=WAIT)
    until(page, lambda: "data" in query(page), True)
    press(page, "Run")
    says(page, FINISHED)
    expect(page.get_by_role("tab", name="Autocorrelation")).to_be_visible(timeout=WAIT)
    assert main_part(page).locator(".live-chart").count() >= 4
    main_part(page).get_by_role("combobox").first.click()
    expect(page.get_by_role("option", name="β[0] (age)")).to_be_visible(timeout=WAIT)
    page.keyboard.press("Escape")
    context = browser.new_context()
    elsewhere = open_page(context.new_page(), page.url)
    expect(elsewhere.get_by_text("upload the same file again")).to_be_visible(timeout=WAIT)
    until_query(elsewhere, **{name: text for name, text in query(page).items() if name != "data"})
    sidebar(elsewhere).get_by_text("Parameters of the target").click()
    upload(elsewhere, a_table(tmp_path))
    elsewhere.get_by_role("button", name="Use these data").click()
    expect(elsewhere.get_by_text("BLR on your data: patients.csv, 80 × 2")).to_be_visible(timeout=WAIT)
    until_query(elsewhere, **query(page))
    context.close()
    page.get_by_role("button", name="Back to the breast cancer data").click()
    expect(page.get_by_text("BLR on your data")).to_have_count(0, timeout=WAIT)


def test_the_question_of_the_overview_opens_in_compare(page: Page, serve: Servers) -> None:
    page.goto(serve(APP))
    page.get_by_role("link", name="Timing of updates").click()
    shown(page, "Compare")
    until_query(page, samplers="hmc,mahmc", iid="1")
    enter(page, "Leapfrogs of a replicate", "160000")
    until_query(page, samplers="hmc,mahmc", iid="1", budget="160000")
    press(page, "Run")
    says(page, "Finished: ")
    expect(place(page, "headlines")).to_contain_text("MAHMC, i.i.d.", timeout=WAIT)


def test_the_controls_of_a_schedule_fit_the_screen(page: Page, link: Callable[..., str]) -> None:
    page.set_viewport_size({"width": 390, "height": 1200})
    open_page(page, link(target="mdc", sampler="mahmc", schedule="iid(60, 0.8)", **FULL))
    page.get_by_test_id("stExpandSidebarButton").click()
    is_drawn(beads(page))
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 1200})
        until(page, lambda: beads(page).evaluate("node => node._fullLayout.width === node.offsetWidth"), True)
        until(page, lambda: sticks_out(page), [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def sticks_out(page: Page) -> list[str]:
    """Parts of a schedule's controls that reach beyond the side, with the places of both."""
    side, found = sidebar(page).bounding_box(), []
    assert side is not None
    for part in (beads(page), sidebar(page).get_by_role("radiogroup", name="Schedule")):
        box = part.bounding_box()
        assert box is not None
        if box["x"] < side["x"] or box["x"] + box["width"] > side["x"] + side["width"] + 1:
            found.append(f"{box} in {side}")
    return found
