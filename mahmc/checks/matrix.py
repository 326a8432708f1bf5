"""Samplers × targets: all checks that apply to each, one after the other, with a verdict a cell.

>>> mahmc.check("gmm", "naive").verdict
<Verdict.WRONG: 'wrong'>
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from mahmc.checks import flows, gradients, joint, margins, moved
from mahmc.checks.agree import agreement
from mahmc.checks.flows import detailed_balance
from mahmc.checks.joint import calibration, joint_distribution, what_to_add
from mahmc.checks.steps import StepSubject
from mahmc.checks.subjects import Chains, EngineSubject, Subject
from mahmc.checks.verdicts import LEVEL, Finding, Stopped, Verdict, Workbench, checked_level
from mahmc.parameters import InvalidInput, choose
from mahmc.run import Run
from mahmc.samplers import EVERY_SAMPLER
from mahmc.spec import RUN_PARAMETERS, RunSpec, checked_seed
from mahmc.targets import FAMILIES, Target, build

BUDGETS = (0.01, 100.0)
CHOSEN_BY_CHECKS = (*(name for name in RUN_PARAMETERS if name != "seed"), "start", "keep")


@dataclass(frozen=True)
class Check:
    """A check of a sampler on a target: what it is called, what it does, where it applies, and how it is made."""

    name: str
    help: str
    applies: Callable[[Subject], bool]
    make: Callable[..., Finding]  # (subject, budget, level=…, seed=…, workbench=…)

    def run(self, subject: Subject, budget: float = 1.0, *, level: float = LEVEL, seed: int = 0,
            workbench: Workbench | None = None) -> Finding:  # fmt: skip
        """What the check finds."""
        return self.make(subject, budget, level=level, seed=seed, workbench=workbench)


def _count(draws: int, budget: float) -> int:
    return max(64, round(draws * budget / 8) * 8)


def _without_exact(subject: Subject) -> TypeGuard[EngineSubject]:
    """Whether the subject is a sampler of ours on a target without exact draws: with these, checks are sharper."""
    return isinstance(subject, EngineSubject) and subject.exact is None


def _with_target(check: Callable[..., Finding], draws: int) -> Callable[..., Finding]:
    """A check that takes target, sampler and parameters, as one that takes a subject."""

    def make(subject: EngineSubject, budget: float, **common: Any) -> Finding:
        return check(subject.target, subject.sampler, draws=_count(draws, budget), **common, **subject.chosen)

    return make


CHECKS = {
    check.name: check
    for check in (
        Check(
            margins.CHECK,
            "long chains against exact distributions and exact draws, and whether every element moves",
            lambda subject: bool(subject.truths) or subject.exact is not None,
            lambda subject, budget, **common: margins.check_marginals(subject, subject.size(budget), **common),
        ),
        Check(
            moved.CHECK,
            "exact draws stay exact",
            lambda subject: subject.exact is not None,
            lambda subject, budget, **common: moved.check_invariance(
                subject, draws=_count(moved.DRAWS, budget), **common
            ),
        ),
        Check(
            moved.INDEPENDENCE,
            "chains that are moved in one call do not influence each other",
            lambda subject: isinstance(subject, StepSubject),  # tests look at our own
            lambda subject, budget, **common: moved.check_independence(
                subject, draws=_count(moved.DRAWS, budget), **common
            ),
        ),
        Check(
            "detailed balance",
            "flows between discrete states balance",
            lambda subject: isinstance(subject, EngineSubject) and flows.applies(subject.target, subject.updates),
            _with_target(detailed_balance, 65536),
        ),
        Check(
            gradients.CHECK,
            "the gradient is that of the energy, in every coordinate, and stays so after every update",
            lambda subject: isinstance(subject, EngineSubject),
            lambda subject, budget, **common: gradients.check_gradient(subject, **common),
        ),
        Check(
            "joint distribution",
            "parameters and simulated data keep their joint distribution",
            lambda subject: _without_exact(subject) and joint.applies(subject.target),
            _with_target(joint_distribution, joint.DRAWS[joint.JOINT]),
        ),
        Check(
            "calibration",
            "true parameters rank anywhere among draws",
            lambda subject: _without_exact(subject) and joint.applies(subject.target),
            _with_target(calibration, joint.DRAWS[joint.CALIBRATION]),
        ),
    )
}


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
    steps: StepSubject | None = None  # a sampler that is not one of ours

    @property
    def subject(self) -> Subject:
        """The sampler on its target, as checks see it."""
        return self.steps or EngineSubject(self.target, self.sampler, self.chosen)

    @property
    def title(self) -> str:
        """The sampler's title; a warning is part of it where the sampler is wrong on purpose."""
        return EVERY_SAMPLER[self.sampler].label if self.steps is None else self.steps.name

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
    def run(self) -> Chains | Run | None:
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
        self.cells = {cell.key: cell for cell in cells}
        self.budget, self.level, self.seed = budget, checked_level(level), checked_seed(seed)
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
        level = self.level / len(cell.checks)
        return CHECKS[name].run(cell.subject, self.budget, level=level, seed=self.seed, workbench=self.bench)

    # --------------------------------------------------------------------------------------------- results

    def agreement(self) -> Finding | None:
        """Whether samplers agree on the target without exact draws that most of them were run on; None if none were."""
        by_case: dict[str, dict[str, Run]] = {}
        for (sampler, case), cell in self.cells.items():
            if isinstance(cell.run, Run) and cell.steps is None and not EVERY_SAMPLER[sampler].wrong:
                by_case.setdefault(case, {})[sampler] = cell.run
        runs = max(by_case.values(), key=len, default={})
        return agreement(runs, self.level) if len(runs) > 1 else None


def fits(case: Case, sampler: str) -> bool:
    """Whether the sampler can do the case's target: M-HMC wants discrete variables."""
    return EVERY_SAMPLER[sampler].takes(build(case.target, **case.settings))


def new_cell(case: Case, sampler: str, **own: Any) -> Cell:
    """The cell of a case and a sampler, with other parameters in place of the case's."""
    method = EVERY_SAMPLER[choose(sampler, EVERY_SAMPLER, "sampler")]
    chosen: dict[str, Any] = {name: value for name, value in case.values.items() if name in method.parameters}
    if case.update is not None:
        chosen["update"] = case.update
    chosen |= own
    spec = RunSpec.of(case.target, sampler, **case.settings, **chosen)
    target = spec.build_target()
    return Cell(case, sampler, spec.chosen, target, applicable(EngineSubject(target, sampler, spec.chosen)))


def applicable(subject: Subject) -> tuple[str, ...]:
    """The checks that can be made; one that compares nothing with a truth does not count alone."""
    names = tuple(name for name, check in CHECKS.items() if check.applies(subject))
    if set(names) <= {gradients.CHECK}:
        raise InvalidInput(what_to_add(subject.target))  # type: ignore[attr-defined]  # only ours can be without
    return names


def own_cell(target: Target, sampler: str, chosen: Mapping[str, Any]) -> Cell:
    """The cell of a target that somebody built, and parameters of the sampler."""
    case = Case(target.name, target.title, target.name, dict(target.settings))
    return Cell(case, sampler, chosen, target, applicable(EngineSubject(target, sampler, chosen)))


def step_cell(sampler: Any, case: Case, target: Target, name: str = "") -> Cell:
    """The cell of anybody's sampler on a target."""
    subject = StepSubject.of(sampler, target, name=name)
    return Cell(case, subject.name, {}, target, applicable(subject), steps=subject)


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


def check_sampler(
    sampler: Any,
    target: str | Target = "gmm-overlapping",
    *,
    name: str = "",
    budget: float = 1.0,
    level: float = LEVEL,
    seed: int | None = 0,
    **settings: Any,
) -> Cell:
    """All checks of anybody's sampler on a target with exact draws.

    Parameters
    ----------
    sampler
        A function `step(states, rng)`, or an object or class with `step` and, where it keeps more than the state,
        `init`. States are arrays (chains, …) by quantity. See `mahmc.checks.steps`.
    target
        A target by name ("mdc", "gmm", …), a case by name ("gmm-overlapping", "blr-prior"), or a built target.
    name
        What the sampler is called in findings; by default the name of the function or class.
    budget, level, seed
        How many draws, in times the usual; the probability of a false alarm; where random numbers begin.
    **settings
        Settings of a target that is given by name.

    Returns
    -------
    Cell
        `verdict` is right, wrong or not enough draws to tell; `words` are the grounds; `findings` has each check.

    Examples
    --------
    >>> def walk(states, rng):
    ...     return {**states, "q": states["q"] + rng.normal(size=states["q"].shape)}
    >>> mahmc.check_sampler(walk, "gmm").verdict
    <Verdict.WRONG: 'wrong'>
    """
    case, built = case_of(target, settings)
    cell = step_cell(sampler, case, built, name)
    Checking([cell], budget, level, seed).advance_all()
    return cell


def case_of(target: str | Target, settings: Mapping[str, Any]) -> tuple[Case, Target]:
    """The case that a name or a built target stands for."""
    if isinstance(target, Target):
        if settings:
            raise InvalidInput(f"{min(settings)} is a setting, and the target is built already: choose it there.")
        return Case(target.name, target.title, target.name, dict(target.settings)), target
    if target in CASES and target not in FAMILIES:
        case = CASES[target]
        return case, build(case.target, **{**case.settings, **settings})
    built = build(target, **settings)
    return Case(built.name, built.title, built.name, dict(built.settings)), built
