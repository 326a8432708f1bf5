"""A tab: when a link counts, what presets do, and that settings and results survive a visit to another page."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from dashboard.settings import link
from dashboard.settings.checks import CheckSettings
from dashboard.settings.compare import SAME_MEAN, CompareSettings
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.presets import PRESETS, TIMING, Preset
from dashboard.views import explore
from dashboard.work import estimates as estimating
from dashboard.work.exploring import MOST_KEPT, MOST_NAME, MOST_PINS
from dashboard.work.job import Status
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES
from tests.support.pages import (
    DEADLINE,
    ENDLESS,
    SMALL,
    Page,
    ended,
    new_tab,
    opened_app,
    run,
    spec_of,
    until,
)

pytestmark = pytest.mark.usefixtures("pages_of_one_test")


# ------------------------------------------------------------------------------------------------- when a link counts


def test_the_link_that_a_page_is_opened_with_counts() -> None:
    tab = new_tab()
    tab.open("explore", {"target": "gmm", "seed": "5"})
    assert tab.settings["explore"] == ExploreSettings().with_("target", "gmm").with_("seed", 5)
    tab.open("compare", {"samplers": "hmc"})
    assert tab.settings["compare"] == CompareSettings(samplers=("hmc",))


def test_a_query_of_the_page_that_is_open_does_not_count() -> None:
    """Each event of a widget runs the page again, with the query that it was opened with."""
    tab = new_tab()
    tab.open("explore", {"seed": "5"})
    tab.change("explore", "seed", 6)
    tab.open("explore", {"seed": "5"})
    assert tab.settings["explore"].seed == 6


def test_a_page_that_is_opened_without_a_query_is_as_it_was_left() -> None:
    tab = new_tab()
    tab.open("explore", {"seed": "5"})
    tab.open("compare", {})
    tab.open("explore", {})
    assert tab.settings["explore"].seed == 5


def test_another_link_to_a_page_replaces_all_of_its_settings() -> None:
    tab = new_tab()
    tab.open("explore", {"seed": "5", "view": "full"})
    tab.open("overview", {})
    tab.open("explore", {"target": "gmm"})
    assert tab.settings["explore"] == ExploreSettings().with_("target", "gmm")


@pytest.mark.parametrize("page", ["explore", "compare", "checks"])
def test_a_pages_own_link_resets_nothing(page: str) -> None:
    """The browser comes back with the link that the address showed. What no link carries stays."""
    tab = new_tab()
    tab.open(page, {"seed": "5"})
    settings = tab.settings[page]
    kept = replace(settings, choices=settings.choices.put(("gmm", "hmc", "L"), 33))  # of a target that is not shown
    tab.replace(page, kept)
    tab.open("overview", {})
    tab.open(page, link.write(kept))
    assert tab.settings[page] is kept


def test_back_and_forward_bring_settings_back() -> None:
    """`follow` is what the browser's history calls while the page is open."""
    tab = new_tab()
    tab.open("explore", {"seed": "5"})
    tab.change("explore", "seed", 6)
    tab.follow("explore", {"seed": "5"})
    assert tab.settings["explore"].seed == 5
    tab.follow("explore", {})
    assert tab.settings["explore"] == ExploreSettings()


def test_what_is_wrong_with_a_link_is_told_until_something_is_run() -> None:
    tab = new_tab()
    tab.open("explore", {"seed": "-1", "chains": "4", "draws": "100"})
    assert tab.problem("explore").startswith("Ignored in this link: seed (")
    assert tab.problem("compare") == ""
    tab.change("explore", "warmup", 10)
    assert tab.problem("explore") != ""
    run(tab)
    assert tab.problem("explore") == ""


# ---------------------------------------------------------------------------------------------------------- presets


@pytest.mark.parametrize("preset", [*PRESETS, TIMING], ids=lambda preset: preset.title)
def test_a_presets_link_says_nothing_that_is_ignored(preset: Preset) -> None:
    start = {"explore": ExploreSettings(), "compare": CompareSettings()}[preset.page]
    settings, said = link.read(start, preset.query)
    assert said == ""
    assert link.write(settings) == preset.query


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset.run], ids=lambda preset: preset.title)
def test_a_preset_of_a_run_sets_the_settings_and_runs(preset: Preset) -> None:
    tab = new_tab()
    tab.change("explore", "warmup", 7)
    tab.open(preset.page, preset.link)
    assert link.write(tab.settings["explore"]) == preset.query
    assert tab.jobs["explore"].work.spec == spec_of(tab)
    assert tab.jobs["explore"].alive


def test_only_a_page_that_is_opened_runs_by_its_link() -> None:
    """Neither another run of the same page, nor another value, nor a page without runs."""
    tab = new_tab()
    tab.open("explore", {"seed": "3", "run": "yes"})
    tab.open("explore", {"seed": "3", "run": "1"})
    tab.open("compare", {"replicates": "3", "run": "1"})
    assert tab.jobs == {}
    assert (tab.problem("explore"), tab.problem("compare")) == ("", "")


def test_a_preset_without_a_run_only_sets_the_settings() -> None:
    tab = new_tab()
    for preset in [TIMING, *PRESETS]:
        if not preset.run:
            tab.open(preset.page, preset.link)
    assert tab.jobs == {}
    settings = tab.settings["compare"]
    assert list(settings.methods(settings.target({}))) == ["hmc", "mahmc", SAME_MEAN]


# ----------------------------------------------------------------------------------------------- jobs and settings


def test_the_same_run_is_not_started_twice_while_it_goes_on() -> None:
    tab = new_tab()
    tab.open("explore", ENDLESS)
    job = run(tab)
    assert run(tab) is job


def test_a_new_run_stops_the_one_before_which_stays_in_sight_until_the_new_one_has_draws() -> None:
    tab = new_tab()
    tab.open("explore", ENDLESS)
    before = run(tab)
    until(lambda: before.snapshot().result.drawn > 0)
    tab.change("explore", "seed", 1)
    after = run(tab)
    until(lambda: after.snapshot().result.done > 0)
    assert not before.wait(DEADLINE).alive
    assert tab.earlier["explore"] is before
    assert tab.snapshot().shown("explore")[0].number == after.number  # type: ignore[union-attr]


def test_a_link_to_settings_that_were_run_shows_their_results_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Back does. The newest runs are kept, and only runs whose draws do not take much memory."""
    tab = new_tab()
    links = [{"target": "gmm", "draws": "400", "chains": "4", "seed": str(seed)} for seed in range(MOST_KEPT + 2)]
    jobs = []
    for query in links:
        tab.follow("explore", query)
        jobs.append(ended(run(tab)))
    for i in (3, 4, 2):
        tab.follow("explore", links[i])
        assert tab.jobs["explore"] is jobs[i]
        assert not explore.ViewState(tab.settings["explore"], tab.snapshot()).stale
    tab.follow("explore", links[0])  # the oldest is gone
    assert explore.ViewState(tab.settings["explore"], tab.snapshot()).stale
    monkeypatch.setattr("dashboard.work.exploring.KEPT_BYTES", 1)
    tab.follow("explore", links[4])
    assert tab.kept == ()
    tab.follow("explore", links[2])
    assert tab.jobs["explore"] is jobs[4]


def test_back_shows_a_kept_run_also_if_runs_restart_with_the_settings() -> None:
    """The kept run comes first. So there is nothing to restart."""
    tab = new_tab()
    links = [{"target": "gmm", "draws": "400", "chains": "4", "seed": seed, "follow": "1"} for seed in ("1", "2")]
    for query in links:
        tab.follow("explore", query)
        ended(run(tab))
    first = tab.kept[0]
    tab.follow("explore", links[0])
    assert tab.jobs["explore"] is first


def test_a_tab_that_is_closed_stops_all_its_jobs() -> None:
    tab = new_tab()
    tab.open("explore", ENDLESS)
    run(tab)
    tab.compare(CompareSettings().comparison({}))
    tab.check(CheckSettings().cells({})[0])
    tab.contest("naive")
    jobs = list(tab.jobs.values())
    assert len(jobs) == 4
    tab.end()
    for job in jobs:
        assert job.wait(DEADLINE).alive is False
        assert job.status is Status.STOPPED


def test_estimates_end_with_the_tab_and_go_on_when_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took a core for seconds after a tab was closed, of a run that nobody looked at any more."""
    begun, go_on, made = threading.Event(), threading.Event(), estimating.estimates

    def held(*arguments: Any) -> estimating.Estimates:
        begun.set()
        assert go_on.wait(DEADLINE)
        return made(*arguments)

    monkeypatch.setattr(estimating, "estimates", held)
    tab = new_tab()
    tab.open("explore", SMALL | {"view": "full"})
    job = run(tab)
    assert begun.wait(DEADLINE)
    assert not job.wait(DEADLINE).alive
    tab.end()
    go_on.set()
    until(lambda: not job.snapshot().result.estimating)
    assert len(job.snapshot().result.estimates) == 1
    tab.open("explore", {})
    result = ended(job).snapshot().result
    assert set(result.estimates) == set(result.names)


def test_a_contest_stops_the_other_one() -> None:
    tab = new_tab()
    tab.contest("naive")
    tab.contest("asymmetric")
    assert tab.jobs["contest.naive"].snapshot().stopping
    assert not tab.jobs["contest.asymmetric"].snapshot().stopping


def test_pins_are_few_named_and_of_runs_that_are_not_pinned_yet() -> None:
    tab = new_tab()
    tab.open("explore", SMALL)
    for seed in range(MOST_PINS + 1):
        tab.change("explore", "seed", seed)
        ended(run(tab))
        tab.pin()
        tab.pin()
    assert [pin.job.work.spec.seed for pin in tab.pins] == list(range(MOST_PINS))
    number = tab.pins[0].job.number
    before = tab.pins[0].name
    tab.rename(number, "   ")
    assert tab.pins[0].name == before
    tab.rename(number, " " + "x" * 200)
    assert tab.pins[0].name == "x" * MOST_NAME
    tab.unpin(number)
    assert [pin.job.work.spec.seed for pin in tab.pins] == list(range(1, MOST_PINS))


# --------------------------------------------------------------------------------------- from page to page, in the app


def test_overview_has_its_cards_all_samplers_and_all_targets() -> None:
    page = opened_app()
    labels = [link.proto.label for link in page.app.get("page_link")]
    assert labels[:6] == ["**Open and run**"] * 5 + ["**Open**"]
    assert all(preset.title in page.words and preset.about in page.words for preset in PRESETS)
    for sampler in SAMPLERS.values():
        assert sampler.about in page.words
    for family in FAMILIES.values():
        assert family.about in page.words
    assert page.everything() == {}


def test_a_card_opens_its_page_and_runs() -> None:
    page = opened_app().follow("Open and run", 1)
    assert page.link == PRESETS[1].query
    assert page.widget("ε Step size, exact", of="2").value == 0.06
    assert page.job.work.spec.seed == 7
    page.tab.stop("explore")


def test_the_card_of_a_comparison_opens_compare_with_its_settings() -> None:
    page = opened_app().follow(TIMING.title)
    assert page.widget("Samplers").value == ["hmc", "mahmc"]
    assert page.widget("MAHMC: Nᵁ against an i.i.d. schedule of the same mean").value is True


def left_and_back(page: Page, *others: str) -> Page:
    here = page.name
    for other in others:
        page.go(other)
    return page.go(here)


def test_explore_is_as_it_was_left() -> None:
    page = opened_app().go("explore").set("Depth", "full")
    page.set("Chains, exact", 4).set("Draws, exact", 300).set("Warm-up, exact", 30)
    page.set("Sampler", "hmc").set("L Leapfrogs, exact", 30).set("Quantity", "v")
    page.press("Run").ended().press("Pin this run")
    status, tiles, address, job = page.status, page.tiles, page.link, page.job
    left_and_back(page, "compare", "overview", "checks")
    assert page.job is job
    assert (page.status, page.tiles, page.link) == (status, tiles, address)
    assert page.widget("Depth").value == "full"
    assert page.widget("Sampler").value == "hmc"
    assert page.widget("L Leapfrogs, exact").value == page.widget("L Leapfrogs").value == 30
    assert page.widget("Draws, exact").value == 300
    assert page.widget("Quantity").value == "v"
    assert len(page.tab.pins) == 1
    assert not page.view.faded
    page.everything()


def test_compare_is_as_it_was_left() -> None:
    page = opened_app().go("compare").set("Samplers", ["hmc", "mahmc"]).set("Replicates", 2)
    page.set("Leapfrogs of a replicate", 160_000).set("Cost", "updates")
    page.set("L Leapfrogs", 20, of="hmc").press("Run").ended().set("Quantity", "ones")
    table, address, job = page.table, page.link, page.job
    left_and_back(page, "explore", "checks")
    assert page.job is job
    assert (page.table, page.link) == (table, address)
    assert page.widget("Samplers").value == ["hmc", "mahmc"]
    assert page.widget("Leapfrogs of a replicate").value == 160_000
    assert page.widget("Cost").value == "updates"
    assert page.widget("Quantity").value == "ones"
    assert page.widget("L Leapfrogs", of="hmc").value == 20
    assert not page.view.faded
    page.everything()


def test_checks_are_as_they_were_left() -> None:
    page = opened_app().go("checks").set("Budget, exact", 0.01).set("Seed", 3).set("Add a case of your own", True)
    page.set("Target", "mdc").set("n_w Number of w, exact", 3)
    page.press("Check this cell").ended()
    squares, address, status = page.squares, page.link, page.status
    assert squares["naive", "gmm"] == "wrong"
    left_and_back(page, "explore", "compare")
    assert (page.squares, page.link, page.status) == (squares, address, status)
    assert page.widget("Budget, exact").value == 0.01
    assert page.widget("Seed").value == 3
    assert page.widget("Target").value == "mdc"
    assert page.widget("n_w Number of w, exact").value == 3
    page.everything()
