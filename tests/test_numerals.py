"""Advice is on the safe side: a limit is not rounded past itself."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mahmc.numerals import exact, rounded_down, rounded_up
from mahmc.run import problems
from mahmc.spec import RUN_PARAMETERS

NUMBERS = [float(x) for x in np.random.default_rng(0).lognormal(0, 6, 300)] + [
    0.6,
    1.0,
    0.0565685,
    99.95,
    999.99,
    1e-300,
]


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_rounding_stays_on_its_side_and_near(digits: int) -> None:
    for x in NUMBERS:
        low, high = float(rounded_down(x, digits)), float(rounded_up(x, digits))
        assert low <= x <= high
        assert high - low <= 10.0 ** (1 - digits) * 1.001 * x


def test_exact_numbers_read_back_as_the_same_number() -> None:
    for x in (*NUMBERS, 2**53 - 1, 10**7, 123_456_789, -0.995, 0.1 + 0.2, float("inf")):
        assert float(exact(x)) == x


def test_a_range_shows_the_bound_itself() -> None:
    """9.0072e+15, as it was, is above the bound: the value that the message named would have been refused."""
    high = float(re.findall(r"[\d.e+]+", RUN_PARAMETERS["seed"].range)[-1])
    assert RUN_PARAMETERS["seed"].check(high) == 2**53 - 1


def test_warnings_do_not_contradict_themselves() -> None:
    """As these did: R-hat is 1.010, above 1.01; ESS is 100, below 100; only 20.0 %, where 20 % is enough."""
    (mixing,), (rough,), (rejected,) = (
        problems.mixing("u", 1e4, 1.0100001, 0.0), problems.rough("u", 99.7, 1), problems.rejections(0.19999)
    )  # fmt: skip
    assert "is 1.011, above 1.01" in mixing
    assert "is 99, below 100 " in rough
    assert "Only 19.9 %" in rejected
