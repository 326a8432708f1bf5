"""Checks: the matrix, a closer look at each kind of check, custom cases, and right against wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from dashboard.pages import checks
from dashboard.settings import link
from dashboard.settings.checks import CONTEST_DRAWS, CheckSettings, _templates
from dashboard.views.checks import OTHER_VERDICTS
from dashboard.widgets.controls import Controls
from dashboard.work.checks import MOST_CELLS, CheckResults, identity
from dashboard.work.job import FAILURE
from mahmc import cli
from mahmc.checks import CASES, CHECKS, LEVEL, Cell, Chains, Check, Checking, Finding, Verdict, margins
from mahmc.checks.report import as_dict, as_html
from mahmc.checks.subjects import Subject
from mahmc.checks.verdicts import corrected
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS
from tests.support.pages import DEADLINE, Page, opened, until

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

CUSTOM_GMM = {"own": "1", "own.weights": "0.5,0.5", "own.means": "-1,1", "own.sds": "0.5,1"}
NOT_POSSIBLE = {("m-hmc", "blr"), ("m-hmc", "blr-prior")}  # it has nothing to visit there


def small(**query: str) -> Page:
    """Checks, opened with next to no draws."""
    return opened("checks", **{"budget": "0.01"} | query)


def cells(page: Page) -> dict[tuple[str, str], Cell]:
    """The matrix without results."""
    return {cell.key: cell for cell in page.settings.cells(page.tab.uploads)[0]}


def looked_at(page: Page) -> Cell:
    """The cell that is looked at closely, with its results."""
    return page.tab.snapshot().checked[identity(cells(page)[page.settings.cell], page.settings)]


def look_at(page: Page, check: str) -> Page:
    return page.set("Look at", check)


def states(page: Page) -> set[str]:
    return set(page.squares.values())


def of_cell(page: Page) -> set[str]:
    """The charts of the closer look."""
    return {place for place in page.everything() if not place.startswith("contest.") and place != "beads"}


class Marks(NamedTuple):
    """Something to look at, of which no page has a picture."""

    marks: int


@pytest.fixture
def new_check(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A check that is new in the list of checks, and in nothing else."""

    def make(subject: Subject, budget: float, **common: Any) -> Finding:
        return Finding(
            "second look", Verdict.RIGHT, 1.0, common["level"], "", "", 1, 1, (), said="nobody blinked.",
            exhibit=Marks(3),
        )  # fmt: skip

    monkeypatch.setitem(CHECKS, "second look", Check("second look", "somebody looks again", lambda _: True, make))
    _templates.cache_clear()
    yield "second look"
    _templates.cache_clear()


def test_a_new_check_is_on_the_page_and_in_the_reports(new_check: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Matrix, page, command line and reports go by the one list of checks."""
    page = small(cell="hmc.gmm-overlapping").press("Check this cell").ended()
    assert "somebody looks again" in page.words
    assert "nobody blinked" in look_at(page, new_check).words
    assert of_cell(page) == set()  # no other check's picture
    cell = looked_at(page)
    assert list(cell.findings) == list(cell.checks) == [name for name in CHECKS if name in cell.checks]
    assert new_check in as_dict(cell)["checks"]
    assert "nobody blinked" in as_html([cell])
    cli.main(["check", "gmm-overlapping", "hmc", "--budget", "0.01", "--quiet"])
    assert "second look: Right: nobody blinked." in capsys.readouterr().out


# ----------------------------------------------------------------------------------------------------------- running


def test_at_first_there_is_the_matrix_and_run_all() -> None:
    page = small()
    assert set(page.squares) == {(sampler, case) for sampler in EVERY_SAMPLER for case in CASES}
    assert {place for place, state in page.squares.items() if state == "none"} == NOT_POSSIBLE
    assert states(page) == {"open", "none"}
    assert not page.button("Run all").disabled
    cells = len(page.squares) - 2
    assert page.status == f"Nothing is checked yet. Press Run all to check {cells} cells, or click a cell."
    assert "Does a sampler draw from the right distribution" in page.app.markdown[0].value
    assert "the smallest error that it would have caught" in page.words
    assert "There is no verdict with these settings yet" in page.words
    assert page.everything() == {}
    for check in CHECKS.values():
        assert check.help in page.words


def test_one_cell_turns_red_and_says_why() -> None:
    page = small(cell="naive.gmm", budget="0.02").press("Check this cell").ended()
    squares = page.squares
    assert squares.pop(("naive", "gmm")) == "wrong"
    assert set(squares.values()) == {"open", "none"}
    (why,) = page.view.parts["why"]
    assert (why["lead"], why["tone"]) == ("✕ Naive MH within HMC", "bad")
    assert why["text"].startswith(f"is wrong. {WRONG_SAMPLERS['naive'].wrong}")
    first = page.view.parts["findings"][0]
    assert (first["lead"], first["tone"]) == ("✕ Marginals", "bad")
    assert page.status == f"Finished: with these settings 1 of {len(squares) - 1} cells have a verdict."
    assert of_cell(page) == {"histogram", "z", "ecdf"}
    table = page.app.dataframe[0].value
    assert {"compared", "p-value", "corrected", "estimate", "truth", "error", "z-score"} == set(table.columns)
    assert table["corrected"].is_monotonic_increasing
    assert page.button("Check this cell").disabled
    assert [file["label"] for file in page.view.parts["files"]] == ["Report"]


PICTURES = {"detailed balance": {"flows"}, "calibration": {"ranks"}, "invariance": set(), "joint distribution": set(),
            "gradient": set()}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_part_of_a_closer_look_renders(case: str) -> None:
    """Each check of a cell, with its pictures; and no verdict of "right" from next to no draws."""
    page = small(cell=f"mahmc.{case}").press("Check this cell").ended()
    assert page.squares["mahmc", case] == "unclear"
    assert "Not enough draws to tell" in page.words
    for check, finding in looked_at(page).findings.items():
        look_at(page, check)
        assert len(page.app.dataframe) == bool(finding.comparisons)
        of_marginals = {"histogram", "z"} | ({"ecdf"} if case != "blr" else set())  # a reference has no such function
        assert of_cell(page) == (of_marginals if check == "marginals" else PICTURES[check])
        if isinstance(finding.exhibit, Chains):
            assert sum(x.nbytes for x in finding.exhibit.draws.values()) < 2e7


def test_every_quantity_of_marginals_is_shown() -> None:
    page = small(cell="mahmc.mdc").press("Check this cell").ended()
    assert page.widget("Quantity").value == "u"
    page.set("Quantity", "v")
    assert "v" in page.everything()["histogram"].alt
    assert page.link["quantity"] == "v"
    page.set("Quantity", "ones")
    assert of_cell(page) == {"histogram", "z"}  # of whole numbers no distribution function is drawn


def test_a_row_then_all_reuse_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    page = small(cell="naive.blr").press("Check the row of Naive MH within HMC").ended()
    done = {key for key, state in page.squares.items() if state not in ("open", "none")}
    assert done == {("naive", case) for case in CASES}
    verdicts = {key: state for key, state in page.squares.items() if key in done}
    before = dict(page.job.work.checking.cells)
    found = before["naive", "gmm"].findings["invariance"]
    monkeypatch.setattr(Checking, "_check", lambda self, cell, name: found)  # all of them would take long
    page.press("Run all")
    checking = page.job.work.checking
    assert all(checking.cells[key] is cell for key, cell in before.items())
    page.ended()
    assert "open" not in states(page)
    assert {key: state for key, state in page.squares.items() if key in done} == verdicts
    assert checking.made == checking.total - sum(len(cell.findings) for cell in before.values())
    assert page.button("Run all").disabled


def checked_on_blr(page: Page, *samplers: str) -> Page:
    page.tab.check([cells(page)[sampler, "blr"] for sampler in samplers])
    return page.ended()


def test_samplers_on_blr_are_compared_with_each_other() -> None:
    page = checked_on_blr(small(cell="hmc.blr"), "hmc")
    assert "Agreement" not in page.widget("Look at").options  # with what?
    look_at(checked_on_blr(page, "hmc", "mahmc"), "agreement")
    assert "of 34 comparisons" in page.words  # 31 β, τ, log τ and |β|
    assert "? Agreement" in [line["lead"] for line in page.view.parts["findings"]]
    assert of_cell(page) == {"agreement"}
    assert len(page.app.dataframe[0].value) == 34


def test_the_agreement_chart_is_renewed_when_another_sampler_is_checked() -> None:
    page = look_at(checked_on_blr(small(cell="hmc.blr"), "hmc", "mahmc"), "agreement")

    def request() -> Any:
        return next(request for request in page.view.charts if request.place == "agreement")

    before = request()
    assert "MALA" not in before.make().alt
    checked_on_blr(page, "hmc", "mahmc", "mala")
    assert "MALA" in request().make().alt
    assert request().about != before.about


def blocked(monkeypatch: pytest.MonkeyPatch, after: int) -> threading.Event:
    """From that check on, checks wait until the event is set."""
    may_go_on, made, count = threading.Event(), Checking._check, iter(range(10**6))

    def check(self: Checking, cell: Cell, name: str) -> Any:
        if next(count) >= after:
            assert may_go_on.wait(DEADLINE)
        return made(self, cell, name)

    monkeypatch.setattr(Checking, "_check", check)
    return may_go_on


def test_while_checks_run_the_page_shows_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = blocked(monkeypatch, after=1)
    page = small(cell="mahmc.gmm").press("Check the row of MAHMC")
    checking = page.job.work.checking
    until(lambda: checking.made == 1 and checking.current)
    (first, *others), title = CASES, EVERY_SAMPLER["mahmc"].title
    page.run()
    assert page.squares["mahmc", first] == "running"
    assert {key for key, state in page.squares.items() if state == "waiting"} == {("mahmc", case) for case in others}
    assert page.status.startswith(f"0 of {len(page.squares) - 2} cells have a verdict. Check 2 of {checking.total}: ")
    assert f" of {title} on {CASES[first].title}, about " in page.status
    assert page.view.parts["status"]["share"] == 1 / checking.total
    assert (page.view.busy, page.view.live, page.view.parts["matrix"]["canRun"]) == (True, True, False)
    assert page.button("Check this cell").disabled
    page.everything()
    page.set("Seed", 5)
    assert "With earlier settings: Check 2" in page.status
    page.tab.stop("checks")
    may_go_on.set()


def test_stop_counts_at_once_and_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the check that is under way has ended, the page says that it is stopped; no further one is begun."""
    may_go_on = blocked(monkeypatch, after=1)
    page = small(cell="mahmc.mdc").press("Run all")
    checking = page.job.work.checking
    until(lambda: checking.made == 1 and checking.current)
    page.run().press("Stop")
    assert page.job.alive
    assert page.status.startswith("Stopped: with these settings 0 of ")
    assert not {"running", "waiting"} & states(page)
    assert not page.button("Run all").disabled
    may_go_on.set()
    page.ended()
    assert checking.made == checking.done == 1  # the one that was under way left off
    assert not page.view.busy


def test_a_check_leaves_off_in_its_midst() -> None:
    """With a budget of hours: a stop that waited for the end of the check would come too late."""
    page = small(budget="100", cell="mahmc.mdc").press("Check this cell")
    until(lambda: page.job.work.checking.current)
    page.run().press("Stop").ended()
    assert page.job.work.checking.done == 0
    assert page.squares["mahmc", "mdc"] == "open"


def test_a_check_that_fails_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Checking, cell: Cell, name: str) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Checking, "_check", fail)
    page = small().press("Check this cell").ended()
    assert page.remarks == [FAILURE]
    assert not page.view.busy


# ------------------------------------------------------------------------------------------------- the matrix's clicks


def clicked(page: Page, event: Any) -> Page:
    checks._clicked(Controls(page.tab, "checks"), event)
    return page.run()


def test_a_click_chooses_a_cell_and_a_click_on_a_name_runs_its_row() -> None:
    page = clicked(small(), {"chosen": ["hmc", "mdc"]})
    assert page.settings.cell == ("hmc", "mdc")
    assert page.view.parts["matrix"]["chosen"] == ["hmc", "mdc"]
    assert page.app.subheader[0].value == f"HMC on {CASES['mdc'].title}"
    clicked(page, {"row": ["naive"]})
    assert list(page.job.work.checking.cells) == [("naive", case) for case in CASES]
    job = page.job
    clicked(page, {"row": ["hmc"]})
    assert page.job is job  # one at a time


@pytest.mark.parametrize(
    "event",
    [{"chosen": ["m-hmc", "blr"]}, {"chosen": ["nope", "gmm"]}, {"chosen": ["hmc", "own"]}, {"chosen": ["hmc"]},
     {"chosen": [1, 2]}, {"chosen": "hmc"}, {"row": ["nope"]}, {"row": []}, {"row": [["hmc"]]}, {}, [], "x", 5],
    ids=str,
)  # fmt: skip
def test_a_click_that_no_matrix_can_make_does_nothing(event: Any) -> None:
    page = small()
    before = page.settings
    clicked(page, event)
    assert (page.settings, page.tab.jobs) == (before, {})


# ------------------------------------------------------------------------------------------- results of other settings


def test_results_of_other_settings_are_not_shown_and_come_back() -> None:
    page = small(cell="naive.gmm", budget="0.05").press("Check this cell").ended().set("Seed", 5)
    assert page.squares["naive", "gmm"] == "open"
    assert page.link["seed"] == "5"
    assert page.view.parts["files"] == []
    assert page.remarks == [OTHER_VERDICTS]
    page.set("Seed", 0)
    assert page.squares["naive", "gmm"] == "wrong"
    assert page.remarks == []
    about = "budget 0.05 · false alarms 0.0001 at most · seed 0"
    assert page.view.parts["origin"][0]["text"] == f"Verdicts with {about}."
    assert all(of.startswith("Naive MH within HMC") and of.endswith(f" · {about}") for of in origins(page).values())
    assert any(about in caption.value for caption in page.app.caption)


def test_old_results_are_forgotten() -> None:
    results = CheckResults()
    settings = [CheckSettings(seed=seed) for seed in range(3)]
    for each in settings:
        results.stored(each.cells({})[0], each)
    found = results.snapshot()
    assert len(found) == MOST_CELLS
    last = settings[-1]
    assert all(identity(cell, last) in found for cell in last.cells({})[0])


# --------------------------------------------------------------------------------------------------------- custom cases


@pytest.mark.parametrize(
    ("query", "title", "state"),
    [
        (CUSTOM_GMM, "your own GMM, 2 components", "wrong"),
        ({"own": "1", "own.target": "blr", "own.prior_only": "true"}, "your own BLR, prior only", "wrong"),
        ({"own": "1", "own.target": "mdc", "own.sd": "0.4", "own.n_w": "3"}, "your own MDC, 3 of w, sd 0.4", "wrong"),
    ],
)
def test_a_custom_case_is_checked(query: dict[str, str], title: str, state: str) -> None:
    page = small(**query, **{"own.sampler": "naive"})
    assert page.view.parts["matrix"]["columns"][-1] == {"name": "own", "title": title}
    page.press("Check this case").ended()
    assert page.squares["naive", "own"] == state
    assert page.app.subheader[0].value.endswith(f"on {title}")
    checked = page.job.work.checking.cells["naive", "own"].target.settings
    assert {name: checked[name] for name in page.choices.settings()} == page.choices.settings() != {}
    assert {"histogram", "z"} <= of_cell(page)


@pytest.mark.parametrize(
    ("more", "sampler", "state"),
    [
        ({"own.mahmc.schedule": "iid(6, 0.5, 0.3, 0.2)", "own.update": "gibbs,metropolis"}, "mahmc", "unclear"),
        ({"own.mahmc.schedule": "sequences(010)", "own.mahmc.outer": "none"}, "mahmc", "unclear"),
        ({}, "m-hmc", "unclear"),
        ({"own.target": "ising", "own.n": "3", "own.update": "flip", "budget": "0.8"}, "mahmc", "right"),
        ({"own.target": "spike-slab", "own.d": "3"}, "mahmc", "unclear"),
        ({"own.target": "neals-funnel", "own.dim": "3"}, "hmc", "unclear"),
    ],
    ids=str,
)
def test_custom_cases_of_all_kinds_are_checked(more: dict[str, str], sampler: str, state: str) -> None:
    query = (CUSTOM_GMM if "own.target" not in more else {"own": "1"}) | more
    page = small(**query, **{"own.sampler": sampler})
    assert page.warned == ""
    page.press("Check this case").ended()
    assert page.remarks == []
    assert page.squares[sampler, "own"] == state
    again, said = link.read(CheckSettings(), page.link)
    assert said == ""
    key = (sampler, "own")
    assert {cell.key: cell.chosen for cell in again.cells({})[0]}[key] == cells(page)[key].chosen
    assert of_cell(page)


def test_parameters_of_a_custom_case_move() -> None:
    page = small(**CUSTOM_GMM, **{"own.mahmc.epsilon": "0.4", "cell": "mahmc.custom"})
    assert cells(page)["mahmc", "own"].chosen["epsilon"] == 0.4
    page.set("ε Step size, exact", 0.5)
    assert cells(page)["mahmc", "own"].chosen["epsilon"] == 0.5
    assert page.link["own.mahmc.epsilon"] == "0.5"
    page.set("Schedule", "iid").set("Updates Q₁, Q₂, … of qᴼ", ["gibbs"])
    assert page.link["own.update"] == "gibbs"
    assert page.link["own.mahmc.schedule"].startswith("iid(")
    assert "beads" in page.everything()
    page.press("Paper's best values")
    assert not {"own.mahmc.epsilon", "own.mahmc.schedule"} & page.link.keys()


def test_a_custom_case_is_added_and_taken_away() -> None:
    page = small().set("Add a case of your own", True)
    assert ("mahmc", "own") in page.squares
    page.set("Target", "ising").set("Add a case of your own", False)
    assert ("mahmc", "own") not in page.squares
    page.set("Add a case of your own", True)
    assert page.widget("Target").value == "ising"  # as it was left


def test_a_target_without_a_known_posterior_is_refused_in_words() -> None:
    page = small(**{"own": "1", "own.target": "blr", "own.shape": "2"})
    assert page.warned.startswith(
        "Your own case cannot be checked: the exact posterior of BLR under this prior is unknown"
    )
    assert "own" not in [column["name"] for column in page.view.parts["matrix"]["columns"]]
    assert not page.button("Run all").disabled
    page.everything()


def test_components_that_make_no_mixture_are_told_and_the_usual_ones_stay() -> None:
    """Through the link: the table itself is for the browser's tests."""
    page = small(**(CUSTOM_GMM | {"own.weights": "0.5,0.6"}))
    assert "values that do not fit together" in page.warned
    assert page.choices.built({}).settings["weights"] == (0.15, 0.3, 0.3, 0.25)


# ---------------------------------------------------------------------------------------------------------------- links


def test_the_link_brings_everything_back() -> None:
    query = {"budget": "0.3", "level": "0.001", "seed": "7", "cell": "hmc.own", "check": "invariance",
             "exhibit": "asymmetric", "draws": "64", **CUSTOM_GMM, "own.sampler": "hmc", "own.update": "gibbs",
             "own.hmc.L": "7", "own.mahmc.epsilon": "0.4"}  # fmt: skip
    page = opened("checks", **query)
    assert page.warned == ""
    assert page.link == query | {"own.means": "-1.0,1.0", "own.sds": "0.5,1.0", "view": "contest"}
    assert opened("checks", **page.link).settings == page.settings
    assert (page.widget("Seed").value, page.widget("Sampler").value) == (7, "hmc")
    assert page.widget("L Leapfrogs, exact").value == 7
    assert page.widget("Exhibit").value == "asymmetric"


def test_a_bad_link_shows_nothing_of_itself_and_is_told_until_something_is_run() -> None:
    page = opened("checks", budget="<script>alert(1)</script>", level="0.01", **{"![x](http://example.org/x.png)": "1"})
    assert page.warned.startswith("Ignored in this link: budget (must be in \\[0.01, 100\\])")
    assert page.settings == CheckSettings(level=0.01)
    for word in ("script", "example.org"):
        assert word not in page.words
    page.press("Check this cell")
    assert page.warned == ""


# ------------------------------------------------------------------------------------------------ right against wrong


def played(page: Page, draws: int) -> Page:
    """The slider of the contest is moved to so many draws; 0: where the test can tell."""
    checks._played(Controls(page.tab, "checks"), {"draws": draws})
    return page.run()


def origins(page: Page) -> dict[str, str]:
    """The settings that each chart says it comes from."""
    return {request.place: request.origin for request in page.view.charts}


@pytest.mark.parametrize("exhibit", ["naive", "asymmetric"])
def test_right_against_wrong(exhibit: str) -> None:
    page = small(exhibit=exhibit, draws="4096").press("Run both").ended(f"contest.{exhibit}")
    job = page.tab.jobs[f"contest.{exhibit}"]
    assert (job.over, job.problem) == (True, "")
    assert CONTEST_DRAWS[-1] == job.work.runs["mahmc"].done
    charts = [place for place in page.everything() if place.startswith("contest.")]
    expected = {f"contest.{name}.{sampler}" for name in ("q", "component") for sampler in ("mahmc", exhibit)}
    assert set(charts) == expected | {"contest.path"}
    right, wrong = (page.view.parts[f"contest.words.{sampler}"][0]["text"] for sampler in ("mahmc", exhibit))
    assert "no error found" in right
    assert "✕ wrong" in wrong
    assert page.view.parts["contest.player"]["stops"] == list(CONTEST_DRAWS)
    played(page, 2)
    wrong = page.view.parts[f"contest.words.{exhibit}"][0]["text"]
    assert "no error found" in wrong
    assert "after 2 draws" in wrong
    assert page.link["draws"] == "2"
    assert "Run both" not in [button.label for button in page.app.button]
    page.everything()
    played(page, 0)  # as many as the test needs to tell
    p_values = {n: corrected(found.comparisons) for n, found in job.work.rounds[exhibit].items()}
    tells = next(n for n in CONTEST_DRAWS if all(p < LEVEL for m, p in p_values.items() if m >= n))
    player = page.view.parts["contest.player"]
    assert CONTEST_DRAWS[player["at"]] == CONTEST_DRAWS[player["end"]] == tells > 1
    assert (player["canPlay"], player["began"]) == (True, job.number)
    assert "draws" not in page.link
    assert f" × {tells:,} draws · seed 0" in origins(page)[f"contest.q.{exhibit}"]
    played(page, 3)
    assert CONTEST_DRAWS[page.view.parts["contest.player"]["at"]] == tells  # no contest is tested after 3 draws
    page.everything()
    page.set("Seed", 5)  # the contest is of another one
    assert not [place for place in page.everything() if place.startswith("contest.")]
    assert not page.button("Run both").disabled
    page.set("Seed", 0)
    assert expected <= page.everything().keys()


def test_right_against_wrong_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on, judge = threading.Event(), margins.judge
    monkeypatch.setattr(margins, "judge", lambda *given: may_go_on.wait(DEADLINE) and judge(*given))
    page = small(view="contest").press("Run both")
    job = page.tab.jobs["contest.naive"]
    assert page.view.parts["contest.status"]["text"] == "Tested after 0 of 4,096 draws of each chain."
    next(button for button in page.app.button if button.key == "contest.stop").click()
    page.run()
    may_go_on.set()
    page.ended("contest.naive")
    assert (job.over, job.problem) == (False, "")
    assert not page.button("Run both").disabled
    page.everything()
