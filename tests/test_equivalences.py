"""Samplers that are equal mathematically are equal bit for bit.

Made so: a trajectory kernel and a persistent kernel share every move, draw the momentum as α·p + √(1 − α²)·n even
where α = 0 (0·p + 1·n is n exactly), and consume randomness in one order: momentum, uniform of the test, q^O.
"""

from __future__ import annotations

import numpy as np
import pytest

import mahmc
from mahmc import Run

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
