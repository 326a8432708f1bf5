"""A target from somebody's file in the dashboard: every page takes it without further code, through AppTest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import mahmc
from dashboard import saving, session
from mahmc.targets import FAMILIES
from tests.test_app import PAGES, SMALL, button, choices, finished, number, opened, run_until
from tests.test_checks_page import component
from tests.test_checks_page import opened as checks_opened
from tests.test_compare_page import ended, press, words
from tests.test_compare_page import opened as compare_opened

OWN = """
import mahmc
from mahmc.own import discrete, real, sigmoid, uniform, update, where

@mahmc.target
class Clusters:
    \"\"\"Points around one of two centres.\"\"\"

    n: int = 2
    apart: float = 1.5

    def variables(self):
        return real("x", self.n), discrete("side", self.n, values=(-1, 1))

    def U(self, q, other):
        total = 0.0
        for i in range(self.n):
            total += (q[i] - self.apart * other[i]) ** 2 / 2
        return total

    def grad_U(self, q, other, grad):
        for i in range(self.n):
            grad[i] = q[i] - self.apart * other[i]

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        delta_U = 0.0
        for i in range(self.n):
            side = where(uniform(rng) < sigmoid(2 * self.apart * q[i]), 1.0, -1.0)
            delta_U += self.apart * q[i] * (other[i] - side)
            grad[i] += self.apart * (other[i] - side)
            other[i] = side
        return delta_U
"""


@pytest.fixture(autouse=True)
def own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(session, "_claimed", True)
    path = Path(tmp_path_factory.getbasetemp()) / "clusters.py"
    path.write_text(OWN)
    mahmc.load_targets(path)
    yield
    FAMILIES.pop("clusters", None)


def test_explore_runs_it() -> None:
    app = opened(target="clusters", sampler="mahmc", view="full", n="3", **SMALL)
    assert choices(app).spec().settings == (("n", 3), ("apart", 1.5))
    number(app, "Apart, exact").set_value(2.5).run()
    assert dict(choices(app).spec().settings)["apart"] == 2.5
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert not app.exception
    run = app.session_state["session"].job.run
    assert run.finished
    assert run.draws["side"].shape[-1] == 3
    program = saving.snippet(run.spec, run.target)
    assert "mahmc.load_targets('clusters.py')" in program
    assert str(Path.cwd().anchor) + "tmp" not in program


def test_compare_runs_it() -> None:
    app = compare_opened(target="clusters", samplers=["hmc", "mahmc"], **{"budget.clusters": 64_000, "replicates": 2})
    ended(press(app, "Run"))
    assert app.session_state["session"].comparing.comparison.finished
    assert "Histograms of x[0]" in words(app)


def test_every_page_says_whose_target_it_is() -> None:
    title = "Clusters · your own, clusters.py"  # and not where that file lies
    for app in (opened(target="clusters", sampler="hmc"), compare_opened(target="clusters"),
                checks_opened(**{"own": "1", "own.target": "clusters"})):  # fmt: skip
        assert title in next(w for w in app.selectbox if w.label == "Target").options
    overview = AppTest.from_file(str(PAGES.parent / "app.py"), default_timeout=60).run()
    assert title in " ".join(m.value for m in overview.markdown)


def test_checks_say_that_its_truth_is_not_known() -> None:
    app = checks_opened(**{"own": "1", "own.target": "clusters", "own.sampler": "mahmc"})
    assert "clusters with these settings has no known truth" in app.warning[0].value
    assert "own" not in [column["name"] for column in component(app, "verdict_matrix")["columns"]]


def test_a_link_to_a_target_that_is_not_loaded_is_explained() -> None:
    FAMILIES.pop("clusters")
    app = opened(target="clusters", sampler="hmc", n="3")
    assert "its target is none of mdc, blr" in app.warning[0].value
    assert choices(app).target == "mdc"
