"""Samplers × targets: all checks that apply to each, one after the other, with a verdict for each cell.

>>> mahmc.check("gmm", "naive").verdict
<Verdict.WRONG: 'wrong'>
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mahmc.checks.agree import agreement
from mahmc.checks.cells import CASES, Case, Cell
from mahmc.checks.registry import CHECKS, applicable
from mahmc.checks.resolution import DEFAULT, Resolution
from mahmc.checks.steps import StepSubject
from mahmc.checks.subjects import EngineSubject
from mahmc.checks.verdicts import LEVEL, Finding, Stopped, Workbench, checked_level
from mahmc.parameters import InvalidInput, choose
from mahmc.run import Run
from mahmc.samplers import EVERY_SAMPLER
from mahmc.spec import RunSpec, checked_seed
from mahmc.targets import FAMILIES, Target, build

BUDGETS = (0.01, 100.0)


class CheckDone(NamedTuple):
    """One check of one cell is done."""

    cell: Cell
    check: str
    done: int
    total: int
    seconds_left: float


class Checking:
    """All checks of some cells. Each step of an iteration makes one check; `stop` keeps the checks that are done.

    Parameters
    ----------
    cells
        The cells, as `Checking.of` and `mahmc.checks.new_cell` make them.
    budget
        The factor of the usual number of draws, between 0.01 and 100.
    level
        The probability of a false alarm for each cell. The checks of a cell share it.
    seed
        Same seed, same verdicts. None takes a new seed.
    resolution
        The sizes of the errors that a verdict of *right* must rule out, by kind; see `check_sampler`.

    Raises
    ------
    InvalidInput
        If the budget, the level, the seed or the resolution cannot be used.

    Examples
    --------
    >>> checking = mahmc.Checking.of(["naive"], ["gmm"], budget=0.1)
    >>> checking.total, checking.finished
    (4, False)
    >>> checking.advance_all().cells["naive", "gmm"].verdict
    <Verdict.WRONG: 'wrong'>
    """

    def __init__(
        self, cells: Sequence[Cell], budget: float = 1.0, level: float = LEVEL, seed: int | None = 0,
        resolution: Resolution = DEFAULT,
    ) -> None:  # fmt: skip
        if not BUDGETS[0] <= budget <= BUDGETS[1]:
            raise InvalidInput(
                f"budget = {budget:g} is not allowed: it must be between {BUDGETS[0]} and {BUDGETS[1]:g}."
            )
        self.cells = {cell.key: cell for cell in cells}
        self.budget, self.level, self.seed = budget, checked_level(level), checked_seed(seed)
        self.bench = Workbench(resolution)
        self.seconds = 0.0
        self.made = 0  # checks made here; cells may bring findings with them
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
        resolution: Resolution = DEFAULT,
    ) -> Checking:
        """Make all cells of some samplers on some cases.

        Parameters
        ----------
        samplers, cases
            Names of samplers and of cases; by default all. A sampler has no cell on a target that it cannot sample.
        budget, level, seed, resolution
            As `Checking` takes them.

        Returns
        -------
        Checking
            The cells, without findings yet.

        Raises
        ------
        InvalidInput
            If a name is unknown, or another argument cannot be used.

        Examples
        --------
        >>> list(mahmc.Checking.of(["hmc", "m-hmc"], ["gmm"]).cells)
        [('hmc', 'gmm'), ('m-hmc', 'gmm')]
        """
        rows = [choose(name, EVERY_SAMPLER, "sampler") for name in samplers or EVERY_SAMPLER]
        columns = [CASES[choose(name, CASES, "case")] for name in cases or CASES]
        cells = [new_cell(case, sampler) for sampler in rows for case in columns if fits(case, sampler)]
        return cls(cells, budget, level, seed, resolution)

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
        """Stop now, from any thread. Checks that are done are kept.

        Examples
        --------
        >>> checking = mahmc.Checking.of(["naive"], ["gmm"], budget=0.1)
        >>> for step in checking:
        ...     checking.stop()
        >>> checking.done
        1
        """
        self._stopped = True
        self.bench.stop()

    def __iter__(self) -> Iterator[CheckDone]:
        self._stopped = False  # here, not at the first step, so that an early stop is not lost
        self.bench.ready()
        return self._steps()

    def _steps(self) -> Iterator[CheckDone]:
        for cell in self.cells.values():
            for name in cell.checks:
                if name in cell.findings:
                    continue
                if self._stopped:
                    return
                self.current = cell, name
                begin = time.perf_counter()
                try:
                    finding = self._check(cell, name)
                except Stopped:
                    return
                finally:
                    self.current = None
                took = time.perf_counter() - begin
                cell.findings.publish(name, finding, took)
                self.seconds += took
                self.made += 1
                yield CheckDone(cell, name, self.done, self.total, self.seconds / self.made * (self.total - self.done))

    def advance_all(self) -> Checking:
        """Go on to the end, or until `stop` is called.

        Returns
        -------
        Checking
            This object.

        Examples
        --------
        >>> mahmc.Checking.of(["naive"], ["gmm"], budget=0.1).advance_all().finished
        True
        """
        for _ in self:
            pass
        return self

    def _check(self, cell: Cell, name: str) -> Finding:
        level = self.level / len(cell.checks)
        return CHECKS[name].run(cell.subject, self.budget, level=level, seed=self.seed, workbench=self.bench)

    # --------------------------------------------------------------------------------------------- results

    def agreement(self) -> Finding | None:
        """Whether the correct samplers agree on a target without exact draws.

        Returns
        -------
        Finding or None
            The finding on the target with the most checked samplers. None if there are fewer than two.

        Examples
        --------
        >>> mahmc.Checking.of(["hmc"], ["gmm"], budget=0.1).agreement() is None
        True
        """
        by_case: dict[str, dict[str, Run]] = {}
        for (sampler, case), cell in self.cells.items():
            if isinstance(cell.run, Run) and cell.steps is None and not EVERY_SAMPLER[sampler].wrong:
                by_case.setdefault(case, {})[sampler] = cell.run
        runs = max(by_case.values(), key=len, default={})
        return agreement(runs, self.level, self.bench) if len(runs) > 1 else None


def fits(case: Case, sampler: str) -> bool:
    """Whether the sampler can sample the case's target: M-HMC needs discrete variables."""
    return EVERY_SAMPLER[sampler].takes(build(case.target, **case.settings))


def new_cell(case: Case, sampler: str, **own: Any) -> Cell:
    """Make the cell of a case and a sampler, without findings.

    Parameters
    ----------
    case
        One of `mahmc.checks.CASES`.
    sampler
        A sampler by name.
    **own
        Parameters of the sampler that replace those of the case.

    Returns
    -------
    Cell
        The cell, for `Checking`.

    Raises
    ------
    InvalidInput
        If the sampler is unknown or cannot sample the target, or a parameter is not allowed.

    Examples
    --------
    >>> mahmc.checks.new_cell(mahmc.checks.CASES["mdc"], "hmc", L=5)
    <Cell of hmc on mdc: 0 of 4 checks are done>
    """
    method = EVERY_SAMPLER[choose(sampler, EVERY_SAMPLER, "sampler")]
    chosen: dict[str, Any] = {name: value for name, value in case.values.items() if name in method.parameters}
    if case.update is not None:
        chosen["update"] = case.update
    chosen |= own
    spec = RunSpec.of(case.target, sampler, **case.settings, **chosen)
    target = spec.build_target()
    return Cell(case, sampler, spec.chosen, target, applicable(EngineSubject(target, sampler, spec.chosen)))


def custom_cell(target: Target, sampler: str, chosen: Mapping[str, Any]) -> Cell:
    """Make the cell of a built target and a sampler, without findings.

    Parameters
    ----------
    target
        The target.
    sampler
        A sampler by name.
    chosen
        Parameters of the sampler.

    Returns
    -------
    Cell
        The cell, for `Checking`.

    Raises
    ------
    InvalidInput
        If no check of this target compares draws with a truth.

    Examples
    --------
    >>> mahmc.checks.custom_cell(mahmc.targets.mdc(n_w=3), "hmc", {"L": 5})
    <Cell of hmc on mdc: 0 of 4 checks are done>
    """
    case = Case(target.name, target.presentation.title, target.name, dict(target.settings))
    return Cell(case, sampler, chosen, target, applicable(EngineSubject(target, sampler, chosen)))


def step_cell(sampler: Any, case: Case, target: Target, name: str = "") -> Cell:
    """The cell of a sampler that a user wrote, on a target."""
    subject = StepSubject.of(sampler, target, name=name)
    return Cell(case, subject.name, {}, target, applicable(subject), steps=subject)


def case_of(target: str | Target, settings: Mapping[str, Any]) -> tuple[Case, Target]:
    """The case that a name or a built target stands for."""
    if isinstance(target, Target):
        if settings:
            raise InvalidInput(
                f"{min(settings)} is a setting of a target that is already built: choose it when you build the target."
            )
        return Case(target.name, target.presentation.title, target.name, dict(target.settings)), target
    if target in CASES and target not in FAMILIES:
        case = CASES[target]
        return case, build(case.target, **{**case.settings, **settings})
    built = build(target, **settings)
    return Case(built.name, built.presentation.title, built.name, dict(built.settings)), built
