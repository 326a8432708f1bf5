"""The three parts of a target, and their own parts.

`Density` is for kernels: data, quantities, updates of q^O. `KnownTruth` is for checks of draws. `Presentation` is for
people: titles, quantities to plot, and results that only this target has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mahmc.targets.base import Target

Draws = Mapping[str, np.ndarray]
USUAL_COST = 4  # the default cost of an update, in leapfrogs


# ------------------------------------------------------------------------------------------------------ quantities


class Quantity(NamedTuple):
    """A part of the state that a run records: rows `first` to `first + size` of q^H ("q") or of q^O ("other")."""

    name: str
    source: str
    first: int
    size: int
    discrete: bool = False
    vector: bool = False  # recorded as (chains, draws, size) rather than (chains, draws)
    values: tuple[int, ...] = ()  # for a discrete quantity: all values that an element can have


def elements(quantity: Quantity) -> tuple[str, ...]:
    """The names of the elements of a quantity.

    Parameters
    ----------
    quantity
        The quantity.

    Returns
    -------
    tuple of str
        The names: ("tau",), or ("beta[0]", "beta[1]", …) if the quantity is a vector.

    Examples
    --------
    >>> mahmc.targets.elements(mahmc.targets.Quantity("w", "other", 0, 2, vector=True))
    ('w[0]', 'w[1]')
    """
    if not quantity.vector:
        return (quantity.name,)
    return tuple(f"{quantity.name}[{i}]" for i in range(quantity.size))


@dataclass(frozen=True)
class Derived:
    """A quantity that is computed from recorded quantities: a function of the draws, and the names that it reads."""

    function: Callable[[Draws], np.ndarray]
    reads: tuple[str, ...]

    def __call__(self, draws: Draws) -> np.ndarray:
        return self.function(draws)

    @classmethod
    def inferred(cls, function: Callable[[Draws], np.ndarray], quantities: tuple[Quantity, ...]) -> Derived:
        """Make a `Derived` of a function. The function is called once with ones, to see which names it reads."""
        draws = _Seen(quantities)
        function(draws)
        return cls(function, tuple(draws.names_read))


class _Seen(Mapping[str, np.ndarray]):
    """A draw of ones that records which names are read."""

    def __init__(self, quantities: tuple[Quantity, ...]) -> None:
        shapes = {q.name: (1, 1, q.size) if q.vector else (1, 1) for q in quantities} | {"energy": (1, 1)}
        self._draws = {name: np.ones(shape) for name, shape in shapes.items()}
        self.names_read: dict[str, None] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        found = self._draws[name]
        self.names_read[name] = None
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._draws)

    def __len__(self) -> int:
        return len(self._draws)


# --------------------------------------------------------------------------------------------------------- density


@dataclass(frozen=True, eq=False)
class Density:
    """π(q^H, q^O) ∝ exp(−U) for kernels, and the starts of chains."""

    data: Any  # the NamedTuple that kernels take
    quantities: tuple[Quantity, ...]
    dim: int  # rows of q^H
    n_other: int  # rows of q^O, and of numbers that are computed from q^O
    start: Callable[[np.random.Generator], dict[str, Any]]  # the start of one chain, by quantity
    pack: Callable[[Draws], tuple[np.ndarray, np.ndarray]]  # draws by quantity → (n, dim), (n, n_other)
    n_scratch: int = 1
    updates: tuple[str, ...] = ()  # the names of updates 0, 1, …; empty if there is no q^O
    default_update: str = "none"  # "none" if there are no updates
    sweeps: tuple[str, ...] = ()  # updates that leave π invariant but may be irreversible, as sweeps over sites
    sites: int = 0  # the number of discrete variables in q^O that can be visited one by one
    site_updates: tuple[str, ...] = ()  # the updates that propose a value for one discrete variable, the best first
    cost_in_leapfrogs: Mapping[str, int] = field(default_factory=dict)  # by update: leapfrogs that take as long
    stable_epsilon: float | None = None  # with a larger step size the leapfrog diverges where U is steepest
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)  # the data: X and y

    def number(self, update: str) -> int:
        """The number of the update with this name, from 1; 0 for "none"."""
        return self.updates.index(update) + 1 if update in self.updates else 0

    @property
    def costs_by_number(self) -> np.ndarray:
        """The cost in leapfrogs of "none", which is 0, and of updates 1, 2, …."""
        return np.array([0, *(self.cost_in_leapfrogs.get(name, USUAL_COST) for name in self.updates)])


# ----------------------------------------------------------------------------------------------------------- truth


@dataclass(frozen=True)
class Truth:
    """The known distribution of one scalar quantity: its mean, its sd, and its density (or mass, if discrete).

    `source` is "exact" or the name of a reference. For a reference, `mean_se`, `sd_se` and `density_se` are standard
    errors. `density` and `density_se` take and return arrays; `density_se` is zero if the density is exact.
    """

    mean: float
    sd: float
    density: Callable[[np.ndarray], np.ndarray]
    support: tuple[float, float]  # the range for plots: it has about 99.9 % of the mass
    discrete: bool = False
    source: str = "exact"
    mean_se: float = 0.0
    sd_se: float = 0.0
    density_se: Callable[[np.ndarray], np.ndarray] = field(default=lambda x: np.zeros_like(x, dtype=float))
    cdf: Callable[[np.ndarray], np.ndarray] | None = None
    moments: int = 4  # the number of finite moments, at most 4: the error of a mean needs two, of a variance four


class Model(NamedTuple):
    """The joint distribution of parameters and data, for checks that draw both; the target is the posterior."""

    prior: Callable[[np.random.Generator, int], Mapping[str, np.ndarray]]  # n parameter sets, by quantity
    simulate: Callable[[Draws, np.random.Generator], Mapping[str, np.ndarray]]  # data by field, a row for each set
    with_data: Callable[[Mapping[str, Any]], Target]  # the same target with one row of data


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """The known truth of a target, for checks of draws."""

    exact: Callable[[np.random.Generator, int], dict[str, np.ndarray]] | None = None
    make_scalars: Callable[[], Mapping[str, Truth]] = dict  # makes `scalars` when needed
    unknown: str = ""  # why nothing is known with these settings, and what to choose instead
    small: Callable[[], Target] | None = None  # a small version, for checks that are too slow on a large target
    small_values: Mapping[str, Any] = field(default_factory=dict)  # parameters of samplers that suit the small version
    model: Model | None = None  # if the distribution of the data given the parameters is known

    @cached_property
    def scalars(self) -> Mapping[str, Truth]:
        """The known distributions by scalar quantity: "u", or "w[3]" for an element."""
        return self.make_scalars()

    def of(self, name: str) -> Truth | None:
        """The known distribution of a scalar quantity.

        Parameters
        ----------
        name
            The name: "u", or "w[3]" for an element.

        Returns
        -------
        Truth or None
            The distribution; None if it is unknown.

        Examples
        --------
        >>> mahmc.targets.mdc().truth.of("ones").mean
        10.0
        """
        return self.scalars.get(name)

    def __call__(self, name: str) -> Truth | None:
        """Earlier name of `of`; it works for one version, with a warning."""
        warnings.warn(f"target.truth({name!r}) is target.truth.of({name!r}) now.", DeprecationWarning, stacklevel=2)
        return self.of(name)


def mass_truth(mass: np.ndarray, first: int = 0) -> Truth:
    """The truth of a quantity with whole values and P(first + k) = mass[k].

    Parameters
    ----------
    mass
        The probabilities.
    first
        The smallest value.

    Returns
    -------
    Truth
        The truth.

    Examples
    --------
    >>> mahmc.custom.mass_truth(np.array([0.5, 0.5])).mean
    0.5
    """
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


# ---------------------------------------------------------------------------------------------------- presentation


class Views(NamedTuple):
    """The quantities of a target to plot. Empty fields are filled from its quantities (`Target.shown`)."""

    discrete: str = ""  # the scalar that shows the discrete part
    discrete_title: str = ""  # its title
    pair: tuple[str, str] = ("", "")  # two scalars for a scatter plot
    colour: str = ""  # a discrete scalar for the colours of the scatter plot


class Score(NamedTuple):
    """A number that says how useful draws are, such as the accuracy of a classification."""

    what: str
    of: Callable[[Draws], float]
    paper: float  # the number in the paper; NaN for other data


class PaperFigure(NamedTuple):
    """An ESS per leapfrog that the paper reports for a sampler with these values, outside its table."""

    sampler: str
    values: Mapping[str, Any]
    ess: float


class Paper(NamedTuple):
    """Figures of the paper for a target that are not in its table. `mahmc.samplers` has the figures of the table."""

    ratios: Mapping[tuple[str, str], float] = {}  # ratios of the figures of two samplers, in the text of the paper
    second: PaperFigure | None = None


@dataclass(frozen=True, eq=False)
class Presentation:
    """A target for people: its titles, the quantities to plot, and results that only this target has."""

    title: str
    about: str
    main_quantity: str  # the scalar that is shown first; for the paper's targets the paper reports its ESS
    label: str = ""  # the target and its settings in few words; if empty, the title is used
    views: Views = field(default_factory=Views)
    derived: Mapping[str, Derived] = field(default_factory=dict)
    compared: Mapping[str, Derived] = field(default_factory=dict)  # see `Target.comparisons`
    coefficients: str = ""  # the vector whose means are shown against their true values
    budget: int = 160_000  # leapfrogs of all chains of a replicate in a comparison of samplers
    full_budget: int = 16_000_000  # leapfrogs of all replicates in a comparison at full size
    score: Score | None = None
    paper: Paper = field(default_factory=Paper)

    @property
    def short_title(self) -> str:
        """The label; without a label, the title up to its colon."""
        return self.label or self.title.partition(":")[0]
