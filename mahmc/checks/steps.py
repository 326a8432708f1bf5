"""A sampler that a user wrote, as checks see it: an object that moves a batch of chains by one iteration.

    def step(states, rng):          # states: arrays (chains, …) by quantity; rng: a NumPy generator
        return new_states           # the same names, shapes and kinds of number

A sampler that keeps more than the state between iterations (a momentum, a step size) is an object or a class with

    def init(self, states, rng): return {**states, "momentum": …}
    def step(self, state, rng): return {…}

whose states have the quantities of the target among their entries. Neighbouring chains may depend on each other, such
as the walkers of an ensemble. Then the attribute `group` is the number of chains that form one unit.

Before the checks, a sampler makes a few steps on trial. A sampler that cannot be checked is refused with a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahmc.checks.subjects import Chains, Derived, Exact, Moved, Seed, Size, States, derive, number_of, share_moved
from mahmc.checks.verdicts import Workbench
from mahmc.kernels import energies
from mahmc.parameters import InvalidInput
from mahmc.targets import Target, Truth

TRIED = 32  # chains, or a few groups, of the trial
CHAINS = 256  # long chains
FEWEST_GROUPS = 64
MOST_IN_A_GROUP = 256
ITERATIONS = 2000  # of each long chain, at a budget of one

StepFunction = Callable[[States, np.random.Generator], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class StepSubject:
    """A sampler that a user wrote, on a target with exact draws. `init` makes its state from an exact state."""

    name: str
    step: StepFunction
    init: StepFunction | None
    exact: Exact
    derived: Derived = field(default_factory=dict)
    truths: Mapping[str, Truth] = field(default_factory=dict)
    energy: Callable[[Mapping[str, np.ndarray]], np.ndarray] | None = None
    target_name: str = "exact draws"
    group: int = 1
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # the values that discrete quantities can have
    iterations: int = ITERATIONS  # of each long chain, at a budget of one

    @classmethod
    def of(
        cls,
        sampler: Any,
        target: Target | None = None,
        exact: Exact | None = None,
        name: str = "",
        derived: Derived | None = None,
    ) -> StepSubject:
        """The sampler on a target, or on exact draws alone. InvalidInput if a trial shows that it cannot be checked."""
        step, init, group = _parts(sampler)
        called = name or str(getattr(sampler, "name", "") or getattr(sampler, "__name__", type(sampler).__name__))
        if target is not None:
            if target.truth.exact is None:
                raise InvalidInput(
                    f"{target.name} has no exact draws to start {called} from. Choose a target with exact "
                    "draws: mdc, gmm, gmm-overlapping, blr-prior, ising, spike-slab, neals-funnel, or a custom target "
                    "with exact(self, rng, n)."
                )
            subject = cls(
                called, step, init, target.truth.exact, target.presentation.derived, target.truth.scalars,
                lambda states: energies(target, *target.density.pack(states)), target.name, group,
                {quantity.name: quantity.values for quantity in target.density.quantities if quantity.discrete},
            )  # fmt: skip
        elif exact is not None:
            subject = cls(called, step, init, exact, derived or {}, group=group)
        else:
            raise InvalidInput("give a target, or exact = a function (rng, n) that draws n exact states by name.")
        subject.tried()
        return subject

    @property
    def label(self) -> str:
        return f"{self.name} on {self.target_name}"

    # ---------------------------------------------------------------------------------------------- what checks ask

    def size(self, budget: float) -> Size:
        chains = max(CHAINS, self.group * FEWEST_GROUPS)
        return Size(chains - chains % self.group, max(8, round(self.iterations * budget)))

    def moved(self, n: int, iterations: int, seed: Seed, bench: Workbench) -> Moved:
        n -= n % self.group
        fresh = self._drawn(np.random.default_rng((*seed, 1)), n)
        starts = self._drawn(np.random.default_rng((*seed, 2)), n)
        rng = np.random.default_rng(number_of(seed))
        state = self._begun(starts, rng)
        for _ in range(iterations):
            bench.go_on()
            state = self._stepped(state, rng)
        moved = self._states(state, starts)
        return Moved(self._described(fresh), self._described(moved), share_moved(starts, moved))

    def chains(self, size: Size, times: int, seed: Seed, bench: Workbench) -> Chains:
        draws, thin = size.recorded(times)
        starts = self._drawn(np.random.default_rng((*seed, 2)), size.chains)
        rng = np.random.default_rng(number_of((*seed, 7)))
        state = self._begun(starts, rng)
        kept = {name: np.empty((size.chains, draws, *x.shape[1:]), x.dtype) for name, x in starts.items()}
        for draw in range(draws):
            for _ in range(thin):
                bench.go_on()
                state = self._stepped(state, rng)
            for name, x in self._states(state, starts).items():
                kept[name][:, draw] = x
        return Chains(kept, self.derived, True, self.group)

    # ------------------------------------------------------------------------------------------------------- inside

    def _drawn(self, rng: np.random.Generator, n: int) -> States:
        """Exact draws. A mistake in these is reported as one of `exact`, not of the sampler."""
        found = called("exact", self.exact, rng, n)
        if not isinstance(found, Mapping):
            raise InvalidInput(f"exact returned {type(found).__name__}: return n draws by name, as {{'x': …}}.")
        draws = {str(name): np.asarray(x) for name, x in found.items()}
        for name, x in draws.items():
            if x.ndim == 0 or len(x) != n:
                raise InvalidInput(f"exact returned {name} of shape {x.shape}: its length must be {n}.")
            if x.dtype.kind not in "biuf" or not np.isfinite(x).all():
                raise InvalidInput(f"exact returned {name} with a value that is not a finite number.")
        return draws

    def _begun(self, starts: States, rng: np.random.Generator) -> Any:
        copies = {name: x.copy() for name, x in starts.items()}
        return copies if self.init is None else called(f"{self.name}.init", self.init, copies, rng)

    def _stepped(self, state: Any, rng: np.random.Generator) -> Any:
        return called(f"{self.name}.step", self.step, state, rng)

    def _states(self, state: Any, starts: States) -> States:
        """The target's quantities in a state, if their names, shapes and types are unchanged."""
        if not isinstance(state, Mapping):
            raise InvalidInput(
                f"{self.name}.step returned {type(state).__name__}: return a mapping with {', '.join(starts)}."
            )
        found = {}
        for name, before in starts.items():
            if name not in state:
                raise InvalidInput(f"{self.name}.step returned no {name}: return a mapping with {', '.join(starts)}.")
            x = np.asarray(state[name])
            if x.dtype.kind not in "biuf":
                raise InvalidInput(f"{self.name}.step gave {name} values that are not numbers.")
            if x.shape != before.shape:
                raise InvalidInput(f"{self.name}.step changed the shape of {name} from {before.shape} to {x.shape}.")
            if before.dtype.kind in "biu":
                whole = np.asarray(x, float)
                if not (whole == np.round(whole)).all():
                    raise InvalidInput(f"{self.name}.step gave {name} a value that is not a whole number.")
                x = whole.astype(before.dtype)
                allowed = self.values.get(name, ())
                if allowed and not np.isin(x, allowed).all():
                    stray = x[~np.isin(x, allowed)][0]
                    raise InvalidInput(
                        f"{self.name}.step gave {name} the value {stray}; allowed are {', '.join(map(str, allowed))}."
                    )
            elif not np.isfinite(x).all():
                row = np.argwhere(~np.isfinite(x))[0].tolist()
                raise InvalidInput(f"{self.name}.step gave {name} a value that is not finite, at {row}.")
            found[name] = x.astype(before.dtype)
        return found

    def _described(self, states: States) -> States:
        found = derive(states, self.derived)
        return {**found, "energy": self.energy(states)} if self.energy is not None else found

    # -------------------------------------------------------------------------------------------------- the first try

    def tried(self) -> None:
        """Refuse a sampler that cannot be checked: its generator alone must make it random, and it must keep shapes."""
        n = max(TRIED, 2 * self.group)
        starts = self._drawn(np.random.default_rng(0), n - n % self.group)
        first = self._stepped(self._begun(starts, np.random.default_rng(1)), np.random.default_rng(1))
        self._states(first, starts)  # before the next step uses what this step returned
        one, again, other = (self._once(starts, seed) for seed in (1, 1, 2))
        if not (_same(one, again) and _same(one, self._beside_another(starts))):
            raise InvalidInput(
                f"{self.name}.step gives two results for the same states and a generator in the same state. Draw all "
                "random numbers from the rng that is passed in, and keep nothing between calls: put what must be "
                "kept into the state (see init and step)."
            )
        if _same(one, other):
            for seed in range(3, 40):  # now and then, all of these chains may reject a step
                if not _same(one, self._once(starts, seed)):
                    return
            hint = "It changes nothing." if _same(one, starts) else "It ignores its generator, or is not random."
            raise InvalidInput(
                f"{self.name}.step gives the same result with 40 different generators. {hint} Draw from rng."
            )

    def _once(self, starts: States, seed: int) -> States:
        rng = np.random.default_rng(seed)
        state: Any = self._begun(starts, rng)
        for _ in range(2):
            state = self._stepped(state, rng)
        return self._states(state, starts)

    def _beside_another(self, starts: States) -> States:
        """The same as `_once` with seed 1, while another batch moves in turns with this batch."""
        rng, others = np.random.default_rng(1), np.random.default_rng(2)
        state, another = self._begun(starts, rng), self._begun(starts, others)
        for _ in range(2):
            state, another = self._stepped(state, rng), self._stepped(another, others)
        return self._states(state, starts)


def called(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a user's function. If it raises, the message names the function and quotes the error."""
    try:
        return function(*arguments)
    except InvalidInput:
        raise
    except Exception as error:
        said = str(error).strip().partition("\n")[0]
        raise InvalidInput(f"{what} raised {type(error).__name__}: {said or 'no message'}") from error


def _same(a: States, b: States) -> bool:
    return all(np.array_equal(a[name], b[name]) for name in a)


def _parts(sampler: Any) -> tuple[StepFunction, StepFunction | None, int]:
    """A sampler's step, its init if it has one, and the number of chains in a group."""
    if isinstance(sampler, type):
        try:
            sampler = sampler()
        except TypeError as error:
            raise InvalidInput(
                f"{sampler.__name__} cannot be made without arguments ({error}): pass an instance."
            ) from None
        except Exception as error:
            raise InvalidInput(f"{sampler.__name__}() raised {type(error).__name__}: {error}") from error
    group = getattr(sampler, "group", 1)
    if not isinstance(group, int) or not 1 <= group <= MOST_IN_A_GROUP:
        raise InvalidInput(
            f"group = {group!r} is not allowed: give the number of chains that depend on each other, from 1 to "
            f"{MOST_IN_A_GROUP}."
        )
    if hasattr(sampler, "step"):
        return sampler.step, getattr(sampler, "init", None), group
    if callable(sampler):
        return sampler, None, group
    raise InvalidInput(f"{sampler!r} cannot make a step: pass a function step(states, rng), or an object with step.")
