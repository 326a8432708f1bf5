"""Registration looks at every row: a mistake in one site of many is refused by name, and right targets pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mahmc.custom import discrete, exp, floor, laws, log, real, sigmoid, softplus, uniform, update, where
from mahmc.custom.points import CustomTarget, PointBlock
from mahmc.lanes import LANES
from mahmc.targets import TargetFamily
from tests.support.custom import registered
from tests.support.refusals import refusal_of

pytestmark = pytest.mark.usefixtures("families_as_before")


class Coins:
    """x ~ N(0, 1), and n coins whose odds depend on x, each with a field of its own. Odds of `stuck` ones are wrong."""

    n: int = 100
    stuck: tuple[float, ...] = (-1.0,)  # sites that never become one
    tilt: float = 0.0  # of the odds of the last site, a mistake
    shift: float = 0.0  # of the odds of every site, likewise
    field: np.ndarray
    never: np.ndarray

    def data(self) -> dict[str, Any]:
        return {"field": np.linspace(-1.0, 1.0, self.n), "never": np.isin(np.arange(self.n), self.stuck).astype(float)}

    def variables(self) -> Any:
        return real("x"), discrete("s", self.n)

    def U(self, q, other):
        total = q[0] ** 2 / 2
        for i in range(self.n):
            odds = q[0] / 2 + self.field[i]
            total += softplus(odds) - other[i] * odds
        return total

    def grad_U(self, q, other, grad):
        grad[0] = q[0]
        for i in range(self.n):
            grad[0] += (sigmoid(q[0] / 2 + self.field[i]) - other[i]) / 2

    def exact(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        x = rng.standard_normal(n)
        return {"x": x, "s": rng.random((n, self.n)) < 1 / (1 + np.exp(-x[:, None] / 2 - self.field))}


@update(full_conditional=True)
def gibbs(self, q, other, grad, rng):
    delta_U = 0.0
    for i in range(self.n):
        odds = q[0] / 2 + self.field[i]
        tilted = odds + self.shift + (self.tilt if i == self.n - 1 else 0.0)
        new = where(uniform(rng) < (1 - self.never[i]) * sigmoid(tilted), 1.0, 0.0)
        delta_U -= (new - other[i]) * odds
        grad[0] -= (new - other[i]) / 2
        other[i] = new
    return delta_U


@update
def flip(self, q, other, grad, rng):
    """One coin, chosen at random, turned over."""
    site, u, delta_U = floor(uniform(rng) * self.n), uniform(rng), 0.0 * q[0]
    for i in range(self.n):
        cost = (2 * other[i] - 1) * (q[0] / 2 + self.field[i])
        allowed = where(other[i] == 1, 1.0, 1 - self.never[i])
        turned = (site == i) & (u < allowed * exp(-cost))
        delta_U += where(turned, cost, 0.0)
        grad[0] -= where(turned, (1 - 2 * other[i]) / 2, 0.0)
        other[i] = where(turned, 1 - other[i], other[i])
    return delta_U


def coins(function: Callable[..., Any]) -> TargetFamily:
    changes: dict[str, Any] = {function.__name__: function}
    return registered(Coins, **changes)


@pytest.mark.parametrize("function", [gibbs, flip], ids=["full conditional", "single site"])
def test_values_that_three_of_a_hundred_variables_never_take_are_seen(function: Callable[..., Any]) -> None:
    """Wherever the three are, and none of them among the first; the right target passes."""
    family = coins(function)
    family()
    for seed in range(3):
        stuck = tuple(
            float(i) for i in sorted(np.random.default_rng(seed).choice(np.arange(20, 100), 3, replace=False))
        )
        message = refusal_of(family, stuck=stuck)
        assert f"Coins.{function.__name__} does not leave exp(−U) invariant" in message
        assert any(f"s[{i:.0f}]" in message for i in stuck), message


def test_a_full_conditional_that_is_wrong_in_the_last_of_200_sites_is_refused() -> None:
    message = refusal_of(coins(gibbs), n=200, tilt=1.0)
    assert "s[199] (other[199]) took the value 1" in message


@pytest.mark.parametrize("function", [gibbs, flip], ids=["full conditional", "single site"])
def test_right_targets_with_many_sites_pass(function: Callable[..., Any]) -> None:
    family = coins(function)
    family(n=500)
    assert "s[377]" in refusal_of(family, n=500, stuck=(377.0,))


def test_an_error_that_is_small_but_in_every_site_is_seen() -> None:
    """Odds off by a tenth: in no single site of 500 is that clear, in their sum it is."""
    message = refusal_of(coins(gibbs), n=500, shift=0.1)
    assert "the values of s[0…499] are not distributed as exp(−U) says, given the other sites" in message


class Many:
    """x_i ~ N(0, 1) of which there are n; the gradient of one may be off."""

    n: int = 2000
    wrong: int = -1

    def variables(self) -> Any:
        return real("x", self.n)

    def U(self, q):
        total = 0.0
        for i in range(self.n):
            total += q[i] ** 2 / 2
        return total

    def grad_U(self, q, grad):
        for i in range(self.n):
            grad[i] = q[i] * (1.1 if i == self.wrong else 1.0)


@pytest.mark.parametrize("n", [100, 2000, 20_000])
def test_every_coordinate_of_the_gradient_is_looked_at(n: int) -> None:
    """One by one, and of twenty thousand in blocks that cover all."""
    family = registered(Many)
    family(n=n)
    wrong = n - 7
    message = refusal_of(family, n=n, wrong=wrong)
    assert "is not the gradient of U" in message
    assert (f"grad[{wrong}] = " if n <= 2000 else "the derivative along a mix of grad[") in message


class Rates:
    """Real sites: tau_i ~ Exponential(1 + x²), thirty of them; one may be drawn at another rate, or cut off."""

    rate: float = 1.0  # of the last, a mistake
    cut: float = 0.0  # a share of the last one's law that is never reached, a mistake

    def variables(self) -> Any:
        return real("x"), real("tau", 30, other=True, low=0.0)

    def start(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.standard_normal(), "tau": rng.exponential(size=30)}

    def U(self, q, other):
        total = q[0] ** 2 / 2
        for i in range(30):
            total += (1 + q[0] ** 2) * other[i]
        return total

    def grad_U(self, q, other, grad):
        grad[0] = q[0]
        for i in range(30):
            grad[0] += 2 * q[0] * other[i]

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        delta_U = 0.0
        for i in range(30):
            rate = self.rate if i == 29 else 1.0
            cut = self.cut if i == 29 else 0.0
            new = -log(1 - uniform(rng) * (1 - cut)) / (rate * (1 + q[0] ** 2))
            delta_U += (1 + q[0] ** 2) * (new - other[i])
            grad[0] += 2 * q[0] * (new - other[i])
            other[i] = new
        return delta_U


@pytest.mark.parametrize("mistake", [{"rate": 1.5}, {"rate": 0.7}, {"cut": 0.2}], ids=str)
def test_real_sites_are_looked_at_one_by_one(mistake: dict[str, float]) -> None:
    family = registered(Rates)
    family()
    assert "tau[29] (other[29])" in refusal_of(family, **mistake)


# ------------------------------------------------------------------------------------------- bounds of p-values


@pytest.mark.parametrize("chance", [0.5, 0.02, 0.0005])
@pytest.mark.parametrize("repeats", [16, 512])
def test_false_alarms_of_frequencies_keep_their_rate(chance: float, repeats: int) -> None:
    """However rare a value is: 20 000 sites at 1 % and at 0.1 %, up to four standard errors."""
    rng = np.random.default_rng(8)
    seen = rng.binomial(repeats, chance, (20_000, LANES)) / repeats
    p_values = np.array([laws.frequency_p_value(share, np.full(LANES, chance), repeats) for share in seen])
    for level in (0.01, 0.001):
        assert np.mean(p_values < level) <= level + 4.0 * np.sqrt(level / 20_000)


def test_false_alarms_of_sums_keep_their_rate() -> None:
    """Means of normal, of skewed and of rare scores, 4000 each at 1 % and at 0.1 %, up to four standard errors."""
    rng = np.random.default_rng(9)
    size = (64, 4000, LANES)
    for name, scores, variance in (
        ("normal", rng.standard_normal(size), 1.0),
        ("skewed", rng.exponential(size=size) - 1.0, 1.0),
        ("rare", (rng.random(size) < 0.002) - 0.002, 0.002 * 0.998),
    ):
        p_values = laws.sums_p_values(scores, np.full(size[1:], variance))
        if name == "rare":
            p_values = np.concatenate([p_values, laws.bounded_p_values(scores, np.ones(size[1:]))])
        for level in (0.01, 0.001):
            assert np.mean(p_values < level) <= level + 4.0 * np.sqrt(level / len(p_values)), name
    assert laws.sums_p_values(rng.standard_normal((256, 1, LANES)) + 0.5, np.zeros((1, LANES)))[0] < 1e-20


@pytest.mark.quick
def test_exchanges_have_mean_zero() -> None:
    """Of a right law, as heavy-tailed as it may be: Student's t with two degrees of freedom, U = 1.5·log(1 + t²/2)."""
    variable = real("t", other=True)
    rng = np.random.default_rng(10)
    draws = stats.t(2).rvs((3000, 1, LANES), random_state=rng)
    sites = laws.RealSites(variable, draws[:32])

    class Point:
        """A block at whatever `other` is set to."""

        other = draws[0]

        def __init__(self) -> None:
            self.rng = rng

        def energies(self, which: str, numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
            return 1.5 * np.log1p(values**2 / 2)

    point: Any = Point()
    for x in draws[32:]:
        point.other = x
        sites.add(point, 1.5 * np.log1p(x[0] ** 2 / 2))
    assert sites.p_values().min() > 1e-4
    assert sites.p_values().shape == (3, 2, 1)


def test_a_lane_is_described_by_its_point() -> None:
    family = coins(gibbs)
    declared = family.build.__self__  # type: ignore[attr-defined]
    custom: CustomTarget = declared.custom(tuple((p.name, p.default) for p in declared.parameters))
    block = PointBlock(custom, seed=1)
    block.start()
    assert block.cost == 1 + 100 + 100 + 100 + 4  # rows, fields, and settings
    assert block.point(0, q_only=True).startswith("x = ")
