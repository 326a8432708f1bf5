"""What a person should know about a run, in plain words, each with what to do."""

from __future__ import annotations

import math

from dashboard.estimates import Estimates
from dashboard.jobs import Job
from mahmc.diagnostics import FEWEST_DRAWS


def warnings(job: Job, estimates: Estimates | None, name: str) -> list[str]:
    """All that apply to the run so far; those on mixing only when there is enough to judge by."""
    run, spec = job.run, job.spec
    if run is None or job.drawn < FEWEST_DRAWS:
        return []
    wrong = [f"{spec.method.title} is wrong on purpose. {spec.method.wrong}"] if spec.method.wrong else []
    found = [*wrong, *_step_size(job)]
    if estimates is None:
        return found
    if math.isnan(estimates.ess_bulk):
        found.append(
            f"{name} never changed, so its ESS is undefined. Take a smaller step size, or another update of qᴼ."
        )
    elif estimates.apart > 0.5:
        found.append(
            f"Chains sit in different places of {name} and do not meet: they are stuck in modes of their own. "
            "Use updates that jump (Metropolis on the component), longer trajectories, or more draws."
        )
    elif estimates.rhat > 1.01:
        found.append(
            f"R-hat of {name} is {estimates.rhat:.3f}, above 1.01: chains do not agree yet. Draw more, or tune."
        )
    if estimates.ess_bulk < 100 * spec.chains and not job.alive:
        found.append(
            f"ESS of {name} is {estimates.ess_bulk:.0f}, below 100 for each of {spec.chains} chains: "
            "estimates are rough. Draw more."
        )
    return found


def _step_size(job: Job) -> list[str]:
    run, spec = job.run, job.spec
    assert run is not None
    found = []
    limit = job.target.stable_epsilon
    if run.non_finite:
        found.append(f"{run.non_finite:,} proposals had an energy that is not finite and were rejected: lower ε.")
    if limit is not None and spec.values["epsilon"] > limit:
        found.append(
            f"ε = {spec.values['epsilon']:g} is beyond {limit:.3g}, where the leapfrog becomes unstable on this "
            f"target: take less than {limit:.2g}."
        )
    elif run.acceptance < 0.2:
        found.append(f"Only {run.acceptance:.1%} of the proposals are accepted: lower ε, or shorten the trajectory.")
    elif run.acceptance > 0.999:
        found.append(
            f"{run.acceptance:.2%} of the proposals are accepted: ε could be larger, and each gradient worth more."
        )
    return found
