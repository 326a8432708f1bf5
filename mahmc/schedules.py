"""P^D: in which order a trajectory's leapfrogs and updates of q^O come.

A sequence D is kept as runs, rows of (which, how many): which = 0 are leapfrogs, i > 0 the target's update i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mahmc.parameters import InvalidInput


def alternate(L: int, n_u: int, update: int = 1) -> np.ndarray:
    """n_u segments of L leapfrogs, with one update of q^O between two segments.  (Sec. 4)

    It begins and ends with leapfrogs, so it is a palindrome: D⁻¹ = D, and Algo. 3's factor P(D⁻¹)/P(D) is one. Where
    there is no q^O (update 0) segments simply follow each other: HMC with L·n_u leapfrogs.
    """
    if update == 0:
        return deterministic([(0, L * n_u)])
    return deterministic([(0, L)] + [(update, 1), (0, L)] * (n_u - 1))


def deterministic(runs: Sequence[tuple[int, int]]) -> np.ndarray:
    """The one sequence with these runs of (which, how many), always; refused unless it is a palindrome."""
    if list(runs) != list(runs)[::-1]:
        raise InvalidInput(
            "this sequence D of leapfrogs and updates is no palindrome: read backwards it is another one, which is "
            "never drawn, so that Algorithm 3's factor P(D⁻¹)/P(D) is zero and every trajectory would have to be "
            "rejected. Mirror it (leapfrogs, update, leapfrogs), or draw D at random, with its mirror image among what "
            "can be drawn."
        )
    return np.array(runs, np.int64)


def asymmetric(L: int, n_u: int, update: int = 1) -> np.ndarray:
    """n_u times (L leapfrogs, one update): no palindrome, and wrong with the test of one. Only for its exhibit."""
    if update == 0:
        return alternate(L, n_u, update)
    return np.array([(0, L), (update, 1)] * n_u, np.int64)
