"""Pictures of what checks found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from dashboard import figures
from dashboard.figures import Chart
from dashboard.settings.checks import AGREEMENT, sampler_title
from dashboard.views.side_by_side import distances
from dashboard.work.checks import Identity
from mahmc.checks import Cell, Checking, Finding, joint, margins
from mahmc.checks.subjects import CHAINS_WITHOUT_EXACT
from mahmc.checks.verdicts import factors
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import elements


def pictures(cell: Cell, kind: str, finding: Finding | None) -> Iterator[tuple[str, str, Callable[[], Chart]]]:
    """Place, title and maker of the picture of a check other than marginals, where it has one."""
    found = finding.exhibit if finding is not None else None
    if kind == AGREEMENT and found is not None:
        yield AGREEMENT, "Posterior means against the reference", lambda: _means(cell, found)
    elif isinstance(found, joint.Ranks):
        make = lambda: figures.rank_histogram(found.ranks, found.ranked, found.bins, cell.sampler)  # noqa: E731
        yield "ranks", "Ranks of true parameters", make
    elif found is not None:
        title = "Flows each way between discrete states"
        yield "flows", title, lambda: figures.flows(found.states, found.counts, cell.sampler)


class Checked(NamedTuple):
    """Cells with results; two are equal if all that decides their results is."""

    marks: tuple[Identity, ...]
    cells: tuple[Cell, ...]
    strictness: dict[str, Any]

    def __hash__(self) -> int:
        return hash(self.marks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checked) and self.marks == other.marks


@lru_cache(maxsize=16)
def agreement(found: Checked) -> Finding | None:
    return Checking(found.cells, **found.strictness).agreement()


def _means(cell: Cell, found: Any) -> Chart:
    coefficients = next(elements(quantity) for quantity in cell.target.quantities if quantity.vector)
    known = [k for k, name in enumerate(found.names) if name in coefficients and name in cell.target.truths]
    truths = [cell.target.truths[found.names[k]] for k in known]
    rows = {
        EVERY_SAMPLER[name].title: (name, *distances(found.means[name][known], found.errors[name][known], truths))
        for name in found.means
    }
    return figures.means_against_reference(rows, CHAINS_WITHOUT_EXACT)


def quantities(cell: Cell) -> list[str]:
    """What was kept of marginals and has a known truth."""
    return [name for name in cell.findings["marginals"].exhibit.names if cell.target.truth(name)]


def foremost(cell: Cell) -> str:
    """The quantity to look at first: the main one, or any; "" if the distribution of none is known."""
    names = quantities(cell)
    return next((name for name in (cell.target.paper_quantity, "tau", *names) if name in names), "")


def histogram(cell: Cell, name: str) -> Chart:
    """A quantity's draws against its truth, with the error band."""
    run, truth = cell.findings["marginals"].exhibit, cell.target.truths[name]
    draw = figures.mass if truth.discrete else figures.density
    return draw([(sampler_title(cell.sampler), cell.sampler, run.get(name))], truth, name)


def has_ecdf(cell: Cell, name: str) -> bool:
    truth = cell.target.truths[name]
    return truth.cdf is not None and not truth.discrete


def ecdf(cell: Cell, name: str) -> Chart:
    """The distribution function of thinned draws, minus the true one."""
    x = np.asarray(cell.findings["marginals"].exhibit.get(name), float)
    return figures.ecdf_difference(margins.thinned(x), cell.target.truths[name], name, cell.sampler)


def z_scores(cell: Cell) -> Chart:
    """All differences that have an error, and beyond which of them the first round calls a sampler wrong."""
    finding = cell.findings["marginals"]
    freedom = len(finding.exhibit.get(finding.exhibit.names[0])) - 1
    most = max(factors(finding.comparisons).values(), default=1)
    critical = float(stats.t.isf(finding.level / margins.ROUNDS / most / 2.0, freedom))
    return figures.z_bars([(c.what, c.z) for c in finding.comparisons], critical, cell.sampler)
