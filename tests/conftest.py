"""Fixtures that all tests share. Helpers are in tests/support."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mahmc import targets
from mahmc.targets import Target

TESTS = Path(__file__).parent
# Files that take longest, as measured with --durations=0.
LONGEST = (
    "test_mutants.py", "browser/test_updates.py", "test_joint.py", "browser/test_explore.py", "test_invariance.py",
    "browser/test_live.py", "test_docs.py", "test_checks.py", "browser/test_downloads.py", "test_hidden_mistakes.py",
    "browser/test_general.py", "test_own.py", "browser/test_history.py", "test_registration.py",
    "browser/test_tabs.py", "test_checks_page.py", "browser/test_screens.py", "browser/test_links.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each worker has some of the longest files first, so that none is left with one of them at the end.

    xdist gives each worker a run of neighbours, all of one size, and lets those that are done take over from others.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    by_file: dict[str, list[pytest.Item]] = {name: [] for name in LONGEST}
    others = []
    for item in items:
        name = item.path.relative_to(TESTS).as_posix()
        by_file.get(name, others).append(item)
    piles: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, name in enumerate(LONGEST):
        piles[number % workers] += by_file[name]
    size = -(-len(items) // workers)
    for pile in piles:
        while len(pile) < size and others:
            pile.append(others.pop(0))
    items[:] = [item for pile in piles for item in pile]


@pytest.fixture(params=["mdc", "blr", "gmm"])  # the examples have tests of their own in test_examples.py
def any_target(request: pytest.FixtureRequest) -> Target:
    """Each target of the paper in turn, with the paper's settings."""
    return targets.build(request.param)
