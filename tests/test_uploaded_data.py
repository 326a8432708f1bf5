"""A person's own data for BLR: Upload your own data on Explore, and used on all pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.settings import link
from dashboard.settings.checks import CheckSettings
from dashboard.settings.uploads import MOST_UPLOADS, Upload
from dashboard.widgets.uploading import NO_TRUTH
from mahmc import InvalidInput, tabular
from tests.support.pages import SMALL, Page, csv_file, has_markdown_link, new_tab, opened, spec_of

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

FILE = "a_[b](http://e.org)`.csv"
COLUMN = "Column to explain, of zeros and ones"


def upload(seed: int = 0) -> Upload:
    return Upload.of("blr", "mine.csv", tabular.read(csv_file(seed=seed)), "cured")


def brought(page: Page) -> str:
    """Data that were Upload your own data on Explore before; their fingerprint."""
    page.tab.change("explore", "target", "blr")
    page.tab.use(upload())
    page.run()
    return upload().fingerprint


def uploaded(page: Page, data: bytes) -> Page:
    page.app.file_uploader[0].set_value((FILE, data, "text/csv"))
    return page.run()


def with_data(**more: str) -> Page:
    """Explore on uploaded data."""
    page = uploaded(opened(target="blr", view="full", **SMALL, **more), csv_file())
    return page.press("Use these data")


def data(page: Page) -> str:
    """The fingerprint of the data in use."""
    return page.spec.data


# ------------------------------------------------------------------------------------------------------- Explore


def test_a_table_is_uploaded_previewed_used_and_run() -> None:
    page = uploaded(opened(target="blr", view="full", **SMALL), csv_file())
    assert list(page.app.dataframe[0].value.columns) == ["age", "dose_$", "cured"]
    assert len(page.app.dataframe[0].value) == tabular.PREVIEW
    assert page.widget(COLUMN).value == "cured"
    assert data(page) == ""  # not before it is said
    page.press("Use these data")
    assert len(data(page)) == 12
    (caption,) = [c.value for c in page.app.caption if "on your data" in c.value]
    assert "60 × 2" in caption
    assert data(page) in caption
    assert not has_markdown_link(caption.replace("`a_[b](http://e.org)·.csv`", ""))
    page.press("Run").ended()
    assert f"BLR (your data {data(page)})" in page.view.parts["origin"][0]["text"]
    assert [tile["beside"] for tile in page.view.parts["status"]["tiles"] if tile["beside"]] == []  # no paper's figure
    assert "of your data: 3 coefficients" in page.words
    assert not [caption.value for caption in page.app.caption if "31" in caption.value]
    assert page.job.work.run.target.density.dim == 3
    assert {"β[0] (age)", "β[1] (dose_$)", "β[2] ((intercept))"} <= set(page.widget("Quantity").options)
    assert page.link["data"] == data(page)
    titles = {request.place: request.title for request in page.view.charts}
    assert titles["density"] == "Distribution (the truth is unknown)"
    page.everything()
    page.press("Back to the breast cancer data")
    assert data(page) == ""
    assert page.view.faded


def test_the_program_on_uploaded_data_gives_the_same_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = with_data(schedule="iid(6, 0.7)", shape="2.0", seed="5").press("Run").ended()
    run = page.job.work.run
    (program,) = [code.value for code in page.app.code if "import mahmc" in code.value]
    (tmp_path / "a_[b](http:__e.org)`.csv").write_bytes(csv_file())
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(program.replace("http://", "http:__"), found)
    assert found["run"].spec == run.spec
    for name, draws in run.draws.items():
        assert np.array_equal(found["run"].draws[name], draws)


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "binary": (b"\x89PNG\0\0", "CSV file"),
    "text": (csv_file(more={"sex": ["m", "f"] * 30}), "holds text"),
    "missing": (csv_file(more={"gap": ["", 1.0] * 30}), "has no value in row 1"),
    "constant": (csv_file(more={"same": [3] * 60}), "in every row"),
    "rows": (csv_file(rows=5001), "more than 5000 rows"),
    "columns": (csv_file(more={f"x{i}": [i] * 60 for i in range(200)}), "203 columns; at most 200"),
    "empty": (b"", "the file is empty"),
    "markdown": (csv_file(more={"![x](http://e.org/x.png)": ["a"] * 60}), "holds text"),
}


def test_each_wrong_file_has_its_message_and_nothing_that_was_chosen_is_lost() -> None:
    page = with_data()
    before = page.spec
    for name, (content, words) in BAD_FILES.items():
        uploaded(page, content)
        assert page.app.error[0].value.startswith("This file cannot be used: "), name
        assert words in page.app.error[0].value, name
        assert not has_markdown_link(page.app.error[0].value), name
        assert not [b for b in page.app.button if b.label == "Use these data"], name
        assert page.spec == before, name
    uploaded(page, csv_file(seed=1)).set(COLUMN, "age")
    assert "zeros and ones" in page.app.error[0].value
    assert page.spec == before


def test_a_link_to_a_run_on_uploaded_data_says_that_they_must_be_uploaded_again() -> None:
    """All else that it says is kept; whoever has the data in this tab sees them."""
    page = with_data()
    query = page.link | {"seed": "123", "draws": "777"}
    other = opened(**query)
    assert other.warned == link.NO_DATA
    found = other.spec
    assert (found.data, found.target, found.seed, found.draws) == ("", "blr", 123, 777)
    page.tab.follow("explore", query)
    assert (data(page), page.spec.seed, page.run().warned) == (query["data"], 123, "")


def test_a_pin_on_uploaded_data_is_reopened_with_them() -> None:
    page = with_data().press("Run").ended().press("Pin this run")
    page.press("Back to the breast cancer data").press("Reopen")
    assert page.spec == page.tab.pins[0].job.work.spec
    assert not page.view.faded
    page.everything()


def test_a_tab_keeps_the_last_data_only() -> None:
    tab = new_tab()
    tab.change("explore", "target", "blr")
    for seed in range(MOST_UPLOADS + 2):
        tab.use(upload(seed))
    assert len(tab.uploads) == MOST_UPLOADS
    spec = spec_of(tab)
    assert spec.data == list(tab.uploads)[-1] == upload(MOST_UPLOADS + 1).fingerprint
    with pytest.raises(InvalidInput, match="a user's data"):
        spec.build_target()


# ----------------------------------------------------------------------------------------------- Compare and Checks


def test_uploaded_data_are_compared() -> None:
    page = opened("compare", target="blr", samplers="hmc,mahmc", replicates="2", budget="16000")
    assert "Upload your own data on Explore" in page.words
    mark = brought(page)
    page.set("Data", mark).press("Run").ended()
    found = page.job.work.comparison
    assert (found.target.fingerprint, found.finished) == (mark, True)
    assert "Points classified correctly" in page.words
    assert [figure for figure in ("98.77", "31 coefficients", "the paper says") if figure in page.words] == []
    assert f"BLR (your data {mark})" in page.view.parts["table"]["caption"]
    assert {row["paper"] for row in page.table} == {"–"}
    assert "paper" not in page.everything()["bars"].alt
    assert "agreement" not in page.everything()
    assert page.link["data"] == mark
    wanted = found.entries["mahmc"].run.spec.on(found.target, keep=None)
    page.tab.explore(wanted)  # as its button does
    assert page.spec == wanted
    assert page.tab.jobs["explore"].work.spec == wanted


def test_uploaded_data_have_gradient_and_joint_tests_and_no_marginals() -> None:
    page = opened("checks", budget="0.01", own="1", **{"own.target": "blr"})
    assert "Upload your own data on Explore" in page.words
    page.set("Data", brought(page))
    assert NO_TRUTH in page.words
    (cell,) = [cell for cell in page.settings.cells(page.tab.uploads)[0] if cell.key == ("mahmc", "own")]
    assert cell.checks == ("gradient", "joint distribution", "calibration")
    assert cell.case.title == "BLR, your data"
    page.press("Check this case").ended()
    assert page.squares["mahmc", "own"] == "unclear"  # a hundredth of the draws
    page.everything()
    settings, said = link.read(CheckSettings(), page.link)
    assert said == link.NO_DATA
    assert settings.choices.data == ""
