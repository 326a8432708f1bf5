"""Right against wrong, side by side from one seed: after how many draws can the eye tell, and when can the test?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dashboard import figures
from dashboard.figures import Chart
from dashboard.settings.checks import LOOKS, CheckSettings
from dashboard.views.view import ChartRequest, Line, Remark, lines, remarks, status
from dashboard.work.contests import ContestResult
from dashboard.work.job import Snapshot
from dashboard.work.tab import Now
from mahmc.checks.verdicts import corrected
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Truth

QUANTITIES = ("q", "component")
SEEN = 0.25  # of the highest bar: lower ones the eye passes over


@dataclass(frozen=True)
class Shown:
    """The contest that is shown under these settings."""

    settings: CheckSettings
    now: Now

    @property
    def job(self) -> Snapshot[ContestResult] | None:
        """The one of the chosen exhibit, if it has the present seed."""
        job = self.now.jobs.get(f"contest.{self.settings.exhibit}")
        return job if job is not None and job.result.seed == self.settings.seed else None

    @property
    def working(self) -> bool:
        return self.job is not None and self.job.working

    @property
    def looks(self) -> list[int]:
        return self.job.result.looks if self.job else []

    @property
    def layout(self) -> Hashable:
        job = self.job
        return (job.working, job.result.finished, bool(job.problem), bool(self.looks)) if job else ()

    @property
    def tested(self) -> int:
        """The last look that is not beyond the draws shown."""
        return max((look for look in self.looks if look <= self.settings.draws), default=self.looks[0])

    def parts(self) -> dict[str, Any]:
        """Progress, problems, and what eye and test say of each sampler."""
        job = self.job
        found: dict[str, Any] = {}
        if job is not None and job.problem:
            found["contest.remarks"] = remarks([Remark(job.problem, "error")])
        elif job is not None and job.working:
            last = self.looks[-1] if self.looks else 0
            text = f"Tested after {last:,} of {LOOKS[-1]:,} draws of each chain."
            found["contest.status"] = status(text, job.result.share)
        if job is not None and self.looks:
            found |= {f"contest.words.{sampler}": lines([self._words(sampler)]) for sampler in job.result.samplers}
        return found

    def charts(self) -> Iterator[ChartRequest]:
        """Both histograms of each quantity on one scale, and the test's p-value against draws."""
        if self.job is None or not self.looks:
            return
        found, draws = self.job.result, self.settings.draws
        mark = (self.job.number, draws)
        for name in QUANTITIES:
            pair = _Pair(found, name, draws)
            for sampler in found.samplers:
                title = f"{EVERY_SAMPLER[sampler].title}: {figures.plain(name)}"
                yield ChartRequest(f"contest.{name}.{sampler}", mark, 1, pair.of(sampler), title, 260)
        level = self.settings.level
        make: Callable[[], Chart] = lambda: path(found, level, draws)  # noqa: E731
        yield ChartRequest("contest.path", (*mark, level, len(self.looks)), 1, make, "p-value against draws")

    def _words(self, sampler: str) -> Line:
        assert self.job is not None
        found, n, level = self.job.result, self.tested, self.settings.level
        run = found.runs[sampler]
        off = by_eye(run.get("component")[:, :n], run.target.truths["component"])
        p_value = corrected(found.rounds[sampler][n].comparisons)
        wrong = p_value < level
        return Line(
            f"after {n:,} draws. By eye: the largest deviation of a component is "
            f"{off:.1%} of its bar's height. The test: {figures.p_is(p_value)}, "
            f"{'✕ wrong' if wrong else 'no objection'} at level {figures.digits(level, 2)}.",
            tone="bad" if wrong else "",
            lead=EVERY_SAMPLER[sampler].title,
        )


class _Pair:
    """The histograms of one quantity of both samplers, on one scale."""

    def __init__(self, found: ContestResult, name: str, draws: int) -> None:
        self.found, self.name, self.draws = found, name, draws

    @cached_property
    def charts(self) -> dict[str, Chart]:
        charts = {sampler: self._histogram(sampler) for sampler in self.found.samplers}
        tallest = max(float(np.max(trace.y)) for chart in charts.values() for trace in chart.figure.data)
        for chart in charts.values():
            chart.figure.update_yaxes(range=[0, 1.08 * tallest])
        return charts

    def of(self, sampler: str) -> Callable[[], Chart]:
        return lambda: self.charts[sampler]._replace(caption="")

    def _histogram(self, sampler: str) -> Chart:
        run = self.found.runs[sampler]
        truth = run.target.truths[self.name]
        draw = figures.mass if truth.discrete else figures.density
        x = run.get(self.name)[:, : self.draws]
        return draw([(EVERY_SAMPLER[sampler].title, sampler, x)], truth, self.name)


def path(found: ContestResult, level: float, now: int) -> Chart:
    """The test's p-values of both, as far as they are known."""
    paths = [
        (EVERY_SAMPLER[sampler].title, sampler, found.looks, [corrected(rounds[n].comparisons) for n in found.looks])
        for sampler, rounds in found.rounds.items()
    ]
    return figures.p_value_path(paths, level, now)


def by_eye(x: np.ndarray, truth: Truth) -> float:
    """The largest deviation of a bar from its true height, relative to that, among bars that are not low."""
    values = np.arange(int(truth.support[0]), int(truth.support[1]) + 1)
    true = np.asarray(truth.density(values), float)
    seen = true >= SEEN * true.max()
    share = np.array([(x == k).mean() for k in values])
    return float((np.abs(share - true) / true)[seen].max())
