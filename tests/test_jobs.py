"""Background runs, without a browser."""

from __future__ import annotations

import csv
import io
import time

import numpy as np
import pandas as pd
import pytest

import dashboard.estimates
from dashboard import saving
from dashboard.estimates import MOST_LIVE, Estimator, estimates
from dashboard.jobs import MOST_AT_ONCE, Job, Status
from dashboard.warnings import warnings
from mahmc import Run, RunSpec
from mahmc.diagnostics import arviz

pytestmark = pytest.mark.quick
SMALL = {"draws": 400, "warmup": 40, "chains": 4}
HOURS = {"draws": 10**6, "warmup": 0, "thin": 1000, "keep": ("tau",)}


def until(condition, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def test_a_job_draws_what_a_run_draws() -> None:
    spec = RunSpec.of("mdc", "mahmc", seed=5, **SMALL)
    job = Job(spec).start().wait(60)
    assert job.status == Status.FINISHED
    assert job.run is not None
    assert np.array_equal(job.run.draws["u"], Run(spec).advance_all().draws["u"])
    assert job.drawn == 400
    assert job.start().status == Status.FINISHED  # starting again changes nothing


def test_stop_is_at_once_and_continue_goes_on_exactly() -> None:
    spec = RunSpec.of("blr", "mahmc", chains=8, draws=4000, warmup=0, keep=("tau",))
    job = Job(spec).start()
    until(lambda: job.drawn > 10)
    begin = time.perf_counter()
    job.stop()
    job.wait(5)
    assert time.perf_counter() - begin < 0.1
    assert job.status == Status.STOPPED
    assert 0 < job.drawn < 4000
    assert job.start().wait(60).status == Status.FINISHED
    assert job.run is not None
    assert np.array_equal(job.run.draws["tau"], Run(spec).advance_all().draws["tau"])


def test_stop_before_it_began() -> None:
    job = Job(RunSpec.of("mdc", "hmc", **SMALL))
    job.stop()
    assert not job.alive
    job.start()
    job.stop()
    job.wait(10)
    assert job.status in (Status.STOPPED, Status.FINISHED)
    assert job.start().wait(30).status == Status.FINISHED


def test_a_run_that_does_not_fit_fails_in_words() -> None:
    job = Job(RunSpec.of("blr", "hmc", draws=10**9)).start().wait(30)
    assert job.status == Status.FAILED
    assert "GiB may be used" in job.problem


def test_an_unexpected_error_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Run, seconds: float = 0.0) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Run, "advance", broken)
    job = Job(RunSpec.of("mdc", "hmc", **SMALL)).start().wait(30)
    assert job.status == Status.FAILED
    assert "server's log" in job.problem
    assert "on purpose" not in job.problem


def test_more_jobs_than_places_wait_their_turn() -> None:
    jobs = [Job(RunSpec.of("blr", "hmc", seed=i, **HOURS)).start() for i in range(MOST_AT_ONCE + 1)]
    until(lambda: sum(job.status == Status.RUNNING for job in jobs) == MOST_AT_ONCE)
    waiting = next(job for job in jobs if job.status == Status.WAITING)
    next(job for job in jobs if job is not waiting).stop()
    until(lambda: waiting.status == Status.RUNNING)
    for job in jobs:
        job.stop()
    for job in jobs:
        job.wait(10)
        assert not job.alive


def test_estimates_are_arvizs_and_seldom_while_a_run_is_under_way() -> None:
    job = Job(RunSpec.of("mdc", "mahmc", **SMALL)).start().wait(60)
    assert job.run is not None
    short = Estimator(job)
    until(lambda: short("u") is not None)  # in the background: ArviZ may have to be imported first
    found = short("u")
    assert found is not None
    assert found.ess_bulk == pytest.approx(float(arviz().ess(job.run.draws["u"])))
    assert found.rhat == pytest.approx(float(arviz().rhat(job.run.draws["u"])))
    long = Job(RunSpec.of("mdc", "mahmc", draws=10**6, chains=16, keep=("u",))).start()
    estimator = Estimator(long)
    until(lambda: estimator("u") is not None)
    first = estimator("u")
    assert estimator("u") is first  # at once: too early for another
    until(lambda: long.drawn > 2 * MOST_LIVE)
    long.stop()
    long.wait(10)
    until(lambda: estimator("u") is not first and not estimator.behind("u"))
    again = estimator("u")
    assert again is not None
    assert again.draws == again.used == long.drawn
    assert not again.rough


def test_estimates_that_fail_are_not_waited_for(monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    job = Job(RunSpec.of("mdc", "mahmc", **SMALL)).start().wait(60)
    monkeypatch.setattr(dashboard.estimates, "estimates", lambda *given: 1 / 0)
    estimator = Estimator(job)
    assert estimator.behind("u")
    until(lambda: estimator("u") is None and not estimator.behind("u"))
    assert [record.getMessage() for record in caplog.records] == ["no estimates of u"]


def test_rough_estimates_are_scaled_up_from_the_last_draws() -> None:
    x = np.random.default_rng(1).standard_normal((4, 8000))
    rough, whole = estimates(x[:, -2000:], 8000), estimates(x)
    assert (rough.draws, rough.used, rough.rough, whole.rough) == (8000, 2000, True, False)
    assert rough.ess_bulk == pytest.approx(4 * float(arviz().ess(x[:, -2000:])))
    assert rough.ess_bulk == pytest.approx(whole.ess_bulk, rel=0.1)


def test_warnings_say_what_is_wrong_and_what_to_do() -> None:
    def said(target: str, sampler: str, **chosen: object) -> str:
        job = Job(RunSpec.of(target, sampler, **(SMALL | chosen))).start().wait(60)
        assert job.run is not None
        name = job.target.paper_quantity
        return " ".join(warnings(job, estimates(np.asarray(job.run.get(name), float)), name))

    assert "becomes unstable" in said("mdc", "hmc", epsilon=0.06)
    assert "not finite" in said("mdc", "hmc", epsilon=50.0)
    assert "ε could be larger" in said("mdc", "hmc", epsilon=0.001, L=2)
    assert "below 100 for each" in said("mdc", "mala")
    assert "modes of their own" in said("gmm", "hmc", chains=16)
    assert "are accepted: lower ε" in said("blr", "hmc", epsilon=0.4)
    assert "never changed" in said("gmm", "hmc", epsilon=50.0, L=100)
    assert said("mdc", "mahmc", draws=4000) == ""


def test_downloads_hold_the_draws(tmp_path) -> None:
    run = Run(RunSpec.of("gmm", "mahmc", **SMALL)).advance_all()
    rows = list(csv.DictReader(saving.table(run, "csv").decode().splitlines()))
    assert list(rows[0]) == ["chain", "draw", "q", "component", "energy"]
    assert np.array_equal(np.reshape([float(row["q"]) for row in rows], (4, 400)), run.draws["q"])
    parquet = pd.read_parquet(io.BytesIO(saving.table(run, "parquet")))
    assert np.array_equal(parquet["q"].to_numpy(), run.draws["q"].ravel())
    (tmp_path / "draws.nc").write_bytes(saving.netcdf(run))
    assert np.array_equal(arviz().from_netcdf(str(tmp_path / "draws.nc"))["posterior"]["q"].values, run.draws["q"])
    histogram = pd.read_csv(io.BytesIO(saving.figure_data(run)))
    assert {"low", "high", "density", "exact"} <= set(histogram.columns)
    assert float((histogram["density"] * (histogram["high"] - histogram["low"])).sum()) == pytest.approx(1.0, abs=0.01)


def test_the_snippet_makes_the_same_run() -> None:
    run = Run(RunSpec.of("gmm", "mahmc", seed=3, epsilon=0.1 + 0.2, **SMALL)).advance_all()
    names: dict = {}
    exec(saving.snippet(run.spec, run.target), names)
    assert np.array_equal(names["run"].draws["q"], run.draws["q"])
