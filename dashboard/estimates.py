"""Diagnostics of a run under way, worked out seldom enough to leave the cores to the chains."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from dashboard.jobs import Job
from mahmc import diagnostics

SHARE_OF_TIME = 0.1  # that diagnostics may take of a live page


@dataclass(frozen=True)
class Estimates:
    """Diagnostics of one quantity at some moment; NaN where undefined."""

    draws: int  # of each chain, that they are based on
    mean: float
    sd: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    rhat: float


def preload() -> None:
    """Import what the first estimate needs, in the background: ArviZ and SciPy's statistics take seconds."""

    def work() -> None:
        diagnostics.arviz()
        import scipy.stats  # noqa: F401

    threading.Thread(target=work, name="preload", daemon=True).start()


class Estimator:
    """The latest estimates of each quantity of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._latest: dict[str, Estimates] = {}
        self._next: dict[str, float] = {}

    def __call__(self, name: str) -> Estimates | None:
        """The estimates of `name`: fresh if the last ones are old enough or the run is over, else the last ones."""
        drawn = self.job.drawn
        latest = self._latest.get(name)
        if latest and latest.draws == drawn:
            return latest
        if latest and self.job.alive and time.monotonic() < self._next[name]:
            return latest
        if drawn < diagnostics.FEWEST_DRAWS or self.job.run is None:
            return latest
        begin = time.monotonic()
        self._latest[name] = estimates(np.asarray(self.job.run.get(name)[:, :drawn], float))
        took = time.monotonic() - begin
        self._next[name] = time.monotonic() + took / SHARE_OF_TIME
        return self._latest[name]


def estimates(x: np.ndarray) -> Estimates:
    """All of ArviZ's estimates for chains (chains, draws)."""
    return Estimates(
        draws=x.shape[1],
        mean=float(x.mean()),
        sd=float(x.std()),
        mcse=diagnostics.mcse(x),
        ess_bulk=diagnostics.ess(x, "bulk"),
        ess_tail=diagnostics.ess(x, "tail"),
        rhat=diagnostics.rhat(x),
    )
