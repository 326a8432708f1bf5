"""Targets and parameters on which mistakes show, and the pairs of target and sampler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mahmc import examples, targets
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Target

# Small, overlapping, with a step size that is often rejected: where a mistake shows at once.
HARD: dict[str, tuple[Callable[[], Target], dict[str, Any]]] = {
    "mdc": (lambda: targets.mdc(n_w=5, sd=0.3), {"epsilon": 0.37, "L": 2}),
    "blr": (lambda: targets.blr(prior_only=True), {"epsilon": 0.8, "L": 2}),
    "gmm": (
        lambda: targets.gmm(weights=[0.3, 0.4, 0.3], means=[-1, 0, 1.5], sds=[0.4, 1, 0.5]),
        {"epsilon": 0.75, "L": 1, "n_u": 2},
    ),
    "neals-funnel": (lambda: examples.NealsFunnel(dim=3, scale=1.0), {"epsilon": 0.9, "L": 2}),
    "ising": (lambda: examples.Ising(n=4, coupling=0.5, field=0.2, sd=0.8), {"epsilon": 1.1, "L": 1, "n_u": 3}),
    "spike-slab": (lambda: examples.SpikeSlab(d=3, n=8), {"epsilon": 0.45, "L": 2, "n_u": 3}),
}
EXTRA = {"n_u": 6, "alpha": 0.8, "delta": 0.02, "T": 2.0, "visits": 4}


def hard_case(target: str, sampler: str) -> tuple[Target, dict[str, Any]]:
    """A target on which mistakes show, and parameters for this sampler."""
    build, values = HARD[target]
    known = EXTRA | values
    return build(), {name: known[name] for name in EVERY_SAMPLER[sampler].parameters}


def pairs(samplers: Iterable[str]) -> list[tuple[str, str]]:
    """The names of every target with every one of these samplers that can sample it."""
    built = {name: targets.build(name) for name in HARD}
    return [
        (target, sampler) for target in built for sampler in samplers if EVERY_SAMPLER[sampler].takes(built[target])
    ]
