"""GMM: a Gaussian mixture on the line with its component as a variable (Sec. 4.3).

    component ~ Categorical(weights),   q | component ~ N(mean, sd²) of that component

q^H = q, q^O = component:   U = (q − mean)²/(2 sd²) + log sd − log weight
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mahmc.compiled import implements, inlined
from mahmc.lanes import exp, floor, load, log, maximum, splat, store, where
from mahmc.parameters import InvalidInput, Parameter
from mahmc.streams import exponential, uniform
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


class GMM(NamedTuple):
    """Data of the compiled half, by component; `height` is log sd − log weight.

    `other` has four rows: the component, and its mean, precision and height, so that no lane has to look them up.
    """

    means: np.ndarray
    precisions: np.ndarray
    heights: np.ndarray


@inlined
def _energy(x, mean, precision, height):
    return 0.5 * (x - mean) * (x - mean) * precision + height


@inlined
def _of(values, component):
    """values[component], by lane."""
    chosen = splat(values[0])
    for k in range(1, values.size):
        chosen = where(component == k, values[k], chosen)
    return chosen


@inlined
def _highest(target, x):
    """The largest of −U(x, k), from which exponents are taken."""
    highest = -_energy(x, target.means[0], target.precisions[0], target.heights[0])
    for k in range(1, target.means.size):
        highest = maximum(highest, -_energy(x, target.means[k], target.precisions[k], target.heights[k]))
    return highest


@inlined
def _mass(target, x, k, highest, but):
    """exp(−U(x, k)) in units of the largest; none of component `but`."""
    mass = exp(-_energy(x, target.means[k], target.precisions[k], target.heights[k]) - highest)
    return where(but == k, 0.0, mass)


@inlined
def _total_mass(target, x, highest, but):
    total = splat(0.0)
    for k in range(target.means.size):
        total += _mass(target, x, k, highest, but)
    return total


@inlined
def _full_conditional(target, x, u, highest, but):
    """A component by inversion of P(k | x) ∝ exp(−U(x, k)), k ≠ but, with u uniform."""
    level = u * _total_mass(target, x, highest, but)
    component = passed = splat(0.0)
    for k in range(target.means.size - 1):
        passed += _mass(target, x, k, highest, but)
        component += where(level >= passed, 1.0, 0.0)
    return component


@inlined
def _neighbours(component, n):
    """How many components lie beside it."""
    return where((component == 0.0) | (component == n - 1.0), 1.0, 2.0)


@implements(potential, GMM)
def _potential(target, q, other, grad, scratch):
    away = load(q, 0) - load(other, 1)
    pull = away * load(other, 2)
    store(grad, 0, pull)
    return 0.5 * away * pull + load(other, 3)


@implements(visit, GMM)
def _visit(target, which, site, q, other, grad, rng, k):
    x, now = load(q, 0), load(other, 0)
    n, nothing = target.means.size, splat(-1.0)
    log_ratio = splat(0.0)  # log Q(now | proposed) − log Q(proposed | now)
    if which == 0:  # from its full conditional
        proposed = _full_conditional(target, x, uniform(rng), _highest(target, x), nothing)
    elif which == 1:  # another component, each with the same probability
        proposed = now + 1.0 + floor(uniform(rng) * (n - 1))
        proposed = where(proposed < n, proposed, proposed - n)
    elif which == 2:  # a component beside it; at either end there is only one
        proposed = now + where(uniform(rng) < 0.5, 1.0, -1.0)
        proposed = where(now == 0.0, min(1.0, n - 1.0), where(now == n - 1.0, n - 2.0, proposed))
        log_ratio = log(_neighbours(now, n)) - log(_neighbours(proposed, n))
    else:  # another component by its full conditional
        proposed = _full_conditional(target, x, uniform(rng), _highest(target, x), now)
    mean, precision, height = load(other, 1), load(other, 2), load(other, 3)
    new_mean, new_precision = _of(target.means, proposed), _of(target.precisions, proposed)
    new_height = _of(target.heights, proposed)
    delta_U = _energy(x, new_mean, new_precision, new_height) - _energy(x, mean, precision, height)
    cost = delta_U - log_ratio
    if which == 0:
        cost = splat(0.0)  # P(now | x)/P(proposed | x) is the ratio of energies itself
    if which == 3:  # what is left is (1 − P(now | x))/(1 − P(proposed | x)), of Liu (1996)
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
def _update_where(target, which, theirs, some, q, other, grad, rng, aside):
    k = splat(0.0)  # which a draw from the full conditional needs none of
    if which != 0:
        k = exponential(rng)
    k = where(theirs, k, math.nan)  # which pays for nothing
    delta_U, _, accepted = visit(target, which, 0, q, other, grad, rng, k)
    return delta_U, accepted


@implements(step_scale, GMM)
def _step_scale(target, other):
    return splat(1.0)


SMALL = 16  # components at most, whose flows are looked at one by one
PAPER = {"weights": (0.15, 0.3, 0.3, 0.25), "means": (-2.0, 0.0, 2.0, 4.0), "sds": (math.sqrt(0.1),) * 4}
MOST_COMPONENTS = 64
UPDATES = ("gibbs", "metropolis", "neighbour", "modified-gibbs")
PARAMETERS = (
    Parameter(
        "weights", "w", "Weights", "How probable each component is; they sum to one.", kind="floats",
        low=0.0, high=1.0, low_open=True, default=PAPER["weights"],
    ),
    Parameter(
        "means", "μ", "Means", "Where each component lies.", kind="floats", low=-1e6, high=1e6,
        default=PAPER["means"],
    ),
    Parameter(
        "sds", "σ", "Standard deviations", "How wide each component is; a stable step size is below twice the least.",
        kind="floats", low=1e-9, high=1e6, default=PAPER["sds"],
    ),
)  # fmt: skip


def gmm(
    weights: Sequence[float] = PAPER["weights"],
    means: Sequence[float] = PAPER["means"],
    sds: Sequence[float] = PAPER["sds"],
) -> Target:
    """A Gaussian mixture on the line; by default the paper's four well separated components."""
    weights, means, sds = (p.check(v) for p, v in zip(PARAMETERS, (weights, means, sds), strict=True))
    if not len(weights) == len(means) == len(sds):
        raise InvalidInput(
            f"weights, means and sds have {len(weights)}, {len(means)} and {len(sds)} entries: give each component one."
        )
    if not 1 <= len(weights) <= MOST_COMPONENTS:
        raise InvalidInput(f"weights has {len(weights)} entries: a mixture has 1 to {MOST_COMPONENTS} components.")
    if abs(sum(weights) - 1.0) > 1e-6:
        raise InvalidInput(f"weights = {weights} sum to {sum(weights):g}, not to one: divide each by their sum.")
    w, m, s = (np.array(values) for values in (weights, means, sds))
    data = GMM(m, 1.0 / s**2, np.log(s) - np.log(w))
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

    return Target(
        name="gmm",
        title=FAMILY.title,
        about=FAMILY.about,
        data=data,
        settings={"weights": weights, "means": means, "sds": sds},
        quantities=(
            Quantity("q", "q", 0, 1),
            Quantity("component", "other", 0, 1, discrete=True, values=tuple(range(w.size))),
        ),
        dim=1,
        n_other=4,
        n_scratch=1,
        updates=UPDATES,
        default_update="metropolis",
        sites=1,
        site_updates=UPDATES[::-1],
        paper_quantity="q",
        start=start,
        pack=pack,
        compared={
            "q": lambda draws: draws["q"],
            "q²": lambda draws: draws["q"] ** 2,
            **{f"component = {k}": partial(_is_component, k) for k in range(w.size)},
        },
        budget=480_000,
        full_budget=16 * 100_000 * 15,
        views=Views("component", "weights of the components", ("q", "energy"), colour="component"),
        exact=exact,
        small=(lambda: gmm(weights, means, sds)) if len(weights) <= SMALL else None,
        patience={"gibbs": 7, "metropolis": 3, "neighbour": 3, "modified-gibbs": 12},
        stable_epsilon=2.0 * min(sds),
        known=lambda: _truths(shares, m, s),
    )


def _is_component(k: int, draws: Draws) -> np.ndarray:
    return (draws["component"] == k).astype(float)


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
    "GMM: Gaussian mixture with its component",
    "A mixture on the line whose component is a variable: modes that a gradient alone does not cross.",
    PARAMETERS,
    gmm,
)
