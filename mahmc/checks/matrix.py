"""Samplers × targets: all checks that apply to each, one after the other, with a verdict a cell.

>>> mahmc.check("gmm", "naive").verdict
<Verdict.WRONG: 'wrong'>
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mahmc.checks.agree import agreement
from mahmc.checks.flows import detailed_balance
from mahmc.checks.joint import calibration, joint_distribution
from mahmc.checks.margins import CHAINS, CHAINS_WITHOUT_EXACT, Size, marginals
from mahmc.checks.moved import invariance
from mahmc.checks.verdicts import LEVEL, Finding, Stopped, Verdict, Workbench
from mahmc.parameters import InvalidInput, choose
from mahmc.run import Run
from mahmc.samplers import EVERY_SAMPLER
from mahmc.spec import RUN_PARAMETERS, RunSpec, checked_seed
from mahmc.targets import Target, build

CHECKS = {
    "marginals": "long chains against every exact distribution",
    "invariance": "exact draws stay exact",
    "detailed balance": "flows between discrete states balance",
    "joint distribution": "parameters and simulated data keep their joint distribution (BLR)",
    "calibration": "true parameters rank anywhere among draws (BLR)",
}
LEAPFROGS = 400_000_000  # of one check of marginals on a target with few dimensions
CHEAP_DIMENSIONS = 4  # beyond, each leapfrog costs as much more
COSTLY_LEAPFROGS = 4_000_000  # where each goes through the data
MOST_ITERATIONS = 400_000
WARMUP_SHARE = 0.3  # of the iterations, where chains have to find their way
BUDGETS = (0.01, 100.0)
CHOSEN_BY_CHECKS = (*(name for name in RUN_PARAMETERS if name != "seed"), "start", "keep")


class Case(NamedTuple):
    """A target to check on: a column of the matrix. `values` are of samplers, where they have such a parameter."""

    name: str
    title: str
    target: str
    settings: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    update: str | None = None


OVERLAPPING = {"weights": (0.3, 0.4, 0.3), "means": (-1.0, 0.0, 1.5), "sds": (0.4, 1.0, 0.5)}
CASES = {
    case.name: case
    for case in (
        Case("mdc", "MDC", "mdc"),
        Case("blr-prior", "BLR, prior only", "blr", {"prior_only": True}),
        Case("blr", "BLR, posterior", "blr"),
        Case("gmm", "GMM, the paper's", "gmm"),
        Case(
            "gmm-overlapping", "GMM, overlapping", "gmm", OVERLAPPING,
            {"epsilon": 0.75, "L": 1, "n_u": 2, "alpha": 0.8, "delta": 0.02}, "metropolis",
        ),
    )
}  # fmt: skip


@dataclass
class Cell:
    """One sampler on one case, and what its checks found so far."""

    case: Case
    sampler: str
    chosen: Mapping[str, Any]
    target: Target
    checks: tuple[str, ...]
    findings: dict[str, Finding] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return self.sampler, self.case.name

    @property
    def finished(self) -> bool:
        return len(self.findings) == len(self.checks)

    @property
    def verdict(self) -> Verdict | None:
        """Wrong if any check says so; right if all are done and at least one saw enough; else not enough to tell."""
        if any(finding.wrong for finding in self.findings.values()):
            return Verdict.WRONG
        if not self.finished:
            return None
        return Verdict.UNCLEAR if any(f.verdict is Verdict.UNCLEAR for f in self.findings.values()) else Verdict.RIGHT

    @property
    def run(self) -> Run | None:
        """The chains that marginals were judged by, to look at."""
        found = self.findings.get("marginals")
        return found.exhibit if found else None

    @property
    def words(self) -> str:
        return "\n".join(str(finding) for finding in self.findings.values())


class Step(NamedTuple):
    """One check of one cell is done."""

    cell: Cell
    check: str
    done: int
    total: int
    seconds_left: float


class Checking:
    """All checks of some cells. Iterating advances it by a check at a time; `stop` keeps what is done.

    `budget` multiplies all draws, `level` is that of false alarms of each cell, divided among its checks.
    """

    def __init__(self, cells: Sequence[Cell], budget: float = 1.0, level: float = LEVEL, seed: int | None = 0) -> None:
        if not BUDGETS[0] <= budget <= BUDGETS[1]:
            raise InvalidInput(
                f"budget = {budget:g} is not allowed: it must be between {BUDGETS[0]} and {BUDGETS[1]:g}."
            )
        if not 0.0 < level < 0.5:
            raise InvalidInput(
                f"level = {level:g} is not allowed: a probability of false alarms in (0, 0.5) is needed."
            )
        self.cells = {cell.key: cell for cell in cells}
        self.budget, self.level, self.seed = budget, level, checked_seed(seed)
        self.bench = Workbench()
        self.seconds = 0.0
        self.made = 0  # checks; what cells brought with them took no time here
        self.current: tuple[Cell, str] | None = None
        self._stopped = False

    @classmethod
    def of(
        cls,
        samplers: Sequence[str] | None = None,
        cases: Sequence[str] | None = None,
        budget: float = 1.0,
        level: float = LEVEL,
        seed: int | None = 0,
    ) -> Checking:
        """The matrix of these samplers and cases; of all if none are named."""
        rows = [choose(name, EVERY_SAMPLER, "sampler") for name in samplers or EVERY_SAMPLER]
        columns = [CASES[choose(name, CASES, "case")] for name in cases or CASES]
        cells = [new_cell(case, sampler) for sampler in rows for case in columns if fits(case, sampler)]
        return cls(cells, budget, level, seed)

    # ------------------------------------------------------------------------------------------- advancing

    @property
    def done(self) -> int:
        return sum(len(cell.findings) for cell in self.cells.values())

    @property
    def total(self) -> int:
        return sum(len(cell.checks) for cell in self.cells.values())

    @property
    def finished(self) -> bool:
        return self.done == self.total

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0

    def stop(self) -> None:
        """Stop now, from any thread; checks that are done are kept."""
        self._stopped = True
        self.bench.stop()

    def __iter__(self) -> Iterator[Step]:
        self._stopped = False  # here, not at the first step: a stop that comes in between must not be lost
        self.bench.ready()
        return self._steps()

    def _steps(self) -> Iterator[Step]:
        for cell in self.cells.values():
            for name in cell.checks:
                if name in cell.findings:
                    continue
                if self._stopped:
                    return
                self.current = cell, name
                begin = time.perf_counter()
                try:
                    cell.findings[name] = self._check(cell, name)
                except Stopped:
                    return
                finally:
                    self.current = None
                took = time.perf_counter() - begin
                cell.seconds += took
                self.seconds += took
                self.made += 1
                yield Step(cell, name, self.done, self.total, self.seconds / self.made * (self.total - self.done))

    def advance_all(self) -> Checking:
        """Go on to the end."""
        for _ in self:
            pass
        return self

    def _check(self, cell: Cell, name: str) -> Finding:
        common: dict[str, Any] = {
            "level": self.level / len(cell.checks), "seed": self.seed, "workbench": self.bench, **cell.chosen,
        }  # fmt: skip
        if name == "marginals":
            return marginals(cell.target, cell.sampler, _size(cell, self.budget), **common)
        if name == "invariance":
            return invariance(cell.target, cell.sampler, draws=_count(16384, self.budget), **common)
        if name == "detailed balance":
            return detailed_balance(cell.target, cell.sampler, draws=_count(65536, self.budget), **common)
        if name == "joint distribution":
            return joint_distribution(cell.sampler, draws=_count(16384, self.budget), **common)
        return calibration(cell.sampler, draws=_count(2048, self.budget), **common)

    # --------------------------------------------------------------------------------------------- results

    def agreement(self) -> Finding | None:
        """Of the right samplers on BLR's posterior, as far as they are done; None if fewer than two are."""
        runs = {sampler: cell.run for (sampler, case), cell in self.cells.items()
                if case == "blr" and cell.run is not None and not EVERY_SAMPLER[sampler].wrong}  # fmt: skip
        return agreement(runs, self.level) if len(runs) > 1 else None


def fits(case: Case, sampler: str) -> bool:
    """Whether the sampler can do the case's target: M-HMC wants discrete variables."""
    return EVERY_SAMPLER[sampler].takes(build(case.target, **case.settings))


def new_cell(case: Case, sampler: str, **own: Any) -> Cell:
    """The cell of a case and a sampler, with parameters of one's own in place of the case's."""
    method = EVERY_SAMPLER[choose(sampler, EVERY_SAMPLER, "sampler")]
    chosen: dict[str, Any] = {name: value for name, value in case.values.items() if name in method.parameters}
    if case.update is not None:
        chosen["update"] = case.update
    chosen |= own
    spec = RunSpec.of(case.target, sampler, **case.settings, **chosen)
    target = spec.build_target()
    return Cell(case, sampler, spec.chosen, target, applicable(target))


def applicable(target: Target) -> tuple[str, ...]:
    """The checks that this target allows."""
    found = [
        ("marginals", bool(target.truths)),
        ("invariance", target.exact is not None),
        ("detailed balance", target.small is not None),
        ("joint distribution", target.name == "blr" and target.exact is None),
        ("calibration", target.name == "blr" and target.exact is None),
    ]
    names = tuple(name for name, applies in found if applies)
    if not names:
        raise InvalidInput(f"{target.name} with these settings has no known truth, so nothing can be checked.")
    return names


def _count(draws: int, budget: float) -> int:
    return max(64, round(draws * budget / 8) * 8)


def _size(cell: Cell, budget: float) -> Size:
    """Chains and iterations for marginals: so many leapfrogs, or iterations."""
    per_iteration = RunSpec.of(cell.target, cell.sampler, **cell.chosen).leapfrogs_per_draw
    exact = cell.target.exact is not None
    chains = CHAINS if exact else CHAINS_WITHOUT_EXACT
    cheap = LEAPFROGS / max(1.0, cell.target.dim / CHEAP_DIMENSIONS)
    leapfrogs = (cheap if exact else COSTLY_LEAPFROGS) * budget
    iterations = max(8, min(int(leapfrogs / chains / per_iteration), MOST_ITERATIONS))
    return Size(chains, iterations, 0 if exact else int(WARMUP_SHARE * iterations))


def own_cell(target: Target, sampler: str, chosen: Mapping[str, Any]) -> Cell:
    """The cell of a target that somebody built, and parameters of the sampler."""
    case = Case(target.name, target.title, target.name, dict(target.settings))
    return Cell(case, sampler, chosen, target, applicable(target))


def check(
    target: str | Target,
    sampler: str,
    *,
    budget: float = 1.0,
    level: float = LEVEL,
    seed: int | None = 0,
    **chosen: Any,
) -> Cell:
    """All checks of one sampler on one target, with parameters of either as in `mahmc.sample`."""
    for name in CHOSEN_BY_CHECKS:
        if chosen.get(name) is not None:
            raise InvalidInput(f"{name} is chosen by the checks themselves: use budget for more or fewer draws.")
    spec = RunSpec.of(target, sampler, **chosen)
    built = target if isinstance(target, Target) else spec.build_target()
    cell = own_cell(built, sampler, spec.chosen)
    Checking([cell], budget, level, seed).advance_all()
    return cell
