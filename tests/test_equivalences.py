"""Samplers that are equal mathematically are equal bit for bit.

Made so: a trajectory kernel and a persistent kernel share every move, draw the momentum as α·p + √(1 − α²)·n even
where α = 0 (0·p + 1·n is n exactly), and consume randomness in one order: momentum, uniform of the test, q^O.
"""

from __future__ import annotations

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run
from mahmc.samplers import SAMPLERS, WRONG_SAMPLERS
from mahmc.schedules import deterministic

pytestmark = pytest.mark.quick
TARGETS = ("mdc", "blr", "gmm")
SIZE = {"chains": 9, "draws": 60, "warmup": 5, "seed": 11}


def same_draws(one: Run, two: Run) -> bool:
    return all(np.array_equal(one.draws[name], two.draws[name]) for name in one.draws)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("update", ["gibbs", "metropolis"])
def test_mahmc_with_one_segment_is_hmc_within_gibbs(target: str, update: str) -> None:
    """N^U = 1 leaves no update inside the trajectory."""
    shared = {"epsilon": 0.05, "L": 7, "update": update, **SIZE}
    assert same_draws(mahmc.sample(target, "mahmc", n_u=1, **shared), mahmc.sample(target, "hmc", **shared))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("update", ["gibbs", "metropolis"])
def test_hmc_with_one_leapfrog_is_mala(target: str, update: str) -> None:
    """Two kernels, one law: the trajectory kernel at L = 1, and the persistent kernel at α = 0, L = 1."""
    shared = {"epsilon": 0.08, "L": 1, "update": update, **SIZE}
    assert same_draws(mahmc.sample(target, "hmc", **shared), mahmc.sample(target, "mala", **shared))


@pytest.mark.parametrize("target", TARGETS)
def test_mala_p_without_persistence_is_mala(target: str) -> None:
    shared = {"epsilon": 0.08, "L": 3, **SIZE}
    assert same_draws(mahmc.sample(target, "mala-p", alpha=0.0, **shared), mahmc.sample(target, "mala", **shared))


def test_different_samplers_differ() -> None:
    """So that equality above means something."""
    shared = {"epsilon": 0.05, "L": 7, **SIZE}
    assert not same_draws(mahmc.sample("mdc", "mahmc", n_u=2, **shared), mahmc.sample("mdc", "hmc", **shared))
    assert not same_draws(mahmc.sample("mdc", "mala-p", alpha=0.1, **shared), mahmc.sample("mdc", "mala", **shared))


def test_a_deterministic_sequence_that_is_no_palindrome_is_refused() -> None:
    """With words that name the factor which would be zero."""
    with pytest.raises(InvalidInput, match=r"P\(D⁻¹\)/P\(D\) is zero"):
        deterministic([(0, 1), (1, 1)])
    assert deterministic([(0, 1), (1, 1), (0, 1)]).tolist() == [[0, 1], [1, 1], [0, 1]]


def test_wrong_samplers_are_kept_apart() -> None:
    assert {"naive", "asymmetric"} == set(WRONG_SAMPLERS)
    assert not set(WRONG_SAMPLERS) & set(SAMPLERS)
    assert all("wrong on purpose" in sampler.label for sampler in WRONG_SAMPLERS.values())
    assert not any(sampler.wrong for sampler in SAMPLERS.values())
    assert set(mahmc.Comparison("gmm").entries) == set(SAMPLERS)


def test_naive_without_updates_inside_is_hmc() -> None:
    """With nothing to forget it is right: the same draws as HMC, until an update after the trajectory."""
    shared = {"epsilon": 0.3, "L": 5, "chains": 8, "draws": 1, "warmup": 0, "seed": 3}
    naive, hmc = mahmc.sample("gmm", "naive", n_u=1, **shared), mahmc.sample("gmm", "hmc", **shared)
    assert np.array_equal(naive.draws["q"], hmc.draws["q"])
