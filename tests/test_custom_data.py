"""Data that a person gives to a custom target, discrete values of 32 bits, and where chains start."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, RunSpec
from mahmc.custom import discrete, exp, lgamma, real, uniform, update, where
from mahmc.kernels import energies
from mahmc.targets import FAMILIES
from tests.support.custom import registered

pytestmark = pytest.mark.usefixtures("families_as_before")
X = np.array([[1.0, 0.5], [1.0, -0.5], [1.0, 2.0]])
Y = np.array([1, 0, 4])


class Counts:
    """y_i ~ Poisson(e^(x_i·beta)), beta ~ N(0, sd²)."""

    sd: float = 1.0
    X: np.ndarray
    y: np.ndarray

    def variables(self) -> Any:
        return real("beta", self.X.shape[1])

    def U(self, q):
        total = (q @ q) / (2 * self.sd**2)
        for i in range(len(self.y)):
            z = self.X[i] @ q
            total += exp(z) - self.y[i] * z + lgamma(self.y[i] + 1.0)
        return total

    def grad_U(self, q, grad):
        for j in range(len(q)):
            grad[j] = q[j] / self.sd**2
        for i in range(len(self.y)):
            z = self.X[i] @ q
            for j in range(len(q)):
                grad[j] += self.X[i, j] * (exp(z) - self.y[i])


class Mean:
    """One number y ~ N(x, 1), and x ~ N(0, 1)."""

    y: float

    def data(self) -> dict[str, Any]:
        return {"y": 1.0}

    def variables(self) -> Any:
        return real("x")

    def U(self, q):
        return q[0] ** 2 / 2 + (self.y - q[0]) ** 2 / 2

    def grad_U(self, q, grad):
        grad[0] = 2 * q[0] - self.y

    def prior(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        return {"x": rng.standard_normal(n)}

    def simulate(self, parameters: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"y": parameters["x"] + rng.standard_normal()}


def test_data_are_given_when_a_target_is_built() -> None:
    counts = registered(Counts)
    target = counts(X=X, y=Y)
    z = X @ [0.3, 0.2]
    expected = (0.3**2 + 0.2**2) / 2 + np.sum(np.exp(z) - Y * z) + np.log(24.0)
    assert energies(target, np.array([[0.3, 0.2]]), np.zeros((1, 0)))[0] == pytest.approx(expected)
    assert np.array_equal(target.density.arrays["X"], X)
    assert counts(X=X.copy(), y=Y) is target, "equal data: the same target"
    other = counts(X=X, y=Y + 1)
    assert len({target.fingerprint, other.fingerprint, ""}) == 3
    spec = RunSpec.of(target, "hmc", epsilon=0.2, draws=10)
    assert spec.data == target.fingerprint
    with pytest.raises(InvalidInput, match="a user's data"):
        spec.build_target()
    run = mahmc.sample(target, "hmc", epsilon=0.2, L=5, draws=100, sd=None)
    assert run.acceptance > 0.5
    back = pickle.loads(pickle.dumps(target))
    assert back.fingerprint == target.fingerprint
    assert np.array_equal(back.density.data.y, Y)


@pytest.mark.quick
def test_data_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later changes of the arrays that were given, or that `data(self)` returned, do not reach the target."""
    monkeypatch.setattr("mahmc.custom.declare.check", lambda custom: None)  # which would compile U
    given, made = X.copy(), Y.copy()
    target = registered(Counts, data=lambda self: {"y": made})(X=given)
    given[0, 0] = made[0] = 99
    assert np.array_equal(target.density.data.X, X)
    assert np.array_equal(target.density.data.y, Y)


@pytest.mark.quick
def test_true_and_false_stay_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """~1 is -2, which counts as true."""
    monkeypatch.setattr("mahmc.custom.declare.check", lambda custom: None)
    target = registered(Counts)(X=X, y=np.array([True, False, True]))
    assert target.density.data.y.dtype == np.bool_


@pytest.mark.quick
def test_simulated_numbers_survive_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahmc.custom.declare.check", lambda custom: None)
    model = registered(Mean)().truth.model
    assert model is not None
    simulated = model.with_data({"y": 3.5})
    assert pickle.loads(pickle.dumps(simulated)).density.data.y == 3.5


SAME_NAME = """
import mahmc
from mahmc.custom import real

@mahmc.target
class Same:
    size: float = {size}

    def variables(self):
        return real("x")

    def U(self, q):
        return self.size * q[0] ** 2

    def grad_U(self, q, grad):
        grad[0] = 2 * self.size * q[0]
"""


@pytest.mark.quick
def test_unpickling_never_takes_another_files_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahmc.custom.declare.check", lambda custom: None)
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(SAME_NAME.format(size=1.0))
    two.write_text(SAME_NAME.format(size=2.0))
    (family,) = mahmc.load_targets(one)
    target = family()
    pickled = pickle.dumps(target)
    FAMILIES.pop("same")
    mahmc.load_targets(two)
    assert pickle.loads(pickled) is target


def test_data_may_be_given_in_part() -> None:
    """`data(self)` sees what is given, and makes the rest; what is given comes before what it makes."""
    half = registered(Counts, data=lambda self: {"y": np.arange(len(self.X)), "X": X})
    assert np.array_equal(half(X=X[:2]).density.data.y, [0, 1])
    assert np.array_equal(half(X=X, y=Y).density.data.y, Y)


def test_the_small_version_has_the_data_that_are_given_or_those_that_small_names() -> None:
    same = registered(Counts, small=lambda self: {"sd": 0.5})(X=X, y=Y)
    assert same.truth.small is not None
    assert np.array_equal(same.truth.small().density.data.X, X)
    fewer = registered(Counts, small=lambda self: {"X": self.X[:1], "y": self.y[:1]})(X=X, y=Y)
    assert fewer.truth.small is not None
    assert np.array_equal(fewer.truth.small().density.data.y, Y[:1])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "X, y is missing. Or pass the missing data: Counts(X=…, y=…)"),
        ({"X": X}, "y is missing. Or pass the missing data: Counts(y=…)"),
        ({"X": X, "Y": Y}, "Did you mean 'y'?"),
        ({"X": X, "y": ["a", "b"]}, "data 'y' must be numbers"),
        ({"X": X, "y": [1.0, np.inf, 2.0]}, "data 'y' has values that are not finite"),
    ],
    ids=str,
)
@pytest.mark.quick
def test_data_that_cannot_be_used(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        registered(Counts)(**given)
    assert words in str(refusal.value)


class Jumps:
    """x ~ N(k/scale, 1), and k has one of two values with equal probability."""

    values: tuple[float, ...] = (-70_000.0, 2_000_000_000.0)

    def variables(self) -> Any:
        return real("x"), discrete("k", values=[int(k) for k in self.values])

    def U(self, q, other):
        return (q[0] - other[0] / 1e9) ** 2 / 2

    def grad_U(self, q, other, grad):
        grad[0] = q[0] - other[0] / 1e9

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        first, second = (q[0] - self.values[0] / 1e9) ** 2 / 2, (q[0] - self.values[1] / 1e9) ** 2 / 2
        before = other[0]
        new = where(uniform(rng) < 1 / (1 + exp(second - first)), self.values[1], self.values[0])
        other[0] = new
        grad[0] = q[0] - new / 1e9
        return ((q[0] - new / 1e9) ** 2 - (q[0] - before / 1e9) ** 2) / 2


@pytest.mark.parametrize(
    ("values", "dtype"),
    [((-128.0, 127.0), np.int8), ((0.0, 128.0), np.int16), ((-70_000.0, 2_000_000_000.0), np.int32)],
)
def test_discrete_values_are_recorded_in_the_smallest_type_that_has_them(
    values: tuple[float, ...], dtype: type
) -> None:
    target = registered(Jumps)(values=values)
    run = mahmc.sample(target, "mahmc", epsilon=0.5, L=2, n_u=2, draws=200)
    assert run.get("k").dtype == dtype
    assert set(np.unique(run.get("k"))) == {int(k) for k in values}
    assert pickle.loads(pickle.dumps(run)).get("k").dtype == dtype


class Cut:
    """x > 0, which a normal start misses."""

    def variables(self) -> Any:
        return real("x")

    def U(self, q):
        return where(q[0] > 0, q[0], np.inf)

    def grad_U(self, q, grad):
        grad[0] = where(q[0] > 0, 1.0, 0.0)


def test_an_infinite_start_is_refused_and_start_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"U is inf at x = -.*Write start\(self, rng\), which returns a point"):
        registered(Cut)()
    target = registered(Cut, start=lambda self, rng: {"x": 1.0})()
    spec = RunSpec.of(target, "hmc", chains=9, draws=1)
    starts = {"x": np.r_[np.ones(8), -1.0]}
    with pytest.raises(InvalidInput, match=r"energy of inf where chain 8 starts.*start\(self, rng\)"):
        mahmc.Run(spec, target, init=starts)
