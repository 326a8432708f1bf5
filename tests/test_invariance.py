"""Every sampler leaves every target alone: exact draws in, a few iterations, exact draws out.

False alarms: each of the cases has its share of 1e-5, so the whole file has at most 1e-5; seeds are fixed.
"""

from __future__ import annotations

from typing import Any

import pytest

from mahmc.checks import invariance
from tests.support.verdicts import CASES, GENERAL, LEVEL, SHARED, independence_verdict, verdict


@pytest.mark.parametrize(("target", "sampler", "update"), CASES)
def test_sampler_leaves_target_invariant(target: str, sampler: str, update: str) -> None:
    result = verdict(target, sampler, update)
    assert result.right, str(result)


@pytest.mark.parametrize("name", GENERAL)
def test_algorithm_3_in_general_leaves_targets_invariant(name: str) -> None:
    result = verdict(name)
    assert result.right, str(result)


@pytest.mark.parametrize("schedule", SHARED)
def test_chains_of_a_block_are_independent_though_they_share_a_random_schedule(schedule: str) -> None:
    """False alarms at most 1e-6 each. A block that shared D itself is caught: see test_mutants."""
    result = independence_verdict(schedule)
    assert result.right, str(result)


@pytest.mark.long
@pytest.mark.parametrize(("target", "sampler", "update"), CASES)
def test_at_the_papers_settings(target: str, sampler: str, update: str) -> None:
    """The same at the paper's targets and step sizes (those that examples bring), with many more draws."""
    settings: dict[str, Any] = {"prior_only": True} if target == "blr" else {}
    result = invariance(target, sampler, update=update, draws=524288, iterations=2, level=LEVEL, seed=21, **settings)
    assert result.right, str(result)
