"""Recordings of one iteration of one chain, step by step.

`trajectory` is the object that a person gets, `table` collects its steps, and `walks` makes the steps of each kernel by
the same compiled moves (`mahmc.kernels.singly`).
"""

from mahmc.recorder.table import MOST_STEPS
from mahmc.recorder.trajectory import KINDS, Trajectory
from mahmc.recorder.walks import Place, walk

__all__ = ["KINDS", "MOST_STEPS", "Place", "Trajectory", "walk"]
