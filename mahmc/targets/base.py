"""What a target is: a density π(q^H, q^O) ∝ exp(−U(q^H, q^O)), ways to update q^O, and what is known of its truth.

The compiled half of a target is a NamedTuple of numbers and arrays (its *data*) with three functions, which
`implements` attaches to the NamedTuple's class:

    potential(data, q, other, grad, scratch) → U    writes ∇U with respect to q^H into `grad`
    update(data, which, q, other, grad, rng) → (ΔU, accepted)
                                                    one update of q^O; keeps `grad` the gradient at the new state
    step_scale(data, other) → s                     the leapfrog's step is ε·s; reversible, as s hangs on q^O alone

and, where q^O is discrete variables that M-HMC may visit one by one, a fourth:

    visit(data, which, site, q, other, grad, rng, k) → (ΔU, cost, accepted)
                                                    propose a value for one of them, and take it if k pays for it

Where some lanes make an update and others wait it is undone in the latter. A target that knows a cheaper way to leave
lanes alone has, instead of `update`,

    update_where(data, which, theirs, some, q, other, grad, rng, aside) → (ΔU, accepted)

Here q, other, grad and scratch have shape (rows, LANES): rows of a quantity, one column a chain.

The other half is for people: names, starts, exact draws, exact densities and moments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from mahmc.parameters import Parameter

Draws = Mapping[str, np.ndarray]
USUAL_PATIENCE = 4  # leapfrogs for an update that nothing is said of


def potential(target, q, other, grad, scratch):
    """U(q^H, q^O) in each lane; writes ∇U into `grad`."""
    raise NotImplementedError("compiled code only")


def update(target, which, q, other, grad, rng):
    """Update q^O by the target's update number `which`: (U after − U before, accepted) in each lane."""
    raise NotImplementedError("compiled code only")


def update_where(target, which, theirs, some, q, other, grad, rng, aside):
    """The same in the lanes where it is `theirs`, which is all of them unless `some`; others are left alone.

    Randomness goes on in all lanes. `aside` has room for `other` and `grad`.
    """
    raise NotImplementedError("compiled code only")


def visit(target, which, site, q, other, grad, rng, k):
    """Propose a new value for discrete variable `site` by proposal `which`; accept if it costs at most k.

    The cost is −log of the Metropolis–Hastings ratio, ΔU + log Q(new | old) − log Q(old | new). Of k ~ Exponential(1)
    this is the usual test: P(k ≥ cost) = min(1, e^−cost). Returns (U after − U before, cost paid, accepted) by lane.
    """
    raise NotImplementedError("compiled code only")


def step_scale(target, other):
    """What ε is multiplied with in each lane."""
    raise NotImplementedError("compiled code only")


class Quantity(NamedTuple):
    """A part of the state that a run records: rows `first` to `first + size` of q^H ("q") or of q^O ("other")."""

    name: str
    source: str
    first: int
    size: int
    discrete: bool = False
    vector: bool = False  # recorded as (chains, draws, size) rather than (chains, draws)
    values: tuple[int, ...] = ()  # of a discrete quantity: every value that an element can have


@dataclass(frozen=True)
class Truth:
    """What is known of one scalar quantity: its mean and sd, and its density (or mass, if discrete).

    `source` is "exact", or says which reference the numbers come from; then the `*_se` are their standard errors.
    `density(x)` takes an array; `density_se` likewise, and is zero where the density is exact.
    """

    mean: float
    sd: float
    density: Callable[[np.ndarray], np.ndarray]
    support: tuple[float, float]  # where to draw it: all but a thousandth of the mass or so
    discrete: bool = False
    source: str = "exact"
    mean_se: float = 0.0
    sd_se: float = 0.0
    density_se: Callable[[np.ndarray], np.ndarray] = field(default=lambda x: np.zeros_like(x, dtype=float))
    cdf: Callable[[np.ndarray], np.ndarray] | None = None
    moments: int = 4  # so many are finite, if not all: a mean has an error from two on, a variance from four on


class Views(NamedTuple):
    """What of a target is worth a look; what is left empty is chosen from its quantities."""

    discrete: str = ""  # the scalar that its discrete part is looked at by
    discrete_title: str = ""  # in words
    pair: tuple[str, str] = ("", "")  # two scalars for a scatter
    colour: str = ""  # a discrete scalar that the scatter is coloured by


class Model(NamedTuple):
    """How parameters and data come about, for checks that draw both: a target is then the posterior given its data."""

    prior: Callable[[np.random.Generator, int], Mapping[str, np.ndarray]]  # n parameter sets, by quantity
    simulate: Callable[[Draws, np.random.Generator], Mapping[str, np.ndarray]]  # data by field, a row for each set
    with_data: Callable[[Mapping[str, Any]], Target]  # the same target, given one such row


class Score(NamedTuple):
    """A number that shows how good draws are for what the target is used for, beside their distribution."""

    what: str
    of: Callable[[Draws], float]
    paper: float  # what the paper reports; NaN on other data


@dataclass(frozen=True, eq=False)
class Target:
    """A target, ready to be sampled. Built by `mdc`, `blr`, `gmm`; see the module's text for the compiled half."""

    name: str
    title: str
    about: str
    data: Any  # the NamedTuple that kernels take
    settings: Mapping[str, Any]  # what it was built with: plain values, for a RunSpec
    quantities: tuple[Quantity, ...]
    dim: int  # rows of q^H
    n_other: int  # rows of q^O, with whatever is kept beside it
    n_scratch: int
    updates: tuple[str, ...]  # names, in the order of `which`; none if there is no q^O
    default_update: str  # "none" if there are none
    paper_quantity: str  # the scalar that is looked at first; of the paper's targets the one whose ESS it reports
    start: Callable[[np.random.Generator], dict[str, Any]]  # one chain's start, by quantity
    pack: Callable[[Draws], tuple[np.ndarray, np.ndarray]]  # draws by quantity → (n, dim), (n, n_other)
    derived: Mapping[str, Callable[[Draws], np.ndarray]] = field(default_factory=dict)
    compared: Mapping[str, Callable[[Draws], np.ndarray]] = field(default_factory=dict)  # see `comparisons`
    budget: int = 160_000  # leapfrogs of a replicate, all chains together, when samplers are compared
    full_budget: int = 16_000_000  # of all replicates, when they are compared at full size
    views: Views = field(default_factory=Views)
    exact: Callable[[np.random.Generator, int], dict[str, np.ndarray]] | None = None
    known: Callable[[], Mapping[str, Truth]] = dict  # makes `truths`, when they are first asked for
    small: Callable[[], Target] | None = None  # a small version of itself, for checks that a large one is too slow for
    small_values: Mapping[str, Any] = field(default_factory=dict)  # parameters of samplers that suit the small version
    model: Model | None = None  # where its data are known to come from its parameters
    score: Score | None = None
    sweeps: tuple[str, ...] = ()  # updates that leave π alone but need not be reversible, as sweeps over sites
    sites: int = 0  # discrete variables in q^O that can be visited one by one
    site_updates: tuple[str, ...] = ()  # the updates that propose for one of them, the best first
    patience: Mapping[str, int] = field(default_factory=dict)  # by update: so many leapfrogs take about as long
    stable_epsilon: float | None = None  # beyond it the leapfrog diverges where U is steepest
    fingerprint: str = ""  # of data that its settings do not tell (a user's own X and y)
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)  # arrays people may want to see: X and y

    @property
    def names(self) -> tuple[str, ...]:
        """Every scalar coordinate: ("u", "v", "w[0]", ...)."""
        return tuple(element for q in self.quantities for element in elements(q))

    @cached_property
    def truths(self) -> Mapping[str, Truth]:
        """What is known, by scalar quantity; "w[3]" for an element."""
        return self.known()

    @property
    def comparisons(self) -> Mapping[str, Callable[[Draws], np.ndarray]]:
        """What samplers are compared by, the first quantity first: functions of the draws to (chains, draws).

        One may give (chains, draws, size): then the least ESS of its elements counts. Unless the target says
        otherwise these are all it records, what it derives from that, and the energy.
        """
        if self.compared:
            return self.compared
        found: dict[str, Callable[[Draws], np.ndarray]] = {}
        for q in self.quantities:
            found[f"least {q.name}" if q.vector else q.name] = itemgetter(q.name)
        found |= {**self.derived, "energy": itemgetter("energy")}
        return {name: self.scalar(name) for name in (self.paper_quantity,)} | found

    def scalar(self, name: str) -> Callable[[Draws], np.ndarray]:
        """The scalar quantity `name` ("u", "w[3]", "ones", "energy") as a function of the draws."""
        if name in self.derived:
            return self.derived[name]
        base, bracket, index = name.partition("[")
        return (lambda draws: draws[base][..., int(index[:-1])]) if bracket else itemgetter(name)

    def needs(self, function: Callable[[Draws], np.ndarray]) -> set[str]:
        """Which recorded quantities a function of the draws reads: those it asks for when given none."""
        sizes = {q.name: (q.size,) if q.vector else () for q in self.quantities} | {"energy": ()}
        given: dict[str, np.ndarray] = {}
        while True:
            try:
                function(given)
                return set(given)
            except KeyError as missing:
                name = missing.args[0]
                given[name] = np.ones((1, 1, *sizes[name]))

    @property
    def shown(self) -> Views:
        """Its views, with a choice for each that it does not name."""
        discrete = [name for q in self.quantities if q.discrete for name in elements(q)[:1]]
        real = [name for q in self.quantities if not q.discrete for name in elements(q)[:2]]
        view = self.views
        return Views(
            view.discrete or next(iter(discrete), ""),
            view.discrete_title or view.discrete or next(iter(discrete), ""),
            view.pair if all(view.pair) else (real[0], [*real, "energy"][1]),
            view.colour,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Target:
        """Itself: nothing of a target ever changes."""
        return self

    def __getattr__(self, name: str) -> np.ndarray:
        """`target.X`: an array of `extras`."""
        if name != "extras" and name in self.extras:
            return self.extras[name]
        raise AttributeError(f"{type(self).__name__} {self.name!r} has no attribute {name!r}")

    def number(self, update: str) -> int:
        """The number of an update by its name, from 1; 0 for "none"."""
        return self.updates.index(update) + 1 if update in self.updates else 0

    @property
    def patiences(self) -> np.ndarray:
        """How many leapfrogs take about as long as update 1, 2, …, one number for each; at 0 stands "none"."""
        return np.array([0, *(self.patience.get(name, USUAL_PATIENCE) for name in self.updates)])

    def truth(self, name: str) -> Truth | None:
        """What is known of the scalar quantity `name`, or None."""
        return self.truths.get(name)


class TargetFamily(NamedTuple):
    """A target as a choice: what people may set before it is built."""

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    build: Callable[..., Target]
    presets: Mapping[str, Mapping[str, float]] = {}  # good values by sampler, beside those in the samplers' own table
    file: str = ""  # where a user's own target is written

    def __call__(self, *settings: Any, **named: Any) -> Target:
        """The target with these settings, in their order or by name."""
        return self.build(**dict(zip((p.name for p in self.parameters), settings, strict=False)), **named)


def elements(quantity: Quantity) -> tuple[str, ...]:
    """The scalar names of a quantity: ("tau",), or ("beta[0]", "beta[1]", ...)."""
    if not quantity.vector:
        return (quantity.name,)
    return tuple(f"{quantity.name}[{i}]" for i in range(quantity.size))


def mass_truth(mass: np.ndarray, first: int = 0) -> Truth:
    """The truth of a whole-valued quantity with P(first + k) = mass[k]."""
    values = first + np.arange(mass.size)
    mean = float(mass @ values)
    sd = float(np.sqrt(mass @ (values - mean) ** 2))
    steps = np.concatenate([[0.0], np.cumsum(mass)])
    return Truth(
        mean,
        sd,
        lambda k: mass[np.asarray(k, int) - first],
        (float(first), first + mass.size - 1.0),
        discrete=True,
        cdf=lambda k: steps[np.clip(np.floor(k).astype(int) + 1 - first, 0, mass.size)],
    )
