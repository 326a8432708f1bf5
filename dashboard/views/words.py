"""Numbers and states in words."""

from __future__ import annotations

import math

from dashboard.work.job import Snapshot, Status
from dashboard.work.runs import RunResult

EARLIER = "These results belong to earlier settings. Press Run for results with the present settings."


def large(value: float) -> str:
    """A number with a unit in place of zeros: 35.2 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def share(rate: float | None) -> str:
    """A rate with three decimals."""
    return "–" if rate is None else f"{rate:.3f}"


def percent(rate: float, decimals: int = 1) -> str:
    """A rate in percent: "95.0 %"."""
    return f"{100.0 * rate:.{decimals}f} %"


def count(value: float | None) -> str:
    """A number without decimals; "–" if there is none yet."""
    if value is None:
        return "–"
    return "undefined" if math.isnan(value) else f"{value:,.0f}"


def seconds(value: float) -> str:
    """A time in seconds or minutes; "…" if unknown."""
    if math.isnan(value):
        return "…"
    if value >= 100:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{value:.2g} s"


def run_status(job: Snapshot[RunResult] | None) -> str:
    """The state of a run in a sentence."""
    if job is None:
        return "Choose a target and a sampler in the sidebar, and press Run."
    progress, spec = job.result.progress, job.result.spec
    if job.status is Status.FAILED:
        return "This run failed."
    if progress is None or (job.status is Status.PREPARING and job.alive):
        return {
            Status.WAITING: "Waiting: the server is busy with other runs.",
            Status.STOPPED: "Stopped before the first draw.",
        }.get(job.status, "Loading the kernels. The first time they are compiled, which takes a few seconds.")
    done = f"{progress.done:,} of {spec.slots:,} draws of each chain"
    still = stuck(job.result)
    if job.status is Status.FINISHED:
        return f"Finished: {done} in {seconds(progress.seconds)}.{still}"
    if job.status is Status.STOPPED or not job.alive:
        return f"Stopped at {done}. Press Continue to go on exactly from there.{still}"
    return _alive(job, done) + still


def _alive(job: Snapshot[RunResult], done: str) -> str:
    """The state of a run that goes on."""
    result, progress = job.result, job.result.progress
    assert progress is not None
    if job.status is Status.WAITING:
        return f"Waiting at {done}: the server is busy with other runs."
    if result.paused:
        return f"Paused at {done}. Press Continue or Step to go on exactly from there."
    if progress.done < result.spec.warmup:
        return f"Warming up: {done}, about {seconds(progress.seconds_left)} left."
    if result.paced:
        return f"Drawing: {done}, {result.rate:,.5g} a second."
    return f"Drawing: {done}, about {seconds(progress.seconds_left)} left."


def stuck(result: RunResult) -> str:
    """A sentence on chains that never moved; "" if all chains moved."""
    if not result.stuck:
        return ""
    chains = result.spec.chains
    if result.stuck == chains:
        return " All chains are stuck."
    return f" {result.stuck} of {chains} chains {'is' if result.stuck == 1 else 'are'} stuck."
