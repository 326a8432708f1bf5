"""Schedules as kernels read them: pairs {D, D⁻¹} laid side by side, a law of single steps, or a timetable of visits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mahmc.kernels import Plan, Timetable
from mahmc.kernels.plan import ALL_LANES, Law, most_rows, side_by_side
from mahmc.lanes import LANES
from mahmc.schedules.steps import Steps
from mahmc.targets import Target

NO_LAW = Law(0, 0.0, np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))  # for schedules that draw no steps


def plan_of_one(runs: np.ndarray) -> Plan:
    """The plan of one palindrome, which every iteration follows, from its runs: rows of (op, count)."""
    rows = np.column_stack([runs, np.full(len(runs), ALL_LANES)]).astype(np.int32)
    return plan_of_pairs([1.0], [rows], [1.0], [0.0])


def plan_of_pairs(
    probabilities: Sequence[float], rows: Sequence[np.ndarray], forward: Sequence[float], log_ratio: Sequence[float]
) -> Plan:
    """The plan of pairs {D, D⁻¹}, each with its probability, its rows (see `rows_of`) and the numbers of `Plan`."""
    return _plan(cumulative(probabilities), rows, forward, log_ratio, NO_LAW)


def plan_of_law(law: Law) -> Plan:
    """The plan of steps that are drawn one by one."""
    return _plan(np.zeros(0), [], [], [], law)


def timetable(T: float, drawn: bool, op: int, visits: int, sites: int) -> Timetable:
    """The timetable of visits to `sites` variables in a trajectory of travel time T; `op` is the proposal's number."""
    shares, gaps, order = np.zeros(sites), np.zeros(visits + 1), np.zeros((sites, LANES))
    return Timetable(T, drawn, op, shares, gaps, order, order.copy())


def rows_of(D: Steps, target: Target, updates: Sequence[str]) -> np.ndarray:
    """The rows (op, count, lane_group) of D and D⁻¹ side by side; `updates` names the kinds 1, 2, … of D."""
    steps, ops = np.array(D), np.array([0, *map(target.density.number, updates)])
    places = np.flatnonzero(steps)  # of updates
    parts = np.zeros((places.size + 1, 2), np.int64)  # leapfrogs, and the update after them
    parts[:, 0] = np.diff(places, prepend=-1, append=steps.size) - 1
    parts[:-1, 1] = ops[steps[places]]
    rows = np.empty((most_rows(len(D)), 3), np.int32)
    n, _ = side_by_side(parts, places.size, target.density.costs_by_number, rows)
    return rows[:n].copy()


def cumulative(probabilities: Sequence[float]) -> np.ndarray:
    """The probabilities of the first, of the first two, …, divided by their sum; the last is exactly 1."""
    ends = np.cumsum(probabilities) / math.fsum(probabilities)
    ends[-1] = 1.0
    return ends


def _plan(
    probabilities: np.ndarray, rows: Sequence[np.ndarray], forward: Sequence[float], log_ratio: Sequence[float],
    law: Law,
) -> Plan:  # fmt: skip
    sizes = np.array([len(pair) for pair in rows], np.int64)
    ends = np.cumsum(sizes)
    return Plan(
        probabilities, np.concatenate([np.zeros((0, 3), np.int32), *rows]), ends - sizes, ends,
        np.array(forward, float), np.array(log_ratio, float), law,
        D=np.zeros((0, 2), np.int64), random=np.zeros((0, LANES)),
    )  # fmt: skip
