"""The charts of one run on Explore: functions that make them from its draws so far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dashboard import figures
from dashboard.figures import Chart, Draws, Focus
from dashboard.settings.explore import ExploreSettings
from dashboard.work.runs import RunResult
from mahmc.targets import Target

Maker = Callable[[], Chart]


@dataclass(frozen=True)
class RunCharts:
    """The charts of a run. Without a result they are empty."""

    result: RunResult | None
    target: Target
    settings: ExploreSettings
    name: str  # of the quantity
    sampler: str
    alive: bool

    def first(self) -> Iterator[tuple[str, str, Maker]]:
        """Place, title and maker of the charts of both views."""
        known = self.target.truth.of(self.name) is not None
        yield "trace", "Trace by chain", self.trace
        title = "Distribution against the truth" if known else "Distribution (the truth is unknown)"
        yield "density", title, lambda: self.distribution(self.name)

    def live(self, names: Collection[str]) -> Iterator[tuple[str, str, Maker]]:
        """The same, with the charts of the full view. `names` are the quantities that can be shown."""
        yield from self.first()
        look = self.target.shown
        if look.discrete and look.discrete != self.name and look.discrete in names:
            discrete = f"Discrete part: {figures.plain(look.discrete_title)}"
            yield "mass", discrete, lambda: self.distribution(look.discrete)
        yield "mean", "Running mean", self.running_mean
        yield "rates", "Running acceptance", self.running_acceptance

    def at_rest(self) -> Mapping[str, Maker]:
        """The charts of a run that has stopped, by place."""
        look, name, sampler = self.target.shown, self.name, self.sampler
        one, two = look.pair

        def scatter() -> Chart:
            colour = self._draws(look.colour) if look.colour else None
            return figures.scatter(self._draws(one), self._draws(two), (one, two), sampler, colour, look.colour)

        return {
            "autocorrelation": lambda: figures.autocorrelation(self._draws(name), name, sampler),
            "ranks": lambda: figures.ranks(self._draws(name), name, sampler),
            "scatter": scatter,
            "energy": lambda: figures.energy(self._draws("energy"), sampler),
        }

    # ------------------------------------------------------------------------------------------- single charts

    def trace(self) -> Chart:
        """All draws; while chains run, the last draws, each marked as accepted or rejected."""
        return self._trace(self.alive)

    def closer_trace(self, low: float, high: float) -> Chart:
        """The draws of a range."""
        return self._trace(alive=False, between=(low, high))

    def _trace(self, alive: bool, between: tuple[float, float] | None = None) -> Chart:
        result = self.result
        if result is None:
            return figures.trace(np.empty((0, 0)), self.name, self.sampler)

        def draws(of: str) -> Draws:
            return Draws(result.get(of), result.get(of, warmup=True))

        x, warmup = draws(self.name)
        window = figures.LAST_DRAWS if alive and self.settings.window == "last" else None
        focus = Focus(window=window, position=draws(result.position) if result.position else None)
        if self.settings.lines == "four":
            focus = focus._replace(chains=figures.FEW_CHAINS)
        points = figures.MOST_POINTS_LIVE if alive else figures.MOST_POINTS
        return figures.trace(x, self.name, self.sampler, warmup, points, between, focus=focus)

    def distribution(self, name: str) -> Chart:
        """The histogram of a quantity."""
        x = self._draws(name)
        runs = [("this run", self.sampler, x)] if self.result is not None else []
        truth = self.target.truth.of(name)
        discrete = truth.discrete if truth else np.issubdtype(x.dtype, np.integer)
        return (figures.mass if discrete else figures.density)(runs, truth, name)

    def running_mean(self) -> Chart:
        """The mean against the number of draws."""
        return figures.running_mean(self._draws(self.name), self.target.truth.of(self.name), self.name, self.sampler)

    def running_acceptance(self) -> Chart:
        """The acceptance against the number of draws."""
        history = self.result.acceptance_history() if self.result else (np.empty(0, int), {})
        return figures.running_acceptance(*history, self.sampler)

    def _draws(self, name: str) -> np.ndarray:
        return self.result.get(name) if self.result is not None else np.empty((0, 0))
