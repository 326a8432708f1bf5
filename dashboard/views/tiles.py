"""The figures of a run, in tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dashboard import figures
from dashboard.views import words
from dashboard.views.view import Tile
from dashboard.work.estimates import Estimates
from dashboard.work.runs import RunResult

SIMPLE = ("Acceptance", "ESS, bulk", "ESS / gradient")  # tiles that the simple view has
ROUGH = " While chains run it is scaled up from the last {:,} draws of each; at the end it is of all."


def of_run(result: RunResult, found: Estimates | None, name: str, full: bool) -> list[Tile]:
    """The tiles of a run, with estimates of the quantity `name` as far as there are any."""
    tiles = [*_acceptance(result), *_estimates(found, figures.plain(name)), _per_gradient(result, found, name)]
    return [tile for tile in (*tiles, *_cost(result)) if full or tile.label in SIMPLE]


def _acceptance(result: RunResult) -> Iterator[Tile]:
    rates = result.acceptances
    yield Tile("Acceptance", words.share(rates["trajectory"].rate), "Accepted tests of qᴴ, of the whole trajectory.")
    if rates["inner"].made.sum():
        yield Tile("Inner updates", words.share(rates["inner"].rate), "Accepted updates of qᴼ inside trajectories.")
    if rates["outer"].made.sum():
        yield Tile("Outer updates", words.share(rates["outer"].rate), "Accepted updates of qᴼ after trajectories.")


def _estimates(found: Estimates | None, shown: str) -> Iterator[Tile]:
    bulk, tail, rhat = (found.ess_bulk, found.ess_tail, found.rhat) if found else (None, None, None)
    about, rough = ("≈ ", ROUGH.format(found.used)) if found and found.rough else ("", "")
    text = f"Effective sample size of {shown}, for its mean: ArviZ's bulk ESS."
    yield Tile("ESS, bulk", about + words.count(bulk), text + rough)
    text = f"Effective sample size of {shown}, for its 5 % and 95 % quantiles."
    yield Tile("ESS, tail", about + words.count(tail), text + rough)
    agreement = "–" if rhat is None else "undefined" if math.isnan(rhat) else f"{rhat:.4f}"
    yield Tile("R-hat", agreement, f"Agreement of the chains on {shown}; below 1.01 is good.")


def _per_gradient(result: RunResult, found: Estimates | None, name: str) -> Tile:
    """The paper's figure; beside it what the paper has, where it has one."""
    spec = result.spec
    paper = spec.method.paper_ess.get(spec.target) if name == result.target.paper_quantity else None
    text = "Relative bulk ESS divided by the leapfrogs of one draw: the figure of the paper's Table 1."
    if paper:
        at_best = spec.values == spec.method.defaults(spec.target)
        text += f" The paper's is at its best settings, which these {'are' if at_best else 'are not'}."
    value = "–"
    if found is not None:
        figure = found.ess_bulk / (found.draws * spec.chains * spec.leapfrogs_per_draw)
        value = "undefined" if math.isnan(figure) else f"{figure:.3g}"
    return Tile("ESS / gradient", value, text, f"paper {paper:.3g}" if paper else "")


def _cost(result: RunResult) -> Iterator[Tile]:
    assert result.progress is not None
    yield Tile("Gradients", words.large(result.gradients), "Gradients evaluated so far, the warm-up's included.")
    speed = words.large(result.progress.leapfrogs_per_second)
    yield Tile("Leapfrogs/s", speed, "Leapfrogs a second, of all chains together.")
    yield Tile("Non-finite", f"{result.non_finite:,}", "Proposals rejected for an energy that is not finite.")
