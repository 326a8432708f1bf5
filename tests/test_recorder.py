"""Recordings of an iteration: they have the bits of the run, and the account of the energy adds up."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run, RunSpec
from mahmc.kernels import State
from mahmc.recorder import MOST_STEPS, Place, Trajectory, walk
from mahmc.run.blocks import Setup
from mahmc.run.checkpoints import block_before, rows_of
from tests.support.draws import specs

ITERATIONS = 4


def named(spec: RunSpec) -> str:
    return f"{spec.target}-{spec.sampler}-{spec.schedule or spec.summary}"


def walked(spec: RunSpec) -> tuple[State, list[Trajectory]]:
    """The state of the first block after a few iterations, all of them recorded, each for another lane."""
    setup = Setup.of(spec, spec.build_target())
    block = block_before(setup, 0, 0, None)
    found = [
        walk(spec, setup.target, block.state, block.plan, Place(i, 2 * i + i % 2)) for i in range(setup.iterations)
    ]
    return block.state, found


@pytest.mark.parametrize("spec", specs(), ids=named)
def test_a_recording_is_the_run_and_its_account_adds_up(spec: RunSpec) -> None:
    """Every sampler, target and kind of schedule: the walk ends in the kernel's next state, bit for bit."""
    spec = replace(spec, chains=8, draws=ITERATIONS - 1, warmup=1, thin=1)
    run = Run(spec).advance_all()
    state, found = walked(spec)
    assert np.array_equal(rows_of(state), rows_of(run.states[0]))
    for recording in found:
        everything = {name: np.concatenate([run.warmup_draws[name], run.draws[name]], axis=1) for name in spec.keep}
        for q in recording.quantities:
            if q.name in everything:
                assert np.array_equal(recording.end[q.name], everything[q.name][recording.chain, recording.iteration])
        assert_account(recording)


def assert_account(found: Trajectory) -> None:
    """At each test, U + K − E₀ − ΔE and log P(D⁻¹)/P(D) give the acceptance probability, and the decision follows."""
    is_start, is_test = found.kind == "start", found.kind == "test"
    E = found.U + found.K
    last_start = list(accumulate(np.where(is_start, np.arange(len(found)), 0), max))
    odds = E[last_start] + found.correction * found.delta_E - E + found.log_ratio
    assert np.allclose(odds[~is_start], found.log_odds[~is_start], rtol=0, atol=1e-9 * np.abs(E).max())
    probability = np.minimum(1.0, np.exp(found.log_odds[is_test]))
    assert np.allclose(found.probability[is_test], probability, rtol=1e-13, atol=1e-300)
    said = np.where(found.uniform[is_test] < found.probability[is_test], "accepted", "rejected")
    assert np.array_equal(found.decision[is_test], said)
    changed = np.isin(found.kind, ("update", "visit"))
    paid = np.where(changed, np.diff(found.U, prepend=found.U[0]), 0.0).cumsum()
    before_tests = np.flatnonzero(is_test) - 1
    assert np.allclose(found.delta_E[before_tests], paid[before_tests], atol=1e-9 * np.abs(E).max())
    assert np.isnan(found.uniform[~is_test]).all()


def test_both_decisions_and_both_directions_are_recorded() -> None:
    """Otherwise the tests above would say little."""
    spec = RunSpec.of(
        "mdc", "mahmc", schedule="sequences(2x0 1 8x0:0.7, 8x0 1 2x0:0.3)", draws=20, warmup=0, epsilon=0.05
    )
    _, found = walked(replace(spec, draws=4))
    found += [mahmc.trajectory(spec, i, chain) for i in (5, 9, 14) for chain in (0, 3, 9)]
    assert {recording.accepted for recording in found} == {True, False}
    assert len({float(recording.log_ratio[-2]) for recording in found}) == 2
    kinds = {"".join(step[0] for step in recording.kind) for recording in found}
    assert kinds == {"sllullllllllto", "sllllllllullto"}


def test_a_recording_of_one_iteration_without_a_run() -> None:
    spec = RunSpec.of("gmm", "mahmc", chains=11, draws=30, warmup=5, seed=4)
    run = Run(spec).advance_all()
    found = mahmc.trajectory(spec, 5 + 17, 10)
    assert found.end["q"] == run.draws["q"][10, 17]
    assert found["component"][-1] == run.draws["component"][10, 17]
    assert repr(found).startswith("<Trajectory gmm mahmc: iteration 22 of chain 10, 32 steps, ")


def test_a_rejected_trajectory_ends_where_it_began() -> None:
    spec = RunSpec.of("gmm", "mahmc", epsilon=0.5, draws=200, outer="none")
    found = next(r for r in (mahmc.trajectory(spec, i) for i in range(100)) if not r.accepted)
    assert np.array_equal(found.q[-1], found.q[0])
    assert np.array_equal(found.other[-1], found.other[0])
    assert np.array_equal(found.proposal[-1], [*found.q[-2], *found.other[-2]])


def test_a_visit_that_is_rejected_has_its_proposal() -> None:
    spec = RunSpec.of("mdc", "m-hmc", draws=20)
    found = mahmc.trajectory(spec, 3)
    visits = np.flatnonzero(found.kind == "visit")
    rejected = [i for i in visits if found.decision[i] == "rejected"]
    assert 0 < len(rejected) < len(visits)
    for i in visits:
        flipped = found.proposal[i, 2 + found.site[i]]
        assert flipped == 1 - found["w"][i - 1, found.site[i]]
        assert (found.cost[i] <= found.k[i]) == (found.decision[i] == "accepted")


def test_a_start_and_a_momentum_of_ones_own() -> None:
    spec = RunSpec.of("mdc", "mahmc", L=3, n_u=2, draws=10)
    start = {"u": 0.5, "v": 0.25, "w": [1, 0] * 10}
    found = mahmc.trajectory(spec, 4, 2, start, [1.5, -2.0])
    assert found.q[0].tolist() == [0.5, 0.25]
    assert found["w"][0].tolist() == [1, 0] * 10
    assert found.p[0].tolist() == [1.5, -2.0]
    assert found.K[0] == 0.5 * (1.5**2 + 2.0**2)
    assert_account(found)


def test_the_reversed_trajectory_leads_back() -> None:
    """HMC from the end, with the momentum reversed, ends at the start: the leapfrogs are those of the paper."""
    spec = RunSpec.of("neals-funnel", "hmc", draws=2)
    there = mahmc.trajectory(spec)
    last = np.flatnonzero(there.kind == "leapfrog")[-1]
    end = {q.name: there[q.name][last] for q in there.quantities}
    back = mahmc.trajectory(spec, start=end, momentum=-there.p[last])
    assert np.allclose(back.q[last], there.q[0], atol=1e-9)
    assert np.allclose(back.p[last], -there.p[0], atol=1e-9)


def test_a_recording_is_frozen_and_is_json() -> None:
    found = mahmc.trajectory(RunSpec.of("gmm", "mala-pn", draws=3))
    with pytest.raises(FrozenInstanceError):
        found.chain = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.q[0] = 1.0
    plain = json.loads(found.to_json())
    assert plain["kind"] == found.kind.tolist()
    assert plain["q"] == found.q.tolist()
    assert plain["uniform"][:2] == [None, None]
    assert RunSpec.from_dict(plain["spec"]) == found.spec


GMM = {"target": "gmm", "sampler": "mahmc", "draws": 10, "warmup": 2, "chains": 8}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"iteration": 12}, r"iteration = 12 is beyond the run: choose a number from 0 to 11\."),
        ({"iteration": -1}, "iteration = -1 is beyond the run"),
        ({"iteration": 1.5}, r"iteration = 1\.5 is not allowed: a whole number is needed"),
        ({"chain": 8}, r"chain = 8 is beyond the run: choose a number from 0 to 7\."),
        ({"momentum": [np.inf]}, r"momentum = \[inf\] is not finite"),
        ({"momentum": [1.0, 2.0]}, r"momentum has the shape \(2,\); \(1,\) is needed"),
        ({"momentum": "fast"}, "momentum must be numbers, not text"),
        ({"start": {"q": np.nan, "component": 1}}, "start: q has values that are not finite"),
        ({"start": {"q": [1.0, 2.0], "component": 1}}, r"start: q has the shape \(1, 2\); \(1,\) is needed"),
        ({"start": {"q": 1.0}}, "start must have a value for each of q, component, but it has q"),
        ({"start": {"q": 1.0, "component": 7}}, r"start: each value of component must be one of 0, 1, 2, 3\."),
        ({"start": {"q": "left", "component": 1}}, "start must have numbers for each quantity, not text"),
        ({"start": {"q": 1e200, "component": 1}}, "start: U is inf there"),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        mahmc.trajectory(RunSpec.from_dict(GMM), **given)


def test_a_recording_has_a_largest_number_of_steps() -> None:
    """The start and the test are steps too."""
    spec = RunSpec.from_dict(GMM | {"sampler": "hmc", "L": MOST_STEPS - 2, "outer": "none"})
    assert len(mahmc.trajectory(spec)) == MOST_STEPS
    with pytest.raises(InvalidInput, match=f"more than {MOST_STEPS} steps.*choose fewer leapfrogs"):
        mahmc.trajectory(spec.with_(L=MOST_STEPS - 1))
