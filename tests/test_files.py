"""Files to download, as the server answers: what is in them, how they are named and sent, and when they are gone."""

from __future__ import annotations

import csv
import io
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.routing import Match

from dashboard.live import downloads
from dashboard.live.downloads import FAILED, GONE
from dashboard.live.screen import Screen
from dashboard.settings.uploads import Upload
from dashboard.work import files
from mahmc import RunSpec, tables, tabular
from mahmc.diagnostics import arviz
from tests.support.pages import (
    ENDLESS,
    Answer,
    answered,
    csv_file,
    ended,
    file_address,
    new_screen,
    run,
    until,
)

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

SMALL = {"chains": "4", "draws": "400", "warmup": "40"}


def explored(screen: Screen | None = None, **query: str) -> Screen:
    """A tab whose run has ended."""
    screen = screen or new_screen()
    screen.tab.follow("explore", SMALL | query)
    ended(run(screen.tab))
    return screen


def compared(**query: str) -> Screen:
    """A tab whose comparison has ended."""
    screen = new_screen()
    small = {"samplers": "hmc,mahmc", "budget": "160000", "replicates": "2"}
    screen.tab.follow("compare", small | query)
    screen.tab.compare(screen.tab.settings["compare"].comparison({}))
    ended(screen.tab.jobs["compare"])
    return screen


def checked(**query: str) -> Screen:
    """A tab that has checked the naive sampler on the mixture."""
    screen = new_screen()
    screen.tab.follow("checks", {"budget": "0.01"} | query)
    screen.tab.check([cell for cell in screen.tab.settings["checks"].cells({})[0] if cell.key == ("naive", "gmm")])
    ended(screen.tab.jobs["checks"])
    return screen


def fetched(screen: Screen, page: str, label: str) -> Answer:
    answer = answered(file_address(screen.view(page), label))
    assert answer.status == 200
    return answer


def run_of(screen: Screen) -> Any:
    return screen.tab.jobs["explore"].work.run


# ------------------------------------------------------------------------------------------------- what is in them


def test_files_of_a_run_hold_its_draws_and_its_settings(tmp_path: Path) -> None:
    screen = explored(target="gmm")
    run = run_of(screen)
    rows = list(csv.DictReader(fetched(screen, "explore", "CSV").text.splitlines()))
    assert list(rows[0]) == ["chain", "draw", "q", "component", "energy"]
    assert [(row["chain"], row["draw"]) for row in rows] == [(str(c), str(d)) for c in range(4) for d in range(400)]
    assert np.array_equal(np.reshape([float(row["q"]) for row in rows], (4, 400)), run.draws["q"])
    (tmp_path / "draws.nc").write_bytes(fetched(screen, "explore", "NetCDF").body)
    assert np.array_equal(arviz().from_netcdf(str(tmp_path / "draws.nc"))["posterior"]["q"].values, run.draws["q"])
    assert RunSpec.from_json(fetched(screen, "explore", "Settings").text) == run.spec
    histogram = pd.read_csv(io.BytesIO(fetched(screen, "explore", "Figure's data").body))
    assert list(histogram.columns) == ["low", "high", "density", "exact"]
    assert float((histogram["density"] * (histogram["high"] - histogram["low"])).sum()) == pytest.approx(1.0, abs=0.01)


def test_the_figures_data_have_no_truth_where_none_is_known() -> None:
    screen = new_screen()
    screen.tab.follow("explore", SMALL | {"target": "blr"})
    screen.tab.use(Upload.of("blr", "mine.csv", tabular.read(csv_file()), "cured"))
    ended(run(screen.tab))
    histogram = pd.read_csv(io.BytesIO(fetched(screen, "explore", "Figure's data").body))
    assert list(histogram.columns) == ["low", "high", "density"]


def test_many_rows_are_sent_as_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = explored(target="gmm")
    monkeypatch.setattr(files, "CSV_ROWS", 4 * 400)
    assert [file["label"] for file in screen.view("explore").parts["files"]][1] == "CSV"
    monkeypatch.setattr(files, "CSV_ROWS", 4 * 400 - 1)
    frame = pd.read_parquet(io.BytesIO(fetched(screen, "explore", "Parquet").body))
    assert list(frame.columns) == ["chain", "draw", "q", "component", "energy"]
    assert np.array_equal(frame["q"].to_numpy(), run_of(screen).draws["q"].ravel())
    assert np.array_equal(frame["chain"].to_numpy(), np.repeat(np.arange(4), 400))
    assert np.array_equal(frame["draw"].to_numpy(), np.tile(np.arange(400), 4))


def test_the_file_of_a_stopped_run_holds_what_was_drawn() -> None:
    screen = new_screen()
    screen.tab.follow("explore", ENDLESS | {"target": "gmm"})
    job = run(screen.tab)
    until(lambda: job.snapshot().result.drawn > 2)
    assert screen.view("explore").parts["files"] == []
    screen.tab.stop("explore")
    ended(job)
    drawn = job.snapshot().result.drawn
    frame = pd.read_csv(io.BytesIO(fetched(screen, "explore", "CSV").body))
    assert 2 < drawn < 1_000_000
    assert len(frame) == 4 * drawn
    assert np.array_equal(frame["q"].to_numpy(), run_of(screen).draws["q"].ravel())


def test_the_table_of_a_comparison_comes_in_three_forms_for_each_cost_and_quantity() -> None:
    screen = compared()
    found = screen.tab.jobs["compare"].work.comparison
    texts = set()
    for cost, quantity in (("leapfrogs", ""), ("updates", ""), ("leapfrogs", "ones"), ("updates", "worst")):
        screen.tab.change("compare", "cost", cost)
        screen.tab.change("compare", "quantity", quantity)
        for label, form in {"CSV": "csv", "Markdown": "markdown", "LaTeX": "latex"}.items():
            text = fetched(screen, "compare", label).text
            about = {"cost": cost} | ({"quantity": quantity} if quantity else {})
            assert text == tables.table([found], form, **about)
            texts.add(text)
    assert len(texts) == 4 * 3


def test_the_address_of_a_table_stays_when_cost_and_quantity_change() -> None:
    """Each address says what its file is of."""
    screen = compared()
    before = file_address(screen.view("compare"), "CSV")
    text = answered(before).text
    screen.tab.change("compare", "cost", "seconds")
    screen.tab.change("compare", "quantity", "ones")
    after = file_address(screen.view("compare"), "CSV")
    assert after != before
    assert answered(before).text == text != answered(after).text


def test_a_report_is_of_the_settings_that_its_address_says() -> None:
    screen = checked(seed="11")
    (file,) = screen.view("checks").parts["files"]
    screen.tab.change("checks", "seed", 12)
    screen.tab.change("checks", "level", 0.001)
    assert screen.view("checks").parts["files"] == []
    text = answered(f"/{file['href']}").text
    assert "?budget=0.01&amp;seed=11" in text
    assert "✕ wrong" in text
    assert "<summary>Naive MH within HMC on GMM" in text
    screen.tab.change("checks", "seed", 11)
    assert screen.view("checks").parts["files"] == []  # there is no verdict at this level


def test_the_report_of_a_custom_case_is_of_that_case() -> None:
    screen = new_screen()
    custom = {"budget": "0.01", "own": "1", "own.weights": "0.5,0.5", "own.means": "-1,1", "own.sds": "0.5,1"}
    screen.tab.follow("checks", custom)
    settings = screen.tab.settings["checks"]
    screen.tab.check([cell for cell in settings.cells({})[0] if cell.key == ("naive", "own")])
    ended(screen.tab.jobs["checks"])
    address = file_address(screen.view("checks"), "Report")
    screen.tab.follow("checks", {})
    assert "your own GMM, 2 components" in answered(address).text


# ---------------------------------------------------------------------------------------------- how they are sent


def test_files_are_named_and_typed_and_not_kept_by_the_browser() -> None:
    screen = explored(target="gmm", seed="5")
    said = {}
    for file in screen.view("explore").parts["files"]:
        headers = answered(f"/{file['href']}").headers
        assert headers["content-disposition"] == f"attachment; filename*=UTF-8''{file['name']}"
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
        said[file["label"]] = (file["name"], headers["content-type"])
    assert said == {
        "NetCDF": ("gmm-mahmc-seed5.nc", "application/octet-stream"),
        "CSV": ("gmm-mahmc-seed5.csv", "text/csv; charset=utf-8"),
        "Figure's data": ("gmm-mahmc-seed5-density.csv", "text/csv; charset=utf-8"),
        "Settings": ("gmm-mahmc-seed5.json", "application/json"),
    }


def test_the_files_of_compare_and_checks_are_named() -> None:
    names = [file["name"] for file in compared(seed="5", cost="updates").view("compare").parts["files"]]
    assert names == [f"mdc-u-per-updates-seed5.{ending}" for ending in ("csv", "md", "tex")]
    screen = checked()
    assert [file["name"] for file in screen.view("checks").parts["files"]] == ["checks-budget0.01-seed0.html"]
    headers = fetched(screen, "checks", "Report").headers
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''checks-budget0.01-seed0.html"


def test_letters_of_a_name_that_headers_do_not_take_are_written_in_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = explored(target="gmm")
    made = files.text_file('β "1".txt', "Odd", "", lambda: "text")
    monkeypatch.setattr(files, "of_run", lambda result: [made])
    headers = fetched(screen, "explore", "Odd").headers
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''%CE%B2%20%221%22.txt"


def test_a_long_file_is_sent_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = explored(target="gmm")
    whole = fetched(screen, "explore", "CSV")
    assert len(whole.pieces) == 4  # chains
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 150)
    assert len(fetched(screen, "explore", "CSV").pieces) == 4 * 3
    assert fetched(screen, "explore", "CSV").body == whole.body
    netcdf = fetched(screen, "explore", "NetCDF")
    monkeypatch.setattr(files, "BYTES_AT_ONCE", 1000)
    assert len(fetched(screen, "explore", "NetCDF").pieces) == -(-len(netcdf.body) // 1000)


def test_files_are_below_the_apps_path() -> None:
    screen = explored(target="gmm")
    address = file_address(screen.view("explore"), "Settings")
    for base in ("a/b", "/a/b/"):
        assert (answered(f"/a/b{address}", base).status, answered(address, base).status) == (200, 404)


def test_the_routes_leave_streamlits_own_and_the_feed_alone() -> None:
    paths = ("/", "/explore", "/_stcore/health", "/static/js/index.js", "/live/token/explore", "/media/x.csv")
    for route, path in itertools.product(downloads.routes(""), paths):
        assert route.matches({"type": "http", "method": "GET", "path": path})[0] == Match.NONE


def test_an_error_while_a_file_is_made_is_told_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(result: object) -> Iterator[bytes]:
        raise OSError("no space left")
        yield b""

    screen = explored(target="gmm")
    monkeypatch.setattr(files, "csv", fail)
    with caplog.at_level(logging.ERROR):
        answer = answered(file_address(screen.view("explore"), "CSV"))
    assert (answer.status, answer.text) == (500, FAILED)
    assert "The file 'gmm-mahmc-seed0.csv' could not be made" in caplog.text
    assert "no space left" in caplog.text
    assert fetched(screen, "explore", "Settings").status == 200


# ----------------------------------------------------------------------------------------------- when they are gone


def test_the_file_of_the_run_before_is_still_there_while_the_next_one_goes_on() -> None:
    screen = explored(target="gmm")
    address = file_address(screen.view("explore"), "CSV")
    text = answered(address).text
    screen.tab.follow("explore", ENDLESS | {"target": "gmm"})
    run(screen.tab)
    until(lambda: screen.tab.jobs["explore"].snapshot().result.drawn > 0)
    assert answered(address).text == text
    screen.tab.change("explore", "seed", 1)
    run(screen.tab)
    answer = answered(address)  # two runs later
    assert (answer.status, answer.text) == (404, GONE)


def test_the_table_of_the_comparison_before_is_still_there_while_the_next_one_goes_on() -> None:
    screen = compared()
    address = file_address(screen.view("compare"), "CSV")
    text = answered(address).text
    screen.tab.change("compare", "budget", 10**8)
    screen.tab.compare(screen.tab.settings["compare"].comparison({}))
    assert answered(address).text == text


def test_the_file_of_a_pinned_run_stays() -> None:
    screen = explored(target="gmm")
    address = file_address(screen.view("explore"), "CSV")
    screen.tab.pin()
    for seed in ("1", "2"):
        explored(screen, target="gmm", seed=seed)
    assert answered(address).status == 200
    screen.tab.unpin(screen.tab.pins[0].job.number)
    assert answered(address).status == 404


def test_files_of_a_run_that_was_reset_are_gone() -> None:
    screen = explored(target="gmm")
    address = file_address(screen.view("explore"), "CSV")
    screen.tab.reset("explore")
    assert answered(address).status == 404


def test_the_files_of_another_tab_cannot_be_had() -> None:
    mine, theirs = explored(target="gmm"), explored(target="gmm", seed="9")
    address = file_address(theirs.view("explore"), "Settings")
    assert answered(address).status == 200
    guessed = address.replace(theirs.token, mine.token)
    assert guessed != address
    answer = answered(guessed)
    assert (answer.status, answer.text) == (404, GONE)
    assert answered(address.replace(theirs.token, "guessed")).status == 404


def test_files_end_with_their_tab() -> None:
    screen = explored(target="gmm")
    address = file_address(screen.view("explore"), "Settings")
    assert answered(address).status == 200
    del screen
    assert answered(address).status == 404


@pytest.mark.parametrize(
    "rest",
    ["explore/files/{0}/other.csv", "explore/files/0/gmm-mahmc-seed0.csv", "explore/files/x/gmm-mahmc-seed0.csv",
     "overview/files/{0}/gmm-mahmc-seed0.csv", "nowhere/files/{0}/gmm-mahmc-seed0.csv",
     "compare/files/{0}.leapfrogs./mdc-u-per-leapfrogs-seed0.csv", "compare/files/{0}/x", "compare/files/../x",
     "checks/files/-/other.html", "checks/files/%C3/checks.html",
     "checks/files/_w/checks.html"],
)  # fmt: skip
def test_what_is_not_offered_is_not_found(rest: str, caplog: pytest.LogCaptureFixture) -> None:
    screen = explored(target="gmm")
    number = screen.tab.jobs["explore"].number
    with caplog.at_level(logging.ERROR):
        answer = answered(f"/{screen.tab.address}/{rest.format(number)}")
    assert answer.status == 404
    assert caplog.records == []


def test_an_unknown_cost_or_quantity_gives_no_other_table() -> None:
    screen = compared()
    address = file_address(screen.view("compare"), "CSV")
    assert answered(address).status == 200
    assert answered(address.replace(".leapfrogs.", ".evil.")).status == 404
    assert answered(address.replace(".leapfrogs.", ".leapfrogs.ones")).status == 404  # another name goes with it
