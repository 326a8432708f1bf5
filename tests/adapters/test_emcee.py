"""emcee's stretch move is called right, with ensembles of walkers as units."""

from __future__ import annotations

from typing import Any

import emcee
import numpy as np
import pytest

import mahmc
from mahmc import adapters
from mahmc.checks import Verdict, invariance
from tests.adapters.targets import FUNNEL, PRECISION, assert_the_generator_decides, correlated


def funnel(coordinates: np.ndarray, width: float = 1.0) -> np.ndarray:
    """The log density of the funnel with scale one, of several points at once."""
    v, x = coordinates[:, 0], coordinates[:, 1:]
    return -(v**2) / (2 * width**2) - np.exp(-v) * (x**2).sum(axis=1) / 2 - x.shape[1] * v / 2


def normal(x: np.ndarray) -> float:
    return -x @ PRECISION @ x / 2


def test_the_stretch_move_is_right_on_the_funnel() -> None:
    target = mahmc.targets.build("neals-funnel", dim=3, scale=1.0)
    finding = invariance(target, step=adapters.emcee(funnel, walkers=16, vectorize=True))
    assert finding.right, finding


def test_long_chains_of_ensembles_are_not_called_wrong() -> None:
    """Walkers of an ensemble are correlated over time: their mean is one unit."""
    sampler = adapters.emcee(funnel, walkers=16, vectorize=True)
    cell = mahmc.check_sampler(sampler, **FUNNEL, budget=0.05)
    assert cell.verdict is Verdict.UNCLEAR, cell.words


def test_one_vector_at_a_time_and_other_moves() -> None:
    sampler = adapters.emcee(normal, walkers=8, moves=emcee.moves.DEMove())
    finding = invariance(step=sampler, exact=correlated)
    assert finding.right, finding


def test_a_wrong_log_density_is_wrong() -> None:
    """v is 1.2 times as wide as it should be."""
    sampler = adapters.emcee(lambda q: funnel(q, width=1.2), walkers=16, vectorize=True)
    assert mahmc.check_sampler(sampler, **FUNNEL, budget=0.1).verdict is Verdict.WRONG


def test_a_move_without_its_factor_is_wrong() -> None:
    """A stretch is not symmetric: z^(ndim − 1) belongs into its ratio."""

    class Forgotten(emcee.moves.StretchMove):  # type: ignore[misc]
        def get_proposal(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
            proposed, factors = super().get_proposal(*arguments)
            return proposed, np.zeros_like(factors)

    sampler = adapters.emcee(funnel, walkers=16, moves=Forgotten(), vectorize=True)
    assert mahmc.check_sampler(sampler, **FUNNEL, budget=0.1).verdict is Verdict.WRONG


def test_the_generator_decides_everything() -> None:
    sampler = adapters.emcee(normal, walkers=8)
    assert_the_generator_decides(sampler, correlated(np.random.default_rng(0), 16))


@pytest.mark.parametrize("walkers", [3, 7, 0, 8.0])
def test_walkers_that_are_not_allowed(walkers: Any) -> None:
    with pytest.raises(mahmc.InvalidInput, match=r"walkers = .* is not allowed"):
        adapters.emcee(normal, walkers=walkers)


def test_too_few_walkers_for_the_coordinates() -> None:
    with pytest.raises(mahmc.InvalidInput, match="3 coordinates need 6 or more"):
        mahmc.check_sampler(adapters.emcee(funnel, walkers=4, vectorize=True), **FUNNEL)


def test_discrete_quantities_are_refused() -> None:
    with pytest.raises(mahmc.InvalidInput, match="component is discrete"):
        mahmc.check_sampler(adapters.emcee(normal), "gmm-overlapping")
