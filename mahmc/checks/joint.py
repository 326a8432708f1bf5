"""Joint distribution tests of parameters and data, for any target with a model that simulates its data.

Geweke (2004), made sequential and exact: draw parameters θ from the prior and data y from the model. Then θ is an exact
draw of the posterior given y, and some iterations on this posterior turn θ into θ′, which must be an exact draw too. So
(θ′, y) has the distribution of (θ, y), and of fresh forward draws. A mistake in the likelihood, in an update or in the
acceptance test shows. Where the data determine θ well, differences between (θ′, y) and (θ, y) show more than a
comparison with fresh draws, because y is the same in both.

Simulation-based calibration (Talts et al. 2018): the rank of the true θ among draws of a chain on its posterior is
uniform. Neighbouring draws are similar, so θ must have no special place among them: one chain goes from θ to later
times, another chain goes to earlier times, and the number of draws from each chain is random. For a reversible sampler
the ranks are then uniform, however slowly it mixes. For other samplers they are nearly uniform, because the draws lie
far apart.
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
from mahmc.checks.resolution import Resolution
from mahmc.checks.simulated import Simulated, what_to_add
from mahmc.checks.subjects import Moved, share_moved
from mahmc.checks.two_samples import centred_ranks
from mahmc.checks.verdicts import LEVEL, ComparedStatistic, Finding, Round, Workbench, factors, sequential, unclear
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
FEWEST_CHANGED = 50  # nonzero differences, so that their mean is nearly normal
ITERATIONS = 16  # of Geweke's test: the length of a run's first chunk
SPACING = 25  # iterations between draws that are ranked
RESOLUTION = {"probability": 0.05}  # a verdict of right needs a check that catches these
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
    """Whether parameters and data keep their joint distribution when the sampler moves the parameters.

    Parameters
    ----------
    target
        A target by name, or a built target. It must have a prior and a model that simulates data.
    sampler
        A sampler by name.
    draws
        The number of simulated data sets in the first round; each further round has four times as many.
    level
        The probability of a false alarm.
    seed
        Same seed, same finding.
    workbench
        The resolution that people set, and a way to stop the check; by default the check's own resolution.
    **chosen
        Parameters of the sampler, as `mahmc.sample` takes them, and settings of a target that is given by name.

    Returns
    -------
    Finding
        The verdict with its reasons: `verdict`, `words`, `p_value` and `comparisons`.

    Raises
    ------
    InvalidInput
        If an argument cannot be used. The message says what is allowed.

    Examples
    --------
    >>> mahmc.checks.joint_distribution("blr", "hmc", draws=64).wrong
    False
    """
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
            for name, x in after.items():
                x[rows] = last[name]
        end = begun.functions(after, energy)
        found = Moved(fresh.functions(fresh.parameters, fresh.energies()), end, share_moved(begun.parameters, after))
        sizes = bench.sizes(moved.RESOLUTION)
        judged = moved.judge(found, ITERATIONS, level / ROUNDS / 2.0, sizes)  # the other half: differences
        differences = paired(begun.functions(begun.parameters, begun.energies()), end)
        judged = judged._replace(comparisons=(*judged.comparisons, *differences))
        return _seen_to_move(judged, simulated.unmoved(begun.parameters, after, model))

    compared = (
        f"parameters after {ITERATIONS} iterations on data simulated from them, with fresh parameters and data, for "
        f"{simulated.in_words(built, model, spec)}"
    )
    return sequential(JOINT, compared, make_round, level, ROUNDS)


def paired(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> list[ComparedStatistic]:
    """Whether the mean of each scalar, of its spread and of products of pairs is the same before and after.

    The means are of ranks in the pooled samples, as in `two_samples`, but differences are taken row by row.
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
                ComparedStatistic(f"{what} before and after", float(2.0 * stats.norm.sf(abs(z))), family=PAIRED)
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
    """Whether all ranks of the true parameter among draws of its posterior have the same probability.

    Give either a target and a sampler, or the three functions `prior`, `simulate` and `fit` of any inference.

    Parameters
    ----------
    target
        A target by name, or a built target. It must have a prior and a model that simulates data.
    sampler
        A sampler by name.
    prior
        A function `prior(rng, n)` that returns n values of each parameter by name.
    simulate
        A function `simulate(parameters, rng)` that returns data for one parameter set.
    fit
        A function `fit(data, rng)` that returns draws of the posterior by name, (draws, …) each. The draws should be
        nearly independent.
    draws
        The number of simulated data sets in the first round; each further round has four times as many.
    ranked
        The number of draws of each posterior that the true value is ranked among.
    level
        The probability of a false alarm.
    seed
        Same seed, same finding.
    workbench
        The resolution that people set, and a way to stop the check; by default the check's own resolution.
    **chosen
        Parameters of the sampler, as `mahmc.sample` takes them, and settings of a target that is given by name.

    Returns
    -------
    Finding
        The verdict with its reasons: `verdict`, `words`, `p_value` and `comparisons`.

    Raises
    ------
    InvalidInput
        If an argument cannot be used. The message says what is allowed.

    Examples
    --------
    >>> def prior(rng, n):
    ...     return {"mu": rng.normal(size=n)}
    >>> def simulate(parameters, rng):
    ...     return rng.normal(parameters["mu"], size=5)
    >>> def fit(data, rng):  # the exact posterior
    ...     return {"mu": rng.normal(data.sum() / 6, 6**-0.5, size=31)}
    >>> mahmc.checks.calibration(prior=prior, simulate=simulate, fit=fit, draws=2048).wrong
    False
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
        where = f" within {ranked * SPACING} iterations"
        return _seen_to_move(_judged(ranks, level / ROUNDS, bench.sizes(RESOLUTION), where), still)

    compared = (
        f"ranks of true parameters among {ranked} draws, {SPACING} iterations apart, with uniform ranks, for "
        f"{simulated.in_words(built, model, spec)}"
    )
    return sequential(CALIBRATION, compared, make_round, level, ROUNDS)


def _seen_to_move(judged: Round, still: list[str]) -> Round:
    """The round; not enough for a verdict of right if no chain moved some scalar, which then keeps its distribution."""
    if not still:
        return judged
    shown = ", ".join(still[:4]) + (", …" if len(still) > 4 else "")
    return judged._replace(enough=False, obstacle=f"No chain moved {shown}, so this check says nothing about it.")


def _chain_ranks(begun: Simulated, spec: RunSpec, seed: tuple[int, int], bench: Workbench) -> tuple[Ranks, list[str]]:
    """Ranks of the true scalars and the energy in chains through the truth; and the scalars that never moved."""
    rng = np.random.default_rng((*seed, 16))
    target, ranked = begun.target, spec.draws
    true = _scalars(target, {**begun.parameters, "energy": begun.energies()})
    values, names = table(true, 1)
    n = len(values)
    found, last = np.empty(values.shape, int), {name: x.copy() for name, x in begun.parameters.items()}
    later = rng.integers(0, ranked + 1, n)  # the number of draws after the truth, for each data set
    for rows, run in begun.chains(spec, (*seed, 13), bench):
        both = table(_scalars(target, run.draws), 2)[0].reshape(len(rows), 2 * ranked, -1)
        place = np.arange(ranked)
        used = np.concatenate([place < later[rows, None], place < (ranked - later)[rows, None]], axis=1)
        found[rows] = rank(values[rows], both, rng, used)
        for name, x in last.items():
            x[rows] = run.draws[name][::2, -1]
    ranks = Ranks(dict(zip(names, found.T, strict=True)), ranked, bins_for(n, ranked))
    return ranks, simulated.unmoved(begun.parameters, last, target)


def _scalars(target: Target, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Quantities, the energy, and derived quantities."""
    return {**draws, **{name: function(draws) for name, function in target.presentation.derived.items()}}


def _judged(ranks: Ranks, level: float, resolution: Resolution, where: str = "") -> Round:
    """The tests of all ranks, and the errors that they would have caught."""
    comparisons = ranks.compare()
    n = len(next(iter(ranks.ranks.values())))
    reach = smallest_rank_change(n, ranks.bins, level / max(factors(comparisons).values()))
    return Round(
        comparisons,
        n,
        f"a change of {reach:.2g} in the probability of a set of ranks, for every quantity{where}",
        reach <= resolution["probability"],
        f"For a verdict of right, this check must catch a change of {resolution['probability']:g} in a probability: "
        "simulate more data sets.",
        ranks,
    )


# ---------------------------------------------------------------------------------------- inference by functions


def _checked_inference(given: dict[str, Any], target: Any, sampler: Any, chosen: dict[str, Any]) -> Inference:
    extra = [*(["target"] if target is not None else []), *(["sampler"] if sampler is not None else []), *chosen]
    if extra:
        raise InvalidInput(
            f"{extra[0]} cannot be given together with prior, simulate and fit: give these three functions alone, or "
            "give a target and a sampler."
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
        return _judged(ranks, level / ROUNDS, bench.sizes(RESOLUTION))

    compared = f"ranks of true parameters among {ranked} draws of the posterior from fit, with uniform ranks"
    return sequential(CALIBRATION, compared, make_round, level, ROUNDS)
