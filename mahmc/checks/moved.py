"""Invariance: exact draws in, a few iterations, exact draws out.

After Gandy and Scott (2021), "Unit testing for MCMC and other Monte Carlo methods": if the sampler leaves the target
alone, draws that were exact still are, and have the distribution of fresh ones: no burn-in, no autocorrelation, no
tolerance to guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mahmc.checks.two_samples import compare, same_mean, scalars
from mahmc.checks.verdicts import LEVEL, POWER, Comparison, Finding, Round, Workbench, sequential, unclear
from mahmc.kernels import energies
from mahmc.lanes import LANES
from mahmc.run import Run
from mahmc.spec import RunSpec, built_target
from mahmc.targets import Target

CHECK, INDEPENDENCE = "invariance", "independence"
ROUNDS = 4
GROWTH = 4  # times as many draws from round to round
FEWEST_MOVED = 0.5  # of the chains: a sampler that stands still leaves everything alone


def invariance(
    target: str | Target,
    sampler: str,
    *,
    iterations: int = 3,
    draws: int = 8192,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether `iterations` of the sampler leave exact draws exact: distributions, spreads, products of pairs."""
    bench = workbench or Workbench()
    built, chosen = built_target(target, chosen)
    RunSpec.of(built, sampler, **chosen)  # refuses what is wrong
    if built.exact is None:
        return unclear(CHECK, f"{built.name} has no exact draws to start from.", level)

    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        fresh, moved, share = exact_and_moved(built, sampler, iterations, n, (seed, number), chosen, bench)
        comparisons = compare(fresh, moved)
        reach = smallest_change(n, level / rounds / len(comparisons))
        return Round(
            comparisons,
            n,
            f"a change of any probability by {reach:.2g} within {iterations} iterations",
            share >= FEWEST_MOVED,
            f"Only {share:.0%} of the chains moved at all: take a smaller step size.",
        )

    compared = f"{draws} or more exact draws after {iterations} iterations with as many fresh ones"
    return sequential(CHECK, compared, make_round, level, rounds)


def smallest_change(n: int, level: float) -> float:
    """The least distance of two distributions which a Kolmogorov-Smirnov test of n and n draws sees, nearly always.

    It rejects above c(level)·√(2/n), c(a) = √(−½·log(a/2)), and the sample's own distance is off by c(1 − POWER)·√(2/n)
    at most, with probability POWER.
    """
    c = [np.sqrt(-0.5 * np.log(a / 2.0)) for a in (level, 1.0 - POWER)]
    return float(sum(c) * np.sqrt(2.0 / n))


def exact_and_moved(
    target: Target,
    sampler: str,
    iterations: int,
    draws: int,
    seed: tuple[int, int],
    chosen: Mapping[str, Any],
    bench: Workbench,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], float]:
    """Fresh exact draws, other exact draws after a few iterations (scalars by name), and the share that moved."""
    assert target.exact is not None
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    wanted: dict[str, Any] = {"chains": draws, "draws": 1, "warmup": 0, "thin": iterations}
    spec = RunSpec.of(target, sampler, **wanted, seed=number, **chosen)
    rng = np.random.default_rng((*seed, 1))
    fresh = target.exact(rng, draws)
    fresh["energy"] = energies(target, *target.pack(fresh))
    if "alpha" in spec.values:  # the momentum outlives an iteration, and so does v
        fresh |= {"momentum": rng.standard_normal((draws, target.dim))}
    if "delta" in spec.values:
        fresh |= {"slice": rng.uniform(-1.0, 1.0, draws)}
    spec = RunSpec.of(target, sampler, **wanted, seed=number, keep=tuple(fresh), **chosen)
    run = bench.advance(Run(spec, target, init=target.exact(np.random.default_rng((*seed, 2)), draws)))
    moved = {name: values[:, 0] for name, values in run.draws.items()}
    share = float((run.acceptances["trajectory"].accepted > 0).mean())
    return scalars(fresh, target), scalars(moved, target), share


def independence(
    target: str | Target,
    sampler: str,
    *,
    draws: int = 16384,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether chains that run in lockstep are independent: exact draws, one iteration, then products within blocks.

    Of every scalar, and of its spread, as centred ranks f, the mean over blocks of Σ_{i≠j} f_i f_j must be zero.
    """
    from scipy import stats

    built, chosen = built_target(target, chosen)
    n = draws - draws % LANES
    _, moved, _ = exact_and_moved(built, sampler, 1, n, (seed, 1), chosen, workbench or Workbench())
    comparisons = []
    for name, values in moved.items():
        rank = (stats.rankdata(values) - 0.5) / values.size - 0.5
        for what, x in ((name, rank), (f"spread of {name}", rank**2)):
            f = (x - x.mean()).reshape(-1, LANES)
            products = f.sum(axis=1) ** 2 - (f**2).sum(axis=1)
            comparisons.append(Comparison(f"products of {what} in a block", same_mean(products, np.zeros(1))))
    made = Round(tuple(comparisons), n, "chains of a block that move together")
    return sequential(INDEPENDENCE, "chains of a block with each other", lambda number: made, level, rounds=1)
