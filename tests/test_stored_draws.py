"""The engine gives the draws that it gave when tests/data/stored_draws.json was made, bit for bit.

After a change that is meant to change draws, or with another numba, make the file anew:
`python -m tests.support.draws --write`, and say so in the commit.
"""

from __future__ import annotations

import json

import pytest

from mahmc import RunSpec
from tests.support.draws import FILE, differences, specs, versions


@pytest.mark.long
def test_draws_are_the_stored_ones() -> None:
    stored = json.loads(FILE.read_text())
    found = differences()
    made = f"stored with {stored['versions']}, now {versions()}"
    assert found == [], f"{len(found)} of {len(stored['runs'])} runs have other draws; {made}"


def test_every_sampler_and_target_is_stored() -> None:
    stored = [RunSpec.from_dict(row["spec"]) for row in json.loads(FILE.read_text())["runs"]]
    assert stored == specs()
