"""Finished comparisons of this process, kept for a while: a page that is loaded again shows its result again.

A result is kept under everything that determines it: the target with its settings and the fingerprint of its data, the
run of each sampler, the number of replicates, and the seed. So nobody sees results of other settings or of other data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from threading import Lock

from mahmc import Comparison
from mahmc.run import memory_needed
from mahmc.targets import FAMILIES

MOST_RESULTS = 8
MOST_BYTES = 2**28  # of the draws of all results
MOST_REMEMBERED = 1000  # identities of results that are no longer kept
Identity = tuple[Hashable, ...]


def identity(comparison: Comparison) -> Identity:
    """Everything that determines the result of a comparison."""
    build = FAMILIES[comparison.target.name].build  # the code of the target
    runs = tuple((label, entry.spec) for label, entry in comparison.entries.items())
    return build, runs, comparison.replicates, comparison.seed


class KeptComparisons:
    """The latest finished comparisons. The oldest is dropped first."""

    def __init__(self) -> None:
        self._kept: dict[Identity, Comparison] = {}
        self._dropped: deque[Identity] = deque(maxlen=MOST_REMEMBERED)
        self._lock = Lock()

    def keep(self, comparison: Comparison) -> None:
        """Keep a finished comparison, if its draws are not too large."""
        key = identity(comparison)
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = comparison  # at the end, so that the oldest is dropped first
            while len(self._kept) > MOST_RESULTS or sum(map(_size, self._kept.values())) > MOST_BYTES:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                self._dropped.append(oldest)

    def find(self, comparison: Comparison) -> Comparison | None:
        """The finished comparison that is determined by the same values."""
        with self._lock:
            return self._kept.get(identity(comparison))

    def dropped(self, comparison: Comparison) -> bool:
        """Whether the result of this comparison existed, but is no longer kept."""
        key = identity(comparison)
        with self._lock:
            return key not in self._kept and key in self._dropped

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._dropped.clear()


def _size(comparison: Comparison) -> int:
    """The bytes of the draws that a comparison has for charts."""
    return sum(memory_needed(entry.spec, comparison.target) for entry in comparison.entries.values())


KEPT = KeptComparisons()
