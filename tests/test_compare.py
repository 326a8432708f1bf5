"""Comparisons at equal cost: budgets, intervals, tables, and what cannot be compared."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

import mahmc
from mahmc import Comparison, InvalidInput, Run, diagnostics, tables
from mahmc.cli import main
from mahmc.compare import COSTS, WORST, Interval, interval
from mahmc.samplers import PAPER_SAMPLERS

SMALL: dict[str, Any] = {"gradients": 64_000, "replicates": 3, "chains": 4}


@pytest.fixture(scope="module")
def small() -> Comparison:
    return mahmc.compare("mdc", **SMALL)


def test_intervals_hold_the_true_ess_of_an_autoregression() -> None:
    """x_t = φ x_{t−1} + noise has ESS = N(1 − φ)/(1 + φ). 95 % intervals of 8 replicates: 90 to 99 % of 300 hold it.

    If they held it with probability 0.95, fewer than 270 or more than 297 would come up once in 6 000 tries; the seed
    is fixed.
    """
    rng, phi, replicates, chains, draws = np.random.default_rng(5), 0.6, 8, 4, 1000
    true = chains * draws * (1 - phi) / (1 + phi)
    held = 0
    for _ in range(300):
        noise = rng.standard_normal((replicates, chains, draws + 50))
        x = lfilter([1.0], [1.0, -phi], noise)[..., 50:]
        found = interval(np.array([diagnostics.ess(one) for one in x]))
        held += found.low <= true <= found.high
    assert 0.90 * 300 <= held <= 0.99 * 300


def test_intervals_of_two_replicates_are_as_wide_as_so_little_knowledge_is() -> None:
    """Two values a sd apart: Student's t with one degree of freedom, 12.7 errors to either side."""
    found = interval(np.array([10.0, 10.2]))
    assert (found.low, found.high) == pytest.approx((10.1 - 12.706 * 0.1, 10.1 + 12.706 * 0.1), rel=1e-3)
    assert interval(np.array([1.0, 1.2]), np.array([2.0, 2.4])) == pytest.approx(Interval(0.5, 0.5, 0.5))


def test_intervals_of_ratios_use_pairs() -> None:
    """What replicates have in common cancels: the ratio of a series to twice itself is exact."""
    a = np.random.default_rng(1).uniform(1.0, 2.0, 8)
    assert interval(a, 2 * a) == pytest.approx(Interval(0.5, 0.5, 0.5))
    wide = interval(a, 2 * a[::-1])
    assert wide.high - wide.low > 0.05


@pytest.mark.parametrize("target", ["mdc", "blr", "gmm"])
def test_budgets_are_equal_to_the_leapfrog(target: str) -> None:
    found = Comparison(target, replicates=2, chains=4, gradients=64_000)
    spent = {label: e.spec.draws * e.spec.chains * e.spec.leapfrogs_per_draw for label, e in found.entries.items()}
    warmed = {e.spec.warmup * e.spec.chains * e.spec.leapfrogs_per_draw for e in found.entries.values()}
    assert set(spent.values()) == {found.budget}
    assert len(warmed) == 1
    assert len(spent) == 5
    entry = found.entries["mahmc"]
    next(iter(Comparison(target, ["mahmc"], replicates=2, chains=4, gradients=found.budget)))
    assert entry.spec.draws * entry.spec.leapfrogs_per_draw * 4 == found.budget


def test_figures_agree_with_runs_and_cost_models(small: Comparison) -> None:
    entry = small.entries["hmc"]
    run = entry.run
    assert run is not None
    assert entry.ess["u"][0] == pytest.approx(run.ess("u"))
    figure = small.figure("hmc")
    assert figure.value == pytest.approx(np.mean(entry.ess["u"]) / small.budget)
    assert figure.low <= figure.value <= figure.high
    assert entry.cost["gradients"][0] == small.budget + run.spec.chains
    assert entry.cost["updates"][0] == entry.cost["gradients"][0] + run.spec.chains * run.spec.draws
    assert small.figure("hmc", cost="seconds").value > figure.value
    for cost in COSTS:
        assert small.ratio("hmc", "hmc", cost=cost) == pytest.approx(Interval(1.0, 1.0, 1.0))
    assert small.figure("mahmc", WORST).value <= small.figure("mahmc").value
    with pytest.raises(InvalidInput, match="leapfrogs"):
        small.figure("hmc", cost="leapfrog")


def test_quantities_are_the_issues_and_the_worst_is_the_least_of_them() -> None:
    found = mahmc.compare("blr", ["hmc"], gradients=16_000, replicates=2, chains=4)
    assert found.quantities == ("energy", "log_tau", "beta_norm", "least β", WORST)
    entry = found.entries["hmc"]
    assert entry.run is not None
    assert entry.ess["least β"][0] == pytest.approx(np.min(entry.run.ess("beta")))
    means = {name: np.mean(values) for name, values in entry.ess.items()}
    assert found.figure("hmc", WORST).value == pytest.approx(min(means.values()) / found.budget)
    assert mahmc.compare("gmm", ["mahmc"], **SMALL).quantities[:3] == ("q", "q²", "component = 0")


def test_replicates_differ_and_the_seed_decides() -> None:
    again = [mahmc.compare("mdc", ["hmc"], **SMALL).entries["hmc"].ess["u"] for _ in range(2)]
    other = mahmc.compare("mdc", ["hmc"], **SMALL, seed=1).entries["hmc"].ess["u"]
    assert again[0] == again[1] != other
    assert len(set(again[0])) == 3


def test_a_stop_keeps_what_is_done_and_goes_on() -> None:
    found = Comparison("mdc", ["hmc", "mahmc"], **SMALL)
    for step in found:
        if step.done == 4:
            found.stop()
    assert [entry.replicates for entry in found.entries.values()] == [3, 2]  # the fifth was sampled already
    assert found.ratio("mahmc", "hmc").defined
    found.advance_all()
    whole = mahmc.compare("mdc", ["hmc", "mahmc"], **SMALL)
    assert found.entries["mahmc"].ess == whole.entries["mahmc"].ess


def test_the_share_that_is_done_never_falls() -> None:
    """A replicate counts from when it is sampled: it is measured while the next replicate is sampled."""
    found = Comparison("mdc", ["hmc"], **SMALL)
    assert found.share == 0.0
    assert [(step.done, found.share) for step in found] == [(1, 2 / 3), (2, 1.0), (3, 1.0)]


def test_bad_input_says_what_to_do() -> None:
    with pytest.raises(InvalidInput, match="no sampler is chosen"):
        Comparison("mdc", [])
    with pytest.raises(InvalidInput, match=r"too few for an ESS.*at least 160,000"):
        Comparison("mdc", gradients=1000)
    with pytest.raises(InvalidInput, match="at least 2"):
        Comparison("mdc", replicates=1)
    with pytest.raises(InvalidInput, match="mahmc"):
        Comparison("mdc", ["mahcm"])
    with pytest.raises(InvalidInput, match="divides evenly"):
        Comparison("mdc", {"a": {"sampler": "hmc", "L": 997}, "b": {"sampler": "hmc", "L": 991}}, gradients=2_000_000)


def test_chains_that_never_moved_have_no_figure() -> None:
    found = mahmc.compare("gmm", {"stuck": {"sampler": "hmc", "epsilon": 100.0}, "hmc": {}}, **SMALL)
    assert not found.figure("stuck").defined
    assert str(found.figure("stuck")) == "undefined"
    assert not found.ratio("stuck", "hmc").defined
    assert not found.figure("stuck", WORST).defined
    assert "undefined" in tables.headline(found, "stuck", "hmc")
    assert "undefined" in tables.table([found])


def test_tables_hold_the_figures_in_every_format(small: Comparison) -> None:
    for form in tables.FORMATS:
        text = tables.table([small], form)
        assert len(text.splitlines()) >= 6
        assert "mala-pn" in text
    row = next(r for r in csv.DictReader(io.StringIO(tables.table([small], "csv"))) if r["sampler"] == "mahmc")
    assert float(row["ours"]) == small.figure("mahmc").value
    assert float(row["times hmc high"]) == small.ratio("mahmc", "hmc").high
    assert float(row["paper"]) == 1.78e-2
    assert r"mahmc" in tables.table([small], "latex")
    assert tables.table([small], "markdown").splitlines()[1].startswith("| --- |")


def test_headlines_say_what_can_be_said(small: Comparison) -> None:
    assert "the paper says 3.85" in tables.headline(small, "mahmc", "hmc")
    assert "the interval includes 1, so the data do not show a difference" in tables.headline(small, "hmc", "hmc")
    second = Comparison("mdc", {"second": {"sampler": "mahmc", "n_u": 4, "epsilon": 0.035}}, **SMALL)
    assert tables.paper_figure(second, "second") == 6.08e-3
    other = Comparison("mdc", {"other": {"sampler": "mahmc", "epsilon": 0.01}}, **SMALL)
    assert tables.paper_figure(other, "other") is None


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--targets", "mdc", "--gradients", "160000", "--replicates", "2"]
    assert main(["table", *options, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["sampler"] for row in rows] == list(PAPER_SAMPLERS)
    assert not math.isnan(float(rows[0]["ours low"]))
    assert main(["table", "--targets", "mcd"]) == 2
    assert "mdc" in capsys.readouterr().err


def test_ctrl_c_keeps_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The replicate that was still being measured counts as well: it gives the last sampler its interval."""
    sampled = Comparison._sampled

    def interrupted(self: Comparison, number: int) -> Run | None:
        if number == 2 * len(PAPER_SAMPLERS):
            raise KeyboardInterrupt
        return sampled(self, number)

    monkeypatch.setattr(Comparison, "_sampled", interrupted)
    assert main(["table", "--targets", "mdc", "--gradients", "160000", "--replicates", "4"]) == 130
    printed = capsys.readouterr()
    assert printed.out.count("mdc ") >= 5
    assert "the replicates that were done until then" in printed.err


def test_the_papers_figures_stand_only_beside_what_the_paper_has() -> None:
    others = {"pure": {"outer": "none"}, "drawn": {"schedule": "iid(109, 0.9)"}, "walk": {"update": "metropolis"}}
    found = Comparison("mdc", {"mahmc": {}} | {label: {"sampler": "mahmc", **more} for label, more in others.items()})
    assert tables.paper_figure(found, "mahmc") == 1.78e-2
    assert [tables.paper_figure(found, label) for label in others] == [None] * 3
