"""Randomness: one stream a chain, so that a chain's draws depend on the seed and its own number, nothing else.

Each lane of a block runs its own xoshiro256++ generator (Blackman and Vigna 2019), all eight advanced at once. Its
state is an array of shape (4, LANES), seeded by NumPy's SeedSequence with the run's seed and the block's number.
How many chains there are, how many threads run the blocks and how a run is cut into chunks change nothing.
A lane may also draw on its own (`lane_uniform` ...) where lanes need different amounts of randomness, as in
rejection sampling.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahmc.compiled import inlined
from mahmc.lanes import LANES, cos_sin_turns, float_of, load, log, sqrt, store

_ONE_BITS = 0x3FF0000000000000  # the bits of 1.0
_POOL = 4  # words of a SeedSequence's pool
_MASK = 0xFFFFFFFF
Words = NDArray[np.uint32]
FEW_BLOCKS = 16


class Purpose(IntEnum):
    """What a block's randomness is for. Each purpose has a stream of its own."""

    CHAINS = 0
    MOMENTA = 1
    START = 2
    SHARED = 3  # by the block's chains


class Seeds:
    """The randomness of blocks 0, 1, …, by purpose: SeedSequence(seed, spawn_key=(block, purpose)), for all at once.

    A SeedSequence for each block would take longer than many short chains themselves.
    """

    def __init__(self, seed: int, blocks: int = 1) -> None:
        numbers = np.arange(blocks)
        self._lanes = {p: seed_words(seed, numbers, p, 4 * LANES) for p in (Purpose.CHAINS, Purpose.SHARED)}
        self._words = {p: seed_words(seed, numbers, p, 4) for p in (Purpose.MOMENTA, Purpose.START)}

    def lanes(self, block: int, purpose: Purpose) -> np.ndarray:
        """The state of a block's lanes' generators; of what its chains share, that of lane 0 is used."""
        return self._lanes[purpose][block].reshape(4, LANES)

    def generator(self, block: int, purpose: Purpose) -> np.random.Generator:
        """NumPy's generator for momenta, or for the start."""
        words = _Words(self._words[purpose][block])
        return np.random.Generator(np.random.PCG64(words))  # type: ignore[arg-type]  # its stub leaves ISeedSequence out


class _Words(np.random.bit_generator.ISeedSequence):
    """The words of a SeedSequence, known beforehand."""

    def __init__(self, words: np.ndarray) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        assert (n_words, dtype) == (len(self.words), np.uint64), "what PCG64 asks for"
        return self.words


def seeded(seed: int, block: int, purpose: Purpose = Purpose.CHAINS) -> np.ndarray:
    """The state of one block's lanes' generators."""
    return seed_words(seed, np.array([block]), purpose, 4 * LANES)[0].reshape(4, LANES)


def seed_words(seed: int, blocks: np.ndarray, purpose: int, count: int) -> np.ndarray:
    """SeedSequence(seed, spawn_key=(block, purpose)).generate_state(count, uint64) of each block: (blocks, count).

    The hash of NumPy's SeedSequence (O'Neill's randutils), block by block side by side. NumPy promises never to change
    it, and a test holds this against it. For a few blocks its own is faster.
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
    """A hash of 32-bit words whose constant changes with each use."""

    def __init__(self, constant: int, factor: int) -> None:
        self.constant, self.factor = constant, factor

    def __call__(self, word: Words) -> Words:
        word = word ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor & _MASK
        word = word * np.uint32(self.constant)
        return word ^ (word >> np.uint32(16))


def _mixed(x: Words, y: Words) -> Words:
    mixed = x * np.uint32(0xCA01F9DD) - y * np.uint32(0x4973F715)
    return mixed ^ (mixed >> np.uint32(16))


@inlined
def held(rng):
    """The generators' state as values, for a loop that draws much: in memory each draw would wait for the last one."""
    return load(rng, 0), load(rng, 1), load(rng, 2), load(rng, 3)


@inlined
def put_back(rng, state):
    """Write a state that was held to where it came from."""
    s0, s1, s2, s3 = state
    store(rng, 0, s0)
    store(rng, 1, s1)
    store(rng, 2, s2)
    store(rng, 3, s3)


@inlined
def held_words(state):
    """64 random bits a lane, and the state after them."""
    s0, s1, s2, s3 = state
    mixed = s0 + s3
    result = ((mixed << 23) | (mixed >> 41)) + s0
    t = s1 << 17
    s2 ^= s0
    s3 ^= s1
    return result, (s0 ^ s3, s1 ^ s2, s2 ^ t, (s3 << 45) | (s3 >> 19))


@inlined
def held_uniform(state):
    """Uniform on [0, 1), 52 bits, and the state after it."""
    bits, state = held_words(state)
    return float_of((bits >> 12) | _ONE_BITS) - 1.0, state


@inlined
def next_words(rng):
    """64 random bits a lane."""
    bits, state = held_words(held(rng))
    put_back(rng, state)
    return bits


@inlined
def uniform(rng):
    """Uniform on [0, 1), 52 bits."""
    u, state = held_uniform(held(rng))
    put_back(rng, state)
    return u


@inlined
def exponential(rng):
    """Exponential(1), by inversion."""
    return -log(1.0 - uniform(rng))


@inlined
def normal_pair(rng):
    """Two independent standard normals a lane, by Box and Muller."""
    radius = sqrt(-2.0 * log(1.0 - uniform(rng)))
    cosine, sine = cos_sin_turns(uniform(rng))
    return radius * cosine, radius * sine


@inlined
def lane_word(rng, c):
    """64 random bits of lane c alone: the same generator, advanced in that lane only."""
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
    """Uniform on [0, 1) in lane c alone, 53 bits."""
    return float(lane_word(rng, c) >> np.uint64(11)) * 2.0**-53


@inlined
def lane_normal(rng, c):
    """Standard normal in lane c alone."""
    radius = math.sqrt(-2.0 * math.log(1.0 - lane_uniform(rng, c)))
    return radius * math.cos(2.0 * math.pi * lane_uniform(rng, c))


@inlined
def lane_gamma(rng, c, shape):
    """Gamma(shape, rate 1) in lane c alone, by Marsaglia and Tsang (2000); below shape 1 by their boost."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - lane_uniform(rng, c)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    s = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = lane_normal(rng, c)
        v = (1.0 + s * x) ** 3
        if v > 0.0 and math.log(1.0 - lane_uniform(rng, c)) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v * boost
