"""Example custom targets, one file each. See docs/custom-target.md."""

from mahmc.examples.funnel import NealsFunnel
from mahmc.examples.ising import Ising
from mahmc.examples.spike_slab import SpikeSlab

__all__ = ["Ising", "NealsFunnel", "SpikeSlab"]
