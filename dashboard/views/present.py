"""The keys of Present mode, as plain data: what each key does now, for the line at the bottom of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.settings.explore import PACES, ExploreSettings
from dashboard.work.job import Snapshot
from dashboard.work.runs import RunResult

PACE_TITLES: Mapping[str, str] = {"1": "1", "10": "10", "100": "100", "1000": "1 000", "max": "Fastest"}


def keys(settings: ExploreSettings, job: Snapshot[RunResult] | None) -> list[dict[str, Any]]:
    """Each entry: the keys as the browser names them, the key's title, what it does, and the action it sends."""
    running = job is not None and job.alive and not job.result.paused
    going_on = job is not None and not running and (job.alive or job.status == "stopped")
    space = ("pause", "pause") if running else ("go on", "resume") if going_on else ("run", "run")
    pace = PACE_TITLES[settings.pace] + (" draws a second" if settings.pace != "max" else "")
    return [
        {"keys": [" "], "title": "Space", "text": space[0], "action": space[1]},
        {"keys": ["r", "R"], "title": "R", "text": "run", "action": "run"},
        {"keys": ["s", "S", "ArrowRight"], "title": "S", "text": "step", "action": "step"},
        {"keys": ["n", "N"], "title": "N", "text": "next preset", "action": "next"},
        {"keys": ["-", "ArrowDown"], "title": "\u2212", "text": "slower", "action": "slower"},
        {"keys": ["+", "=", "ArrowUp"], "title": "+", "text": f"faster ({pace})", "action": "faster"},
        {"keys": ["Escape"], "title": "Esc", "text": "leave", "action": "leave"},
    ]


def another_pace(pace: str, steps: int) -> str:
    """The pace so many steps faster, or slower if negative."""
    return PACES[min(max(PACES.index(pace) + steps, 0), len(PACES) - 1)]
