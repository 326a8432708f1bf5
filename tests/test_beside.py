"""Explore with two or three runs side by side: equal cost, one Run, the same axes, and the ratio in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dashboard.live.cache import PartCache
from dashboard.settings import link
from dashboard.settings.explore import ExploreSettings
from dashboard.views.beside import NOT_YET, times
from dashboard.views.explore import ViewState
from dashboard.views.view import ChartRequest, View
from mahmc import InvalidInput, Run, RunSpec
from mahmc.compare import Interval
from tests.support.pages import ENDLESS, SMALL, Page, all_ended, ended, new_screen, new_tab, opened, until

pytestmark = pytest.mark.usefixtures("pages_of_one_test")
TWO = {"2.sampler": "hmc"}
THREE = TWO | {"3.sampler": "mala", "3.epsilon": "0.02"}


def settings_of(**query: str) -> ExploreSettings:
    settings, said = link.read(ExploreSettings(), query)
    assert said == ""
    return settings


def ran(**query: str) -> Page:
    return all_ended(opened(**SMALL, **query).press("Run"))


# ----------------------------------------------------------------------------------------------------- equal cost


@pytest.mark.parametrize(
    "query",
    [
        {"2.sampler": "hmc", "2.L": "7", "3.sampler": "mala"},
        {"sampler": "mala", "2.sampler": "mahmc", "3.sampler": "m-hmc"},
        {"thin": "3", "2.sampler": "mahmc", "2.schedule": "iid(70, 0.9)", "3.sampler": "mahmc", "3.n_u": "3"},
    ],
)
def test_every_run_has_the_leapfrogs_of_the_main_run_to_the_last_whole_draw(query: dict[str, str]) -> None:
    main, *others = settings_of(draws="1009", warmup="101", seed="5", chains="3", **query).specs({}).values()
    assert len(others) == 2
    for spec in others:
        each = spec.leapfrogs_per_draw
        for mine, its in ((spec.draws, main.draws), (spec.warmup, main.warmup)):
            assert -1e-6 < its * main.leapfrogs_per_draw - mine * each < each
        assert (spec.chains, spec.seed, spec.thin) == (main.chains, main.seed, main.thin)


def test_a_run_that_gets_no_draw_is_refused_and_the_message_names_it() -> None:
    settings = settings_of(sampler="mala", draws="2", **TWO)
    with pytest.raises(InvalidInput, match=r"^Run 2: a draw needs 40 leapfrogs.*Take more draws"):
        settings.specs({})
    page = opened(sampler="mala", draws="2", **TWO)
    assert "Run 2: a draw needs" in page.warned
    assert page.button("Run").disabled


# ------------------------------------------------------------------------------------------------- settings, links


def test_a_slot_has_values_of_its_own_on_the_target_of_the_main_run() -> None:
    settings = settings_of(sampler="hmc", L="33", sd="0.08", **{"2.sampler": "hmc", "2.L": "7"})
    main, other = settings.specs({}).values()
    assert (main.values["L"], other.values["L"]) == (33, 7)
    assert dict(main.settings)["sd"] == dict(other.settings)["sd"] == 0.08
    usual = RunSpec.of("mdc", "hmc").settings
    changed = settings.with_slot(2, settings.slot(2)).with_("sd", dict(usual)["sd"])
    assert [spec.settings for spec in changed.specs({}).values()] == [usual, usual]


def test_slots_follow_another_target_and_keep_their_values() -> None:
    settings = settings_of(**{"2.sampler": "m-hmc", "2.epsilon": "0.02"}).with_("target", "blr")
    assert [spec.target for spec in settings.specs({}).values()] == ["blr", "blr"]
    assert link.write(settings)["2.sampler"] == "mahmc"  # as the main sampler, where M-HMC cannot sample the target
    assert link.write(settings.with_("target", "mdc")) == {"2.sampler": "m-hmc", "2.epsilon": "0.02"}


def test_runs_are_added_and_removed_and_the_others_keep_their_numbers() -> None:
    settings = ExploreSettings().with_another().with_another()
    assert (settings.slots, link.write(settings)) == ((2, 3), {"2.sampler": "hmc", "3.sampler": "mala"})
    assert link.write(settings.without_slot(2)) == {"3.sampler": "mala"}
    assert settings.without_slot(2).without_slot(3) == ExploreSettings()


def test_the_widgets_of_a_slot_change_the_slot_alone() -> None:
    page = opened().press("Compare with another sampler")
    assert page.link == {"2.sampler": "hmc"}
    page.set("L Leapfrogs, exact", 12, of="2").set("Sampler", "mala", of="2").set("Sampler", "hmc", of="2")
    assert page.link == {"2.sampler": "hmc", "2.L": "12"}
    assert page.widget("L Leapfrogs, exact").value == 10
    page.press("Compare with another sampler")
    assert "Compare with another sampler" not in [button.label for button in page.app.button]
    page.press("Remove")
    assert page.link == {"3.sampler": "mala"}


# -------------------------------------------------------------------------------------------- one Run for all runs


def test_run_stop_continue_and_reset_act_on_all_and_continue_is_exact() -> None:
    long = {"draws": "200000", "warmup": "0", "thin": "5000", "chains": "4"}  # minutes, in little memory
    page = opened(target="gmm", **long, **THREE).press("Run")
    jobs = list(page.tab.group("explore").values())
    assert len(jobs) == 3
    before = [0, 0, 0]
    for label in ("Run", "Continue"):
        if label == "Continue":
            page.press(label)
        until(lambda: all(job.snapshot().result.drawn > n for job, n in zip(jobs, before, strict=True)))  # noqa: B023
        page.run().press("Stop")
        before = [ended(job).snapshot().result.drawn for job in jobs]
        assert not any(job.alive or job.work.finished for job in jobs)
        page.run()
    for job, drawn in zip(jobs, before, strict=True):
        again = Run(job.work.spec)
        while again.done < drawn:
            again.advance()
        assert np.array_equal(job.work.run.get("q")[:, :drawn], again.get("q")[:, :drawn])
    page.press("Reset")
    assert page.tab.jobs == {}


def test_stop_and_closing_the_tab_end_all_runs() -> None:
    for end in ("stop", "end"):
        tab = new_tab()
        tab.open("explore", ENDLESS | TWO)
        tab.run_settings()
        jobs = list(tab.group("explore").values())
        assert [job.alive for job in jobs] == [True, True]
        tab.stop("explore") if end == "stop" else tab.end()
        assert [ended(job).alive for job in jobs] == [False, False]


def test_a_moved_control_restarts_what_it_changes() -> None:
    tab = new_tab()
    tab.open("explore", ENDLESS | TWO | {"follow": "1"})
    tab.run_settings()
    main, other = tab.group("explore").values()
    tab.change("explore", "2.epsilon", 0.01)
    assert tab.jobs["explore"] is main
    assert tab.jobs["explore.2"].work.spec.values["epsilon"] == 0.01
    tab.change("explore", "seed", 3)
    assert {job.work.spec.seed for job in tab.group("explore").values()} == {3}
    assert not ended(other).alive


def test_a_run_that_is_removed_ends() -> None:
    tab = new_tab()
    tab.open("explore", ENDLESS | TWO)
    tab.run_settings()
    job = tab.jobs["explore.2"]
    tab.replace("explore", tab.settings["explore"].without_slot(2))
    assert not ended(job).alive
    assert list(tab.jobs) == ["explore"]
    assert tab.jobs["explore"].alive


# --------------------------------------------------------------------------------------------------------- the view


def test_all_runs_have_the_same_axes_tiles_and_files() -> None:
    page = ran(**THREE)
    charts = page.everything()
    for row in ("trace", "density"):
        layouts = [charts[f"{row}.{number}"].figure.layout for number in (1, 2, 3)]
        assert len({(layout.xaxis.range, layout.yaxis.range) for layout in layouts}) == 1
        assert layouts[0].xaxis.range is not None
        assert layouts[0].yaxis.range is not None
    assert charts["trace.1"].figure.layout.xaxis.title.text == "leapfrogs of the chain"
    for number in (1, 2, 3):
        line = charts[f"trace.{number}"].figure.data[0]
        assert line.x0 + line.dx * (len(line.y) - 1) == 30_000  # the last draw of each run
    tiles = {tile["label"]: tile for tile in page.view.parts["run.2"]["tiles"]}
    assert re.fullmatch(r"[\d.e-]+ to [\d.e-]+", tiles["ESS / leapfrog"]["beside"].partition(";")[0])
    heading = page.view.parts["head.2"]
    assert (heading[0]["lead"], heading[0]["text"]) == ("HMC", "ε 0.035, L 40")
    assert heading[1]["text"] == "750 draws × 40 leapfrogs = 30,000 leapfrogs of each chain"
    assert "HMC: NetCDF" in [file["label"] for file in page.view.parts["files"]]


def test_the_ratio_is_said_when_all_runs_are_at_rest_and_have_the_present_settings() -> None:
    page = opened(**SMALL, **THREE)
    assert page.view.parts["ratio"][0]["text"] == NOT_YET
    page = all_ended(page.press("Run"))
    number = r"[\d.e+]+ \[[\d.e+]+, [\d.e+]+\]"
    said = page.view.parts["ratio"][0]["text"]
    assert re.match(
        rf"The ESS of u per leapfrog of MAHMC is {number} times that of HMC and {number} times that of", said
    )
    page.set("L Leapfrogs, exact", 20, of="2")
    assert page.view.faded
    assert page.view.parts["ratio"][0]["text"] == NOT_YET


def test_a_ratio_is_as_uncertain_as_both_estimates() -> None:
    one, other = Interval(4.0, 2.0, 8.0), Interval(2.0, 1.0, 4.0)
    found = times(one, other)
    assert found.value == 2.0
    assert np.allclose([found.low, found.high], [2.0 / 2 ** np.sqrt(2), 2.0 * 2 ** np.sqrt(2)])


def test_no_ratio_for_a_wrong_sampler_or_for_chains_that_never_moved() -> None:
    said = ran(**{"2.sampler": "naive"}).view.parts["ratio"][0]["text"]
    assert said == "Naive MH within HMC is wrong on purpose: how many draws are effective does not count."
    page = ran(sampler="hmc", **TWO, **{"2.epsilon": "0.2"})
    assert page.view.parts["ratio"][0]["text"] == "HMC (run 2) has no ESS: its chains never moved."
    said_of_run = {n: [remark["text"] for remark in page.view.parts[f"remarks.{n}"]] for n in (1, 2)}
    assert said_of_run[2][0].startswith("All chains are stuck: every proposal since the warm-up was rejected.")
    assert ["is too large" in text for text in said_of_run[2]].count(True) == 1
    assert not any("is too large" in text or "stuck" in text for text in said_of_run[1])


def test_present_mode_has_the_runs_side_by_side_and_the_ratio() -> None:
    page = opened(present="1", **SMALL, **TWO)
    assert {"ratio", "head.1", "head.2"} <= page.view.parts.keys()
    assert page.everything().keys() == {"trace.1", "trace.2", "density.1", "density.2"}


def test_charts_of_a_row_are_made_together() -> None:
    """Else their ranges could differ: each is made from all runs."""
    made: list[str] = []

    def request(place: str, size: int) -> ChartRequest:
        def make() -> Any:
            made.append(place)
            raise ValueError("a chart that cannot be drawn is a chart too")

        return ChartRequest(place, "same", size, make, row="row" if place != "c" else "")

    cache = PartCache()
    cache.changes(View(charts=[request(place, 1) for place in "abc"]), 0)
    assert made == ["a", "b", "c"]
    cache.changes(View(charts=[request("a", 1), request("b", 2), request("c", 1)]), 0)
    assert made[3:] == ["a", "b"]


def test_pins_are_shown_beside_the_run_if_they_have_its_target() -> None:
    screen = new_screen()
    tab = screen.tab
    for target in ("gmm", "mdc", "mdc"):
        tab.open("explore", {})
        tab.replace("explore", settings_of(**SMALL, target=target, seed=str(len(tab.pins))))
        tab.run_settings()
        ended(tab.jobs["explore"])
        tab.pin()
    shown = ViewState(tab.settings["explore"], tab.snapshot()).beside
    assert shown is not None
    assert [column.mark for column in shown.columns] == ["1", f"pin{tab.pins[1].job.number}"]  # pin 3 is the run itself
