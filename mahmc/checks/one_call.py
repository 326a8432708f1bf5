"""`mahmc.check` and `mahmc.check_sampler`: all checks of one sampler on one target, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mahmc.checks.cells import Cell
from mahmc.checks.matrix import Checking, case_of, custom_cell, step_cell
from mahmc.checks.resolution import DEFAULT, Resolution
from mahmc.checks.verdicts import LEVEL
from mahmc.parameters import InvalidInput
from mahmc.schedules import Schedule
from mahmc.spec import RUN_PARAMETERS, RunSpec
from mahmc.targets import Target

CHOSEN_BY_CHECKS = (*(name for name in RUN_PARAMETERS if name != "seed"), "start", "keep")


def check(
    target: str | Target,
    sampler: str,
    *,
    budget: float = 1.0,
    level: float = LEVEL,
    seed: int | None = 0,
    resolution: Resolution = DEFAULT,
    epsilon: float | None = None,
    L: int | None = None,
    n_u: int | None = None,
    alpha: float | None = None,
    delta: float | None = None,
    T: float | None = None,
    visits: int | None = None,
    update: str | Sequence[str] | None = None,
    outer: str | None = None,
    schedule: str | Schedule | None = None,
    **settings: Any,
) -> Cell:
    """All checks of one sampler on one target.

    Parameters
    ----------
    target
        A target by name, or a built target.
    sampler
        A sampler by name.
    budget
        The factor of the usual number of draws, between 0.01 and 100.
    level
        The probability of a false alarm.
    seed
        Same seed, same verdict. None takes a new seed.
    resolution
        The sizes of the errors that a verdict of *right* must rule out, by kind; see `check_sampler`.
    epsilon, L, n_u, alpha, delta, T, visits, update, outer, schedule
        Parameters of the sampler, as `mahmc.sample` takes them.
    **settings
        Settings of a target that is given by name.

    Returns
    -------
    Cell
        `verdict` is right, wrong or not enough draws to tell; `words` gives the reasons; `findings` has each check.

    Raises
    ------
    InvalidInput
        If an argument cannot be used. The message says what is allowed.

    Examples
    --------
    >>> mahmc.check("gmm", "naive").verdict
    <Verdict.WRONG: 'wrong'>
    """
    for name in CHOSEN_BY_CHECKS:
        if settings.get(name) is not None:
            raise InvalidInput(f"the checks choose {name} themselves: use budget for more or fewer draws.")
    chosen = {
        "epsilon": epsilon, "L": L, "n_u": n_u, "alpha": alpha, "delta": delta, "T": T, "visits": visits,
        "update": update, "outer": outer, "schedule": schedule,
    }  # fmt: skip
    given = {name: value for name, value in chosen.items() if value is not None}
    spec = RunSpec.of(target, sampler, **given, **settings)
    built = target if isinstance(target, Target) else spec.build_target()
    cell = custom_cell(built, sampler, spec.chosen)
    Checking([cell], budget, level, seed, resolution).advance_all()
    return cell


def check_sampler(
    sampler: Any,
    target: str | Target = "gmm-overlapping",
    *,
    name: str = "",
    budget: float = 1.0,
    level: float = LEVEL,
    seed: int | None = 0,
    resolution: Resolution = DEFAULT,
    **settings: Any,
) -> Cell:
    """All checks of a sampler that you wrote, on a target with exact draws.

    Parameters
    ----------
    sampler
        A function `step(states, rng)`, or an object or class with `step`. If the sampler keeps more than the state, the
        object has `init` too. States are arrays (chains, …) by quantity. See `mahmc.checks.steps`.
    target
        A target by name ("mdc", "gmm", …), a case by name ("gmm-overlapping", "blr-prior"), or a built target.
    name
        The name of the sampler in findings; by default the name of the function or class.
    budget, level, seed
        The factor of the usual number of draws; the probability of a false alarm; the seed of random numbers.
    resolution
        The sizes of the errors that a verdict of *right* must rule out, by kind: "mean" (in standard deviations),
        "variance" (as a share), "probability", "product" (of two ranks) or "flow" (between discrete states). Kinds that
        are left out keep the default size of each check.
    **settings
        Settings of a target that is given by name.

    Returns
    -------
    Cell
        `verdict` is right, wrong or not enough draws to tell; `words` gives the reasons; `findings` has each check.

    Raises
    ------
    InvalidInput
        If the sampler cannot be checked, or another argument cannot be used. The message says why.

    Examples
    --------
    >>> def walk(states, rng):
    ...     return {**states, "q": states["q"] + rng.normal(size=states["q"].shape)}
    >>> mahmc.check_sampler(walk, "gmm").verdict
    <Verdict.WRONG: 'wrong'>
    """
    case, built = case_of(target, settings)
    cell = step_cell(sampler, case, built, name)
    Checking([cell], budget, level, seed, resolution).advance_all()
    return cell
