"""What only Present mode shows, as plain data: a short title, and what each key does now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.settings.explore import PACES, ExploreSettings
from dashboard.views.view import Line, lines
from dashboard.work.job import Snapshot
from dashboard.work.runs import RunResult
from mahmc import RunSpec

PACE_TITLES: Mapping[str, str] = {"1": "1/s", "10": "10/s", "100": "100/s", "1000": "1,000/s", "max": "Fastest"}


MOST_REMARKS = 1  # the first is the most important, and charts need the room


def parts(settings: ExploreSettings, job: Snapshot[RunResult] | None, spec: RunSpec | None) -> dict[str, Any]:
    """The title and the keys. The title names the run that the status is about."""
    shown = job.result.spec if job is not None else spec
    title = f"{shown.method.label} on {shown.target.upper()}" if shown is not None else "Explore"
    return {"title": lines([Line(title, strong=True)]), "keys": keys(settings, job)}


def keys(settings: ExploreSettings, job: Snapshot[RunResult] | None) -> list[dict[str, Any]]:
    """Each entry: the keys as the browser names them, the key's title, what it does, and the action it sends."""
    running = job is not None and job.alive and not job.result.paused
    going_on = job is not None and not running and (job.alive or job.status == "stopped")
    space = ("pause", "pause") if running else ("go on", "resume") if going_on else ("run", "run")
    return [
        {"keys": [" "], "title": "Space", "text": space[0], "action": space[1]},
        {"keys": ["r", "R"], "title": "R", "text": "run", "action": "run"},
        {"keys": ["s", "S", "ArrowRight"], "title": "S", "text": "step", "action": "step"},
        {"keys": ["n", "N"], "title": "N", "text": "next preset", "action": "next"},
        {"keys": ["-", "ArrowDown"], "title": "\u2212", "text": "slower", "action": "slower"},
        {
            "keys": ["+", "=", "ArrowUp"],
            "title": "+",
            "text": f"faster ({PACE_TITLES[settings.pace]})",
            "action": "faster",
        },
        {"keys": ["Escape"], "title": "Esc", "text": "leave", "action": "leave"},
    ]


def another_pace(pace: str, steps: int) -> str:
    """The pace so many steps faster, or slower if negative."""
    return PACES[min(max(PACES.index(pace) + steps, 0), len(PACES) - 1)]
