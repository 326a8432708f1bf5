"""Checks as work, and the results of all checks of a tab.

A result is stored under everything that determines it: sampler, target, their parameters, budget, level and seed. So a
page never shows results of other settings.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from dashboard.settings import link
from dashboard.settings.checks import STRICTNESS, CheckSettings
from mahmc.checks import Cell, CheckDone, Checking, Findings

MOST_CELLS = 60  # the largest number of cells whose results are kept; the oldest results are dropped first
Identity = tuple[Hashable, ...]


def identity(cell: Cell, settings: CheckSettings) -> Identity:
    """Everything that determines the results of this cell under these settings."""
    of_target, of_sampler = tuple(cell.target.settings.items()), tuple(cell.chosen.items())
    data = (cell.target.name, cell.target.fingerprint)
    return *cell.key, *data, of_target, of_sampler, *(getattr(settings, name) for name in STRICTNESS)


class CheckResults:
    """The cells that were checked in a tab, with their findings so far."""

    def __init__(self) -> None:
        self._cells: dict[Identity, Cell] = {}
        self._lock = Lock()

    def snapshot(self) -> Mapping[Identity, Cell]:
        """Copies of the cells with their findings so far, by identity. Later findings do not change the copies."""
        with self._lock:
            return {key: replace(cell, findings=cell.findings.snapshot()) for key, cell in self._cells.items()}

    def stored(self, cells: Iterable[Cell], settings: CheckSettings) -> list[Cell]:
        """These cells as they are stored here, with the findings that exist. New cells are added without findings."""
        with self._lock:
            stored = []
            for cell in cells:
                key = identity(cell, settings)
                known = self._cells.pop(key, None) or replace(cell, findings=Findings())
                self._cells[key] = known  # at the end, so that the oldest cells are dropped first
                stored.append(known)
            for dropped in list(self._cells)[:-MOST_CELLS]:
                del self._cells[dropped]
            return stored


@dataclass(frozen=True)
class CheckProgress:
    """The progress of checks at one moment. Their findings are in the tab's CheckResults."""

    settings: CheckSettings
    identities: tuple[Identity, ...]  # of the cells that are checked
    current: tuple[Identity, str] | None  # cell and check that run now
    done: int
    total: int
    finished: bool
    seconds_left: float | None

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


class CheckWork:
    """Checks of several cells, one check after the other."""

    def __init__(self, settings: CheckSettings, checking: Checking) -> None:
        self.settings = settings
        self.checking = checking
        self.step: CheckDone | None = None
        self._identities = {id(cell): identity(cell, settings) for cell in checking.cells.values()}

    def __repr__(self) -> str:
        return f"checks of {list(self.checking.cells)} with ?{link.text(self.settings)}"

    @property
    def finished(self) -> bool:
        return self.checking.finished

    def steps(self) -> Generator[Any]:
        return self._checks(iter(self.checking))

    def _checks(self, steps: Iterator[CheckDone]) -> Generator[CheckDone]:
        for step in steps:
            self.step = step
            yield step

    def stop(self) -> None:
        self.checking.stop()

    def snapshot(self) -> CheckProgress:
        work, now = self.checking, self.checking.current
        return CheckProgress(
            self.settings,
            tuple(self._identities.values()),
            (self._identities[id(now[0])], now[1]) if now else None,
            work.done,
            work.total,
            work.finished,
            self.step.seconds_left if self.step else None,
        )
