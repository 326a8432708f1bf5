"""Compiled functions of lanes, called with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from mahmc.compiled import OPTIONS
from mahmc.lanes import LANES, load, store


def by_row(function: Callable[..., Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A compiled function of lanes as a function of NumPy arrays."""

    @numba.njit(**OPTIONS)
    def loop(x, out):
        for i in range(x.shape[0]):
            store(out, i, function(load(x, i)))

    def apply(x: np.ndarray) -> np.ndarray:
        rows = np.resize(x, (-(-x.size // LANES), LANES)).astype(float)
        out = np.empty_like(rows)
        loop(rows, out)
        return out.ravel()[: x.size]

    return apply
