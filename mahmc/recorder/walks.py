"""One iteration of a block, step by step: the three kernels with a recording of one lane.

The moves are those of the kernels, one at a time (`mahmc.kernels.singly`). What is computed here has no rounding that
could differ: copies, sums of rows, and choices by lane. tests/test_recorder.py compares the end of each walk with the
next state of the kernel, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahmc.compiled import Function
from mahmc.kernels import Plan, State, Timetable, singly
from mahmc.kernels.plan import ALL_LANES, BACKWARD, FORWARD
from mahmc.kernels.state import evaluate, lane_rows
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.recorder.table import ACCEPTED, REJECTED, Table
from mahmc.recorder.trajectory import Trajectory
from mahmc.spec import RunSpec
from mahmc.targets import Target

Start = tuple[np.ndarray, np.ndarray]  # the rows of q and other


@dataclass(frozen=True)
class Place:
    """The iteration that is recorded, and the lane. A start or a momentum replaces that of the lane."""

    iteration: int
    chain: int
    start: Start | None = None
    momentum: np.ndarray | None = None

    @property
    def lane(self) -> int:
        return self.chain % LANES


def walk(spec: RunSpec, target: Target, state: State, plan: Plan | Timetable, place: Place) -> Trajectory:
    """Make the iteration on a block in the state before it, and record one lane. The state becomes the next state."""
    made = Walk(spec, target, state, place)
    if place.start is not None:
        made.move_to(place.start)
    if spec.method.tests_each_leapfrog:
        made.persistent()
    elif isinstance(plan, Timetable):
        made.mixed(plan)
    else:
        made.trajectory(plan)
    made.update_after()
    quantities, correction = target.density.quantities, spec.method.correction
    return Trajectory(spec, place.iteration, place.chain, quantities, correction, **made.table.columns())


@dataclass
class Walk:
    """A block that makes one iteration in steps."""

    spec: RunSpec
    target: Target
    state: State
    place: Place
    table: Table = field(init=False)
    U: np.ndarray = field(init=False)  # of all lanes, as are the next four
    E0: np.ndarray = field(init=False)
    delta_E: np.ndarray = field(init=False)
    log_ratio: np.ndarray = field(init=False)
    p: np.ndarray = field(init=False)  # the momentum after the last half kick
    starts: int = 0  # the number of momenta that were drawn

    def __post_init__(self) -> None:
        self.data, self.lane = self.target.density.data, self.place.lane
        self.table = Table(self.target, self.state, self.lane)
        self.p = np.empty_like(self.state.p)
        self.rows = lane_rows(3)

    # ------------------------------------------------------------------------------------------------ the kernels

    def trajectory(self, plan: Plan) -> None:
        """`mahmc.kernels.trajectory`, line by line."""
        epsilon, state = self.spec.values["epsilon"], self.state
        before = self._remembered()
        self._start(0.0)
        begin, end, share, forward_log_ratio = singly.next_pair(plan, state.block_rng, self.place.iteration)
        state.sizes[ALL_LANES] = epsilon
        if share < 1.0:
            forward = self._uniform() < share
            state.sizes[FORWARD], state.sizes[BACKWARD] = (
                np.where(forward, epsilon, 0.0),
                np.where(forward, 0.0, epsilon),
            )
            self.log_ratio = np.where(forward, forward_log_ratio, -forward_log_ratio)
        self._add("start", self.p)
        for op, count, lane_group in plan.rows[begin:end].tolist():
            moves = bool(state.sizes[lane_group, self.lane] > 0.0)
            if op == 0:
                self._leapfrogs(np.tile(state.sizes[lane_group], (count, 1)), count if moves else 0)
            else:
                self._update(op, lane_group, moves)
        self._finish(before)

    def mixed(self, timetable: Timetable) -> None:
        """`mahmc.kernels.mixed`, line by line."""
        state, epsilon = self.state, self.spec.values["epsilon"]
        gaps, order, k = timetable.gaps, timetable.order, timetable.k
        visits, variables = gaps.size - 1, len(order)
        before = self._remembered()
        self._start(0.0)
        singly.next_gaps(timetable, state.block_rng)
        singly.next_order(order, state.rng)
        forward = np.ones(LANES, bool)
        if timetable.drawn:
            forward = self._uniform() < 0.5
        self._add("start", self.p)
        persistent = self.spec.method.persistent
        if persistent:
            for i in range(variables):
                singly.next_exponential(state.rng, k[i : i + 1])
        for j in range(visits + 1):
            here, there = gaps[j], gaps[visits - j]
            n_here, n_there = (singly.leapfrogs_in(gap, epsilon) for gap in (here, there))
            sizes = np.zeros((max(n_here, n_there), LANES))
            sizes[:n_here, forward], sizes[:n_there, ~forward] = here / n_here, there / n_there
            self._leapfrogs(sizes, n_here if forward[self.lane] else n_there)
            if j < visits:
                i = j % variables
                if not persistent:
                    singly.next_exponential(state.rng, k[i : i + 1])
                self._visit(timetable.op, order[i], k[i])
        self._finish(before)

    def persistent(self) -> None:
        """`mahmc.kernels.persistent`, line by line."""
        state, values = self.state, self.spec.values
        for _ in range(values["L"]):
            self._start(values.get("alpha", 0.0))
            before = self._remembered()
            self._add("start", self.p)
            self._leapfrogs(np.full((1, LANES), values["epsilon"]), 1)
            log_odds = self.E0 - (self.U + self._kinetic(state.p))
            nonreversible = "delta" in values
            ratio = self._exponential_of(log_odds)
            u = np.abs(state.v[0]) if nonreversible else self._uniform()
            accepted = (u < ratio) & np.isfinite(log_odds)
            if nonreversible:
                singly.move_slice(state.v, ratio[None], accepted[None].astype(float), values["delta"])
            tested, U, turned = self.table.now(), self.U, -before[1]
            self._restore(accepted, before)
            state.p[:] = np.where(accepted, state.p, turned)
            self._tested(accepted, tested, U, {"log_odds": log_odds, "uniform": u, "probability": ratio})

    def update_after(self) -> None:
        """The update of q^O after the trajectory, if there is one."""
        op = self.target.density.number(self.spec.outer)
        if op > 0:
            singly.update_all(self.data, self.state, op, self.rows)
            delta_U, accepted = self.rows[0].copy(), self.rows[1] > 0.5
            self.state.U[0] += delta_U
            self.U = self.state.U[0].copy()
            self.delta_E = self.delta_E + delta_U
            self._add("outer", self.state.p, **self._decided(op, bool(accepted[self.lane])))

    def move_to(self, start: Start) -> None:
        """Put the lane where the recording is to start."""
        self.state.q[:, self.lane], self.state.other[:, self.lane] = start
        evaluate(self.data, self.state)
        if not np.isfinite(self.state.U[0, self.lane]):
            raise InvalidInput(f"start: U is {self.state.U[0, self.lane]} there. Choose a state where U is finite.")

    # --------------------------------------------------------------------------------------------------- the moves

    def _remembered(self) -> tuple[np.ndarray, ...]:
        state = self.state
        return tuple(array.copy() for array in (state.q, state.p, state.grad, state.other, state.U))

    def _restore(self, accepted: np.ndarray, before: tuple[np.ndarray, ...]) -> None:
        q, _, grad, other, U = before
        state = self.state
        for now, then in ((state.q, q), (state.grad, grad), (state.other, other)):
            now[:] = np.where(accepted, now, then)
        self.U = np.where(accepted, self.U, U[0])
        state.U[0] = self.U

    def _start(self, alpha: float) -> None:
        """Draw a momentum; the energy account begins."""
        state = self.state
        singly.refresh_momentum(state.rng, state.p, alpha)
        if self.starts == 0 and self.place.momentum is not None:
            state.p[:, self.lane] = self.place.momentum
        self.starts += 1
        self.p[:] = state.p
        self.U = state.U[0].copy()
        self.E0 = self.U + self._kinetic(state.p)
        self.delta_E, self.log_ratio = np.zeros(LANES), np.zeros(LANES)

    def _leapfrogs(self, sizes: np.ndarray, recorded: int) -> None:
        """Leapfrogs of these sizes, (leapfrogs, lanes); the first `recorded` of them are steps of the lane."""
        last = np.zeros(LANES)
        for j, size in enumerate(sizes):
            singly.leapfrog(self.data, self.state, np.stack([last, size]), self.p, self.rows)
            last, self.U = size, self.rows[0].copy()
            if j < recorded:
                self._add("leapfrog", self.p, epsilon=self.rows[1, self.lane])
        self.state.p[:] = self.p

    def _update(self, op: int, lane_group: int, moves: bool) -> None:
        singly.update_in_group(self.data, self.state, op, lane_group, self.rows)
        accepted = bool(self.rows[1, self.lane] > 0.5)
        self._pay(self.rows[0])
        if moves:
            self._add("update", self.p, **self._decided(op, accepted))

    def _visit(self, op: int, site: np.ndarray, k: np.ndarray) -> None:
        state, before = self.state, self._remembered()
        rng, had = state.rng.copy(), k[self.lane]
        singly.visit_site(self.data, state, op, np.stack([site, np.full(LANES, np.inf)]), self.rows)
        cost, proposal = self.rows[1, self.lane], self.table.now()  # any proposal is accepted for k = ∞
        for now, then in ((state.grad, before[2]), (state.other, before[3]), (state.rng, rng)):
            now[:] = then
        singly.visit_site(self.data, state, op, np.stack([site, k]), self.rows)
        k -= self.rows[1]
        self._pay(self.rows[0])
        found = self._decided(op, bool(self.rows[2, self.lane] > 0.5))
        self._add(
            "visit", self.p, **found | {"proposal": proposal, "site": int(site[self.lane]), "cost": cost, "k": had}
        )

    def _pay(self, delta_U: np.ndarray) -> None:
        """Enter the change of U by an update into the account: Algo. 3, line 9."""
        self.U = self.U + delta_U
        self.delta_E = self.delta_E + delta_U

    def _finish(self, before: tuple[np.ndarray, ...]) -> None:
        """The test of Algo. 3, line 11."""
        E = self.U + self._kinetic(self.state.p)
        log_odds = self._log_odds(E)
        u, ratio = self._uniform(), self._exponential_of(log_odds)
        accepted = (u < ratio) & np.isfinite(E)
        tested, U = self.table.now(), self.U
        self._restore(accepted, before)
        self._tested(accepted, tested, U, {"log_odds": log_odds, "uniform": u, "probability": ratio})

    def _log_odds(self, E: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.E0 + self.spec.method.correction * self.delta_E - E + self.log_ratio
        return found

    # -------------------------------------------------------------------------------------------- rows of the table

    def _add(self, kind: str, p: np.ndarray, **found: Any) -> None:
        """Add a step with its account; `found` has what only this step has."""
        lane, K = self.lane, self._kinetic(p)
        account = {
            "U": self.U, "K": K, "delta_E": self.delta_E, "log_ratio": self.log_ratio,
            "log_odds": self._log_odds(self.U + K), "v": self.state.v[0] if "delta" in self.spec.values else None,
        }  # fmt: skip
        self.table.add(kind, p, **{n: x[lane] for n, x in account.items() if x is not None} | found)

    def _tested(self, accepted: np.ndarray, tested: np.ndarray, U: np.ndarray, found: dict[str, np.ndarray]) -> None:
        lane = self.lane
        numbers = {name: x[lane] for name, x in found.items()}
        numbers["probability"] = min(1.0, numbers["probability"])
        numbers |= {"U": U[lane], "K": self._kinetic(self.p)[lane]}
        decision = ACCEPTED if accepted[lane] else REJECTED
        self._add("test", self.state.p, **numbers, proposal=tested, decision=decision)

    def _decided(self, op: int, accepted: bool) -> dict[str, Any]:
        found = {"update": self.target.density.updates[op - 1], "decision": ACCEPTED if accepted else REJECTED}
        return found | ({"proposal": self.table.now()} if accepted else {})

    # --------------------------------------------------------------------------------------------------- arithmetic

    def _kinetic(self, p: np.ndarray) -> np.ndarray:
        return _row(singly.kinetic_energy, p)

    def _uniform(self) -> np.ndarray:
        return _row(singly.next_uniform, self.state.rng)

    def _exponential_of(self, log_odds: np.ndarray) -> np.ndarray:
        return _row(singly.exponential_of, log_odds[None])


def _row(function: Function, given: np.ndarray) -> np.ndarray:
    """The row that a compiled function writes."""
    out = lane_rows(1)
    function(given, out)
    row: np.ndarray = out[0]
    return row
