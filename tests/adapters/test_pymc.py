"""PyMC's own step methods leave exact draws exact, all but one.

They move one chain at a time, so long chains would take too long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import mahmc
from mahmc import adapters
from mahmc.checks import Finding, invariance
from mahmc.checks.matrix import case_of
from tests.adapters.targets import MEANS, SDS, WEIGHTS, assert_the_generator_decides

DRAWS = 12288  # enough for a change of 0.05 in a probability


def mixture(weights: tuple[float, ...] = WEIGHTS) -> pm.Model:
    with pm.Model() as model:
        component = pm.Categorical("component", p=np.array(weights))
        pm.Normal("q", pt.as_tensor(MEANS)[component], pt.as_tensor(SDS)[component])
    return model


def gamma_and_coin() -> pm.Model:
    """A positive quantity, which PyMC moves on its log scale, and a binary one."""
    with pm.Model() as model:
        tau = pm.Gamma("tau", 2.0, 1.0)
        pm.Bernoulli("coin", tau / (1 + tau))
    return model


def exact_gamma_and_coin(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    tau = rng.gamma(2.0, 1.0, n)
    return {"tau": tau, "coin": (rng.random(n) < tau / (1 + tau)).astype(int)}


def on_the_mixture(steps: Any, model: pm.Model, draws: int = DRAWS) -> Finding:
    exact = case_of("gmm-overlapping", {})[1].truth.exact
    return invariance(step=adapters.pymc(steps, model), exact=exact, draws=draws)


def metropolis_and_gibbs(model: pm.Model, proposal: str = "uniform") -> Any:
    return lambda: [
        pm.Metropolis([model["q"]], scaling=1.0),
        pm.CategoricalGibbsMetropolis([model["component"]], proposal=proposal),
    ]


def test_metropolis_and_categorical_gibbs_are_right() -> None:
    model = mixture()
    finding = on_the_mixture(metropolis_and_gibbs(model), model)
    assert finding.right, finding


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_proportional_proposal_is_wrong() -> None:
    """PyMC 5.28: the ratio of this proposal is taken after the probabilities were divided by 1 − P(current).

    It should be (1 − P(current))/(1 − P(proposed)) with the probabilities as they were. PyMC's own pm.sample shows the
    same: P(component = 1) is 0.521 with a standard error of 0.001, not 0.4.
    """
    model = mixture()
    finding = on_the_mixture(metropolis_and_gibbs(model, "proportional"), model, draws=2048)
    assert finding.wrong, finding


def test_hamiltonian_and_binary_gibbs_are_right_on_a_log_scale() -> None:
    """Tau is moved on its log scale, with the Jacobian that PyMC adds."""
    model = gamma_and_coin()

    def steps() -> list[Any]:
        hmc = pm.HamiltonianMC([model["tau"]], step_scale=0.4, path_length=1.2, adapt_step_size=False)
        return [hmc, pm.BinaryGibbsMetropolis([model["coin"]])]

    finding = invariance(step=adapters.pymc(steps, model), exact=exact_gamma_and_coin, draws=DRAWS)
    assert finding.right, finding


def test_a_wrong_model_is_wrong() -> None:
    model = mixture((0.5, 0.2, 0.3))
    finding = on_the_mixture(metropolis_and_gibbs(model), model, draws=2048)
    assert finding.wrong, finding


def test_the_generator_decides_everything() -> None:
    """Also for a step method that keeps the order of its last updates."""
    with pm.Model() as model:
        pm.Bernoulli("coins", 0.4, shape=6)
    sampler = adapters.pymc(lambda: pm.BinaryGibbsMetropolis([model["coins"]]), model)
    assert_the_generator_decides(sampler, {"coins": np.random.default_rng(0).integers(0, 2, (8, 6))})


def test_what_is_moved_comes_back_as_it_was() -> None:
    """To the log scale and back."""
    sampler = adapters.pymc(lambda: pm.Metropolis(), gamma_and_coin())
    rng = np.random.default_rng(0)
    states = exact_gamma_and_coin(rng, 5)
    points = sampler.init(states, rng)["points"]
    np.testing.assert_allclose([point["tau_log__"] for point in points], np.log(states["tau"]))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (lambda: pm.DEMetropolisZ(), "learns from other chains or from its own past"),
        (lambda: "metropolis", "returned str, which is not a step method"),
        (lambda: pm.Metropolis(["nothing"]), "raised"),
        ("metropolis", "must be a function that makes the step method"),
    ],
)
def test_refused(steps: Any, message: str) -> None:
    with pytest.raises(mahmc.InvalidInput, match=message):
        adapters.pymc(steps, gamma_and_coin())


def test_a_model_with_other_names_is_refused() -> None:
    with pytest.raises(mahmc.InvalidInput, match="component, q of the target is missing in the model"):
        on_the_mixture(lambda: pm.Metropolis(), gamma_and_coin())
