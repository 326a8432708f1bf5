"""Visits to single discrete variables: a visit and an update are made from a proposal that a person writes.

A proposal returns a value for variable `site`. It may also return ΔU, and log Q(new | old) − log Q(old | new) if this
ratio is not zero. The cost for M-HMC, the test, and the gradient after the visit follow from the proposal: see
`mahmc.targets.base.visit`. The update visits one variable, chosen at random.
"""

from __future__ import annotations

from collections.abc import Mapping

from numba.core import types
from numba.extending import overload

from mahmc.compiled import INLINED, Function, inlined
from mahmc.custom.tools import U, grad_U
from mahmc.lanes import floor, rows, splat, where
from mahmc.streams import exponential, uniform
from mahmc.targets.base import Point


def _proposal(result, target, site, q, other):
    """(value, ΔU, log ratio) from the result of the proposal: a value, two values, or three."""
    raise NotImplementedError("compiled code only")


@overload(_proposal, jit_options=INLINED, strict=False)
def _choose_proposal(result, target, site, q, other):
    if not isinstance(result, types.BaseTuple):
        return _with_difference
    if len(result) == 2:
        return lambda result, target, site, q, other: (splat(result[0]), splat(result[1]), splat(0.0))
    return lambda result, target, site, q, other: (splat(result[0]), splat(result[1]), splat(result[2]))


def _with_difference(result, target, site, q, other):
    """Compute ΔU by two evaluations of U. The caller writes the accepted value afterwards."""
    before = splat(U(target, q, other))
    other[site] = splat(result)
    return splat(result), splat(U(target, q, other)) - before, splat(0.0)


def visited_by(propose: Function) -> Function:
    """Make a visit of one variable from a proposal; it returns (ΔU, cost, accepted) for each lane."""

    @inlined
    def visited(target, site, point, k):
        q, other, grad, rng = point
        old = other[site]
        proposed, delta_U, log_ratio = _proposal(propose(target, site, q, other, rng), target, site, q, other)
        cost = delta_U + log_ratio
        accepted = cost <= k
        other[site] = where(accepted, proposed, old)
        grad_U(target, q, other, grad)
        return where(accepted, delta_U, 0.0), where(accepted, cost, 0.0), accepted

    return visited


def as_update(visited: Function) -> Function:
    """Make an update of q^O: visit one variable, chosen at random, with k ~ Exponential(1), which is the usual test."""

    def one_site(target, q, other, grad, rng):
        site = floor(uniform(rng) * len(other))
        delta_U, _, accepted = visited(target, site, Point(q, other, grad, rng), exponential(rng))
        return delta_U, accepted

    return one_site


def any_visit(by_number: Mapping[int, Function]) -> Function:
    """Make one compiled function from several visits; it calls the visit with the update number `index`."""
    (number, visited), *more = by_number.items()

    def only(target, index, site, point, k):
        return visited(target, site, Point(rows(point.q), rows(point.other), rows(point.grad), point.rng), k)

    if not more:
        return only
    first, rest = inlined(only), inlined(any_visit(dict(more)))

    def chosen(target, index, site, point, k):
        if index == number:
            return first(target, index, site, point, k)
        return rest(target, index, site, point, k)

    return chosen
