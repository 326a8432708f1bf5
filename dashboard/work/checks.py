"""Checks as work: one check of one cell after the other; and the results of all that a tab has asked for.

A result belongs to everything that decides it: sampler, target, their parameters, budget, level and seed. Results are
looked up by all of these, so a page never shows results of other settings.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from dashboard.settings import link
from dashboard.settings.checks import STRICTNESS, CheckSettings
from mahmc.checks import Cell, Checking
from mahmc.checks.matrix import Step

MOST_CELLS = 60  # whose results are kept; the oldest go first
Identity = tuple[Hashable, ...]


def identity(cell: Cell, settings: CheckSettings) -> Identity:
    """Everything that decides this cell's results under these settings."""
    of_target, of_sampler = tuple(cell.target.settings.items()), tuple(cell.chosen.items())
    which = (cell.target.name, cell.target.fingerprint)
    return *cell.key, *which, of_target, of_sampler, *(getattr(settings, name) for name in STRICTNESS)


class CheckResults:
    """The cells that a tab has asked for, with what was found of them so far."""

    def __init__(self) -> None:
        self._cells: dict[Identity, Cell] = {}
        self._lock = Lock()

    def snapshot(self) -> Mapping[Identity, Cell]:
        """What was found so far, by identity. Copies: checks that end later are not in them."""
        with self._lock:
            return {mark: replace(cell, findings=dict(cell.findings)) for mark, cell in self._cells.items()}

    def taken(self, cells: Iterable[Cell], settings: CheckSettings) -> list[Cell]:
        """These cells to be checked; results that are there already are used, and not made again."""
        with self._lock:
            mine = []
            for cell in cells:
                mark = identity(cell, settings)
                found = self._cells.pop(mark, None) or replace(cell, findings={}, seconds=0.0)
                self._cells[mark] = found  # at the end: the oldest are forgotten first
                mine.append(found)
            for forgotten in list(self._cells)[:-MOST_CELLS]:
                del self._cells[forgotten]
            return mine


@dataclass(frozen=True)
class CheckProgress:
    """How far checks are at one moment. What they found is in the tab's CheckResults."""

    settings: CheckSettings
    marks: tuple[Identity, ...]  # the cells that are checked
    current: tuple[Identity, str] | None  # cell and check under way
    done: int
    total: int
    finished: bool
    seconds_left: float | None

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


class CheckWork:
    """Checks of some cells, one after the other."""

    def __init__(self, settings: CheckSettings, checking: Checking) -> None:
        self.settings = settings
        self.checking = checking
        self.step: Step | None = None
        self._marks = {id(cell): identity(cell, settings) for cell in checking.cells.values()}

    def __repr__(self) -> str:
        return f"checks of {list(self.checking.cells)} with ?{link.text(self.settings)}"

    @property
    def finished(self) -> bool:
        return self.checking.finished

    def steps(self) -> Generator[Any]:
        return self._checks(iter(self.checking))

    def _checks(self, steps: Iterator[Step]) -> Generator[Step]:
        for step in steps:
            self.step = step
            yield step

    def stop(self) -> None:
        self.checking.stop()

    def snapshot(self) -> CheckProgress:
        work, now = self.checking, self.checking.current
        return CheckProgress(
            self.settings,
            tuple(self._marks.values()),
            (self._marks[id(now[0])], now[1]) if now else None,
            work.done,
            work.total,
            work.finished,
            self.step.seconds_left if self.step else None,
        )
