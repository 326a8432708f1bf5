"""The draws of all samplers in a comparison, side by side on the same axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from dashboard import figures
from dashboard.figures import Chart
from mahmc import Comparison, Run, tables
from mahmc.targets import Truth

TRACE_LEAPFROGS = 20_000  # of a chain, whose draws a trace shows, at most
TRACE_CHAINS = 4


def first_runs(found: Comparison) -> dict[str, Run]:
    """The first replicate of each sampler that has an interval."""
    return {label: entry.run for label, entry in found.done.items() if entry.run is not None}


def captions(found: Comparison) -> dict[str, str]:
    """What to look for in each row of small charts."""
    known = found.target.truth.of(found.target.presentation.main_quantity) is not None
    return {"histogram": figures.caption("density", known), "trace": figures.caption("trace", known)}


def titles(found: Comparison) -> dict[str, str]:
    """Titles of the rows of small charts."""
    name = figures.plain(found.target.presentation.main_quantity)
    return {"histogram": f"Histograms of {name}, first replicate of each",
            "trace": f"Traces over the same {_seen(found):,} leapfrogs of each of four chains"}  # fmt: skip


def _seen(found: Comparison) -> int:
    """The leapfrogs of a chain that traces show: the same number for every sampler, as all have the same budget."""
    chains = next(iter(found.entries.values())).spec.chains
    return min(TRACE_LEAPFROGS, found.budget // chains)


class SameAxes:
    """Histograms and traces of all samplers on the same axes. All histograms are made at the first request."""

    def __init__(self, found: Comparison) -> None:
        self.found = found
        self.name = found.target.presentation.main_quantity
        self.truth = found.target.truth.of(self.name)
        self.runs = first_runs(found)

    @cached_property
    def _histograms(self) -> dict[str, Chart]:
        charts = {label: figures.density([(label, run.spec.sampler, run.get(self.name))], self.truth, self.name)
                  for label, run in self.runs.items()}  # fmt: skip
        tallest = max(float(np.nanmax(np.asarray(trace.y))) for chart in charts.values() for trace in chart.figure.data)
        for chart in charts.values():
            chart.figure.update_yaxes(range=[0, 1.05 * tallest])
            chart.figure.update_layout(showlegend=False)
        return charts

    def histogram(self, label: str) -> Callable[[], Chart]:
        return lambda: self._histograms[label]._replace(caption="")

    def trace(self, label: str) -> Callable[[], Chart]:
        def make() -> Chart:
            run, leapfrogs = self.runs[label], _seen(self.found)
            seen = max(2, int(leapfrogs / run.spec.leapfrogs_per_draw))
            x = run.get(self.name)[:TRACE_CHAINS, :seen]
            chart = figures.trace(x, self.name, run.spec.sampler)
            chart = figures.over_leapfrogs(chart, run.spec.leapfrogs_per_draw, 0, (0, leapfrogs))
            if self.truth is not None:
                chart.figure.update_yaxes(range=list(self.truth.support))
            return chart._replace(caption="")

        return make


def coefficients(found: Comparison) -> list[str]:
    """The coefficients whose true mean is known."""
    names, of = next(iter(found.done.values())).means[0], found.target.presentation.coefficients
    return [name for name in names if name.partition("[")[0] == of and found.target.truth.of(name)]


def agreement(found: Comparison) -> Chart:
    """Posterior means of the coefficients against the truth."""
    names = coefficients(found)
    truths = [found.target.truth.scalars[name] for name in names]
    rows: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
    for label, entry in found.done.items():
        means = np.array([[replicate[name] for name in names] for replicate in entry.means])
        error = means.std(axis=0, ddof=1) / math.sqrt(len(means))
        rows[tables.titled(label)] = (entry.spec.sampler, *distances(means.mean(axis=0), error, truths))
    chart = figures.means_against_reference(rows, min(entry.replicates for entry in found.done.values()))
    return chart._replace(caption=f"{chart.alt} {chart.caption}")


def distances(means: np.ndarray, errors: np.ndarray, truths: Sequence[Truth]) -> tuple[np.ndarray, np.ndarray]:
    """Differences of means from the truth, and their standard errors, in standard deviations of each quantity."""
    mean, sd, reference_error = np.array([(truth.mean, truth.sd, truth.mean_se) for truth in truths]).T
    return (means - mean) / sd, np.hypot(errors, reference_error) / sd
