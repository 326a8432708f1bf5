"""What a person should know about a run, in plain words, each with what to do."""

from __future__ import annotations

import math

from dashboard.views import words
from dashboard.work.estimates import Estimates
from dashboard.work.runs import RunResult
from mahmc.diagnostics import FEWEST_DRAWS


def warnings(result: RunResult, estimates: Estimates | None, name: str, alive: bool) -> list[str]:
    """All that apply to the run so far; those on mixing only when there is enough to judge by."""
    spec = result.spec
    if result.run is None or result.drawn < FEWEST_DRAWS:
        return []
    wrong = [f"{spec.method.title} is wrong on purpose. {spec.method.wrong}"] if spec.method.wrong else []
    found = [*wrong, *_step_size(result)]
    if estimates is None:
        return found
    if math.isnan(estimates.ess_bulk):
        found.append(
            f"{name} never changed, so its ESS is undefined. Take a smaller step size, or another update of qᴼ."
        )
    elif estimates.apart > 0.5:
        found.append(
            f"Chains sit in different places of {name} and do not meet: each is stuck in a mode of its own. "
            "Use updates that jump (Metropolis on the component), longer trajectories, or more draws."
        )
    elif estimates.rhat > 1.01:
        found.append(
            f"R-hat of {name} is {estimates.rhat:.3f}, above 1.01: chains do not agree yet. Draw more, or tune."
        )
    if estimates.ess_bulk < 100 * spec.chains and not alive:
        found.append(
            f"ESS of {name} is {estimates.ess_bulk:.0f}, below 100 for each of {spec.chains} chains: "
            "estimates are rough. Draw more."
        )
    return found


def _step_size(result: RunResult) -> list[str]:
    spec = result.spec
    found = []
    limit = result.target.stable_epsilon
    if result.non_finite:
        found.append(f"{result.non_finite:,} proposals had an energy that is not finite and were rejected: lower ε.")
    if limit is not None and spec.values["epsilon"] > limit:
        safe = words.rounded_down(limit)
        found.append(
            f"ε = {spec.values['epsilon']:g} is beyond {safe}, where the leapfrog becomes unstable on this target: "
            f"take less than {safe}."
        )
    elif result.acceptance < 0.2:
        found.append(f"Only {result.acceptance:.1%} of the proposals are accepted: lower ε, or shorten the trajectory.")
    elif result.acceptance > 0.999:
        found.append(
            f"{result.acceptance:.2%} of the proposals are accepted: ε could be larger, and each gradient worth more."
        )
    return found
