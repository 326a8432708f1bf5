"""BlackJAX's own algorithms are called right, and one with a wrong log density is called wrong."""

from __future__ import annotations

from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mahmc
from mahmc import adapters
from mahmc.checks import Verdict, invariance
from tests.adapters.targets import FUNNEL, PRECISION, assert_the_generator_decides, correlated

ALGORITHMS = {
    "hmc": lambda log_density, d: blackjax.hmc(log_density, 0.3, jnp.ones(d), 5),
    "mala": lambda log_density, d: blackjax.mala(log_density, 0.3),
    "nuts": lambda log_density, d: blackjax.nuts(log_density, 0.4, jnp.ones(d)),
}


def funnel(position: dict[str, Any], width: float = 1.0) -> Any:
    """The log density of the funnel with scale one; with another width it is a mistake."""
    v, x = position["v"], position["x"]
    return -(v**2) / (2 * width**2) - jnp.exp(-v) * (x**2).sum() / 2 - x.size * v / 2


def normal(position: dict[str, Any]) -> Any:
    return -position["x"] @ jnp.asarray(PRECISION) @ position["x"] / 2


def test_hmc_is_right_on_the_funnel() -> None:
    cell = mahmc.check_sampler(adapters.blackjax(ALGORITHMS["hmc"](funnel, 3), "hmc"), **FUNNEL, budget=0.6)
    assert cell.verdict is Verdict.RIGHT, cell.words


@pytest.mark.parametrize("name", ALGORITHMS)
def test_leaves_a_correlated_normal_alone(name: str) -> None:
    finding = invariance(step=adapters.blackjax(ALGORITHMS[name](normal, 2), name), exact=correlated)
    assert finding.right, finding


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_wrong_log_density_is_wrong(name: str) -> None:
    """v is 1.2 times as wide as it should be."""
    algorithm = ALGORITHMS[name](lambda position: funnel(position, width=1.2), 3)
    cell = mahmc.check_sampler(adapters.blackjax(algorithm, name), **FUNNEL, budget=0.1)
    assert cell.verdict is Verdict.WRONG, cell.words


def test_the_generator_decides_everything_and_numbers_are_long() -> None:
    """The same generator gives the same step, another one another step; in float64."""
    sampler = adapters.blackjax(ALGORITHMS["nuts"](normal, 2))
    moved = assert_the_generator_decides(sampler, correlated(np.random.default_rng(0), 8))
    assert moved["x"].dtype == np.float64
    assert jax.config.jax_enable_x64


def test_discrete_quantities_are_refused() -> None:
    with pytest.raises(mahmc.InvalidInput, match="moves real quantities only, and component is discrete"):
        mahmc.check_sampler(adapters.blackjax(ALGORITHMS["hmc"](normal, 1)), "gmm-overlapping")


def test_what_is_not_an_algorithm_is_refused() -> None:
    with pytest.raises(mahmc.InvalidInput, match="is not a sampling algorithm of BlackJAX"):
        adapters.blackjax(blackjax.hmc.build_kernel)


def test_a_log_density_that_asks_for_other_names_is_refused() -> None:
    with pytest.raises(mahmc.InvalidInput, match=r"hmc\.init raised KeyError: 'v'"):
        invariance(step=adapters.blackjax(ALGORITHMS["hmc"](funnel, 2), "hmc"), exact=correlated)
