"""The steps of a recording, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahmc.kernels import State
from mahmc.parameters import InvalidInput
from mahmc.targets import Target

MOST_STEPS = 10_000  # in one recording
WORDS = ("kind", "update", "decision")
NUMBERS = (
    "epsilon", "U", "K", "delta_E", "log_ratio", "log_odds", "probability", "uniform", "v", "cost", "k",
)  # fmt: skip
REJECTED, ACCEPTED = "rejected", "accepted"


class Table:
    """Collects the steps of one lane of a block."""

    def __init__(self, target: Target, state: State, lane: int) -> None:
        self.state, self.lane = state, lane
        others = [q for q in target.density.quantities if q.source == "other"]
        self.others = max((q.first + q.size for q in others), default=0)  # further rows are computed from these rows
        self._rows: list[dict[str, Any]] = []

    def now(self) -> np.ndarray:
        """q and qᴼ of the lane."""
        here: np.ndarray = np.concatenate([self.state.q[:, self.lane], self.state.other[: self.others, self.lane]])
        return here

    def add(self, kind: str, p: np.ndarray, **found: Any) -> None:
        """Add a step after which the block has this momentum; `found` has the columns that the step has."""
        if len(self._rows) == MOST_STEPS:
            raise InvalidInput(
                f"this iteration has more than {MOST_STEPS} steps, which is the most that one recording holds: choose "
                "fewer leapfrogs or updates in a trajectory."
            )
        self._rows.append({"kind": kind, "at": self.now(), "p": p[:, self.lane].copy(), **found})

    def columns(self) -> dict[str, np.ndarray]:
        """The arrays of a Trajectory."""
        at = np.array([row["at"] for row in self._rows])
        nothing = np.full(at.shape[1], np.nan)
        found = {name: np.array([row.get(name, "") for row in self._rows]) for name in WORDS}
        found |= {name: np.array([row.get(name, np.nan) for row in self._rows], float) for name in NUMBERS}
        dim = self.state.q.shape[0]
        return found | {
            "site": np.array([row.get("site", -1) for row in self._rows], int),
            "q": at[:, :dim].copy(),
            "p": np.array([row["p"] for row in self._rows]),
            "other": at[:, dim:].copy(),
            "proposal": np.array([row.get("proposal", nothing) for row in self._rows]),
        }
