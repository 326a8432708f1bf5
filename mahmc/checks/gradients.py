"""Gradient: ∇U must be the derivative of U in every coordinate, and a sampler must carry the gradient of its state.

A leapfrog with a wrong gradient is still reversible, and the acceptance test still uses U. So chains keep the right
distribution and only become slow. No comparison of distributions can see such a mistake, but finite differences can. A
gradient that is stale after an update of q^O does change the distribution, sometimes by very little. So the gradient
and the energy that a sampler carries are compared with those of its state: after some iterations, after each of many
updates of q^O, and after a visit to each discrete variable.

This check estimates nothing: a difference counts if rounding does not explain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mahmc.checks.subjects import EngineSubject, number_of
from mahmc.checks.verdicts import LEVEL, ComparedStatistic, Finding, Verdict, Workbench
from mahmc.compiled import kernel
from mahmc.kernels import State, energies, new_state
from mahmc.kernels.moves import point_of
from mahmc.lanes import LANES, load, splat, store
from mahmc.run import Run
from mahmc.spec import RunSpec
from mahmc.streams import Seeds
from mahmc.targets import Target
from mahmc.targets.base import update, visit

CHECK = "gradient"
CHAINS = 2 * LANES
ITERATIONS = 10
STEP = 1e-4  # of finite differences
ROUNDING = 1e-6  # relative: the rounding error of values that are carried from update to update
MOST_COORDINATES = 4096
FEWEST_UPDATES, UPDATES_A_SITE = 32, 6  # of q^O; after each update the gradient is compared
ALWAYS = 1e300  # a kinetic energy that pays for every change


class Off(NamedTuple):
    """A wrong number and its right value."""

    what: str
    found: float
    right: float


def check_gradient(
    subject: EngineSubject, *, level: float = LEVEL, seed: int = 0, workbench: Workbench | None = None
) -> Finding:
    """Whether ∇U is the derivative of U, and whether the sampler carries the gradient and the energy of its state."""
    target = subject.target
    about = {"chains": CHAINS, "draws": ITERATIONS, "warmup": 0, "seed": number_of((seed, 10))}
    start = "exact" if target.truth.exact is not None else "default"
    spec = RunSpec.of(target, subject.sampler, **about, start=start, **subject.chosen)
    run = (workbench or Workbench()).advance(Run(spec, target))
    off = [o for s in run.states for o in (*_carried(target, s, "after some iterations"), *_differences(target, s))]
    off += _after_updates(target, run.states[0])
    names = coordinates(target)
    seen = min(len(names), MOST_COORDINATES)
    unseen = f"{len(names) - seen} coordinates" if seen < len(names) else ""
    if off:
        worst = off[0]
        said = f"{worst.what} is {worst.found:.8g}, but should be {worst.right:.8g}. {len(off)} such numbers are wrong."
        comparisons = tuple(ComparedStatistic(o.what, 0.0, o.found, o.right) for o in off)
        return Finding(CHECK, Verdict.WRONG, 0.0, level, "", "", 1, CHAINS, comparisons, said=said)
    said = (
        f"at {CHAINS} points, finite differences of U confirm the gradient in {'all ' if not unseen else ''}{seen} "
        "coordinates. After some iterations and after updates of qᴼ, the gradient and the energy that the sampler "
        "carries are those of its state." + (f" Not compared: {unseen}." if unseen else "")
    )
    right = (ComparedStatistic("gradient and energy", 1.0),)
    return Finding(CHECK, Verdict.RIGHT, 1.0, level, "", "", 1, CHAINS, right, unseen=unseen, said=said)


def coordinates(target: Target) -> list[str]:
    """The names of the rows of q^H."""
    names = [""] * target.density.dim
    for quantity in target.density.quantities:
        if quantity.source == "q":
            for i in range(quantity.size):
                names[quantity.first + i] = f"{quantity.name}[{i}]" if quantity.vector else quantity.name
    return names


@kernel
def _update(target, state, number):
    """Make an update of q^O."""
    delta_U, _ = update(target, number, point_of(state))
    store(state.U, 0, load(state.U, 0) + delta_U)


@kernel
def _visit(target, state, number, site):
    """Change one discrete variable, whatever it costs."""
    delta_U, _, _ = visit(target, number, splat(site), point_of(state), splat(ALWAYS))
    store(state.U, 0, load(state.U, 0) + delta_U)


def _after_updates(target: Target, state: State) -> list[Off]:
    """Where updates of q^O, or visits to discrete variables, leave a wrong gradient or energy."""
    found: list[Off] = []
    times = max(FEWEST_UPDATES, UPDATES_A_SITE * sum(q.size for q in target.density.quantities if q.source == "other"))
    for number, name in enumerate(target.density.updates):
        for _ in range(times):
            _update(target.density.data, state, number)
            if off := list(_carried(target, state, f"after the update {name}")):
                found += off
                break
    for name in target.density.site_updates:
        for site in range(target.density.sites):
            _visit(target.density.data, state, target.density.updates.index(name), float(site))
            found += _carried(target, state, f"after a visit to variable {site}")
    return found


def _carried(target: Target, state: State, when: str) -> Iterator[Off]:
    """Where the carried gradient or energy differs from that of the state."""
    fresh = new_state(target, state.q.T, state.other.T, Seeds(0), 0)
    rows = [(f"the gradient of {name} {when}", state.grad[i], fresh.grad[i])
            for i, name in enumerate(coordinates(target))]  # fmt: skip
    for what, carried, right in (*rows, (f"the energy {when}", state.U[0], fresh.U[0])):
        bad = np.abs(carried - right) > ROUNDING * (1.0 + np.abs(carried) + np.abs(right))
        if (bad & np.isfinite(right)).any():
            lane = int(np.flatnonzero(bad)[0])
            yield Off(what, float(carried[lane]), float(right[lane]))


def _differences(target: Target, state: State) -> Iterator[Off]:
    """Where ∇U is not the derivative of U, coordinate by coordinate, by central differences of two widths."""
    q, other = state.q.T.copy(), state.other.T.copy()
    fresh = new_state(target, q, other, Seeds(0), 0)
    U = fresh.U[0]
    for j, name in enumerate(coordinates(target)[:MOST_COORDINATES]):
        h = STEP * np.maximum(1.0, np.abs(q[:, j]))
        slopes = []
        for width in (h, 2.0 * h):
            ends = []
            for sign in (1.0, -1.0):
                shifted = q.copy()
                shifted[:, j] += sign * width
                ends.append(energies(target, shifted, other))
            slopes.append((ends[0] - ends[1]) / (2.0 * width))
        with np.errstate(invalid="ignore", over="ignore"):
            doubt = 100 * np.finfo(float).eps * np.abs(U) / h + np.abs(slopes[0] - slopes[1]) + 1e-8
            bad = np.abs(fresh.grad[j] - slopes[0]) > doubt + 1e-5 * (np.abs(fresh.grad[j]) + np.abs(slopes[0]))
        bad &= np.isfinite(slopes[0]) & np.isfinite(fresh.grad[j])
        if bad.any():
            lane = int(np.flatnonzero(bad)[0])
            yield Off(f"the gradient of {name}", float(fresh.grad[j, lane]), float(slopes[0][lane]))
