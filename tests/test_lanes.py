"""The arithmetic and the randomness of lanes, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from mahmc import lanes, streams
from mahmc.compiled import OPTIONS, inlined
from mahmc.lanes import LANES, store
from tests.support.lanes import by_row


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (lanes.exp, np.exp, np.linspace(-700, 709, 50_001)),
        (lanes.exp, np.exp, np.linspace(-1, 1, 50_001)),
        (lanes.log, np.log, np.exp(np.linspace(-700, 709, 50_001))),
        (lanes.sqrt, np.sqrt, np.linspace(0, 10, 1001)),
    ],
)
def test_relative_error_is_a_few_units_in_the_last_place(
    ours: Callable[..., Any], theirs: Callable[..., Any], x: np.ndarray
) -> None:
    assert np.allclose(by_row(ours)(x), theirs(x), rtol=4 * np.finfo(float).eps, atol=2e-16)


@inlined
def finite(a):
    return lanes.where(lanes.is_finite(a), 1.0, 0.0)


def test_special_values() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -1.0, 710.0, -800.0])
    assert np.array_equal(by_row(lanes.exp)(x), [np.inf, 0, np.nan, 1, np.exp(-1.0), np.inf, 0], equal_nan=True)
    assert np.array_equal(by_row(lanes.log)(x)[:5], [np.inf, np.nan, np.nan, -np.inf, np.nan], equal_nan=True)
    assert np.array_equal(by_row(finite)(x), [0, 0, 0, 1, 1, 1, 1])


def test_sigmoid_and_softplus() -> None:
    x = np.concatenate([np.linspace(-50, 50, 2001), [-1e4, 1e4]])
    sigmoid = by_row(numba.njit(lambda a: lanes.sigmoid_softplus(a)[0]))(x)
    softplus = by_row(numba.njit(lambda a: lanes.sigmoid_softplus(a)[1]))(x)
    assert np.allclose(sigmoid, 0.5 * (1 + np.tanh(x / 2)), rtol=1e-14, atol=1e-16)
    assert np.allclose(softplus, np.logaddexp(0.0, x), rtol=1e-15, atol=3e-16)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 31, 569])
def test_multiply(rows: int) -> None:
    rng = np.random.default_rng(rows)
    a, b, out = rng.normal(size=(rows, 5)), rng.normal(size=(5, LANES)), np.empty((rows, LANES))
    numba.njit(**OPTIONS)(lambda a, b, out: lanes.multiply(a, b, out))(a, b, out)
    assert np.allclose(out, a @ b, rtol=1e-13, atol=1e-13)


@numba.njit(**OPTIONS)
def draw_uniform(rng, out):
    for i in range(out.shape[0]):
        store(out, i, streams.uniform(rng))


@numba.njit(**OPTIONS)
def draw_normal(rng, out):
    for i in range(0, out.shape[0], 2):
        first, second = streams.normal_pair(rng)
        store(out, i, first)
        store(out, i + 1, second)


@numba.njit(**OPTIONS)
def draw_gamma(rng, out, shape):
    for i in range(out.shape[0]):
        for c in range(LANES):
            out[i, c] = streams.lane_gamma(rng, c, shape)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (draw_uniform, stats.uniform()),
        (draw_normal, stats.norm()),
        (lambda rng, out: draw_gamma(rng, out, 16.5), stats.gamma(16.5)),
        (lambda rng, out: draw_gamma(rng, out, 0.4), stats.gamma(0.4)),
    ],
)
def test_random_numbers_have_their_law(draw: Callable[..., Any], law: Any) -> None:
    """Kolmogorov-Smirnov on 400 000 numbers; false alarms 1e-6 each, seed fixed."""
    out = np.empty((50_000, LANES))
    draw(streams.seeded(5, 0), out)
    assert stats.kstest(out.ravel(), law.cdf).pvalue > 1e-6
    assert abs(np.corrcoef(out[:-1].ravel(), out[1:].ravel())[0, 1]) < 5 / np.sqrt(out.size)
    assert np.abs(np.corrcoef(out.T) - np.eye(LANES)).max() < 6 / np.sqrt(len(out))


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**64 - 1, 2**130 + 5])
def test_seeds_are_those_of_seed_sequence(seed: int) -> None:
    """Of all blocks at once, as NumPy gives them one by one; the generators too."""
    seeds = streams.Seeds(seed, 100)
    for block, purpose in [(0, 0), (1, 3), (99, 0), (50, 3)]:
        numpys = np.random.SeedSequence(seed, spawn_key=(block, purpose))
        expected = numpys.generate_state(4 * LANES, np.uint64).reshape(4, LANES)
        assert np.array_equal(seeds.lanes(block, streams.Purpose(purpose)), expected)
        assert np.array_equal(streams.seeded(seed, block, streams.Purpose(purpose)), expected)
    for block, purpose in [(0, 1), (99, 2)]:
        numpys = np.random.SeedSequence(seed, spawn_key=(block, purpose))
        mine = seeds.generator(block, streams.Purpose(purpose))
        assert np.array_equal(mine.standard_normal(9), np.random.default_rng(numpys).standard_normal(9))


def test_generator_is_xoshiro256_plus_plus() -> None:
    """Against the definition, written out in Python's integers; a lane on its own goes on with the same stream."""
    rng = streams.seeded(3, 2)
    s = [int(word) for word in rng[:, 4]]
    words = np.empty((20, LANES), np.uint64)
    loop = numba.njit(**OPTIONS)(_fill_words)
    loop(rng, words)
    mask = 2**64 - 1
    expected = []
    for _ in range(20):
        mixed = (s[0] + s[3]) & mask
        expected.append((((mixed << 23) | (mixed >> 41)) + s[0]) & mask)
        t = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & mask
    assert [int(word) for word in words[:, 4]] == expected


def _fill_words(rng, out):
    for i in range(10):
        store(out, i, streams.next_words(rng))
    for i in range(10, 20):
        for c in range(LANES):
            out[i, c] = streams.lane_word(rng, c)
