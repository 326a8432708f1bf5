"""Diagnostics of a run under way, worked out seldom enough to leave the cores to the chains."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass

import numpy as np

from dashboard.jobs import Job
from mahmc import diagnostics

log = logging.getLogger(__name__)

SHARE_OF_TIME = 0.03  # of one core, that diagnostics may take while chains run
MOST_LIVE = 2048  # draws of each chain, the last ones, that they are worked out from meanwhile
PATIENCE = 0.5  # seconds that a page waits for the last estimates, before it shows the rest without them


@dataclass(frozen=True)
class Estimates:
    """Diagnostics of one quantity at some moment; NaN where undefined."""

    draws: int  # of each chain, that there were
    used: int  # of each chain, the last ones, that were looked at
    mean: float
    sd: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    rhat: float
    apart: float  # standard deviation of the chains' means, in standard deviations of all draws

    @property
    def rough(self) -> bool:
        """Whether sample sizes were scaled up from the draws used."""
        return self.used < self.draws


def preload() -> threading.Thread:
    """Import what the first estimate needs, in the background: ArviZ and SciPy's statistics take seconds."""

    def work() -> None:
        diagnostics.arviz()
        import scipy.stats  # noqa: F401

    worker = threading.Thread(target=work, name="preload", daemon=True)
    worker.start()
    return worker


class Estimator:
    """The latest estimates of each quantity of one job, worked out in the background: a page never waits for long."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._latest: dict[str, Estimates] = {}
        self._next: dict[str, float] = {}
        self._failed: set[str] = set()  # of these there will be none: the page is not to wait for them
        self._worker: threading.Thread | None = None

    def __call__(self, name: str) -> Estimates | None:
        """The latest estimates of `name`. New ones are begun if those are old enough, or the run is over."""
        if self._due(name) and not self._working:
            self._worker = threading.Thread(target=self._work, args=(name,), name="estimates", daemon=True)
            self._worker.start()
        if self._worker is not None and not self.job.alive:
            self._worker.join(PATIENCE)
        return self._latest.get(name)

    def behind(self, name: str) -> bool:
        """Whether estimates of all that was drawn are still to come."""
        return self._working or (not self.job.alive and self._due(name))

    @property
    def _working(self) -> bool:
        return self._worker is not None and self._worker.is_alive()

    def _due(self, name: str) -> bool:
        drawn, latest = self.job.drawn, self._latest.get(name)
        if drawn < diagnostics.FEWEST_DRAWS or name in self._failed:
            return False
        if not self.job.alive:
            return latest is None or latest.used != drawn
        return latest is None or (latest.draws != drawn and time.monotonic() >= self._next[name])

    def _work(self, name: str) -> None:
        run, drawn = self.job.run, self.job.drawn
        assert run is not None
        first = max(0, drawn - MOST_LIVE) if self.job.alive else 0
        begin = time.monotonic()
        try:
            self._latest[name] = estimates(np.asarray(run.get(name)[:, first:drawn], float), drawn)
        except Exception:  # whatever it is, the run and its downloads are not lost for it
            log.exception("no estimates of %s", name)
            self._latest.pop(name, None)
            self._failed.add(name)
        self._next[name] = time.monotonic() + (time.monotonic() - begin) / SHARE_OF_TIME


def estimates(x: np.ndarray, draws: int | None = None) -> Estimates:
    """All of ArviZ's estimates for chains (chains, draws), and how far apart these lie.

    If x is the end of chains of `draws` draws, sample sizes are scaled up to those: n draws worth m each are n·m.
    """
    used = x.shape[1]
    draws = draws or used
    sd = float(x.std())
    return Estimates(
        draws=draws,
        used=used,
        mean=float(x.mean()),
        sd=sd,
        mcse=diagnostics.mcse(x),
        ess_bulk=diagnostics.ess(x, "bulk") * draws / used,
        ess_tail=diagnostics.ess(x, "tail") * draws / used,
        rhat=diagnostics.rhat(x),
        apart=float(x.mean(axis=1).std()) / sd if sd > 0 else math.nan,
    )
