"""The Compare page through AppTest."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session

PAGES = [
    ("mdc", 160_000), ("blr", 16_000), ("gmm", 48_000), ("neals-funnel", 96_000), ("ising", 96_000),
    ("spike-slab", 96_000),
]  # fmt: skip
PAGE = str(Path(__file__).parent.parent / "pages" / "compare.py")


@pytest.fixture(autouse=True)
def pages_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_claimed", True)


def opened(**values: Any) -> AppTest:
    """The page with some widgets set, by key."""
    app = AppTest.from_file(PAGE, default_timeout=60).run()
    for key, value in values.items():
        widget(app, key).set_value(value)
        app.run()
    assert not app.exception, app.exception[0].message
    return app


def widget(app: AppTest, key: str) -> Any:
    kinds = (*app.selectbox, *app.number_input, *app.multiselect, *app.toggle)
    return next(w for w in kinds if w.key == f"compare.{key}")


def press(app: AppTest, label: str) -> AppTest:
    next(b for b in app.button if b.label == label).click()
    return app.run()


def ended(app: AppTest, seconds: float = 60.0) -> AppTest:
    job = app.session_state["session"].comparing
    job.wait(seconds)
    assert not job.alive
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def words(app: AppTest) -> str:
    return " ".join(
        str(e.value) for e in (*app.markdown, *app.error, *app.warning, *app.info, *app.subheader, *app.caption)
    )


@pytest.mark.parametrize(("target", "budget"), PAGES)
def test_run_shows_everything(target: str, budget: int) -> None:
    app = opened(target=target, **{f"budget.{target}": budget, "replicates": 2})
    ended(press(app, "Run"))
    found = app.session_state["session"].comparing.comparison
    assert found.finished
    assert (found.target.name, found.budget, found.replicates) == (target, budget, 2)
    text = words(app)
    assert "MAHMC" in text
    assert "Histograms of" in text
    assert "Traces over the same" in text
    assert ("Points classified right" in text) == (target == "blr")
    assert len(app.dataframe[0].value) == 5
    assert target == "gmm" or "undefined" not in app.dataframe[0].value["worst quantity"].tolist()
    assert len(app.get("bidi_component")) >= 11
    assert {"CSV", "Markdown", "LaTeX"} <= {button.proto.label for button in app.get("download_button")}


def test_cost_and_quantity_change_the_table_without_a_new_run() -> None:
    app = opened(**{"budget.mdc": 160_000, "replicates": 2})
    ended(press(app, "Run"))
    number = app.session_state["session"].comparing.number
    before = app.dataframe[0].value["ours"].tolist()
    widget(app, "cost").set_value("seconds").run()
    by_time = app.dataframe[0].value["ours"].tolist()
    widget(app, "cost").set_value("leapfrogs").run()
    widget(app, f"quantity.{number}").set_value("ones").run()
    by_ones = app.dataframe[0].value["ours"].tolist()
    assert len({str(rows) for rows in (before, by_time, by_ones)}) == 3
    assert app.session_state["session"].comparing.number == number


def test_an_edited_sampler_and_the_papers_second_figure() -> None:
    app = opened(samplers=["hmc"], second=True, **{"budget.mdc": 64_000, "replicates": 2, "mdc.hmc.L": 20})
    ended(press(app, "Run"))
    entries = app.session_state["session"].comparing.comparison.entries
    assert entries["hmc"].spec.values["L"] == 20
    assert entries["mahmc, Nᵁ 4"].spec.values == {"epsilon": 0.035, "L": 10, "n_u": 4}
    assert "0.00608" in str(app.dataframe[0].value["paper"].tolist())
    assert "MAHMC, Nᵁ 4" in words(app)


def test_stop_keeps_what_is_done() -> None:
    app = opened(replicates=100)
    press(app, "Run")
    job = app.session_state["session"].comparing
    limit = time.monotonic() + 60
    while not job.comparison.done and time.monotonic() < limit:
        time.sleep(0.05)
    app.run()
    ended(press(app, "Stop"))
    assert not job.comparison.finished
    assert len(app.dataframe[0].value) >= 1


def test_bad_input_is_refused_in_words() -> None:
    for values, said in (
        ({"samplers": []}, "no sampler is chosen"),
        ({"budget.mdc": 1000}, "too few for an ESS"),
        ({"mdc.hmc.epsilon": -1.0}, "epsilon"),
    ):
        app = opened(**values)
        assert said in words(app)
        assert next(b for b in app.button if b.label == "Run").disabled
        assert app.session_state["session"].comparing is None


def test_a_sampler_that_never_moved_is_undefined() -> None:
    app = opened(target="gmm", samplers=["hmc", "mahmc"],
                 **{"budget.gmm": 48_000, "replicates": 2, "gmm.hmc.epsilon": 90.0})  # fmt: skip
    ended(press(app, "Run"))
    row = app.dataframe[0].value.set_index("sampler").loc["hmc"]
    assert row["ours"] == "undefined"
    assert "undefined" in words(app)
