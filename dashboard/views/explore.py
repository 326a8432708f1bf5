"""The view of Explore: the state of the run, tiles, warnings and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from dashboard import figures
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.uploads import Upload
from dashboard.views import beads, origin, present, words
from dashboard.views.beside import Beside, columns
from dashboard.views.run_charts import RunCharts
from dashboard.views.tiles import awaited, of_run
from dashboard.views.view import (
    AT_A_PACE,
    HEIGHT,
    SECONDS,
    SOON,
    ChartRequest,
    Line,
    Remark,
    View,
    lines,
    remarks,
    status,
)  # fmt: skip
from dashboard.views.warnings import antithetic, warnings
from dashboard.work import files
from dashboard.work.estimates import Estimates
from dashboard.work.exploring import EXPLORE
from dashboard.work.files import File
from dashboard.work.job import Snapshot, Status
from dashboard.work.runs import RunResult
from dashboard.work.tab import TabSnapshot
from mahmc import InvalidInput, RunSpec, diagnostics
from mahmc.run import memory_needed, scalar_names
from mahmc.targets import Target

LIVE_CHARTS = ("trace", "density")
FULL_CHARTS = ("mass", "mean", "rates")
OF_QUANTITY = ("trace", "density", "mean", "autocorrelation", "ranks")  # charts of the chosen quantity
AT_REST = {"autocorrelation": "Autocorrelation", "ranks": "Ranks", "scatter": "Joint scatter", "energy": "Energy"}


@dataclass(frozen=True)
class ViewState:
    """The run that is shown under these settings."""

    settings: ExploreSettings
    now: TabSnapshot

    @cached_property
    def specs(self) -> Mapping[int, RunSpec]:
        """The runs of the present settings by number; none if the settings are not allowed."""
        try:
            return self.settings.specs(self.now.uploads)
        except InvalidInput:
            return {}

    @property
    def spec(self) -> RunSpec | None:
        """The main run of the present settings; None if they are not allowed."""
        return self.specs.get(1)

    @cached_property
    def job(self) -> Snapshot[RunResult] | None:
        """The job that is shown: the earlier job until the present one has draws."""
        return self.now.shown("explore")[0]

    @property
    def present(self) -> Snapshot[RunResult] | None:
        return self.now.jobs.get("explore")

    @property
    def earlier(self) -> bool:
        return self.now.shown("explore")[1]

    @property
    def repeated(self) -> bool:
        """Whether the present run gives the draws of the run before: all its settings are the same, also the seed."""
        job, before = self.present, self.now.earlier.get("explore")
        if job is None or before is None or job.number == before.number:
            return False
        return bool(job.result.spec == before.result.spec == self.spec)

    @property
    def stale(self) -> bool:
        """Whether the results belong to earlier settings."""
        shown = {number: self.now.shown(place) for number, place in EXPLORE.items()}
        return any(job is not None and (before or job.result.spec != self.specs.get(number))
                   for number, (job, before) in shown.items())  # fmt: skip

    @cached_property
    def beside(self) -> Beside | None:
        """The side-by-side view, if there is more than the main run to show."""
        if self.target is None or not (self.settings.slots or self.now.pins):
            return None
        found = columns(self.settings, self.now, self.specs)
        whole = not self.stale and all(column.job is not None for column in found)
        return Beside(found, self.target, self.name, self.full, whole) if len(found) > 1 else None

    @cached_property
    def target(self) -> Target | None:
        """The target of the run that is shown, or of the settings if there is no run; None if it is not allowed."""
        if self.job is not None:
            return self.job.result.target
        try:
            return self.settings.choices.built(self.now.uploads)
        except InvalidInput:
            return None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The quantities that can be shown."""
        if self.target is None:
            return ()
        spec = self.job.result.spec if self.job else RunSpec.of(self.target, self.settings.choices.sampler)
        return tuple(name for name in scalar_names(spec, self.target) if name != "slice")

    @property
    def name(self) -> str:
        """The quantity that tiles and charts show."""
        chosen = self.settings.quantity
        return chosen if chosen in self.names or self.target is None else self.target.presentation.main_quantity

    @property
    def origin(self) -> str:
        """The settings of the run that is shown, or of the next run, in words."""
        spec = self.job.result.spec if self.job else self.spec
        return origin.of_run(spec, self.target) if spec is not None and self.target is not None else ""

    @property
    def full(self) -> bool:
        return self.settings.view == "full" and not self.settings.present

    @property
    def result(self) -> RunResult | None:
        return self.job.result if self.job is not None and self.job.result.run is not None else None

    @property
    def estimates(self) -> Estimates | None:
        return self.result.estimates.get(self.name) if self.result is not None and not self.earlier else None

    @property
    def main_title(self) -> str:
        """What the main run is called, if other runs are beside it."""
        return self.beside.columns[0].title if self.beside is not None else ""

    @property
    def at_rest(self) -> bool:
        """Whether the run has stopped, with enough draws for diagnostics."""
        job = self.present
        return job is not None and not job.alive and job.result.drawn >= diagnostics.FEWEST_DRAWS

    def labels(self) -> dict[str, str]:
        """The titles of quantities. A coefficient of uploaded data is followed by its column."""
        upload: Upload | None = None
        if self.job is not None:
            upload = self.now.uploads.get(self.job.result.spec.data)
        columns = {name: upload.named(name) for name in self.names} if upload else {}
        return {name: figures.plain(name) + (f" ({columns[name]})" if columns.get(name) else "") for name in self.names}

    # ------------------------------------------------------------------------------------------- the view

    def view(self) -> View:
        """What the page shows at this moment."""
        job, jobs = self.present, [self.now.jobs[place] for place in EXPLORE.values() if place in self.now.jobs]
        alive = any(job.alive for job in jobs)
        estimating = any(job.result.estimating for job in (*jobs, *(pin for _, pin in self.now.pins)))
        begun = job is not None and job.result.done > 0
        paced = any(job.alive and job.result.paced for job in jobs)
        paused = job is not None and job.result.paused
        state = tuple(
            (job.number, job.alive, "" if job.alive else job.status, job.alive and job.result.paused) for job in jobs
        )
        shown = tuple(column.mark for column in self.beside.columns) if self.beside else ()
        parts = {
            "status": self._status(),
            "remarks": self._remarks(),
        }
        parts |= self.beside.parts() if self.beside else {}
        parts |= present.parts(self.settings, job, self.spec) if self.settings.present else self._around_charts()
        return View(
            parts=parts,
            charts=list(self._charts()),
            layout=(state, self.repeated, self.names, self.at_rest and not estimating, len(self.now.pins), shown),
            busy=alive or estimating,
            live=alive and not paced,  # at a pace, all charts show each draw
            faded=self.stale,
            seconds=SOON if (alive and not begun) or paused else AT_A_PACE if paced else SECONDS,
        )

    def _around_charts(self) -> dict[str, Any]:
        """What Present mode leaves out. There each chart names its settings."""
        return {
            "origin": lines([Line(self.origin, tone="note")] if self.origin else []),
            "files": self._files(),
        }

    def _status(self) -> dict[str, Any]:
        if self.beside is not None:  # each run has a status of its own
            return status(self.beside.about())
        job = self.present
        progress = job.result.progress if job else None
        bar = None if job is None or job.status is Status.FAILED else progress.share if progress else 0.0
        tiles = awaited(self.spec, self.full) if self.spec is not None else []
        if self.result is not None:
            tiles = of_run(self.result, self.estimates, self.name, self.full)
        return status(words.run_status(job), bar, tiles)

    def _remarks(self) -> list[dict[str, Any]]:
        runs = [self.now.jobs[place] for place in EXPLORE.values() if place in self.now.jobs]
        found = [Remark(job.problem, "error") for job in runs if job.problem]
        if self.stale and not self.earlier:
            found.append(Remark(words.EARLIER, "info"))
        if self.result is not None and self.job is not None and not self.stale and self.beside is None:
            said = warnings(self.result, self.estimates, figures.plain(self.name), self.job.alive)
            found += [Remark(text) for text in said]
            more = antithetic(self.result, self.estimates, figures.plain(self.name))
            found += [Remark(text, "info") for text in more]
        return remarks(found[: present.MOST_REMARKS] if self.settings.present else found)

    def _files(self) -> list[dict[str, str]]:
        runs = {"": self.job} if self.beside is None else {c.title: c.job for c in self.beside.columns}
        return [
            {"label": f"{title}: {f.label}" if title else f.label, "name": f.name, "help": f.help,
             "href": f"{self.now.address}/explore/files/{job.number}/{f.name}"}
            for title, job in runs.items() if job is not None and not job.alive for f in files.of_run(job.result)
        ]  # fmt: skip

    # ------------------------------------------------------------------------------------------- charts

    def _charts(self) -> Iterator[ChartRequest]:
        target = self.target
        if target is None:
            return
        name, alive = self.name, self.job is not None and self.job.alive
        number = self.job.number if self.job else self.spec
        about = (number, name, alive)
        size = self.result.done if self.result else 0
        if self.beside is not None:
            yield from self.beside.charts()
        drawn = self._drawn(target)
        for place, title, make in drawn.live(self.names) if self.full else drawn.first():
            is_trace = place == "trace"
            seen = (*about, self.settings.window, self.settings.lines) if is_trace else about
            closer = drawn.closer_trace if is_trace else None
            if self.beside is None or place not in LIVE_CHARTS:
                titled = f"{title}: {self.main_title}" if self.main_title else title
                yield ChartRequest(place, seen, size, make, titled, HEIGHT, self.origin, closer, stem=self._stem(place))
        if self.full and self.at_rest:
            for place, make in drawn.at_rest().items():
                yield ChartRequest(place, (number, name), size, make, origin=self.origin, stem=self._stem(place))
        if self.full:
            yield from beads.requests(self.settings.choices, self.settings.seed)

    def _stem(self, place: str) -> str:
        """The beginning of the names of a chart's files."""
        spec = self.job.result.spec if self.job else self.spec
        if spec is None:  # the settings are not allowed, so charts are empty
            return f"{self.settings.choices.target}-{self.settings.choices.sampler}"
        return files.stem(spec, self.name if place in OF_QUANTITY else "")

    def _drawn(self, target: Target) -> RunCharts:
        sampler = self.job.result.spec.sampler if self.job else self.settings.choices.sampler
        alive = self.job is not None and self.job.alive
        return RunCharts(self.result, target, self.settings, self.name, sampler, alive)

    # -------------------------------------------------------------------------------------------- table

    def summary(self) -> pd.DataFrame:
        """All quantities: mean, sd, MCSE, ESS, R-hat, truth and z-score."""
        rows, result = {}, self.result
        assert result is not None
        for name in result.names:
            e, truth = result.estimates.get(name), result.target.truth.of(name)
            if e is None:
                continue
            error = math.hypot(e.mcse, truth.mean_se) if truth else math.nan
            z = (e.mean - truth.mean) / error if truth and error > 0 and math.isfinite(truth.mean) else math.nan
            rows[name] = {
                "mean": e.mean, "sd": e.sd, "MCSE": e.mcse, "ESS bulk": e.ess_bulk, "ESS tail": e.ess_tail,
                "R-hat": e.rhat, "truth": truth.mean if truth else math.nan, "z-score": z,
            }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index").rename(index=self.labels())

    def memory(self) -> str:
        """How much memory the draws take."""
        assert self.result is not None
        return f"{memory_needed(self.result.spec, self.result.target) / 2**20:.1f} MiB"


def file(now: TabSnapshot, mark: str, name: str) -> File | None:
    """The file of this name of the job whose number is `mark`."""
    places = [found.get(place) for found in (now.jobs, now.earlier) for place in EXPLORE.values()]
    known = [*places, *(pin for _, pin in now.pins)]
    for job in known:
        if job is not None and str(job.number) == mark:
            return next((f for f in files.of_run(job.result) if f.name == name), None)
    return None
