"""Running chains: advancing them (`Run`), their results (`Results`), and files of runs.

A run consists of `blocks` and a `recording`. `measures` has acceptance and cost, and `problems` the rules for warnings.
"""

from mahmc.run.advancing import CHUNK_SECONDS, Run
from mahmc.run.blocks import Block, cores
from mahmc.run.measures import Acceptance, Moment, Progress
from mahmc.run.problems import SamplingWarning
from mahmc.run.recording import free_memory, memory_needed
from mahmc.run.results import Results, scalar_names
from mahmc.run.sampling import load, sample

__all__ = [
    "CHUNK_SECONDS", "Acceptance", "Block", "Moment", "Progress", "Results", "Run", "SamplingWarning", "cores",
    "free_memory", "load", "memory_needed", "sample", "scalar_names",
]  # fmt: skip
