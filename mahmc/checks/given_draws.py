"""`checks.marginals`: the check of marginals, for draws that a user gives or for a sampler of mahmc on a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mahmc.checks.margins import CHECK, RESOLUTION, check_marginals, compared, judge
from mahmc.checks.reference import Reference
from mahmc.checks.subjects import Chains, Derived, Exact, Size, engine_subject
from mahmc.checks.verdicts import LEVEL, Finding, Workbench, checked_level, sequential
from mahmc.parameters import InvalidInput
from mahmc.spec import checked_seed
from mahmc.targets import Target, Truth

FEWEST_CHAINS = 4  # fewer chains do not tell how precise their mean is


def marginals(found: Any, known: Any, size: Size | None = None, *, from_exact: bool = False, level: float = LEVEL,
              seed: int | None = 0, workbench: Workbench | None = None, **chosen: Any) -> Finding:  # fmt: skip
    """Whether long chains have the distribution of a target.

    Give either draws of your own and the truth, or a target and a sampler of mahmc.

    Parameters
    ----------
    found
        Draws of your own, arrays (chains, draws, …) by quantity; or a target, by name or built.
    known
        For draws of your own: a function `exact(rng, n)` that draws n exact states by name, a mapping of a `Truth` by
        scalar, or a built target. Otherwise: a sampler by name.
    size
        For a sampler: the number and the length of its chains; by default the size that `mahmc.check` uses.
    from_exact
        For draws of your own: whether each chain started from an exact draw.
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
    >>> draws = {"x": np.random.default_rng(1).normal(size=(64, 500))}
    >>> mahmc.checks.marginals(draws, lambda rng, n: {"x": rng.normal(size=n)}).verdict
    <Verdict.RIGHT: 'right'>
    """
    if not isinstance(found, Mapping):
        subject = engine_subject(found, known, chosen)
        about = {"level": checked_level(level), "seed": checked_seed(seed)}
        return check_marginals(subject, size or subject.size(1.0), **about, workbench=workbench)  # type: ignore[arg-type]
    exact, truths, derived = _known(known)
    draws = _checked_draws(found)
    reference, seed = None, checked_seed(seed)
    if exact is not None:
        draws = _in_order(draws, exact)
        reference = Reference(exact, derived, np.random.default_rng((seed, 9)), truths)
    elif missing := [name for name in truths if name not in Chains(draws).names]:
        raise InvalidInput(
            f"there are no draws of {missing[0]}, whose distribution is known. There are draws of {_listed(draws)}."
        )
    sizes = (workbench or Workbench()).sizes(RESOLUTION)
    made = judge(Chains(draws, derived, from_exact), truths, checked_level(level), reference, sizes)
    return sequential(CHECK, compared(truths, reference), lambda number: made, level, rounds=1)


def _known(known: Any) -> tuple[Exact | None, Mapping[str, Truth], Derived]:
    """Exact draws, known distributions and derived quantities, from the second argument of `marginals`."""
    if isinstance(known, Target):
        return known.truth.exact, known.truth.scalars, known.presentation.derived
    if isinstance(known, Mapping) and known and all(isinstance(truth, Truth) for truth in known.values()):
        return None, known, {}
    if callable(known):
        return known, {}, {}
    raise InvalidInput(
        "the second argument must be the truth: a function exact(rng, n), a mapping of a Truth by scalar, or a target."
    )


def _in_order(draws: Mapping[str, np.ndarray], exact: Exact) -> dict[str, np.ndarray]:
    """Draws in the order of exact draws, if the two have the same quantities of the same shapes."""
    shapes = {str(name): np.shape(x)[1:] for name, x in exact(np.random.default_rng(0), 2).items()}
    if missing := [name for name in shapes if name not in draws]:
        raise InvalidInput(
            f"exact gives {missing[0]}, but there are no draws of it. There are draws of {_listed(draws)}."
        )
    if extra := [name for name in draws if name not in shapes]:
        raise InvalidInput(
            f"there are draws of {extra[0]}, but exact does not give it: leave {extra[0]} out, or draw it in exact."
        )
    for name, shape in shapes.items():
        if draws[name].shape[2:] != shape:
            raise InvalidInput(f"{name} has the shape {draws[name].shape[2:]} in a draw and {shape} in an exact one.")
    return {name: draws[name] for name in shapes}


def _listed(draws: Mapping[str, np.ndarray]) -> str:
    return ", ".join(draws)


def _checked_draws(draws: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Draws as arrays (chains, draws, …), all of the same length."""
    found = {str(name): np.asarray(x) for name, x in draws.items()}
    shapes = {name: x.shape for name, x in found.items()}
    if not found or any(len(shape) not in (2, 3) for shape in shapes.values()):
        raise InvalidInput(
            f"draws must be arrays (chains, draws) or (chains, draws, size) by name; the shapes are {shapes}."
        )
    first = next(iter(shapes.values()))[:2]
    if any(shape[:2] != first for shape in shapes.values()):
        raise InvalidInput(f"each quantity must have the same numbers of chains and draws; the shapes are {shapes}.")
    if first[0] < FEWEST_CHAINS or first[1] < 2:
        raise InvalidInput(f"{first[0]} chains of {first[1]} draws: at least {FEWEST_CHAINS} chains of 2 are needed.")
    for name, x in found.items():
        if not np.isfinite(x).all():
            raise InvalidInput(f"draws of {name} have values that are not finite.")
    return found
