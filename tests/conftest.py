"""Fixtures that all tests share. Helpers are in tests/support."""

from __future__ import annotations

import pytest

from mahmc import targets
from mahmc.targets import Target

LONGEST = ("test_mutants.py", "test_docs.py", "test_downloads.py", "test_history.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(params=["mdc", "blr", "gmm"])  # the examples have tests of their own in test_examples.py
def any_target(request: pytest.FixtureRequest) -> Target:
    """Each target of the paper in turn, with the paper's settings."""
    return targets.build(request.param)
