"""The samplers: what each does, which parameters it has, their ranges, and the paper's best values by target.

This is the one place where a parameter is described. Controls, the command line, validation and docs read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mahmc.kernels import Plan, Timetable, mixed, persistent, trajectory
from mahmc.parameters import Parameter
from mahmc.schedules import Asymmetric, Schedule, alternate, arrivals
from mahmc.targets import FAMILIES, Target

Settings = Mapping[str, Any]

PARAMETERS = {
    p.name: p
    for p in (
        Parameter(
            "epsilon", "ε", "Step size",
            "The leapfrog's step. Too small wastes gradients, too large is rejected, or unstable beyond about twice "
            "the smallest scale of the target. For BLR it is multiplied by 1/√τ.",
            low=0.0, high=100.0, low_open=True, slider=(0.001, 2.0), log=True, default=0.1,
        ),
        Parameter(
            "L", "L", "Leapfrogs",
            "Leapfrog steps between two updates of qᴼ. For HMC this is the whole trajectory; the paper writes Nᴸ "
            "for the others.",
            kind="int", low=1, high=10_000, slider=(1, 200), log=True, default=10,
        ),
        Parameter(
            "n_u", "Nᵁ", "Segments",
            "Segments of L leapfrogs in one MAHMC trajectory, with an update of qᴼ between two of them. One segment "
            "is HMC.",
            kind="int", low=1, high=1_000, slider=(1, 50), default=4,
        ),
        Parameter(
            "alpha", "α", "Persistence of momentum",
            "How much of the momentum is kept from step to step: 0 draws it anew (MALA), close to 1 keeps going in "
            "the same direction for about 1/(1 − α) steps.",
            low=0.0, high=1.0, high_open=True, slider=(0.0, 0.999), step=0.0005, default=0.9,
        ),
        Parameter(
            "delta", "δ", "Drift of the uniform",
            "How far the persistent uniform v moves at each step. Small values make rejections come in clusters, with "
            "long runs free of them between.",
            low=0.0, high=1.0, slider=(0.0, 0.2), step=0.001, default=0.01,
        ),
        Parameter(
            "T", "T", "Travel time",
            "How long an M-HMC trajectory is, in the leapfrogs' time: about T/ε leapfrogs, and more where visits cut "
            "them short.",
            low=0.0, high=10_000.0, low_open=True, slider=(0.05, 100.0), log=True, default=3.0,
        ),
        Parameter(
            "visits", "V", "Visits",
            "How often in an M-HMC trajectory a discrete variable is visited, one after another in random order.",
            kind="int", low=1, high=10_000, slider=(1, 500), log=True, default=20,
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
    """A sampler as a choice. `advance(itself, target data, plan, outer, parameters, *block)` runs its kernel."""

    name: str
    title: str
    about: str
    parameters: tuple[str, ...]
    advance: Callable[..., int]
    presets: Mapping[str, Mapping[str, float]]  # best values by target
    paper_ess: Mapping[str, float] = field(default_factory=dict)  # Table 1: relative ESS per leapfrog, by target
    law: Callable[[Settings], Schedule] = _one_segment  # P^D by its parameters and "sites", of the target
    takes_schedule: bool = False  # whether another P^D may be chosen
    by_site: bool = False  # whether it visits discrete variables one by one
    persistent: bool = True  # M-HMC: whether k outlives a visit; drawn anew each time it is MAHMC
    correction: float = 1.0  # of the test by ΔE
    outer: bool = True  # whether an update of qᴼ follows each trajectory (within Gibbs) unless it is said
    wrong: str = ""  # why it is wrong, of those that are so on purpose

    @property
    def label(self) -> str:
        """Its title; of a wrong one with a warning in it."""
        return f"{self.title} (wrong on purpose)" if self.wrong else self.title

    @property
    def inside(self) -> bool:
        """Whether it updates qᴼ inside trajectories."""
        return self.law is not _one_segment

    def takes(self, target: Target) -> bool:
        """Whether it can sample this target."""
        return target.sites > 0 or not self.by_site

    def updates(self, target: Target) -> tuple[str, ...]:
        """The updates of qᴼ that it can make on this target, by name, that which it makes by default first."""
        if self.by_site:
            return target.site_updates
        return tuple(sorted(target.updates, key=lambda name: name != target.default_update))

    def tests(self, values: Settings) -> int:
        """Accept/reject tests of q^H in one iteration."""
        return int(values["L"]) if self.advance is _persistent else 1

    def defaults(self, target: str) -> dict[str, float]:
        """The paper's best values for this target, or those that the target brings, or the general defaults."""
        general = {name: PARAMETERS[name].default for name in self.parameters}
        brought = FAMILIES[target].presets if target in FAMILIES else {}
        own = brought.get("mahmc" if self.wrong else self.name, {})
        return general | dict(self.presets.get(target, {})) | {n: v for n, v in own.items() if n in self.parameters}


def _trajectory(sampler: Sampler, data: Any, plan: Plan, outer: int, values: Settings, *block: Any) -> int:
    state, *rest = block
    return trajectory(data, state, plan, outer, values["epsilon"], sampler.correction, *rest)


def _persistent(sampler: Sampler, data: Any, plan: Plan, outer: int, values: Settings, *block: Any) -> int:
    state, *rest = block
    alpha, delta = values.get("alpha", 0.0), values.get("delta", 0.0)
    return persistent(data, state, values["L"], outer, values["epsilon"], alpha, delta, "delta" in values, *rest)


def _mixed(sampler: Sampler, data: Any, plan: Timetable, outer: int, values: Settings, *block: Any) -> int:
    state, *rest = block
    return mixed(data, state, plan, sampler.persistent, outer, values["epsilon"], *rest)


SAMPLERS = {
    s.name: s
    for s in (
        Sampler(
            "mala",
            "MALA",
            "One leapfrog and a test, momentum drawn anew each time: simple, and a random walk.",
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
            "L leapfrogs, then a test: long moves, but qᴼ waits until a trajectory ends.",
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
            "MALA that keeps most of its momentum: persistent, until a rejection turns it round.",
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
            "MALA-P with a uniform that persists too, so that rejections cluster and turn it round less often.",
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
            "HMC whose trajectory updates qᴼ on the way, with one test that stays exact: long moves and a fresh qᴼ.",
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
            "Visits discrete variables one by one at random times in a trajectory; each pays for its changes from a "
            "kinetic energy of its own.",
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
PAPER_SAMPLERS = {name: sampler for name, sampler in SAMPLERS.items() if sampler.paper_ess}  # those of Table 1

# Wrong on purpose, to be looked at beside the right ones: never among those that are compared or recommended. As in
# the published check of them, no update follows the trajectory: it would hide much of what is wrong.
WRONG_SAMPLERS = {
    s.name: s
    for s in (
        Sampler(
            "naive",
            "Naive MH within HMC",
            "MAHMC whose test forgets ΔE, what updates of qᴼ inside the trajectory did to the energy.",
            ("epsilon", "L", "n_u"),
            _trajectory,
            SAMPLERS["mahmc"].presets,
            law=_segments,
            takes_schedule=True,
            correction=0.0,
            outer=False,
            wrong="Updates inside the trajectory have had their own Metropolis test. The final test counts the energy "
            "that they gained or lost once more, so it punishes moves uphill and rewards moves downhill twice.",
        ),
        Sampler(
            "asymmetric",
            "Asymmetric MAHMC",
            "MAHMC that repeats (leapfrogs, update): a sequence that read backwards is another one.",
            ("epsilon", "L", "n_u"),
            _trajectory,
            SAMPLERS["mahmc"].presets,
            law=_asymmetric,
            outer=False,
            wrong="Read backwards the sequence begins with an update, and such a one is never drawn: Algorithm 3's "
            "factor P(D⁻¹)/P(D) is zero. The test takes it for one, and accepts moves that no reversed move balances.",
        ),
    )
}
EVERY_SAMPLER = SAMPLERS | WRONG_SAMPLERS
