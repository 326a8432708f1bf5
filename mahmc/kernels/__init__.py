"""The moves that all samplers share, and the two kernels that assemble them."""

from mahmc.kernels.persistent import persistent
from mahmc.kernels.state import Counts, Record, State, energies, new_state
from mahmc.kernels.trajectory import trajectory

__all__ = ["Counts", "Record", "State", "energies", "new_state", "persistent", "trajectory"]
