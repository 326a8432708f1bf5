"""Targets know their truth, and validate what they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import mahmc
from mahmc import InvalidInput, targets
from mahmc.targets import Derived, Target
from mahmc.targets.base import Draws

pytestmark = pytest.mark.quick
EXACT = [targets.mdc(), targets.mdc(3, 0.5), targets.gmm(), targets.blr(prior_only=True), targets.blr(
    prior_only=True, shape=2.5, scale=3.0)]  # fmt: skip


def scalar(target: Target, draws: dict[str, np.ndarray], name: str) -> np.ndarray:
    if name in target.presentation.derived:
        return target.presentation.derived[name](draws)
    base, _, index = name.partition("[")
    return draws[base][:, int(index[:-1])] if index else draws[name]


@pytest.mark.parametrize("target", EXACT, ids=lambda t: f"{t.name} {dict(t.settings)}")
def test_exact_draws_and_exact_distributions_agree(target: Target) -> None:
    """Every marginal: Kolmogorov-Smirnov or chi-squared on 20 000 draws, level 1e-6 each; and the mean."""
    assert target.truth.exact is not None
    draws = target.truth.exact(np.random.default_rng(1), 20_000)
    for name, truth in target.truth.scalars.items():
        x = scalar(target, draws, name)
        if truth.discrete:
            values = np.arange(int(truth.support[1]) + 1)
            expected = truth.density(values) * x.size
            seen = np.bincount(x.astype(int), minlength=values.size)
            p_value = stats.chisquare(seen[expected > 5], expected[expected > 5] * seen[expected > 5].sum()
                                      / expected[expected > 5].sum()).pvalue  # fmt: skip
        else:
            assert truth.cdf is not None
            p_value = stats.kstest(x, truth.cdf).pvalue
        assert p_value > 1e-6, name
        if np.isfinite(truth.sd):
            assert abs(x.mean() - truth.mean) < 5 * truth.sd / np.sqrt(x.size), name
            assert np.isclose(x.std(), truth.sd, rtol=0.1), name


@pytest.mark.parametrize("target", EXACT, ids=lambda t: f"{t.name} {dict(t.settings)}")
def test_densities_integrate_to_one(target: Target) -> None:
    for name, truth in list(target.truth.scalars.items())[:4] + list(target.truth.scalars.items())[-3:]:
        if truth.discrete:
            assert np.isclose(truth.density(np.arange(int(truth.support[1]) + 1)).sum(), 1.0), name
        else:
            x = np.linspace(*truth.support, 20_001)
            assert truth.cdf is not None
            share = float(truth.cdf(np.array(truth.support[1])) - truth.cdf(np.array(truth.support[0])))
            assert np.isclose(integrate.trapezoid(truth.density(x), x), share, atol=2e-3), name
            assert share > 0.98


def test_the_papers_values() -> None:
    beta = targets.blr(prior_only=True).truth.scalars["beta[7]"]
    assert np.isclose(beta.density(np.array([0.0]))[0], stats.t(2, scale=0.1).pdf(0.0))
    assert targets.blr(prior_only=True).truth.scalars["tau"].mean == pytest.approx(100.0)
    assert dict(targets.gmm().settings)["weights"] == (0.15, 0.3, 0.3, 0.25)
    assert targets.mdc().truth.scalars["ones"].mean == pytest.approx(10.0)


def test_blr_data() -> None:
    target = targets.blr()
    X, y = target.density.arrays.values()
    assert X.shape == (569, 31)
    assert np.allclose(X[:, :-1].mean(axis=0), 0.0)
    assert np.allclose(X[:, :-1].std(axis=0), 1.0)
    assert np.all(X[:, -1] == 1.0)
    assert y.sum() == 357


def test_reference_is_labelled_with_its_errors() -> None:
    truths = targets.blr().truth.scalars
    assert set(truths) == {f"beta[{i}]" for i in range(31)} | {"tau", "log_tau", "beta_norm", "energy"}
    for name, truth in truths.items():
        assert truth.source.startswith("reference"), name
        assert 0 < truth.mean_se < 0.05 * truth.sd, name
        x = np.linspace(*truth.support, 5000)
        assert np.isclose(integrate.trapezoid(truth.density(x), x), 1.0, atol=0.01), name
        assert truth.density_se(x).max() > 0, name
    assert not targets.blr(scale=10.0).truth.scalars
    assert not targets.blr(np.eye(3), [0, 1, 1]).truth.scalars


def test_beyond_the_stable_step_everything_is_rejected() -> None:
    """At u near 0, where MDC is steepest; below the limit long trajectories are accepted, above it they are not."""
    for target in (targets.mdc(), targets.gmm([1.0], [0.0], [0.3]), targets.blr(prior_only=True)):
        limit = target.density.stable_epsilon
        assert limit is not None
        below, above = (
            mahmc.sample(target, "hmc", epsilon=factor * limit, L=500, draws=50, chains=8, seed=1).acceptance
            for factor in (0.5, 1.1)
        )
        assert below > 0.1
        assert above == 0.0


def test_names_of_coordinates() -> None:
    assert targets.mdc(2).names == ("u", "v", "w[0]", "w[1]")
    assert targets.gmm().names == ("q", "component")
    assert targets.blr().names[-2:] == ("beta[30]", "tau")


X, y = np.random.default_rng(0).normal(size=(6, 2)), np.array([0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(
    ("build", "arguments", "words"),
    [
        ("mdc", {"n_w": 0}, "n_w = 0"),
        ("mdc", {"n_w": 2.5}, "whole number"),
        ("mdc", {"n_w": True}, "n_w = True"),
        ("mdc", {"sd": 0.0}, "sd = 0.0"),
        ("mdc", {"sd": float("nan")}, "sd = nan"),
        ("mdc", {"sd": "wide"}, "sd = 'wide'"),
        ("gmm", {"weights": [0.5, 0.6], "means": [0, 1], "sds": [1, 1]}, "sum to 1.1"),
        ("gmm", {"weights": [-0.5, 1.5], "means": [0, 1], "sds": [1, 1]}, "weights = -0.5"),
        ("gmm", {"weights": [0.5, 0.5], "means": [0, 1], "sds": [1, 0]}, "sds = 0"),
        ("gmm", {"weights": [0.5, 0.5], "means": [0, 1, 2], "sds": [1, 1]}, "2, 3 and 2"),
        ("gmm", {"weights": [0.5, 0.5], "means": [0, np.inf], "sds": [1, 1]}, "means = inf"),
        ("gmm", {"weights": "0.5", "means": [0], "sds": [1]}, "weights"),
        ("gmm", {"weights": [], "means": [], "sds": []}, "0 entries"),
        ("gmm", {"weights": [1 / 65] * 65, "means": [0] * 65, "sds": [1] * 65}, "64"),
        ("blr", {"X": X}, "y is missing"),
        ("blr", {"X": X[:, 0], "y": y}, "X has shape"),
        ("blr", {"X": X, "y": y[:-1]}, "one label for each row"),
        ("blr", {"X": np.where(X[2, 1] == X, np.nan, X), "y": y}, "X[2, 1] = nan"),
        ("blr", {"X": X, "y": y + 1}, "labels must be 0 or 1"),
        ("blr", {"X": [["a", "b"]], "y": [1]}, "must be numbers"),
        ("blr", {"shape": -1.0}, "shape = -1.0"),
        ("blr", {"scale": 0}, "scale = 0"),
        ("blr", {"prior_only": "perhaps"}, "prior_only"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_what_is_wrong(build: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        getattr(targets, build)(**arguments)
    assert words in str(refusal.value)


# ------------------------------------------------------------------------------------------- the parts of a target


def test_a_target_has_few_fields_and_no_others() -> None:
    target = targets.mdc()
    assert [f.name for f in fields(target)] == ["name", "settings", "density", "truth", "presentation", "fingerprint"]
    with pytest.raises(AttributeError):
        target.colour  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(FrozenInstanceError):
        target.density.dim = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", targets.FAMILIES)
def test_what_is_said_to_be_read_is_read(name: str) -> None:
    """Derived and compared quantities: what they say is what they ask for when they are called."""
    target = targets.build(name)
    quantities = target.density.quantities
    functions = {**target.presentation.derived, **target.comparisons}
    for title, said in functions.items():
        assert set(said.reads) == set(Derived.inferred(said.function, quantities).reads), title


def test_what_a_plain_function_reads_is_found() -> None:
    """Also where it unpacks all draws, or reads a quantity only by way of another function."""
    quantities = targets.mdc().density.quantities

    def reads(function: Callable[[Draws], Any]) -> tuple[str, ...]:
        return Derived.inferred(function, quantities).reads

    assert reads(lambda draws: draws["u"] + draws["w"].sum(axis=-1)) == ("u", "w")
    assert reads(lambda draws: {**draws}["v"]) == ("u", "v", "w", "energy")
    assert reads(lambda draws: np.zeros(3)) == ()
    with pytest.raises(KeyError):
        reads(lambda draws: draws["x"])


EARLIER = [
    ("dim", lambda t: t.density.dim), ("data", lambda t: t.density.data), ("updates", lambda t: t.density.updates),
    ("quantities", lambda t: t.density.quantities), ("patience", lambda t: t.density.cost_in_leapfrogs),
    ("exact", lambda t: t.truth.exact), ("truths", lambda t: t.truth.scalars), ("model", lambda t: t.truth.model),
    ("paper_quantity", lambda t: t.presentation.main_quantity), ("title", lambda t: t.presentation.title),
    ("derived", lambda t: t.presentation.derived), ("X", lambda t: t.density.arrays["X"]),
    ("extras", lambda t: t.density.arrays),
]  # fmt: skip


@pytest.mark.parametrize(("old", "now"), EARLIER)
def test_earlier_names_work_with_a_warning(old: str, now: Callable[[Target], Any]) -> None:
    target = targets.blr()
    with pytest.warns(DeprecationWarning, match=rf"target\.{old} is target\.") as warned:
        assert getattr(target, old) is now(target)
    assert warned[0].filename == __file__  # the line of whoever asked


def test_the_earlier_way_to_ask_for_a_truth_works_with_a_warning() -> None:
    target = targets.mdc()
    with pytest.warns(DeprecationWarning, match=r"target\.truth\.of\('u'\)"):
        assert target.truth("u") is target.truth.of("u")


def test_labels_say_what_was_chosen() -> None:
    labels = [
        targets.mdc(3, 0.5), targets.gmm([1.0], [0.0], [1.0]), targets.blr(), targets.blr(prior_only=True),
        targets.blr(np.eye(3), [0, 1, 1]), targets.blr(np.eye(3), [0, 1, 1], prior_only=True),
    ]  # fmt: skip
    assert [target.presentation.short_title for target in labels] == [
        "MDC, 3 of w, sd 0.5", "GMM, 1 component", "BLR, posterior", "BLR, prior only", "BLR, your data",
        "BLR, your data, prior only",
    ]  # fmt: skip
    assert targets.build("ising").presentation.short_title == "Ising"  # what its title begins with
