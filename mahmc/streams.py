"""Random numbers: one stream for each chain. The draws of a chain depend only on the seed and the chain's number.

Each lane of a block has a xoshiro256++ generator (Blackman and Vigna 2019), and all eight generators advance together.
Their state is an array of shape (4, LANES), seeded by NumPy's SeedSequence with the run's seed and the block's number.
Draws do not depend on the number of chains, the number of threads or the size of chunks. A single lane can draw
separately (`lane_uniform`, …) if lanes need different amounts of random numbers, as in rejection sampling.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahmc.compiled import inlined
from mahmc.lanes import (
    LANES,
    cos_sin_turns,
    exp_of_number,
    float_of,
    lane_value,
    load,
    log,
    log_of_number,
    splat,
    sqrt,
    store,
)

_ONE_BITS = 0x3FF0000000000000  # the bits of 1.0
_POOL = 4  # the number of words in a SeedSequence's pool
_MASK = 0xFFFFFFFF
Words = NDArray[np.uint32]
FEW_BLOCKS = 16  # up to this number of blocks NumPy's SeedSequence is faster than the hash of all blocks at once


class Purpose(IntEnum):
    """The purpose of random numbers in a block. Each purpose has its own stream."""

    CHAINS = 0  # the draws of each chain
    MOMENTA = 1  # the first momenta, and the first v
    START = 2  # the starts of chains
    SHARED = 3  # choices that the chains of a block share, such as D


class Seeds:
    """The random numbers of blocks 0, 1, …, by purpose: SeedSequence(seed, spawn_key=(block, purpose)).

    The words of all blocks are computed at once: one SeedSequence for each block would take longer than many short
    chains.

    Parameters
    ----------
    seed
        The seed of the run.
    blocks
        The number of blocks.

    Examples
    --------
    >>> seeds = mahmc.streams.Seeds(seed=7, blocks=2)
    >>> seeds.lanes(1, mahmc.streams.Purpose.CHAINS).shape
    (4, 8)
    """

    def __init__(self, seed: int, blocks: int = 1) -> None:
        numbers = np.arange(blocks)
        self._lanes = {p: seed_words(seed, numbers, p, 4 * LANES) for p in (Purpose.CHAINS, Purpose.SHARED)}
        self._words = {p: seed_words(seed, numbers, p, 4) for p in (Purpose.MOMENTA, Purpose.START)}

    def lanes(self, block: int, purpose: Purpose) -> np.ndarray:
        """The state of the lanes' generators in a block, (4, LANES). For SHARED only lane 0 is used."""
        state: np.ndarray = self._lanes[purpose][block].reshape(4, LANES)
        return state

    def generator(self, block: int, purpose: Purpose) -> np.random.Generator:
        """NumPy's generator for the momenta or the starts of a block."""
        words = _Words(self._words[purpose][block])
        return np.random.Generator(np.random.PCG64(words))  # type: ignore[arg-type]  # its stub leaves ISeedSequence out


class _Words(np.random.bit_generator.ISeedSequence):
    """A SeedSequence that returns the given words."""

    def __init__(self, words: np.ndarray) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        assert (n_words, dtype) == (len(self.words), np.uint64), "PCG64 asks for exactly these words"
        return self.words


def seeded(seed: int, block: int, purpose: Purpose = Purpose.CHAINS) -> np.ndarray:
    """The state of the lanes' generators in one block, (4, LANES).

    Parameters
    ----------
    seed
        The seed of the run.
    block
        The number of the block.
    purpose
        The purpose of the random numbers.

    Returns
    -------
    numpy.ndarray
        Four words for each lane, of type uint64.

    Examples
    --------
    >>> mahmc.streams.seeded(seed=7, block=0).shape
    (4, 8)
    """
    state: np.ndarray = seed_words(seed, np.array([block]), purpose, 4 * LANES)[0].reshape(4, LANES)
    return state


def seed_words(seed: int, blocks: np.ndarray, purpose: int, count: int) -> np.ndarray:
    """SeedSequence(seed, spawn_key=(block, purpose)).generate_state(count, uint64) of each block.

    The hash is that of NumPy's SeedSequence (O'Neill's randutils), for all blocks at once. NumPy promises that its hash
    will never change, and a test compares the words with NumPy's words.

    Parameters
    ----------
    seed
        The seed of the run.
    blocks
        The numbers of the blocks.
    purpose
        The purpose of the random numbers.
    count
        The number of words for each block.

    Returns
    -------
    numpy.ndarray
        Words of shape (blocks, count), of type uint64.

    Examples
    --------
    >>> words = mahmc.streams.seed_words(seed=7, blocks=np.arange(3), purpose=0, count=4)
    >>> words.shape, str(words.dtype)
    ((3, 4), 'uint64')
    """
    if len(blocks) <= FEW_BLOCKS:
        sequences = [np.random.SeedSequence(seed, spawn_key=(int(block), int(purpose))) for block in blocks]
        return np.stack([sequence.generate_state(count, np.uint64) for sequence in sequences])
    of_seed = [seed >> shift & _MASK for shift in range(0, max(seed.bit_length(), 1), 32)]
    of_seed += [0] * (_POOL - len(of_seed))
    entropy = [np.full(len(blocks), word, np.uint32) for word in of_seed]
    entropy += [blocks.astype(np.uint32), np.full(len(blocks), purpose, np.uint32)]
    hashed = _Hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(word) for word in entropy[:_POOL]]
    for i in range(_POOL):
        for j in range(_POOL):
            if i != j:
                pool[j] = _mixed(pool[j], hashed(pool[i]))
    for word in entropy[_POOL:]:
        pool = [_mixed(part, hashed(word)) for part in pool]
    hashed = _Hash(0x8B51F9DD, 0x58F38DED)
    words = np.stack([hashed(pool[i % _POOL]) for i in range(2 * count)], axis=1)
    return words.astype("<u4").view("<u8").astype(np.uint64, copy=False)


class _Hash:
    """A hash of 32-bit words. Its constant changes with each call."""

    def __init__(self, constant: int, factor: int) -> None:
        self.constant, self.factor = constant, factor

    def __call__(self, word: Words) -> Words:
        word = word ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor & _MASK
        word = word * np.uint32(self.constant)
        return word ^ (word >> np.uint32(16))


def _mixed(x: Words, y: Words) -> Words:
    mixed: Words = x * np.uint32(0xCA01F9DD) - y * np.uint32(0x4973F715)
    return mixed ^ (mixed >> np.uint32(16))


@inlined
def load_generators(rng):
    """The state of the generators as values (s0, s1, s2, s3).

    A loop with many draws keeps the state in registers: with the state in memory, each draw would wait until the
    previous draw has stored its state.
    """
    return load(rng, 0), load(rng, 1), load(rng, 2), load(rng, 3)


@inlined
def store_generators(rng, state):
    """rng ← state, after `load_generators`."""
    s0, s1, s2, s3 = state
    store(rng, 0, s0)
    store(rng, 1, s1)
    store(rng, 2, s2)
    store(rng, 3, s3)


@inlined
def words_and_state(state):
    """64 random bits for each lane by xoshiro256++, rotl(s0 + s3, 23) + s0, and the next state."""
    s0, s1, s2, s3 = state
    mixed = s0 + s3
    result = ((mixed << 23) | (mixed >> 41)) + s0
    t = s1 << 17
    s2 ^= s0
    s3 ^= s1
    return result, (s0 ^ s3, s1 ^ s2, s2 ^ t, (s3 << 45) | (s3 >> 19))


@inlined
def uniform_and_state(state):
    """U(0, 1) in steps of 2⁻⁵² for each lane, and the next state."""
    bits, state = words_and_state(state)
    return float_of((bits >> 12) | _ONE_BITS) - 1.0, state


@inlined
def next_words(rng):
    """64 random bits for each lane."""
    bits, state = words_and_state(load_generators(rng))
    store_generators(rng, state)
    return bits


@inlined
def uniform(rng):
    """U(0, 1) for each lane: a multiple of 2⁻⁵²."""
    u, state = uniform_and_state(load_generators(rng))
    store_generators(rng, state)
    return u


@inlined
def exponential(rng):
    """Exponential(1) for each lane, by inversion: −log(1 − U)."""
    return -log(1.0 - uniform(rng))


@inlined
def normal_pair(rng):
    """Two independent N(0, 1) for each lane, by Box and Muller: √(−2 log(1 − U))·(cos 2πV, sin 2πV)."""
    radius = sqrt(-2.0 * log(1.0 - uniform(rng)))
    cosine, sine = cos_sin_turns(uniform(rng))
    return radius * cosine, radius * sine


@inlined
def lane_word(rng, c):
    """64 random bits for lane c. The other lanes do not advance."""
    s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
    mixed = s0 + s3
    result = ((mixed << np.uint64(23)) | (mixed >> np.uint64(41))) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    rng[1, c] = s1 ^ s2
    rng[0, c] = s0 ^ s3
    rng[2, c] = s2 ^ t
    rng[3, c] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@inlined
def lane_uniform(rng, c):
    """U(0, 1) for lane c: a multiple of 2⁻⁵³. The other lanes do not advance."""
    return float(lane_word(rng, c) >> np.uint64(11)) * 2.0**-53


@inlined
def lane_exponential(rng, c):
    """Exponential(1) for lane c, by inversion: −log(1 − U). The other lanes do not advance."""
    return -log_of_number(1.0 - lane_uniform(rng, c))


@inlined
def lane_normal(rng, c):
    """N(0, 1) for lane c: √(−2 log(1 − U))·cos 2πV. The other lanes do not advance."""
    radius = math.sqrt(2.0 * lane_exponential(rng, c))
    cosine, _ = cos_sin_turns(splat(lane_uniform(rng, c)))
    return radius * lane_value(cosine, 0)


@inlined
def lane_gamma(rng, c, shape):
    """Gamma(shape, rate 1) for lane c, by Marsaglia and Tsang (2000). The other lanes do not advance.

    d·v with v = (1 + s·x)³, x ~ N(0, 1), d = shape − 1/3, s = 1/√(9d), accepted where
    log U < x²/2 + d·(1 − v + log v). Below shape 1: Gamma(shape + 1)·U^(1/shape).
    """
    boost = 1.0
    if shape < 1.0:
        boost = exp_of_number(-lane_exponential(rng, c) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    s = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = lane_normal(rng, c)
        v = (1.0 + s * x) ** 3
        if v > 0.0 and -lane_exponential(rng, c) < 0.5 * x * x + d * (1.0 - v + log_of_number(v)):
            return d * v * boost
