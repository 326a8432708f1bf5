"""Diagnostics of a run under way: what is worked out, of which draws and how often; and the warnings made from them."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dashboard.work.estimates as module
from dashboard.views.warnings import warnings
from dashboard.work.estimates import MOST_LIVE, SHARE_OF_TIME, Estimator, estimates
from dashboard.work.job import Job
from dashboard.work.runs import RunWork
from mahmc import RunSpec
from mahmc.diagnostics import FEWEST_DRAWS, arviz
from tests.support.pages import ended, until

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

SMALL = {"draws": 400, "warmup": 40, "chains": 4}
NORMAL = np.random.default_rng(1).standard_normal((4, 8000))


class Clock:
    """A clock that a test moves; each look at it takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


class FakeRun:
    """A run of three quantities that is as long as a test says, after a warm-up of ten draws."""

    spec = SimpleNamespace(warmup=10)
    names = ("x", "y", "z")

    def __init__(self, drawn: int) -> None:
        self.done = 10 + drawn

    def get(self, name: str) -> np.ndarray:
        return NORMAL[:, : self.done - 10]


def advanced(estimator: Estimator, drawn: int, resting: bool = False) -> dict[str, Any]:
    """The estimates once none are under way, of a run that has so many draws now."""
    estimator.advance(FakeRun(drawn), resting)  # type: ignore[arg-type]
    until(lambda: not estimator.latest()[1])
    return estimator.latest()[0]


def watching(name: str, all_at_rest: bool = False) -> Estimator:
    estimator = Estimator()
    estimator.watch(name, all_at_rest)
    return estimator


# -------------------------------------------------------------------------------------------------- their values


@pytest.mark.quick
def test_estimates_of_a_run_at_rest_are_arvizs_of_all_its_draws() -> None:
    job = ended(Job(RunWork(RunSpec.of("mdc", "mahmc", **SMALL))).start())
    result = job.snapshot().result
    assert list(result.estimates) == ["u"]
    found, x = result.estimates["u"], result.get("u")
    assert found.ess_bulk == pytest.approx(float(arviz().ess(x)), rel=1e-10)
    assert found.ess_tail == pytest.approx(float(arviz().ess(x, method="tail", prob=(0.05, 0.95))), rel=1e-10)
    assert found.rhat == pytest.approx(float(arviz().rhat(x)), rel=1e-10)
    assert found.mcse == pytest.approx(float(arviz().mcse(x)), rel=1e-10)
    assert (found.mean, found.sd) == (pytest.approx(x.mean()), pytest.approx(x.std()))
    assert (found.draws, found.used, found.rough) == (400, 400, False)
    assert result.estimated


def test_rough_estimates_are_scaled_up_from_the_last_draws() -> None:
    rough, whole = estimates(NORMAL[:, -2000:], 8000), estimates(NORMAL)
    assert (rough.draws, rough.used, rough.rough, whole.rough) == (8000, 2000, True, False)
    assert rough.ess_bulk == pytest.approx(4 * float(arviz().ess(NORMAL[:, -2000:])))
    assert rough.ess_bulk == pytest.approx(whole.ess_bulk, rel=0.1)


# ---------------------------------------------------------------------------------------------- which, and when


def test_there_are_none_of_too_few_draws(clock: Clock) -> None:
    assert advanced(watching("x"), FEWEST_DRAWS - 1, resting=True) == {}
    assert set(advanced(watching("x"), FEWEST_DRAWS, resting=True)) == {"x"}


def test_while_chains_run_estimates_are_of_the_last_draws_and_of_the_watched_quantity(clock: Clock) -> None:
    found = advanced(watching("y", all_at_rest=True), 8000)
    assert set(found) == {"y"}
    assert (found["y"].draws, found["y"].used) == (8000, MOST_LIVE)
    assert found["y"].mean == pytest.approx(NORMAL[:, 8000 - MOST_LIVE :].mean())


def test_while_chains_run_estimates_take_a_small_share_of_the_time(clock: Clock) -> None:
    """One second of work is followed by 1 / SHARE_OF_TIME seconds without."""
    estimator = watching("x")
    first = advanced(estimator, 1000)["x"]
    begun = clock.now
    assert advanced(estimator, 2000)["x"] is first
    clock.now = begun + 0.9 / SHARE_OF_TIME
    assert advanced(estimator, 3000)["x"] is first
    clock.now = begun + 1.1 / SHARE_OF_TIME
    assert advanced(estimator, 4000)["x"].draws == 4000


def test_at_rest_they_are_of_all_draws_at_once(clock: Clock) -> None:
    estimator = watching("x")
    assert advanced(estimator, 8000)["x"].rough
    found = advanced(estimator, 8000, resting=True)
    assert set(found) == {"x"}
    assert (found["x"].used, found["x"].rough) == (8000, False)


def test_at_rest_they_are_of_all_quantities_if_so_asked(clock: Clock) -> None:
    assert set(advanced(watching("x", all_at_rest=True), 100, resting=True)) == {"x", "y", "z"}


def test_the_watched_quantity_comes_first(clock: Clock) -> None:
    assert list(advanced(watching("z", all_at_rest=True), 100, resting=True)) == ["z", "x", "y"]


def test_another_quantity_that_is_watched_at_rest_is_worked_out(clock: Clock) -> None:
    estimator = watching("x")
    advanced(estimator, 100, resting=True)
    estimator.watch("y")
    until(lambda: not estimator.latest()[1])
    assert set(estimator.latest()[0]) == {"x", "y"}


def test_what_was_worked_out_of_all_draws_is_not_worked_out_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator = watching("x", all_at_rest=True)
    first = advanced(estimator, 100, resting=True)
    monkeypatch.setattr(module, "estimates", lambda *given: 1 / 0)
    estimator.watch("y", all_at_rest=True)
    assert estimator.latest() == (first, False)
    assert advanced(estimator, 100, resting=True) == first


def test_a_run_watches_its_main_quantity_where_the_one_asked_for_is_not_there() -> None:
    work = RunWork(RunSpec.of("mdc", "mahmc", **SMALL))
    work.watch("beta[3]")
    job = ended(Job(work).start())
    assert list(job.snapshot().result.estimates) == ["u"]


@pytest.mark.quick
def test_in_the_full_view_a_run_at_rest_has_estimates_of_all_quantities() -> None:
    work = RunWork(RunSpec.of("mdc", "mahmc", **SMALL))
    work.watch("v", all_at_rest=True)
    result = ended(Job(work).start()).snapshot().result
    assert set(result.estimates) == set(result.names)
    assert {"u", "v", "w[0]", "w[19]", "ones", "energy"} <= set(result.names)
    assert all(found.used == 400 for found in result.estimates.values())


def test_estimates_that_fail_are_logged_and_not_waited_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of other quantities are there."""
    made = module.estimates
    calls: list[int] = []

    def sometimes(x: np.ndarray, draws: int) -> Any:
        calls.append(draws)
        if len(calls) == 2:
            raise FloatingPointError("on purpose")
        return made(x, draws)

    monkeypatch.setattr(module, "estimates", sometimes)
    estimator = watching("x", all_at_rest=True)
    with caplog.at_level(logging.ERROR):
        assert set(advanced(estimator, 100, resting=True)) == {"x", "z"}
        assert set(advanced(estimator, 100, resting=True)) == {"x", "z"}
    assert [record.getMessage() for record in caplog.records] == ["The diagnostics of y cannot be computed"]


def test_a_run_whose_only_estimates_fail_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "estimates", lambda *given: 1 / 0)
    result = ended(Job(RunWork(RunSpec.of("mdc", "mahmc", **SMALL))).start()).snapshot().result
    assert (result.estimates, result.estimating) == ({}, False)
    assert [record.getMessage() for record in caplog.records] == ["The diagnostics of u cannot be computed"]


# ------------------------------------------------------------------------------------------------------ warnings

SAID = {
    "a step beyond stability": ("mdc", "hmc", {"epsilon": 0.06}, ["above 0.0565", "is unstable", "Take less"]),
    "energies not finite": ("mdc", "hmc", {"epsilon": 50.0}, ["not finite and were rejected: lower ε"]),
    "a step far too small": ("mdc", "hmc", {"epsilon": 0.001, "L": 2}, ["a larger ε would give more"]),
    "few effective draws": ("mdc", "mala", {}, ["below 100 for each of 4 chains", "Draw more."]),
    "chains in modes": (
        "gmm",
        "hmc",
        {"chains": 16},
        ["do not mix: each chain stays in one mode", "updates that jump"],
    ),
    "hardly anything accepted": ("blr", "hmc", {"epsilon": 0.4}, ["are accepted: lower ε"]),
    "a chain that stands": ("gmm", "hmc", {"epsilon": 50.0, "L": 100}, ["never changed, so its ESS is undefined"]),
    "wrong on purpose": ("gmm", "naive", {}, ["is wrong on purpose"]),
}


def said(target: str, sampler: str, alive: bool = False, **chosen: Any) -> list[str]:
    job = ended(Job(RunWork(RunSpec.of(target, sampler, **(SMALL | chosen)))).start())
    result, name = job.snapshot().result, job.work.target.presentation.main_quantity
    return warnings(result, result.estimates.get(name), name, alive)


@pytest.mark.parametrize(("target", "sampler", "chosen", "words"), SAID.values(), ids=SAID.keys())
def test_a_warning_says_what_is_wrong_and_what_to_do(
    target: str, sampler: str, chosen: dict[str, Any], words: list[str]
) -> None:
    text = " ".join(said(target, sampler, **chosen))
    for part in words:
        assert part in text


def test_chains_that_do_not_agree_are_told() -> None:
    drifting = NORMAL[:, :400] * 0.3 + np.linspace(0.0, 1.0, 400)
    result = ended(Job(RunWork(RunSpec.of("mdc", "mahmc", **SMALL))).start()).snapshot().result
    found = warnings(result, estimates(drifting), "u", False)
    assert any("R-hat of u is 1." in text and "chains do not agree yet" in text for text in found)


def test_a_good_run_has_no_warning() -> None:
    assert said("mdc", "mahmc", draws=4000) == []


def test_while_chains_run_few_effective_draws_are_no_reason_to_warn() -> None:
    assert said("mdc", "mala", alive=True) == [text for text in said("mdc", "mala") if "below 100" not in text]
