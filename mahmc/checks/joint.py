"""Joint distribution tests: parameters and data together, for any target that says how its data come about.

Geweke (2004), made sequential and exact: draw parameters θ from the prior and data y from the model. Then θ is an exact
draw of the posterior given y, so some iterations on that posterior must leave it one: (θ′, y) has the distribution of
fresh forward draws, and that of (θ, y). Any mistake in the likelihood, an update or the test shows. Where the data tell
much of θ, differences between (θ′, y) and (θ, y) show more than a comparison with fresh draws: y is the same in both.

Simulation-based calibration (Talts et al. 2018): the rank of the true θ among draws of a chain on its posterior is
uniform. Draws that are near each other are alike, so θ must have no special place among them: one chain goes from θ to
later times and another to earlier times, and how many draws of each are used is left to chance. For a reversible
sampler the ranks are then uniform however slowly it mixes; for others nearly so, as the draws lie far apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mahmc.checks import functions, moved, simulated
from mahmc.checks.ranks import (
    BINS,
    RANKED,
    Fit,
    Inference,
    Prior,
    Ranks,
    Simulate,
    bins_for,
    rank,
    smallest_rank_change,
    table,
)
from mahmc.checks.simulated import Simulated, what_to_add
from mahmc.checks.subjects import Moved, share_moved
from mahmc.checks.two_samples import centred_ranks
from mahmc.checks.verdicts import LEVEL, Comparison, Finding, Round, Workbench, factors, sequential, unclear
from mahmc.parameters import InvalidInput, Parameter
from mahmc.spec import RunSpec
from mahmc.targets import Target

__all__ = [
    "BINS",
    "CALIBRATION",
    "JOINT",
    "RANKED",
    "Ranks",
    "applies",
    "calibration",
    "joint_distribution",
    "what_to_add",
]

JOINT, CALIBRATION = "joint distribution", "calibration"
ROUNDS = 3
GROWTH = 4
DRAWS = {JOINT: 16384, CALIBRATION: 8192}
PAIRED = "before and after"  # a family of comparisons
FEWEST_CHANGED = 50  # differences that are not zero, for their mean to be nearly normal
ITERATIONS = 16  # of Geweke's test: what a run makes in its first chunk
SPACING = 25  # iterations between draws that are ranked
RESOLUTION = 0.05  # "right" is said if changes of a probability by this much would show
COUNTS = (
    Parameter("draws", "", "data sets", "", kind="int", low=40, high=10**7),
    Parameter("ranked", "", "draws that are ranked", "", kind="int", low=3, high=10**5),
)


def applies(target: Target) -> bool:
    """Whether parameters and data can be simulated."""
    return simulated.version(target) is not None


def joint_distribution(
    target: str | Target,
    sampler: str,
    *,
    draws: int = DRAWS[JOINT],
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether parameters and data keep their joint distribution when the sampler moves the parameters."""
    bench = workbench or Workbench()
    size = {"chains": 1, "draws": 1, "thin": ITERATIONS}
    built, model, spec = simulated.tested(target, sampler, chosen, size)
    if model is None or spec is None:
        return unclear(JOINT, what_to_add(built), level)

    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        rng = np.random.default_rng((seed, number, 11))
        fresh, begun = (Simulated.draw(model, n, rng) for _ in range(2))
        after = {name: x.copy() for name, x in begun.parameters.items()}
        energy = np.empty(n)
        for rows, run in begun.chains(spec, (seed, number, 13), bench):
            last = {name: x[:, 0] for name, x in run.draws.items()}
            energy[rows] = last["energy"]
            for name in after:
                after[name][rows] = last[name]
        end = begun.functions(after, energy)
        found = Moved(fresh.functions(fresh.parameters, fresh.energies()), end, share_moved(begun.parameters, after))
        judged = moved.judge(found, ITERATIONS, level / ROUNDS / 2.0)  # the other half is for differences
        differences = paired(begun.functions(begun.parameters, begun.energies()), end)
        judged = judged._replace(comparisons=(*judged.comparisons, *differences))
        return _seen_to_move(judged, simulated.unmoved(begun.parameters, after, model))

    compared = (
        f"parameters after {ITERATIONS} iterations on data simulated from them, with fresh parameters and data, for "
        f"{simulated.in_words(built, model, spec)}"
    )
    return sequential(JOINT, compared, make_round, level, ROUNDS)


def paired(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> list[Comparison]:
    """Whether the mean of each scalar, of its spread and of products of pairs is the same before and after.

    These are of ranks in both samples together, as in `two_samples`, but differences are taken row by row.
    """
    from scipy import stats

    a, b = functions.columns(before), functions.columns(after)
    both = centred_ranks([np.concatenate(x) for x in zip(a.values, b.values, strict=True)])
    x, y = both[: len(a.values[0])], both[len(a.values[0]) :]
    comparisons = []

    def add(what: str, difference: np.ndarray) -> None:
        if np.count_nonzero(difference) >= FEWEST_CHANGED:  # data never change
            z = difference.mean() / difference.std() * np.sqrt(difference.size)
            comparisons.append(
                Comparison(f"{what} before and after", float(2.0 * stats.norm.sf(abs(z))), family=PAIRED)
            )

    for k, name in enumerate(a.names):
        add(name, y[:, k] - x[:, k])
        add(f"spread of {name}", y[:, k] ** 2 - x[:, k] ** 2)
    for i, j in functions.pairs(len(a.names)):
        add(f"product of {a.names[i]} and {a.names[j]}", y[:, i] * y[:, j] - x[:, i] * x[:, j])
    return comparisons


def calibration(
    target: str | Target | None = None,
    sampler: str | None = None,
    *,
    prior: Prior | None = None,
    simulate: Simulate | None = None,
    fit: Fit | None = None,
    draws: int = DRAWS[CALIBRATION],
    ranked: int = RANKED,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether the true parameter ranks anywhere among draws of its posterior with the same probability.

    Either a sampler on a target whose data can be simulated; or any inference, by three functions. `prior(rng, n)`
    gives n values of each parameter by name, `simulate(parameters, rng)` data from one parameter set, and
    `fit(data, rng)` draws of the posterior by name, (draws, …) each, which should be nearly independent.
    """
    draws, ranked = (parameter.check(value) for parameter, value in zip(COUNTS, (draws, ranked), strict=True))
    bench = workbench or Workbench()
    given = {"prior": prior, "simulate": simulate, "fit": fit}
    if any(function is not None for function in given.values()):
        inference = _checked_inference(given, target, sampler, chosen)
        return _calibrated_inference(inference, draws, ranked, level, seed, bench)
    if target is None or sampler is None:
        raise InvalidInput("give a target and a sampler, or the functions prior, simulate and fit.")
    size = {"chains": 2, "draws": ranked, "thin": SPACING}
    built, model, spec = simulated.tested(target, sampler, chosen, size)
    if model is None or spec is None:
        return unclear(CALIBRATION, what_to_add(built), level)

    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        begun = Simulated.draw(model, n, np.random.default_rng((seed, number, 12)))
        ranks, still = _chain_ranks(begun, spec, (seed, number), bench)
        return _seen_to_move(_judged(ranks, level / ROUNDS, f" within {ranked * SPACING} iterations"), still)

    compared = (
        f"ranks of true parameters among {ranked} draws, {SPACING} iterations apart, with uniform ones, for "
        f"{simulated.in_words(built, model, spec)}"
    )
    return sequential(CALIBRATION, compared, make_round, level, ROUNDS)


def _seen_to_move(judged: Round, still: list[str]) -> Round:
    """A scalar that no chain ever moved keeps its distribution, and is not right for that."""
    if not still:
        return judged
    shown = ", ".join(still[:4]) + (", …" if len(still) > 4 else "")
    return judged._replace(enough=False, obstacle=f"No chain moved {shown}: so nothing can be said of these.")


def _chain_ranks(begun: Simulated, spec: RunSpec, seed: tuple[int, int], bench: Workbench) -> tuple[Ranks, list[str]]:
    """Ranks of the true scalars, the energy among them, in chains that go through the truth; and what never moved."""
    rng = np.random.default_rng((*seed, 16))
    target, ranked = begun.target, spec.draws
    true = _scalars(target, {**begun.parameters, "energy": begun.energies()})
    values, names = table(true, 1)
    n = len(values)
    found, last = np.empty(values.shape, int), {name: x.copy() for name, x in begun.parameters.items()}
    later = rng.integers(0, ranked + 1, n)  # how many draws of each data set come after the truth
    for rows, run in begun.chains(spec, (*seed, 13), bench):
        both = table(_scalars(target, run.draws), 2)[0].reshape(len(rows), 2 * ranked, -1)
        place = np.arange(ranked)
        used = np.concatenate([place < later[rows, None], place < (ranked - later)[rows, None]], axis=1)
        found[rows] = rank(values[rows], both, rng, used)
        for name in last:
            last[name][rows] = run.draws[name][::2, -1]
    ranks = Ranks(dict(zip(names, found.T, strict=True)), ranked, bins_for(n, ranked))
    return ranks, simulated.unmoved(begun.parameters, last, target)


def _scalars(target: Target, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Quantities, the energy, and what is derived from them."""
    return {**draws, **{name: function(draws) for name, function in target.derived.items()}}


def _judged(ranks: Ranks, level: float, where: str) -> Round:
    """The tests of all ranks, and what they would have caught."""
    comparisons = ranks.compare()
    n = len(next(iter(ranks.ranks.values())))
    reach = smallest_rank_change(n, ranks.bins, level / max(factors(comparisons).values()))
    return Round(
        comparisons,
        n,
        f"a change of {reach:.2g} in the probability of some ranks, of any quantity{where}",
        reach <= RESOLUTION,
        f"To say right, this check has to see a change of {RESOLUTION} in a probability: simulate more data sets.",
        ranks,
    )


# ---------------------------------------------------------------------------------------- anybody's inference


def _checked_inference(given: dict[str, Any], target: Any, sampler: Any, chosen: dict[str, Any]) -> Inference:
    extra = [*(["target"] if target is not None else []), *(["sampler"] if sampler is not None else []), *chosen]
    if extra:
        raise InvalidInput(
            f"{extra[0]} does not go with prior, simulate and fit: give these three functions alone, or a target and a "
            "sampler."
        )
    for name, function in given.items():
        if function is None:
            raise InvalidInput(f"{name} is missing: prior, simulate and fit are needed together.")
        if not callable(function):
            raise InvalidInput(f"{name} = {str(function)[:40]!r} is not a function.")
    return Inference(**given)


def _calibrated_inference(
    inference: Inference, draws: int, ranked: int, level: float, seed: int, bench: Workbench
) -> Finding:
    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        ranks = inference.ranks(n, ranked, np.random.default_rng((seed, number, 12)), bench)
        return _judged(ranks, level / ROUNDS, "")

    compared = f"ranks of true parameters among {ranked} draws of the posterior that fit gives, with uniform ones"
    return sequential(CALIBRATION, compared, make_round, level, ROUNDS)
