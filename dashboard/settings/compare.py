"""Settings of Compare: samplers on one target at equal cost, and the cost that divides effective sample sizes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings.choices import ANY, Choices
from dashboard.settings.entries import Entry, Flag, Name, Number, OneOf, Settings, SomeOf
from dashboard.settings.uploads import Uploads, takes_data
from mahmc import Comparison, InvalidInput, Parameter, RunSpec, schedules
from mahmc.compare import COSTS, REPLICATES
from mahmc.numerals import exact
from mahmc.samplers import PAPER_SAMPLERS, PARAMETERS, SAMPLERS
from mahmc.spec import ALTERNATE, OF_ALTERNATE, RUN_PARAMETERS
from mahmc.targets import FAMILIES, PaperFigure, Target

SAME_MEAN = "mahmc, i.i.d."
PREFIX = "compare."  # links of earlier versions begin every name with it
OF_TARGET = "target."  # before a parameter of a target that has the name of one of the entries OWN
OWN = ("samplers", "iid", "second", "budget", "replicates", "seed", "cost", "quantity")
BUDGET = Parameter(
    "budget", "", "Leapfrogs of a replicate",
    "All chains together. Every sampler gets exactly this many, so the number is rounded until it divides evenly.",
    kind="int", low=1, high=10**9,
)  # fmt: skip
COUNT = Parameter(
    "replicates", "", "Replicates", "Independent repetitions. The intervals come from them.",
    kind="int", low=2, high=100, default=REPLICATES,
)  # fmt: skip


@dataclass(frozen=True)
class CompareSettings(Settings):
    """The settings of Compare."""

    choices: Choices = field(default_factory=Choices)
    samplers: tuple[str, ...] = tuple(PAPER_SAMPLERS)
    iid: bool = False  # add MAHMC with i.i.d. steps, and the same mean number of leapfrogs and updates
    second: bool = False  # add the paper's second figure, if the target has one
    replicates: int = REPLICATES
    seed: int = RUN_PARAMETERS["seed"].default
    cost: str = "leapfrogs"
    quantity: str = ""  # whose effective sample size is compared; "" is the target's main one

    @property
    def subject(self) -> str:
        names = ", ".join(SAMPLERS[name].title for name in self.able())
        return f"{names} on {FAMILIES[self.choices.target].short_title}"

    def entries(self) -> dict[str, Entry]:
        choices = self.choices
        found = {
            **{f"{OF_TARGET if n in OWN else ''}{n}": e for n, e in choices.target_entries().items()},
            "samplers": Entry(SomeOf(tuple(SAMPLERS)), self.samplers, tuple(PAPER_SAMPLERS), ("samplers",)),
            "iid": Entry(Flag(), self.iid, False, ("iid",)),
            "second": Entry(Flag(), self.second, False, ("second",)),
        }
        for sampler in self.samplers:
            found |= choices.sampler_entries(sampler, f"{sampler}.", shared_update=False)
        place = ("choices", "chosen", choices.target, ANY, "budget")
        return found | {
            "budget": Entry(Number(BUDGET), self.budget, choices.family().presentation.budget, place),
            "replicates": Entry(Number(COUNT), self.replicates, REPLICATES, ("replicates",)),
            "seed": Entry(Number(RUN_PARAMETERS["seed"]), self.seed, 0, ("seed",)),
            "cost": Entry(OneOf(tuple(COSTS)), self.cost, "leapfrogs", ("cost",)),
            "quantity": Entry(Name(), self.quantity, "", ("quantity",)),
        }

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        """Links of earlier versions name every control that was ever shown: only the controls in use count."""
        before = {name.removeprefix(PREFIX): text for name, text in query.items() if name.startswith(PREFIX)}
        found = {name: text for name, text in query.items() if not name.startswith(PREFIX)}
        target = before.get("target", self.choices.target)
        samplers = before.get("samplers", ",".join(PAPER_SAMPLERS)).split(",")
        for name, text in before.items():
            match name.split("."):
                case ["budget", other] if other in FAMILIES:
                    found |= {"budget": text} if other == target else {}
                case [other, sampler, parameter] if other in FAMILIES and sampler in SAMPLERS:
                    schedule = before.get(f"{target}.{sampler}.schedule", ALTERNATE)
                    replaced = parameter in OF_ALTERNATE and schedule != ALTERNATE
                    if other == target and sampler in samplers and text and not replaced:
                        found[f"{sampler}.{parameter}"] = text
                case ["data"] if target not in FAMILIES or not takes_data(target):
                    pass
                case _:
                    found[name] = text
        return found

    def check(self) -> None:
        """Check what only a link can break. The page itself reports a budget that does not divide evenly."""
        target = self.choices.built({})
        for sampler in self.able():
            RunSpec.of(target, sampler, **self.choices.method(sampler, strict=True))

    def plain(self) -> CompareSettings:
        return replace(self, choices=replace(self.choices, chosen={}))

    # --------------------------------------------------------------------------------------------- reading

    @property
    def budget(self) -> int:
        choices = self.choices
        return int(choices.chosen.get((choices.target, ANY, "budget"), choices.family().presentation.budget))

    def able(self) -> tuple[str, ...]:
        """The chosen samplers that can sample the target."""
        return tuple(name for name in self.samplers if SAMPLERS[name].takes(self.choices.family()))

    def target(self, uploads: Uploads) -> Target:
        """The target with the chosen settings, on the chosen data; InvalidInput if they are not allowed."""
        return self.choices.built(uploads)

    def second_figure(self, uploads: Uploads) -> PaperFigure | None:
        """The paper's second figure for exactly this target, if there is one."""
        with suppress(InvalidInput):  # the page says what is wrong
            return self.target(uploads).presentation.paper.second
        return None

    def on_target_of(self, choices: Choices) -> CompareSettings:
        """These settings with the target of `choices`, its settings and its data."""
        return replace(self, choices=self.choices.on_target_of(choices))

    def methods(self, target: Target) -> dict[str, Mapping[str, Any]]:
        """The samplers and their parameters by label, as a Comparison takes them."""
        found: dict[str, Mapping[str, Any]] = {
            name: {"sampler": name} | self.choices.method(name) for name in self.able()
        }
        if self.iid and target.density.updates:
            found[SAME_MEAN] = _of_the_same_mean(target, found.get("mahmc", {"sampler": "mahmc"}))
        if self.second and (second := target.presentation.paper.second):
            found[second_label(second)] = {"sampler": second.sampler, **second.values}
        return found

    def comparison(self, uploads: Uploads) -> Comparison:
        """The comparison of these settings; InvalidInput if nothing can be compared."""
        self.require_usable()
        target = self.target(uploads)
        return Comparison(target, self.methods(target), self.budget, self.replicates, self.seed)


def second_label(second: PaperFigure) -> str:
    """What the sampler of the paper's second figure is called beside the others: "mahmc, Nᵁ 4"."""
    name = next(name for name in second.values if name in OF_ALTERNATE)
    return f"{second.sampler}, {PARAMETERS[name].symbol} {exact(second.values[name])}"


def _of_the_same_mean(target: Target, mahmc: Mapping[str, Any]) -> dict[str, Any]:
    """MAHMC with the same parameters, but with i.i.d. steps in its trajectory."""
    law = RunSpec.of(target, **mahmc).law
    kept = {name: value for name, value in mahmc.items() if name not in OF_ALTERNATE}
    return kept | {"schedule": str(schedules.same_mean(law))}
