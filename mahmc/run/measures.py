"""Progress, acceptance and cost of chains, counted as they advance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahmc.kernels import Counts
from mahmc.lanes import LANES
from mahmc.spec import RunSpec
from mahmc.targets import Target


class Progress(NamedTuple):
    """The progress of a run. Draws are per chain, including the warm-up."""

    done: int
    total: int
    seconds: float
    leapfrogs: int

    @property
    def share(self) -> float:
        return self.done / self.total

    @property
    def leapfrogs_per_second(self) -> float:
        return self.leapfrogs / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        return self.seconds * (self.total - self.done) / self.done if self.done else float("nan")


class Acceptance(NamedTuple):
    """The numbers of accepted tests and of all tests, by chain. `rate` is None if there was no test."""

    accepted: np.ndarray
    made: np.ndarray

    @property
    def rate(self) -> float | None:
        made = int(self.made.sum())
        return int(self.accepted.sum()) / made if made else None

    @property
    def by_chain(self) -> np.ndarray:
        """The rate of each chain; NaN for a chain without a test."""
        with np.errstate(invalid="ignore"):
            rates: np.ndarray = self.accepted / self.made
        return rates


class Moment(NamedTuple):
    """The state at the end of a chunk: draws of each chain, iterations of all chains, and counts by kind."""

    done: int
    iterations: int
    counts: np.ndarray


class Measured:
    """Acceptance and cost of chains, from whole numbers that kernels count."""

    spec: RunSpec
    target: Target
    history: list[Moment]
    _outer: int  # the target's number of the update after a trajectory
    _tally: list[tuple[int, np.ndarray]]  # iterations and counts of each block, from the same moment

    def _total_counts(self) -> np.ndarray:
        """Counts by phase and kind, over the chains that are recorded."""
        raise NotImplementedError

    @property
    def acceptance(self) -> float:
        """Mean acceptance of the test of q^H, after the warm-up. For MAHMC it is the test of the whole trajectory."""
        return self.acceptances["trajectory"].rate or 0.0

    @property
    def acceptances(self) -> dict[str, Acceptance]:
        """Accepted tests by kind ("trajectory", "inner", "outer") and chain, after the warm-up."""
        counts, iterations = self._drawn
        tests = self.spec.method.tests(self.spec.values)
        inner = counts[Counts.INNER :]
        return {
            "trajectory": Acceptance(counts[Counts.TRAJECTORY], iterations * tests),
            "inner": Acceptance(inner[0::2].sum(axis=0), inner[1::2].sum(axis=0)),
            "outer": Acceptance(counts[Counts.OUTER], iterations * (self._outer > 0)),
        }

    @property
    def update_acceptances(self) -> dict[str, Acceptance]:
        """Accepted updates of q^O inside trajectories, by the update's name and by chain, after the warm-up."""
        inner = self._drawn[0][Counts.INNER :]
        rows = {name: 2 * (self.target.density.number(name) - 1) for name in self.spec.updates}
        return {name: Acceptance(inner[row], inner[row + 1]) for name, row in rows.items()}

    @property
    def acceptance_history(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draws at the end of each chunk, and by kind the acceptance within each chunk, including the warm-up."""
        moments = list(self.history)
        if not moments:
            return np.empty(0), {}
        iterations = np.diff([0, *(m.iterations for m in moments)])
        moments = [m for m, n in zip(moments, iterations, strict=True) if n > 0]
        iterations = iterations[iterations > 0]
        counts = np.diff([np.zeros(len(m.counts), np.int64) for m in moments[:1]] + [m.counts for m in moments], axis=0)
        inner = counts[:, Counts.INNER :]
        kinds = {
            "trajectory": (counts[:, Counts.TRAJECTORY], iterations * self.spec.method.tests(self.spec.values)),
            "inner": (inner[:, 0::2].sum(axis=1), inner[:, 1::2].sum(axis=1)),
            "outer": (counts[:, Counts.OUTER], iterations * (self._outer > 0)),
        }
        with np.errstate(invalid="ignore"):
            rates = {kind: accepted / made for kind, (accepted, made) in kinds.items() if made.any()}
        return np.array([m.done for m in moments]), rates

    @property
    def non_finite(self) -> int:
        """Rejections because an energy or a gradient was not finite, including the warm-up."""
        return int(self._total_counts()[:, Counts.NON_FINITE].sum())

    @property
    def leapfrogs(self) -> int:
        """Leapfrogs of all chains so far, including the warm-up."""
        return int(self._total_counts()[:, Counts.LEAPFROGS].sum())

    @property
    def drawing(self) -> dict[str, int]:
        """Leapfrogs and updates of q^O that all chains made for the draws after the warm-up."""
        counts, iterations = self._drawn
        updates = counts[Counts.INNER + 1 :: 2].sum() + iterations.sum() * (self._outer > 0)
        return {"leapfrogs": int(counts[Counts.LEAPFROGS].sum()), "updates": int(updates)}

    @property
    def gradients(self) -> int:
        """Gradients evaluated: one for each leapfrog and one at each start. Updates of q^O correct the gradient."""
        return self.leapfrogs + self.spec.chains

    @property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts after the warm-up, (kind, chain), and the iterations of each chain that they belong to."""
        warmup = self.spec.warmup * self.spec.thin
        done = np.repeat([max(0, done - warmup) for done, _ in self._tally], LANES)
        counts = np.concatenate([counts[1] for _, counts in self._tally], axis=1)
        return counts[:, : self.spec.chains], done[: self.spec.chains]
