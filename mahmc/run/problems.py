"""Reasons not to trust a run, in words: rules and thresholds for Python warnings, summaries and the dashboard.

R-hat and ESS are computed from at most MOST_VALUES draws of the main quantity: all draws of a short run, and every
k-th draw of a long one. So the rules take a few hundredths of a second, however long the run is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mahmc import diagnostics
from mahmc.numerals import rounded_down, rounded_up

if TYPE_CHECKING:
    from mahmc.run.results import Results

MOST_RHAT = 1.01
LEAST_ESS, MANY_CHAINS = 100, 16  # effective draws for each chain, counted for at most 16 chains
LEAST_ACCEPTANCE = 0.2
MOST_APART = 0.5  # spread of the chains' means, in standard deviations of all draws
MOST_VALUES, MOST_CHAINS = 20_000, 50


class SamplingWarning(UserWarning):
    """The draws of a run should not be trusted yet. The message says why, and what to do."""


def problems(run: Results) -> list[str]:
    """Reasons not to trust a run, one text for each. A run that is too short to be judged has none."""
    drawn = run.draws_done
    if drawn < diagnostics.FEWEST_DRAWS:
        return []
    found = energies(run.non_finite) + rejections(run.acceptance)
    name = run.target.presentation.main_quantity
    if name not in run.names:
        return found
    chains = slice(None, None, -(-run.spec.chains // MOST_CHAINS))
    every = -(-drawn * min(run.spec.chains, MOST_CHAINS) // MOST_VALUES)
    every = min(every, drawn // diagnostics.FEWEST_DRAWS)
    x = np.asarray(run.get(name)[chains, ::every], float)
    of = name if every == 1 else f"{name} (one draw in {every})"
    ess = diagnostics.ess(x)
    of_all = ess * run.spec.chains / x.shape[0]
    return found + mixing(of, ess, diagnostics.rhat(x), apart(x)) + rough(of, of_all, run.spec.chains)


def energies(non_finite: int) -> list[str]:
    """The warning about energies that are not finite, if there were any."""
    if not non_finite:
        return []
    return [f"{non_finite:,} proposals had an energy that is not finite and were rejected: lower ε."]


def rejections(acceptance: float) -> list[str]:
    """The warning about a low acceptance, if it is low."""
    if acceptance >= LEAST_ACCEPTANCE:
        return []
    return [
        f"Only {rounded_down(100.0 * acceptance)} % of the proposals are accepted: lower ε, or shorten the trajectory."
    ]


def mixing(name: str, ess: float, rhat: float, apart: float) -> list[str]:
    """The warning about chains that do not mix, by diagnostics of one quantity."""
    if math.isnan(ess):
        return [f"{name} never changed, so its ESS is undefined. Take a smaller step size, or another update of qᴼ."]
    if apart > MOST_APART:
        return [
            f"Chains have different means of {name} and do not mix: each chain stays in one mode. "
            "Use updates that jump (Metropolis on the component), longer trajectories, or more draws."
        ]
    if rhat > MOST_RHAT:
        return [
            f"R-hat of {name} is {rounded_up(rhat, 4)}, above {MOST_RHAT}: chains do not agree yet. Draw more, or tune."
        ]
    return []


def rough(name: str, ess: float, chains: int) -> list[str]:
    """The warning about a small ESS of one quantity, for a run that gets no more draws."""
    if not ess < least_ess(chains):
        return []
    least = f"{LEAST_ESS} for each of {chains} chains" if chains <= MANY_CHAINS else f"{least_ess(chains):,}"
    return [f"ESS of {name} is {math.floor(ess):,}, below {least}: estimates are rough. Draw more."]


def least_ess(chains: int) -> int:
    """The ESS of all chains together below which estimates are called rough."""
    return LEAST_ESS * min(chains, MANY_CHAINS)


def apart(x: np.ndarray) -> float:
    """How far chains (chains, draws) lie apart: the sd of their means, in standard deviations of all draws."""
    sd = float(x.std())
    return float(x.mean(axis=1).std()) / sd if sd > 0 else math.nan
