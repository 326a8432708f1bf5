"""Settings of Checks: how strict checks are, which cell is open, and a custom case beside the built-in cases."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dashboard.settings.choices import Choices
from dashboard.settings.entries import Entry, Flag, Kind, Name, Number, OneOf, Settings
from dashboard.settings.uploads import Uploads
from mahmc import InvalidInput, Parameter, RunSpec
from mahmc.checks import CASES, CHECKS, LEVEL, Case, Cell, custom_cell, new_cell
from mahmc.checks.matrix import BUDGETS, fits, step_cell
from mahmc.custom.samplers import LOADED
from mahmc.samplers import EVERY_SAMPLER
from mahmc.spec import RUN_PARAMETERS
from mahmc.targets import Target, build

CUSTOM = "own"  # the name of the custom case, in links and in the matrix
AGREEMENT = "agreement"
STRICTNESS = {
    p.name: p
    for p in (
        Parameter(
            "budget", "", "Budget",
            "The number of draws, relative to the usual number. Four times as many draws show errors of half the size "
            "and take four times as long. Very few draws are not enough for a verdict.",
            low=BUDGETS[0], high=BUDGETS[1], slider=(0.05, 10.0), log=True, default=1.0,
        ),
        Parameter(
            "level", "", "False alarms",
            "The largest probability that a correct sampler is called wrong, for each cell.",
            low=1e-9, high=0.1, slider=(1e-6, 0.1), log=True, default=LEVEL,
        ),
        RUN_PARAMETERS["seed"],
    )
}  # fmt: skip
CONTESTS = {"naive": ("gmm", ("mahmc", "naive")), "asymmetric": ("gmm-overlapping", ("mahmc", "asymmetric"))}
CONTEST_DRAWS = tuple(2**k for k in range(13))  # a contest tests both samplers after this many draws of each chain
WHERE_IT_TELLS = 0  # draws of a contest: as many as the test needs to tell
VIEWS = ("matrix", "contest")
ONCE_USUAL = {"exhibit": "naive", "draws": "1024"}  # defaults of earlier versions; some of their links have all values
FIRST_CELL = ("naive", "gmm")
CUSTOM_FIRST = Choices("gmm")


@dataclass(frozen=True)
class CellName:
    """A cell of the matrix: sampler and case, with a dot between."""

    allowed = "a sampler and a case of the matrix, as naive.gmm"

    def parse(self, text: str) -> tuple[str, str]:
        sampler, _, case = text.partition(".")
        if sampler not in rows() or case not in (*CASES, CUSTOM):
            raise InvalidInput(f"must be {self.allowed}")
        return sampler, case

    def text(self, value: tuple[str, str]) -> str:
        return ".".join(value)


@dataclass(frozen=True)
class DrawsShown:
    """How many draws of each chain a contest shows: one of CONTEST_DRAWS."""

    allowed = f"a power of two up to {CONTEST_DRAWS[-1]}"

    def parse(self, text: str) -> int:
        if text not in map(str, CONTEST_DRAWS):
            raise InvalidInput(f"must be {self.allowed}")
        return int(text)

    def text(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True)
class CheckSettings(Settings):
    """The settings of Checks."""

    choices: Choices = CUSTOM_FIRST  # target and sampler of the custom case
    custom: bool = False  # whether there is a custom case
    budget: float = STRICTNESS["budget"].default
    level: float = STRICTNESS["level"].default
    seed: int = STRICTNESS["seed"].default
    cell: tuple[str, str] = FIRST_CELL  # sampler and case of the open cell
    check_shown: str = "marginals"
    quantity: str = ""  # whose marginal distribution is shown
    exhibit: str = "naive"  # which contest is shown
    draws: int = WHERE_IT_TELLS  # how many draws of each chain the contest shows
    view: str = "matrix"  # the matrix of verdicts, or a contest

    @property
    def subject(self) -> str:
        sampler, case = self.cell
        return f"{sampler_title(sampler)} on {CASES[case].title if case in CASES else 'your own case'}"

    def entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {
            name: Entry(Number(p), getattr(self, name), p.default, (name,)) for name, p in STRICTNESS.items()
        }
        simple: dict[str, tuple[Kind, Any, Any, str]] = {
            "cell": (CellName(), self.cell, FIRST_CELL, "cell"),
            "check": (OneOf((*CHECKS, AGREEMENT)), self.check_shown, "marginals", "check_shown"),
            "quantity": (Name(), self.quantity, "", "quantity"),
            "exhibit": (OneOf(tuple(CONTESTS)), self.exhibit, "naive", "exhibit"),
            "draws": (DrawsShown(), self.draws, WHERE_IT_TELLS, "draws"),
            "view": (OneOf(VIEWS), self.view, "" if self._contest_chosen else "matrix", "view"),
            "own": (Flag(), self.custom, False, "custom"),
        }
        found |= {name: Entry(kind, value, default, (at,)) for name, (kind, value, default, at) in simple.items()}
        return found | (self._custom_entries() if self.custom else {})

    @property
    def _contest_chosen(self) -> bool:
        """Whether a link has entries of a contest. Then it always has the view, as links of earlier versions do not."""
        return (self.exhibit, self.draws) != (CheckSettings.exhibit, CheckSettings.draws)

    def _custom_entries(self) -> dict[str, Entry]:
        """Entries of all samplers: each has a row in the custom column."""
        choices, prefix = self.choices, f"{CUSTOM}."
        found = choices.target_entries(prefix)
        found[f"{prefix}target"] = replace(found[f"{prefix}target"], default=CUSTOM_FIRST.target)
        able = choices.samplers()
        found[f"{prefix}sampler"] = Entry(OneOf(able), choices.sampler, Choices.sampler, ("choices", "sampler"))
        for sampler in able:
            of_sampler = choices.sampler_entries(sampler, f"{prefix}{sampler}.")
            update = of_sampler.pop(f"{prefix}{sampler}.update", None)
            if sampler == choices.sampler and update is not None:
                found[f"{prefix}update"] = update
            found |= of_sampler
        return found

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        """In links of earlier versions, what was chosen of a contest leads to the contest: the page had no views."""
        leads = "view" not in query and any(query.get(name, usual) != usual for name, usual in ONCE_USUAL.items())
        return dict(query) | ({"view": "contest"} if leads else {})

    def check(self) -> None:
        if self.custom:
            self.choices.built({})
            self._custom_specs({}, strict=True)

    def plain(self) -> CheckSettings:
        return replace(self, choices=replace(self.choices, chosen={}))

    # --------------------------------------------------------------------------------------------- reading

    @property
    def strictness(self) -> dict[str, Any]:
        """Budget, level and seed, as Checking takes them."""
        return {name: getattr(self, name) for name in STRICTNESS}

    def cells(self, uploads: Uploads) -> tuple[list[Cell], str]:
        """The cells of the matrix, row by row, without results; and why the custom case cannot be checked."""
        custom, problem = {}, ""
        if self.custom:
            try:
                custom = self._custom_cells(uploads)
            except InvalidInput as refusal:
                problem = f"Your own case cannot be checked: {refusal}"
        columns = [*CASES, CUSTOM] if custom else [*CASES]
        all_cells = _templates() | custom
        places = [(sampler, case) for sampler in rows() for case in columns]
        return [all_cells[place] for place in places if place in all_cells], problem

    def _custom_cells(self, uploads: Uploads) -> dict[tuple[str, str], Cell]:
        target = self.choices.built(uploads)
        if target.truth.unknown and not target.truth.scalars:
            raise InvalidInput(target.truth.unknown)
        case = Case(CUSTOM, custom_title(target), target.name, dict(target.settings))
        return {
            (sampler, CUSTOM): replace(custom_cell(target, sampler, spec.chosen), case=case)
            for sampler, spec in self._custom_specs(uploads).items()
        }

    def _custom_specs(self, uploads: Uploads, strict: bool = False) -> dict[str, RunSpec]:
        """By sampler: the run of each sampler that can sample the target."""
        choices, target = self.choices, self.choices.built(uploads)
        return {
            sampler: RunSpec.of(target, sampler, **choices.method(sampler, strict and sampler == choices.sampler))
            for sampler in choices.samplers()
        }


def custom_title(target: Target) -> str:
    """A short title of a target with its settings."""
    title = target.presentation.short_title
    return title if target.fingerprint else f"your own {title}"


def rows() -> tuple[str, ...]:
    """The samplers of the matrix: those of mahmc, then those that the server was started with."""
    return (*EVERY_SAMPLER, *LOADED)


def sampler_title(name: str) -> str:
    """The title of a sampler."""
    return EVERY_SAMPLER[name].title if name in EVERY_SAMPLER else name


@cache
def _templates() -> dict[tuple[str, str], Cell]:
    """The cells of all samplers on all cases, without results."""
    cells = [new_cell(case, sampler) for sampler in EVERY_SAMPLER for case in CASES.values() if fits(case, sampler)]
    for name, sampler in LOADED.items():
        for case in CASES.values():
            with suppress(InvalidInput):  # this sampler does not take this case
                cells.append(step_cell(sampler, case, build(case.target, **case.settings), name))
    return {cell.key: cell for cell in cells}
