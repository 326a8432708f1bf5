"""Settings of Explore: one run, and what the page shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dashboard.settings.choices import ANY, Choices
from dashboard.settings.entries import Entry, Flag, Name, Number, OneOf, Settings
from dashboard.settings.uploads import Uploads
from mahmc import RunSpec
from mahmc.spec import RUN_PARAMETERS

VIEWS = ("simple", "full")
DRAWS = 20_000  # takes seconds on any target
RUN_DEFAULTS = {name: p.default for name, p in RUN_PARAMETERS.items()} | {"draws": DRAWS, "warmup": DRAWS // 10}
NOT_CHOSEN = ("start", "keep")  # entries of links of earlier versions; no control changes them


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
        }

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        return {name: text for name, text in query.items() if name not in NOT_CHOSEN}

    def check(self) -> None:
        self.choices.built({})
        RunSpec.of(self.choices.built({}), self.choices.sampler, **self.choices.method(strict=True))

    def plain(self) -> ExploreSettings:
        return replace(self, choices=replace(self.choices, chosen={}, drafts={}))

    # --------------------------------------------------------------------------------------------- reading

    @property
    def quantity(self) -> str:
        """The name of the quantity that tiles and charts show."""
        target = self.choices.target
        main = self.choices.family().presentation.main_quantity
        return str(self.choices.chosen.get((target, ANY, "quantity"), main))

    def spec(self, uploads: Uploads) -> RunSpec:
        """The run of these settings; InvalidInput if they are not allowed."""
        run = {name: getattr(self, name) for name in RUN_PARAMETERS}
        return RunSpec.of(self.choices.built(uploads), self.choices.sampler, **run, **self.choices.method())

    def adopting(self, spec: RunSpec) -> ExploreSettings:
        """These settings with the target, the sampler and the size of the run `spec`."""
        run = {name: getattr(spec, name) for name in RUN_PARAMETERS}
        return replace(self, choices=self.choices.adopting(spec), **run)
