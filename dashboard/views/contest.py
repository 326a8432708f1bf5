"""A correct and a wrong sampler, side by side from one seed: how many draws show the error to the eye and the test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import takewhile
from typing import Any

import numpy as np

from dashboard import figures
from dashboard.figures import Chart
from dashboard.settings.checks import CONTEST_DRAWS, CONTESTS, WHERE_IT_TELLS, CheckSettings
from dashboard.settings.choices import in_symbols
from dashboard.views import words
from dashboard.views.view import ChartRequest, Line, Remark, lines, remarks, status
from dashboard.work.contests import ContestResult
from dashboard.work.job import Snapshot
from dashboard.work.tab import TabSnapshot
from mahmc.checks import CASES
from mahmc.checks.verdicts import corrected
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Truth

HEADROOM = 1.8  # the height of histograms, relative to the highest point of the truth; the same for any number of draws
MORPH = {"duration": 350, "easing": "cubic-in-out"}  # milliseconds of a change of the number of draws
SEEN = 0.25  # share of the highest bar; the eye overlooks lower bars


@dataclass(frozen=True)
class ViewState:
    """The contest that is shown under these settings."""

    settings: CheckSettings
    now: TabSnapshot

    @property
    def job(self) -> Snapshot[ContestResult] | None:
        """The job of the chosen contest, if it has the present seed."""
        job = self.now.jobs.get(f"contest.{self.settings.exhibit}")
        return job if job is not None and job.result.seed == self.settings.seed else None

    @property
    def working(self) -> bool:
        return self.job is not None and self.job.working

    @property
    def tested_after(self) -> list[int]:
        return self.job.result.tested_after if self.job else []

    @property
    def layout(self) -> Hashable:
        job = self.job
        return (job.working, job.result.finished, bool(job.problem), bool(self.tested_after)) if job else ()

    @property
    def quantities(self) -> dict[str, str]:
        """Every scalar of the contest's target, and how it is drawn: first as a mass, then as a density."""
        if self.job is None or not self.job.result.runs:
            return {}
        target = next(iter(self.job.result.runs.values())).target
        kinds = {name: "mass" if target.truth.scalars[name].discrete else "density" for name in target.names}
        return dict(sorted(kinds.items(), key=lambda item: item[1] != "mass"))

    @cached_property
    def draws(self) -> int:
        """The number of draws of each chain that is shown."""
        assert self.job is not None
        return draws_shown(self.job.result, self.settings)

    @property
    def tested(self) -> int:
        """The largest tested number of draws that is not above the number shown."""
        return max((n for n in self.tested_after if n <= self.draws), default=self.tested_after[0])

    @property
    def title(self) -> str:
        return CASES[CONTESTS[self.settings.exhibit][0]].title

    def parts(self) -> dict[str, Any]:
        """Progress, problems, and the result of eye and test for each sampler."""
        job = self.job
        found: dict[str, Any] = {}
        if job is not None and job.problem:
            found["contest.remarks"] = remarks([Remark(job.problem, "error")])
        elif job is not None and job.working:
            last = self.tested_after[-1] if self.tested_after else 0
            text = f"Tested after {last:,} of {CONTEST_DRAWS[-1]:,} draws of each chain."
            found["contest.status"] = status(text, job.result.share)
        if job is not None and self.tested_after:
            found |= {f"contest.words.{sampler}": lines([self._words(sampler)]) for sampler in job.result.samplers}
            found["contest.player"] = self._player()
        return found

    def _player(self) -> dict[str, Any]:
        """The slider over the number of draws. Play ends where the test can tell; `began` lets it begin by itself."""
        assert self.job is not None
        found = self.job.result
        tells = draws_shown(found, replace(self.settings, draws=WHERE_IT_TELLS))
        by_itself = found.finished and self.settings.draws == WHERE_IT_TELLS
        return {
            "label": "Draws of each chain", "stops": list(CONTEST_DRAWS), "at": CONTEST_DRAWS.index(self.draws),
            "end": CONTEST_DRAWS.index(tells), "canPlay": found.finished, "began": self.job.number if by_itself else 0,
        }  # fmt: skip

    def charts(self) -> Iterator[ChartRequest]:
        """Histograms of each quantity with the same axes, and the test's p-value against the number of draws."""
        if self.job is None or not self.tested_after:
            return
        found, draws = self.job.result, self.draws
        mark = (self.job.number, draws)
        for name in self.quantities:
            pair = _Pair(found, name, draws)
            for sampler in found.samplers:
                title, of = f"{EVERY_SAMPLER[sampler].title}: {figures.plain(name)}", self._origin(sampler)
                place, make = f"contest.{name}.{sampler}", pair.of(sampler)
                yield ChartRequest(place, mark, 1, make, title, 230, of, stem=self._stem)
        level = self.settings.level
        make = partial(path, found, level, draws)
        of = f"{self.title} · {found.chains} chains · seed {found.seed}"
        about = (*mark, level, len(self.tested_after))
        yield ChartRequest("contest.path", about, 1, make, "p-value against draws", origin=of, stem=self._stem)

    @property
    def _stem(self) -> str:
        """The beginning of the names of the charts' files."""
        return f"{CONTESTS[self.settings.exhibit][0]}-seed{self.settings.seed}"

    def _origin(self, sampler: str) -> str:
        assert self.job is not None
        found = self.job.result
        size = f"{found.chains} chains × {self.draws:,} draws"
        return f"{self.title} · {in_symbols(found.runs[sampler].spec)} · {size} · seed {found.seed}"

    def _words(self, sampler: str) -> Line:
        assert self.job is not None
        found, n, level = self.job.result, self.tested, self.settings.level
        run = found.runs[sampler]
        discrete = run.target.shown.discrete
        off = by_eye(run.get(discrete)[:, :n], run.target.truth.scalars[discrete])
        p_value = corrected(found.rounds[sampler][n].comparisons)
        wrong = p_value < level
        return Line(
            f"after {n:,} draws. By eye: the largest deviation of a {discrete} is "
            f"{words.percent(off)} of its bar's height. The test: {figures.p_is(p_value)}, "
            f"{'✕ wrong' if wrong else 'no error found'} at level {figures.digits(level, 2)}.",
            tone="bad" if wrong else "",
            lead=EVERY_SAMPLER[sampler].title,
        )


class _Pair:
    """The histograms of one quantity from both samplers, with the same axes."""

    def __init__(self, found: ContestResult, name: str, draws: int) -> None:
        self.found, self.name, self.draws = found, name, draws

    @cached_property
    def charts(self) -> dict[str, Chart]:
        charts = {sampler: self._histogram(sampler) for sampler in self.found.samplers}
        for chart in charts.values():
            chart.figure.update_yaxes(range=[0, HEADROOM * self._highest])
            chart.figure.update_layout(transition=MORPH, showlegend=False)
        return charts

    @property
    def _highest(self) -> float:
        """The highest point of the truth."""
        truth = self._truth
        low, high = truth.support
        at = np.arange(round(low), round(high) + 1) if truth.discrete else np.linspace(low, high, 201)
        return float(np.max(truth.density(at)))

    @property
    def _truth(self) -> Truth:
        return next(iter(self.found.runs.values())).target.truth.scalars[self.name]

    def of(self, sampler: str) -> Callable[[], Chart]:
        return lambda: self.charts[sampler]._replace(caption="")

    def _histogram(self, sampler: str) -> Chart:
        run, truth = self.found.runs[sampler], self._truth
        draw = figures.mass if truth.discrete else figures.density
        x = run.get(self.name)[:, : self.draws]
        return draw([(EVERY_SAMPLER[sampler].title, sampler, x)], truth, self.name)


def draws_shown(found: ContestResult, settings: CheckSettings) -> int:
    """The chosen number of draws. By default the number from which on the test tells; else the largest tested one."""
    if settings.draws != WHERE_IT_TELLS:
        return settings.draws
    rounds, tested = found.rounds[found.samplers[1]], found.tested_after
    telling = list(takewhile(lambda n: corrected(rounds[n].comparisons) < settings.level, reversed(tested)))
    return telling[-1] if telling else next(reversed(tested), CONTEST_DRAWS[0])


def path(found: ContestResult, level: float, now: int) -> Chart:
    """The chart of both samplers' p-values so far."""
    draws = found.tested_after
    paths = [
        (EVERY_SAMPLER[sampler].title, sampler, draws, [corrected(rounds[n].comparisons) for n in draws])
        for sampler, rounds in found.rounds.items()
    ]
    return figures.p_value_path(paths, level, now)


def by_eye(x: np.ndarray, truth: Truth) -> float:
    """The largest relative deviation of a bar from its true height, among bars that are not low."""
    values = np.arange(int(truth.support[0]), int(truth.support[1]) + 1)
    true = np.asarray(truth.density(values), float)
    seen = true >= SEEN * true.max()
    share = np.array([(x == k).mean() for k in values])
    return float((np.abs(share - true) / true)[seen].max())
