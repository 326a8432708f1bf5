"""Checks of samplers. Each check states its rate of false alarms and the smallest error that it would catch."""

import warnings
from typing import Any

from mahmc.checks.agree import agreement
from mahmc.checks.cells import CASES, Case, Cell, Findings
from mahmc.checks.flows import detailed_balance
from mahmc.checks.given_draws import marginals
from mahmc.checks.joint import calibration, joint_distribution
from mahmc.checks.matrix import CheckDone, Checking, custom_cell, new_cell
from mahmc.checks.moved import independence, invariance
from mahmc.checks.one_call import CHOSEN_BY_CHECKS, check, check_sampler
from mahmc.checks.registry import CHECKS, Check
from mahmc.checks.subjects import Chains, Size
from mahmc.checks.two_samples import compare_samples
from mahmc.checks.verdicts import LEVEL, ComparedStatistic, Finding, Verdict

__all__ = [
    "CASES",
    "CHECKS",
    "CHOSEN_BY_CHECKS",
    "LEVEL",
    "Case",
    "Cell",
    "Chains",
    "Check",
    "CheckDone",
    "Checking",
    "ComparedStatistic",
    "Finding",
    "Findings",
    "Size",
    "Verdict",
    "agreement",
    "calibration",
    "check",
    "check_sampler",
    "compare_samples",
    "custom_cell",
    "detailed_balance",
    "independence",
    "invariance",
    "joint_distribution",
    "marginals",
    "new_cell",
]  # fmt: skip

_EARLIER: dict[str, Any] = {
    "Comparison": ComparedStatistic,
    "Step": CheckDone,
    "compare": compare_samples,
    "own_cell": custom_cell,
}


def __getattr__(name: str) -> Any:
    """Names of the version before, for one version more."""
    if name not in _EARLIER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = _EARLIER[name]
    warnings.warn(f"mahmc.checks.{name} is mahmc.checks.{now.__name__} now.", DeprecationWarning, stacklevel=2)
    return now
