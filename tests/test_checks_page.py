"""The Checks page through AppTest."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.jobs import LOOKS, Kept
from dashboard.ledger import MOST_CELLS, Asked, Ledger
from mahmc.checks import CASES
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS

PAGE = str(Path(__file__).parent.parent / "pages" / "checks.py")
SMALL = {"budget": "0.01"}
OWN_GMM = {"own": "1", "own.target": "gmm", "own.weights": "0.5,0.5", "own.means": "-1,1", "own.sds": "0.5,1"}


@pytest.fixture(autouse=True)
def pages_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_claimed", True)


def opened(**query: str) -> AppTest:
    """The page, opened with a link."""
    app = AppTest.from_file(PAGE, default_timeout=60)
    app.query_params.update(SMALL | query)
    return sound(app.run())


def sound(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].message
    return app


def tab(app: AppTest) -> Any:
    return app.session_state["session"]


def button(app: AppTest, label: str) -> Any:
    return next(b for b in app.button if b.label.startswith(label))


def press(app: AppTest, label: str) -> AppTest:
    button(app, label).click()
    return sound(app.run())


def ended(app: AppTest, seconds: float = 100.0) -> AppTest:
    tab(app).checks.wait(seconds)
    assert not tab(app).checks.alive
    return sound(app.run())


def component(app: AppTest, name: str) -> dict[str, Any]:
    found = [part.proto for part in app.get("bidi_component") if part.proto.component_name.endswith(name)]
    return json.loads(found[0].json)


def states(app: AppTest) -> dict[tuple[str, str], str]:
    """The matrix as it is shown: the state of each cell."""
    shown = component(app, "verdict_matrix")
    return {
        (line["name"], column["name"]): square["state"]
        for line in shown["lines"]
        for column, square in zip(shown["columns"], line["squares"], strict=True)
    }


def charts(app: AppTest) -> int:
    return sum(part.proto.component_name.endswith("live_chart") for part in app.get("bidi_component"))


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.error, app.warning, app.info, app.subheader, app.caption, app.code)
    return " ".join(str(element.value) for kind in kinds for element in kind)


# ------------------------------------------------------------------------------------------------- running


def test_first_one_sees_the_matrix_and_run_all() -> None:
    app = opened()
    found = states(app)
    assert set(found) == {(s, c) for s in EVERY_SAMPLER for c in CASES}
    assert {place for place, state in found.items() if state == "none"} == {("m-hmc", "blr"), ("m-hmc", "blr-prior")}
    assert set(found.values()) == {"open", "none"}
    assert not button(app, "Run all").disabled
    assert "Does a sampler draw from the distribution" in app.markdown[0].value
    assert "the smallest error that it would have caught" in words(app)
    assert "No verdict with these settings yet" in words(app)


def test_one_cell_turns_red_and_says_why() -> None:
    app = ended(press(opened(cell="naive.gmm", budget="0.02"), "Check this cell"))
    found = states(app)
    assert found.pop(("naive", "gmm")) == "wrong"
    assert set(found.values()) == {"open", "none"}
    assert WRONG_SAMPLERS["naive"].wrong in words(app)
    assert "✕ Marginals" in words(app)
    assert charts(app) == 3  # histogram, z-scores, distribution function
    table = app.dataframe[0].value
    assert {"compared", "p-value", "corrected", "estimate", "truth", "error", "z-score"} == set(table.columns)
    assert table["p-value"].is_monotonic_increasing
    assert button(app, "Check this cell").disabled
    assert {"Report"} == {part.proto.label for part in app.get("download_button")}


@pytest.mark.parametrize("case", CASES)
def test_every_part_of_a_closer_look_renders(case: str) -> None:
    """Each check of a cell, with its pictures; and no verdict of "right" from next to no draws."""
    app = ended(press(opened(cell=f"mahmc.{case}"), "Check this cell"))
    assert states(app)["mahmc", case] == "unclear"
    assert "Not enough draws to tell" in words(app)
    cell = ledger(app).found(mine(app))
    assert cell is not None
    for check, finding in cell.findings.items():
        look_at(app, check)
        assert len(app.dataframe) == bool(finding.comparisons)
        of_marginals = 2 if case == "blr" else 3  # a reference has no distribution function
        assert charts(app) == {"marginals": of_marginals, "invariance": 0, "joint distribution": 0}.get(check, 1)
        if isinstance(finding.exhibit, Kept):
            assert sum(x.nbytes for x in finding.exhibit.values.values()) < 2e7


def look_at(app: AppTest, check: str) -> AppTest:
    next(g for g in app.button_group if str(g.key).startswith("checks.check.")).set_value(check).run()
    return sound(app)


def ledger(app: AppTest) -> Ledger:
    return tab(app).ledger


def mine(app: AppTest) -> Any:
    asked = ledger(app).asked
    return next(cell for cell in asked.cells()[0] if cell.key == asked.cell)


def test_a_row_then_all_reuse_what_is_done_and_blr_samplers_are_held_against_each_other() -> None:
    app = ended(press(opened(cell="naive.blr"), "Check the row"))
    row = {key for key, state in states(app).items() if state not in ("open", "none")}
    assert row == {("naive", case) for case in CASES}
    before = dict(tab(app).checks.checking.cells)
    press(app, "Run all")
    assert not app.get("download_button")  # there are verdicts, but a refresh to come would take its file away
    job = tab(app).checks
    assert all(job.checking.cells[key] is cell for key, cell in before.items())
    ended(app)
    assert "open" not in states(app).values()
    assert {state for (sampler, _), state in states(app).items() if sampler == "naive"} == {"wrong"}
    assert job.checking.made == job.checking.total - sum(len(cell.findings) for cell in before.values())
    assert button(app, "Run all").disabled
    look_at(app, "agreement")
    assert "of 31 comparisons" in words(app)
    assert charts(app) == 1


def test_stop_is_at_once_and_keeps_what_is_done() -> None:
    app = opened(budget="3", cell="mahmc.mdc")
    press(app, "Run all")
    job = tab(app).checks
    limit = time.monotonic() + 60
    while job.checking.current is None and time.monotonic() < limit:
        time.sleep(0.01)
    begin = time.monotonic()
    job.stop()
    assert time.monotonic() - begin < 0.1
    assert not job.working
    sound(app.run())
    assert not button(app, "Run all").disabled
    assert "Stopped" in component(app, "live_status")["text"]
    assert "running" not in states(app).values()
    job.wait(30)
    assert not job.alive


def test_results_of_other_settings_are_not_shown_and_come_back() -> None:
    app = ended(press(opened(cell="naive.gmm"), "Check this cell"))
    seed = next(w for w in app.number_input if w.label == "Seed")
    seed.set_value(5).run()
    assert states(sound(app))["naive", "gmm"] == "open"
    assert app.query_params["seed"] in (["5"], "5")
    next(w for w in app.number_input if w.label == "Seed").set_value(0).run()
    assert states(sound(app))["naive", "gmm"] == "wrong"


def test_old_results_are_forgotten() -> None:
    book = Ledger(Asked())
    cells, _ = book.asked.cells()
    for seed in range(3):
        book.asked.settings["seed"] = seed
        book.checking(cells)
    kept = 0
    for seed in range(3):
        book.asked.settings["seed"] = seed
        kept += sum(book.found(cell) is not None for cell in cells)
    assert kept == MOST_CELLS


# -------------------------------------------------------------------------------------------------- own cases


@pytest.mark.parametrize(
    ("query", "title"),
    [
        (OWN_GMM, "your own GMM, 2 components"),
        ({"own": "1", "own.target": "blr", "own.prior_only": "true"}, "your own BLR, prior only"),
        ({"own": "1", "own.target": "mdc", "own.sd": "0.4", "own.n_w": "3"}, "your own MDC, 3 of w, sd 0.4"),
    ],
)
def test_a_case_of_ones_own_is_checked(query: dict[str, str], title: str) -> None:
    app = opened(**query, **{"own.sampler": "naive"})
    assert component(app, "verdict_matrix")["columns"][-1] == {"name": "own", "title": title}
    ended(press(app, "Check it"))
    assert states(app)["naive", "own"] in ("wrong", "unclear")
    assert f"on {title}" in app.subheader[0].value
    checked = tab(app).checks.checking.cells["naive", "own"].target.settings
    assert all(checked[name] == value for name, value in ledger(app).asked.own.of_target[query["own.target"]].items())
    assert charts(app) >= 2
    if query is OWN_GMM:
        assert states(app)["naive", "own"] == "wrong"


def test_own_parameters_of_a_sampler_are_used() -> None:
    app = opened(**OWN_GMM, **{"own.sampler": "mahmc", "own.mahmc.epsilon": "0.4", "cell": "mahmc.own"})
    assert mine(app).chosen["epsilon"] == 0.4
    slider = next(w for w in app.number_input if w.label == "ε Step size, exact")
    slider.set_value(0.5).run()
    assert mine(sound(app)).chosen["epsilon"] == 0.5
    assert app.query_params["own.mahmc.epsilon"] in (["0.5"], "0.5")


def test_a_target_without_truth_is_refused_in_words() -> None:
    app = opened(**{"own": "1", "own.target": "blr", "own.shape": "2"})
    assert "nothing is known of BLR's posterior under this prior" in app.warning[0].value
    assert "own" not in [column["name"] for column in component(app, "verdict_matrix")["columns"]]
    assert not button(app, "Run all").disabled


def test_components_that_make_no_mixture_are_said_and_the_last_good_ones_stay() -> None:
    """Through the link: the table itself is for the browser's tests."""
    app = opened(**(OWN_GMM | {"own.weights": "0.5,0.6"}))
    assert "own.weights" in app.warning[0].value
    assert ledger(app).asked.own.of_target["gmm"]["weights"] == (0.15, 0.3, 0.3, 0.25)


# ------------------------------------------------------------------------------------------------------- links


def test_the_link_brings_everything_back() -> None:
    query = {"budget": "0.3", "level": "0.001", "seed": "7", "cell": "hmc.own", "check": "invariance", "draws": "64",
             "exhibit": "asymmetric", **OWN_GMM, "own.sampler": "hmc", "own.update": "gibbs", "own.hmc.L": "7",
             "own.mahmc.epsilon": "0.4"}  # fmt: skip
    asked, problem = Asked.of(query)
    assert problem == ""
    written = asked.link()
    assert {name: written[name] for name in query} == query | {"own.means": "-1.0,1.0", "own.sds": "0.5,1.0"}
    assert Asked.of(written)[0] == asked
    app = opened(**query)
    assert ledger(app).asked.link() == written
    assert not app.warning


BAD_LINKS = [
    {"budget": "nan"}, {"budget": "1e9"}, {"budget": "x" * 10_000}, {"level": "0"}, {"seed": "-1"}, {"seed": "1e400"},
    {"cell": "<script>alert(1)</script>"}, {"cell": "mahmc.nope"}, {"check": "nope"}, {"exhibit": "nope"},
    {"draws": "3"}, {"own": "yes"}, {"own.target": "nope"}, {"own.nope.epsilon": "1"}, {"own.mahmc.nope": "1"},
    {"own.update": "nope"}, {"![x](http://example.org/x.png)": "1"}, {"own": "1", "own.weights": "0.5,0.6"},
    {"own": "1", "own.target": "gmm", "own.weights": "1", "own.means": "nan", "own.sds": "-1"},
]  # fmt: skip


@pytest.mark.parametrize("query", BAD_LINKS, ids=lambda query: str(query)[:40])
def test_a_bad_link_gives_a_message_and_the_defaults(query: dict[str, str]) -> None:
    asked, problem = Asked.of(query)
    assert problem.startswith("Not used of this link, so you see the defaults: ")
    for word in ("script", "example.org", "xxxx", "nope", "yes", "1e400", "nan"):
        assert word not in problem
    asked.with_own = False
    assert asked.link() == Asked().link()
    assert len(asked.cells()[0]) == len(EVERY_SAMPLER) * len(CASES) - 2  # M-HMC has nothing to visit in BLR


def test_a_bad_link_shows_nothing_of_itself() -> None:
    app = opened(budget="<script>alert(1)</script>", **{"![x](http://example.org/x.png)": "1"})
    assert "Not used of this link" in app.warning[0].value
    for word in ("script", "example.org"):
        assert word not in words(app)
    press(app, "Check this cell")
    assert not app.warning
    tab(app).checks.stop()


# -------------------------------------------------------------------------------------- right against wrong


@pytest.mark.parametrize("exhibit", ["naive", "asymmetric"])
def test_right_against_wrong(exhibit: str) -> None:
    app = opened(exhibit=exhibit, draws="4096")
    press(app, "Run both")
    contest = tab(app).contests[exhibit, 0]
    contest.wait(100)
    assert contest.over
    assert not contest.problem
    sound(app.run())
    assert charts(app) == 5
    right, wrong = (m.value for m in app.markdown if "By eye: the largest deviation" in m.value)
    assert "no objection" in right
    assert "✕ wrong" in wrong
    slider = next(w for w in app.select_slider if w.label == "Draws of each chain")
    slider.set_value(2).run()
    wrong = [m.value for m in sound(app).markdown if "By eye: the largest deviation" in m.value][1]
    assert "no objection" in wrong
    assert "after 2 draws" in wrong
    assert app.query_params["draws"] in (["2"], "2")
    assert LOOKS[-1] == contest.runs["mahmc"].done


def test_right_against_wrong_is_stopped() -> None:
    app = opened(exhibit="naive")
    press(app, "Run both")
    contest = tab(app).contests["naive", 0]
    next(b for b in app.button if b.key == "contest.stop").click()
    sound(app.run())
    contest.wait(10)
    assert not contest.alive
    assert not contest.over
    assert not contest.problem
    assert button(sound(app.run()), "Run both")
