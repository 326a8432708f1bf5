"""A target from a person's own file: every page takes it without further code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mahmc
from dashboard.pages.explore import snippet
from mahmc.targets import FAMILIES
from tests.support.pages import SMALL, opened, opened_app, pages_of_one_test

FILE = """
import mahmc
from mahmc.custom import discrete, real, sigmoid, uniform, update, where

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
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file, whose target is there for one test."""
    path = Path(tmp_path_factory.getbasetemp()) / "clusters.py"
    path.write_text(FILE)
    mahmc.load_targets(path)
    with pages_of_one_test():
        yield path
    FAMILIES.pop("clusters", None)


def test_explore_runs_it(clusters: Path) -> None:
    page = opened(target="clusters", view="full", n="3", **SMALL)
    assert page.spec.settings == (("n", 3), ("apart", 1.5))
    page.set("Apart, exact", 2.5)
    assert dict(page.spec.settings)["apart"] == 2.5
    assert (page.link["n"], page.link["apart"]) == ("3", "2.5")
    page.press("Run").ended().everything()
    run = page.job.work.run
    assert run.finished
    assert run.draws["side"].shape[-1] == 3
    program = snippet(run.spec, run.target)
    assert "mahmc.load_targets('clusters.py')" in program  # not where the file lies
    assert str(clusters.parent) not in program
    assert str(clusters.parent) not in page.words


def test_compare_runs_it() -> None:
    page = opened("compare", target="clusters", samplers="hmc,mahmc", budget="64000", replicates="2")
    page.press("Run").ended().everything()
    assert page.job.work.comparison.finished
    assert "Histograms of x[0]" in page.words


def test_every_page_says_whose_target_it_is() -> None:
    title = "Clusters · your own, clusters.py"
    for page in (opened(target="clusters"), opened("compare", target="clusters"),
                 opened("checks", own="1", **{"own.target": "clusters"})):  # fmt: skip
        assert title in page.widget("Target").options
        assert page.widget("Target").value == "clusters"
    assert title in opened_app().words


def test_checks_say_what_would_let_it_be_checked() -> None:
    page = opened("checks", own="1", **{"own.target": "clusters"})
    assert "clusters with these settings has no exact draws, no known distributions, and no prior" in page.warned
    assert "def simulate(self, parameters, rng)" in page.warned
    assert "own" not in [column["name"] for column in page.view.parts["matrix"]["columns"]]
    page.everything()


def test_a_link_to_a_target_that_is_not_loaded_is_explained() -> None:
    FAMILIES.pop("clusters")
    page = opened(target="clusters", sampler="hmc", n="3")
    assert page.warned.startswith("Ignored in this link: target (must be one of mdc, blr")
    assert (page.choices.target, page.choices.sampler) == ("mdc", "hmc")
