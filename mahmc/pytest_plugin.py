"""A pytest fixture that checks a sampler of any library.

def test_my_sampler(mcmc_check):
    mcmc_check(my_step, target="gmm-overlapping")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def mcmc_check() -> Callable[..., Any]:
    """A function like `mahmc.check_sampler` that fails the test unless the verdict is *right*; returns the cell."""
    from mahmc.checks import Verdict, check_sampler  # imported when first used, so that other tests do not wait

    def check(sampler: Any, target: Any = "gmm-overlapping", **options: Any) -> Any:
        cell = check_sampler(sampler, target, **options)
        if cell.verdict is not Verdict.RIGHT:
            pytest.fail(f"{cell.title} on {cell.case.title}: {cell.verdict}\n{cell.words}", pytrace=False)
        return cell

    return check
