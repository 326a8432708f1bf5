"""Samplers that are equal mathematically are equal bit for bit.

Made so: a trajectory kernel and a persistent kernel share every move, draw the momentum as α·p + √(1 − α²)·n even
where α = 0 (0·p + 1·n is n exactly), and consume randomness in one order: momentum, uniform of the test, q^O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run, examples, targets
from mahmc.compiled import OPTIONS
from mahmc.kernels import new_state
from mahmc.kernels.moves import point_of, update_and_restore
from mahmc.lanes import LANES, load, store, where
from mahmc.samplers import EVERY_SAMPLER, PAPER_SAMPLERS, SAMPLERS, WRONG_SAMPLERS
from mahmc.schedules import Arrivals, deterministic
from mahmc.streams import Seeds
from mahmc.targets import Target
from mahmc.targets.base import Selected, update_where
from tests.support.cases import HARD
from tests.support.parts import with_parts

overlapping = HARD["gmm"][0]
TARGETS = ("mdc", "blr", "gmm")
SIZE: dict[str, Any] = {"chains": 9, "draws": 60, "warmup": 5, "seed": 11}


def same_draws(one: Run, two: Run) -> bool:
    return all(np.array_equal(one.draws[name], two.draws[name]) for name in one.draws)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("update", ["gibbs", "metropolis"])
def test_mahmc_with_one_segment_is_hmc_within_gibbs(target: str, update: str) -> None:
    """N^U = 1 leaves no update inside the trajectory."""
    shared: dict[str, Any] = {"epsilon": 0.05, "L": 7, "update": update, **SIZE}
    assert same_draws(mahmc.sample(target, "mahmc", n_u=1, **shared), mahmc.sample(target, "hmc", **shared))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("update", ["gibbs", "metropolis"])
def test_hmc_with_one_leapfrog_is_mala(target: str, update: str) -> None:
    """Two kernels, one law: the trajectory kernel at L = 1, and the persistent kernel at α = 0, L = 1."""
    shared: dict[str, Any] = {"epsilon": 0.08, "L": 1, "update": update, **SIZE}
    assert same_draws(mahmc.sample(target, "hmc", **shared), mahmc.sample(target, "mala", **shared))


@pytest.mark.parametrize("target", TARGETS)
def test_mala_p_without_persistence_is_mala(target: str) -> None:
    shared: dict[str, Any] = {"epsilon": 0.08, "L": 3, **SIZE}
    assert same_draws(mahmc.sample(target, "mala-p", alpha=0.0, **shared), mahmc.sample(target, "mala", **shared))


def test_different_samplers_differ() -> None:
    """So that equality above means something."""
    shared: dict[str, Any] = {"epsilon": 0.05, "L": 7, **SIZE}
    assert not same_draws(mahmc.sample("mdc", "mahmc", n_u=2, **shared), mahmc.sample("mdc", "hmc", **shared))
    assert not same_draws(mahmc.sample("mdc", "mala-p", alpha=0.1, **shared), mahmc.sample("mdc", "mala", **shared))


def test_a_deterministic_sequence_that_is_not_a_palindrome_is_refused() -> None:
    """With words that name the factor which would be zero."""
    with pytest.raises(InvalidInput, match=r"P\(D⁻¹\)/P\(D\) is zero"):
        deterministic([(0, 1), (1, 1)])
    assert deterministic([(0, 1), (1, 1), (0, 1)]).tolist() == [[0, 1], [1, 1], [0, 1]]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("update", ["gibbs", "metropolis"])
def test_the_one_sequence_that_alternates_is_alternate(target: str, update: str) -> None:
    """Written out as a sequence, or drawn among one: a palindrome needs no direction, and no randomness."""
    shared: dict[str, Any] = {"epsilon": 0.05, "update": update, **SIZE}
    written = mahmc.sample(target, "mahmc", schedule="sequences(3x0 1 3x0 1 3x0 1 3x0)", **shared)
    assert same_draws(written, mahmc.sample(target, "mahmc", L=3, n_u=4, **shared))


@pytest.mark.parametrize("target", TARGETS)
def test_independent_steps_that_are_all_leapfrogs_are_hmc(target: str) -> None:
    shared: dict[str, Any] = {"epsilon": 0.05, **SIZE}
    assert same_draws(
        mahmc.sample(target, "mahmc", schedule="iid(7, 1)", **shared), mahmc.sample(target, "hmc", L=7, **shared)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_order_of_names_and_digits(target: str) -> None:
    """Digit i is the i-th name: two names the other way round with digits the other way round are the same run."""
    shared: dict[str, Any] = {"epsilon": 0.05, "outer": "gibbs", **SIZE}
    one = mahmc.sample(target, "mahmc", schedule="sequences(001020100)", update="gibbs,metropolis", **shared)
    two = mahmc.sample(target, "mahmc", schedule="sequences(002010200)", update="metropolis,gibbs", **shared)
    assert same_draws(one, two)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sampler", ["hmc", "mala", "mala-p", "mala-pn"])
def test_without_an_update_q_O_stays(target: str, sampler: str) -> None:
    """Outer "none": the plain sampler of q^H given q^O."""
    run = mahmc.sample(target, sampler, outer="none", **SIZE)
    name = {"mdc": "ones", "blr": "tau", "gmm": "component"}[target]
    assert np.ptp(run.get(name), axis=1).max() == 0
    assert run.acceptances["outer"].rate is None
    assert run.acceptance > 0.2


def test_on_a_target_without_updates_mahmc_is_hmc() -> None:
    """There is nothing to make between segments, nor after them."""
    target = with_parts(
        targets.gmm(), density={"updates": (), "default_update": "none", "sites": 0, "site_updates": ()}
    )
    segments = mahmc.sample(target, "mahmc", L=3, n_u=4, **SIZE)
    assert (segments.spec.update, segments.spec.outer) == ("none", "none")
    assert segments.acceptances["inner"].rate is segments.acceptances["outer"].rate is None
    assert same_draws(segments, mahmc.sample(target, "hmc", epsilon=0.3, L=12, **SIZE))
    with pytest.raises(InvalidInput, match="has no updates of qᴼ"):
        mahmc.sample(target, "mahmc", update="gibbs")
    with pytest.raises(InvalidInput, match="update = none names 0"):
        mahmc.sample(target, "mahmc", schedule="iid(9, 0.9)")


def test_pure_mahmc_is_one_step_of_mahmc_within_gibbs_before_the_update() -> None:
    """One iteration: the same trajectory with and without an update after it."""
    shared: dict[str, Any] = {"epsilon": 0.3, "L": 2, "n_u": 4, "chains": 8, "draws": 1, "warmup": 0, "seed": 3}
    pure, within = (mahmc.sample("gmm", "mahmc", outer=outer, **shared) for outer in ("none", "metropolis"))
    assert np.array_equal(pure.draws["q"], within.draws["q"])
    assert pure.acceptances["inner"].rate == within.acceptances["inner"].rate


@pytest.mark.parametrize("update", ["metropolis", "neighbour", "modified-gibbs"])
def test_m_hmc_whose_k_does_not_persist_is_mahmc(update: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the same schedule, visits at equal distances: u < e^−cost is k > cost with k = −log u, from the same uniform.

    Step sizes are powers of two, so that gap/⌈gap/ε⌉ is ε to the last bit. That k persists makes the difference.
    """
    shared: dict[str, Any] = {"update": update, "outer": "none", **SIZE, "draws": 2000}

    def even(values: Mapping[str, Any]) -> Arrivals:
        return Arrivals(values["T"], values["visits"], values["epsilon"], values["sites"], even=True)

    def mixed(persistent: bool) -> Run:
        monkeypatch.setitem(EVERY_SAMPLER, "m-hmc", replace(SAMPLERS["m-hmc"], law=even, persistent=persistent))
        return mahmc.sample(overlapping(), "m-hmc", epsilon=0.5, T=6.0, visits=3, **shared)

    augmented = mahmc.sample(overlapping(), "mahmc", epsilon=0.5, schedule="sequences(00 1 0000 1 0000 1 00)", **shared)
    assert same_draws(mixed(persistent=False), augmented)
    assert mixed(persistent=False).leapfrogs == augmented.leapfrogs
    assert not same_draws(mixed(persistent=True), augmented)


LEAVING_ALONE: list[Any] = [targets.mdc(), overlapping(), examples.Ising(), examples.SpikeSlab()]


def in_some_lanes(way: Any) -> Any:
    @numba.njit(**OPTIONS)
    def call(target, index, chosen, state, out):
        selected = Selected(load(chosen, 0) > 0.0, True)
        delta_U, accepted = way(target, index, selected, point_of(state), state.backup)
        store(out, 0, delta_U)
        store(out, 1, where(accepted, 1.0, 0.0))

    return call


CHEAP, PLAIN = in_some_lanes(update_where), in_some_lanes(numba.njit(**OPTIONS)(update_and_restore))


@pytest.mark.parametrize(
    ("target", "update"), [(t, u) for t in LEAVING_ALONE for u in t.density.updates],
    ids=lambda value: value if isinstance(value, str) else value.name,
)  # fmt: skip
def test_lanes_left_alone_are_as_if_undone(target: Target, update: str) -> None:
    """A target's cheaper way to update some lanes only, against updating all of them and undoing it in the others."""
    rng, index = np.random.default_rng(3), target.density.number(update) - 1
    moved = 0
    for seed in range(40):
        assert target.truth.exact is not None
        exact = target.truth.exact(rng, LANES)
        chosen = (rng.random((1, LANES)) < 0.5).astype(float)
        states, outs = (
            [new_state(target, *target.density.pack(exact), Seeds(seed), 0) for _ in range(2)],
            np.zeros((2, 2, LANES)),
        )
        before = states[0].other.copy()
        CHEAP(target.density.data, index, chosen, states[0], outs[0])
        PLAIN(target.density.data, index, chosen, states[1], outs[1])
        for name in ("other", "grad", "rng", "q"):
            assert np.array_equal(getattr(states[0], name), getattr(states[1], name)), name
        assert np.array_equal(outs[0], outs[1])
        assert np.array_equal(states[0].other[:, chosen[0] == 0], before[:, chosen[0] == 0])
        assert not outs[0][:, chosen[0] == 0].any()
        moved += (states[0].other != before).any()
    assert moved > 10


def test_wrong_samplers_are_kept_apart() -> None:
    assert {"naive", "asymmetric"} == set(WRONG_SAMPLERS)
    assert not set(WRONG_SAMPLERS) & set(SAMPLERS)
    assert all("wrong on purpose" in sampler.label for sampler in WRONG_SAMPLERS.values())
    assert not any(sampler.wrong for sampler in SAMPLERS.values())
    assert set(mahmc.Comparison("gmm").entries) == set(PAPER_SAMPLERS) == set(SAMPLERS) - {"m-hmc"}


def test_naive_without_updates_inside_is_hmc() -> None:
    """With nothing to forget it is right: the same draws as HMC, until an update after the trajectory."""
    shared: dict[str, Any] = {"epsilon": 0.3, "L": 5, "chains": 8, "draws": 1, "warmup": 0, "seed": 3}
    naive, hmc = mahmc.sample("gmm", "naive", n_u=1, **shared), mahmc.sample("gmm", "hmc", **shared)
    assert np.array_equal(naive.draws["q"], hmc.draws["q"])
