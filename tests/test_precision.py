"""ESS, R-hat and Monte Carlo errors are those of arviz-stats, whatever the chains look like."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given, settings
from hypothesis import strategies as some

import mahmc
from mahmc import diagnostics, precision
from mahmc.precision import Precision

SD_AS_HERE = int(version("arviz-stats").partition(".")[0]) >= 1

SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "independent": lambda rng, shape: rng.standard_normal(shape),
    "random walk": lambda rng, shape: rng.standard_normal(shape).cumsum(axis=1),
    "antithetic": lambda rng, shape: (-1.0) ** np.arange(shape[1]) * rng.integers(1, 3, (shape[0], 1)),
    "nearly antithetic": lambda rng, shape: (-1.0) ** np.arange(shape[1]) + 0.01 * rng.standard_normal(shape),
    "heavy tails": lambda rng, shape: rng.standard_cauchy(shape),
    "two values": lambda rng, shape: rng.integers(0, 2, shape),
    "few values": lambda rng, shape: rng.integers(0, 4, shape).astype(np.int8),
    "repeated": lambda rng, shape: np.repeat(rng.standard_normal(shape), 4, axis=1)[:, : shape[1]],
    "one jump": lambda rng, shape: np.broadcast_to(np.arange(shape[1]) > shape[1] // 3, shape) + 0.0,
    "one stuck chain": lambda rng, shape: np.where(np.arange(shape[0])[:, None] == 0, 1.0, rng.standard_normal(shape)),
    "far from zero": lambda rng, shape: 1e6 + rng.standard_normal(shape),
    "some infinite": lambda rng, shape: np.where(rng.random(shape) < 0.02, np.inf, rng.standard_normal(shape)),
}


def of_arviz(x: np.ndarray) -> dict[str, float]:
    """The same statistics by arviz-stats; without the error of a standard deviation, if this is not that of 1.0."""
    x = np.asarray(x, float)
    found = {f"ess_{kind}": array_stats.ess(x, method=kind) for kind in ("bulk", "mean")}
    found |= {"ess_tail": array_stats.ess(x, method="tail", prob=(0.05, 0.95)), "rhat": array_stats.rhat(x)}
    kinds = ("mean", "sd") if SD_AS_HERE else ("mean",)
    found |= {f"mcse_{kind}": array_stats.mcse(x, method=kind) for kind in kinds}
    return {name: float(value) for name, value in found.items()}


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    some.sampled_from(list(SHAPES)), some.integers(1, 6), some.integers(8, 400), some.integers(0, 2**32 - 1),
)  # fmt: skip
def test_statistics_are_arvizs(shape: str, chains: int, draws: int, seed: int) -> None:
    """To 1e-10, for one chain or several, of even and odd length."""
    x = SHAPES[shape](np.random.default_rng(seed), (chains, draws))
    found = Precision(x)
    if found.defined:
        for name, theirs in of_arviz(x).items():
            ours, least = getattr(found, name), 0.0
            if name == "mcse_sd":  # if all squares are equal, theirs is the root of a rounding error, of either sign
                least = 1e-8 * found.x.std()
            near_zero = name == "mcse_sd" and ours <= least and not theirs > least
            assert near_zero or ours == pytest.approx(theirs, rel=1e-10, abs=least, nan_ok=True), name


@pytest.mark.quick
def test_statistics_of_long_chains_are_arvizs() -> None:
    x = np.random.default_rng(3).standard_normal((16, 30_000))
    slow = np.empty_like(x)
    slow[:, 0] = x[:, 0]
    for i in range(1, x.shape[1]):
        slow[:, i] = 0.99 * slow[:, i - 1] + x[:, i]
    found = diagnostics.of_each({"fast": x, "slow": slow, "rounded": np.round(slow)})
    for name, chains in {"fast": x, "slow": slow, "rounded": np.round(slow)}.items():
        theirs = of_arviz(chains)
        assert {statistic: found[name][statistic] for statistic in theirs} == pytest.approx(theirs, rel=1e-10)


@pytest.mark.quick
@pytest.mark.parametrize(
    "x",
    [
        np.ones((4, 100)),
        np.arange(28.0).reshape(4, 7),
        np.where(np.arange(400) == 5, np.nan, 1.0 * np.arange(400))[None],
    ],
    ids=["constant", "short", "with a NaN"],
)
def test_where_nothing_can_be_said_all_statistics_are_undefined(x: np.ndarray) -> None:
    assert all(math.isnan(value) for value in diagnostics.of_each({"x": x})["x"].values())


@pytest.mark.quick
def test_quantities_on_several_threads_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    x: dict[Any, np.ndarray] = {name: rng.standard_normal((4, 5_000)) for name in ("a", ("b", 0), ("b", 1))}
    assert all(chains.size >= precision.SHARED for chains in x.values())
    found = diagnostics.of_each(x, ["rhat", "ess_tail"])
    one_by_one = {name: diagnostics.of_each({name: chains}, ["rhat", "ess_tail"])[name] for name, chains in x.items()}
    assert found == one_by_one
    assert diagnostics.of_each({}) == {}


@pytest.mark.quick
def test_other_kinds_are_left_to_arviz() -> None:
    x = np.random.default_rng(1).standard_normal((4, 500))
    assert diagnostics.ess(x, "median") == float(array_stats.ess(x, method="median"))
    assert diagnostics.mcse(x, "median") == float(array_stats.mcse(x, method="median"))
    assert mahmc.diagnostics.ess(x, "mean") == pytest.approx(float(array_stats.ess(x, method="mean")), rel=1e-10)
