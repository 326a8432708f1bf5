"""Fixtures that all tests share. Helpers are in tests/support."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mahmc import targets
from mahmc.targets import Target
from tests.support import custom

TESTS = Path(__file__).parent
# Files that take longest, as measured with --durations=0.
LONGEST = (
    "test_mutants.py", "browser/test_updates.py", "test_joint.py", "browser/test_explore.py", "test_invariance.py",
    "browser/test_live.py", "test_docs.py", "test_checks.py", "browser/test_downloads.py", "test_hidden_mistakes.py",
    "browser/test_general.py", "test_custom.py", "browser/test_history.py", "test_registration.py",
    "test_custom_visits.py", "test_library.py", "test_custom_functions.py", "browser/test_tabs.py",
    "test_checks_page.py", "browser/test_screens.py", "browser/test_links.py",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Most runs of tests are too short to be trusted; tests of the warnings ask for them."""
    config.addinivalue_line("filterwarnings", "ignore::mahmc.SamplingWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each worker has some of the longest files first, so that none is left with one of them at the end.

    xdist gives each worker a run of neighbours, all of one size, and lets those that are done take over from others.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    by_file: dict[str, list[pytest.Item]] = {name: [] for name in LONGEST}
    others: list[pytest.Item] = []
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


@pytest.fixture
def families_as_before() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    with custom.families_as_before():
        yield


@pytest.fixture
def pages_of_one_test() -> Iterator[None]:
    """No job of a page outlives its test."""
    from tests.support import pages  # the dashboard is not installed everywhere

    with pages.pages_of_one_test():
        yield


@pytest.fixture(params=["mdc", "blr", "gmm"])  # the examples have tests of their own in test_examples.py
def any_target(request: pytest.FixtureRequest) -> Target:
    """Each target of the paper in turn, with the paper's settings."""
    return targets.build(request.param)
