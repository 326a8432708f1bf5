"""Warnings about a run, each with advice. The engine has most of the rules."""

from __future__ import annotations

from dashboard.views import words
from dashboard.work.estimates import Estimates
from dashboard.work.runs import RunResult
from mahmc.diagnostics import FEWEST_DRAWS
from mahmc.glossary import TERMS
from mahmc.numerals import exact, rounded_down
from mahmc.run import problems


def warnings(result: RunResult, estimates: Estimates | None, name: str, alive: bool) -> list[str]:
    """The warnings that apply to the run so far. Warnings on mixing need enough draws."""
    spec = result.spec
    if result.run is None or result.drawn < FEWEST_DRAWS:
        return []
    wrong = [f"{spec.method.title} is wrong on purpose. {spec.method.wrong}"] if spec.method.wrong else []
    found = [*wrong, *_stuck(result), *_step_size(result)]
    if estimates is None:
        return found
    found += problems.mixing(name, estimates.ess_bulk, estimates.rhat, estimates.spread_of_means)
    return found if alive else found + problems.rough(name, estimates.ess_bulk, spec.chains)


def _stuck(result: RunResult) -> list[str]:
    if not result.stuck:
        return []
    text = f"{words.stuck(result).strip().removesuffix('.')}: every proposal since the warm-up was rejected."
    if result.stuck == result.spec.chains:
        return [f"{text} So there is no Monte Carlo error."]
    return [f"{text} All charts count these chains, but Monte Carlo errors are those of the chains that moved."]


def antithetic(result: RunResult, found: Estimates | None, name: str) -> list[str]:
    """An explanation of an effective sample size above the number of draws."""
    if found is None or not found.ess_bulk > found.draws * result.spec.chains:
        return []
    return [f"The ESS of {name} is above the number of draws. This is not an error: {TERMS['antithetic'].long}"]


def _step_size(result: RunResult) -> list[str]:
    spec = result.spec
    found = problems.energies(result.non_finite)
    limit = result.target.density.stable_epsilon
    if limit is not None and spec.values["epsilon"] > limit:
        safe = rounded_down(limit)
        found.append(
            f"ε = {exact(spec.values['epsilon'])} is too large: above {safe} the leapfrog is unstable on this target. "
            f"Take less than {safe}."
        )
        return found
    if result.acceptance > 0.999:
        found.append(
            f"{rounded_down(100.0 * result.acceptance, 4)} % of the proposals are accepted: a larger ε would give "
            "more from each gradient."
        )
    return found + problems.rejections(result.acceptance)
