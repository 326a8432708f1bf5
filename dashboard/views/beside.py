"""Several runs side by side: the main run, the runs beside it, and pinned runs on the same target, on the same axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dashboard import figures
from dashboard.figures import Chart, look
from dashboard.settings.choices import in_symbols
from dashboard.settings.explore import ExploreSettings
from dashboard.views import origin, words
from dashboard.views.tiles import of_run
from dashboard.views.view import ChartRequest, Line, Remark, lines, remarks, status
from dashboard.views.warnings import warnings
from dashboard.work import files
from dashboard.work.estimates import Estimates
from dashboard.work.exploring import EXPLORE
from dashboard.work.job import Snapshot
from dashboard.work.runs import RunResult
from dashboard.work.tab import TabSnapshot
from mahmc import RunSpec
from mahmc.compare import Interval
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Target, Truth

HEIGHT = 260  # pixels of a chart
CHAINS = 4  # in a trace
LONG, SHORT = 100, 300  # draws of the longest and of the shortest trajectories that a trace has, at least
MOST_DRAWS = 1_900  # in a trace: all of them are drawn
ROWS = {"trace": "Traces of four chains, over the same leapfrogs", "density": "Distributions"}
TRUTH = {"density": " The dashed line is the truth.", "mass": " The grey marks are the truth."}
PINNED = "Pinned runs keep their own seed and their own number of leapfrogs."
NOT_YET = "The ratio of the ESS per leapfrog appears here when all runs have ended."


@dataclass(frozen=True)
class Column:
    """A run of the view. `mark` ends the names of its places: "1" is the main run, "pin7" the pinned run of job 7."""

    mark: str
    title: str
    spec: RunSpec
    job: Snapshot[RunResult] | None  # None before the first run
    result: RunResult | None  # None if there are no draws of this target yet

    @property
    def drawn(self) -> int:
        return self.result.drawn if self.result is not None else 0

    @property
    def leapfrogs(self) -> float:
        """Leapfrogs of each chain after the warm-up."""
        return self.drawn * self.spec.leapfrogs_per_draw

    @property
    def at_rest(self) -> bool:
        return self.job is not None and not self.job.alive and self.drawn > 0

    def draws(self, name: str) -> np.ndarray:
        return self.result.get(name) if self.result is not None else np.empty((0, 0))

    def estimates(self, name: str) -> Estimates | None:
        return self.result.estimates.get(name) if self.result is not None else None

    def per_leapfrog(self, name: str) -> Interval | None:
        """The ESS per leapfrog, with its interval once the run is at rest; None if there is no estimate yet."""
        found = self.estimates(name)
        if found is None:
            return None
        cost = found.draws * self.spec.chains * self.spec.leapfrogs_per_draw
        low, high = found.interval if found.interval and self.at_rest else (math.nan, math.nan)
        return Interval(found.ess_bulk / cost, low / cost, high / cost)


def columns(settings: ExploreSettings, now: TabSnapshot, specs: Mapping[int, RunSpec]) -> list[Column]:
    """The runs to show: those of the settings, and pinned runs on the same target. Only the main run stands alone."""
    found: list[Column] = []
    main = now.shown(EXPLORE[1])[0]
    base = main.result.spec if main is not None else specs.get(1)
    if base is None:
        return []
    for number in (1, *settings.slots):
        job = now.shown(EXPLORE[number])[0]
        spec = job.result.spec if job is not None else specs.get(number)
        if spec is not None:
            found.append(_column(str(number), "", spec, job, base))
    for title, pin in now.pins:
        shown = main is not None and pin.result.run is not None and pin.result.run is main.result.run
        if not shown and _target(pin.result.spec) == _target(base):
            found.append(_column(f"pin{pin.number}", title, pin.result.spec, pin, base))
    return _titled(found)


def _column(mark: str, title: str, spec: RunSpec, job: Snapshot[RunResult] | None, base: RunSpec) -> Column:
    ready = job is not None and job.result.run is not None and _target(job.result.spec) == _target(base)
    return Column(mark, title, spec, job, job.result if ready and job is not None else None)


def _target(spec: RunSpec) -> tuple[object, ...]:
    return spec.target, spec.settings, spec.data


def _titled(found: Sequence[Column]) -> list[Column]:
    """Runs that are not pinned are called by their samplers; by number too, if two have the same sampler."""
    samplers = [column.spec.sampler for column in found if not column.title]
    named = []
    for column in found:
        title = EVERY_SAMPLER[column.spec.sampler].title
        title += f" (run {column.mark})" if samplers.count(column.spec.sampler) > 1 else ""
        named.append(Column(column.mark, column.title or title, column.spec, column.job, column.result))
    return named


@dataclass(frozen=True)
class Beside:
    """The side-by-side view of these runs, for the quantity `name` of the target."""

    columns: Sequence[Column]
    target: Target
    name: str
    full: bool  # whether all tiles are shown
    present: bool  # whether the results belong to the present settings

    @property
    def truth(self) -> Truth | None:
        return self.target.truth.of(self.name)

    @property
    def busy(self) -> bool:
        """Whether a run is alive, or its estimates are being computed."""
        jobs = [column.job for column in self.columns if column.job is not None]
        return any(job.alive or job.result.estimating for job in jobs)

    # --------------------------------------------------------------------------------------------------- words

    def about(self) -> str:
        """What the runs have in common."""
        main = self.columns[0].spec
        cost = f"{main.draws * main.leapfrogs_per_draw:,.0f} leapfrogs of each chain after the warm-up"
        several = sum(not column.mark.startswith("pin") for column in self.columns) > 1
        text = f"Side by side: the same target, the same seed, and equal cost: {cost}." if several else ""
        pinned = any(column.mark.startswith("pin") for column in self.columns)
        return f"{text} {PINNED if pinned else ''}".strip()

    def parts(self) -> dict[str, Any]:
        """A heading, progress and tiles for each run, and the ratio of the ESS per leapfrog in words."""
        found: dict[str, Any] = {"ratio": lines([Line(self.ratio(), strong=True)])}
        for column in self.columns:
            found[f"head.{column.mark}"] = lines(self._heading(column))
            found[f"run.{column.mark}"] = self._status(column)
            found[f"remarks.{column.mark}"] = remarks([Remark(text) for text in self._warnings(column)])
        return found

    def _warnings(self, column: Column) -> list[str]:
        if column.result is None or column.job is None or not self.present:
            return []
        name = figures.plain(self.name)
        return warnings(column.result, column.estimates(self.name), name, column.job.alive)

    def _heading(self, column: Column) -> list[Line]:
        spec, each = column.spec, column.spec.leapfrogs_per_draw
        cost = f"{spec.draws:,} draws × {each:,.4g} leapfrogs = {spec.draws * each:,.0f} leapfrogs of each chain"
        return [
            Line(in_symbols(spec), lead=column.title, swatch=figures.SAMPLER_COLOURS[spec.sampler]),
            Line(cost, tone="note"),
        ]

    def _status(self, column: Column) -> dict[str, Any]:
        job = column.job
        progress = job.result.progress if job is not None else None
        share = progress.share if progress is not None and job is not None and job.alive else None
        text = words.run_status(job) if job is not None else "Not run yet: press Run."
        result = column.result
        tiles = of_run(result, column.estimates(self.name), self.name, self.full) if result is not None else []
        return status(text, share, tiles)

    def ratio(self) -> str:
        """How many times the ESS per leapfrog of the others the best run gets, with intervals."""
        if not self.present or not all(column.at_rest for column in self.columns):
            return NOT_YET
        fair = [column for column in self.columns if not EVERY_SAMPLER[column.spec.sampler].wrong]
        wrong = [column.title for column in self.columns if column not in fair]
        said = [f"{title} is wrong on purpose: how many draws are effective does not count." for title in wrong]
        found = {column.title: column.per_leapfrog(self.name) for column in fair}
        if any(per is None for per in found.values()):
            return NOT_YET
        known = {title: per for title, per in found.items() if per is not None and per.defined}
        said += [f"{title} has no ESS: its chains never moved." for title in found.keys() - known.keys()]
        if len(known) > 1:
            (best, most), *others = sorted(known.items(), key=lambda item: -item[1].value)
            ratios = [(title, times(most, per)) for title, per in others]
            said.insert(0, _sentence(best, figures.plain(self.name), ratios))
        return " ".join(said) or NOT_YET

    # -------------------------------------------------------------------------------------------------- charts

    def charts(self) -> Iterator[ChartRequest]:
        """A trace and a distribution for each run. The charts of a row are made together, with the same ranges."""
        marks = tuple((column.mark, column.job.number if column.job else column.spec) for column in self.columns)
        makers = {"trace": lambda: self._traces, "density": lambda: self._distributions}
        for row, made in makers.items():
            for column in self.columns:
                yield ChartRequest(
                    f"{row}.{column.mark}", (marks, self.name), column.result.done if column.result else 0,
                    _maker(made, column.mark), column.title, HEIGHT, row=row,
                    origin=origin.of_run(column.spec, self.target), stem=files.stem(column.spec, self.name),
                )  # fmt: skip

    def captions(self) -> dict[str, str]:
        """What to look for in each row of charts."""
        known = self.truth is not None
        kind = "mass" if self.truth is not None and self.truth.discrete else "density"
        looks = {"trace": figures.caption("trace"), "density": figures.caption(kind, known)}
        looks["density"] += TRUTH[kind] if known else ""
        return {row: f"{title}. {looks[row]}" for row, title in ROWS.items()}

    @cached_property
    def _window(self) -> tuple[float, float]:
        """The last leapfrogs that all runs have made, as many as show single draws of every run."""
        running = [column for column in self.columns if column.drawn]
        each = [column.spec.leapfrogs_per_draw for column in running]
        end = min(column.leapfrogs for column in running)
        return max(0.0, end - min(max(LONG * max(each), SHORT * min(each)), MOST_DRAWS * min(each))), end

    @cached_property
    def _traces(self) -> dict[str, Chart]:
        return self._of_all([self._trace(column) for column in self.columns])

    def _trace(self, column: Column) -> Chart:
        x, sampler = column.draws(self.name), column.spec.sampler
        if not column.drawn:
            return figures.trace(np.empty((0, 0)), self.name, sampler)
        each, (low, high) = column.spec.leapfrogs_per_draw, self._window
        before, end = int(low / each), math.ceil(high / each)
        chart = figures.trace(x[:CHAINS, before:end], self.name, sampler)
        return figures.over_leapfrogs(chart, each, before, (low, high))

    @cached_property
    def _distributions(self) -> dict[str, Chart]:
        truth = look.truth_label(self.truth) if self.truth is not None else ""
        return self._of_all([self._distribution(column) for column in self.columns], truth=truth, from_zero=True)

    def _distribution(self, column: Column) -> Chart:
        x, truth = column.draws(self.name), self.truth
        discrete = truth.discrete if truth else np.issubdtype(x.dtype, np.integer)
        return (figures.mass if discrete else figures.density)(
            [(column.title, column.spec.sampler, x)], truth, self.name
        )

    def _of_all(self, charts: list[Chart], **options: Any) -> dict[str, Chart]:
        """The charts on the same axes, by mark. The page has their caption, once for a row."""
        charts = figures.on_same_axes(charts, **options)
        return {
            column.mark: chart._replace(caption="") for column, chart in zip(self.columns, charts, strict=True)
        }  # fmt: skip


def _maker(charts: Callable[[], Mapping[str, Chart]], mark: str) -> Callable[[], Chart]:
    return lambda: charts()[mark]


def times(one: Interval, other: Interval) -> Interval:
    """The ratio of two estimates from independent runs. On a log scale their half-widths add in squares."""
    ratio = one.value / other.value
    halves = [0.5 * math.log(found.high / found.low) for found in (one, other)]
    reach = math.exp(math.hypot(*halves))
    return Interval(ratio, ratio / reach, ratio * reach)


def _sentence(best: str, quantity: str, ratios: Sequence[tuple[str, Interval]]) -> str:
    said = []
    for title, ratio in ratios:
        known = not math.isnan(ratio.low)
        text = f"{ratio if known else f'{ratio.value:.3g} (interval unknown)'} times that of {title}"
        alike = known and ratio.low <= 1.0
        said.append(text + (" (the interval includes 1, so the data do not show a difference)" if alike else ""))
    return f"The ESS of {quantity} per leapfrog of {best} is {' and '.join(said)}."
