"""A target and a sampler, with all values chosen for them. All pages share this part of their settings.

Values chosen for other targets and samplers are kept: they are there again when a person goes back to that target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from dashboard.settings.entries import Entry, Fingerprint, Number, OneOf, ScheduleText, SomeOf
from dashboard.settings.uploads import Uploads, takes_data
from mahmc import RunSpec, schedules
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS
from mahmc.schedules import Schedule
from mahmc.spec import ALTERNATE, NONE, OF_ALTERNATE, usual_outer
from mahmc.targets import FAMILIES, Target

DEFAULT_TARGET = next(iter(FAMILIES))  # the first of the paper's
DEFAULT_SAMPLER = "mahmc"
ANY = "*"  # in a path in place of a sampler: holds for all samplers
Path = tuple[str, ...]  # (target, name) of a target's setting, (target, sampler, name) of a sampler's


@dataclass(frozen=True)
class Choices:
    """`chosen` holds the values that differ from the defaults, `drafts` the texts that are typed but not in use."""

    target: str = DEFAULT_TARGET
    sampler: str = DEFAULT_SAMPLER
    data: str = ""  # fingerprint of uploaded data; "" for the data that come with the target
    chosen: Mapping[Path, Any] = field(default_factory=dict)
    drafts: Mapping[Path, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.sampler not in self.samplers():  # the target was changed, and this sampler cannot sample it
            object.__setattr__(self, "sampler", DEFAULT_SAMPLER)

    @classmethod
    def of(cls, spec: RunSpec) -> Choices:
        """The choices that give this spec."""
        method = spec.method
        best = method.defaults(spec.target)
        chosen: dict[Path, Any] = {}
        defaults = family(spec.target).settings
        chosen |= {(spec.target, n): v for n, v in spec.settings if v != defaults.get(n)}
        chosen |= {(spec.target, spec.sampler, n): v for n, v in spec.parameters if v != best.get(n)}
        if spec.updates and spec.updates != method.updates(family(spec.target))[:1]:
            chosen[spec.target, "update"] = spec.updates
        if spec.schedule not in ("", ALTERNATE):
            chosen[spec.target, spec.sampler, "schedule"] = spec.schedule
        if spec.outer != usual_outer(spec.updates, method):
            chosen[spec.target, spec.sampler, "outer"] = spec.outer
        return cls(spec.target, spec.sampler, spec.data, chosen)

    # ------------------------------------------------------------------------------------------ reading

    def family(self) -> Target:
        """The target with its default settings: enough to know its parameters, updates and samplers."""
        return family(self.target)

    @property
    def notation(self) -> str:
        """Which variables qᴴ and qᴼ are: "On MDC, qᴴ is (u, v), qᴼ is w"."""
        return f"On {FAMILIES[self.target].short_title}, {self.family().roles}"

    @property
    def sampler_name(self) -> str:
        """The sampler's name spelled out: "HMC within Gibbs: Hamiltonian Monte Carlo"."""
        method = EVERY_SAMPLER[self.sampler]
        within = " within Gibbs" if method.outer and self.updates() else ""
        return f"{method.title}{within}: {method.panel.name}"

    def settings(self) -> dict[str, Any]:
        """The chosen settings of the target."""
        names = [p.name for p in FAMILIES[self.target].parameters]
        return {name: self.chosen[self.target, name] for name in names if (self.target, name) in self.chosen}

    def built(self, uploads: Uploads) -> Target:
        """The target with the chosen settings; InvalidInput if they are not allowed."""
        settings = self.settings()
        if self.data in uploads and uploads[self.data].family.name == self.target:
            return uploads[self.data].target(settings)
        return _built(FAMILIES[self.target].build, tuple(settings.items()))

    def samplers(self) -> tuple[str, ...]:
        """The samplers that can sample the target."""
        return tuple(name for name, sampler in EVERY_SAMPLER.items() if sampler.takes(self.family()))

    def updates(self, sampler: str = "") -> tuple[str, ...]:
        """The updates of qᴼ that the sampler can make on the target, its default first."""
        return EVERY_SAMPLER[sampler or self.sampler].updates(self.family())

    def picked(self, sampler: str = "") -> tuple[str, ...]:
        """The chosen updates Q₁, Q₂, … that the sampler can make; if there are none, its default update."""
        able = self.updates(sampler)
        of_sampler = self.chosen.get((self.target, sampler or self.sampler, "update"))
        of_target = self.chosen.get((self.target, "update"), ())
        chosen: Sequence[str] = of_target if of_sampler is None else of_sampler
        return tuple(name for name in chosen if name in able) or able[:1]

    def values(self, sampler: str = "") -> dict[str, Any]:
        """The sampler's parameters: the chosen values, else the best known values."""
        name = sampler or self.sampler
        best = EVERY_SAMPLER[name].defaults(self.target)
        return {n: self.chosen.get((self.target, name, n), value) for n, value in best.items()}

    def schedule(self, sampler: str = "") -> str:
        """The chosen schedule; "alternate" by default."""
        name = sampler or self.sampler
        if not EVERY_SAMPLER[name].takes_schedule or not self.updates(name):
            return ALTERNATE
        return str(self.chosen.get((self.target, name, "schedule"), ALTERNATE))

    def law(self) -> Schedule:
        """The chosen schedule P^D."""
        text = self.schedule()
        return EVERY_SAMPLER[self.sampler].law(self.values()) if text == ALTERNATE else schedules.parse(text)

    def used(self, sampler: str = "") -> tuple[str, ...]:
        """The picked updates that the schedule uses: as many as it has kinds of update, and at least one."""
        text = self.schedule(sampler)
        kinds = 1 if text == ALTERNATE else len(schedules.parse(text).updates)
        return self.picked(sampler)[: max(1, kinds)]

    def outer(self, sampler: str = "") -> tuple[str, str]:
        """The chosen update after a trajectory, and the usual one."""
        name = sampler or self.sampler
        usual = usual_outer(self.used(name), EVERY_SAMPLER[name])
        return self.chosen.get((self.target, name, "outer"), usual), usual

    def method(self, sampler: str = "", strict: bool = False) -> dict[str, Any]:
        """The chosen values of a sampler, as RunSpec takes them. `strict` includes updates that are not used."""
        name = sampler or self.sampler
        text = self.schedule(name)
        values = {n: v for n, v in self.values(name).items() if text == ALTERNATE or n not in OF_ALTERNATE}
        updates = (self.picked if strict else self.used)(name)
        outer = self.chosen.get((self.target, name, "outer"))
        schedule = {} if text == ALTERNATE else {"schedule": text}
        return values | schedule | {"update": ",".join(updates) or None, "outer": outer}

    # ------------------------------------------------------------------------------------------ changing

    def put(self, path: Path, value: Any) -> Choices:
        """The choices with this value at a path; None removes the value."""
        kept = {p: v for p, v in self.chosen.items() if p != path}
        return replace(self, chosen=kept if value is None else kept | {path: value})

    def drafted(self, path: Path, text: str) -> Choices:
        """The choices with this text kept as a draft."""
        return replace(self, drafts={**self.drafts, path: text})

    def adopting(self, spec: RunSpec) -> Choices:
        """These choices with the target and the sampler of `spec`, and their values there."""
        mine = Choices.of(spec)
        others = {p: v for p, v in self.chosen.items() if p[0] != spec.target or p[1] in EVERY_SAMPLER or p[1] == ANY}
        kept = {p: v for p, v in others.items() if p[:2] != (spec.target, spec.sampler)}
        drafts = {p: v for p, v in self.drafts.items() if p[:2] != (spec.target, spec.sampler)}
        return replace(mine, chosen=kept | dict(mine.chosen), drafts=drafts)

    def on_target_of(self, other: Choices) -> Choices:
        """These choices with the target of `other`, its settings and its data. Values of samplers stay."""
        names = {p.name for p in FAMILIES[other.target].parameters}
        kept = {path: v for path, v in self.chosen.items() if path[0] != other.target or path[1] not in names}
        of_target = {(other.target, name): value for name, value in other.settings().items()}
        return replace(self, target=other.target, data=other.data, chosen=kept | of_target)

    def same_target(self, other: Choices) -> bool:
        """Whether target, settings and data are equal."""
        mine, others = ((c.target, c.settings(), takes_data(c.target) and c.data) for c in (self, other))
        return mine == others

    def best(self) -> Choices:
        """The choices with the sampler's best values and the usual trajectory."""
        mine = (self.target, self.sampler)
        return replace(
            self,
            chosen={p: v for p, v in self.chosen.items() if p[:2] != mine or len(p) < 3},
            drafts={p: v for p, v in self.drafts.items() if p[:2] != mine},
        )

    # ------------------------------------------------------------------------------------------------ entries

    def target_entries(self, prefix: str = "") -> dict[str, Entry]:
        """The target, its settings, and its data."""
        found = {f"{prefix}target": Entry(OneOf(tuple(FAMILIES)), self.target, DEFAULT_TARGET, ("choices", "target"))}
        default = self.family().settings
        for p in FAMILIES[self.target].parameters:
            path = (self.target, p.name)
            value = self.chosen.get(path, default[p.name])
            found[f"{prefix}{p.name}"] = Entry(Number(p), value, default[p.name], ("choices", "chosen", *path))
        if takes_data(self.target):
            found[f"{prefix}data"] = Entry(Fingerprint(), self.data, "", ("choices", "data"))
        return found

    def sampler_entries(self, sampler: str, prefix: str = "", shared_update: bool = True) -> dict[str, Entry]:
        """The schedule, parameters, updates and outer update that a sampler has."""
        method, place = EVERY_SAMPLER[sampler], ("choices", "chosen", self.target, sampler)
        able, text = self.updates(sampler), self.schedule(sampler)
        found: dict[str, Entry] = {}
        if method.takes_schedule and able:
            found["schedule"] = Entry(ScheduleText(), text, ALTERNATE, (*place, "schedule"))
        for name, best in method.defaults(self.target).items():
            if text == ALTERNATE or name not in OF_ALTERNATE:
                value = self.chosen.get((self.target, sampler, name), best)
                found[name] = Entry(Number(PARAMETERS[name]), value, best, (*place, name))
        if able:
            at = ("choices", "chosen", self.target, "update") if shared_update else (*place, "update")
            found["update"] = Entry(SomeOf(able), self.used(sampler), able[:1], at)
            outer, usual = self.outer(sampler)
            found["outer"] = Entry(OneOf((*self.family().density.updates, NONE)), outer, usual, (*place, "outer"))
        return {f"{prefix}{name}": entry for name, entry in found.items()}


def in_symbols(spec: RunSpec) -> str:
    """The choices for a sampler with the symbols of the paper: "ε 0.04, L 10, Nᵁ 10"."""
    text = spec.summary
    for name in spec.values:
        text = re.sub(rf"\b{name} ", f"{PARAMETERS[name].symbol or name} ", text, count=1)
    return text


@lru_cache(maxsize=32)
def _built(build: Callable[..., Target], settings: tuple[tuple[str, Any], ...]) -> Target:
    """The target, built once for all pages and tabs."""
    return build(**dict(settings))


def family(name: str) -> Target:
    """A target with its default settings."""
    return _built(FAMILIES[name].build, ())
