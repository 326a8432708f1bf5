"""Is it right? Checks of a sampler that can fail, with stated rates of false alarms and of what they would miss."""

from mahmc.checks.agree import agreement
from mahmc.checks.flows import detailed_balance
from mahmc.checks.joint import calibration, joint_distribution
from mahmc.checks.margins import marginals
from mahmc.checks.matrix import (
    CASES,
    CHECKS,
    CHOSEN_BY_CHECKS,
    Case,
    Cell,
    Check,
    Checking,
    Step,
    check,
    check_sampler,
    new_cell,
    own_cell,
)
from mahmc.checks.moved import independence, invariance
from mahmc.checks.subjects import Chains, Size
from mahmc.checks.two_samples import compare
from mahmc.checks.verdicts import LEVEL, Comparison, Finding, Verdict

__all__ = [
    "CASES", "CHECKS", "CHOSEN_BY_CHECKS", "LEVEL", "Case", "Cell", "Chains", "Check", "Checking", "Comparison",
    "Finding", "Size", "Step", "Verdict", "agreement", "calibration", "check", "check_sampler", "compare",
    "detailed_balance", "independence", "invariance", "joint_distribution", "marginals", "new_cell", "own_cell",
]  # fmt: skip
