"""Discrete variables of a custom target that are visited one by one: M-HMC takes them, and mistakes are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput
from mahmc.custom import discrete, real, uniform, update, visit, where
from mahmc.targets import TargetFamily
from tests.support.custom import registered

pytestmark = pytest.mark.usefixtures("families_as_before")
MASS = np.array([0.1, 0.4, 0.3, 0.2])  # of the values 0 to 3


class Levels:
    """x_i ~ N(level_i, 1), and each level has a value from 0 to 3, of the probabilities `mass`."""

    n: int = 3
    mass: np.ndarray

    def data(self) -> dict[str, Any]:
        return {"mass": MASS}

    def variables(self) -> Any:
        return real("x", self.n), discrete("level", self.n, values=range(4))

    def U(self, q, other):
        total = 0.0
        for i in range(self.n):
            total += (q[i] - other[i]) ** 2 / 2 - np.log(self.mass[other[i]])
        return total

    def grad_U(self, q, other, grad):
        for i in range(self.n):
            grad[i] = q[i] - other[i]

    def exact(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        level = rng.choice(4, (n, self.n), p=MASS)
        return {"x": level + rng.standard_normal((n, self.n)), "level": level}


@visit
def anything(self, site, q, other, rng):
    """Any value, with equal probability; ΔU by two evaluations of U."""
    return np.floor(4 * uniform(rng))


@visit
def step(self, site, q, other, rng):
    """One up or down, on a circle, with the ΔU of that site alone."""
    old = other[site]
    new = (old + where(uniform(rng) < 0.5, 1, -1)) % 4
    delta_U = ((q[site] - new) ** 2 - (q[site] - old) ** 2) / 2 + np.log(self.mass[old] / self.mass[new])
    return new, delta_U


@visit
def mostly_up(self, site, q, other, rng):
    """One up with probability 0.8, else down: log Q(new | old) − log Q(old | new) = ±log 4."""
    old = other[site]
    up = uniform(rng) < 0.8
    new = (old + where(up, 1, -1)) % 4
    delta_U = ((q[site] - new) ** 2 - (q[site] - old) ** 2) / 2 + np.log(self.mass[old] / self.mass[new])
    return new, delta_U, where(up, np.log(4.0), -np.log(4.0))


@visit
def mostly_up_as_if_symmetric(self, site, q, other, rng):
    old = other[site]
    new = (old + where(uniform(rng) < 0.8, 1, -1)) % 4
    delta_U = ((q[site] - new) ** 2 - (q[site] - old) ** 2) / 2 + np.log(self.mass[old] / self.mass[new])
    return new, delta_U


@visit
def step_without_the_mass(self, site, q, other, rng):
    old = other[site]
    new = (old + where(uniform(rng) < 0.5, 1, -1)) % 4
    return new, ((q[site] - new) ** 2 - (q[site] - old) ** 2) / 2


@visit
def beyond(self, site, q, other, rng):
    return other[site] + 1


@visit
def changes(self, site, q, other, rng):
    other[site] = 1.0
    return 1.0


@update
def nothing(self, q, other, grad, rng):
    return 0.0


def levels(*functions: Callable[..., Any], **changes: Any) -> TargetFamily:
    return registered(Levels, **changes | {f.__name__: f for f in functions})


def test_m_hmc_visits_variables_by_each_kind_of_proposal() -> None:
    """It samples the right law, whichever of its three forms a proposal has; so does MAHMC, by updates made of them."""
    target = levels(nothing, anything, step, mostly_up)()
    assert (target.density.sites, target.density.site_updates) == (3, ("anything", "step", "mostly_up"))
    assert target.density.updates == ("nothing", "anything", "step", "mostly_up")
    for proposal in target.density.site_updates:
        chosen: dict[str, Any] = {"epsilon": 0.5, "T": 3.0, "visits": 4, "update": proposal}
        run = mahmc.sample(target, "m-hmc", draws=6000, seed=4, **chosen)
        assert run.acceptances["inner"].rate > 0.2  # type: ignore[operator]
        shares = np.array([(run.get("level") == k).mean() for k in range(4)])
        assert np.abs(shares - MASS).max() < 0.02, proposal
        assert mahmc.checks.invariance(target, "m-hmc", draws=32_768, **chosen).right, proposal
    assert mahmc.checks.invariance(target, "mahmc", epsilon=0.5, L=2, n_u=3, update="mostly_up", draws=32_768).right


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (mostly_up_as_if_symmetric, "mostly_up_as_if_symmetric does not leave exp(−U) invariant"),
        (step_without_the_mass, "step_without_the_mass reports ΔU = "),
        (beyond, "beyond does not leave exp(−U) invariant"),
        (changes, "This changes other, which is done for you where the proposal is accepted: return the value"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_wrong_proposal_is_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        levels(function)()
    assert words in str(refusal.value)


@pytest.mark.quick
def test_what_cannot_be_visited_is_refused() -> None:
    def variables(self: Any) -> Any:
        return real("x", 3), discrete("level", 3, values=range(4)), real("tau", other=True)

    with pytest.raises(InvalidInput, match="tau of qᴼ is real: mark it with @update"):
        levels(step, variables=variables)()
    with pytest.raises(InvalidInput, match=r"must have the arguments step\(self, site, q, other, rng\)"):
        levels(visit(type(step)(nothing.__code__.replace(co_argcount=2), {}, "step")))
    with pytest.raises(InvalidInput, match="m-hmc cannot sample levels"):
        mahmc.RunSpec.of(levels(nothing)(), "m-hmc")
