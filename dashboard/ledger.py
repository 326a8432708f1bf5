"""What the Checks page was asked, and what it found so far. No Streamlit in here.

A result belongs to everything that decides it: sampler, target, their parameters, budget, level and seed. It is looked
up by all of these, so that what is shown is never of other settings than the controls say.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from dashboard.controls import Choices
from dashboard.jobs import LOOKS
from dashboard.uploads import TARGET
from mahmc import InvalidInput, Parameter, RunSpec, schedules
from mahmc.checks import CASES, CHECKS, LEVEL, Case, Cell, Checking, Finding, new_cell, own_cell
from mahmc.checks.matrix import BUDGETS, fits
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS
from mahmc.spec import NONE, RUN_PARAMETERS
from mahmc.targets import FAMILIES, Target

OWN = "own"  # the case of one's own
AGREEMENT = "agreement"
MOST_CELLS = 60  # whose results are kept; the oldest go first
SETTINGS = {
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
EXHIBITS = {"naive": ("gmm", ("mahmc", "naive")), "asymmetric": ("gmm-overlapping", ("mahmc", "asymmetric"))}


@dataclass
class Asked:
    """What the controls say."""

    settings: dict[str, Any] = field(default_factory=lambda: {name: p.default for name, p in SETTINGS.items()})
    cell: tuple[str, str] = ("naive", "gmm")  # sampler and case that are looked at closely
    check: str = "marginals"
    exhibit: str = "naive"
    draws: int = 1024  # of each chain, that the exhibit shows
    with_own: bool = False
    own: Choices = field(default_factory=lambda: Choices("gmm", view="full", page="checks"))

    # ------------------------------------------------------------------------------------------------- links

    @classmethod
    def of(cls, query: Mapping[str, str]) -> tuple[Asked, str]:
        """From a URL's query, and what of it cannot be used, in words of ours: nothing of the link is ever shown."""
        asked, refused, unknown = cls(), [], 0
        for key in sorted(query, key=lambda name: name != "own.target"):  # others hang on it
            try:
                asked._take(key, query[key])
            except KeyError:
                unknown += not key.startswith("embed")
            except ValueError:
                refused.append(key)
        own = asked.own
        try:
            own.built()
        except InvalidInput:
            refused += [f"own.{name}" for name in own.of_target.pop(own.target)]
        try:
            asked._own_specs()
        except InvalidInput:
            refused.append("parameters of your own case, which do not go together")
            own.of_trajectory.clear()
            own.of_sampler.clear()
        if own.sampler not in own.samplers():
            refused.append("own.sampler")
            own.sampler = Choices.sampler
        if asked.cell[1] == OWN and not asked.with_own:
            asked.cell = cls().cell
        parts = refused + ([f"{unknown} more that this page does not know"] if unknown else [])
        problem = f"Not used of this link, so you see the defaults: {', '.join(parts)}." if parts else ""
        no_data = " Data of one's own are in no link: upload them again, on Explore." if "own.data" in refused else ""
        return asked, problem + no_data

    def _take(self, key: str, text: str) -> None:
        """One entry of a link; KeyError if there is no such control, ValueError if it has no such value."""
        own = self.own
        family = {p.name: p for p in FAMILIES[own.target].parameters}
        match key.split("."):
            case [name] if name in SETTINGS:
                self.settings[name] = SETTINGS[name].parse(text)
            case ["cell"]:
                sampler, _, case = text.partition(".")
                self.cell = _one_of(sampler, EVERY_SAMPLER), _one_of(case, [*CASES, OWN])
            case ["check"]:
                self.check = _one_of(text, [*CHECKS, AGREEMENT])
            case ["exhibit"]:
                self.exhibit = _one_of(text, EXHIBITS)
            case ["draws"]:
                self.draws = int(_one_of(text, map(str, LOOKS)))
            case ["own"]:
                self.with_own = _one_of(text, ["0", "1"]) == "1"
            case ["own", "target"]:
                own.target = _one_of(text, FAMILIES)
            case ["own", "sampler"]:
                own.sampler = _one_of(text, EVERY_SAMPLER)
            case ["own", "update"]:
                own.update[own.target] = ",".join(_one_of(name, own.family().updates) for name in text.split(","))
            case ["own", "data"]:
                raise ValueError(text)
            case ["own", sampler, "outer"] if sampler in EVERY_SAMPLER:
                chosen = _one_of(text, (*own.family().updates, NONE))
                own.of_trajectory.setdefault((own.target, sampler), {})["outer"] = chosen
            case ["own", sampler, "schedule"] if EVERY_SAMPLER[sampler].takes_schedule:
                chosen = str(schedules.parse(text))
                own.of_trajectory.setdefault((own.target, sampler), {})["schedule"] = chosen
            case ["own", name] if name in family:
                own.of_target.setdefault(own.target, {})[name] = family[name].parse(text)
            case ["own", sampler, name] if name in EVERY_SAMPLER[sampler].parameters:
                own.of_sampler.setdefault((own.target, sampler), {})[name] = PARAMETERS[name].parse(text)
            case _:
                raise KeyError(key)

    def link(self) -> dict[str, str]:
        """The query that brings these controls back."""
        texts = {name: str(value) for name, value in self.settings.items()}
        texts |= {"cell": ".".join(self.cell), "check": self.check, "exhibit": self.exhibit, "draws": str(self.draws)}
        if not self.with_own:
            return texts
        own = self.own
        texts |= {"own": "1", "own.target": own.target, "own.sampler": own.sampler}
        if own.target in own.update:
            texts["own.update"] = own.update[own.target]
        for place, chosen in (*own.of_sampler.items(), *own.of_trajectory.items()):
            if place[0] == own.target:
                usual = EVERY_SAMPLER[place[1]].defaults(own.target)
                texts |= {f"own.{place[1]}.{name}": str(v) for name, v in chosen.items() if v != usual.get(name)}
        try:
            written = dict(parse_qsl(RunSpec.of(own.built(), "hmc").to_query()))
            texts |= {f"own.{p.name}": written[p.name] for p in FAMILIES[own.target].parameters}
        except InvalidInput:  # of settings that make no target there is no link
            pass
        return texts | ({"own.data": own.data.fingerprint} if own.data and own.target == TARGET else {})

    # ------------------------------------------------------------------------------------------- what to check

    def cells(self) -> tuple[list[Cell], str]:
        """The matrix, row by row, as yet without results, and why a case of one's own cannot be checked."""
        own, problem = {}, ""
        if self.with_own:
            try:
                own = self._own_cells()
            except InvalidInput as refusal:
                problem = f"Your own case cannot be checked: {refusal}"
        columns = [*CASES, OWN] if own else [*CASES]
        all_cells = _templates() | own
        places = [(sampler, case) for sampler in EVERY_SAMPLER for case in columns]
        return [all_cells[place] for place in places if place in all_cells], problem

    def _own_cells(self) -> dict[tuple[str, str], Cell]:
        target = self.own.built()
        if not target.truths and target.name == TARGET and not target.fingerprint:
            raise InvalidInput(
                "nothing is known of BLR's posterior under this prior to hold it against. Take the prior only, where "
                "all is exact, or shape 1 and scale 100, which there is a reference for."
            )
        case = Case(OWN, own_title(target), target.name, dict(target.settings))
        return {
            (sampler, OWN): replace(own_cell(target, sampler, spec.chosen), case=case)
            for sampler, spec in self._own_specs().items()
        }

    def _own_specs(self) -> dict[str, RunSpec]:
        """By sampler, of those that can sample the target."""
        target = self.own.built()
        return {sampler: RunSpec.of(target, sampler, **self.own.of_method(sampler)) for sampler in self.own.samplers()}


def _one_of(text: str, known: Iterable[str]) -> str:
    if text not in set(known):
        raise ValueError(text)
    return text


def own_title(target: Target) -> str:
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


@cache
def _templates() -> dict[tuple[str, str], Cell]:
    """The cells of all samplers on all cases, without results."""
    cells = [new_cell(case, sampler) for sampler in EVERY_SAMPLER for case in CASES.values() if fits(case, sampler)]
    return {cell.key: cell for cell in cells}


class Ledger:
    """One tab's controls, and the results of whatever was asked, by all that decides them."""

    def __init__(self, asked: Asked, link_problem: str = "") -> None:
        self.asked = asked
        self.link_problem = link_problem  # until something is run
        self._found: dict[Hashable, Cell] = {}

    def identity(self, cell: Cell) -> tuple[Hashable, ...]:
        """Everything that decides this cell's results under the settings asked for."""
        of_target, of_sampler = tuple(cell.target.settings.items()), tuple(cell.chosen.items())
        whose = (cell.target.name, cell.target.fingerprint)
        return *cell.key, *whose, of_target, of_sampler, *(self.asked.settings[name] for name in SETTINGS)

    def found(self, cell: Cell) -> Cell | None:
        """The cell with its results, if there are any or they are on their way."""
        return self._found.get(self.identity(cell))

    def checking(self, cells: Iterable[Cell]) -> Checking:
        """Checks of these cells; results that are there already are used, and not made again."""
        mine = []
        for cell in cells:
            found = self.found(cell) or replace(cell, findings={}, seconds=0.0)
            self._found.pop(self.identity(cell), None)  # to the end: the oldest are forgotten first
            self._found[self.identity(cell)] = found
            mine.append(found)
        for forgotten in list(self._found)[:-MOST_CELLS]:
            del self._found[forgotten]
        return Checking(mine, **self.asked.settings)

    def agreement(self, cells: Iterable[Cell]) -> Finding | None:
        """Whether the right samplers agree on BLR's posterior, of those among `cells` that have results."""
        found = [mine for cell in cells if (mine := self.found(cell)) is not None]
        return Checking(found, **self.asked.settings).agreement()
