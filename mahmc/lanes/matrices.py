"""A matrix of numbers times rows of lanes."""

from __future__ import annotations

from mahmc.compiled import inlined
from mahmc.lanes.memory import load, store
from mahmc.lanes.values import splat


@inlined
def _eight_rows(a, b, out, i):
    """Rows i to i + 7 of a·b. Eight independent sums use all multipliers of the processor at the same time."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(0.0)
    for j in range(a.shape[1]):
        x = load(b, j)
        s0 += a[i, j] * x
        s1 += a[i + 1, j] * x
        s2 += a[i + 2, j] * x
        s3 += a[i + 3, j] * x
        s4 += a[i + 4, j] * x
        s5 += a[i + 5, j] * x
        s6 += a[i + 6, j] * x
        s7 += a[i + 7, j] * x
    store(out, i, s0)
    store(out, i + 1, s1)
    store(out, i + 2, s2)
    store(out, i + 3, s3)
    store(out, i + 4, s4)
    store(out, i + 5, s5)
    store(out, i + 6, s6)
    store(out, i + 7, s7)


@inlined
def multiply(a, b, out):
    """out ← a·b for a matrix of numbers and rows of lanes. Some of the last eight rows may be computed twice."""
    rows = a.shape[0]
    for i in range(0, rows - 7, 8):
        _eight_rows(a, b, out, i)
    if rows >= 8 and rows % 8 > 0:
        _eight_rows(a, b, out, rows - 8)
    elif rows < 8:
        for i in range(rows):
            total = splat(0.0)
            for j in range(a.shape[1]):
                total += a[i, j] * load(b, j)
            store(out, i, total)
