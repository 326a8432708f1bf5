"""A contest as work: two samplers on one target from one seed, both tested after 1, 2, 4, … draws."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.settings.checks import CONTEST_DRAWS
from mahmc import Run, RunSpec
from mahmc.checks import LEVEL, Case, Chains, margins, new_cell
from mahmc.checks.subjects import CHAINS
from mahmc.checks.verdicts import Round


@dataclass(frozen=True)
class ContestResult:
    """A contest at one moment."""

    seed: int
    samplers: tuple[str, str]
    runs: Mapping[str, Run]
    rounds: Mapping[str, Mapping[int, Round]]  # by sampler and draws of each chain
    finished: bool

    @property
    def chains(self) -> int:
        """The number of chains of each sampler."""
        return CHAINS

    @property
    def tested_after(self) -> list[int]:
        """The numbers of draws after which both samplers have been tested."""
        return [n for n in CONTEST_DRAWS if all(n in rounds for rounds in self.rounds.values())]

    @property
    def share(self) -> float:
        """The share of the work that is done. The time of a test is proportional to its draws."""
        return float(sum(sum(rounds) for rounds in self.rounds.values()) / (2 * sum(CONTEST_DRAWS)))


class ContestWork:
    """The test of marginals of two samplers after 1, 2, 4, … draws of each chain."""

    def __init__(self, case: Case, samplers: tuple[str, str], seed: int) -> None:
        self.cells = {sampler: new_cell(case, sampler) for sampler in samplers}
        self.samplers, self.seed = samplers, seed
        self.runs: dict[str, Run] = {}
        self.rounds: dict[str, dict[int, Round]] = {sampler: {} for sampler in samplers}
        self._stopped = False

    def __repr__(self) -> str:
        return f"contest of {self.samplers} with seed {self.seed}"

    @property
    def finished(self) -> bool:
        return all(len(rounds) == len(CONTEST_DRAWS) for rounds in self.rounds.values())

    def steps(self) -> Generator[Any]:
        self._stopped = False
        return self._advancing()

    def _advancing(self) -> Generator[Any]:
        for sampler in self.cells:
            if sampler not in self.runs:
                self.runs[sampler] = self._new_run(sampler)
            for chunk in self.runs[sampler]:
                yield chunk
                if self._stopped:
                    return
        for draws in CONTEST_DRAWS:
            for sampler, run in self.runs.items():
                if self._stopped or not run.finished:
                    return
                if draws not in self.rounds[sampler]:
                    chains = Chains.of(run).first(draws)
                    self.rounds[sampler][draws] = margins.judge(chains, run.target.truth.scalars, LEVEL)
                    yield draws

    def _new_run(self, sampler: str) -> Run:
        cell = self.cells[sampler]
        kept = tuple(quantity.name for quantity in cell.target.density.quantities)
        about = {"start": "exact", "chains": CHAINS, "draws": CONTEST_DRAWS[-1], "warmup": 0, "keep": kept}
        return Run(RunSpec.of(cell.target, sampler, **about, seed=self.seed, **cell.chosen), cell.target)

    def stop(self) -> None:
        self._stopped = True
        for run in list(self.runs.values()):
            run.stop()

    def snapshot(self) -> ContestResult:
        rounds = {sampler: dict(found) for sampler, found in self.rounds.items()}
        return ContestResult(self.seed, self.samplers, dict(self.runs), rounds, self.finished)
