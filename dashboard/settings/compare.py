"""Settings of Compare: samplers on one target at equal cost, and what their effective sample sizes are divided by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings.choices import ANY, Choices
from dashboard.settings.entries import Entry, Flag, Name, Number, OneOf, Settings, SomeOf
from dashboard.settings.uploads import TARGET, Uploads
from mahmc import Comparison, Parameter, RunSpec, schedules, tables
from mahmc.compare import COSTS, REPLICATES
from mahmc.samplers import PAPER_SAMPLERS, SAMPLERS
from mahmc.spec import ALTERNATE, OF_ALTERNATE, RUN_PARAMETERS
from mahmc.targets import FAMILIES, Target

SECOND = "mahmc, Nᵁ 4"
SAME_MEAN = "mahmc, i.i.d."
PREFIX = "compare."  # of all names, in links of earlier versions
BUDGET = Parameter(
    "budget", "", "Leapfrogs of a replicate",
    "All chains together. Every sampler gets exactly as many, so the number is rounded to one that divides evenly.",
    kind="int", low=1, high=10**9,
)  # fmt: skip
COUNT = Parameter(
    "replicates", "", "Replicates", "Independent repetitions. The intervals come from them.",
    kind="int", low=2, high=100, default=REPLICATES,
)  # fmt: skip


@dataclass(frozen=True)
class CompareSettings(Settings):
    choices: Choices = field(default_factory=Choices)
    samplers: tuple[str, ...] = tuple(PAPER_SAMPLERS)
    iid: bool = False  # MAHMC with each step drawn on its own as well, as many of both kinds on average
    second: bool = False  # the paper's second figure for MAHMC on MDC as well
    replicates: int = REPLICATES
    seed: int = RUN_PARAMETERS["seed"].default
    cost: str = "leapfrogs"
    quantity: str = ""  # whose effective sample size is compared; "" is the target's main one

    def entries(self) -> dict[str, Entry]:
        choices = self.choices
        found = {
            **{n: e for n, e in choices.target_entries().items() if n in ("target", "data")},
            "samplers": Entry(SomeOf(tuple(SAMPLERS)), self.samplers, tuple(PAPER_SAMPLERS), ("samplers",)),
            "iid": Entry(Flag(), self.iid, False, ("iid",)),
            "second": Entry(Flag(), self.second, False, ("second",)),
        }
        for sampler in self.samplers:
            found |= choices.sampler_entries(sampler, f"{sampler}.", shared_update=False)
        place = ("choices", "chosen", choices.target, ANY, "budget")
        return found | {
            "budget": Entry(Number(BUDGET), self.budget, choices.family().budget, place),
            "replicates": Entry(Number(COUNT), self.replicates, REPLICATES, ("replicates",)),
            "seed": Entry(Number(RUN_PARAMETERS["seed"]), self.seed, 0, ("seed",)),
            "cost": Entry(OneOf(tuple(COSTS)), self.cost, "leapfrogs", ("cost",)),
            "quantity": Entry(Name(), self.quantity, "", ("quantity",)),
        }

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        """Links of earlier versions name every control that was ever shown: those that the link uses count."""
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
                case ["data"] if target != TARGET:
                    pass
                case _:
                    found[name] = text
        return found

    def check(self) -> None:
        """Only what links can break: a budget that does not divide is told on the page, where it can be mended."""
        for sampler in self.able():
            RunSpec.of(self.choices.family(), sampler, **self.choices.method(sampler, strict=True))

    def plain(self) -> CompareSettings:
        return replace(self, choices=replace(self.choices, chosen={}))

    # --------------------------------------------------------------------------------------------- reading

    @property
    def budget(self) -> int:
        choices = self.choices
        return choices.chosen.get((choices.target, ANY, "budget"), choices.family().budget)

    def able(self) -> tuple[str, ...]:
        """Those of the chosen samplers that can sample the target."""
        return tuple(name for name in self.samplers if SAMPLERS[name].takes(self.choices.family()))

    def target(self, uploads: Uploads) -> Target:
        """The target: with the settings that it comes with, on the data that were chosen."""
        return replace(self.choices, chosen={}).built(uploads)

    def methods(self, target: Target) -> dict[str, Mapping[str, Any]]:
        """What is compared, by label, as a Comparison takes it."""
        found: dict[str, Mapping[str, Any]] = {
            name: {"sampler": name} | self.choices.method(name) for name in self.able()
        }
        if self.iid and target.updates:
            found[SAME_MEAN] = _of_the_same_mean(target, found.get("mahmc", {"sampler": "mahmc"}))
        if self.second and target.name == tables.SECOND_TARGET:
            found[SECOND] = dict(tables.SECOND_MDC)
        return found

    def comparison(self, uploads: Uploads) -> Comparison:
        """What these settings ask for; InvalidInput if they ask for nothing that can be compared."""
        target = self.target(uploads)
        return Comparison(target, self.methods(target), self.budget, self.replicates, self.seed)


def _of_the_same_mean(target: Target, mahmc: Mapping[str, Any]) -> dict[str, Any]:
    """MAHMC as it is, but with each step of its trajectory drawn on its own."""
    law = RunSpec.of(target, **mahmc).law
    kept = {name: value for name, value in mahmc.items() if name not in OF_ALTERNATE}
    return kept | {"schedule": str(schedules.same_mean(law))}
