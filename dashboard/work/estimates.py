"""Diagnostics of a run while it draws, computed rarely enough to leave the cores to the chains."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from mahmc import Run, diagnostics
from mahmc.precision import Precision
from mahmc.run import problems

log = logging.getLogger(__name__)

SHARE_OF_TIME = 0.03  # share of one core that diagnostics may use while chains run
MOST_LIVE = 2048  # while chains run, diagnostics use the last draws of each chain, at most so many


@dataclass(frozen=True)
class Estimates:
    """Diagnostics of one quantity at one moment; NaN where undefined."""

    draws: int  # of each chain at that moment
    used: int  # the last draws of each chain, from which the diagnostics were computed
    mean: float
    sd: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    rhat: float
    spread_of_means: float  # standard deviation of the chains' means, divided by that of all draws
    interval: tuple[float, float] | None = None  # of the bulk ESS; None if nobody asked for it

    @property
    def rough(self) -> bool:
        """Whether effective sample sizes were scaled up from the draws used."""
        return self.used < self.draws


def preload() -> threading.Thread:
    """Import the packages of the first estimate in the background, which takes a second."""

    def work() -> None:
        import scipy.fft
        import scipy.special
        import scipy.stats  # noqa: F401

    worker = threading.Thread(target=work, name="preload", daemon=True)
    worker.start()
    return worker


class Estimator:
    """The latest estimates of a run's quantities. Reading them starts nothing.

    `watch` names the quantities to estimate. `advance` says that there are more draws, or that the run has stopped.
    Both start new estimates on a thread, if estimates are due.
    """

    def __init__(self) -> None:
        self._run: Run | None = None
        self._resting = True
        self._watched = ""
        self._all = self._interval = False
        self._latest: dict[str, Estimates] = {}
        self._next: dict[str, float] = {}
        self._failed: set[str] = set()  # quantities whose estimate raised an error; they are not tried again
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()

    def watch(self, name: str, all_at_rest: bool = False, interval: bool = False) -> None:
        """Estimate this quantity; with `all_at_rest` also all other quantities once the run has stopped.

        With `interval`, the ESS of the quantity gets an interval once the run has stopped: it takes nine times as long.
        """
        with self._lock:
            self._watched, self._all, self._interval = name, all_at_rest, interval
            self._begin()

    def advance(self, run: Run, resting: bool) -> None:
        """Say that there are more draws. `resting`: the run has stopped, so the next estimates use all draws."""
        with self._lock:
            self._run, self._resting = run, resting
            self._begin()

    def latest(self) -> tuple[dict[str, Estimates], bool]:
        """Estimates by quantity, and whether more estimates are being computed."""
        with self._lock:
            return dict(self._latest), self._worker is not None

    def _begin(self) -> None:
        if self._worker is None and self._next_due():
            self._worker = threading.Thread(target=self._work, name="estimates", daemon=True)
            self._worker.start()

    def _drawn(self) -> int:
        return max(0, self._run.done - self._run.spec.warmup) if self._run else 0

    def _next_due(self) -> str:
        """The quantity to estimate next; "" if none is due."""
        if self._run is None or self._drawn() < diagnostics.FEWEST_DRAWS:
            return ""
        names = [self._watched, *(self._run.names if self._all and self._resting else ())]
        return next((name for name in names if name in self._run.names and self._due(name)), "")

    def _due(self, name: str) -> bool:
        latest, drawn = self._latest.get(name), self._drawn()
        if name in self._failed:
            return False
        if self._resting or latest is None:
            return latest is None or latest.used != drawn or (self._needs_interval(name) and latest.interval is None)
        return latest.draws != drawn and time.monotonic() >= self._next[name]

    def _needs_interval(self, name: str) -> bool:
        return self._interval and self._resting and name == self._watched

    def _work(self) -> None:
        """Compute estimates until none are due."""
        while True:
            with self._lock:
                name, run, drawn = self._next_due(), self._run, self._drawn()
                if not name or run is None:
                    self._worker = None
                    return
                first = 0 if self._resting else max(0, drawn - MOST_LIVE)
                interval = self._needs_interval(name)
            begin = time.monotonic()
            found = self._made(run, name, first, drawn, interval)
            end = time.monotonic()
            with self._lock:
                self._next[name] = end + (end - begin) / SHARE_OF_TIME
                if found is None:
                    self._failed.add(name)
                else:
                    self._latest[name] = found

    def _made(self, run: Run, name: str, first: int, drawn: int, interval: bool) -> Estimates | None:
        try:
            x = np.asarray(run.get(name)[:, first:drawn], float)
            found = estimates(x, drawn)
            return replace(found, interval=diagnostics.ess_interval(x)) if interval else found
        except Exception:  # an error here must not lose the run and its files
            log.exception("The diagnostics of %s cannot be computed", name)
            return None


def estimates(x: np.ndarray, draws: int | None = None) -> Estimates:
    """ArviZ's diagnostics of x (chains, draws), and the spread of the chains' means.

    If x is the end of longer chains of `draws` draws, effective sample sizes are scaled up in proportion.
    """
    used = x.shape[1]
    draws = draws or used
    found = Precision(x)
    return Estimates(
        draws=draws,
        used=used,
        mean=float(x.mean()),
        sd=float(x.std()),
        mcse=found.mcse_mean,
        ess_bulk=found.ess_bulk * draws / used,
        ess_tail=found.ess_tail * draws / used,
        rhat=found.rhat,
        spread_of_means=problems.apart(x),
    )
