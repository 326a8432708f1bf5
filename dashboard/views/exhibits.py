"""Charts and tables of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from dashboard import figures
from dashboard.figures import Chart
from dashboard.settings.checks import AGREEMENT, sampler_title
from dashboard.views.side_by_side import distances
from dashboard.work.checks import Identity
from mahmc.checks import Cell, Checking, Finding, flows, joint, margins, scalars
from mahmc.checks.subjects import CHAINS_WITHOUT_EXACT
from mahmc.checks.verdicts import factors
from mahmc.samplers import EVERY_SAMPLER


def pictures(cell: Cell, kind: str, finding: Finding | None) -> Iterator[tuple[str, str, Callable[[], Chart]]]:
    """Place, title and maker of the chart of a check other than marginals, if there is such a chart."""
    found = finding.exhibit if finding is not None else None
    if kind == AGREEMENT and found is not None:
        if known := _coefficients(cell, found):
            yield AGREEMENT, "Posterior means against the reference", lambda: _means(cell, found, known)
    elif isinstance(found, joint.Ranks):
        make = lambda: figures.rank_histogram(found.ranks, found.ranked, found.bins, cell.sampler)  # noqa: E731
        yield "ranks", "Ranks of true parameters", make
    elif isinstance(found, flows.Flows):
        title = "Flows each way between discrete states"
        yield "flows", title, lambda: figures.flows(found.states, found.counts, cell.sampler)


class Checked(NamedTuple):
    """Cells with results. Two are equal if everything that determines their results is equal."""

    identities: tuple[Identity, ...]
    cells: tuple[Cell, ...]
    strictness: dict[str, Any]

    def __hash__(self) -> int:
        return hash(self.identities)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checked) and self.identities == other.identities


@lru_cache(maxsize=16)
def agreement(found: Checked) -> Finding | None:
    """The finding on whether the correct samplers among these cells agree."""
    return Checking(found.cells, **found.strictness).agreement()


def _coefficients(cell: Cell, found: Any) -> list[int]:
    """Which of the means are of the target's coefficients, and have a known truth."""
    of, known = cell.target.presentation.coefficients, cell.target.truth.scalars
    return [k for k, name in enumerate(found.names) if name.partition("[")[0] == of and name in known]


def _means(cell: Cell, found: Any, known: list[int]) -> Chart:
    truths = [cell.target.truth.scalars[found.names[k]] for k in known]
    rows = {
        EVERY_SAMPLER[name].title: (name, *distances(found.means[name][known], found.errors[name][known], truths))
        for name in found.means
    }
    return figures.means_against_reference(rows, CHAINS_WITHOUT_EXACT)


def quantities(cell: Cell) -> list[str]:
    """The recorded quantities whose truth is known."""
    return [name for name in cell.findings["marginals"].exhibit.names if cell.target.truth.of(name)]


def foremost(cell: Cell) -> str:
    """The quantity to look at first: the main one, one that is no element, or any; "" if no distribution is known."""
    names = quantities(cell)
    first = (cell.target.presentation.main_quantity, *(name for name in names if "[" not in name), *names)
    return next((name for name in first if name in names), "")


def histogram(cell: Cell, name: str) -> Chart:
    """A histogram of a quantity against its truth, with the error band."""
    run, truth = cell.findings["marginals"].exhibit, cell.target.truth.scalars[name]
    draw = figures.mass if truth.discrete else figures.density
    return draw([(sampler_title(cell.sampler), cell.sampler, run.get(name))], truth, name)


def has_ecdf(cell: Cell, name: str) -> bool:
    """Whether the true distribution function of a quantity is known and continuous."""
    truth = cell.target.truth.scalars[name]
    return truth.cdf is not None and not truth.discrete


def ecdf(cell: Cell, name: str) -> Chart:
    """The distribution function of thinned draws, minus the true one."""
    x = np.asarray(cell.findings["marginals"].exhibit.get(name), float)
    return figures.ecdf_difference(scalars.thinned(x), cell.target.truth.scalars[name], name, cell.sampler)


def z_scores(cell: Cell) -> Chart:
    """All differences with a known error, and the critical value of the first round."""
    finding = cell.findings["marginals"]
    freedom = len(finding.exhibit.get(finding.exhibit.names[0])) - 1
    most = max(factors(finding.comparisons).values(), default=1)
    critical = float(stats.t.isf(finding.level / margins.ROUNDS / most / 2.0, freedom))
    return figures.z_bars([(c.what, c.z) for c in finding.comparisons], critical, cell.sampler)


def comparisons(finding: Finding) -> pd.DataFrame | None:
    """All comparisons of a finding as a table, the smallest corrected p-value first; None if there are none."""
    if not finding.comparisons:
        return None
    frame = pd.DataFrame(finding.comparisons).drop(columns="family")
    frame = frame.rename(columns={"what": "compared", "p_value": "p-value"})
    frame.insert(2, "corrected", finding.corrected)
    if frame["estimate"].notna().any():
        frame["z-score"] = [c.z for c in finding.comparisons]
        return frame
    return frame.drop(columns=["estimate", "truth", "error"])
