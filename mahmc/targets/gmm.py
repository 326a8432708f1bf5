"""GMM: a Gaussian mixture in one dimension with its component as a variable (Sec. 4.3).

    component ~ Categorical(weights),   q | component ~ N(mean, sd²) of that component

q^H = q, q^O = component:   U = (q − mean)²/(2 sd²) + log sd − log weight
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mahmc import rounding
from mahmc.compiled import implements, inlined
from mahmc.glossary import Panel
from mahmc.lanes import exp, floor, load, log, maximum, splat, store, where
from mahmc.numerals import exact as all_digits
from mahmc.parameters import InvalidInput, Parameter
from mahmc.streams import exponential, uniform
from mahmc.targets.base import (
    Density,
    Derived,
    Draws,
    KnownTruth,
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


class GMM(NamedTuple):
    """The data of compiled functions, by component; a height is log sd − log weight.

    `other` has four rows: the component, and its mean, precision and height, so that leapfrogs look up nothing.
    """

    means: np.ndarray
    precisions: np.ndarray
    heights: np.ndarray


@inlined
def _energy(x, mean, precision, height):
    """U = (x − mean)²/(2 sd²) + log sd − log weight."""
    return 0.5 * (x - mean) * (x - mean) * precision + height


@inlined
def _of(values, component):
    """values[component] for each lane."""
    chosen = splat(values[0])
    for k in range(1, values.size):
        chosen = where(component == k, values[k], chosen)
    return chosen


@inlined
def _highest(target, x):
    """The maximum of −U(x, k) over k. It is subtracted from exponents, so that exp does not overflow."""
    highest = -_energy(x, target.means[0], target.precisions[0], target.heights[0])
    for k in range(1, target.means.size):
        highest = maximum(highest, -_energy(x, target.means[k], target.precisions[k], target.heights[k]))
    return highest


@inlined
def _mass(target, x, k, highest, excluded):
    """exp(−U(x, k) − highest), or 0 where k is the excluded component."""
    mass = exp(-_energy(x, target.means[k], target.precisions[k], target.heights[k]) - highest)
    return where(excluded == k, 0.0, mass)


@inlined
def _total_mass(target, x, highest, excluded):
    """Σ exp(−U(x, k) − highest) over k ≠ excluded."""
    total = splat(0.0)
    for k in range(target.means.size):
        total += _mass(target, x, k, highest, excluded)
    return total


@inlined
def _full_conditional(target, x, u, highest, excluded):
    """A component k ≠ excluded from P(k | x) ∝ exp(−U(x, k)), by inversion of the uniform u."""
    level = u * _total_mass(target, x, highest, excluded)
    component = passed = splat(0.0)
    for k in range(target.means.size - 1):
        passed += _mass(target, x, k, highest, excluded)
        component += where(level >= passed, 1.0, 0.0)
    return component


@inlined
def _neighbours(component, n):
    """The number of neighbours of a component among n: 1 for the first and the last, else 2."""
    return where((component == 0.0) | (component == n - 1.0), 1.0, 2.0)


@implements(potential, GMM)
def _potential(target, q, other, grad, scratch):
    away = load(q, 0) - load(other, 1)
    pull = away * load(other, 2)
    store(grad, 0, pull)
    return 0.5 * away * pull + load(other, 3)


@implements(visit, GMM)
def _visit(target, index, site, point, k):
    q, other, grad, rng = point
    x, now = load(q, 0), load(other, 0)
    n, no_component = target.means.size, splat(-1.0)
    log_ratio = splat(0.0)  # log Q(now | proposed) − log Q(proposed | now)
    if index == 0:  # draw component | q, the full conditional
        proposed = _full_conditional(target, x, uniform(rng), _highest(target, x), no_component)
    elif index == 1:  # another component, all with the same probability
        proposed = now + 1.0 + floor(uniform(rng) * (n - 1))
        proposed = where(proposed < n, proposed, proposed - n)
    elif index == 2:  # a neighbouring component; the first and the last have only one neighbour
        proposed = now + where(uniform(rng) < 0.5, 1.0, -1.0)
        proposed = where(now == 0.0, min(1.0, n - 1.0), where(now == n - 1.0, n - 2.0, proposed))
        log_ratio = log(_neighbours(now, n)) - log(_neighbours(proposed, n))
    else:  # another component, by the full conditional without the current component
        proposed = _full_conditional(target, x, uniform(rng), _highest(target, x), now)
    mean, precision, height = load(other, 1), load(other, 2), load(other, 3)
    new_mean, new_precision = _of(target.means, proposed), _of(target.precisions, proposed)
    new_height = _of(target.heights, proposed)
    delta_U = _energy(x, new_mean, new_precision, new_height) - _energy(x, mean, precision, height)
    cost = delta_U - log_ratio
    if index == 0:
        cost = splat(0.0)  # the ratio of proposals cancels ΔU
    if index == 3:  # the ratio is (1 − P(now | x))/(1 − P(proposed | x)); Liu (1996)
        highest = _highest(target, x)
        cost = log(_total_mass(target, x, highest, proposed)) - log(_total_mass(target, x, highest, now))
    accepted = cost <= k
    store(other, 0, where(accepted, proposed, now))
    store(other, 1, where(accepted, new_mean, mean))
    store(other, 2, where(accepted, new_precision, precision))
    store(other, 3, where(accepted, new_height, height))
    store(grad, 0, (x - load(other, 1)) * load(other, 2))
    return where(accepted, delta_U, 0.0), where(accepted, cost, 0.0), accepted


@implements(update_where, GMM)
def _update_where(target, index, selected, point, backup):
    k = splat(0.0)  # enough for a draw from the full conditional: its cost is 0
    if index != 0:
        k = exponential(point.rng)
    k = where(selected.mask, k, math.nan)  # NaN: `cost <= k` is False, so the lane does not change
    delta_U, _, accepted = visit(target, index, 0, point, k)
    return delta_U, accepted


@implements(step_scale, GMM)
def _step_scale(target, other):
    return splat(1.0)


SMALL = 16  # with at most 16 components, checks count all transitions between components
PAPER = {"weights": (0.15, 0.3, 0.3, 0.25), "means": (-2.0, 0.0, 2.0, 4.0), "sds": (math.sqrt(0.1),) * 4}
MOST_COMPONENTS = 64
UPDATES = ("gibbs", "metropolis", "neighbour", "modified-gibbs")
PARAMETERS = (
    Parameter(
        "weights", "w", "Weights", "The probability of each component. The weights sum to one.", kind="floats",
        low=0.0, high=1.0, low_open=True, default=PAPER["weights"],
    ),
    Parameter(
        "means", "μ", "Means", "The mean of each component.", kind="floats", low=-1e6, high=1e6,
        default=PAPER["means"],
    ),
    Parameter(
        "sds", "σ", "Standard deviations",
        "The standard deviation of each component. The leapfrog is stable below twice the smallest.",
        kind="floats", low=1e-9, high=1e6, default=PAPER["sds"],
    ),
)  # fmt: skip


def gmm(
    weights: Sequence[float] = PAPER["weights"],
    means: Sequence[float] = PAPER["means"],
    sds: Sequence[float] = PAPER["sds"],
) -> Target:
    """A Gaussian mixture in one dimension; by default the paper's four well separated components.

    Parameters
    ----------
    weights
        The probability of each component.
    means
        The mean of each component.
    sds
        The standard deviation of each component.

    Returns
    -------
    Target
        The target.

    Raises
    ------
    InvalidInput
        If a value is not allowed, or the three lists differ in length.

    Examples
    --------
    >>> mahmc.targets.gmm(weights=(0.5, 0.5), means=(-1.0, 1.0), sds=(0.3, 0.3)).names
    ('q', 'component')
    """
    weights, means, sds = (p.check(v) for p, v in zip(PARAMETERS, (weights, means, sds), strict=True))
    if not len(weights) == len(means) == len(sds):
        raise InvalidInput(
            f"weights, means and sds have {len(weights)}, {len(means)} and {len(sds)} entries: give one entry of each "
            "for each component."
        )
    if not 1 <= len(weights) <= MOST_COMPONENTS:
        raise InvalidInput(f"weights has {len(weights)} entries: a mixture has 1 to {MOST_COMPONENTS} components.")
    if abs(sum(weights) - 1.0) > 1e-6:
        raise InvalidInput(
            f"weights = {weights} sum to {all_digits(round(sum(weights), 12))}, not to one: divide each by their sum."
        )
    w, m, s = (np.array(values) for values in (weights, means, sds))
    heights = np.array([rounding.log(sd) - rounding.log(weight) for sd, weight in zip(sds, weights, strict=True)])
    data = GMM(m, 1.0 / s**2, heights)
    shares = w / w.sum()

    def exact(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        component = rng.choice(w.size, size=n, p=shares)
        return {"q": m[component] + s[component] * rng.standard_normal(n), "component": component.astype(np.int8)}

    def start(rng: np.random.Generator) -> dict[str, Any]:
        component = rng.integers(w.size)
        return {"q": m[component] + s[component] * rng.standard_normal(), "component": component}

    def pack(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        k = np.asarray(draws["component"], int)
        rows = [np.asarray(k, float), data.means[k], data.precisions[k], data.heights[k]]
        return np.asarray(draws["q"], float)[:, None], np.column_stack(rows)

    density = Density(
        data=data,
        quantities=(
            Quantity("q", "q", 0, 1),
            Quantity("component", "other", 0, 1, discrete=True, values=tuple(range(w.size))),
        ),
        dim=1,
        n_other=4,
        start=start,
        pack=pack,
        updates=UPDATES,
        default_update="metropolis",
        sites=1,
        site_updates=UPDATES[::-1],
        cost_in_leapfrogs={"gibbs": 7, "metropolis": 3, "neighbour": 3, "modified-gibbs": 12},
        stable_epsilon=2.0 * min(sds),
    )
    small = (lambda: gmm(weights, means, sds)) if len(weights) <= SMALL else None
    presentation = Presentation(
        FAMILY.title,
        FAMILY.about,
        main_quantity="q",
        label=f"GMM, {w.size} component{'s' if w.size > 1 else ''}",
        views=Views("component", "weights of the components", ("q", "energy"), colour="component"),
        compared={
            "q": Derived(lambda draws: draws["q"], ("q",)),
            "q²": Derived(lambda draws: draws["q"] ** 2, ("q",)),
            **{f"component = {k}": Derived(partial(_is_component, k), ("component",)) for k in range(w.size)},
        },
        budget=480_000,
        full_budget=16 * 100_000 * 15,
    )
    settings = {"weights": weights, "means": means, "sds": sds}
    return Target("gmm", settings, density, KnownTruth(exact, lambda: _truths(shares, m, s), small=small), presentation)


def _is_component(k: int, draws: Draws) -> np.ndarray:
    hits: np.ndarray = draws["component"] == k
    return hits.astype(float)


def _truths(w: np.ndarray, m: np.ndarray, s: np.ndarray) -> dict[str, Truth]:
    from scipy import stats

    mean = float(w @ m)
    sd = float(np.sqrt(w @ (s**2 + m**2) - mean**2))
    q = Truth(
        mean,
        sd,
        lambda x: stats.norm.pdf(np.asarray(x)[..., None], m, s) @ w,
        (float((m - 4 * s).min()), float((m + 4 * s).max())),
        cdf=lambda x: stats.norm.cdf(np.asarray(x)[..., None], m, s) @ w,
    )
    return {"q": q, "component": mass_truth(w)}


FAMILY = TargetFamily(
    "gmm",
    "GMM: Gaussian mixture model",
    "A Gaussian mixture in one dimension, with the component as a discrete variable. Gradients alone do not lead from "
    "mode to mode. The paper's third example.",
    PARAMETERS,
    gmm,
    panel=Panel(
        "Gaussian mixture model with its component",
        r"\begin{aligned} & \text{component} \sim \mathrm{Categorical}(w_1, \ldots, w_K) \\ "
        r"& q \mid \text{component } k \sim N(\mu_k, \sigma_k^2) \end{aligned}",
        "Gradients do not lead from mode to mode. Metropolis updates of the component inside the trajectory do. They "
        "are often rejected, so this example also checks that ΔE is right.",
        "Sec. 4.3",
    ),
)
