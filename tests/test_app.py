"""Pages and controls through Streamlit's AppTest: every target and sampler renders, moves and runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

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


@pytest.mark.parametrize("view", ["simple", "full"])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("target", FAMILIES)
def test_every_target_and_sampler_renders_and_runs(target: str, sampler: str, view: str) -> None:
    app = opened(target=target, sampler=sampler, view=view, **SMALL)
    assert app.session_state["session"].choices.target == target
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert not app.exception, app.exception[0].message
    labels = {metric.label for metric in app.metric}
    assert {"Acceptance", "ESS, bulk", "ESS per gradient"} <= labels
    assert ("R-hat" in labels) == (view == "full")
    assert len(app.get("bidi_component")) >= (4 if view == "full" else 2)
    job = app.session_state["session"].job
    assert job.spec.target == target
    assert job.spec.sampler == sampler
    assert job.run.finished


def test_controls_are_those_of_the_sampler() -> None:
    app = opened(target="mdc", sampler="mala-pn", view="full")
    labels = [w.label for w in (*app.slider, *app.select_slider)]
    assert {"ε Step size", "L Leapfrogs", "α Persistence of momentum", "δ Drift of the uniform"} <= set(labels)
    assert "N^U Segments" not in labels
