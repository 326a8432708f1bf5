"""Jobs: start, stop, continue, fail and wait for a place; and snapshots, which do not change any more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from dashboard.settings.checks import CheckSettings
from dashboard.settings.compare import CompareSettings
from dashboard.views.words import run_status
from dashboard.work import job as jobs
from dashboard.work.checks import CheckResults, CheckWork
from dashboard.work.comparisons import CompareWork
from dashboard.work.contests import ContestWork
from dashboard.work.job import FAILURE, MOST_AT_ONCE, Job, Status
from dashboard.work.runs import RunWork
from mahmc import Run, RunSpec
from mahmc.checks import CASES, Checking
from tests.support.pages import DEADLINE, ended, new_screen, run, until
from tests.support.stops import FULL, Interrupted

pytestmark = pytest.mark.usefixtures("pages_of_one_test")

SMALL = {"draws": 400, "warmup": 40, "chains": 4}


class Counted:
    """Work of three steps, each of which waits until it is let go. Its `stop` does nothing."""

    def __init__(self) -> None:
        self.made = 0
        self.go = threading.Semaphore(0)

    @property
    def finished(self) -> bool:
        return self.made == 3

    def steps(self) -> Generator[int]:
        return self._steps()

    def _steps(self) -> Generator[int]:
        while not self.finished:
            assert self.go.acquire(timeout=DEADLINE)
            self.made += 1
            yield self.made

    def stop(self) -> None:
        pass

    def snapshot(self) -> int:
        return self.made


# ------------------------------------------------------------------------------------------------ start and stop


def test_a_job_draws_what_a_run_draws() -> None:
    spec = RunSpec.of("mdc", "mahmc", seed=5, **SMALL)
    job = ended(Job(RunWork(spec)).start())
    found = job.snapshot()
    assert found.status is Status.FINISHED
    assert found.result.drawn == 400
    assert np.array_equal(found.result.get("u"), Run(spec).advance_all().draws["u"])
    assert run_status(found).startswith("Finished: 440 of 440 draws of each chain in ")


def test_a_job_that_is_over_is_not_started_again() -> None:
    job = Job(Counted())
    job.work.go.release(3)
    job.start().wait(DEADLINE)
    thread = job._thread
    assert job.start().status is Status.FINISHED
    assert job._thread is thread


def test_starting_a_job_that_is_under_way_changes_nothing() -> None:
    job = Job(Counted()).start()
    thread = job._thread
    assert job.start()._thread is thread
    job.work.go.release(3)
    assert job.wait(DEADLINE).work.made == 3


def test_stop_returns_at_once_and_no_further_step_is_begun() -> None:
    """The step under way still waits when `stop` returns: nobody waits for it."""
    job = Job(Counted()).start()
    job.work.go.release()
    until(lambda: job.status is Status.RUNNING)
    job.stop()
    found = job.snapshot()
    assert (found.alive, found.stopping, found.working) == (True, True, False)
    job.work.go.release(2)
    job.wait(DEADLINE)
    assert (job.status, job.work.made) == (Status.STOPPED, 2)
    assert (job.alive, job.snapshot().working) == (False, False)


def test_a_run_leaves_off_in_the_midst_of_a_chunk() -> None:
    """Chunks of a day: if a stop waited for their end, the job would still be alive at the deadline."""
    spec = RunSpec.of("blr", "hmc", chains=8, draws=10**6, warmup=0, thin=1000, keep=("tau",))
    work = RunWork(spec)
    work.run = run_ = Run(spec)
    run_._chunk = 10**9
    job = Job(work).start()
    until(lambda: run_._blocks[0].counts.any())
    job.stop()
    job.wait(DEADLINE)
    assert not job.alive
    assert job.status is Status.STOPPED
    assert len(run_.history) == 1
    assert "Press Continue to go on exactly from there." in run_status(job.snapshot())


class StoppedOften(Interrupted):
    """Chunks end by stops alone: else their number would depend on the machine's speed."""

    def advance(self, seconds: float = 0.0) -> None:
        self._chunk = FULL
        super().advance(seconds)


@pytest.mark.parametrize(("target", "sampler"), [("mdc", "mahmc"), ("blr", "hmc"), ("gmm", "m-hmc")])
def test_stop_and_continue_gives_the_same_draws_bit_for_bit(target: str, sampler: str) -> None:
    """A job that is stopped in the midst of iterations, after 1, 2, 3, … steps, and started again each time."""
    spec = RunSpec.of(target, sampler, chains=8, draws=80, warmup=5, seed=3)
    work = RunWork(spec)
    work.run = run = StoppedOften(spec)
    job = Job(work)
    while not job.over:
        assert job.start().wait(DEADLINE).problem == ""
    assert run.stops >= 10
    assert job.status is Status.FINISHED
    whole = Run(spec).advance_all()
    for name, draws in whole.draws.items():
        assert np.array_equal(run.draws[name], draws), name


def test_a_job_that_was_stopped_before_it_began_says_so_and_can_be_started() -> None:
    spec = RunSpec.of("mdc", "hmc", **SMALL)
    job = Job(RunWork(spec))
    held = [jobs._places.acquire() for _ in range(MOST_AT_ONCE)]
    try:
        job.start()
        assert run_status(job.snapshot()).startswith("Waiting: the server is busy")
        job.stop()
        job.wait(DEADLINE)
    finally:
        for _ in held:
            jobs._places.release()
    found = job.snapshot()
    assert (found.status, found.alive, found.result.run) == (Status.STOPPED, False, None)
    assert run_status(found) == "Stopped before the first draw."
    assert ended(job.start()).status is Status.FINISHED
    assert np.array_equal(job.snapshot().result.get("u"), Run(spec).advance_all().draws["u"])


def test_a_stop_before_the_start_does_not_count() -> None:
    job = Job(Counted())
    job.stop()
    assert (job.alive, job.status) == (False, Status.WAITING)
    job.work.go.release(3)
    assert job.start().wait(DEADLINE).status is Status.FINISHED


def test_more_jobs_than_places_wait_their_turn() -> None:
    running = [Job(Counted()).start() for _ in range(MOST_AT_ONCE)]
    for job in running:
        job.work.go.release()
    until(lambda: all(job.status is Status.RUNNING for job in running))
    waiting = Job(Counted()).start()
    waiting.work.go.release()
    assert waiting.snapshot().alive
    running[0].stop()
    assert waiting.status is Status.WAITING  # the one that was stopped still has a step to end, and its place
    running[0].work.go.release()
    until(lambda: waiting.status is Status.RUNNING)
    for job in (*running, waiting):
        job.work.go.release(3)
        job.wait(DEADLINE)
    assert [job.status for job in running] == [Status.STOPPED, *[Status.FINISHED] * (MOST_AT_ONCE - 1)]
    assert str(waiting.status) == "finished"


# ---------------------------------------------------------------------------------------------------- failures


def test_a_run_that_does_not_fit_fails_in_words() -> None:
    job = Job(RunWork(RunSpec.of("blr", "hmc", draws=10**9))).start().wait(DEADLINE)
    assert job.status is Status.FAILED
    assert "GiB may be used" in job.problem
    assert run_status(job.snapshot()) == "This run failed."
    assert job.start().status is Status.FAILED


def raising(error: Exception) -> Any:
    def fail(*given: object, **named: object) -> None:
        raise error

    return fail


def test_too_little_memory_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "advance", raising(MemoryError()))
    job = Job(RunWork(RunSpec.of("mdc", "hmc", **SMALL))).start().wait(DEADLINE)
    assert job.status is Status.FAILED
    assert job.problem.startswith("There is not enough memory for this run. Take fewer draws or chains")


def small_run() -> RunWork:
    return RunWork(RunSpec.of("mdc", "hmc", seed=4711, **SMALL))


def small_comparison() -> CompareWork:
    settings = CompareSettings().with_("samplers", ("hmc", "mahmc")).with_("budget", 160_000).with_("replicates", 3)
    settings = settings.with_("seed", 4711)
    return CompareWork(settings, settings.comparison({}))


def small_checks(results: CheckResults | None = None, case: str = "gmm", epsilon: float | None = None) -> CheckWork:
    settings = CheckSettings(budget=0.01, seed=4711, custom=case == "own")
    settings = settings if epsilon is None else settings.with_("own.naive.epsilon", epsilon)
    cells = [cell for cell in settings.cells({})[0] if cell.key == ("naive", case)]
    taken = (results or CheckResults()).stored(cells, settings)
    return CheckWork(settings, Checking(taken, **settings.strictness))


def small_contest() -> ContestWork:
    return ContestWork(CASES["gmm"], ("mahmc", "naive"), 4711)


def custom_checks() -> CheckWork:
    return small_checks(case="own", epsilon=0.4321)


BROKEN = [(small_run, "hmc"), (small_comparison, "160000"), (small_checks, "naive"), (custom_checks, "0.4321"),
          (small_contest, "naive")]  # fmt: skip


@pytest.mark.parametrize(("make", "word"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_an_unexpected_error_is_told_in_words_and_logged_with_what_reproduces_it(
    make: Any, word: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Run, "advance", raising(RuntimeError("broken on purpose")))
    monkeypatch.setattr(Checking, "_check", raising(RuntimeError("broken on purpose")))
    with caplog.at_level(logging.ERROR):
        job = Job(make()).start().wait(DEADLINE)
    assert job.status is Status.FAILED
    assert job.problem == FAILURE
    (record,) = caplog.records
    assert record.getMessage() == f"Job {job.number} of {job.work!r} failed"
    assert "4711" in record.getMessage()
    assert word in record.getMessage()
    assert "broken on purpose" in caplog.text


# --------------------------------------------------------------------------------------------------- snapshots


def test_a_snapshot_of_a_run_does_not_change_when_the_run_goes_on() -> None:
    work = RunWork(RunSpec.of("mdc", "mahmc", chains=4, draws=4000, warmup=10))
    steps = work.steps()
    while work.snapshot().drawn < 10:
        next(steps)
    until(lambda: not work.snapshot().estimating)
    early = work.snapshot()
    draws, estimates = {name: early.get(name).copy() for name in ("u", "w[3]", "ones")}, dict(early.estimates)
    drawn, progress, rates = early.drawn, early.progress, {k: a.rate for k, a in early.acceptances.items()}
    warmup = early.get("u", warmup=True).copy()
    assert set(estimates) == {"u"}
    for _ in steps:
        pass
    until(lambda: not work.snapshot().estimating)
    late = work.snapshot()
    assert (late.drawn, late.estimates["u"].used) == (4000, 4000)
    assert (early.drawn, early.progress, early.estimates) == (drawn, progress, estimates)
    assert drawn < 4000
    for name, x in draws.items():
        assert np.array_equal(early.get(name), x)
    assert np.array_equal(early.get("u", warmup=True), warmup)
    assert {k: a.rate for k, a in early.acceptances.items()} == rates


def test_a_snapshot_taken_in_the_warm_up_has_no_draws() -> None:
    work = RunWork(RunSpec.of("mdc", "mahmc", chains=4, draws=400, warmup=4000))
    steps = work.steps()
    next(steps)
    early = work.snapshot()
    warm = early.done
    for _ in steps:
        pass
    assert 0 < warm < 4000
    assert early.get("u", warmup=True).shape == (4, warm)
    assert (early.drawn, early.get("u").shape) == (0, (4, 0))


def test_a_snapshot_of_a_comparison_does_not_change_when_it_goes_on() -> None:
    work = small_comparison()
    steps = work.steps()
    while len(work.snapshot().found.done) < 2:
        next(steps)
    early = work.snapshot()
    figures = {label: early.found.figure(label) for label in ("hmc", "mahmc")}
    said = (early.share, early.step, early.found.ratio("mahmc", "hmc"), early.found.finished)
    assert [entry.replicates for entry in early.found.entries.values()] == [2, 2]
    for _ in steps:
        pass
    assert work.snapshot().found.finished
    assert work.snapshot().found.figure("mahmc") != figures["mahmc"]
    assert [entry.replicates for entry in early.found.entries.values()] == [2, 2]
    assert {label: early.found.figure(label) for label in ("hmc", "mahmc")} == figures
    assert (early.share, early.step, early.found.ratio("mahmc", "hmc"), early.found.finished) == said


def test_a_snapshot_of_checks_does_not_change_when_they_go_on() -> None:
    results = CheckResults()
    work = small_checks(results)
    steps = work.steps()
    next(steps)
    early, progress = results.snapshot(), work.snapshot()
    for _ in steps:
        pass
    ((mark, cell),) = early.items()
    assert list(cell.findings) == ["marginals"]
    assert (progress.done, progress.finished, progress.share) == (1, False, 1 / progress.total)
    assert len(results.snapshot()[mark].findings) == progress.total > 1
    assert (work.snapshot().done, work.snapshot().finished) == (progress.total, True)


def test_a_snapshot_of_a_contest_does_not_change_when_it_goes_on() -> None:
    work = small_contest()
    steps = work.steps()
    while not work.snapshot().tested_after:
        next(steps)
    early = work.snapshot()
    assert (early.tested_after, early.finished) == ([1], False)
    share = early.share
    next(steps)
    next(steps)
    assert work.snapshot().tested_after == [1, 2]
    assert (early.tested_after, early.finished, early.share) == ([1], False, share)


def test_reading_a_snapshot_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is due: only settings that change, and draws that are added, begin new estimates."""
    screen = new_screen()
    tab = screen.tab
    for name, value in {"chains": 4, "draws": 300, "warmup": 0}.items():
        tab.change("explore", name, value)
    ended(run(tab))
    names: list[str] = []
    begin = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        names.append(thread.name)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    tab.jobs["explore"].work.estimator._watched = "v"  # so that estimates are due
    for _ in range(3):
        view = screen.view("explore")
        screen.cache("explore").changes(view, 0)
    assert names == []
    assert "v" not in tab.snapshot().jobs["explore"].result.estimates
    tab.change("explore", "quantity", "v")
    assert names == ["estimates"]
    ended(tab.jobs["explore"])
    assert "v" in tab.snapshot().jobs["explore"].result.estimates
