"""Diagnostics against arviz-stats, and against the sampling that they follow. Prints Markdown.

    python -m benchmarks.diagnostics [--rounds 9]

Ours and arviz-stats take turns, and a ratio is the median over rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from arviz_stats.base import array_stats

import mahmc
from benchmarks.bench import machine
from mahmc import diagnostics

CHAINS, DRAWS, QUANTITIES = 16, 30_000, 4  # as in a comparison on MDC
ARVIZ: dict[str, Callable[[np.ndarray], float]] = {
    "ess_bulk": lambda x: array_stats.ess(x, method="bulk"),
    "ess_tail": lambda x: array_stats.ess(x, method="tail", prob=(0.05, 0.95)),
    "rhat": array_stats.rhat,
    "mcse_mean": array_stats.mcse,
}


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=9)
    rounds = options.parse_args().rounds
    print(*machine(), sep="\n")
    print(f"\n### {QUANTITIES} quantities, {CHAINS} × {DRAWS:,} draws each\n")
    print("| statistic | arviz-stats, ms | mahmc, ms | ratio |\n|---|---|---|---|")
    x = _autoregressions()
    for statistic in ARVIZ:
        theirs, ours = zip(*(_in_turns(x, statistic, turn) for turn in range(rounds)), strict=True)
        ratio = statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
        times = " | ".join(f"{1000 * statistics.median(seconds):.0f}" for seconds in (theirs, ours))
        print(f"| {statistic} | {times} | **{ratio:.2g}** |", flush=True)
    print("\n### A comparison of the paper's samplers at its default budget\n")
    print("| target | sampling, s | comparison, s | ratio |\n|---|---|---|---|")
    for target in ("mdc", "blr", "gmm"):
        mahmc.compare(target, gradients=160_000, replicates=2)  # loads the kernels
        whole = _seconds(lambda target=target: mahmc.compare(target))  # type: ignore[misc]
        sampling = _seconds(lambda target=target: _only_sampled(target))  # type: ignore[misc]
        print(f"| {target} | {sampling:.2f} | {whole:.2f} | **{whole / sampling:.2g}** |", flush=True)


def _autoregressions() -> dict[str, np.ndarray]:
    """Chains from independent to slow."""
    rng = np.random.default_rng(1)
    found = {}
    for phi in np.linspace(0.0, 0.99, QUANTITIES):
        x = rng.standard_normal((CHAINS, DRAWS))
        for i in range(1, DRAWS):
            x[:, i] += phi * x[:, i - 1]
        found[f"{phi:g}"] = x
    return found


def _in_turns(x: dict[str, np.ndarray], statistic: str, turn: int) -> tuple[float, float]:
    """Seconds of arviz-stats and of ours, in an order that changes with each turn."""
    sides = {
        "theirs": lambda: [ARVIZ[statistic](chains) for chains in x.values()],
        "ours": lambda: diagnostics.of_each(x, [statistic]),
    }
    found = {name: _seconds(sides[name]) for name in (sorted(sides) if turn % 2 else sides)}
    return found["theirs"], found["ours"]


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _only_sampled(target: str) -> None:
    """All runs of a comparison, without their diagnostics."""
    comparison = mahmc.Comparison(target)
    for number in range(comparison.total):
        comparison._sampled(number)  # noqa: SLF001


if __name__ == "__main__":
    main()
