"""Compare: every target runs and shows all of it, settings are edited, and results of earlier settings are marked."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import mahmc
from dashboard.settings.compare import SAME_MEAN
from dashboard.settings.uploads import Upload
from dashboard.views.words import EARLIER
from dashboard.work.job import FAILURE
from dashboard.work.kept import KEPT, MOST_RESULTS
from dashboard.work.tab import GONE, Tab
from mahmc import Comparison, tabular
from mahmc.compare import COSTS
from tests.support.pages import Page, csv_file, ended, has_markdown_link, new_screen, opened, opened_app, until

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

BUDGETS = {"mdc": "160000", "blr": "16000", "gmm": "48000", "neals-funnel": "96000", "ising": "96000",
           "spike-slab": "96000"}  # fmt: skip
COEFFICIENTS = ("blr", "spike-slab")  # whose means are compared with their truth
MIXTURE = {"target": "gmm", "weights": "0.5,0.5", "means": "-1.0,1.0", "sds": "0.5,1.0"}
TWO = {"samplers": "hmc,mahmc", "budget": "160000", "replicates": "2"}


def ran(**query: str) -> Page:
    """Compare, when a comparison of these settings has ended."""
    return opened("compare", **query).press("Run").ended()


def found(page: Page) -> Comparison:
    return page.job.work.comparison


def column(page: Page, name: str) -> list[str]:
    return [row[name] for row in page.table]


# ----------------------------------------------------------------------------------------------- everything renders


@pytest.mark.parametrize("target", BUDGETS)
def test_a_comparison_shows_everything(target: str) -> None:
    page = opened("compare", target=target, budget=BUDGETS[target], replicates="2")
    assert page.status == "All samplers get the same number of leapfrogs, in several replicates. Press Run."
    assert page.everything() == {}
    page.press("Run").ended()
    assert (found(page).target.name, found(page).budget, found(page).replicates) == (target, int(BUDGETS[target]), 2)
    assert found(page).finished
    assert page.status == f"Finished: 2 replicates of 5 samplers, {int(BUDGETS[target]):,} leapfrogs in each replicate."
    charts = page.everything()
    assert {"bars", *(f"{kind}.{name}" for kind in ("histogram", "trace") for name in found(page).done)} <= set(charts)
    assert ("agreement" in charts) == (target in COEFFICIENTS)
    assert "95 %, by the bootstrap over replicates" in charts["bars"].caption
    assert column(page, "sampler") == ["MALA", "HMC", "MALA-P", "MALA-PN", "MAHMC"]
    assert ("undefined" in column(page, "worst quantity")) == (target == "gmm")  # a component that was never left
    assert "MAHMC" in page.view.parts["headlines"][0]["text"]
    assert "Histograms of" in page.words
    assert "Traces over the same" in page.words
    assert "should" in page.words  # the caption that small charts share
    assert ("Points classified correctly" in page.words) == ("98.77 %" in page.words) == (target == "blr")
    assert [file["label"] for file in page.view.parts["files"]] == ["CSV", "Markdown", "LaTeX"]


def test_small_charts_are_on_the_same_axes_and_traces_show_equal_cost() -> None:
    page = ran(**TWO)
    charts = page.everything()
    one, other = (charts[f"histogram.{name}"].figure.layout.yaxis.range for name in ("hmc", "mahmc"))
    assert one == other
    hmc, mahmc_ = (charts[f"trace.{name}"].figure for name in ("hmc", "mahmc"))
    assert hmc.layout.yaxis.range == mahmc_.layout.yaxis.range
    assert hmc.layout.xaxis.range == mahmc_.layout.xaxis.range == (0, 10_000)  # 160 000 leapfrogs of 16 chains
    for name, figure in (("hmc", hmc), ("mahmc", mahmc_)):
        per_draw = found(page).entries[name].spec.leapfrogs_per_draw
        assert {(line.x0, line.dx, per_draw * len(line.y)) for line in figure.data} == {(per_draw, per_draw, 10_000)}
        assert "leapfrog %{x" in figure.data[0].hovertemplate


def test_a_result_names_its_target_settings_budget_and_seed() -> None:
    """In headline, charts and table; and the table begins with the ratios."""
    page = ran(**MIXTURE, **TWO | {"budget": "48000"})
    of = "GMM (weights 0.5, 0.5; means -1, 1; sds 0.5, 1) · 2 replicates of 48,000 leapfrogs · seed 0"
    assert page.view.parts["headlines"][-1]["text"] == f"ESS of q per leapfrog · {of}"
    assert page.view.parts["table"]["caption"] == f"ESS of q per leapfrog · {of}"
    requests = {request.place: request for request in page.view.charts}
    assert (requests["bars"].title, requests["bars"].origin) == ("ESS of q per leapfrog", of)
    target, *_ = of.partition(" · ")
    assert requests["trace.hmc"].origin == f"{target} · ε 0.3, L 15 · 48,000 leapfrogs · seed 0"
    assert page.view.parts["table"]["columns"][:2] == ["sampler", "times\u00a0HMC"]


def test_a_sampler_that_never_moved_is_undefined() -> None:
    page = ran(target="gmm", samplers="hmc,mahmc", budget="48000", replicates="2", **{"hmc.epsilon": "90.0"})
    assert column(page, "ours")[0] == "undefined"
    assert column(page, "ours")[1] != "undefined"
    page.everything()


def test_m_hmc_is_compared_where_it_can_be_done() -> None:
    page = ran(target="gmm", samplers="mahmc,m-hmc", budget="48000", replicates="2")
    assert list(found(page).done) == ["mahmc", "m-hmc"]
    assert column(page, "sampler") == ["MAHMC", "M-HMC"]


def test_a_sampler_that_cannot_sample_the_target_is_left_out_and_that_is_said() -> None:
    page = opened("compare", target="blr", samplers="hmc,m-hmc", budget="16000", replicates="2")
    assert "Left out: M-HMC. It needs discrete variables, and this target has none." in page.words
    assert list(found(page.press("Run").ended()).entries) == ["hmc"]
    page.everything()


# ------------------------------------------------------------------------------------------------- cost and quantity


def test_cost_and_quantity_change_the_table_without_a_new_run_and_mark_nothing() -> None:
    page = ran(**TWO)
    job, tables = page.job, [column(page, "ours")]
    page.set("Cost", "updates")
    tables.append(column(page, "ours"))
    page.set("Quantity", "ones")
    tables.append(column(page, "ours"))
    assert len({str(table) for table in tables}) == 3
    assert page.job is job
    assert (page.view.faded, page.remarks) == (False, [])
    assert (page.link["cost"], page.link["quantity"]) == ("updates", "ones")
    page.set("Quantity", "u")  # the main one
    assert "quantity" not in page.link


@pytest.mark.parametrize("cost", COSTS)
def test_every_cost_has_its_table_and_its_bars(cost: str) -> None:
    page = ran(cost=cost, **TWO)
    assert "ESS per" in page.everything()["bars"].figure.layout.xaxis.title.text
    for name in found(page).quantities:
        page.tab.change("compare", "quantity", name)
        assert str(found(page).figure("hmc", name, cost)) == column(page, "ours")[0]


def test_a_quantity_that_was_not_compared_gives_the_main_one() -> None:
    page = ran(quantity="beta[3]", **TWO)
    assert page.widget("Quantity").value == "u"
    assert str(found(page).figure("hmc")) == column(page, "ours")[0]


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """The arguments of each call from now on."""
    calls: list[tuple[Any, ...]] = []
    made = getattr(owner, name)

    def count(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return made(*given, **named)

    monkeypatch.setattr(owner, name, count)
    return calls


def test_each_interval_is_worked_out_once_for_headlines_bars_and_table(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = new_screen()
    calls = counted(monkeypatch, sys.modules["mahmc.compare"], "interval")  # mahmc.compare is a function
    compare(screen.tab, TWO | {"replicates": "8"})
    ended(screen.tab.jobs["compare"])
    screen.cache("compare").changes(screen.view("compare"), 0)
    made = {tuple(None if x is None else x.tobytes() for x in given) for given in calls}
    assert len(calls) == len(made) > 0
    screen.cache("compare").changes(screen.view("compare"), 0)
    [request.make() for request in screen.view("compare").charts]
    assert len(calls) == len(made)


def compare(tab: Tab, query: dict[str, str]) -> None:
    tab.follow("compare", query)
    tab.compare(tab.settings["compare"].comparison(tab.uploads))


def test_looking_on_builds_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building one builds a target and a spec for each sampler, and a page looks several times a second."""
    screen = new_screen()
    compare(screen.tab, TWO | {"replicates": "100"})
    job = screen.tab.jobs["compare"]
    calls = counted(monkeypatch, Comparison, "__init__")
    until(lambda: len(job.snapshot().result.found.done) == 2)
    screen.cache("compare").changes(screen.view("compare"), 0)
    job.stop()
    ended(job)
    screen.cache("compare").changes(screen.view("compare"), 0)
    assert calls == []


# --------------------------------------------------------------------------------------------------------- settings


def test_the_targets_own_settings_are_compared_and_the_link_brings_them_back() -> None:
    page = opened("compare", **TWO).set("n_w Number of w, exact", 3)
    assert page.link == {"n_w": "3", **TWO}
    assert found(page.press("Run").ended()).target.settings["n_w"] == 3
    again = opened("compare", **page.link)
    assert (again.warned, again.settings) == ("", page.settings)
    page.set("n_w Number of w, exact", 4)
    assert (page.view.faded, page.remarks) == (True, [EARLIER])
    assert opened("compare", **MIXTURE).link == MIXTURE


def test_a_figure_of_the_paper_is_only_beside_the_papers_target() -> None:
    """MDC with another sd has neither the paper's figures, nor its ratio, nor the offer of its second figure."""
    page = ran(sd="0.2", second="1", **TWO)
    assert set(found(page).done) == {"hmc", "mahmc"}
    assert set(column(page, "paper")) == {"–"}
    assert "paper" not in " ".join(line["text"] for line in page.view.parts["headlines"])
    assert "paper" not in page.everything()["bars"].alt
    assert not [toggle for toggle in page.app.toggle if toggle.label.startswith("Also MAHMC")]
    page.set("sd Standard deviation of v given u, exact", 0.04)
    assert [toggle for toggle in page.app.toggle if toggle.label.startswith("Also MAHMC")]


def test_the_target_of_explore_is_compared_until_something_is_chosen_or_run() -> None:
    page = opened_app().go("explore")
    page.tab.follow("explore", MIXTURE)
    page.go("compare")
    assert page.link == MIXTURE
    assert "are the same as on Explore" in page.words
    page.go("explore").set("Target", "blr").go("compare")
    assert page.link == {"target": "blr"}
    page.set("Seed", 3).go("explore").set("Target", "gmm").go("compare")
    assert page.link == {"target": "blr", "seed": "3"}  # something was chosen here
    page.press("Take the target of Explore")
    assert page.link == MIXTURE | {"seed": "3"}
    page.go("explore").set("Target", "mdc").press("Compare samplers on this target").arrived("compare")
    assert page.run().link == {"seed": "3"}


def test_controls_stay_under_a_result_while_explore_is_visited() -> None:
    page = opened_app().go("compare")
    page.tab.follow("compare", MIXTURE | TWO | {"budget": "48000"})
    page.run().press("Run").ended()
    query, table = page.link, page.table
    page.go("explore").set("Target", "blr").go("compare")
    assert (page.link, page.table, page.view.faded) == (query, table, False)
    assert page.widget("Target").value == "gmm"
    assert page.widget("Samplers").value == ["hmc", "mahmc"]
    page.set("Target", "mdc")  # the old result says what it is of
    assert (page.view.faded, page.remarks, page.table) == (True, [EARLIER], table)
    assert page.view.parts["table"]["caption"].startswith("ESS of q per leapfrog · GMM (weights 0.5, 0.5;")
    assert all(request.origin.startswith("GMM (") for request in page.view.charts)


def test_an_edited_sampler_and_the_papers_second_figure() -> None:
    page = opened("compare", samplers="hmc", budget="64000", replicates="2").set("L Leapfrogs", 20, of="hmc")
    page.set("Also MAHMC at Nᵁ = 4, ε = 0.035", True).press("Run").ended()
    entries = found(page).entries
    assert entries["hmc"].spec.values["L"] == 20
    assert entries["mahmc, Nᵁ 4"].spec.values == {"epsilon": 0.035, "L": 10, "n_u": 4}
    assert dict(zip(column(page, "sampler"), column(page, "paper"), strict=True))["MAHMC, Nᵁ 4"] == "0.00608"
    assert "MAHMC, Nᵁ 4" in page.view.parts["headlines"][0]["text"]
    page.everything()


def test_the_preset_adds_an_iid_schedule_of_the_same_mean() -> None:
    page = ran(samplers="mahmc", iid="1", replicates="2", budget="64000", **{"mahmc.n_u": "4"})
    entries = found(page).entries
    assert set(entries) == {"mahmc", SAME_MEAN}
    ours, iid = entries["mahmc"].spec, entries[SAME_MEAN].spec
    assert iid.law.leapfrogs == pytest.approx(ours.law.leapfrogs)
    assert iid.law.updates == pytest.approx(ours.law.updates)
    assert iid.schedule.startswith("iid(43, ")
    assert iid.values["epsilon"] == ours.values["epsilon"]
    assert "MAHMC, i.i.d." in page.words
    assert "iid(43" in column(page, "settings")[1]


def test_every_editor_has_schedule_updates_and_outer_and_the_link_brings_them_back() -> None:
    query = {"target": "ising", "samplers": "hmc,mahmc", "hmc.update": "flip", "budget": "96000", "replicates": "2",
             "mahmc.schedule": "iid(12, 0.5, 0.25, 0.25)", "mahmc.update": "flip,gibbs",
             "mahmc.outer": "none"}  # fmt: skip
    page = opened("compare", target="ising", samplers="hmc,mahmc", budget="96000", replicates="2")
    page.set("Schedule", "iid(12, 0.5, 0.25, 0.25)").set("Updates of qᴼ", ["flip", "gibbs"], of="mahmc")
    page.set("After the trajectory", "none", of="mahmc").set("Updates of qᴼ", ["flip"], of="hmc")
    assert (page.warned, page.link) == ("", query)
    again = ran(**page.link)
    assert (again.warned, again.link) == ("", query)
    hmc, mahmc_ = (found(again).entries[name].spec for name in ("hmc", "mahmc"))
    assert (mahmc_.schedule, mahmc_.update, mahmc_.outer) == ("iid(12, 0.5, 0.25, 0.25)", "flip,gibbs", "none")
    assert (hmc.update, hmc.outer) == ("flip", "flip")


def test_an_update_that_the_schedule_has_no_place_for_is_told_and_waits() -> None:
    page = opened("compare", samplers="mahmc").set("Updates of qᴼ", ["gibbs", "metropolis"])
    assert page.widget("Updates of qᴼ").value == ["gibbs", "metropolis"]
    assert "Used: gibbs. The schedule has no other kinds of update." in page.words
    assert page.link == {"samplers": "mahmc"}
    page.set("Schedule", "iid(12, 0.5, 0.25, 0.25)")
    assert page.link["mahmc.update"] == "gibbs,metropolis"
    assert "The schedule has no other" not in page.words
    page.set("Updates of qᴼ", []).set("Schedule", "alternate")
    assert page.widget("Updates of qᴼ").value == ["gibbs"]
    assert page.link == {"samplers": "mahmc"}


def test_each_target_keeps_its_own_values() -> None:
    page = opened("compare").set("L Leapfrogs", 20, of="hmc").set("Leapfrogs of a replicate", 160_000)
    page.set("Target", "gmm")
    assert (page.widget("L Leapfrogs", of="hmc").value, page.widget("Leapfrogs of a replicate").value) == (15, 480_000)
    page.set("Target", "mdc")
    assert (page.widget("L Leapfrogs", of="hmc").value, page.widget("Leapfrogs of a replicate").value) == (20, 160_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [("sequences(001)", "P(D⁻¹)/P(D) is zero"), ("<b>iid[x](http://e.org)", "cannot be read")],
)
def test_a_schedule_that_cannot_be_used_is_told_and_the_last_good_one_stays(text: str, words: str) -> None:
    page = opened("compare", samplers="hmc,mahmc", seed="77", budget="160000", **{"mahmc.schedule": "iid(9, 0.9)"})
    page.set("Schedule", text)
    assert page.warned.startswith("Not used yet: ")
    assert words in page.warned
    assert not has_markdown_link(page.warned)
    assert page.widget("Schedule").value == text
    assert page.link == {"samplers": "hmc,mahmc", "mahmc.schedule": "iid(9, 0.9)", "budget": "160000", "seed": "77"}
    assert not page.button("Run").disabled
    page.set("Schedule", "")
    assert (page.warned, page.widget("Schedule").value) == ("", "alternate")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"samplers": ""}, "no sampler is chosen"),
        ({"budget": "1000"}, "too few for an ESS"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_told_and_cannot_be_run(query: dict[str, str], words: str) -> None:
    page = opened("compare", **query)
    assert page.warned.startswith("This cannot be compared: ")
    assert words in page.warned
    assert page.button("Run").disabled


def test_an_entry_out_of_range_stays_with_its_reason_and_nothing_runs() -> None:
    page = opened("compare").set("ε Step size", 0.0, of="hmc")
    assert page.widget("ε Step size", of="hmc").value == 0.0
    assert "ε Step size = 0 is not allowed: enter a number in (0, 100" in page.warned
    assert page.button("Run").disabled
    page.press("Back to 0.035")
    assert page.widget("ε Step size", of="hmc").value == 0.035
    assert page.link == {}
    assert not page.warned


def test_a_bad_link_is_told_and_shows_nothing_of_itself() -> None:
    page = opened("compare", target="blr", data="0123456789ab", **{"mahmc.schedule": "evil", "evil.outer": "none"})
    assert page.warned.startswith("Ignored in this link: mahmc.schedule (")
    assert "1 parameter that this page does not know" in page.warned
    assert "upload the same file again" in page.warned
    assert "evil" not in page.words
    assert not page.button("Run").disabled


# ------------------------------------------------------------------------------------------------------------- runs


def test_results_of_earlier_settings_are_marked_until_they_are_the_present_ones_again() -> None:
    page = ran(**TWO)
    table = page.table
    page.set("L Leapfrogs", 20, of="hmc")
    assert (page.view.faded, page.remarks, page.table) == (True, [EARLIER], table)
    page.everything()
    page.set("L Leapfrogs", 40, of="hmc")
    assert (page.view.faded, page.remarks) == (False, [])
    for label, value in (("Seed", 3), ("Replicates", 3), ("Samplers", ["hmc"])):
        page.set(label, value)
        assert page.view.faded
        page.tab.follow("compare", TWO)
        assert not page.run().view.faded


def test_stop_keeps_what_is_done() -> None:
    page = opened("compare", **TWO | {"replicates": "100"}).press("Run")
    until(lambda: len(page.job.snapshot().result.found.done) == 2)
    page.run()
    assert set(page.tiles) == {"HMC", "MAHMC"}
    assert page.tiles["HMC"].endswith(" / 100")
    page.press("Stop").ended()
    assert not found(page).finished
    done = sum(entry.replicates for entry in found(page).entries.values())
    assert page.status == f"Stopped after {done} of 200 runs. The results so far are below."
    assert column(page, "sampler") == ["HMC", "MAHMC"]
    page.everything()


def test_continue_gives_the_result_that_a_comparison_without_a_stop_has() -> None:
    query = TWO | {"replicates": "40"}
    page = opened("compare", **query).press("Run")
    until(lambda: len(page.job.snapshot().result.found.done) == 2)
    page.run().press("Stop").ended()
    assert 2 <= len(found(page).entries["mahmc"].acceptance) < 40
    page.set("Seed", 1)
    assert "Continue" not in [button.label for button in page.app.button]  # it would continue something else
    page.set("Seed", 0).press("Continue").ended()
    whole = Comparison("mdc", ["hmc", "mahmc"], 160_000, 40).advance_all()
    for name, entry in whole.entries.items():
        assert found(page).entries[name].ess == entry.ess
        assert found(page).entries[name].means == entry.means


def test_a_finished_result_is_there_again_after_a_reload_or_says_that_it_is_gone() -> None:
    """A reload is a new tab with the same link."""
    page = ran(**TWO)
    again = opened("compare", **page.link)
    assert again.table == page.table
    assert again.status == f"{page.status} This result was kept: the same settings and seed give the same numbers."
    assert not again.view.faded
    again.everything()
    others = (TWO | {"seed": "1"}, TWO | {"n_w": "19"}, TWO | {"hmc.L": "41"})
    assert all("compare" not in opened("compare", **other).tab.jobs for other in others)
    for _ in range(MOST_RESULTS):
        KEPT.keep(Comparison("gmm", ["hmc"], 48_000, seed=None))
    gone = opened("compare", **page.link)
    assert "compare" not in gone.tab.jobs
    assert gone.warned == GONE
    assert gone.press("Run").ended().table == page.table
    assert gone.warned == ""


def test_results_on_other_data_are_not_found() -> None:
    """Two tables of the same size: only the one that was uploaded has the result."""
    one, other = (Upload.of("blr", "mine.csv", tabular.read(csv_file(seed=seed)), "cured") for seed in (0, 1))
    KEPT.keep(Comparison(one.target({}), ["hmc"], 48_000))
    assert KEPT.find(Comparison(one.target({}), ["hmc"], 48_000)) is not None
    assert KEPT.find(Comparison(other.target({}), ["hmc"], 48_000)) is None
    assert KEPT.find(Comparison("blr", ["hmc"], 48_000)) is None


def test_a_comparison_that_fails_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Any, seconds: float = 0.0) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(mahmc.Run, "advance", fail)
    page = ran(**TWO)
    assert page.remarks == [FAILURE]
    assert page.view.parts["remarks"][0]["tone"] == "error"
    page.everything()


def test_a_sampler_is_opened_in_explore() -> None:
    """With its settings in the controls, and its run under way."""
    page = opened_app().go("compare")
    page.tab.follow("compare", TWO | {"hmc.L": "20"})
    page.run().press("Run").ended().press("HMC").arrived("explore")
    assert (page.widget("Sampler").value, page.widget("L Leapfrogs, exact").value) == ("hmc", 20)
    page.ended()
    assert (page.view.faded, EARLIER in page.remarks) == (False, False)
    assert page.job.work.spec == page.spec
    page.everything()


def test_the_same_link_gives_the_same_table() -> None:
    page = ran(**TWO)
    again = ran(**page.link)
    assert again.table == page.table
    first, second = (found(p).entries["mahmc"].run for p in (page, again))
    assert first is not None
    assert second is not None
    assert np.array_equal(first.draws["u"], second.draws["u"])
