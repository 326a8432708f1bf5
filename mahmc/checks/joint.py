"""Joint distribution tests of logistic regression: parameters and data together, on a small design.

Geweke (2004), made sequential and exact: draw (τ, β) from the prior and y from the model. Then (τ, β) is an exact draw
of the posterior given y, so a few iterations on that posterior must leave it one: (τ′, β′, y) has the distribution of
fresh forward draws. Any mistake in the likelihood, its gradient, the update of τ or the test shows. With four
observations there are sixteen data sets; the chains of each run side by side.

Simulation-based calibration (Talts et al. 2018): the rank of the true parameter among later, well separated draws of
its own chain is uniform. It says the same again, in a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mahmc.checks.moved import smallest_change
from mahmc.checks.two_samples import compare
from mahmc.checks.verdicts import LEVEL, Comparison, Finding, Round, Workbench, sequential
from mahmc.run import Run
from mahmc.spec import ALTERNATE, RunSpec
from mahmc.targets import blr

JOINT, CALIBRATION = "joint distribution", "calibration"
ROUNDS = 3
GROWTH = 4
X = np.array([[1.5, 1.0], [-1.0, 1.0], [0.5, 1.0], [-2.5, 1.0]])
PRIOR = {"shape": 2.0, "scale": 0.5}
STEP = 0.7  # ε, large enough that a few iterations go far and some are rejected
MOST_LEAPFROGS = 3
ITERATIONS = 5
RANKED = 31  # later draws, among which the first has ranks 0 … 31
SPACING = 25  # iterations between them
BINS = 16


class Ranks(NamedTuple):
    """Ranks 0 … RANKED of the true value of each parameter, one a simulated data set."""

    ranks: Mapping[str, np.ndarray]


def joint_distribution(
    sampler: str,
    *,
    draws: int = 16384,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether parameters and data keep their joint distribution when the sampler moves the parameters."""
    bench = workbench or Workbench()

    def make_round(number: int) -> Round:
        n = draws * GROWTH ** (number - 1)
        rng = np.random.default_rng((seed, number, 11))
        moved = forward(rng, n)
        for rows, after in _posteriors(moved, sampler, chosen, (seed, number), bench, draws=1, thin=ITERATIONS):
            moved["beta"][rows], moved["tau"][rows] = after["beta"][:, 0], after["tau"][:, 0]
        comparisons = compare(functions(forward(rng, n)), functions(moved))
        reach = smallest_change(n, level / ROUNDS / len(comparisons))
        return Round(comparisons, n, f"a change of any probability by {reach:.2g} within {ITERATIONS} iterations")

    compared = f"parameters after {ITERATIONS} iterations on data simulated from them, with fresh parameters and data"
    return sequential(JOINT, compared, make_round, level, ROUNDS)


def calibration(
    sampler: str,
    *,
    draws: int = 4096,
    level: float = LEVEL,
    seed: int = 0,
    workbench: Workbench | None = None,
    **chosen: Any,
) -> Finding:
    """Whether the true parameter ranks anywhere among later draws with the same probability."""
    bench = workbench or Workbench()

    def make_round(number: int) -> Round:
        from scipy import stats

        n = draws * GROWTH ** (number - 1)
        true = forward(np.random.default_rng((seed, number, 12)), n)
        ranks = {name: np.empty(n, int) for name in ("beta[0]", "beta[1]", "log_tau")}
        for rows, after in _posteriors(true, sampler, chosen, (seed, number), bench, draws=RANKED, thin=SPACING):
            later = {"beta[0]": after["beta"][..., 0], "beta[1]": after["beta"][..., 1], "log_tau": after["tau"]}
            first = {"beta[0]": true["beta"][rows, 0], "beta[1]": true["beta"][rows, 1], "log_tau": true["tau"][rows]}
            for name in ranks:
                ranks[name][rows] = (later[name] < first[name][:, None]).sum(axis=1)
        comparisons = tuple(
            Comparison(f"ranks of {name}", float(stats.chisquare(np.bincount(r * BINS // (RANKED + 1))).pvalue))
            for name, r in ranks.items()
        )
        reach = smallest_change(2 * n, level / ROUNDS / len(comparisons))
        return Round(comparisons, n, f"a change of any probability by about {reach:.2g}", exhibit=Ranks(ranks))

    compared = f"ranks of true parameters among {RANKED} later draws, {SPACING} iterations apart, with uniform ones"
    return sequential(CALIBRATION, compared, make_round, level, ROUNDS)


def forward(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """n draws of parameters from the prior and of data from the model."""
    tau = rng.gamma(PRIOR["shape"], PRIOR["scale"], n)
    beta = rng.standard_normal((n, X.shape[1])) / np.sqrt(tau)[:, None]
    y = (rng.random((n, len(X))) < 1.0 / (1.0 + np.exp(-beta @ X.T))).astype(np.int8)
    return {"beta": beta, "tau": tau, "y": y}


def functions(draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What is compared: parameters, data, and how well they go together."""
    beta, y = draws["beta"], draws["y"]
    z = beta @ X.T
    return {
        "beta[0]": beta[:, 0], "beta[1]": beta[:, 1], "log_tau": np.log(draws["tau"]), "ones in y": y.sum(axis=1),
        "log-likelihood": (y * z - np.logaddexp(0.0, z)).sum(axis=1), "y·Xβ": ((2 * y - 1) * z).sum(axis=1),
    }  # fmt: skip


def _posteriors(
    true: Mapping[str, np.ndarray],
    sampler: str,
    chosen: Mapping[str, Any],
    seed: tuple[int, int],
    bench: Workbench,
    **size: int,
) -> Any:
    """For each data set that was drawn: which draws it belongs to, and chains on its posterior that start from them."""
    code = true["y"] @ (1 << np.arange(len(X)))
    settings = {name: value for name, value in chosen.items() if name not in ("prior_only", *PRIOR)}
    settings["epsilon"] = STEP
    if settings.get("schedule", "") in ("", ALTERNATE):
        settings["L"] = min(settings.get("L", MOST_LEAPFROGS), MOST_LEAPFROGS)
    for data in np.unique(code):
        rows = np.flatnonzero(code == data)
        y = (data >> np.arange(len(X))) & 1
        target = blr(X, y, PRIOR["shape"], PRIOR["scale"])
        init = {name: true[name][rows] for name in ("beta", "tau")}
        number = int(np.random.SeedSequence((*seed, 13, int(data))).generate_state(1)[0])
        about = {"chains": len(rows), "warmup": 0, "keep": ("beta", "tau"), **size}
        spec = RunSpec.of(target, sampler, **settings, **about, seed=number)
        yield rows, bench.advance(Run(spec, target, init=init)).draws
