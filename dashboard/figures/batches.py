"""Monte Carlo errors by batch means: chains are cut into long pieces, and the pieces' differences give the error.

The effective sample size of u is not that of an indicator "u is in this bin", so each bin has an error of its own.
If there are enough chains, whole chains are the pieces: then chains that disagree widen the error, as they should.
The error is too small if pieces are not much longer than the autocorrelation of the chains.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import special

PIECES = 16  # the least number of pieces, of all chains together
FEWEST_PIECES = 8  # with fewer pieces no error is shown
FEWEST_TO_JUDGE = 50  # draws after which a chain that has not moved is called stuck
REACH = 1.96  # standard errors to either side: 95 %
ROUNDING = 1e-12  # largest relative difference between means of equal draws
AT_ONCE = 32_768  # draws that are counted together, so that temporaries stay in the cache


class Bins(NamedTuple):
    """n bins of equal width."""

    low: float
    high: float
    n: int

    @property
    def width(self) -> float:
        return (self.high - self.low) / self.n

    @property
    def edges(self) -> np.ndarray:
        return np.linspace(self.low, self.high, self.n + 1)

    @property
    def middles(self) -> np.ndarray:
        return self.low + self.width * (np.arange(self.n) + 0.5)


def cuts(chains: int, draws: int, pieces: int = PIECES) -> np.ndarray:
    """The cuts of every chain that give at least `pieces` pieces in all, if there are enough draws."""
    return np.linspace(0, draws, min(draws, -(-pieces // chains)) + 1).round().astype(int)


def still(x: np.ndarray) -> np.ndarray:
    """Which chains of (chains, draws) have the same value at all draws."""
    same: np.ndarray = x[:, 0] == x[:, -1]
    for chain in np.flatnonzero(same):
        same[chain] = (x[chain] == x[chain, 0]).all()
    return same


def stuck(x: np.ndarray) -> np.ndarray:
    """Which chains never moved, once there are enough draws to say so."""
    return still(x) if x.shape[1] >= FEWEST_TO_JUDGE else np.zeros(len(x), bool)


def tell_errors(x: np.ndarray) -> np.ndarray:
    """Which chains tell how large errors are: those that moved. With few draws, all chains do if one has moved."""
    same = still(x)
    return ~same if x.shape[1] >= FEWEST_TO_JUDGE or same.all() else np.ones(len(x), bool)


class Shares(NamedTuple):
    """The number of draws of each piece in each bin, (pieces, bins), and the number of draws of each piece.

    `moved` are the pieces of chains that tell how large errors are.
    """

    counts: np.ndarray
    sizes: np.ndarray
    moved: np.ndarray

    @property
    def total(self) -> int:
        return int(self.sizes.sum())

    @property
    def pooled(self) -> np.ndarray:
        """The share of all draws in each bin; they sum to the share inside all bins."""
        share: np.ndarray = self.counts.sum(axis=0) / self.total
        return share

    @property
    def outside(self) -> int:
        return self.total - int(self.counts.sum())


def shares(x: np.ndarray, bins: Bins) -> Shares:
    """Count the draws of (chains, draws) by piece and bin."""
    at = cuts(*x.shape)
    counts = [_counts(chain[begin:end], bins) for chain in x for begin, end in pairwise(at)]
    return Shares(np.array(counts), np.tile(np.diff(at), len(x)), np.repeat(tell_errors(x), at.size - 1))


def _counts(x: np.ndarray, bins: Bins) -> np.ndarray:
    """A histogram, five times as fast as np.histogram."""
    total = np.zeros(bins.n + 2, np.int64)  # with an additional bin on either side for draws outside
    for begin in range(0, x.size, AT_ONCE):
        place = np.subtract(x[begin : begin + AT_ONCE], bins.low, dtype=float)
        place *= 1.0 / bins.width
        place += 1.0
        np.clip(place, 0.0, bins.n + 1.0, out=place)
        total += np.bincount(place.astype(np.intp), minlength=bins.n + 2)
    return total[1:-1]


def share_errors(found: Shares, mass: np.ndarray) -> np.ndarray | None:
    """Standard errors of the share in each bin, if `mass` is its true probability; None with too few draws.

    The errors are those of chains that move. A chain that never moved has no error that could be estimated: counted as
    a piece, its distance to the others would widen the errors until they include any histogram.

    Let s_kj be the share of bin j in piece k. V_j = Var_k(s_kj)/K estimates the variance of the pooled share s_j, and
    c_j = V_j / (s_j(1 − s_j)/N) compares it with the variance of N independent draws. Numerator and denominator are
    averaged over neighbouring bins, since V_j of a single bin is rough and c varies slowly. The error is
    √(c_j·mass_j(1 − mass_j)/N), widened as Student's t, because V_j is an estimate.
    """
    counts, sizes = found.counts[found.moved], found.sizes[found.moved]
    K, n_bins = counts.shape
    if K < FEWEST_PIECES:
        return None
    N = int(sizes.sum())
    s = counts.sum(axis=0) / N
    independent = s * (1.0 - s) / N
    if not independent.any():
        return None
    V = np.square(counts / sizes[:, None] - s).sum(axis=0) / (K * (K - 1))
    spread = n_bins / 16  # width of the bell that averages; almost zero for few bins
    bell = np.exp(-0.5 * np.square((np.arange(n_bins)[:, None] - np.arange(n_bins)) / spread))
    V, independent = bell @ V, bell @ independent
    overall = V.sum() / independent.sum()
    enough = independent > 1e-6 * independent.max()
    c = np.where(enough, V / np.where(enough, independent, 1.0), overall)
    freedom = (K - 1) * max(1.0, 2.0 * np.sqrt(np.pi) * spread)  # the bell averages that many bins
    errors: np.ndarray = widening(freedom) * np.sqrt(c * mass * (1.0 - mass) / N)
    return errors


def widening(freedom: float) -> float:
    """The factor of an estimated error for which ± REACH errors cover 95 % by Student's t."""
    return float(special.stdtrit(freedom, 0.975)) / REACH


class RunningMean(NamedTuple):
    """The mean over chains after `at` draws of each chain, and its standard error.

    The error is that of the chains that moved. It is NaN with too few draws, or if no chain moved.
    """

    at: np.ndarray
    mean: np.ndarray
    error: np.ndarray


def running_means(x: np.ndarray, checkpoints: int) -> RunningMean:
    """The mean of (chains, draws) so far, at evenly spaced checkpoints.

    The error at a checkpoint uses the draws until then: they are cut into K pieces, and the error is the standard
    deviation of the pieces' means divided by √K, widened as Student's t.
    """
    chains, draws = x.shape
    at = np.linspace(0, draws, min(checkpoints, draws) + 1).round().astype(int)
    sums = np.add.reduceat(x, at[:-1], axis=1, dtype=float)
    sums = np.concatenate([np.zeros((chains, 1)), np.cumsum(sums, axis=1)], axis=1)
    mean = sums[:, 1:].sum(axis=0) / (chains * at[1:])
    error, moving = np.full(mean.size, np.nan), sums[tell_errors(x)]
    for seen in range(1, at.size):
        ends = cuts(chains, seen)
        means = np.diff(moving[:, ends], axis=1) / np.diff(at[ends])
        if means.size >= FEWEST_PIECES and np.ptp(means) > ROUNDING * np.abs(means).max():
            error[seen - 1] = widening(means.size - 1) * means.std(ddof=1) / np.sqrt(means.size)
    return RunningMean(at[1:], mean, error)
