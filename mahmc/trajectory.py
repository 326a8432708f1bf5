"""`mahmc.trajectory`: one iteration of one chain of a spec, step by step, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.recorder import Place, Trajectory, walk
from mahmc.run.blocks import Rows, Setup, packed, refuse_beyond
from mahmc.run.checkpoints import block_before
from mahmc.spec import RunSpec
from mahmc.targets import Target


def trajectory(
    spec: RunSpec,
    iteration: int = 0,
    chain: int = 0,
    start: Mapping[str, Any] | None = None,
    momentum: Sequence[float] | np.ndarray | None = None,
    *,
    target: Target | None = None,
) -> Trajectory:
    """One iteration of one chain as arrays: the state, the energies and the decision at every step.

    The iteration is the one that a run of this spec makes, bit for bit: the iterations before are made first. With a
    start or a momentum the iteration begins elsewhere, and its random numbers are still those of the run.

    Parameters
    ----------
    spec
        The settings of the run.
    iteration
        The number of the iteration, from 0. Iterations of the warm-up are counted.
    chain
        The number of the chain, from 0.
    start
        The state from which the iteration begins: a value for each quantity of the target.
    momentum
        The momentum after the first refreshment, with an element for each row of q.
    target
        The target, if it is already built, for example on your own data.

    Returns
    -------
    Trajectory
        The steps of the iteration.

    Raises
    ------
    InvalidInput
        If there is no such iteration or chain, if the start or the momentum cannot be used, or if the iteration has
        more than 10,000 steps.

    Examples
    --------
    >>> spec = mahmc.RunSpec.of("mdc", "mahmc", L=5, n_u=3)
    >>> found = mahmc.trajectory(spec, start={"u": 0.0, "v": 0.0, "w": [0] * 20}, momentum=[1.0, -1.0])
    >>> found.p[0].tolist()
    [1.0, -1.0]
    """
    setup = Setup.of(spec, target or spec.build_target())
    iteration = refuse_beyond("iteration", iteration, setup.iterations)
    chain = refuse_beyond("chain", chain, spec.chains)
    place = Place(iteration, chain, _start(setup.target, start), _momentum(setup.target, momentum))
    block = block_before(setup, chain // LANES, iteration, None)
    return walk(spec, setup.target, block.state, block.plan, place)


def _start(target: Target, start: Mapping[str, Any] | None) -> Rows | None:
    """The start as rows of q and other."""
    if start is None:
        return None
    try:
        values = {name: np.asarray(value, float)[None] for name, value in start.items()}
    except (TypeError, ValueError):
        raise InvalidInput("start must have numbers for each quantity, not text or ragged lists.") from None
    q, other = packed(target, values, 1, "start")
    return q[0], other[0]


def _momentum(target: Target, momentum: Sequence[float] | np.ndarray | None) -> np.ndarray | None:
    if momentum is None:
        return None
    dim = target.density.dim
    try:
        p = np.asarray(momentum, float)
    except (TypeError, ValueError):
        raise InvalidInput("momentum must be numbers, not text or ragged lists.") from None
    if p.shape != (dim,):
        raise InvalidInput(f"momentum has the shape {p.shape}; {(dim,)} is needed: a number for each row of q.")
    if not np.isfinite(p).all():
        raise InvalidInput(f"momentum = {p.tolist()} is not finite: give finite numbers.")
    return p
