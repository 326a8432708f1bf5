"""The view of the overview: a moving picture of two chains, made from draws of the engine by benchmarks/moving.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dashboard import figures
from dashboard.views.view import View
from dashboard.work.tab import TabSnapshot
from mahmc.samplers import EVERY_SAMPLER

FILE = Path(__file__).with_name("moving.json")
QUESTION = "Four hills, and the same number of leapfrogs for both: why does MAHMC travel, and HMC stay?"
ANSWER = (
    "HMC draws the component of the mixture only between its trajectories, where the chain is deep inside a hill. "
    "MAHMC draws it after every leapfrog, also on the slopes, and one exact test at the end keeps it right."
)


@dataclass(frozen=True)
class ViewState:
    """The overview has no background work: its view never changes."""

    settings: Any
    now: TabSnapshot

    def view(self) -> View:
        return View(parts={"moving": moving()})


@cache
def moving() -> dict[str, Any]:
    """The moving picture: the true density, and the draws of each chain with its jumps between hills."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        "x": found["x"],
        "density": found["density"],
        "runs": [_run(run) for run in found["runs"]],
        "alt": _alt(found),
    }


def _run(run: dict[str, Any]) -> dict[str, Any]:
    sampler = run["spec"]["sampler"]
    title, colour = EVERY_SAMPLER[sampler].title, figures.SAMPLER_COLOURS[sampler]
    return {"title": title, "colour": colour, **{name: run[name] for name in ("leapfrogs", "q", "jumps")}}


def _alt(found: dict[str, Any]) -> str:
    said = []
    for run in found["runs"]:
        cost = f"{len(run['q']) * run['leapfrogs']:,.0f}"
        said.append(f"{_run(run)['title']} jumps {_times(len(run['jumps']))} in {cost} leapfrogs")
    return f"A chain of each sampler on a density with four hills: {'; '.join(said)}."


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
