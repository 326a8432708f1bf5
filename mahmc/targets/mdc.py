"""MDC: a distribution of mixed discrete and continuous variables (Sec. 4.1; Neal 2020, Sec. 5).

    u ~ N(0, 1),   v | u ~ N(u, sd²),   w_i | u ~ Bernoulli(1 / (1 + e^u)),  i = 1 … n_w

q^H = (u, v), q^O = w. With k ones among the w:

    U = u²/2 + (v − u)²/(2 sd²) + n_w·softplus(u) − (n_w − k)·u
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mahmc.compiled import implements
from mahmc.lanes import floor, load, sigmoid, sigmoid_softplus, splat, store, where
from mahmc.parameters import Parameter
from mahmc.streams import exponential, held, held_uniform, put_back, uniform
from mahmc.targets.base import (
    Draws,
    Quantity,
    Target,
    TargetFamily,
    Truth,
    Views,
    mass_truth,
    potential,
    step_scale,
    update_where,
    visit,
)


class MDC(NamedTuple):
    """Data of the compiled half. `other` has the n_w rows of w, then one row with the number of ones."""

    n_w: int
    precision: float


@implements(potential, MDC)
def _potential(target, q, other, grad, scratch):
    u, v = load(q, 0), load(q, 1)
    zeros = target.n_w - load(other, target.n_w)
    pull = (v - u) * target.precision
    p_zero, log_normaliser = sigmoid_softplus(u)
    store(grad, 0, u - pull + target.n_w * p_zero - zeros)
    store(grad, 1, pull)
    return 0.5 * (u * u + (v - u) * pull) + target.n_w * log_normaliser - zeros * u


@implements(visit, MDC)
def _visit(target, which, site, q, other, grad, rng, k):
    u = load(q, 0)
    now = splat(0.0)
    for i in range(target.n_w):
        now = where(site == i, load(other, i), now)
    proposed, cost = 1.0 - now, (1.0 - 2.0 * now) * u  # flipped: ΔU = (proposed − now)·u
    if which == 0:  # from its full conditional
        proposed, cost = where(uniform(rng) < sigmoid(-u), 1.0, 0.0), splat(0.0)
    accepted = cost <= k
    change = where(accepted, proposed - now, 0.0)
    for i in range(target.n_w):
        store(other, i, load(other, i) + where(site == i, change, 0.0))
    store(other, target.n_w, load(other, target.n_w) + change)
    store(grad, 0, load(grad, 0) + change)
    return change * u, where(accepted, cost, 0.0), accepted


@implements(update_where, MDC)
def _update_where(target, which, theirs, some, q, other, grad, rng, aside):
    if which == 1:  # one w, chosen at random, flipped
        k = where(theirs, exponential(rng), math.nan)  # which pays for nothing
        site = floor(uniform(rng) * target.n_w)
        delta_U, _, accepted = visit(target, 1, site, q, other, grad, rng, k)
        return delta_U, accepted
    u = load(q, 0)
    ones = load(other, target.n_w)
    p_one = sigmoid(-u)
    first, size = splat(0.0), target.n_w  # all w from their full conditional
    if which == 2:  # a block of them
        size = -(-target.n_w // BLOCKS)
        first = floor(uniform(rng) * target.n_w)
    total = splat(0.0)
    state = held(rng)
    for i in range(target.n_w):
        random, state = held_uniform(state)
        w = where(random < p_one, 1.0, 0.0)
        if which == 2:
            after = i - first
            w = where(where(after < 0.0, after + target.n_w, after) < size, w, load(other, i))
        if some:
            w = where(theirs, w, load(other, i))
        store(other, i, w)
        total += w
    put_back(rng, state)
    store(other, target.n_w, total)
    store(grad, 0, load(grad, 0) + (total - ones))
    return (total - ones) * u, theirs


@implements(step_scale, MDC)
def _step_scale(target, other):
    return splat(1.0)


SMALL = 2  # that many w have few enough states to enumerate

BLOCKS = 4  # a block is a quarter of all w, next to each other on a circle, and begins anywhere
PARAMETERS = (
    Parameter(
        "n_w", "n_w", "Number of w", "How many binary variables hang on u.", kind="int", low=1, high=1000,
        slider=(1, 100), default=20,
    ),
    Parameter(
        "sd", "sd", "Standard deviation of v given u",
        "How tightly v follows u: it sets the smallest scale, and so the largest stable step size, about 1.4·sd.",
        low=1e-6, high=100.0, slider=(0.005, 2.0), log=True, default=0.04,
    ),
)  # fmt: skip


def mdc(n_w: int = 20, sd: float = 0.04) -> Target:
    """The paper's first example: u and v continuous and strongly correlated, n_w binary w."""
    n_w, sd = (parameter.check(value) for parameter, value in zip(PARAMETERS, (n_w, sd), strict=True))

    def exact(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        u = rng.standard_normal(n)
        w = rng.random((n, n_w)) < (1.0 / (1.0 + np.exp(u)))[:, None]
        return {"u": u, "v": u + sd * rng.standard_normal(n), "w": w.astype(np.int8)}

    def start(rng: np.random.Generator) -> dict[str, Any]:
        u = rng.standard_normal()
        return {"u": u, "v": u + sd * rng.standard_normal(), "w": rng.integers(0, 2, n_w)}

    def pack(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        w = np.asarray(draws["w"], float)
        return np.column_stack([draws["u"], draws["v"]]), np.column_stack([w, w.sum(axis=1)])

    return Target(
        name="mdc",
        title=FAMILY.title,
        about=FAMILY.about,
        data=MDC(n_w, 1.0 / sd**2),
        settings={"n_w": n_w, "sd": sd},
        quantities=(
            Quantity("u", "q", 0, 1),
            Quantity("v", "q", 1, 1),
            Quantity("w", "other", 0, n_w, discrete=True, vector=True, values=(0, 1)),
        ),
        dim=2,
        n_other=n_w + 1,
        n_scratch=1,
        updates=("gibbs", "metropolis", "block"),
        default_update="gibbs",
        sites=n_w,
        site_updates=("metropolis", "gibbs"),
        paper_quantity="u",
        start=start,
        pack=pack,
        derived={"ones": _ones},
        compared={
            "u": lambda draws: draws["u"],
            "u²": lambda draws: draws["u"] ** 2,
            "−0.5 < u < 1.5": lambda draws: ((draws["u"] > -0.5) & (draws["u"] < 1.5)).astype(float),
            "ones": _ones,
        },
        budget=4_800_000,
        full_budget=16 * 900_000 * 10,  # the paper's
        views=Views("ones", "number of ones among w", ("u", "v")),
        exact=exact,
        small=lambda: mdc(min(n_w, SMALL), sd),
        patience={"gibbs": 3, "metropolis": 3, "block": 3},
        stable_epsilon=_stable_epsilon(n_w, sd),
        known=lambda: _truths(n_w, sd),
    )


def _ones(draws: Draws) -> np.ndarray:
    return draws["w"].sum(axis=-1)


def _stable_epsilon(n_w: int, sd: float) -> float:
    """2/√λ, with λ the largest curvature of U: that of v − u, and n_w·σ'(u) at its largest, at u = 0."""
    curvature = np.array([[1.0 + sd**-2 + 0.25 * n_w, -(sd**-2)], [-(sd**-2), sd**-2]])
    return float(2.0 / np.sqrt(np.linalg.eigvalsh(curvature).max()))


def _truths(n_w: int, sd: float) -> dict[str, Truth]:
    half = np.array([0.5, 0.5])
    truths = {"u": _normal(1.0), "v": _normal(float(np.hypot(1.0, sd))), "ones": mass_truth(_ones_mass(n_w))}
    return truths | {f"w[{i}]": mass_truth(half) for i in range(n_w)}


def _normal(sd: float) -> Truth:
    from scipy import stats

    law = stats.norm(scale=sd)
    return Truth(0.0, sd, law.pdf, (-4.0 * sd, 4.0 * sd), cdf=law.cdf)


def _ones_mass(n_w: int) -> np.ndarray:
    """P(k ones) = E_u[Binomial(k; n_w, 1/(1 + e^u))], the expectation by a fine trapezoid rule.

    The integrand is analytic and falls off as e^(−u²/2), where the rule converges faster than any power.
    """
    from scipy import stats

    u = np.linspace(-12.0, 12.0, 4001)
    mass = stats.binom.pmf(np.arange(n_w + 1)[:, None], n_w, 1.0 / (1.0 + np.exp(u))) @ stats.norm.pdf(u)
    return mass / mass.sum()


FAMILY = TargetFamily(
    "mdc",
    "MDC: mixed discrete and continuous",
    "Two strongly correlated normals u and v, and binary variables w that pull on u. The paper's first example.",
    PARAMETERS,
    mdc,
)
