"""Samplers that cannot be checked are refused, with a message that says why and what to do."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc.checks import invariance

Rng = np.random.Generator


def walk(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    """A step that can be checked, though it is wrong."""
    return {**states, "q": states["q"] + 0.1 * rng.standard_normal(states["q"].shape)}


def changes_shapes(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {**walk(states, rng), "component": states["component"][:, None]}


def returns_nan(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    q = walk(states, rng)["q"]
    q[3] = np.nan
    return {**states, "q": q}


def ignores_its_generator(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return walk(states, np.random.default_rng(7))


def has_a_generator_of_its_own(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return walk(states, np.random.default_rng())


def is_not_random(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {**states, "q": -states["q"] + 0.1}


def does_nothing(states: Mapping[str, np.ndarray], rng: Rng) -> Mapping[str, np.ndarray]:
    return states


def raises(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    raise ZeroDivisionError("a scale of zero")


def forgets_a_quantity(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {"q": walk(states, rng)["q"]}


def returns_a_tuple(states: Mapping[str, np.ndarray], rng: Rng) -> tuple[np.ndarray, ...]:
    return tuple(walk(states, rng).values())


def returns_half_a_component(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {**walk(states, rng), "component": states["component"] + 0.5}


class KeepsHiddenState:
    """The step size shrinks from call to call, and the object keeps it."""

    def __init__(self) -> None:
        self.epsilon = 1.0

    def step(self, states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
        self.epsilon *= 0.9
        return {**states, "q": states["q"] + self.epsilon * rng.standard_normal(len(states["q"]))}


class KeepsItsMomentum:
    """`init` draws a momentum anew, and the object keeps it: batches that move in turns share it."""

    def init(self, states: Mapping[str, np.ndarray], rng: Rng) -> Mapping[str, np.ndarray]:
        self.p = rng.standard_normal(len(states["q"]))
        return states

    def step(self, states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
        self.p = 0.8 * self.p + 0.6 * rng.standard_normal(len(self.p))
        return {**states, "q": states["q"] + self.p}


def returns_text(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {**states, "q": np.full(len(states["q"]), "one")}


def leaves_the_components(states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
    return {**walk(states, rng), "component": np.full(len(states["q"]), 7)}


class NeedsArguments:
    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    step = staticmethod(walk)


class GroupOfHalf:
    group = 0.5
    step = staticmethod(walk)


class GroupOfThousands:
    group = 5000
    step = staticmethod(walk)


class InitRaises:
    def init(self, states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, np.ndarray]:
        raise ValueError("no momentum")

    step = staticmethod(walk)


class CannotBeMade:
    def __init__(self) -> None:
        raise RuntimeError("no licence")

    step = staticmethod(walk)


REFUSED = {
    changes_shapes: ("changed the shape of component", "(32,) to (32, 1)"),
    returns_nan: ("gave q a value that is not finite", "[3]"),
    ignores_its_generator: ("same result with 40 different generators", "Draw from rng"),
    has_a_generator_of_its_own: ("two results for the same states", "Draw all random numbers from the rng"),
    is_not_random: ("same result with 40 different generators", "not random"),
    does_nothing: ("same result with 40 different generators", "It changes nothing"),
    raises: ("step raised ZeroDivisionError: a scale of zero",),
    forgets_a_quantity: ("returned no component", "return a mapping with q, component"),
    returns_a_tuple: ("returned tuple", "return a mapping with q, component"),
    returns_half_a_component: ("gave component a value that is not a whole number",),
    KeepsHiddenState: ("two results for the same states", "keep nothing between calls"),
    KeepsItsMomentum: ("two results for the same states", "keep nothing between calls"),
    NeedsArguments: ("NeedsArguments cannot be made without arguments", "epsilon"),
    GroupOfHalf: ("group = 0.5 is not allowed",),
    GroupOfThousands: ("group = 5000 is not allowed",),
    returns_text: ("gave q values that are not numbers",),
    leaves_the_components: ("gave component the value 7", "allowed are 0, 1, 2"),
    InitRaises: ("InitRaises.init raised ValueError: no momentum",),
    CannotBeMade: ("CannotBeMade() raised RuntimeError: no licence",),
}
WITHOUT_A_STEP = (NeedsArguments, GroupOfHalf, GroupOfThousands, InitRaises, CannotBeMade)


@pytest.mark.parametrize("sampler", REFUSED, ids=lambda sampler: sampler.__name__)
def test_refused_with_a_message(sampler: Any) -> None:
    """The message names the sampler, the quantity and what is wrong with it."""
    with pytest.raises(mahmc.InvalidInput) as refused:
        mahmc.check_sampler(sampler, "gmm-overlapping", budget=0.02)
    for part in REFUSED[sampler]:
        assert part in str(refused.value)
    if sampler not in WITHOUT_A_STEP:
        assert f"{sampler.__name__}.step" in str(refused.value)


def test_target_without_exact_draws() -> None:
    with pytest.raises(mahmc.InvalidInput, match=r"blr has no exact draws to start walk from\. Choose a "):
        mahmc.check_sampler(walk, "blr")


def test_something_that_cannot_make_a_step() -> None:
    with pytest.raises(mahmc.InvalidInput, match=r"pass a function step\(states, rng\), or an object with step"):
        mahmc.check_sampler("hmc", "gmm")


@pytest.mark.parametrize(
    ("exact", "message"),
    [
        (lambda rng, n: rng.standard_normal(n), "exact returned ndarray: return n draws by name"),
        (lambda rng, n: {"q": rng.standard_normal(n + 1)}, "its length must be 32"),
        (lambda rng, n: {"q": np.full(n, np.nan)}, "exact returned q with a value that is not a finite number"),
        (lambda n: {"q": np.zeros(n)}, "exact raised TypeError"),
    ],
)
def test_exact_draws_that_cannot_be_used(exact: Any, message: str) -> None:
    """The mistake is not blamed on the sampler."""
    with pytest.raises(mahmc.InvalidInput, match=message):
        invariance(step=walk, exact=exact)


def test_groups_that_do_not_divide_blocks() -> None:
    """Twelve walkers, where chains are looked at in blocks of eight."""

    class Twelve:
        group = 12
        step = staticmethod(walk)

    assert mahmc.check_sampler(Twelve, "gmm", budget=0.02).verdict == "wrong"


def test_importing_mahmc_imports_no_library_of_an_adapter() -> None:
    code = (
        "import sys, mahmc; assert 'mahmc.adapters' not in sys.modules;"
        "import mahmc.adapters;"
        "names = {'jax', 'blackjax', 'numpyro', 'pymc', 'emcee'} & set(sys.modules); assert not names, names"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("library", ["jax", "pymc", "emcee"])
def test_a_library_that_is_not_installed(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mahmc import adapters

    monkeypatch.setitem(sys.modules, library, None)
    never: Any = walk  # a library that is missing is reported first
    made: dict[str, Callable[[], object]] = {
        "jax": lambda: adapters.blackjax(types.SimpleNamespace(init=never, step=never)),
        "pymc": lambda: adapters.pymc(never, None),
        "emcee": lambda: adapters.emcee(never),
    }
    with pytest.raises(mahmc.InvalidInput, match=f"{library} is not installed: pip install"):
        made[library]()


def test_neither_target_nor_exact_draws() -> None:
    with pytest.raises(mahmc.InvalidInput, match=r"give a target, or exact = a function \(rng, n\)"):
        invariance(step=walk)


def test_a_sampler_that_breaks_later_is_named_as_well() -> None:
    """Not every value that is not finite comes with the first steps."""

    class BreaksLater:
        def init(self, states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, Any]:
            return {**states, "age": 0}

        def step(self, state: dict[str, Any], rng: Rng) -> dict[str, Any]:
            q = walk({"q": state["q"]}, rng)["q"]
            return {**state, "q": q if state["age"] < 5 else q / 0.0 * 0.0, "age": state["age"] + 1}

    with np.errstate(all="ignore"), pytest.raises(mahmc.InvalidInput, match=r"BreaksLater\.step gave q a value that "):
        mahmc.check_sampler(BreaksLater, "gmm", budget=0.02)


def test_what_is_kept_in_the_state_is_allowed() -> None:
    """The same shrinking step size, in the state, is a sampler that can be checked."""

    class KeptInTheState:
        def init(self, states: Mapping[str, np.ndarray], rng: Rng) -> dict[str, Any]:
            return {**states, "epsilon": 1.0}

        def step(self, state: dict[str, Any], rng: Rng) -> dict[str, Any]:
            q = state["q"] + state["epsilon"] * rng.standard_normal(len(state["q"]))
            return {**state, "q": q, "epsilon": 0.9 * state["epsilon"]}

    assert mahmc.check_sampler(KeptInTheState, "gmm", budget=0.02).verdict is not None
