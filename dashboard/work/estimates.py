"""Diagnostics of a run under way, worked out seldom enough to leave the cores to the chains."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass

import numpy as np

from mahmc import Run, diagnostics

log = logging.getLogger(__name__)

SHARE_OF_TIME = 0.03  # of one core, that diagnostics may take while chains run
MOST_LIVE = 2048  # draws of each chain, the last ones, that diagnostics are worked out from meanwhile


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
    """Import what the first estimate needs, in the background: it takes a second."""

    def work() -> None:
        diagnostics.array_stats()
        import scipy.stats  # noqa: F401

    worker = threading.Thread(target=work, name="preload", daemon=True)
    worker.start()
    return worker


class Estimator:
    """The latest estimates of a run's quantities. Reading them starts nothing.

    `watch` says which quantities are wanted, `advance` that there are more draws, or that no more come: both begin new
    estimates on a thread of their own, if it is time for them.
    """

    def __init__(self) -> None:
        self._run: Run | None = None
        self._resting = True
        self._watched = ""
        self._all = False
        self._latest: dict[str, Estimates] = {}
        self._next: dict[str, float] = {}
        self._failed: set[str] = set()  # quantities of which there will be none: nobody waits for them
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()

    def watch(self, name: str, all_at_rest: bool = False) -> None:
        """Estimates of this quantity are wanted; once chains are at rest, of all others too, if `all_at_rest`."""
        with self._lock:
            self._watched, self._all = name, all_at_rest
            self._begin()

    def advance(self, run: Run, resting: bool) -> None:
        """There are more draws; `resting`: no more come for now, so estimates are to be of all of them."""
        with self._lock:
            self._run, self._resting = run, resting
            self._begin()

    def latest(self) -> tuple[dict[str, Estimates], bool]:
        """Estimates by quantity, and whether more come by themselves."""
        with self._lock:
            return dict(self._latest), self._worker is not None

    def _begin(self) -> None:
        if self._worker is None and self._next_due():
            self._worker = threading.Thread(target=self._work, name="estimates", daemon=True)
            self._worker.start()

    def _drawn(self) -> int:
        return max(0, self._run.done - self._run.spec.warmup) if self._run else 0

    def _next_due(self) -> str:
        """The quantity whose turn it is; "" if none is due."""
        if self._run is None or self._drawn() < diagnostics.FEWEST_DRAWS:
            return ""
        names = [self._watched, *(self._run.names if self._all and self._resting else ())]
        return next((name for name in names if name in self._run.names and self._due(name)), "")

    def _due(self, name: str) -> bool:
        latest, drawn = self._latest.get(name), self._drawn()
        if name in self._failed:
            return False
        if self._resting or latest is None:
            return latest is None or latest.used != drawn
        return latest.draws != drawn and time.monotonic() >= self._next[name]

    def _work(self) -> None:
        """Estimates, until none are due."""
        while True:
            with self._lock:
                name, run, drawn = self._next_due(), self._run, self._drawn()
                if not name or run is None:
                    self._worker = None
                    return
                first = 0 if self._resting else max(0, drawn - MOST_LIVE)
            begin = time.monotonic()
            found = self._made(run, name, first, drawn)
            end = time.monotonic()
            with self._lock:
                self._next[name] = end + (end - begin) / SHARE_OF_TIME
                if found is None:
                    self._failed.add(name)
                else:
                    self._latest[name] = found

    def _made(self, run: Run, name: str, first: int, drawn: int) -> Estimates | None:
        try:
            return estimates(np.asarray(run.get(name)[:, first:drawn], float), drawn)
        except Exception:  # whatever it is, the run and its files are not lost for it
            log.exception("no estimates of %s", name)
            return None


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
