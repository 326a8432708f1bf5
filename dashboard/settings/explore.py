"""Settings of Explore: a run, up to two more runs beside it at equal cost, and what the page shows of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings.choices import ANY, Choices, Path
from dashboard.settings.entries import Entry, Flag, Name, Number, OneOf, Settings
from dashboard.settings.uploads import Uploads
from mahmc import InvalidInput, RunSpec
from mahmc.samplers import EVERY_SAMPLER
from mahmc.spec import RUN_PARAMETERS
from mahmc.targets import FAMILIES

VIEWS = ("simple", "full")
PACES = ("1", "10", "100", "1000", "max")  # draws a second; "max" is as fast as possible
WINDOWS = ("last", "all")  # draws in the trace while chains run
LINES = ("four", "all")  # chains in the trace
DRAWS = 20_000  # takes seconds on any target
RUN_DEFAULTS = {name: p.default for name, p in RUN_PARAMETERS.items()} | {"draws": DRAWS, "warmup": DRAWS // 10}
STYLE = ("follow", "pace", "trace", "lines", "present")  # entries on how any run is shown
LOOKS = ("view", "quantity", *STYLE)  # entries that do not change what is run
NOT_CHOSEN = ("start", "keep")  # entries of links of earlier versions; no control changes them
SLOTS = {2: "second", 3: "third"}  # the runs beside the main run, which is number 1, and their fields
FIRST_BESIDE = ("hmc", "mahmc")
ROUNDING = 1e-12  # of a quotient of two numbers of leapfrogs


@dataclass(frozen=True)
class Slot:
    """A run beside the main run: its sampler ("" for no run), and what was chosen for it. The target is the main's."""

    sampler: str = ""
    chosen: Mapping[Path, Any] = field(default_factory=dict)
    drafts: Mapping[Path, str] = field(default_factory=dict)

    def choices(self, main: Choices) -> Choices:
        """The slot's sampler and values on the target of the main run."""
        of_target: dict[Path, Any] = {(main.target, name): value for name, value in main.settings().items()}
        return replace(main, sampler=self.sampler, chosen={**self.chosen, **of_target}, drafts=self.drafts)


@dataclass(frozen=True)
class SlotSettings(Settings):
    """The settings of one slot, with entries like those of the main run."""

    choices: Choices

    def entries(self) -> dict[str, Entry]:
        choices = self.choices
        sampler = Entry(OneOf(choices.samplers()), choices.sampler, "", ("choices", "sampler"))
        return {"sampler": sampler, **choices.sampler_entries(choices.sampler)}


@dataclass(frozen=True)
class ExploreSettings(Settings):
    """The settings of Explore."""

    choices: Choices = field(default_factory=Choices)
    chains: int = RUN_DEFAULTS["chains"]
    draws: int = RUN_DEFAULTS["draws"]
    warmup: int = RUN_DEFAULTS["warmup"]
    thin: int = RUN_DEFAULTS["thin"]
    seed: int = RUN_DEFAULTS["seed"]
    view: str = "simple"
    follow: bool = False  # restart when a control moves
    second: Slot = field(default_factory=Slot)
    third: Slot = field(default_factory=Slot)
    pace: str = "max"
    window: str = "last"
    lines: str = "four"
    present: bool = False  # for a projector: large, without the sidebar

    @property
    def subject(self) -> str:
        return f"{EVERY_SAMPLER[self.choices.sampler].title} on {FAMILIES[self.choices.target].short_title}"

    def entries(self) -> dict[str, Entry]:
        choices = self.choices
        able = choices.samplers()
        sampler = Entry(OneOf(able), choices.sampler, Choices.sampler, ("choices", "sampler"))
        run = {name: Entry(Number(p), getattr(self, name), RUN_DEFAULTS[name], (name,))
               for name, p in RUN_PARAMETERS.items()}  # fmt: skip
        main = choices.family().presentation.main_quantity
        return {
            **choices.target_entries(),
            "sampler": sampler,
            **choices.sampler_entries(choices.sampler),
            **run,
            "quantity": Entry(Name(), self.quantity, main, ("choices", "chosen", choices.target, ANY, "quantity")),
            "view": Entry(OneOf(VIEWS), self.view, "simple", ("view",)),
            "follow": Entry(Flag(), self.follow, False, ("follow",)),
            **self._slot_entries(),
            "pace": Entry(OneOf(PACES), self.pace, "max", ("pace",)),
            "trace": Entry(OneOf(WINDOWS), self.window, "last", ("window",)),
            "lines": Entry(OneOf(LINES), self.lines, "four", ("lines",)),
            "present": Entry(Flag(), self.present, False, ("present",)),
        }

    def _slot_entries(self) -> dict[str, Entry]:
        """The entries of the further runs, as "2.sampler". An empty slot has only its sampler."""
        found = {}
        for number, place in SLOTS.items():
            if number in self.slots:
                entries = self.slot(number).entries()
            else:
                entries = {"sampler": Entry(OneOf(self.choices.samplers()), "", "", ("choices", "sampler"))}
            for name, entry in entries.items():
                found[f"{number}.{name}"] = replace(entry, at=(place, *entry.at[1:]))
        return found

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        return {name: text for name, text in query.items() if name not in NOT_CHOSEN}

    def check(self) -> None:
        for choices in (self.choices, *(self.slot(number).choices for number in self.slots)):
            RunSpec.of(choices.built({}), choices.sampler, **choices.method(strict=True))

    def plain(self) -> ExploreSettings:
        return replace(self, choices=replace(self.choices, chosen={}, drafts={}), second=Slot(), third=Slot())

    # --------------------------------------------------------------------------------------------- reading

    @property
    def quantity(self) -> str:
        """The name of the quantity that tiles and charts show."""
        target = self.choices.target
        main = self.choices.family().presentation.main_quantity
        return str(self.choices.chosen.get((target, ANY, "quantity"), main))

    @property
    def rate(self) -> float:
        """Draws of each chain in a second, after the warm-up; infinite for "as fast as possible"."""
        return math.inf if self.pace == "max" else float(self.pace)

    def spec(self, uploads: Uploads) -> RunSpec:
        """The run of these settings; InvalidInput if they are not allowed."""
        self.require_usable()
        run = {name: getattr(self, name) for name in RUN_PARAMETERS}
        return RunSpec.of(self.choices.built(uploads), self.choices.sampler, **run, **self.choices.method())

    def specs(self, uploads: Uploads) -> dict[int, RunSpec]:
        """The main run, and the runs beside it, by number; InvalidInput if they are not allowed.

        All have the same target, chains, thinning and seed. The draws and the warm-up of a further run are those of the
        main run in leapfrogs, divided by the leapfrogs that its own draws need, to the last whole draw.
        """
        main = self.spec(uploads)
        found = {1: main}
        for number in self.slots:
            try:
                found[number] = self._at_equal_cost(main, self.slot(number).choices, uploads)
            except InvalidInput as refusal:
                raise InvalidInput(f"Run {number}: {refusal}") from None
        return found

    def _at_equal_cost(self, main: RunSpec, choices: Choices, uploads: Uploads) -> RunSpec:
        same = {name: getattr(main, name) for name in ("chains", "thin", "seed")}
        spec = RunSpec.of(choices.built(uploads), choices.sampler, **same, **choices.method())
        ratio = main.leapfrogs_per_draw / spec.leapfrogs_per_draw * (1.0 + ROUNDING)
        draws, warmup = math.floor(main.draws * ratio), math.floor(main.warmup * ratio)
        if not draws:
            raise InvalidInput(
                f"a draw needs {spec.leapfrogs_per_draw:g} leapfrogs, more than all draws of a chain of the first run. "
                "Take more draws, or a shorter trajectory."
            )
        return replace(spec, draws=RUN_PARAMETERS["draws"].check(draws), warmup=warmup)

    # ---------------------------------------------------------------------------------- the runs beside the main run

    @property
    def slots(self) -> tuple[int, ...]:
        """The numbers of the runs beside the main run."""
        return tuple(number for number, place in SLOTS.items() if getattr(self, place).sampler)

    def slot(self, number: int) -> SlotSettings:
        """The settings of a run beside the main run."""
        slot: Slot = getattr(self, SLOTS[number])
        return SlotSettings(slot.choices(self.choices), refused=self.refused)

    def with_slot(self, number: int, settings: SlotSettings) -> ExploreSettings:
        """These settings with the sampler, the values and the refused numbers of a slot."""
        choices = settings.choices
        own = {path: value for path, value in choices.chosen.items() if len(path) > 2 or path[1] == "update"}
        return replace(self._with(number, Slot(choices.sampler, own, choices.drafts)), refused=settings.refused)

    def without_slot(self, number: int) -> ExploreSettings:
        """These settings without the run of this number. The others keep their numbers."""
        return self._with(number, Slot())

    def _with(self, number: int, slot: Slot) -> ExploreSettings:
        changes: dict[str, Any] = {SLOTS[number]: slot}
        return replace(self, **changes)

    def with_another(self) -> ExploreSettings:
        """These settings with one more run, of a sampler that no run has yet: HMC or MAHMC first."""
        number = next(number for number in SLOTS if number not in self.slots)
        used = {self.choices.sampler, *(self.slot(other).choices.sampler for other in self.slots)}
        able = self.choices.samplers()
        sampler = next(name for name in (*FIRST_BESIDE, *able) if name not in used and name in able)
        return self.with_(f"{number}.sampler", sampler)

    def adopting(self, spec: RunSpec) -> ExploreSettings:
        """These settings with the target, the sampler and the size of the run `spec`."""
        run = {name: getattr(spec, name) for name in RUN_PARAMETERS}
        return replace(self, choices=self.choices.adopting(spec), refused={}, **run)
