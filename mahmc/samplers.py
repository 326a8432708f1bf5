"""The samplers: what each does, its parameters with their ranges, and the paper's best values for each target.

Parameters are described only here. Controls, the command line, validation and docs use these descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mahmc.glossary import PANELS, TERMS, Panel
from mahmc.kernels import (
    MixedParameters,
    PersistentParameters,
    Plan,
    Timetable,
    TrajectoryParameters,
    mixed,
    persistent,
    trajectory,
)
from mahmc.parameters import Parameter
from mahmc.schedules import Asymmetric, Schedule, alternate, arrivals
from mahmc.targets import FAMILIES, Target

Settings = Mapping[str, Any]

PARAMETERS = {
    p.name: p
    for p in (
        Parameter(
            "epsilon", "ε", *TERMS["epsilon"],
            low=0.0, high=100.0, low_open=True, slider=(0.001, 2.0), log=True, default=0.1,
        ),
        Parameter("L", "L", *TERMS["L"], kind="int", low=1, high=10_000, slider=(1, 200), log=True, default=10),
        Parameter("n_u", "Nᵁ", *TERMS["n_u"], kind="int", low=1, high=1_000, slider=(1, 50), default=4),
        Parameter(
            "alpha", "α", *TERMS["alpha"],
            low=0.0, high=1.0, high_open=True, slider=(0.0, 0.999), step=0.0005, default=0.9,
        ),
        Parameter("delta", "δ", *TERMS["delta"], low=0.0, high=1.0, slider=(0.0, 0.2), step=0.001, default=0.01),
        Parameter(
            "T", "T", *TERMS["T"], low=0.0, high=10_000.0, low_open=True, slider=(0.05, 100.0), log=True, default=3.0,
        ),
        Parameter(
            "visits", "V", *TERMS["visits"], kind="int", low=1, high=10_000, slider=(1, 500), log=True, default=20,
        ),
    )
}  # fmt: skip


def _one_segment(values: Settings) -> Schedule:
    return alternate(values["L"], 1)


def _segments(values: Settings) -> Schedule:
    return alternate(values["L"], values["n_u"])


def _arrivals(values: Settings) -> Schedule:
    return arrivals(values["T"], values["visits"], values["epsilon"], values["sites"])


def _asymmetric(values: Settings) -> Schedule:
    return Asymmetric(values["L"], values["n_u"])


@dataclass(frozen=True)
class Sampler:
    """A sampler that people can choose.

    `advance(sampler, outer, values, plan, data, state, output, chunk)` runs its kernel and returns the number of
    iterations.
    """

    name: str
    title: str
    about: str
    parameters: tuple[str, ...]
    advance: Callable[..., int]
    presets: Mapping[str, Mapping[str, float]]  # the best values for each target
    paper_ess: Mapping[str, float] = field(default_factory=dict)  # Table 1: relative ESS per leapfrog, by target
    law: Callable[[Settings], Schedule] = _one_segment  # P^D, from the parameters and "sites" of the target
    takes_schedule: bool = False  # whether people can choose another P^D
    by_site: bool = False  # whether the sampler visits discrete variables one by one
    persistent: bool = True  # M-HMC: whether k outlives a visit; with a new k for each visit M-HMC is MAHMC
    correction: float = 1.0  # the factor of ΔE in the test
    outer: bool = True  # whether by default an update of qᴼ follows each trajectory (within Gibbs)
    wrong: str = ""  # for samplers that are wrong on purpose: the reason

    @property
    def label(self) -> str:
        """The title; for a wrong sampler with a warning."""
        return f"{self.title} (wrong on purpose)" if self.wrong else self.title

    @property
    def panel(self) -> Panel:
        """Its name spelled out, its equation, when it is good, and where the paper has it."""
        return PANELS[self.name]

    @property
    def inside(self) -> bool:
        """Whether the sampler updates qᴼ inside trajectories."""
        return self.law is not _one_segment

    def takes(self, target: Target) -> bool:
        """Whether the sampler can sample this target."""
        return target.density.sites > 0 or not self.by_site

    def updates(self, target: Target) -> tuple[str, ...]:
        """The names of the updates of qᴼ that the sampler can make on this target. The first is the default."""
        if self.by_site:
            return target.density.site_updates
        return tuple(sorted(target.density.updates, key=lambda name: name != target.density.default_update))

    @property
    def tests_each_leapfrog(self) -> bool:
        """Whether each leapfrog of an iteration has a momentum and a test of its own."""
        return self.advance is _persistent

    def tests(self, values: Settings) -> int:
        """The number of Metropolis tests of q^H in one iteration."""
        return int(values["L"]) if self.tests_each_leapfrog else 1

    def defaults(self, target: str) -> dict[str, float]:
        """The best values of the parameters for a target.

        Parameters
        ----------
        target
            The name of the target.

        Returns
        -------
        dict
            By parameter: the paper's value for this target, the target's own preset, or the general default.

        Examples
        --------
        >>> mahmc.SAMPLERS["hmc"].defaults("mdc")
        {'epsilon': 0.035, 'L': 40}
        """
        general = {name: PARAMETERS[name].default for name in self.parameters}
        of_target = FAMILIES[target].presets if target in FAMILIES else {}
        preset = of_target.get("mahmc" if self.wrong else self.name, {})
        return general | dict(self.presets.get(target, {})) | {n: v for n, v in preset.items() if n in self.parameters}


def _trajectory(sampler: Sampler, outer: int, values: Settings, plan: Plan, *block: Any) -> int:
    data, state, output, chunk = block
    parameters = TrajectoryParameters(values["epsilon"], sampler.correction, outer)
    iterations: int = trajectory(data, state, plan, parameters, output, chunk)
    return iterations


def _persistent(sampler: Sampler, outer: int, values: Settings, plan: Plan, *block: Any) -> int:
    data, state, output, chunk = block
    alpha, delta = values.get("alpha", 0.0), values.get("delta", 0.0)
    parameters = PersistentParameters(values["epsilon"], values["L"], alpha, delta, "delta" in values, outer)
    iterations: int = persistent(data, state, parameters, output, chunk)
    return iterations


def _mixed(sampler: Sampler, outer: int, values: Settings, plan: Timetable, *block: Any) -> int:
    data, state, output, chunk = block
    parameters = MixedParameters(values["epsilon"], sampler.persistent, outer)
    iterations: int = mixed(data, state, plan, parameters, output, chunk)
    return iterations


SAMPLERS = {
    s.name: s
    for s in (
        Sampler(
            "mala",
            "MALA",
            "Each step draws a new momentum, makes one leapfrog, and tests it. Simple, but a random walk.",
            ("epsilon", "L"),
            _persistent,
            {
                "mdc": {"epsilon": 0.03, "L": 10},
                "blr": {"epsilon": 0.11, "L": 5},
                "gmm": {"epsilon": 0.3, "L": 5},
            },
            {"mdc": 1.0e-4, "blr": 1.73e-3},
        ),
        Sampler(
            "hmc",
            "HMC",
            "L leapfrogs, then a test. Moves are long, but qᴼ does not change before the trajectory ends.",
            ("epsilon", "L"),
            _trajectory,
            {
                "mdc": {"epsilon": 0.035, "L": 40},
                "blr": {"epsilon": 0.09, "L": 10},
                "gmm": {"epsilon": 0.3, "L": 15},
            },
            {"mdc": 4.62e-3, "blr": 7.94e-3},
        ),
        Sampler(
            "mala-p",
            "MALA-P",
            "MALA that keeps most of its momentum. The chain moves in one direction until a rejection reverses it.",
            ("epsilon", "L", "alpha"),
            _persistent,
            {
                "mdc": {"epsilon": 0.03, "L": 10, "alpha": 0.995},
                "blr": {"epsilon": 0.09, "L": 5, "alpha": 0.9},
                "gmm": {"epsilon": 0.3, "L": 5, "alpha": 0.9},
            },
            {"mdc": 1.82e-3, "blr": 6.66e-3},
        ),
        Sampler(
            "mala-pn",
            "MALA-PN",
            "MALA-P whose uniform persists too, so that rejections come in clusters and reverse the chain less often.",
            ("epsilon", "L", "alpha", "delta"),
            _persistent,
            {
                "mdc": {"epsilon": 0.03, "L": 10, "alpha": 0.995, "delta": 0.01},
                "blr": {"epsilon": 0.1, "L": 5, "alpha": 0.9, "delta": 0.015},
                "gmm": {"epsilon": 0.3, "L": 5, "alpha": 0.9, "delta": 0.01},
            },
            {"mdc": 7.38e-3, "blr": 8.86e-3},
        ),
        Sampler(
            "mahmc",
            "MAHMC",
            "HMC that also updates qᴼ inside the trajectory, with one exact test at the end. Moves are long, and qᴼ "
            "changes often.",
            ("epsilon", "L", "n_u"),
            _trajectory,
            {
                "mdc": {"epsilon": 0.04, "L": 10, "n_u": 10},
                "blr": {"epsilon": 0.1, "L": 5, "n_u": 2},
                "gmm": {"epsilon": 0.3, "L": 1, "n_u": 15},
            },
            {"mdc": 1.78e-2, "blr": 9.02e-3},
            law=_segments,
            takes_schedule=True,
        ),
        Sampler(
            "m-hmc",
            "M-HMC",
            "HMC that visits discrete variables one by one, at random times in the trajectory. Each discrete variable "
            "has its own kinetic energy, from which it pays for its changes.",
            ("epsilon", "T", "visits"),
            _mixed,
            {
                "mdc": {"epsilon": 0.04, "T": 4.0, "visits": 100},
                "gmm": {"epsilon": 0.3, "T": 4.5, "visits": 15},
            },
            law=_arrivals,
            by_site=True,
            outer=False,
        ),
    )
}
PAPER_SAMPLERS = {name: sampler for name, sampler in SAMPLERS.items() if sampler.paper_ess}  # in Table 1

# These samplers are wrong on purpose, to show their mistakes. They are never compared or recommended. As in the
# published check of these samplers, no update follows the trajectory: such an update would hide a part of the error.
WRONG_SAMPLERS = {
    s.name: s
    for s in (
        Sampler(
            "naive",
            "Naive MH within HMC",
            "MAHMC whose test forgets ΔE, the change of the energy by updates of qᴼ inside the trajectory.",
            ("epsilon", "L", "n_u"),
            _trajectory,
            SAMPLERS["mahmc"].presets,
            law=_segments,
            takes_schedule=True,
            correction=0.0,
            outer=False,
            wrong="Each update inside the trajectory has its own Metropolis test. The final test counts the same "
            "change of the energy once more: moves uphill are punished twice, and moves downhill are rewarded twice.",
        ),
        Sampler(
            "asymmetric",
            "Asymmetric MAHMC",
            "MAHMC that repeats (leapfrogs, update). This sequence is not a palindrome.",
            ("epsilon", "L", "n_u"),
            _trajectory,
            SAMPLERS["mahmc"].presets,
            law=_asymmetric,
            outer=False,
            wrong="The reversed sequence begins with an update, and such a sequence is never drawn: Algorithm 3's "
            "factor P(D⁻¹)/P(D) is zero. The test uses the factor one, so it accepts moves that have no reverse move.",
        ),
    )
}
EVERY_SAMPLER = SAMPLERS | WRONG_SAMPLERS
