"""The trace of a run on Explore: which draws and which chains it shows."""

from __future__ import annotations

import numpy as np

from dashboard import figures
from dashboard.figures import Chart, Draws, Focus
from dashboard.settings.explore import ExploreSettings
from dashboard.work.runs import RunResult


def trace(
    result: RunResult | None, settings: ExploreSettings, name: str, sampler: str, alive: bool,
    *, between: tuple[float, float] | None = None,
) -> Chart:  # fmt: skip
    """All draws, or those of a range; while chains run, the last draws, each marked as accepted or rejected."""
    if result is None:
        return figures.trace(np.empty((0, 0)), name, sampler)

    def draws(of: str) -> Draws:
        return Draws(result.get(of), result.get(of, warmup=True))

    x, warmup = draws(name)
    window = figures.LAST_DRAWS if alive and settings.window == "last" else None
    focus = Focus(window=window, position=draws(result.position) if result.position else None)
    if settings.lines == "four":
        focus = focus._replace(chains=figures.FEW_CHAINS)
    points = figures.MOST_POINTS_LIVE if alive else figures.MOST_POINTS
    return figures.trace(x, name, sampler, warmup, points, between, focus=focus)
