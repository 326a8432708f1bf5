"""The moves that all samplers share, and the three kernels that are made of these moves."""

from mahmc.kernels.mixed import MixedParameters, Timetable, mixed
from mahmc.kernels.persistent import PersistentParameters, persistent
from mahmc.kernels.plan import Plan
from mahmc.kernels.singly import follow_pairs
from mahmc.kernels.state import Chunk, Counts, Output, Record, State, energies, new_counts, new_state
from mahmc.kernels.trajectory import TrajectoryParameters, trajectory

__all__ = [
    "Chunk", "Counts", "MixedParameters", "Output", "PersistentParameters", "Plan", "Record", "State", "Timetable",
    "TrajectoryParameters", "energies", "follow_pairs", "mixed", "new_counts", "new_state", "persistent", "trajectory",
]  # fmt: skip
