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
from mahmc.glossary import Panel
from mahmc.lanes import floor, load, sigmoid, sigmoid_softplus, splat, store, where
from mahmc.parameters import Parameter
from mahmc.streams import exponential, load_generators, store_generators, uniform, uniform_and_state
from mahmc.targets.base import (
    Density,
    Derived,
    Draws,
    KnownTruth,
    Paper,
    PaperFigure,
    Presentation,
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
    """The data of compiled functions. `other` has n_w rows with w, and one row with the number of ones."""

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
def _visit(target, index, site, point, k):
    q, other, grad, rng = point
    u = load(q, 0)
    now = splat(0.0)
    for i in range(target.n_w):
        now = where(site == i, load(other, i), now)
    proposed, cost = 1.0 - now, (1.0 - 2.0 * now) * u  # flipped: ΔU = (proposed − now)·u
    if index == 0:  # draw w_site | u, the full conditional
        proposed, cost = where(uniform(rng) < sigmoid(-u), 1.0, 0.0), splat(0.0)
    accepted = cost <= k
    change = where(accepted, proposed - now, 0.0)
    for i in range(target.n_w):
        store(other, i, load(other, i) + where(site == i, change, 0.0))
    store(other, target.n_w, load(other, target.n_w) + change)
    store(grad, 0, load(grad, 0) + change)
    return change * u, where(accepted, cost, 0.0), accepted


@implements(update_where, MDC)
def _update_where(target, index, selected, point, backup):
    q, other, grad, rng = point
    if index == 1:  # flip one w, chosen at random
        k = where(selected.mask, exponential(rng), math.nan)  # NaN: `cost <= k` is False, so the lane does not change
        site = floor(uniform(rng) * target.n_w)
        delta_U, _, accepted = visit(target, 1, site, point, k)
        return delta_U, accepted
    u = load(q, 0)
    ones = load(other, target.n_w)
    p_one = sigmoid(-u)
    first, size = splat(0.0), target.n_w  # draw all w | u, the full conditional
    if index == 2:  # or only the w of a block
        size = -(-target.n_w // BLOCKS)
        first = floor(uniform(rng) * target.n_w)
    total = splat(0.0)
    state = load_generators(rng)
    for i in range(target.n_w):
        random, state = uniform_and_state(state)
        w = where(random < p_one, 1.0, 0.0)
        if index == 2:
            after = i - first
            w = where(where(after < 0.0, after + target.n_w, after) < size, w, load(other, i))
        if selected.partial:
            w = where(selected.mask, w, load(other, i))
        store(other, i, w)
        total += w
    store_generators(rng, state)
    store(other, target.n_w, total)
    store(grad, 0, load(grad, 0) + (total - ones))
    return (total - ones) * u, selected.mask


@implements(step_scale, MDC)
def _step_scale(target, other):
    return splat(1.0)


SMALL = 2  # the number of w in the small version, whose states checks can enumerate
BLOCKS = 4  # a block is a quarter of all w, which are neighbours on a circle; its first w is random
PARAMETERS = (
    Parameter(
        "n_w", "n_w", "Number of w", "The number of binary variables w, which depend on u.",
        kind="int", low=1, high=1000, slider=(1, 100), default=20,
    ),
    Parameter(
        "sd", "sd", "Standard deviation of v given u",
        "How far v is from u. This is the smallest scale of the target: steps above 1.4·sd are unstable. With a large "
        "sd or many w the limit is lower.",
        low=1e-6, high=100.0, slider=(0.005, 2.0), log=True, default=0.04,
    ),
)  # fmt: skip

ONES = Derived(lambda draws: draws["w"].sum(axis=-1), ("w",))
COMPARED = {
    "u": Derived(lambda draws: draws["u"], ("u",)),
    "u²": Derived(lambda draws: draws["u"] ** 2, ("u",)),
    "−0.5 < u < 1.5": Derived(lambda draws: ((draws["u"] > -0.5) & (draws["u"] < 1.5)).astype(float), ("u",)),
    "ones": ONES,
}
PAPER = Paper(
    {("mahmc", "hmc"): 3.85, ("mahmc", "mala-pn"): 2.4}, PaperFigure("mahmc", {"n_u": 4, "epsilon": 0.035}, 6.08e-3)
)


def mdc(n_w: int = 20, sd: float = 0.04) -> Target:
    """The paper's first example: u and v are continuous and strongly correlated, and n_w binary variables w.

    Parameters
    ----------
    n_w
        The number of binary variables w.
    sd
        The standard deviation of v given u.

    Returns
    -------
    Target
        The target.

    Raises
    ------
    InvalidInput
        If a value is not allowed.

    Examples
    --------
    >>> mahmc.targets.mdc(n_w=2).names
    ('u', 'v', 'w[0]', 'w[1]')
    """
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

    density = Density(
        data=MDC(n_w, 1.0 / (sd * sd)),
        quantities=(
            Quantity("u", "q", 0, 1),
            Quantity("v", "q", 1, 1),
            Quantity("w", "other", 0, n_w, discrete=True, vector=True, values=(0, 1)),
        ),
        dim=2,
        n_other=n_w + 1,
        start=start,
        pack=pack,
        updates=("gibbs", "metropolis", "block"),
        default_update="gibbs",
        sites=n_w,
        site_updates=("metropolis", "gibbs"),
        cost_in_leapfrogs={"gibbs": 3, "metropolis": 3, "block": 3},
        stable_epsilon=_stable_epsilon(n_w, sd),
    )
    truth = KnownTruth(exact, lambda: _truths(n_w, sd), small=lambda: mdc(min(n_w, SMALL), sd))
    presentation = Presentation(
        FAMILY.title,
        FAMILY.about,
        main_quantity="u",
        label=f"MDC, {n_w} of w, sd {sd:g}",
        views=Views("ones", "number of ones among w", ("u", "v")),
        derived={"ones": ONES},
        compared=COMPARED,
        budget=4_800_000,
        full_budget=16 * 900_000 * 10,  # the budget of the paper
        paper=PAPER if (n_w, sd) == tuple(parameter.default for parameter in PARAMETERS) else Paper(),
    )
    return Target("mdc", {"n_w": n_w, "sd": sd}, density, truth, presentation)


def _stable_epsilon(n_w: int, sd: float) -> float:
    """2/√λ, where λ is the largest curvature of U. It is largest at u = 0, where n_w·σ'(u) is largest."""
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
    """P(k ones) = E_u[Binomial(k; n_w, 1/(1 + e^u))]; a fine trapezoid rule computes the expectation.

    The integrand is analytic and decreases as e^(−u²/2). For such functions the rule converges faster than any power.
    """
    from scipy import stats

    u = np.linspace(-12.0, 12.0, 4001)
    mass = stats.binom.pmf(np.arange(n_w + 1)[:, None], n_w, 1.0 / (1.0 + np.exp(u))) @ stats.norm.pdf(u)
    probabilities: np.ndarray = mass / mass.sum()
    return probabilities


FAMILY = TargetFamily(
    "mdc",
    "MDC: mixed discrete and continuous",
    "Two strongly correlated normal variables u and v, and binary variables w that depend on u. The paper's first "
    "example.",
    PARAMETERS,
    mdc,
    panel=Panel(
        "A distribution of mixed discrete and continuous variables",
        r"\begin{aligned} & u \sim N(0, 1) \\ & v \mid u \sim N(u, sd^2) \\ "
        r"& w_i \mid u \sim \mathrm{Bernoulli}\big(1 / (1 + e^{u})\big) \\ & i = 1, \ldots, n_w \end{aligned}",
        "The small scale of v asks for small steps, so u needs long moves. But u moves only as far as w allows, so w "
        "needs frequent updates.",
        "Sec. 4.1, with n_w = 20 and sd = 0.04",
    ),
)
