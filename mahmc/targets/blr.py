"""BLR: Bayesian logistic regression with a conjugate prior on the precision (Sec. 4.2).

    τ ~ Gamma(shape, scale),   β ~ N(0, I/τ),   y_i ~ Bernoulli(sigmoid(x_i·β))

q^H = β, q^O = τ. With z = Xβ and d coefficients:

    U = Σ_i [softplus(z_i) − y_i z_i] + τ|β|²/2 − (d/2 + shape − 1)·log τ + τ/scale

The step size is scaled by 1/√τ, which the paper does not say (paper-notes): β has that scale a priori.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mahmc.compiled import implements
from mahmc.lanes import LANES, absolute, exp, load, log, maximum, multiply, splat, sqrt, store, where
from mahmc.parameters import InvalidInput, Parameter
from mahmc.streams import lane_gamma, normal_pair, uniform
from mahmc.targets.base import (
    Draws,
    Model,
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

DATA = Path(__file__).parent.parent / "data"
PAPER_ACCURACY = 562 / 569  # 98.77 %: the paper, Sec. 4.2
SCORED_DRAWS = 500  # of each chain at most, evenly spaced, that vote on the points' labels
# The small version has so few observations that its data sets come up again and again: their chains run side by side.
SMALL_X = np.array([[1.5, 1.0], [-1.0, 1.0], [0.5, 1.0], [-2.5, 1.0]])
SMALL_PRIOR = (2.0, 0.5)  # shape, scale
SMALL_VALUES = {"epsilon": 0.7, "L": 3}  # so that a few iterations go far, and some are rejected


class BLR(NamedTuple):
    """Data of the compiled half. X has no rows where only the prior is sampled."""

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
        # Σ log(1 + e^−|z|) as logs of products: a factor is at most 2, so 512 of them do not overflow.
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
def _update(target, which, q, other, grad, rng):
    tau = load(other, 0)
    square = splat(0.0)
    for j in range(q.shape[0]):
        beta = load(q, j)
        square += beta * beta
    rate = target.rate + 0.5 * square
    power = 0.5 * q.shape[0] + target.shape - 1.0
    accepted = tau == tau
    if which == 0:  # from its full conditional, Gamma(shape + d/2, rate + |β|²/2)
        for c in range(LANES):
            other[0, c] = lane_gamma(rng, c, target.shape + 0.5 * q.shape[0])
        new = load(other, 0) / rate
        delta_U = (new - tau) * rate - power * (log(new) - log(tau))
    else:  # log τ by a random walk; its density has one τ more than that of τ
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
        "shape", "a", "Shape of the prior of τ", "Shape of the Gamma prior of the precision τ.",
        low=0.0, high=1e4, low_open=True, slider=(0.1, 10.0), log=True, default=1.0,
    ),
    Parameter(
        "scale", "s", "Scale of the prior of τ",
        "Scale of the Gamma prior of the precision τ; its mean is shape × scale.",
        low=0.0, high=1e8, low_open=True, slider=(1.0, 1000.0), log=True, default=100.0,
    ),
    Parameter(
        "prior_only", "", "Prior only", "Leave the data out: then every marginal is known exactly.",
        kind="bool", default=False,
    ),
    Parameter(
        "walk", "σ", "Step of the random walk",
        "Standard deviation of the steps of log τ, where τ is updated by Metropolis.",
        low=0.0, high=100.0, low_open=True, slider=(0.01, 10.0), log=True, default=0.6,
    ),
)  # fmt: skip


def blr(
    X: Any = None, y: Any = None, shape: float = 1.0, scale: float = 100.0, prior_only: bool = False, walk: float = 0.6
) -> Target:
    """Bayesian logistic regression; by default on the breast cancer data (569 × 30, standardised, and an intercept).

    X is used as it is given: standardise it and append a column of ones yourself. y holds zeros and ones.
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
            return _prior_truths(d, shape, scale)
        return _reference() if not own_data and (shape, scale) == (1.0, 100.0) else {}

    score = Score("points classified right", partial(_accuracy, X, y), math.nan if own_data else PAPER_ACCURACY)
    return Target(
        name="blr",
        title=FAMILY.title,
        about=FAMILY.about,
        data=data,
        settings={"shape": shape, "scale": scale, "prior_only": prior_only, "walk": walk},
        quantities=(Quantity("beta", "q", 0, d, vector=True), Quantity("tau", "other", 0, 1)),
        dim=d,
        n_other=1,
        n_scratch=max(1, len(seen)),
        updates=("gibbs", "metropolis"),
        patience={"gibbs": 0, "metropolis": 0},
        default_update="gibbs",
        paper_quantity="energy",
        start=start,
        pack=pack,
        derived={"log_tau": _log_tau, "beta_norm": _beta_norm},
        compared={
            "energy": lambda draws: draws["energy"],
            "log_tau": _log_tau,
            "beta_norm": _beta_norm,
            "least β": lambda draws: draws["beta"],
        },
        full_budget=16 * 90_000 * 10,  # sixteen times the paper's
        views=Views(pair=("log_tau", "beta_norm")),
        exact=prior if prior_only else None,
        small=None if prior_only else lambda: blr(SMALL_X, np.zeros(len(SMALL_X)), *SMALL_PRIOR, walk=walk),
        small_values=SMALL_VALUES,
        model=None if prior_only else Model(prior, simulate, with_data),
        score=None if prior_only else score,
        stable_epsilon=2.0 if prior_only else None,
        known=known,
        fingerprint=_fingerprint(X, y) if own_data else "",
        extras={"X": X, "y": y},
    )


def _accuracy(X: np.ndarray, y: np.ndarray, draws: Draws) -> float:
    """Share of the points classified right by a vote of the draws: 1 where more than half of them have x·β ≥ 0."""
    beta = draws["beta"]
    beta = beta[:, :: max(1, beta.shape[1] // SCORED_DRAWS)].reshape(-1, X.shape[1])
    return float((((X @ beta.T >= 0).mean(axis=1) > 0.5) == y).mean())


def _log_tau(draws: Draws) -> np.ndarray:
    return np.log(draws["tau"])


def _beta_norm(draws: Draws) -> np.ndarray:
    return np.linalg.norm(draws["beta"], axis=-1)


@cache
def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """The standardised features with a column of ones at the end, and the labels. See data/README.md."""
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
        raise InvalidInput("X and y must be numbers: encode text and categories before.") from None
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInput(f"X has shape {X.shape}: it must be a table of observations × features.")
    if y.shape != (len(X),):
        raise InvalidInput(f"y has shape {y.shape} and X {X.shape}: y must have one label for each row of X.")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise InvalidInput(f"X[{row}, {column}] = {X[row, column]}: remove or fill in what is missing or infinite.")
    if not np.isin(y, (0.0, 1.0)).all():
        row = int(np.flatnonzero(~np.isin(y, (0.0, 1.0)))[0])
        raise InvalidInput(f"y[{row}] = {y[row]:g}: labels must be 0 or 1.")
    return X, y


def _fingerprint(X: np.ndarray, y: np.ndarray) -> str:
    return hashlib.sha256(repr(X.shape).encode() + X.tobytes() + y.tobytes()).hexdigest()[:12]


def _prior_truths(d: int, shape: float, scale: float) -> dict[str, Truth]:
    """τ ~ Gamma; β_j = N/√τ is Student t with 2·shape degrees of freedom; |β|² is a scaled F."""
    from scipy import stats

    beta = _law(stats.t(2 * shape, scale=1.0 / np.sqrt(shape * scale)), 0.002, moments=math.ceil(2 * shape) - 1)
    tau = stats.gamma(shape, scale=scale)
    log_tau = stats.loggamma(shape, loc=np.log(scale))
    square = stats.f(d, 2 * shape, scale=d / (shape * scale))
    mean = _norm_mean(d, shape, scale)
    second = float(square.mean()) if shape > 1 else np.inf
    norm = Truth(
        mean,
        float(np.sqrt(second - mean**2)) if np.isfinite(second) else np.inf,
        lambda x: 2.0 * np.asarray(x) * square.pdf(np.square(x)),
        (0.0, float(np.sqrt(square.ppf(0.995)))),
        cdf=lambda x: square.cdf(np.square(x)),
        moments=math.ceil(2 * shape) - 1,
    )
    truths = {f"beta[{j}]": beta for j in range(d)}
    return truths | {"tau": _law(tau, 0.001), "log_tau": _law(log_tau, 0.0005), "beta_norm": norm}


def _norm_mean(d: int, shape: float, scale: float) -> float:
    """E|β| = E χ_d · E τ^−½ = √2·Γ((d+1)/2)/Γ(d/2) · Γ(shape−½)/Γ(shape)/√scale; infinite up to shape ½."""
    if shape <= 0.5:
        return math.inf
    chi = math.sqrt(2.0) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    return chi * math.exp(math.lgamma(shape - 0.5) - math.lgamma(shape)) / math.sqrt(scale)


def _law(law: Any, tail: float, moments: int = 4) -> Truth:
    mean, sd = float(law.mean()), float(law.std())
    support = float(law.ppf(tail)), float(law.ppf(1.0 - tail))
    return Truth(mean, sd, law.pdf, support, cdf=law.cdf, moments=moments)


@cache
def _reference() -> dict[str, Truth]:
    """The posterior of the breast cancer data, by benchmarks/reference_blr.py (Pólya-Gamma Gibbs; shares no code)."""
    with np.load(DATA / "blr_reference.npz") as file:
        stored = dict(file)
    source = f"reference: {stored['method']}"
    truths = {}
    for i, name in enumerate(stored["names"]):
        edges = stored["edges"][i]
        truths[str(name)] = Truth(
            float(stored["mean"][i]),
            float(stored["sd"][i]),
            _step_function(edges, stored["density"][i]),
            (float(edges[0]), float(edges[-1])),
            source=source,
            mean_se=float(stored["mean_se"][i]),
            sd_se=float(stored["sd_se"][i]),
            density_se=_step_function(edges, stored["density_se"][i]),
        )
    return truths


def _step_function(edges: np.ndarray, heights: np.ndarray) -> Any:
    """The function that is heights[i] between edges[i] and edges[i + 1], and zero outside."""
    padded = np.concatenate([[0.0], heights, [0.0]])
    return lambda x: padded[np.searchsorted(edges, x, side="right")]


FAMILY = TargetFamily(
    "blr",
    "BLR: Bayesian logistic regression",
    "Breast cancer data, 31 coefficients β and the precision τ of their prior. The paper's second example.",
    PARAMETERS,
    blr,
)
