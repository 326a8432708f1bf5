"""Is it right? Checks of a sampler that can fail, with stated rates of false alarms and of what they would miss."""

from mahmc.checks.agree import agreement
from mahmc.checks.flows import detailed_balance
from mahmc.checks.joint import calibration, joint_distribution
from mahmc.checks.margins import Size, marginals
from mahmc.checks.matrix import CASES, CHECKS, CHOSEN_BY_CHECKS, Case, Cell, Checking, Step, check, new_cell, own_cell
from mahmc.checks.moved import independence, invariance
from mahmc.checks.two_samples import compare
from mahmc.checks.verdicts import LEVEL, Comparison, Finding, Verdict

__all__ = [
    "CASES", "CHECKS", "CHOSEN_BY_CHECKS", "LEVEL", "Case", "Cell", "Checking", "Comparison", "Finding", "Size", "Step",
    "Verdict", "agreement", "calibration", "check", "compare", "detailed_balance", "independence", "invariance",
    "joint_distribution", "marginals", "new_cell", "own_cell",
]  # fmt: skip
