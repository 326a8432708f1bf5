"""The main numbers of a run, as tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dashboard import figures
from dashboard.views import words
from dashboard.views.view import Tile
from dashboard.work.estimates import Estimates
from dashboard.work.runs import RunResult

SIMPLE = ("Acceptance", "ESS, bulk", "ESS / gradient")  # the tiles of the simple view
ROUGH = " While chains run, this is scaled up from the last {:,} draws of each chain. At the end it uses all draws."


def of_run(result: RunResult, found: Estimates | None, name: str, full: bool) -> list[Tile]:
    """The tiles of a run. `found` are the estimates of the quantity `name`, if there are any yet."""
    tiles = [*_acceptance(result), *_estimates(found, figures.plain(name)), _per_gradient(result, found, name)]
    return [tile for tile in (*tiles, *_cost(result)) if full or tile.label in SIMPLE]


def _acceptance(result: RunResult) -> Iterator[Tile]:
    rates = result.acceptances
    yield Tile("Acceptance", words.share(rates["trajectory"].rate), "Share of accepted trajectories.")
    if rates["inner"].made.sum():
        yield Tile("Inner updates", words.share(rates["inner"].rate), "Share of accepted updates inside trajectories.")
    if rates["outer"].made.sum():
        yield Tile("Outer updates", words.share(rates["outer"].rate), "Share of accepted updates after trajectories.")


def _estimates(found: Estimates | None, shown: str) -> Iterator[Tile]:
    bulk, tail, rhat = (found.ess_bulk, found.ess_tail, found.rhat) if found else (None, None, None)
    about, rough = ("≈ ", ROUGH.format(found.used)) if found and found.rough else ("", "")
    text = f"Effective sample size of {shown} for its mean (ArviZ's bulk ESS)."
    yield Tile("ESS, bulk", about + words.count(bulk), text + rough)
    text = f"Effective sample size of {shown} for its 5 % and 95 % quantiles (ArviZ's tail ESS)."
    yield Tile("ESS, tail", about + words.count(tail), text + rough)
    agreement = "–" if rhat is None else "undefined" if math.isnan(rhat) else f"{rhat:.4f}"
    yield Tile("R-hat", agreement, f"Agreement of the chains on {shown}. Below 1.01 is good.")


def _per_gradient(result: RunResult, found: Estimates | None, name: str) -> Tile:
    """ESS per gradient, and the paper's value if there is one."""
    spec = result.spec
    paper = spec.paper_ess if name == result.target.presentation.main_quantity else None
    text = "Bulk ESS divided by the number of leapfrogs: the measure of the paper's Table 1."
    if paper:
        text += " The paper's value is for the same target, data and settings."
    value = "–"
    if found is not None:
        figure = found.ess_bulk / (found.draws * spec.chains * spec.leapfrogs_per_draw)
        value = "undefined" if math.isnan(figure) else f"{figure:.3g}"
    beside = [f"paper {paper:.3g}"] if paper else []
    if found is not None and found.interval and not math.isnan(found.interval[0]):
        low, high = (end / (found.draws * spec.chains * spec.leapfrogs_per_draw) for end in found.interval)
        beside.insert(0, f"{low:.3g} to {high:.3g}")
        text += " The interval of 95 % is by a jackknife over chains."
    return Tile("ESS / gradient", value, text, "; ".join(beside))


def _cost(result: RunResult) -> Iterator[Tile]:
    assert result.progress is not None
    yield Tile("Gradients", words.large(result.gradients), "Gradients evaluated so far, warm-up included.")
    speed = words.large(result.progress.leapfrogs_per_second)
    yield Tile("Leapfrogs/s", speed, "Leapfrogs per second, all chains together.")
    yield Tile("Non-finite", f"{result.non_finite:,}", "Proposals rejected because their energy is not finite.")
