"""The engine gives the same draws on every processor, and those of tests/data/stored_draws.json, bit for bit.

After a change that is meant to change draws, or with another numba, make the file anew:
`python -m tests.support.draws --write`, and say so in the commit.
"""

from __future__ import annotations

import json

import pytest

from mahmc import Run, RunSpec
from tests.support.draws import FILE, differences, digest, digests, specs, versions


def here(found: list[RunSpec]) -> list[str]:
    """The digests of runs in this process, for this processor."""
    return [digest(Run(spec).advance_all()) for spec in found]


def test_draws_are_the_same_on_a_plain_processor() -> None:
    """Every sampler on one target; the long test has all targets and schedules."""
    few = [spec for spec in specs() if spec.target == "gmm"]
    assert digests([spec.to_json() for spec in few]) == here(few)


@pytest.mark.long
def test_all_draws_are_the_same_on_this_processor_as_the_stored_ones() -> None:
    stored = [row["sha256"] for row in json.loads(FILE.read_text())["runs"]]
    others = [spec.to_json() for spec, old, new in zip(specs(), stored, here(specs()), strict=True) if old != new]
    assert others == []


@pytest.mark.long
def test_draws_are_the_stored_ones() -> None:
    stored = json.loads(FILE.read_text())
    found = differences()
    made = f"stored with {stored['versions']}, now {versions()}"
    assert found == [], f"{len(found)} of {len(stored['runs'])} runs have other draws; {made}"


def test_every_sampler_and_target_is_stored() -> None:
    stored = [RunSpec.from_dict(row["spec"]) for row in json.loads(FILE.read_text())["runs"]]
    assert stored == specs()
