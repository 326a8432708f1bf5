"""Mistakes that hide in one element of a vector, and what checks say of an engine that has one of them.

`python -m tests.support.hidden NAME FIRST LAST [SAMPLER …]` prints a line for every sampler and each seed from FIRST to
LAST − 1, for the engine that Python finds first. K in a mistake is an element chosen at random, the same one each time.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tests.support import lean_numba  # noqa: F401  (before anything imports mahmc)

EVERY = ("mala", "hmc", "mala-p", "mala-pn", "mahmc", "m-hmc")
WITHOUT_VISITS = EVERY[:-1]  # m-hmc visits discrete variables one by one, and makes no other update of them
FIRST = ("gradient", "invariance")  # the quickest checks


class Hidden(NamedTuple):
    """A mistake: lines of a file before and after, in element K of a vector of this size."""

    name: str
    file: str
    size: int  # of the vector
    lines: tuple[tuple[str, str], ...]
    case: str
    update: str = ""
    samplers: tuple[str, ...] = EVERY

    @property
    def element(self) -> int:
        """K: not the first element, and not the last, as some mistakes have a neighbour."""
        return 1 + zlib.crc32(self.name.encode()) % (self.size - 2)

    def written(self, source: str) -> str:
        """The source with the mistake."""
        for right, wrong in self.lines:
            assert source.count(right) == 1, f"{self.name}: the line to be changed has changed: {right}"
            source = source.replace(right, wrong.replace("K", str(self.element)))
        return source


MDC, BLR, MOVES = "targets/mdc.py", "targets/blr.py", "kernels/moves.py"
FUNNEL, ISING, SPIKE = "examples/funnel.py", "examples/ising.py", "examples/spike_slab.py"
W = "        store(other, i, w)\n        total += w\n"
SPIN = "            s = where(uniform(rng) < sigmoid(2 * pull), 1.0, -1.0)\n"
COLUMN = "            chosen = where(uniform(rng) < sigmoid(-cost), 1.0, 0.0)\n"
DRIFT = "        store(q, i, load(q, i) + epsilon * kicked)\n"
NORMALS = "        first, second = normal_pair(rng)\n"
RESTORED = "        store(now, i, where(accepted, load(now, i), load(before, i)))\n"
SWAPPED = (
    "        j = i\n        if now.shape[0] > K + 1:\n            if i == K:\n                j = i + 1\n"
    "            elif i == K + 1:\n                j = i - 1\n"
    "        store(now, i, where(accepted, load(now, i), load(before, j)))\n"
)
MISTAKES = [
    Hidden(
        "w not updated",
        MDC,
        20,
        ((W, f"        if i == K:\n            w = load(other, i)\n{W}"),),
        "mdc",
        "gibbs",
        WITHOUT_VISITS,
    ),
    Hidden(
        "w never becomes one",
        MDC,
        20,
        ((W, f"        if i == K:\n            w *= load(other, i)\n{W}"),),
        "mdc",
        "gibbs",
        WITHOUT_VISITS,
    ),
    Hidden(
        "w like its neighbour",
        MDC,
        20,
        ((W, f"        if i == K:\n            w = load(other, i - 1)\n{W}"),),
        "mdc",
        "gibbs",
        WITHOUT_VISITS,
    ),
    Hidden(
        "gradient without a flipped w",
        MDC,
        20,
        (
            (
                "    store(grad, 0, load(grad, 0) + change)\n",
                "    store(grad, 0, load(grad, 0) + where(site == K, 0.0, change))\n",
            ),
        ),
        "mdc",
        "metropolis",
    ),
    Hidden(
        "a flip of w that is not made",
        MDC,
        20,
        (("where(site == i, change, 0.0)", "where(site == i, change, 0.0) * (0.0 if i == K else 1.0)"),),
        "mdc",
        "metropolis",
    ),
    Hidden(
        "noise of the momentum too small",
        MOVES,
        3,
        (("    rows = p.shape[0]\n", "    beta = 0.95 * beta\n    rows = p.shape[0]\n"),),
        "mdc",
        "gibbs",
        ("mala-p", "mala-pn"),
    ),
    Hidden(
        "gradient of beta off",
        BLR,
        31,
        (
            (
                "        store(grad, j, load(grad, j) + tau * beta)\n",
                "        store(grad, j, (load(grad, j) + tau * beta) * (0.9 if j == K else 1.0))\n",
            ),
        ),
        "blr-prior",
        "gibbs",
    ),
    Hidden(
        "precision of beta off",
        BLR,
        31,
        (
            (
                "        square += beta * beta\n        store(grad, j, load(grad, j) + tau * beta)\n",
                "        off = 0.8 if j == K else 1.0\n        square += off * beta * beta\n"
                "        store(grad, j, load(grad, j) + off * tau * beta)\n",
            ),
        ),
        "blr-prior",
        "gibbs",
    ),
    Hidden(
        "gradient of beta stale",
        BLR,
        31,
        (
            (
                "        store(grad, j, load(grad, j) + (new - tau) * load(q, j))\n",
                "        if j != K:\n            store(grad, j, load(grad, j) + (new - tau) * load(q, j))\n",
            ),
        ),
        "blr-prior",
        "metropolis",
    ),
    Hidden("beta not moved", MOVES, 31, ((DRIFT, f"        if i != K:\n    {DRIFT}"),), "blr-prior", "gibbs"),
    Hidden(
        "beta with less momentum",
        MOVES,
        31,
        ((NORMALS, f"{NORMALS}        if i == 2 * (K // 2):\n            first *= 0.8\n"),),
        "blr-prior",
        "gibbs",
    ),
    Hidden("beta swapped on rejection", MOVES, 31, ((RESTORED, SWAPPED),), "blr", "gibbs"),
    Hidden(
        "gradient of x off",
        FUNNEL,
        9,
        (
            (
                "            grad[i] = precision * q[i]\n",
                "            grad[i] = precision * q[i] * (0.9 if i == K else 1.0)\n",
            ),
        ),
        "neals-funnel",
    ),
    Hidden(
        "width of x off",
        FUNNEL,
        9,
        (
            (
                "            squares += q[i] ** 2\n        return",
                "            squares += (0.8 if i == K else 1.0) * q[i] ** 2\n        return",
            ),
            (
                "            squares += q[i] ** 2\n            grad[i] = precision * q[i]\n",
                "            off = 0.8 if i == K else 1.0\n            squares += off * q[i] ** 2\n"
                "            grad[i] = off * precision * q[i]\n",
            ),
        ),
        "neals-funnel",
    ),
    Hidden("x not moved", MOVES, 9, ((DRIFT, f"        if i != K:\n    {DRIFT}"),), "neals-funnel"),
    Hidden(
        "s not updated",
        ISING,
        8,
        ((SPIN, f"{SPIN}            if i == K:\n                s = where(s > 2.0, s, other[i])\n"),),
        "ising",
        "gibbs",
    ),
    Hidden(
        "s never becomes minus one",
        ISING,
        8,
        ((SPIN, f"{SPIN}            if i == K:\n                s = where(other[i] > 0.0, 1.0, s)\n"),),
        "ising",
        "gibbs",
    ),
    Hidden(
        "s with a wrong neighbour",
        ISING,
        8,
        (
            (
                f"            pull = self.coupling * neighbours + self.field + self.mu * q[i] / self.sd**2\n{SPIN}",
                "            if i == K:\n                neighbours = 2 * other[i - 1]\n"
                f"            pull = self.coupling * neighbours + self.field + self.mu * q[i] / self.sd**2\n{SPIN}",
            ),
        ),
        "ising",
        "gibbs",
    ),
    Hidden(
        "s never chosen",
        ISING,
        8,
        (
            (
                "        accepted = uniform(rng) < exp(-flipping)\n",
                "        accepted = (uniform(rng) < exp(-flipping)) & ~(chosen == K)\n",
            ),
        ),
        "ising",
        "flip",
    ),
    Hidden(
        "gradient of x off where it is seen",
        ISING,
        8,
        (
            (
                "            grad[i] = (q[i] - self.mu * other[i]) / self.sd**2\n",
                "            grad[i] = (q[i] - self.mu * other[i]) / self.sd**2 * (0.9 if i == K else 1.0)\n",
            ),
        ),
        "ising",
        "gibbs",
    ),
    Hidden("x swapped on rejection", MOVES, 8, ((RESTORED, SWAPPED),), "ising", "gibbs"),
    Hidden(
        "column not updated",
        SPIKE,
        6,
        (
            (
                COLUMN,
                f"{COLUMN}            if j == K:\n                chosen = where(chosen > 2.0, chosen, other[j])\n",
            ),
        ),
        "spike-slab",
        "gibbs",
    ),
    Hidden(
        "column never taken in",
        SPIKE,
        6,
        ((COLUMN, f"{COLUMN}            if j == K:\n                chosen = chosen * other[j]\n"),),
        "spike-slab",
        "gibbs",
    ),
    Hidden(
        "column never chosen",
        SPIKE,
        6,
        (
            (
                "        accepted = uniform(rng) < exp(-flipping)\n",
                "        accepted = (uniform(rng) < exp(-flipping)) & ~(site == K)\n",
            ),
        ),
        "spike-slab",
        "flip",
    ),
    Hidden(
        "gradient of a coefficient off",
        SPIKE,
        6,
        (
            (
                "            grad[j] = other[j] * (pull - self.b[j]) + q[j] / self.slab**2\n",
                "            off = 0.9 if j == K else 1.0\n"
                "            grad[j] = off * (other[j] * (pull - self.b[j]) + q[j] / self.slab**2)\n",
            ),
        ),
        "spike-slab",
        "gibbs",
    ),
]


def verdicts(mistake: Hidden, seeds: range) -> Iterator[tuple[str, int, str, str]]:
    """Sampler, seed, verdict and the words of the check that decided it. The quickest checks come first."""
    from mahmc import targets
    from mahmc.checks import CASES, Checking, Verdict, custom_cell, new_cell
    from mahmc.samplers import EVERY_SAMPLER
    from mahmc.spec import RunSpec

    case = CASES.get(mistake.case)
    target = targets.build(case.target, **case.settings) if case else targets.build(mistake.case)
    update = {"update": mistake.update} if mistake.update else {}
    for sampler in mistake.samplers:
        able = EVERY_SAMPLER[sampler].takes(target)
        if not able or (mistake.update and mistake.update not in EVERY_SAMPLER[sampler].updates(target)):
            continue
        for seed in seeds:
            if case is not None:
                cell = new_cell(case, sampler, **update)
            else:
                cell = custom_cell(target, sampler, RunSpec.of(target, sampler, **update).chosen)
            quickest = [check for check in FIRST if check in cell.checks]
            cell = replace(cell, checks=(*quickest, *(check for check in cell.checks if check not in quickest)))
            said = "right"
            for step in Checking([cell], seed=seed):
                finding = cell.findings[step.check]
                if finding.verdict is not Verdict.RIGHT:
                    said = str(finding.verdict)
                    break
            yield sampler, seed, said, str(finding)


if __name__ == "__main__":
    name, first, last, *samplers = sys.argv[1:]
    chosen = next(mistake for mistake in MISTAKES if mistake.name == name)
    chosen = chosen._replace(samplers=tuple(samplers) or chosen.samplers)
    for sampler, seed, said, words in verdicts(chosen, range(int(first), int(last))):
        print(f"{said}: {sampler}, seed {seed}: {words}", flush=True)
