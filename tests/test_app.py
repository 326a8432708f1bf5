"""Pages and controls through Streamlit's AppTest: every target and sampler renders, moves and runs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import estimates, session
from mahmc import RunSpec
from mahmc.samplers import PARAMETERS, SAMPLERS
from mahmc.targets import FAMILIES
from tests.conftest import pairs

PAGES = Path(__file__).parent.parent / "pages"
SMALL = {"draws": "300", "warmup": "30", "chains": "4"}


@pytest.fixture(autouse=True)
def pages_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page on its own, as AppTest runs it, has no app.py to send people back to."""
    monkeypatch.setattr(session, "_claimed", True)


def opened(page: str = "explore", **query: str) -> AppTest:
    """A page, opened with a link."""
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=60)
    app.query_params.update(query)
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def button(app: AppTest, label: str) -> Any:
    return next(b for b in app.button if b.label == label)


def tiles(app: AppTest) -> list[dict[str, str]]:
    found = [part.proto for part in app.get("bidi_component") if part.proto.component_name.endswith("live_status")]
    return json.loads(found[0].json)["tiles"] if found else []


def run_until(app: AppTest, condition: Callable[[AppTest], bool], seconds: float = 60.0) -> AppTest:
    """AppTest knows no timers: run the page again until something is there."""
    end = time.monotonic() + seconds
    while not condition(app):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
        app.run()
        assert not app.exception, app.exception[0].message
    return app


def finished(app: AppTest) -> bool:
    job = app.session_state["session"].job
    return job is not None and not job.alive


def test_downloads_come_with_the_last_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refresh that comes by itself, as when estimates are there, would take away the files that buttons ask for."""
    may_go_on, made = threading.Event(), estimates.estimates
    monkeypatch.setattr(estimates, "estimates", lambda *given: may_go_on.wait(60) and made(*given))
    app = opened(target="gmm", sampler="mahmc", **SMALL)
    button(app, "Run").click().run()
    run_until(app, finished).run()
    assert not app.get("download_button")
    may_go_on.set()
    run_until(app, lambda app: app.get("download_button"))
    labels = [part.proto.label for part in app.get("download_button")]
    assert labels == ["NetCDF", "CSV", "Figure's data", "Settings"]


@pytest.mark.parametrize("view", ["simple", "full"])
@pytest.mark.parametrize(("target", "sampler"), pairs(SAMPLERS))
def test_every_target_and_sampler_renders_and_runs(target: str, sampler: str, view: str) -> None:
    app = opened(target=target, sampler=sampler, view=view, **SMALL)
    assert app.session_state["session"].choices.target == target
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert not app.exception, app.exception[0].message
    labels = {tile["label"] for tile in tiles(app)}
    assert {"Acceptance", "ESS, bulk", "ESS / gradient"} <= labels
    assert ("R-hat" in labels) == (view == "full")
    assert len(app.get("bidi_component")) >= (5 if view == "full" else 3)
    job = app.session_state["session"].job
    assert job.spec.target == target
    assert job.spec.sampler == sampler
    assert job.run.finished


def test_controls_are_those_of_the_sampler() -> None:
    app = opened(target="mdc", sampler="mala-pn", view="full")
    labels = [w.label for w in (*app.slider, *app.select_slider)]
    assert {"ε Step size", "L Leapfrogs", "α Persistence of momentum", "δ Drift of the uniform"} <= set(labels)
    assert "Nᵁ Segments" not in labels


def number(app: AppTest, label: str) -> Any:
    return next(w for w in app.number_input if w.label == label)


def slider(app: AppTest, label: str) -> Any:
    return next(w for w in (*app.slider, *app.select_slider) if w.label == label)


def selectbox(app: AppTest, label: str) -> Any:
    return next(w for w in app.selectbox if w.label == label)


def choices(app: AppTest) -> Any:
    return app.session_state["session"].choices


@pytest.mark.parametrize(("target", "sampler"), pairs(SAMPLERS))
def test_every_control_moves(target: str, sampler: str) -> None:
    """Slider and exact entry show one value, and the spec and the link follow it."""
    app = opened(target=target, sampler=sampler, view="full")
    for name, value in SAMPLERS[sampler].defaults(target).items():
        parameter = PARAMETERS[name]
        label = f"{parameter.symbol} {parameter.title}"
        assert number(app, f"{label}, exact").value == value
        higher = value + 1 if parameter.kind == "int" else value * 1.01 if name == "epsilon" else value / 2
        number(app, f"{label}, exact").set_value(higher).run()
        assert choices(app).values()[name] == higher
        assert RunSpec.from_query(_without_view(app)).values[name] == higher
        stop = _another_stop(slider(app, label))
        slider(app, label).set_value(stop).run()
        assert number(app, f"{label}, exact").value == choices(app).values()[name] == stop
    whose = "Paper's best values" if target in SAMPLERS[sampler].presets else "Default values"
    button(app, whose).click().run()
    assert choices(app).values() == SAMPLERS[sampler].defaults(target)


def _another_stop(widget: Any) -> Any:
    options = getattr(widget, "options", None)
    if options:
        return next(type(widget.value)(o) for o in options if type(widget.value)(o) != widget.value)
    return widget.max if widget.value != widget.max else widget.min


def _without_view(app: AppTest) -> dict[str, str]:
    query = {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}
    return {name: text for name, text in query.items() if name not in ("view", "follow")}


def test_out_of_range_entry_is_refused_and_nothing_is_lost() -> None:
    app = opened(target="mdc", sampler="mala-p", view="full")
    number(app, "α Persistence of momentum, exact").set_value(1.0).run()
    assert choices(app).values()["alpha"] == 0.995
    assert number(app, "α Persistence of momentum, exact").value == 0.995
    assert "must be in [0, 1)" in app.toast[0].value


def test_each_sampler_keeps_its_own_values() -> None:
    app = opened(target="mdc", sampler="hmc", view="full")
    number(app, "L Leapfrogs, exact").set_value(33).run()
    selectbox(app, "Sampler").select("mahmc").run()
    assert choices(app).values() == SAMPLERS["mahmc"].defaults("mdc")
    selectbox(app, "Sampler").select("hmc").run()
    assert choices(app).values()["L"] == 33
    assert number(app, "L Leapfrogs, exact").value == 33


def test_stop_continue_and_reset() -> None:
    app = opened(target="blr", sampler="hmc", view="full", draws="200000", warmup="10", chains="16")
    button(app, "Run").click().run()
    job = app.session_state["session"].job
    run_until(app, lambda _: job.drawn > 0)
    button(app, "Stop").click().run()
    job.wait(5)
    assert not job.alive
    drawn = job.drawn
    assert 0 < drawn < 200_000
    app.run()
    button(app, "Continue").click().run()
    run_until(app, lambda _: job.drawn > drawn)
    button(app, "Reset").click().run()
    assert app.session_state["session"].job is None
    job.wait(5)
    assert not job.alive
    assert "press **Run**" in app.info[0].value


def test_follow_restarts_on_a_change_and_leaves_no_queue() -> None:
    app = opened(target="mdc", sampler="mahmc", view="simple", follow="1", draws="1000000", warmup="10")
    button(app, "Run").click().run()
    tab = app.session_state["session"]
    jobs = [tab.job]
    for epsilon in (0.01, 0.02, 0.03):
        number(app, "ε Step size, exact").set_value(epsilon).run()
        jobs.append(tab.job)
        assert tab.job.spec.values["epsilon"] == epsilon
    for old in jobs[:-1]:
        old.wait(5)
    assert [job.alive for job in jobs] == [False, False, False, True]
    button(app, "Reset").click().run()


def test_without_follow_a_change_is_only_announced() -> None:
    app = opened(target="mdc", sampler="mahmc", **SMALL)
    button(app, "Run").click().run()
    run_until(app, finished)
    job = app.session_state["session"].job
    number(app, "ε Step size, exact").set_value(0.01).run()
    assert app.session_state["session"].job is job
    assert any("controls have changed" in caption.value for caption in app.caption)


def test_pin_compare_rename_reopen_unpin() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full", **SMALL)
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    button(app, "Pin this run").click().run()
    tab = app.session_state["session"]
    assert len(tab.pins) == 1
    assert button(app, "Pin this run").disabled
    first = tab.job
    selectbox(app, "Sampler").select("hmc").run()
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    button(app, "Pin this run").click().run()
    assert [pin.job.spec.sampler for pin in tab.pins] == ["mahmc", "hmc"]
    app.text_input[0].set_value("the good one").run()
    assert tab.pins[0].name == "the good one"
    next(b for b in app.button if b.label == "Reopen").click().run()
    assert tab.job is first
    assert tab.choices.sampler == "mahmc"
    next(b for b in app.button if b.label == "Unpin").click().run()
    assert [pin.job.spec.sampler for pin in tab.pins] == ["hmc"]


BAD_LINKS: list[dict[str, str]] = [
    {"target": "nope", "sampler": "hmc"},
    {"target": "mdc", "sampler": "<script>alert(1)</script>"},
    {"target": "mdc", "sampler": "hmc", "epsilon": "nan"},
    {"target": "mdc", "sampler": "hmc", "epsilon": "1e9"},
    {"target": "mdc", "sampler": "hmc", "L": "x" * 10_000},
    {"target": "mdc", "sampler": "hmc", "![x](http://example.org/x.png)": "1"},
    {"target": "gmm", "sampler": "hmc", "weights": "0.5,0.6"},
]


@pytest.mark.parametrize("link", BAD_LINKS, ids=lambda link: str(link)[:40])
def test_a_bad_link_gives_a_message_and_the_defaults(link: dict[str, str]) -> None:
    app = opened(**link)
    assert "This link cannot be used" in app.warning[0].value
    assert (choices(app).target, choices(app).sampler) == ("mdc", "mahmc")
    assert app.session_state["session"].job is None
    shown = " ".join(str(e.value) for e in (*app.warning, *app.error, *app.markdown, *app.caption))
    for word in ("script", "example.org", "xxxx", "nope"):
        assert word not in shown


def test_mixture_that_is_none_is_said_and_the_last_good_one_stays() -> None:
    app = opened(target="gmm", sampler="mahmc", view="full", weights="0.5,0.5", means="-1,1", sds="1,1")
    assert choices(app).spec().settings[0] == ("weights", (0.5, 0.5))


def test_too_large_a_run_is_refused_in_words() -> None:
    app = opened(target="blr", sampler="hmc", draws="1000000000")
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert "GiB may be used" in app.error[0].value


def test_bad_step_size_is_explained() -> None:
    app = opened(target="mdc", sampler="hmc", epsilon="0.06", **SMALL)
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert any("becomes unstable" in warning.value for warning in app.warning)


def test_overview_has_its_cards_all_samplers_and_all_targets() -> None:
    app = AppTest.from_file(str(PAGES.parent / "app.py"), default_timeout=60).run()
    assert not app.exception, app.exception[0].message
    assert [b.label for b in app.button] == ["Open and run"] * 3 + ["Open in Compare"]
    text = " ".join(m.value for m in app.markdown)
    for sampler in SAMPLERS.values():
        assert sampler.about in text
    for family in FAMILIES.values():
        assert family.about in text
