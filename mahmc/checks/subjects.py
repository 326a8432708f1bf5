"""The subject of a check: a sampler on a target whose distribution is partly known.

A check asks a subject for two things: exact draws that the sampler has moved a few times, and long chains. Here the
sampler is one of mahmc; in `steps` a user wrote the sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from mahmc.checks.verdicts import Workbench
from mahmc.kernels import energies
from mahmc.run import Run
from mahmc.spec import RunSpec, built_target
from mahmc.targets import Target, Truth

Seed = tuple[int, ...]
States = dict[str, np.ndarray]  # by quantity: (n,) or (n, size)
Exact = Callable[[np.random.Generator, int], Mapping[str, np.ndarray]]
Derived = Mapping[str, Callable[[Mapping[str, np.ndarray]], np.ndarray]]
KEPT_ELEMENTS = 3  # of a vector, for charts
CHAINS = 256  # chains that start from exact draws
CHAINS_WITHOUT_EXACT = 64  # chains that need a warm-up
SLOTS = 1000  # recorded draws of a chain; longer chains are thinned


class Size(NamedTuple):
    """The number of chains, the iterations of each chain, and the iterations of its warm-up."""

    chains: int
    iterations: int
    warmup: int = 0

    def recorded(self, times: int) -> tuple[int, int]:
        """(draws, thin) for `times` the iterations, so that at most about SLOTS draws are recorded."""
        thin = max(1, self.iterations * times // SLOTS)
        return max(2, self.iterations * times // thin), thin


class Moved(NamedTuple):
    """Fresh exact draws, other exact draws after some iterations, and the share of chains that moved."""

    fresh: States
    moved: States
    share: float  # of the chains whose real quantities changed


@dataclass(frozen=True)
class Chains:
    """Long chains: draws by quantity, (chains, draws) or (chains, draws, size)."""

    draws: Mapping[str, np.ndarray]
    derived: Derived = field(default_factory=dict)
    from_exact: bool = True  # whether each chain started from an exact draw
    group: int = 1  # neighbouring chains that depend on each other; their mean is one unit

    @classmethod
    def of(cls, run: Run) -> Chains:
        """The chains of a run."""
        kept, every = set(run.spec.keep), run.target.presentation.derived
        derived = {name: function for name, function in every.items() if set(function.reads) <= kept}
        return cls(run.draws, derived, run.spec.start == "exact")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all scalars."""
        found: list[str] = []
        for name, x in self.draws.items():
            found += [name] if x.ndim == 2 else [f"{name}[{i}]" for i in range(x.shape[2])]
        return (*found, *self.derived)

    def get(self, name: str) -> np.ndarray:
        """One scalar, (chains, draws)."""
        if name in self.derived:
            return self.derived[name](self.draws)
        base, bracket, index = name.partition("[")
        return self.draws[base][..., int(index[:-1])] if bracket else self.draws[name]

    def first(self, draws: int | None) -> Chains:
        """The first draws of each chain."""
        return replace(self, draws={name: x[:, :draws] for name, x in self.draws.items()})

    def everything(self) -> dict[str, np.ndarray]:
        """Quantities and derived quantities, (chains, draws, …) each."""
        return {**self.draws, **{name: f(self.draws) for name, f in self.derived.items()}}

    def kept(self) -> Chains:
        """What charts need, in little memory: the first few elements of vectors, in short numbers."""
        small = {np.dtype(float): np.float32, np.dtype(int): np.int16}
        names = [n for n in self.names if "[" not in n or int(n.partition("[")[2][:-1]) < KEPT_ELEMENTS]
        values = {name: self.get(name) for name in names}
        return _Kept({n: np.array(x, small.get(x.dtype, x.dtype)) for n, x in values.items()}, {}, self.from_exact)


class _Kept(Chains):
    """Scalars by their own names: "w[1]" is a key."""

    def get(self, name: str) -> np.ndarray:
        return self.draws[name]


class Subject(Protocol):
    """A sampler on a target, as checks see it."""

    @property
    def label(self) -> str: ...

    @property
    def exact(self) -> Exact | None: ...

    @property
    def truths(self) -> Mapping[str, Truth]: ...

    @property
    def derived(self) -> Derived: ...

    def moved(self, n: int, iterations: int, seed: Seed, bench: Workbench) -> Moved:
        """n exact draws after some iterations, beside n fresh ones."""
        ...

    def chains(self, size: Size, times: int, seed: Seed, bench: Workbench) -> Chains | Run:
        """Chains of that size, with `times` the iterations."""
        ...

    def size(self, budget: float) -> Size:
        """How long chains are at this budget."""
        ...


LEAPFROGS = 400_000_000  # of all long chains together, on a target with few dimensions
CHEAP_DIMENSIONS = 4  # with more dimensions, there are fewer leapfrogs in proportion
COSTLY_LEAPFROGS = 4_000_000  # on a target without exact draws
MOST_ITERATIONS = 400_000
WARMUP_SHARE = 0.3  # of the iterations, for chains that need a warm-up


@dataclass(frozen=True)
class EngineSubject:
    """A sampler of mahmc on a target, with the parameters that were chosen."""

    target: Target
    sampler: str
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.sampler} on {self.target.name}"

    @property
    def exact(self) -> Exact | None:
        return self.target.truth.exact

    @property
    def truths(self) -> Mapping[str, Truth]:
        return self.target.truth.scalars

    @property
    def derived(self) -> Derived:
        return self.target.presentation.derived

    @property
    def updates(self) -> tuple[str, ...]:
        """The names of the updates of q^O that the sampler makes."""
        return RunSpec.of(self.target, self.sampler, **self.chosen).updates

    def size(self, budget: float) -> Size:
        per_iteration = RunSpec.of(self.target, self.sampler, **self.chosen).leapfrogs_per_draw
        exact = self.target.truth.exact is not None
        chains = CHAINS if exact else CHAINS_WITHOUT_EXACT
        cheap = LEAPFROGS / max(1.0, self.target.density.dim / CHEAP_DIMENSIONS)
        leapfrogs = (cheap if exact else COSTLY_LEAPFROGS) * budget
        iterations = max(8, min(int(leapfrogs / chains / per_iteration), MOST_ITERATIONS))
        return Size(chains, iterations, 0 if exact else int(WARMUP_SHARE * iterations))

    def moved(self, n: int, iterations: int, seed: Seed, bench: Workbench) -> Moved:
        target, exact = self.target, self.target.truth.exact
        assert exact is not None  # the check made sure
        wanted = {"chains": n, "draws": 1, "warmup": 0, "thin": iterations, "seed": number_of(seed)}
        spec = RunSpec.of(target, self.sampler, **wanted, **self.chosen)
        rng = np.random.default_rng((*seed, 1))
        fresh = dict(exact(rng, n))
        fresh["energy"] = energies(target, *target.density.pack(fresh))
        if "alpha" in spec.values:  # the momentum outlives an iteration, and so does v
            fresh["momentum"] = rng.standard_normal((n, target.density.dim))
        if "delta" in spec.values:
            fresh["slice"] = rng.uniform(-1.0, 1.0, n)
        spec = RunSpec.of(target, self.sampler, **wanted, keep=tuple(fresh), **self.chosen)
        starts = dict(exact(np.random.default_rng((*seed, 2)), n))
        run = bench.advance(Run(spec, target, init=starts))
        moved = {name: values[:, 0] for name, values in run.draws.items()}
        return Moved(derive(fresh, self.derived), derive(moved, self.derived), share_moved(starts, moved))

    def chains(self, size: Size, times: int, seed: Seed, bench: Workbench) -> Chains | Run:
        run = bench.advance(self.new_run(size, times, seed))
        return Chains.of(run) if self.target.truth.exact is not None else run

    def new_run(self, size: Size, times: int, seed: Seed) -> Run:
        """Chains that have not begun yet."""
        exact = self.target.truth.exact is not None
        draws, thin = size.recorded(times)
        about = {
            "start": "exact" if exact else "default", "chains": size.chains, "thin": thin, "draws": draws,
            "warmup": 0 if exact else -(-size.warmup // thin), "seed": number_of((*seed, 7)),
            "keep": tuple(quantity.name for quantity in self.target.density.quantities),
        }  # fmt: skip
        return Run(RunSpec.of(self.target, self.sampler, **about, **self.chosen), self.target)


def engine_subject(target: str | Target, sampler: str, chosen: Mapping[str, Any]) -> EngineSubject:
    """A sampler of mahmc on a target by name or built; InvalidInput if something does not fit."""
    built, rest = built_target(target, chosen)
    RunSpec.of(built, sampler, **rest)  # refuses what is wrong
    return EngineSubject(built, sampler, rest)


def number_of(seed: Seed) -> int:
    """One number from several."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def derive(states: States, derived: Derived) -> States:
    """The states with the derived quantities."""
    return {**states, **{name: function(states) for name, function in derived.items()}}


def share_moved(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> float:
    """The share of chains in which a real quantity changed, for the quantity that changed in the fewest chains."""
    shares = []
    for name, x in before.items():
        if np.issubdtype(np.asarray(x).dtype, np.floating):
            changed = (np.asarray(x) != after[name]).reshape(len(x), -1).any(axis=1)
            shares.append(float(changed.mean()))
    return min(shares, default=1.0)
