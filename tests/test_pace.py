"""The pace of a run on Explore: when draws are made, and that the draws are always the same."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

from dashboard.work import job as jobs
from dashboard.work.job import MOST_AT_ONCE, Job, Status
from dashboard.work.pace import AWAY, FASTEST, Pace
from dashboard.work.runs import RunWork
from mahmc import Run, RunSpec
from tests.support.pages import DEADLINE, ended, until

SLOW = 1e-4  # draws a second: the second draw never comes in time


class CountedPace(Pace):
    """A pace that counts its rests."""

    rests = 0

    def rest(self) -> None:
        self.rests += 1
        super().rest()


def new_job(spec: RunSpec, rate: float) -> Job[RunWork]:
    return Job(RunWork(spec, pace=Pace(rate)))


def drawn(job: Job[RunWork]) -> int:
    return job.work.snapshot().drawn


def rests(job: Job[RunWork]) -> bool:
    return job.work.pace.due(job.work.snapshot().done) == 0


def has(job: Job[RunWork], draws: int) -> None:
    """Until the run rests after this number of draws."""
    until(lambda: drawn(job) == draws and rests(job))


@pytest.mark.parametrize(("target", "sampler", "thin"), [("mdc", "mahmc", 1), ("blr", "hmc", 2), ("gmm", "m-hmc", 3)])
def test_a_run_draws_the_same_at_any_pace_through_pauses_steps_and_stops(target: str, sampler: str, thin: int) -> None:
    """20 chains are three blocks: at full speed some run ahead, and in single draws none may."""
    spec = RunSpec.of(target, sampler, chains=20, draws=60, warmup=7, thin=thin, seed=5)
    job = new_job(spec, SLOW).start()
    has(job, 1)
    pace = job.work.pace
    for draws in (2, 3, 4):
        pace.step()
        has(job, draws)
    job.stop()
    assert not job.wait(DEADLINE).alive
    pace.step()  # a stopped run takes a single draw as well
    job.start()
    has(job, 5)
    pace.change(500.0)
    pace.go_on()
    until(lambda: drawn(job) > 12)
    pace.pause()
    until(lambda: rests(job))
    pace.change(FASTEST)
    pace.go_on()
    assert ended(job).status is Status.FINISHED
    whole, run = Run(spec).advance_all(), job.work.run
    assert run is not None
    for mine, others in zip(run._recording.first(67), whole._recording.first(67), strict=True):
        assert np.array_equal(mine, others)  # the warm-up too
    for kind, rates in whole.acceptances.items():
        assert np.array_equal(run.acceptances[kind].accepted, rates.accepted), kind


def test_a_step_is_one_draw_of_each_chain_and_no_more() -> None:
    spec = RunSpec.of("gmm", "mahmc", chains=20, draws=30, warmup=4, thin=2)
    run = Run(spec)
    for done in (1, 2, 3, 4, 5):
        run.step()
        assert run.done == done
        assert {block.done for block in run._blocks} == {2 * done}
    run.step(10**6)
    assert run.finished


def test_the_warm_up_is_not_paced() -> None:
    """Else a page at 10 draws a second would show an empty histogram for minutes."""
    job = new_job(RunSpec.of("mdc", "hmc", chains=4, draws=50, warmup=5_000), SLOW).start()
    has(job, 1)
    job.stop()
    job.wait(DEADLINE)


def test_stop_and_another_pace_end_a_rest_at_once() -> None:
    """At this pace a rest takes hours: the job would still be alive at the deadline."""
    job = new_job(RunSpec.of("mdc", "hmc", chains=4, draws=50, warmup=0), SLOW).start()
    has(job, 1)
    job.stop()
    assert job.wait(DEADLINE).status is Status.STOPPED
    job.start()
    has(job, 1)
    job.work.pace.change(FASTEST)
    assert job.wait(DEADLINE).status is Status.FINISHED


def test_a_run_at_rest_leaves_its_place_to_others_and_waits_without_looking() -> None:
    spec = RunSpec.of("mdc", "hmc", chains=4, draws=50, warmup=0)
    paces = [CountedPace(SLOW) for _ in range(MOST_AT_ONCE + 1)]
    resting = [Job(RunWork(spec, pace=pace)).start() for pace in paces]
    for job in resting:
        has(job, 1)
    assert ended(Job(RunWork(spec)).start()).status is Status.FINISHED
    wakes = [pace.rests for pace in paces]
    for job in resting:
        job.work.pace.step()
        has(job, 2)
    until(lambda: all(pace.rests > before for pace, before in zip(paces, wakes, strict=True)))
    for job in resting:
        job.stop()
        job.wait(DEADLINE)
    assert max(pace.rests - before for pace, before in zip(paces, wakes, strict=True)) <= 3
    with ExitStack() as places:
        for _ in range(MOST_AT_ONCE):  # each place was given back once
            assert jobs._places.acquire(blocking=False)
            places.callback(jobs._places.release)
        assert not jobs._places.acquire(blocking=False)


def test_a_run_that_waits_for_a_place_says_so_and_makes_nothing_up() -> None:
    spec = RunSpec.of("mdc", "hmc", chains=4, draws=5_000, warmup=0)
    job = new_job(spec, SLOW).start()
    has(job, 1)
    held = [jobs._places.acquire() for _ in range(MOST_AT_ONCE)]
    try:
        job.work.pace.step()
        until(lambda: job.status is Status.WAITING)
    finally:
        for _ in held:
            jobs._places.release()
    has(job, 2)
    job.stop()
    assert not job.wait(DEADLINE).alive


def test_draws_come_when_they_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of its own: ten a second, none made up for after a break, and all at once at full speed."""
    now = 100.0
    monkeypatch.setattr("dashboard.work.pace.time.monotonic", lambda: now)
    pace, made = Pace(10.0), []
    for _ in range(100):
        if draws := int(pace.due(0)):
            pace.made(draws)
            made.append(draws)
        now += 0.01
    assert made == [1] * 10
    now += 60.0
    assert pace.due(0) == 1  # none is made up for
    pace.made(1)
    pace.change(1000.0)
    made.clear()
    for _ in range(50):
        made.append(int(pace.due(0)))
        pace.made(made[-1])
        now += 0.02
    assert sum(made) == pytest.approx(1000, abs=25)
    pace.pause()
    assert pace.due(0) == 0
    pace.step()
    assert pace.due(0) == 1
    pace.made(1)
    assert pace.due(0) == 0
    pace.change(FASTEST)
    assert pace.due(0) == 0
    pace.go_on()
    assert pace.due(0) == FASTEST


def test_while_somebody_looks_no_draw_is_made_before_the_last_one_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine draws come later, but each of them is seen."""
    now = 100.0
    monkeypatch.setattr("dashboard.work.pace.time.monotonic", lambda: now)
    pace = Pace(10.0)
    pace.look(7)
    assert pace.due(7) == 1
    pace.made(1)
    now += 0.5
    assert pace.due(8) == 0
    pace.look(8)
    assert pace.due(8) > 0
    now += 2 * AWAY  # nobody looks any more
    assert pace.due(9) > 0
    pace.look(9)
    pace.change(1000.0)
    now += 0.1
    assert pace.due(9) > 50
    assert pace.due(109) == 0
