"""The moves that all samplers share, and the three kernels that assemble them."""

from mahmc.kernels.mixed import Timetable, mixed
from mahmc.kernels.persistent import persistent
from mahmc.kernels.plan import EVERYONE, Plan, pair_up, room_for
from mahmc.kernels.state import Counts, Record, State, energies, new_counts, new_state
from mahmc.kernels.trajectory import trajectory

__all__ = [
    "EVERYONE", "Counts", "Plan", "Record", "State", "Timetable", "energies", "mixed", "new_counts", "new_state",
    "pair_up", "persistent", "room_for", "trajectory",
]  # fmt: skip
