"""A target: a density π(q^H, q^O) ∝ exp(−U(q^H, q^O)), its known truth, and its presentation.

These three parts are the objects `Density`, `KnownTruth` and `Presentation`; see `parts`. The data of the density are a
NamedTuple of numbers and arrays with three compiled functions, which `implements` attaches to the NamedTuple's class:

    potential(data, q, other, grad, scratch) → U    writes ∇U with respect to q^H into `grad`
    update(data, index, point) → (ΔU, accepted)     one update of q^O, the target's update number `index`, from 0;
                                                    leaves in `point.grad` the gradient at the new state
    step_scale(data, other) → s                     the leapfrog's step is ε·s; reversible, as s depends on q^O alone

If q^O has discrete variables that M-HMC visits one by one, there is a fourth function:

    visit(data, index, site, point, k) → (ΔU, cost, accepted)
                                                    propose a new value for one variable; accept where cost ≤ k

If only some lanes make an update, the engine updates all lanes and then restores the other lanes. A target that can
update some lanes at a lower cost defines this function instead of `update`:

    update_where(data, index, selected, point, backup) → (ΔU, accepted)

Here q, other, grad and scratch have the shape (rows, LANES): a row for each quantity, a column for each chain. A
`Point` holds q, other, grad and the random numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from mahmc.glossary import SYMBOLS, Panel
from mahmc.parameters import Parameter
from mahmc.targets.parts import (
    Density,
    Derived,
    Draws,
    KnownTruth,
    Model,
    Paper,
    PaperFigure,
    Presentation,
    Quantity,
    Score,
    Truth,
    Views,
    elements,
    mass_truth,
)

__all__ = [
    "Density", "Derived", "Draws", "KnownTruth", "Model", "Paper", "PaperFigure", "Presentation", "Quantity", "Score",
    "Target", "TargetFamily", "Truth", "Views", "elements", "mass_truth", "potential", "step_scale", "update",
    "update_where", "visit",
]  # fmt: skip


class Point(NamedTuple):
    """The parts of a block's state that updates of q^O read and write. Each array has the shape (rows, LANES)."""

    q: np.ndarray  # q^H
    other: np.ndarray  # q^O
    grad: np.ndarray  # ∇U at (q, other)
    rng: np.ndarray  # the state of each lane's random numbers


class Selected(NamedTuple):
    """The lanes that make an update."""

    mask: Any  # True or False for each lane
    partial: bool  # whether the mask can be False in some lane


def potential(target, q, other, grad, scratch):
    """U(q^H, q^O) in each lane; writes ∇U into `grad`."""
    raise NotImplementedError("compiled code only")


def update(target, index, point):
    """q^O ← update number `index` of the target, from 0; returns (U after − U before, accepted) for each lane."""
    raise NotImplementedError("compiled code only")


def update_where(target, index, selected, point, backup):
    """q^O ← update number `index` in the selected lanes, no change in the others; returns the same as `update`.

    Random numbers advance in all lanes. `backup` has memory for a copy of `other` and `grad`.
    """
    raise NotImplementedError("compiled code only")


def visit(target, index, site, point, k):
    """Propose a new value for discrete variable `site` by proposal number `index`, and accept where cost ≤ k.

    cost = ΔU + log Q(new | old) − log Q(old | new) is −log of the Metropolis–Hastings ratio. For k ~ Exponential(1)
    this is the usual test: P(k ≥ cost) = min(1, e^−cost). Returns (U after − U before, cost paid, accepted) for each
    lane. ΔU and cost are 0 in lanes that do not accept.
    """
    raise NotImplementedError("compiled code only")


def step_scale(target, other):
    """The factor s of the step size ε·s in each lane."""
    raise NotImplementedError("compiled code only")


@dataclass(frozen=True, eq=False)
class Target:
    """A target that can be sampled: its density, its known truth, and its presentation.

    `mdc`, `blr`, `gmm` and `mahmc.targets.build` make targets, and `mahmc.target` makes a target of a class.

    Parameters
    ----------
    name
        The name of the target's family.
    settings
        The values of the target's parameters, for a RunSpec.
    density, truth, presentation
        The three parts of the target.
    fingerprint
        A digest of data that are not in the settings, such as uploaded X and y; else empty.

    Examples
    --------
    >>> target = mahmc.targets.build("gmm")
    >>> target.density.updates
    ('gibbs', 'metropolis', 'neighbour', 'modified-gibbs')
    """

    name: str
    settings: Mapping[str, Any]
    density: Density
    truth: KnownTruth
    presentation: Presentation
    fingerprint: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every scalar coordinate: ("u", "v", "w[0]", ...)."""
        return tuple(element for q in self.density.quantities for element in elements(q))

    def scalar(self, name: str) -> Derived:
        """A scalar quantity as a function of the draws.

        Parameters
        ----------
        name
            The name of the quantity: "u", "w[3]", "ones", "energy".

        Returns
        -------
        Derived
            The function.

        Examples
        --------
        >>> ones = mahmc.targets.build("mdc", n_w=3).scalar("ones")
        >>> ones({"w": np.ones((1, 2, 3))}).tolist()
        [[3.0, 3.0]]
        """
        if name in self.presentation.derived:
            return self.presentation.derived[name]
        base, bracket, index = name.partition("[")
        read = (lambda draws: draws[base][..., int(index[:-1])]) if bracket else itemgetter(name)
        return Derived(read, (base,))

    @property
    def roles(self) -> str:
        """Which variables are qᴴ and which are qᴼ, in words: "qᴴ is (u, v), qᴼ is w"."""
        found = {source: [SYMBOLS.get(q.name, q.name) for q in self.density.quantities if q.source == source]
                 for source in ("q", "other")}  # fmt: skip
        moved, other = (", ".join(names) if len(names) < 2 else f"({', '.join(names)})" for names in found.values())
        return f"qᴴ is {moved}, qᴼ is {other}" if other else f"qᴴ is {moved}, and there is no qᴼ"

    @property
    def comparisons(self) -> Mapping[str, Derived]:
        """The quantities by which samplers are compared: functions of the draws to arrays (chains, draws).

        The main quantity is the first. If a function returns an array (chains, draws, size), the smallest ESS of its
        elements counts. By default the quantities are all recorded and derived quantities, and the energy.
        """
        if self.presentation.compared:
            return self.presentation.compared
        recorded = {f"least {q.name}" if q.vector else q.name: q.name for q in self.density.quantities}
        found = {title: Derived(itemgetter(name), (name,)) for title, name in recorded.items()}
        main = self.presentation.main_quantity
        return {main: self.scalar(main)} | found | {**self.presentation.derived, "energy": self.scalar("energy")}

    @property
    def shown(self) -> Views:
        """The target's views, completed by default views."""
        quantities, view = self.density.quantities, self.presentation.views
        discrete = [name for q in quantities if q.discrete for name in elements(q)[:1]]
        real = [name for q in quantities if not q.discrete for name in elements(q)[:2]]
        return Views(
            view.discrete or next(iter(discrete), ""),
            view.discrete_title or view.discrete or next(iter(discrete), ""),
            view.pair if all(view.pair) else (real[0], [*real, "energy"][1]),
            view.colour,
        )

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        settings = settings if len(settings) <= 100 else f"{settings[:99]}…"
        updates, quantities = self.density.updates, ", ".join(q.name for q in self.density.quantities)
        other = f"{', '.join(updates)} for qᴼ" if updates else "no qᴼ"
        data = f", data {self.fingerprint}" if self.fingerprint else ""
        return f"<Target {self.name}({settings}): {quantities}; {other}{data}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Target:
        """The target itself: a target never changes."""
        return self


class TargetFamily(NamedTuple):
    """A target before it is built, with the parameters that people can choose."""

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    build: Callable[..., Target]
    presets: Mapping[str, Mapping[str, float]] = {}  # good values for each sampler, beside the presets of the samplers
    file: str = ""  # the file of a custom target
    build_on: Callable[..., Target] | None = None  # (X, y, **settings): the same target on uploaded data
    own_data: str = ""  # the name of the data that are used if none are uploaded
    panel: Panel = Panel()  # its equation, what it shows, and where the paper has it

    @property
    def short_title(self) -> str:
        """The title up to its colon: "MDC"."""
        return self.title.partition(":")[0]

    def __call__(self, *settings: Any, **named: Any) -> Target:
        """Build the target with these settings, in the order of the parameters or by name."""
        return self.build(**dict(zip((p.name for p in self.parameters), settings, strict=False)), **named)


# ------------------------------------------- names of the version before; they work for one version, with a warning

_MOVED = {name: f"density.{name}" for name in (
    "data", "dim", "n_other", "n_scratch", "quantities", "updates", "default_update", "sweeps", "sites",
    "site_updates", "stable_epsilon", "start", "pack", "number",
)} | {name: f"truth.{name}" for name in (
    "exact", "model", "small", "small_values",
)} | {name: f"presentation.{name}" for name in (
    "title", "about", "derived", "compared", "budget", "full_budget", "views", "score",
)} | {
    "known": "truth.make_scalars", "paper_quantity": "presentation.main_quantity",
    "truths": "truth.scalars", "extras": "density.arrays",
    "patience": "density.cost_in_leapfrogs", "patiences": "density.costs_by_number", "X": "density.arrays",
    "y": "density.arrays",
}  # fmt: skip


def _moved(old: str, place: str) -> property:
    def get(self: Target) -> Any:
        found, now = attrgetter(place)(self), place
        if old in ("X", "y"):
            if old not in found:
                raise AttributeError(f"the target {self.name} has no {old}")
            found, now = found[old], f"{place}[{old!r}]"
        warnings.warn(f"target.{old} is target.{now} now.", DeprecationWarning, stacklevel=2)
        return found

    return property(get, doc=f"Earlier name of `{place}`.")


for _old, _place in _MOVED.items():
    setattr(Target, _old, _moved(_old, _place))
