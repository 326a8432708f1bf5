"""What must hold of the moves: gradients, reversibility, volume, order of the error, and hands off the inputs."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from mahmc import Run, RunSpec, targets
from mahmc.compiled import OPTIONS
from mahmc.kernels import State, energies, new_state
from mahmc.kernels.moves import kinetic, leapfrogs
from mahmc.lanes import LANES, load, store
from mahmc.streams import Seeds
from mahmc.targets import Target


@numba.njit(**OPTIONS)
def go(target, state, epsilon, n):
    """n leapfrogs; leaves the new U in its place."""
    store(state.U, 0, leapfrogs(target, state, epsilon, n))


@numba.njit(**OPTIONS)
def kinetic_energy(p, out):
    store(out, 0, kinetic(p))


def some_state(target: Target, spread: float = 1.0, seed: int = 0) -> State:
    """A block at the target's own starts, q^H stretched by `spread`."""
    rng = np.random.default_rng(seed)
    starts = [target.density.start(rng) for _ in range(LANES)]
    q, other = target.density.pack({name: np.array([s[name] for s in starts]) for name in starts[0]})
    return new_state(target, q * spread, other, Seeds(seed), 0)


def total_energy(state: State) -> np.ndarray:
    out = np.empty((1, LANES))
    kinetic_energy(state.p, out)
    return state.U[0] + out[0]


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e3])
def test_gradient_agrees_with_finite_differences(any_target: Target, spread: float) -> None:
    """At usual points, and far out where exponentials overflow if written carelessly."""
    state = some_state(any_target, spread)
    q, other = state.q.T.copy(), state.other.T.copy()
    for j in range(any_target.density.dim):
        h = 1e-5 * max(1.0, float(np.abs(q[:, j]).max()))
        up, down = q.copy(), q.copy()
        up[:, j] += h
        down[:, j] -= h
        numeric = (energies(any_target, up, other) - energies(any_target, down, other)) / (2 * h)
        scale = np.abs(state.U[0]) * 1e-16 / h + 1e-6 * (1.0 + np.abs(numeric))
        assert np.all(np.abs(state.grad[j] - numeric) < 10 * scale), j
    assert np.isfinite(state.U).all()
    assert np.isfinite(state.grad).all()


def test_updates_of_q_O_keep_gradient_and_energy(any_target: Target) -> None:
    """After a run the energy that was carried along is the energy worked out afresh, and so is the gradient."""
    for update in any_target.density.updates:
        spec = RunSpec.of(any_target, "mahmc", n_u=3, L=2, draws=50, warmup=0, chains=8, update=update)
        run = Run(spec, any_target).advance_all()
        state = run._blocks[0].state
        fresh = new_state(any_target, state.q.T.copy(), state.other.T.copy(), Seeds(0), 0)
        assert np.allclose(state.U, fresh.U, rtol=1e-11, atol=1e-9)
        assert np.allclose(state.grad, fresh.grad, rtol=1e-9, atol=1e-8)


def test_leapfrog_is_reversible(any_target: Target) -> None:
    """There, momentum turned round, and back again."""
    state = some_state(any_target)
    q, p = state.q.copy(), state.p.copy()
    go(any_target.density.data, state, 0.02, 25)
    assert not np.allclose(state.q, q)
    state.p[:] *= -1
    go(any_target.density.data, state, 0.02, 25)
    assert np.allclose(state.q, q, rtol=0, atol=1e-10)
    assert np.allclose(-state.p, p, rtol=0, atol=1e-10)


@pytest.mark.parametrize("target", [targets.mdc(), targets.gmm()], ids=["mdc", "gmm"])
def test_leapfrog_preserves_volume(target: Target) -> None:
    """The Jacobian of (q, p) → (q', p'), by central differences, has determinant one."""
    size, h = 2 * target.density.dim, 1e-5
    origin = some_state(target)
    columns = []
    for j in range(size):
        ends = []
        for sign in (1.0, -1.0):
            state = new_state(target, origin.q.T.copy(), origin.other.T.copy(), Seeds(0), 0)
            state.p[:] = origin.p
            (state.q if j < target.density.dim else state.p)[j % target.density.dim] += sign * h
            fresh = new_state(target, state.q.T.copy(), state.other.T.copy(), Seeds(0), 0)
            fresh.p[:] = state.p
            go(target.density.data, fresh, 0.03, 5)
            ends.append(np.concatenate([fresh.q, fresh.p]))
        columns.append((ends[0] - ends[1]) / (2 * h))
    jacobian = np.transpose(columns, (2, 1, 0))
    assert np.allclose(np.linalg.det(jacobian), 1.0, atol=1e-6)


def test_energy_error_is_of_second_order(any_target: Target) -> None:
    """Half the step and twice the steps: a quarter of the error, as ε goes to zero."""
    errors = []
    for halvings in range(3):
        state = some_state(any_target, seed=3)
        before = total_energy(state)
        go(any_target.density.data, state, 0.004 / 2**halvings, 20 * 2**halvings)
        errors.append(np.abs(total_energy(state) - before).max())
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all((ratios > 3.4) & (ratios < 4.6)), errors


def test_kernels_do_not_touch_the_target(any_target: Target) -> None:
    arrays = [x for x in any_target.density.data if isinstance(x, np.ndarray)]
    before = [x.copy() for x in arrays]
    Run(RunSpec.of(any_target, "mahmc", draws=5, warmup=0, chains=8), any_target).advance_all()
    Run(RunSpec.of(any_target, "mala-pn", draws=5, warmup=0, chains=8), any_target).advance_all()
    assert all(np.array_equal(x, y) for x, y in zip(arrays, before, strict=True))


@numba.njit(**OPTIONS)
def change(array):
    store(array, 1, load(array, 0) + 0.5)


def test_load_and_store_leave_other_rows_alone() -> None:
    array = np.arange(3.0 * LANES).reshape(3, LANES)
    change(array)
    assert np.array_equal(array[[0, 2]], np.arange(3.0 * LANES).reshape(3, LANES)[[0, 2]])
    assert np.array_equal(array[1], array[0] + 0.5)
