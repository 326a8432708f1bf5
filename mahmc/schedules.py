"""P^D: in which order a trajectory's leapfrogs and updates of q^O come.

A sequence D is kept as runs, rows of (which, how many): which = 0 are leapfrogs, i > 0 the target's update i.
"""

from __future__ import annotations

import numpy as np


def alternate(L: int, n_u: int, update: int = 1) -> np.ndarray:
    """n_u segments of L leapfrogs, with one update of q^O between two segments.  (Sec. 4)

    It begins and ends with leapfrogs, so it is a palindrome: D⁻¹ = D, and Algo. 3's factor P(D⁻¹)/P(D) is one.
    """
    segments = [(0, L)] + [(update, 1), (0, L)] * (n_u - 1)
    return np.array(segments, np.int64)
