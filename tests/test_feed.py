"""The feed of real pages: what a browser is told while a run goes on, when it has to refresh, and that tabs end."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from dashboard.live.screen import Screen
from tests.support.pages import (
    ENDLESS,
    SMALL,
    Page,
    answered,
    ended,
    new_screen,
    opened,
    opened_app,
    until,
)

pytestmark = pytest.mark.usefixtures("pages_of_one_test")


def read(told: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header, and the charts' messages by place."""
    end = 4 + int.from_bytes(told[:4], "little")
    header, charts = json.loads(told[4:end]), {}
    for place, size in header.pop("charts").items():
        charts[place], end = told[end : end + size], end + size
    assert end == len(told)
    return header, charts


def asked(page: Page, since: int) -> tuple[int, bytes]:
    """Status and body of what the server answers the browser, which has the page as it was last run."""
    feed = page.feed
    answer = answered(f"/{feed['address']}?since={since}&mark={feed['mark']}")
    return answer.status, answer.body


def running() -> Page:
    """Explore with a run of hours, refreshed once there are draws."""
    page = opened(view="full", **ENDLESS).press("Run")
    until(lambda: page.job.snapshot().result.drawn > 10)
    return page.run()


def test_news_of_a_run_are_its_status_and_the_charts_that_were_made_since() -> None:
    page = running()
    status, body = asked(page, 0)
    assert status == 200
    first, charts = read(body)
    assert first["parts"]["status"]["text"].startswith("Drawing: ")
    assert 0 < first["parts"]["status"]["share"] < 1
    assert {"Acceptance", "R-hat"} <= {tile["label"] for tile in first["parts"]["status"]["tiles"]}
    assert {"trace", "density", "mean", "rates", "beads"} <= set(charts)
    assert (first["busy"], first["faded"], first["mark"]) == (True, False, page.feed["mark"])
    drawn = page.job.snapshot().result.drawn
    until(lambda: page.job.snapshot().result.drawn > 1.2 * drawn)
    later, charts = read(asked(page, first["last"])[1])
    assert later["last"] > first["last"]
    assert later["parts"]["status"]["text"] != first["parts"]["status"]["text"]
    assert "files" not in later["parts"]
    assert len(charts) == 1  # they take turns
    assert "beads" not in charts


def test_the_end_of_a_run_and_a_reset_are_for_a_refresh() -> None:
    """Buttons, and what comes after a run, change as well."""
    page = running()
    assert asked(page, 0)[0] == 200
    page.tab.stop("explore")
    ended(page.job)
    assert asked(page, 0) == (205, b"")
    page.run()
    status, body = asked(page, 0)
    assert (status, read(body)[0]["busy"]) == (200, False)
    page.tab.reset("explore")
    assert asked(page, 0) == (205, b"")


def test_estimates_that_are_worked_out_after_a_run_are_for_a_refresh_once() -> None:
    page = opened(view="full", **SMALL).press("Run")
    page.ended()
    status, body = asked(page, 0)
    assert (status, read(body)[0]["busy"]) == (200, False)
    assert asked(page, 0)[0] == 200


@pytest.mark.parametrize("name", ["overview", "explore", "compare", "checks"])
def test_a_page_at_rest_has_its_content_from_the_feed(name: str) -> None:
    page = opened_app() if name == "overview" else opened(name)
    status, body = asked(page, 0)
    header, charts = read(body)
    assert (status, header["busy"]) == (200, False)
    assert set(header["parts"]) == set(page.view.parts)
    assert set(charts) == {request.place for request in page.view.charts}
    again, charts = read(asked(page, header["last"])[1])
    assert (again["parts"], charts) == ({}, {})


def test_another_tab_has_another_address_and_sees_nothing_of_this_one() -> None:
    page, other = opened(**SMALL).press("Run").ended(), opened(**SMALL)
    assert page.feed["address"] != other.feed["address"]
    assert read(asked(other, 0)[1])[0]["parts"]["status"]["text"].startswith("Choose a target")


def test_a_tab_that_is_gone_is_not_found() -> None:
    screen: Screen | None = new_screen()
    assert screen is not None
    address, mark = screen.address("explore"), screen.view("explore").mark
    assert answered(f"/{address}?since=0&mark={mark}").status == 200
    screen = None
    gc.collect()
    assert answered(f"/{address}?since=0&mark={mark}").status == 404
