"""A run as work: chains that advance chunk by chunk, and their diagnostics."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.work.estimates import Estimates, Estimator
from dashboard.work.job import Rest
from dashboard.work.pace import FASTEST, Pace
from mahmc import Run, RunSpec
from mahmc.run import Acceptance, Progress, memory_needed, scalar_names
from mahmc.targets import Target
from mahmc.targets.parts import elements

FEWEST_TO_JUDGE = 50  # draws after which a chain that has not moved is called stuck


@dataclass(frozen=True)
class RunResult:
    """A run at one moment. Later draws are left out."""

    spec: RunSpec
    target: Target
    run: Run | None  # None until its kernels are loaded
    done: int  # recorded draws of each chain, warm-up included
    progress: Progress | None
    acceptances: Mapping[str, Acceptance]  # by kind of test
    gradients: int
    non_finite: int  # proposals whose energy is not finite
    estimates: Mapping[str, Estimates]
    estimating: bool  # whether more estimates are being computed
    rate: float = FASTEST  # draws a second that the run should make
    paused: bool = False

    @property
    def drawn(self) -> int:
        """Draws of each chain after the warm-up."""
        return max(0, self.done - self.spec.warmup)

    @property
    def names(self) -> tuple[str, ...]:
        """The scalar quantities that are recorded or can be computed."""
        return scalar_names(self.spec, self.target)

    @property
    def estimated(self) -> bool:
        """Whether the estimates of all quantities from all draws are complete."""
        return not self.estimating and any(e.used == self.drawn for e in self.estimates.values())

    def get(self, name: str, warmup: bool = False) -> np.ndarray:
        """The draws of one quantity: (chains, draws)."""
        assert self.run is not None
        x = self.run.get(name, warmup)
        return x[:, : min(self.done, self.spec.warmup) if warmup else self.drawn]

    @property
    def paced(self) -> bool:
        """Whether the run draws at a chosen pace, or is paused, so that every draw can be watched."""
        return self.paused or self.rate != FASTEST

    @property
    def stuck(self) -> int:
        """The number of chains whose proposals were all rejected after the warm-up. With few draws no chain counts."""
        if self.drawn < FEWEST_TO_JUDGE:
            return 0
        return int((self.acceptances["trajectory"].accepted == 0).sum())

    @property
    def position(self) -> str:
        """A recorded quantity that changes if and only if a proposal for q^H is accepted; "" if there is none."""
        moved = [q for q in self.target.density.quantities if q.source == "q" and q.name in self.spec.keep]
        return elements(moved[0])[0] if moved else ""

    @property
    def acceptance(self) -> float:
        """Mean acceptance of the test of q^H, after the warm-up."""
        return self.acceptances["trajectory"].rate or 0.0

    def acceptance_history(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The number of draws at the end of each chunk, and the acceptance rates in each chunk, by kind."""
        if self.run is None:
            return np.empty(0, int), {}
        done, rates = self.run.acceptance_history
        until = int(np.searchsorted(done, self.done, side="right"))
        return done[:until], {kind: rate[:until] for kind, rate in rates.items()}


class RunWork:
    """One run with its diagnostics."""

    def __init__(self, spec: RunSpec, target: Target | None = None, pace: Pace | None = None) -> None:
        self.spec = spec
        self.pace = pace or Pace()
        self.target = target or spec.build_target()
        self.run: Run | None = None
        self.estimator = Estimator()
        self.watch(self.target.presentation.main_quantity)

    def __repr__(self) -> str:
        return f"{self.spec}"

    @property
    def finished(self) -> bool:
        return self.run is not None and self.run.finished

    @property
    def bytes(self) -> int:
        """The memory that all draws take."""
        return memory_needed(self.spec, self.target)

    def watch(self, name: str, all_at_rest: bool = False, interval: bool = False) -> None:
        """Estimate this quantity, or the main quantity if `name` is unknown. See `Estimator.watch`."""
        known = name in scalar_names(self.spec, self.target)
        self.estimator.watch(name if known else self.target.presentation.main_quantity, all_at_rest, interval)

    def leave(self) -> None:
        """Start no new estimates until `watch` is called again: the page was closed."""
        self.estimator.watch("")

    def steps(self) -> Generator[Any]:
        if self.run is None:
            self.run = Run(self.spec, self.target)
        return self._chunks(self.run, iter(self.run))

    def _chunks(self, run: Run, chunks: Iterator[Any]) -> Generator[Any]:
        """Advance the chains as the pace says. The warm-up is made in chunks, as fast as possible."""
        try:
            while not run.finished and not run.stopped:
                due = self.pace.due(run.done)
                if not due:
                    self.estimator.advance(run, resting=self.pace.paused)
                    yield Rest(self.pace.rest)
                    continue
                if math.isinf(due) or run.done < self.spec.warmup:
                    next(chunks, None)
                else:
                    run.step(int(due))
                    self.pace.made(int(due))
                self.estimator.advance(run, resting=run.finished)
                yield run.progress
        finally:
            self.estimator.advance(run, resting=True)

    def stop(self) -> None:
        if self.run is not None:
            self.run.stop()
        self.pace.wake()

    def snapshot(self) -> RunResult:
        run = self.run
        found, estimating = self.estimator.latest()
        pace = self.pace.rate, self.pace.paused
        if run is None:
            return RunResult(self.spec, self.target, None, 0, None, {}, 0, 0, found, estimating, *pace)
        counts = run.acceptances, run.gradients, run.non_finite
        return RunResult(self.spec, self.target, run, run.done, run.progress, *counts, found, estimating, *pace)
