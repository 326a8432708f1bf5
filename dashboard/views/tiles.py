"""The main numbers of a run, as tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dashboard import figures
from dashboard.views import words
from dashboard.views.view import Tile
from dashboard.work.estimates import Estimates
from dashboard.work.runs import RunResult
from mahmc import RunSpec
from mahmc.glossary import TERMS
from mahmc.spec import NONE

SIMPLE = ("acceptance", "ess_bulk", "ess_per_leapfrog")  # the tiles of the simple view, by their names in the glossary
ROUGH = " While chains run, this is scaled up from the last {:,} draws of each chain. At the end it uses all draws."


def of_run(result: RunResult, found: Estimates | None, name: str, full: bool) -> list[Tile]:
    """The tiles of a run. `found` are the estimates of the quantity `name`, if there are any yet."""
    tiles = [*_acceptance(result), *_estimates(found, figures.plain(name)), _per_leapfrog(result, found, name)]
    wanted = {TERMS[term].short for term in SIMPLE}
    return [tile for tile in (*tiles, *_cost(result)) if full or tile.label in wanted]


def _tile(term: str, value: str, more: str = "", beside: str = "") -> Tile:
    """A tile with the title and the text of the glossary, and what there is more to say."""
    return Tile(TERMS[term].short, value, f"{TERMS[term].long}{more}", beside)


def awaited(spec: RunSpec, full: bool) -> list[Tile]:
    """The same tiles before there is a run: they have the same room, so that nothing moves when it comes."""
    inside = spec.method.inside and bool(spec.updates)
    terms = ["acceptance", *(["inner"] if inside else []), *(["outer_updates"] if spec.outer != NONE else [])]
    terms += ["ess_bulk", "ess_tail", "rhat", "ess_per_leapfrog", "gradients", "speed", "non_finite"]
    return [_tile(term, "–", " Press Run to see this number.") for term in terms if full or term in SIMPLE]


def _acceptance(result: RunResult) -> Iterator[Tile]:
    rates = result.acceptances
    yield _tile("acceptance", words.share(rates["trajectory"].rate))
    if rates["inner"].made.sum():
        yield _tile("inner", words.share(rates["inner"].rate))
    if rates["outer"].made.sum():
        yield _tile("outer_updates", words.share(rates["outer"].rate))


def _estimates(found: Estimates | None, shown: str) -> Iterator[Tile]:
    bulk, tail, rhat = (found.ess_bulk, found.ess_tail, found.rhat) if found else (None, None, None)
    about, rough = ("≈ ", ROUGH.format(found.used)) if found and found.rough else ("", "")
    of = f" Here of {shown}."
    yield _tile("ess_bulk", about + words.count(bulk), of + rough)
    yield _tile("ess_tail", about + words.count(tail), of + rough)
    agreement = "–" if rhat is None else "undefined" if math.isnan(rhat) else f"{rhat:.4f}"
    yield _tile("rhat", agreement, of)


def _per_leapfrog(result: RunResult, found: Estimates | None, name: str) -> Tile:
    """ESS per leapfrog, and the paper's value if there is one."""
    spec = result.spec
    paper = spec.paper_ess if name == result.target.presentation.main_quantity else None
    text = " The paper's value is for the same target, data and settings." if paper else ""
    value = "–"
    if found is not None:
        figure = found.ess_bulk / (found.draws * spec.chains * spec.leapfrogs_per_draw)
        value = "undefined" if math.isnan(figure) else figures.digits(figure)
    beside = [f"paper {figures.digits(paper)}"] if paper else []
    if found is not None and found.interval and not math.isnan(found.interval[0]):
        low, high = (end / (found.draws * spec.chains * spec.leapfrogs_per_draw) for end in found.interval)
        beside.insert(0, f"{figures.digits(low)} to {figures.digits(high)}")
        text += " The interval of 95 % is by a jackknife over chains."
    return _tile("ess_per_leapfrog", value, text, "; ".join(beside))


def _cost(result: RunResult) -> Iterator[Tile]:
    assert result.progress is not None
    yield _tile("gradients", words.large(result.gradients))
    yield _tile("speed", words.large(result.progress.leapfrogs_per_second))
    yield _tile("non_finite", f"{result.non_finite:,}")
