"""A comparison as work: replicate by replicate."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.settings import link
from dashboard.settings.compare import CompareSettings
from dashboard.work.kept import KEPT
from mahmc import Comparison
from mahmc.compare import ReplicateDone


@dataclass(frozen=True)
class CompareResult:
    """A comparison at one moment, with its settings."""

    settings: CompareSettings
    found: Comparison  # a copy, which does not advance
    step: ReplicateDone | None  # the last one; None before the first one, and for a result that was kept
    share: float


class CompareWork:
    """Samplers on one target at equal cost."""

    def __init__(self, settings: CompareSettings, comparison: Comparison) -> None:
        self.settings = settings
        self.comparison = comparison
        self.step: ReplicateDone | None = None

    def __repr__(self) -> str:
        return f"a comparison with ?{link.text(self.settings)}"

    @property
    def finished(self) -> bool:
        return self.comparison.finished

    def steps(self) -> Generator[Any]:
        return self._replicates(iter(self.comparison))

    def _replicates(self, steps: Iterator[ReplicateDone]) -> Generator[ReplicateDone]:
        try:
            for step in steps:
                self.step = step
                yield step
        finally:
            if self.finished:
                KEPT.keep(self.comparison)

    def stop(self) -> None:
        self.comparison.stop()

    def snapshot(self) -> CompareResult:
        return CompareResult(self.settings, self.comparison.snapshot(), self.step, self.comparison.share)
