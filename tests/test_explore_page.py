"""Explore: every target and sampler renders and runs, controls move, and results of earlier settings are marked."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dashboard.figures import LAST_DRAWS
from dashboard.pages import watching
from dashboard.pages.explore import snippet
from dashboard.settings import link
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.presets import PRESETS
from dashboard.views.explore import AT_REST
from dashboard.views.view import SECONDS
from dashboard.views.words import EARLIER
from dashboard.widgets.controls import Controls
from dashboard.work import estimates
from dashboard.work import job as jobs
from dashboard.work.job import MOST_AT_ONCE
from mahmc import Run, RunSpec, targets
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, SAMPLERS
from mahmc.targets import FAMILIES
from tests.support.cases import pairs
from tests.support.pages import DEADLINE, ENDLESS, SMALL, Page, ended, new_screen, opened, run, until

pytestmark = pytest.mark.usefixtures("pages_of_one_test")


def result(page: Page) -> Any:
    return page.job.snapshot().result


# ------------------------------------------------------------------------------------------- everything renders


# Every target with half of the samplers, and every sampler with half of the targets, like the white squares of a board.
HALF = [
    (target, sampler)
    for target, sampler in pairs(SAMPLERS)
    if (list(FAMILIES).index(target) + list(SAMPLERS).index(sampler)) % 2 == 1
]


def test_each_sampler_and_each_target_is_rendered() -> None:
    targets, samplers = zip(*HALF, strict=True)
    assert (set(targets), set(samplers)) == (set(FAMILIES), set(SAMPLERS))


@pytest.mark.parametrize(("target", "sampler"), HALF)
def test_every_target_and_sampler_renders_and_runs(target: str, sampler: str) -> None:
    """In the full view, which has every control, chart and diagnostic."""
    page = opened(target=target, sampler=sampler, view="full", **SMALL)
    assert {"trace", "density", "mean", "rates"} <= page.everything().keys()
    page.press("Run").ended()
    assert (result(page).spec.target, result(page).spec.sampler) == (target, sampler)
    assert page.status.startswith("Finished: 330 of 330 draws of each chain")
    assert {"Acceptance", "ESS, bulk", "ESS, tail", "R-hat", "ESS / leapfrog", "Gradients"} <= page.tiles.keys()
    assert {"trace", "density", "mean", "rates", *AT_REST} <= page.everything().keys()
    table = page.app.dataframe[0].value
    assert len(table) == len(result(page).names)
    assert {"mean", "sd", "MCSE", "ESS bulk", "ESS tail", "R-hat", "truth", "z-score"} == set(table.columns)
    assert [file["label"] for file in page.view.parts["files"]] == ["NetCDF", "CSV", "Figure's data", "Settings"]


@pytest.mark.parametrize("target", FAMILIES)
def test_the_simple_view_has_the_essentials(target: str) -> None:
    page = opened(target=target, **SMALL)
    page.press("Run").ended()
    assert list(page.tiles) == ["Acceptance", "ESS, bulk", "ESS / leapfrog"]
    assert set(page.everything()) == {"trace", "density"}
    assert {"ε Step size", "L Leapfrogs"} <= page.labels()
    assert {"Chains", "Draws"} <= page.labels()
    assert page.widget("Seed").value == 0
    assert not {"Schedule", "Update of qᴼ", "Warm-up", "Thinning"} & page.labels()
    assert not page.app.dataframe


@pytest.mark.parametrize("sampler", EVERY_SAMPLER)
def test_the_simple_view_has_all_sliders_of_the_sampler(sampler: str) -> None:
    """They are the page's main promise."""
    labels = opened(target="gmm", sampler=sampler).labels()
    parameters = [PARAMETERS[name] for name in EVERY_SAMPLER[sampler].parameters]
    assert {f"{p.symbol} {p.title}" for p in parameters} <= labels


def test_controls_are_those_of_the_sampler() -> None:
    labels = opened(sampler="mala-pn", view="full").labels()
    assert {"ε Step size", "L Leapfrogs", "α Persistence of momentum", "δ Drift of the uniform"} <= labels
    assert "Nᵁ Segments" not in labels


def test_all_quantities_have_estimates_at_rest() -> None:
    page = opened(target="gmm", view="full", **SMALL).press("Run").ended()
    assert set(result(page).estimates) == set(result(page).names)
    assert list(page.app.dataframe[0].value.index) == ["q", "component", "energy U"]
    assert page.app.dataframe[0].value.loc["q", "R-hat"] == pytest.approx(result(page).estimates["q"].rhat)


# ------------------------------------------------------------------------------------------------------- controls

MOVED = [("blr", "mala"), ("ising", "hmc"), ("spike-slab", "mala-p"), ("neals-funnel", "mala-pn"), ("mdc", "mahmc"),
         ("gmm", "m-hmc")]  # fmt: skip


def test_each_sampler_and_each_target_is_moved() -> None:
    targets, samplers = zip(*MOVED, strict=True)
    assert (set(targets), set(samplers)) == (set(FAMILIES), set(SAMPLERS))


@pytest.mark.parametrize(("target", "sampler"), MOVED)
def test_every_control_moves(target: str, sampler: str) -> None:
    """Slider and exact entry show one value, and the spec and the link follow it."""
    page = opened(target=target, sampler=sampler, view="full")
    for name, value in SAMPLERS[sampler].defaults(target).items():
        parameter = PARAMETERS[name]
        label = f"{parameter.symbol} {parameter.title}"
        assert page.widget(f"{label}, exact").value == value
        other = value + 1 if parameter.kind == "int" else value * 1.01 if name == "epsilon" else value / 2
        page.set(f"{label}, exact", other)
        assert page.spec.values[name] == other
        assert link.read(ExploreSettings(), page.link)[0].spec({}).values[name] == other
        stop = another_stop(page.widget(label))
        page.set(label, stop)
        assert page.widget(f"{label}, exact").value == page.choices.values()[name] == stop
    page.press("Paper's best values" if target in SAMPLERS[sampler].presets else "Default values")
    assert page.choices.values() == SAMPLERS[sampler].defaults(target)
    assert not {"epsilon", "L"} & page.link.keys()


def another_stop(widget: Any) -> Any:
    if getattr(widget, "options", None):
        return next(type(widget.value)(stop) for stop in widget.options if type(widget.value)(stop) != widget.value)
    return widget.max if widget.value != widget.max else widget.min


def test_the_parameters_of_run_and_target_move() -> None:
    page = opened(view="full")
    page.set("Chains, exact", 7).set("Draws, exact", 123).set("Warm-up, exact", 9).set("Thinning, exact", 2)
    page.set("Seed", 99).set("sd Standard deviation of v given u, exact", 0.08).set("n_w Number of w, exact", 5)
    assert page.spec == RunSpec.of("mdc", "mahmc", chains=7, draws=123, warmup=9, thin=2, seed=99, sd=0.08, n_w=5)
    assert page.link == {"n_w": "5", "sd": "0.08", "chains": "7", "draws": "123", "warmup": "9", "thin": "2",
                         "seed": "99", "view": "full"}  # fmt: skip


def test_the_dice_give_another_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda most: 4711)
    page = opened(view="full")
    next(button for button in page.app.button if button.key == "explore.dice").click()
    assert page.run().widget("Seed").value == page.settings.seed == 4711


ALPHA = "α Persistence of momentum"


def test_an_entry_out_of_range_stays_with_its_reason_and_nothing_runs() -> None:
    """What is on the screen is what runs: the field shows 1, so the earlier 0.995 must not run."""
    page = opened(sampler="mala-p", **SMALL).press("Run").ended().set(f"{ALPHA}, exact", 1.0)
    assert page.widget(f"{ALPHA}, exact").value == 1.0
    assert f"{ALPHA} = 1 is not allowed: enter a number in [0, 1)." in page.warned
    assert ALPHA not in page.labels()  # a slider could not show it
    assert all(button.disabled for button in page.app.button if button.label == "Run")
    assert page.view.faded
    page.press("Back to 0.995")
    assert page.widget(f"{ALPHA}, exact").value == page.widget(ALPHA).value == page.spec.values["alpha"] == 0.995
    assert not page.warned
    assert not page.view.faded


def test_a_click_just_after_an_entry_out_of_range_runs_nothing() -> None:
    """The browser sends both at once: the button was still on when it was clicked."""
    page = opened(sampler="mala-p", **SMALL)
    page.widget(f"{ALPHA}, exact").set_value(1.0)
    next(button for button in page.app.button if button.key == "explore.side.Run").click()
    page.run()
    assert "explore" not in page.tab.jobs
    assert "is not allowed" in page.warned


@pytest.mark.parametrize("typed", [2.5, -1.0, 1e30])
def test_whole_numbers_are_refused_in_the_same_way(typed: float) -> None:
    page = opened().set("Chains, exact", typed)
    assert page.widget("Chains, exact").value == typed
    assert "Chains = " in page.warned
    assert "enter a whole number in [1, 1e+07]" in page.warned
    page.set("Chains, exact", 5)
    assert page.spec.chains == 5
    assert not page.warned


def test_a_refused_entry_goes_with_its_field() -> None:
    page = opened(sampler="mala-p", view="full").set(f"{ALPHA}, exact", 1.0).set("Warm-up, exact", -1.0)
    assert "Warm-up = -1" in page.warned
    page.set("Sampler", "hmc").run()
    assert ALPHA not in page.warned
    assert "Warm-up = -1" in page.warned
    page.set("Depth", "simple").run()
    assert not page.warned
    assert page.set("Sampler", "mala-p").widget(f"{ALPHA}, exact").value == 0.995


def test_default_values_mend_the_entries_of_the_sampler() -> None:
    page = opened(sampler="mala-p").set(f"{ALPHA}, exact", 1.0).set("Seed", -1.0).press("Paper's best values")
    assert page.widget(f"{ALPHA}, exact").value == 0.995
    assert page.warned.count("is not allowed") == page.warned.count("Seed = -1") > 0


@pytest.mark.parametrize(
    ("sampler", "label", "value"),
    [("hmc", "ε Step size", 0.0333), ("hmc", "ε Step size", 3.0), ("hmc", "L Leapfrogs", 777),
     ("mahmc", "Nᵁ Segments", 80), ("mala-pn", ALPHA, 0.99925), ("mala-pn", ALPHA, 0.9999)],
)  # fmt: skip
def test_slider_and_field_show_the_same_between_and_beyond_the_usual_stops(
    sampler: str, label: str, value: float
) -> None:
    page = opened(sampler=sampler).set(f"{label}, exact", value)
    assert page.widget(label).value == page.widget(f"{label}, exact").value == value
    stop = another_stop(page.widget(label))
    page.set(label, stop)
    assert page.widget(label).value == page.widget(f"{label}, exact").value == stop
    assert str(value) in link.write(page.set(label, value).settings).values()  # its stop stays


def test_a_run_with_the_same_seed_says_so_and_offers_a_new_one() -> None:
    page = opened(seed="3", **SMALL).press("Run").ended()
    assert "the draws are the same, bit for bit" not in page.words
    before = result(page).get("u")
    page.press("Run").ended()
    assert np.array_equal(result(page).get("u"), before)
    assert "Same settings and same seed as the run before: the draws are the same, bit for bit." in page.words
    page.press("Run with a new seed").ended()
    assert page.settings.seed == result(page).spec.seed != 3
    assert "the draws are the same" not in page.words


def test_an_ess_above_the_number_of_draws_is_explained() -> None:
    """One long leapfrog trajectory swings u to the other side: successive draws are antithetic."""
    page = opened(target="mdc", sampler="hmc", epsilon="0.035", L="90", n_w="1", **SMALL).press("Run").ended()
    assert result(page).estimates["u"].ess_bulk > 4 * 300
    (remark,) = (it for it in page.view.parts["remarks"] if "above the number of draws" in it["text"])
    assert remark["tone"] == "info"
    assert "negatively correlated" in remark["text"]
    (tile,) = (tile for tile in page.view.parts["status"]["tiles"] if tile["label"] == "ESS, bulk")
    assert "antithetic" in tile["help"]


def test_each_sampler_and_each_target_keeps_its_own_values() -> None:
    page = opened(sampler="hmc", view="full").set("L Leapfrogs, exact", 33).set("Sampler", "mahmc")
    assert page.choices.values() == SAMPLERS["mahmc"].defaults("mdc")
    page.set("Sampler", "hmc")
    assert page.choices.values()["L"] == page.widget("L Leapfrogs, exact").value == 33
    page.set("Target", "blr")
    assert page.choices.values() == SAMPLERS["hmc"].defaults("blr")
    page.set("Target", "mdc")
    assert page.widget("L Leapfrogs, exact").value == 33


def test_a_sampler_that_cannot_sample_the_new_target_is_replaced_and_that_is_said() -> None:
    page = opened(sampler="m-hmc", view="full").set("Target", "blr")
    assert "m-hmc" not in page.choices.samplers()
    assert page.choices.sampler == page.widget("Sampler").value == "mahmc"
    assert "The sampler is now MAHMC" in page.app.toast[0].value


def test_the_mixture_of_a_link_is_used() -> None:
    page = opened(target="gmm", view="full", weights="0.5,0.5", means="-1,1", sds="1,1")
    assert page.spec.settings == (("weights", (0.5, 0.5)), ("means", (-1.0, 1.0)), ("sds", (1.0, 1.0)))
    assert not page.warned


def test_a_bad_link_is_told_and_shows_nothing_of_itself() -> None:
    page = opened(target="mdc", sampler="<script>alert(1)</script>", epsilon="0.02", L="x" * 10_000,
                  **{"![x](http://example.org/x.png)": "1"})  # fmt: skip
    assert page.warned.startswith("Ignored in this link: sampler (must be one of mala, hmc")
    assert page.choices.values()["epsilon"] == 0.02
    assert page.tab.jobs == {}
    for word in ("script", "example.org", "xxxx"):
        assert word not in page.words
    page.press("Run")
    assert not page.warned


# ------------------------------------------------------------------------------------------------------------ runs


def test_stop_continue_and_reset() -> None:
    page = opened(target="blr", sampler="hmc", **ENDLESS)
    page.press("Run")
    job = page.job
    until(lambda: job.snapshot().result.drawn > 0)
    page.run().press("Stop").ended()
    drawn = result(page).drawn
    assert 0 < drawn < 1_000_000
    assert page.status.startswith("Stopped at ")
    assert page.status.endswith("Press Continue to go on exactly from there.")
    page.press("Continue")
    until(lambda: job.snapshot().result.drawn > drawn)
    page.run().press("Reset")
    assert page.tab.jobs == {}
    assert page.status == "Choose a target and a sampler in the sidebar, and press Run."
    assert not ended(job).alive
    assert set(page.everything()) == {"trace", "density"}


def test_follow_restarts_on_a_change_and_leaves_no_queue() -> None:
    page = opened(follow="1", **ENDLESS)
    page.press("Run")
    started = [page.job]
    for epsilon in (0.01, 0.02, 0.03):
        page.set("ε Step size, exact", epsilon)
        started.append(page.job)
        assert page.job.work.spec.values["epsilon"] == epsilon
    for job in started[:-1]:
        ended(job)
    assert [job.alive for job in started] == [False, False, False, True]


def test_with_follow_another_quantity_or_view_restarts_nothing() -> None:
    page = opened(follow="1", **SMALL).press("Run").ended()
    job = page.job
    page.set("Quantity", "v").set("Depth", "full")
    assert page.job is job


def test_a_run_that_does_not_fit_is_refused_in_words() -> None:
    page = opened(target="blr", sampler="hmc", draws="1000000000").press("Run").ended()
    assert "GiB may be used" in page.remarks[0]
    assert page.view.parts["remarks"][0]["tone"] == "error"
    assert page.status == "This run failed."
    page.everything()


def test_a_bad_step_size_is_explained() -> None:
    page = opened(sampler="hmc", epsilon="0.06", **SMALL).press("Run").ended()
    (advice,) = (remark for remark in page.remarks if "is unstable" in remark)
    limit = targets.build("mdc").density.stable_epsilon
    assert limit is not None
    assert float(advice.split()[-1].rstrip(".")) <= limit < 0.06


def test_chains_that_are_stuck_are_called_so() -> None:
    page = opened(sampler="hmc", epsilon="0.06", **SMALL).press("Run").ended()
    assert page.status.endswith("All chains are stuck.")
    assert page.remarks[0].startswith("All chains are stuck: every proposal since the warm-up was rejected.")
    charts = page.everything()
    assert "All chains are stuck" in charts["density"].caption
    assert not any("95 %" in (trace.name or "") for trace in charts["density"].figure.data)
    notes = [note.text for note in charts["trace"].figure.layout.annotations]
    assert sum(text.endswith(": stuck") for text in notes) == 4


def test_a_settled_run_is_not_called_stuck() -> None:
    page = opened(**SMALL).press("Run").ended()
    assert "stuck" not in page.status + str(page.remarks) + page.everything()["trace"].caption


# ------------------------------------------------------------------------------------------------------------ pace


def test_pause_step_and_pace_change_a_run_and_a_single_draw_begins_one() -> None:
    page = opened(pace="1", chains="4", draws="300", warmup="3").press("Step")
    job = page.job
    until(lambda: result(page).drawn == 1)
    assert page.run().status.startswith("Paused at 4 of 303 draws of each chain.")
    page.press("Step")
    until(lambda: result(page).drawn == 2)
    assert page.job is job
    page.press("Continue").set("Draws a second", "1000")
    until(lambda: result(page).drawn > 20)
    page.run().press("Pause").press("Stop").ended()
    assert page.status.startswith("Stopped at ")
    page.press("Step")
    page.set("Draws a second", "max").press("Continue").ended()
    assert page.job is job
    assert np.array_equal(result(page).get("u"), Run(page.spec).advance_all().draws["u"])


def test_at_a_slow_pace_all_charts_show_each_draw_and_at_full_pace_they_take_turns() -> None:
    """The browser asks at least ten times a second, and the cache makes each chart that has grown."""
    page = opened(view="full", pace="10", **ENDLESS).press("Run")
    until(lambda: result(page).drawn > 2)
    page.run()
    assert page.view.busy
    assert not page.view.live
    assert page.view.seconds <= 0.08
    page.set("Draws a second", "max")
    assert page.view.live
    assert page.view.seconds == SECONDS
    page.set("Draws a second", "10").press("Pause")
    assert not page.view.live


def test_while_chains_run_the_trace_has_the_last_draws_of_four_chains() -> None:
    page = opened(pace="1000", draws="100000", chains="6", warmup="10").press("Run")
    until(lambda: result(page).drawn > 200)
    page.run()

    def lines() -> list[Any]:
        return list(page.everything()["trace"].figure.data)

    assert [len(line.y) for line in lines()] == [LAST_DRAWS] * 4
    assert set(lines()[0].marker.symbol) <= {"circle", "x-thin-open"}
    page.set("Draws in the trace while chains run", "all")
    assert min(len(line.y) for line in lines()) > 200
    page.set("Chains in the trace", "all")
    assert len(lines()) == 6
    assert {"trace": "all", "lines": "all"}.items() <= page.link.items()
    page.set("Draws in the trace while chains run", "last").press("Stop").ended()
    assert min(len(line.y) for line in lines()) > 200  # at rest all draws are shown


# ------------------------------------------------------------------------------------------------ for a projector


def test_present_mode_has_two_charts_its_keys_and_no_controls() -> None:
    page = opened(present="1", view="full", **SMALL)
    assert page.labels() == set()
    assert set(page.everything()) == {"trace", "density"}
    assert {"title", "keys"} <= page.view.parts.keys()
    keys = {key["action"]: key for key in page.view.parts["keys"]}
    assert keys.keys() == {"run", "step", "next", "slower", "faster", "leave"}
    assert page.view.parts["title"][0]["text"] == "MAHMC on MDC"


@pytest.mark.parametrize(
    "action", ["run", "step", "next", "slower", "faster", "leave", "pause", "resume", "unknown", 3, []]
)
def test_each_key_of_present_mode_does_one_thing(action: object) -> None:
    """Whatever the browser sends: an action that is unknown does nothing."""
    page = opened(present="1", pace="10", **ENDLESS)
    before = page.settings
    watching.pressed(Controls(page.tab, "explore"), {"action": action, "count": 1})
    job = page.tab.jobs.get("explore")
    assert (job is not None) == (action in ("run", "step", "next"))
    if job is not None:
        assert job.work.pace.paused == (action == "step")
    changes: dict[str, dict[str, Any]] = {
        "slower": {"pace": "1"}, "faster": {"pace": "100"}, "leave": {"present": False}
    }  # fmt: skip
    if action != "next":
        assert page.settings == replace(before, **changes.get(str(action), {}))


def test_the_next_preset_keeps_how_the_page_looks() -> None:
    page = opened(present="1", pace="10")
    queries = [preset.query for preset in PRESETS if preset.page == "explore"]
    for query in [*queries, queries[0]]:
        page.tab.next_preset()
        assert link.write(page.settings) == {"present": "1", "pace": "10"} | dict(query)
        assert page.tab.jobs["explore"].work.spec == page.spec


def test_settings_that_make_no_run_are_told_and_cannot_be_run() -> None:
    page = opened(sampler="m-hmc", view="full").set("ε Step size, exact", 1e-6)
    assert "Take a shorter T" in page.warned
    assert page.button("Run").disabled
    charts = {request.place for request in page.view.charts}
    assert {"trace", "density"} <= charts & page.places.keys()  # nothing jumps while a number is being changed


def test_files_come_at_once_and_keep_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not wait for estimates, and a refresh takes nothing away from somebody who is about to click."""
    may_go_on, made = threading.Event(), estimates.estimates
    monkeypatch.setattr(estimates, "estimates", lambda *given: may_go_on.wait(DEADLINE) and made(*given))
    page = opened(target="gmm", **SMALL).press("Run")
    page.job.wait(DEADLINE)
    files = page.run().view.parts["files"]
    assert [file["label"] for file in files] == ["NetCDF", "CSV", "Figure's data", "Settings"]
    assert page.view.busy
    assert page.tiles["ESS, bulk"] == "–"
    may_go_on.set()
    page.ended()
    assert page.tiles["ESS, bulk"] != "–"
    assert not page.view.busy
    assert page.view.parts["files"] == files


def test_the_program_makes_the_same_run() -> None:
    page = opened(target="gmm", seed="3", epsilon=str(0.1 + 0.2), **SMALL).press("Run").ended()
    program = snippet(result(page).spec, result(page).target)
    assert program.strip() in [code.value.strip() for code in page.app.code]
    names: dict[str, Any] = {}
    exec(program, names)
    assert np.array_equal(names["run"].draws["q"], result(page).get("q"))


def test_the_link_makes_the_same_run() -> None:
    page = opened(target="gmm", sampler="hmc", view="full", **SMALL).set("L Leapfrogs, exact", 7).press("Run").ended()
    assert page.shared_link == {"path": "explore", "query": link.text(page.settings)}
    again = opened(**page.link).press("Run").ended()
    assert result(again).spec == result(page).spec
    assert np.array_equal(result(again).get("q"), result(page).get("q"))


# ------------------------------------------------------------------------------------- results of earlier settings


def test_results_of_earlier_settings_are_marked_until_they_are_the_present_ones_again() -> None:
    page = opened(**SMALL).press("Run").ended()
    job, tiles = page.job, page.tiles
    assert (page.view.faded, EARLIER in page.remarks) == (False, False)
    page.set("ε Step size, exact", 0.01)
    assert page.job is job
    assert (page.view.faded, page.remarks, page.tiles) == (True, [EARLIER], tiles)
    page.set("ε Step size, exact", 0.04)
    assert (page.view.faded, EARLIER in page.remarks) == (False, False)


@pytest.mark.parametrize(("label", "value"), [("Quantity", "v"), ("Depth", "full")])
def test_another_look_at_the_same_run_is_not_marked(label: str, value: str) -> None:
    page = opened(**SMALL).press("Run").ended().set(label, value)
    assert (page.view.faded, EARLIER in page.remarks) == (False, False)


def test_another_target_marks_the_results_and_shows_its_own_controls() -> None:
    page = opened(**SMALL).press("Run").ended().set("Target", "gmm")
    assert page.view.faded
    assert page.widget("Quantity").disabled  # they are those of the run that is shown
    page.everything()
    page.press("Run").ended()
    assert not page.view.faded
    assert page.widget("Quantity").value == "q"


def test_the_run_before_stays_in_sight_marked_until_the_next_one_has_begun() -> None:
    screen = new_screen()
    tab = screen.tab
    tab.follow("explore", SMALL)
    ended(run(tab))
    before = {request.place: request.about for request in screen.view("explore").charts}
    held = [jobs._places.acquire() for _ in range(MOST_AT_ONCE)]
    try:
        tab.change("explore", "seed", 1)
        run(tab)
        view = screen.view("explore")
        assert view.parts["status"]["text"].startswith("Waiting: the server is busy")
        assert (view.faded, view.parts["remarks"]) == (True, [])
        assert {request.place: request.about for request in view.charts} == before
    finally:
        for _ in held:
            jobs._places.release()
    ended(tab.jobs["explore"])
    view = screen.view("explore")
    assert not view.faded
    assert {request.place: request.about for request in view.charts} != before


# ----------------------------------------------------------------------------------------------------------- quantities


def test_tiles_and_charts_are_about_the_chosen_quantity() -> None:
    page = opened(**SMALL).press("Run").ended()
    of_u, tile = page.everything(), page.tiles["ESS, bulk"]
    page.set("Quantity", "w[3]")
    page.ended()
    of_w = page.everything()
    assert page.tiles["ESS, bulk"] != tile
    assert "w[3]" in of_w["trace"].alt
    assert "w[3]" not in of_u["trace"].alt
    assert page.link["quantity"] == "w[3]"
    assert opened(**page.link).widget("Quantity").value == "w[3]"


def test_a_quantity_that_the_target_does_not_have_gives_the_main_one() -> None:
    page = opened(quantity="beta[3]", **SMALL)
    assert page.widget("Quantity").value == "u"
    page.press("Run").ended().everything()


# ---------------------------------------------------------------------------------------------------------------- pins


def test_pin_compare_rename_reopen_unpin() -> None:
    page = opened(view="full", **SMALL).press("Run").ended().press("Pin this run")
    first = page.job
    assert page.button("Pin this run").disabled
    page.set("Sampler", "hmc").press("Run").ended().press("Pin this run")
    assert [pin.job.work.spec.sampler for pin in page.tab.pins] == ["mahmc", "hmc"]
    charts = page.everything()
    assert {f"density.pin{first.number}", "density.1"} <= charts.keys()  # beside the run that is shown
    assert page.tab.pins[0].name in charts[f"density.pin{first.number}"].alt
    page.app.text_input[0].set_value("the good one")
    assert page.run().tab.pins[0].name == "the good one"
    assert "the good one" in page.everything()[f"density.pin{first.number}"].alt
    page.press("Reopen")
    assert page.job is first
    assert (page.choices.sampler, page.widget("Sampler").value) == ("mahmc", "mahmc")
    assert not page.view.faded
    page.everything()
    assert "density.1" in page.everything()  # the other pin is beside it now
    page.press("Unpin")
    assert [pin.job.work.spec.sampler for pin in page.tab.pins] == ["hmc"]
    assert "the good one" not in page.words


def test_pins_tell_what_is_not_as_usual_and_bring_it_back() -> None:
    page = opened(target="gmm", view="full", schedule="iid(20, 0.8)", outer="none", **SMALL)
    page.press("Run").ended().press("Pin this run")
    assert page.tab.pins[0].name == "MAHMC (ε 0.3, iid(20, 0.8), outer none)"
    page.set("Schedule", "alternate").press("Reopen")
    assert page.spec == page.tab.pins[0].job.work.spec


def test_runs_are_bit_for_bit_those_of_the_engine() -> None:
    page = opened(target="gmm", sampler="m-hmc", seed="8", **SMALL).press("Run").ended()
    draws = Run(RunSpec.of("gmm", "m-hmc", seed=8, draws=300, warmup=30, chains=4)).advance_all().draws
    assert np.array_equal(result(page).get("component"), draws["component"])


def test_a_result_names_its_settings_also_after_they_were_changed() -> None:
    """In the headline, in every chart and under the table."""
    page = opened(target="mdc", sampler="hmc", n_w="3", seed="5", view="full", **SMALL).press("Run").ended()
    of = "HMC on MDC (n_w 3) · ε 0.035, L 40 · 4 chains × 300 draws · seed 5"
    for sampler in ("hmc", "mala"):
        page.set("Sampler", sampler)
        assert page.view.faded == (sampler == "mala")
        assert page.view.parts["origin"][0]["text"] == of
        assert {request.origin for request in page.view.charts if request.place != "beads"} == {of}
        assert any(caption.value.startswith(f"{of}. Truth: ") for caption in page.app.caption)
