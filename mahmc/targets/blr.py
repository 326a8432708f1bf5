"""BLR: Bayesian logistic regression with a conjugate prior on the precision (Sec. 4.2).

    τ ~ Gamma(shape, scale),   β ~ N(0, I/τ),   y_i ~ Bernoulli(sigmoid(x_i·β))

q^H = β, q^O = τ. With z = Xβ and d coefficients:

    U = Σ_i [softplus(z_i) − y_i z_i] + τ|β|²/2 − (d/2 + shape − 1)·log τ + τ/scale

The step size is multiplied by 1/√τ, which is the scale of β in the prior. The paper does not mention this factor.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from mahmc.compiled import implements
from mahmc.glossary import Panel
from mahmc.lanes import LANES, absolute, exp, load, log, maximum, multiply, splat, sqrt, store, where
from mahmc.parameters import InvalidInput, Parameter
from mahmc.streams import lane_gamma, normal_pair, uniform
from mahmc.targets.base import (
    Density,
    Derived,
    Draws,
    KnownTruth,
    Model,
    Presentation,
    Quantity,
    Score,
    Target,
    TargetFamily,
    Truth,
    Views,
    potential,
    step_scale,
    update,
)
from mahmc.targets.blr_truth import DATA, prior_truths, reference

PAPER_ACCURACY = 562 / 569  # 98.77 %: the paper, Sec. 4.2
PAPER_PRIOR = (1.0, 100.0)  # shape, scale
SCORED_DRAWS = 500  # the largest number of draws of each chain that vote on the labels of points
# The small version has few observations, so the same data set is simulated many times: its chains run side by side.
SMALL_X = np.array([[1.5, 1.0], [-1.0, 1.0], [0.5, 1.0], [-2.5, 1.0]])
SMALL_PRIOR = (2.0, 0.5)  # shape, scale
SMALL_VALUES = {"epsilon": 0.7, "L": 3}  # a few iterations move far, and some are rejected


class BLR(NamedTuple):
    """The data of compiled functions. If only the prior is sampled, X has no rows."""

    X: np.ndarray
    X_transposed: np.ndarray
    y: np.ndarray
    shape: float
    rate: float
    walk: float  # standard deviation of the random walk of log τ


@implements(potential, BLR)
def _potential(target, q, other, grad, scratch):
    tau = load(other, 0)
    misfit = splat(0.0)
    if target.X.shape[0] > 0:
        multiply(target.X, q, scratch)
        # Σ log(1 + e^−|z|) as logs of products: a factor is at most 2, so a product of 512 factors does not overflow.
        product = splat(1.0)
        for i in range(target.X.shape[0]):
            z = load(scratch, i)
            small = exp(-absolute(z))
            misfit += maximum(z, splat(0.0)) - target.y[i] * z
            product *= 1.0 + small
            if i % 512 == 511:
                misfit += log(product)
                product = splat(1.0)
            store(scratch, i, where(z > 0.0, 1.0, small) / (1.0 + small) - target.y[i])
        misfit += log(product)
        multiply(target.X_transposed, scratch, grad)
    else:
        for j in range(q.shape[0]):
            store(grad, j, splat(0.0))
    square = splat(0.0)
    for j in range(q.shape[0]):
        beta = load(q, j)
        square += beta * beta
        store(grad, j, load(grad, j) + tau * beta)
    return misfit + 0.5 * tau * square - (0.5 * q.shape[0] + target.shape - 1.0) * log(tau) + target.rate * tau


@implements(update, BLR)
def _update(target, index, point):
    q, other, grad, rng = point
    tau = load(other, 0)
    square = splat(0.0)
    for j in range(q.shape[0]):
        beta = load(q, j)
        square += beta * beta
    rate = target.rate + 0.5 * square
    power = 0.5 * q.shape[0] + target.shape - 1.0
    accepted = tau == tau
    if index == 0:  # τ | β ~ Gamma(shape + d/2, rate + |β|²/2)
        for c in range(LANES):
            other[0, c] = lane_gamma(rng, c, target.shape + 0.5 * q.shape[0])
        new = load(other, 0) / rate
        delta_U = (new - tau) * rate - power * (log(new) - log(tau))
    else:  # log τ by a random walk; the density of log τ is that of τ times τ
        step, _ = normal_pair(rng)
        new = tau * exp(target.walk * step)
        delta_U = (new - tau) * rate - power * target.walk * step
        accepted = uniform(rng) < exp(target.walk * step - delta_U)
    new = where(accepted, new, tau)
    store(other, 0, new)
    for j in range(q.shape[0]):
        store(grad, j, load(grad, j) + (new - tau) * load(q, j))
    return where(accepted, delta_U, 0.0), accepted


@implements(step_scale, BLR)
def _step_scale(target, other):
    return 1.0 / sqrt(load(other, 0))


PARAMETERS = (
    Parameter(
        "shape", "a", "Shape of the prior of τ", "The shape of the Gamma prior of the precision τ.",
        low=0.0, high=1e4, low_open=True, slider=(0.1, 10.0), log=True, default=1.0,
    ),
    Parameter(
        "scale", "s", "Scale of the prior of τ",
        "The scale of the Gamma prior of the precision τ. The mean of this prior is shape × scale.",
        low=0.0, high=1e8, low_open=True, slider=(1.0, 1000.0), log=True, default=100.0,
    ),
    Parameter(
        "prior_only", "", "Prior only", "Sample the prior, without data. Then all marginals are known exactly.",
        kind="bool", default=False,
    ),
    Parameter(
        "walk", "σ", "Step of the random walk",
        "The standard deviation of the steps of log τ, for the Metropolis update of τ.",
        low=0.0, high=100.0, low_open=True, slider=(0.01, 10.0), log=True, default=0.6,
    ),
)  # fmt: skip

DERIVED = {
    "log_tau": Derived(lambda draws: np.log(draws["tau"]), ("tau",)),
    "beta_norm": Derived(lambda draws: np.linalg.norm(draws["beta"], axis=-1), ("beta",)),
}
COMPARED = {
    "energy": Derived(lambda draws: draws["energy"], ("energy",)),
    **DERIVED,
    "least β": Derived(lambda draws: draws["beta"], ("beta",)),
}
UNKNOWN = (
    "the exact posterior of BLR under this prior is unknown. Choose the prior only, which is known exactly, or shape "
    "1 and scale 100, for which there is a reference."
)


def blr(
    X: Any = None, y: Any = None, shape: float = 1.0, scale: float = 100.0, prior_only: bool = False, walk: float = 0.6
) -> Target:
    """Bayesian logistic regression; by default on the breast cancer data (569 × 30, standardised, and an intercept).

    Parameters
    ----------
    X
        A table of observations × features. X is not changed: standardise X and append a column of ones yourself.
    y
        The labels, 0 or 1.
    shape, scale
        The Gamma prior of the precision τ.
    prior_only
        Sample the prior, without data.
    walk
        The standard deviation of the Metropolis steps of log τ.

    Returns
    -------
    Target
        The target.

    Raises
    ------
    InvalidInput
        If a value is not allowed, or X and y do not fit.

    Examples
    --------
    >>> mahmc.targets.blr(X=[[1.0, 0.5], [1.0, -0.5]], y=[0, 1]).names
    ('beta[0]', 'beta[1]', 'tau')
    """
    settings = (shape, scale, prior_only, walk)
    shape, scale, prior_only, walk = (p.check(value) for p, value in zip(PARAMETERS, settings, strict=True))
    own_data = X is not None or y is not None
    X, y = _checked_data(X, y) if own_data else breast_cancer()
    d = X.shape[1]
    seen = X[:0] if prior_only else X
    data = BLR(np.ascontiguousarray(seen), np.ascontiguousarray(seen.T), y[: len(seen)], shape, 1.0 / scale, walk)

    def start(rng: np.random.Generator) -> dict[str, Any]:
        return {"tau": 150.0, "beta": rng.standard_normal(d) / np.sqrt(150.0)}

    def prior(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        tau = rng.gamma(shape, scale, n)
        return {"beta": rng.standard_normal((n, d)) / np.sqrt(tau)[:, None], "tau": tau}

    def pack(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(draws["beta"], float), np.asarray(draws["tau"], float)[:, None]

    def simulate(parameters: Draws, rng: np.random.Generator) -> dict[str, np.ndarray]:
        chance = 0.5 + 0.5 * np.tanh(0.5 * parameters["beta"] @ X.T)  # sigmoid, without overflow
        return {"y": (rng.random(chance.shape) < chance).astype(float)}

    def with_data(fields: Draws) -> Target:
        return blr(X, fields["y"], shape, scale, walk=walk)

    def known() -> dict[str, Truth]:
        if prior_only:
            return prior_truths(d, shape, scale)
        return reference() if not own_data and (shape, scale) == (1.0, 100.0) else {}

    density = Density(
        data=data,
        quantities=(Quantity("beta", "q", 0, d, vector=True), Quantity("tau", "other", 0, 1)),
        dim=d,
        n_other=1,
        start=start,
        pack=pack,
        n_scratch=max(1, len(seen)),
        updates=("gibbs", "metropolis"),
        default_update="gibbs",
        cost_in_leapfrogs={"gibbs": 0, "metropolis": 0},
        stable_epsilon=2.0 if prior_only else None,
        arrays={"X": X, "y": y},
    )
    truth = KnownTruth(
        prior if prior_only else None,
        known,
        unknown="" if own_data else UNKNOWN,
        small=None if prior_only else lambda: blr(SMALL_X, np.zeros(len(SMALL_X)), *SMALL_PRIOR, walk=walk),
        small_values=SMALL_VALUES,
        model=None if prior_only else Model(prior, simulate, with_data),
    )
    in_paper = not own_data and not prior_only and (shape, scale) == PAPER_PRIOR
    score = Score("points classified correctly", partial(_accuracy, X, y), PAPER_ACCURACY if in_paper else math.nan)
    presentation = Presentation(
        FAMILY.title,
        _about(X.shape[1], prior_only) if own_data else FAMILY.about,
        main_quantity="energy",
        label=_label(own_data, prior_only),
        views=Views(pair=("log_tau", "beta_norm")),
        derived=DERIVED,
        compared=COMPARED,
        coefficients="beta",
        full_budget=16 * 90_000 * 10,  # sixteen times the budget of the paper
        score=None if prior_only else score,
    )
    chosen = {"shape": shape, "scale": scale, "prior_only": prior_only, "walk": walk}
    return Target("blr", chosen, density, truth, presentation, _fingerprint(X, y) if own_data else "")


def _label(own_data: bool, prior_only: bool) -> str:
    if own_data:
        return f"BLR, your data{', prior only' if prior_only else ''}"
    return "BLR, prior only" if prior_only else "BLR, posterior"


def _about(coefficients: int, prior_only: bool) -> str:
    """What the target is on a user's data."""
    prior = " Only the prior: the data do not count." if prior_only else ""
    about = f"Logistic regression of your data: {coefficients} coefficients β, and the precision τ of their prior."
    return about + prior


def _accuracy(X: np.ndarray, y: np.ndarray, draws: Draws) -> float:
    """The share of points that are classified correctly by a vote of the draws: 1 if x·β ≥ 0 in more than half."""
    beta = draws["beta"]
    beta = beta[:, :: max(1, beta.shape[1] // SCORED_DRAWS)].reshape(-1, X.shape[1])
    return float((((X @ beta.T >= 0).mean(axis=1) > 0.5) == y).mean())


@cache
def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """The breast cancer data; data/README.md describes them.

    Returns
    -------
    X : numpy.ndarray
        The standardised features, and a column of ones at the end.
    y : numpy.ndarray
        The labels.

    Examples
    --------
    >>> from mahmc.targets.blr import breast_cancer
    >>> X, y = breast_cancer()
    >>> X.shape, y.shape
    ((569, 31), (569,))
    """
    table = np.loadtxt(DATA / "breast_cancer.csv", delimiter=",", skiprows=1)
    features = table[:, :-1]
    standardised = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([standardised, np.ones(len(table))]), table[:, -1].copy()


def _checked_data(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    if X is None or y is None:
        raise InvalidInput(f"{'X' if X is None else 'y'} is missing: give X and y together, or neither.")
    try:
        X, y = np.asarray(X, float), np.asarray(y, float)
    except (TypeError, ValueError):
        raise InvalidInput("X and y must be numbers: encode text and categories as numbers first.") from None
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInput(f"X has shape {X.shape}: it must be a table of observations × features.")
    if y.shape != (len(X),):
        raise InvalidInput(f"y has shape {y.shape} and X {X.shape}: y must have one label for each row of X.")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise InvalidInput(f"X[{row}, {column}] = {X[row, column]}: remove or replace missing and infinite values.")
    if not np.isin(y, (0.0, 1.0)).all():
        row = int(np.flatnonzero(~np.isin(y, (0.0, 1.0)))[0])
        raise InvalidInput(f"y[{row}] = {y[row]:g}: labels must be 0 or 1.")
    return X, y


def _fingerprint(X: np.ndarray, y: np.ndarray) -> str:
    return hashlib.sha256(repr(X.shape).encode() + X.tobytes() + y.tobytes()).hexdigest()[:12]


FAMILY = TargetFamily(
    "blr",
    "BLR: Bayesian logistic regression",
    "Logistic regression on breast cancer data: 31 coefficients β, and the precision τ of their prior. The paper's "
    "second example.",
    PARAMETERS,
    blr,
    build_on=blr,
    own_data="breast cancer data",
    panel=Panel(
        "Bayesian logistic regression with a conjugate prior",
        r"\begin{aligned} & \tau \sim \mathrm{Gamma}(a, \mathrm{scale} = s) \\ "
        r"& \beta \sim N\big(0, \tfrac{1}{\tau} I\big) \\ "
        r"& y_i \sim \mathrm{Bernoulli}\big(\mathrm{sigmoid}(x_i^T \beta)\big) \\ & i = 1, \ldots, n \end{aligned}",
        "A Gibbs update of τ is easy and cheap, and gradients move β. So the two are combined, although both are "
        "continuous.",
        "Sec. 4.2, with a = 1, s = 100 and n = 569",
    ),
)
