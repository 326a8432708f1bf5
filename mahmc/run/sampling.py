"""`mahmc.sample` and `mahmc.load`: a run in one call, and a run from a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mahmc.progress import progress as progress_bar
from mahmc.run import storage
from mahmc.run.advancing import Run
from mahmc.run.problems import SamplingWarning
from mahmc.schedules import Schedule
from mahmc.spec import RunSpec
from mahmc.targets import Target


def sample(
    target: str | Target,
    sampler: str,
    *,
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
    chains: int | None = 16,
    draws: int | None = 2_000,
    warmup: int | None = 200,
    thin: int | None = 1,
    seed: int | None = 0,
    start: str | None = None,
    keep: str | Sequence[str] | None = None,
    init: Mapping[str, np.ndarray] | None = None,
    threads: int | None = None,
    progress: bool = True,
    warn: bool = True,
    **settings: Any,
) -> Run:
    """Draw chains.

    Parameters of the sampler that are left out have the paper's best value for the target, or a default. Ctrl-C stops
    the chains: the run is returned with the draws so far, and a RuntimeWarning.

    Parameters
    ----------
    target
        A target by name ("mdc", "blr", "gmm", or the name of a custom target), or a built target.
    sampler
        "mala", "hmc", "mala-p", "mala-pn", "mahmc" or "m-hmc"; wrong on purpose are "naive" and "asymmetric".
    epsilon
        Step size of the leapfrog.
    L
        Leapfrogs between two updates of q^O; for hmc in the whole trajectory.
    n_u
        Segments of L leapfrogs in a trajectory of mahmc.
    alpha
        The share of the momentum that mala-p and mala-pn keep from step to step.
    delta
        The distance that the persistent uniform of mala-pn moves at each step.
    T, visits
        Travel time of a trajectory of m-hmc, and the number of visits to discrete variables in it.
    update
        The updates of q^O inside trajectories: one or more of the target's updates, by name.
    outer
        The update of q^O after each trajectory, or "none".
    schedule
        The law of a trajectory's steps, for mahmc, as text or from `mahmc.schedules`.
    chains, draws, warmup
        The number of chains; the draws that each chain records; the draws before them, which no estimate uses.
    thin
        Keep every `thin`-th iteration.
    seed
        Same settings and same seed: the same draws, bit for bit. None takes a new seed, which `run.spec` keeps.
    start
        "default", or "exact": then chains start from exact draws, which the target must have.
    keep
        Quantities to record; by default all quantities of the target and the energy.
    init
        The state that each chain starts from, instead of `start`: an array (chains, …) for each quantity of the target.
    threads
        The number of threads; by default one for each core. Draws do not depend on it.
    progress
        Whether a progress bar may be shown: on a terminal or in a notebook, if the run takes over a second.
    warn
        Whether each reason not to trust the draws gives a SamplingWarning; see `run.warnings`.
    **settings
        Settings of a target that is given by name, such as `n_w=20` for mdc.

    Returns
    -------
    Run
        The chains: `run.draws`, `run.acceptance`, `run.summary()`, `run.ess("u")`, `run.extend(1_000)` and more.

    Raises
    ------
    InvalidInput
        If an argument cannot be used. The message says what is allowed.

    Warns
    -----
    SamplingWarning
        For an R-hat above 1.01, few effective draws, energies that are not finite, or an acceptance near zero.

    Examples
    --------
    >>> run = mahmc.sample("mdc", "mahmc", epsilon=0.04, L=10, n_u=10, chains=16, draws=4_000, seed=7)
    >>> run.draws["u"].shape
    (16, 4000)
    """
    chosen = {
        "epsilon": epsilon, "L": L, "n_u": n_u, "alpha": alpha, "delta": delta, "T": T, "visits": visits,
        "update": update, "outer": outer, "schedule": schedule, "chains": chains, "draws": draws, "warmup": warmup,
        "thin": thin, "start": start, "keep": keep,
    }  # fmt: skip
    given = {name: value for name, value in chosen.items() if value is not None}
    spec = RunSpec.of(target, sampler, seed=seed, **given, **settings)
    run = Run(spec, target if isinstance(target, Target) else None, threads, init)
    try:
        with progress_bar(spec.slots, "draws", quiet=not progress) as bar:
            for step in run:
                bar.reach(step.done, f"{step.leapfrogs_per_second:.2g} leapfrogs/s")
    except KeyboardInterrupt:
        run.stop()
        warnings.warn(
            f"stopped by Ctrl-C after {run.done} of {spec.slots} draws of each chain, including the warm-up. The run "
            "has the draws so far, and run.advance_all() goes on exactly where it stopped.",
            RuntimeWarning,
            stacklevel=2,
        )
        return run
    for text in run.warnings if warn else ():
        warnings.warn(text, SamplingWarning, stacklevel=2)
    return run


def load(path: str | os.PathLike[str], target: Target | None = None, threads: int | None = None) -> Run:
    """Read a run that `run.save` wrote. The run can go on, with the same draws as if it had never been saved.

    With another version of mahmc, numba or NumPy the last bits of further draws may differ.

    Parameters
    ----------
    path
        The file. Nothing in it is executed.
    target
        The target, if the run used your own data: build it with the same data. By default the target that the file
        names.
    threads
        The number of threads; by default one for each core.

    Returns
    -------
    Run
        The run as it was saved.

    Raises
    ------
    InvalidInput
        If the file is damaged or not from `run.save`, or if its target is unknown or has changed.

    Examples
    --------
    >>> mahmc.sample("gmm", "mahmc", draws=1_000).save("run.npz")
    >>> mahmc.load("run.npz").extend(500).draws["q"].shape
    (16, 1500)
    """
    about, arrays = storage.read(path)
    spec, built = storage.target_of(path, about, target)
    storage.refuse_other_places(path, spec, built, arrays)
    run = Run.at(spec, built, threads, storage.places(arrays))
    storage.refuse_unlike(path, run, arrays)
    run.put_back(arrays, about["others"])
    return run
