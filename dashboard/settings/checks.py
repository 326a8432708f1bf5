"""Settings of Checks: how strict, which cell is looked at, and a custom case beside the built-in ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dashboard.settings.choices import Choices
from dashboard.settings.entries import Entry, Flag, Kind, Name, Number, OneOf, Settings
from dashboard.settings.uploads import TARGET, Uploads
from mahmc import InvalidInput, Parameter, RunSpec
from mahmc.checks import CASES, CHECKS, LEVEL, Case, Cell, new_cell, own_cell
from mahmc.checks.matrix import BUDGETS, fits, step_cell
from mahmc.own.samplers import LOADED
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
            "Times the usual number of draws. Four times as many see errors half as large, and take four times as "
            "long; with very few there is not enough to tell.",
            low=BUDGETS[0], high=BUDGETS[1], slider=(0.05, 10.0), log=True, default=1.0,
        ),
        Parameter(
            "level", "", "False alarms",
            "The probability with which a sampler that is right is called wrong, for each cell, at most.",
            low=1e-9, high=0.1, slider=(1e-6, 0.1), log=True, default=LEVEL,
        ),
        RUN_PARAMETERS["seed"],
    )
}  # fmt: skip
CONTESTS = {"naive": ("gmm", ("mahmc", "naive")), "asymmetric": ("gmm-overlapping", ("mahmc", "asymmetric"))}
LOOKS = tuple(2**k for k in range(13))  # draws of each chain, after which a contest looks
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
    """How many draws of each chain a contest shows: one of its looks."""

    allowed = f"a power of two up to {LOOKS[-1]}"

    def parse(self, text: str) -> int:
        if text not in map(str, LOOKS):
            raise InvalidInput(f"must be {self.allowed}")
        return int(text)

    def text(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True)
class CheckSettings(Settings):
    choices: Choices = CUSTOM_FIRST  # of the custom case
    custom: bool = False  # whether there is one
    budget: float = STRICTNESS["budget"].default
    level: float = STRICTNESS["level"].default
    seed: int = STRICTNESS["seed"].default
    cell: tuple[str, str] = FIRST_CELL  # sampler and case that are looked at closely
    check_shown: str = "marginals"
    quantity: str = ""  # of marginals, that is shown
    exhibit: str = "naive"  # the contest that is shown
    draws: int = 1024  # of each chain, that it shows

    def entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {
            name: Entry(Number(p), getattr(self, name), p.default, (name,)) for name, p in STRICTNESS.items()
        }
        simple: dict[str, tuple[Kind, Any, Any, str]] = {
            "cell": (CellName(), self.cell, FIRST_CELL, "cell"),
            "check": (OneOf((*CHECKS, AGREEMENT)), self.check_shown, "marginals", "check_shown"),
            "quantity": (Name(), self.quantity, "", "quantity"),
            "exhibit": (OneOf(tuple(CONTESTS)), self.exhibit, "naive", "exhibit"),
            "draws": (DrawsShown(), self.draws, 1024, "draws"),
            "own": (Flag(), self.custom, False, "custom"),
        }
        found |= {name: Entry(kind, value, default, (at,)) for name, (kind, value, default, at) in simple.items()}
        return found | (self._custom_entries() if self.custom else {})

    def _custom_entries(self) -> dict[str, Entry]:
        """Of all samplers, as each has a row in the custom column."""
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
        """The matrix, row by row, as yet without results; and why the custom case cannot be checked."""
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
        if not target.truths and target.name == TARGET and not target.fingerprint:
            raise InvalidInput(
                "the exact posterior of BLR under this prior is unknown. Take the prior only, where everything is "
                "exact, or shape 1 and scale 100, for which there is a reference."
            )
        case = Case(CUSTOM, custom_title(target), target.name, dict(target.settings))
        return {
            (sampler, CUSTOM): replace(own_cell(target, sampler, spec.chosen), case=case)
            for sampler, spec in self._custom_specs(uploads).items()
        }

    def _custom_specs(self, uploads: Uploads, strict: bool = False) -> dict[str, RunSpec]:
        """By sampler, of those that can sample the target."""
        choices, target = self.choices, self.choices.built(uploads)
        return {
            sampler: RunSpec.of(target, sampler, **choices.method(sampler, strict and sampler == choices.sampler))
            for sampler in choices.samplers()
        }


def custom_title(target: Target) -> str:
    """A target in few words, with what was chosen of it."""
    about = target.settings
    words = {
        "gmm": lambda: f"GMM, {len(about['weights'])} components",
        "mdc": lambda: f"MDC, {about['n_w']} of w, sd {about['sd']:g}",
        "blr": lambda: "BLR, prior only" if about["prior_only"] else "BLR, posterior",
    }
    if target.fingerprint:
        return f"BLR, your data{', prior only' if about['prior_only'] else ''}"
    return f"your own {words[target.name]() if target.name in words else target.title.partition(':')[0]}"


def rows() -> tuple[str, ...]:
    """The samplers of the matrix: ours, then those of whoever started the server."""
    return (*EVERY_SAMPLER, *LOADED)


def sampler_title(name: str) -> str:
    """What a sampler is called."""
    return EVERY_SAMPLER[name].title if name in EVERY_SAMPLER else name


@cache
def _templates() -> dict[tuple[str, str], Cell]:
    """The cells of all samplers on all cases, without results."""
    cells = [new_cell(case, sampler) for sampler in EVERY_SAMPLER for case in CASES.values() if fits(case, sampler)]
    for name, sampler in LOADED.items():
        for case in CASES.values():
            with suppress(InvalidInput):  # it is not meant for this case
                cells.append(step_cell(sampler, case, build(case.target, **case.settings), name))
    return {cell.key: cell for cell in cells}
