"""Fixtures that all tests share. Helpers are in tests/support."""

from __future__ import annotations

import pytest

from mahmc import targets
from mahmc.targets import Target


@pytest.fixture(params=["mdc", "blr", "gmm"])  # the examples have tests of their own in test_examples.py
def any_target(request: pytest.FixtureRequest) -> Target:
    """Each target of the paper in turn, with the paper's settings."""
    return targets.build(request.param)
