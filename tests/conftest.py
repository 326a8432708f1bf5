"""Shared by all tests."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from mahmc import Run, RunSpec, examples, targets
from mahmc.targets import Target

# Small, overlapping, with a step size that is often rejected: where a mistake shows at once.
HARD = {
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


def hard_case(target: str, sampler: str) -> tuple[Target, dict[str, float]]:
    """A target on which mistakes show, and parameters for that sampler."""
    from mahmc.samplers import SAMPLERS

    build, values = HARD[target]
    known = EXTRA | values
    return build(), {name: known[name] for name in SAMPLERS[sampler].parameters}


def pairs(samplers: Iterable[str]) -> list[tuple[str, str]]:
    """Every target with every one of these samplers that can sample it, by name."""
    from mahmc.samplers import SAMPLERS

    built = {name: targets.build(name) for name in HARD}
    return [(target, sampler) for target in built for sampler in samplers if SAMPLERS[sampler].takes(built[target])]


def stopped_often(spec: RunSpec) -> Run:
    """A whole run of it, stopped in the midst of iterations and continued, at least once."""
    run, stops = Run(spec), 0
    while not run.finished:
        run._chunk = 10_000
        chunks = iter(run)
        timer = threading.Timer(0.002 * (1 + stops), run.stop)  # ever later, so that it ends on any machine
        timer.start()
        for _ in chunks:
            pass
        timer.cancel()
        timer.join()
        stops += not run.finished
    assert stops > 0
    return run


@pytest.fixture(params=["mdc", "blr", "gmm"])  # of the examples see test_examples.py
def any_target(request: pytest.FixtureRequest) -> Target:
    """Each target in turn, as the paper has it."""
    return targets.build(request.param)
