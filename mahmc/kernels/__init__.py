"""The moves that all samplers share, and the three kernels that assemble them."""

from mahmc.kernels.mixed import Timetable, mixed
from mahmc.kernels.persistent import persistent
from mahmc.kernels.plan import Plan
from mahmc.kernels.state import Counts, Record, State, energies, new_counts, new_state
from mahmc.kernels.trajectory import trajectory

__all__ = [
    "Counts", "Plan", "Record", "State", "Timetable", "energies", "mixed", "new_counts", "new_state", "persistent",
    "trajectory",
]  # fmt: skip
