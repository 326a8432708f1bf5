"""ESS, R-hat and Monte Carlo errors as ArviZ defines them, NaN where they are undefined; and ArviZ's containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mahmc.precision import FEWEST_DRAWS, Precision, in_parallel, of_each
from mahmc.version import __version__

if TYPE_CHECKING:
    from mahmc.run import Results

__all__ = [
    "FEWEST_DRAWS", "array_stats", "arviz", "by_element", "ess", "ess_interval", "mcse", "of_each", "rhat", "to_arviz",
]  # fmt: skip
OWN_KINDS = ("bulk", "tail", "mean")  # of ESS, computed here; other kinds are left to arviz-stats


@cache
def array_stats() -> Any:
    """ArviZ's statistics of arrays, imported when first needed: this takes 2 s, and all of ArviZ 3.5 s."""
    from arviz_stats.base import array_stats

    return array_stats


@cache
def arviz() -> Any:
    """ArviZ, for its container and NetCDF. Imported when first needed: it takes seconds."""
    import arviz

    if arviz.__version__.startswith("0."):  # ArviZ 0.x has numba code that fails with NumPy 2.4 and later
        arviz.utils.Numba.disable_numba()
    return arviz


def defined(x: np.ndarray) -> bool:
    """Whether the diagnostics of chains are defined.

    Parameters
    ----------
    x
        Chains: (chains, draws).

    Returns
    -------
    bool
        Whether there are at least 8 draws, no NaN, and at least one chain that moved. (For a constant, ArviZ gives
        ESS = N.)

    Examples
    --------
    >>> mahmc.diagnostics.defined(np.ones((4, 100)))
    False
    """
    return Precision(x).defined


def ess(x: np.ndarray, kind: str = "bulk") -> float:
    """Effective sample size, as ArviZ defines it.

    Parameters
    ----------
    x
        Chains: (chains, draws).
    kind
        "bulk", "tail", or another method of ArviZ.

    Returns
    -------
    float
        NaN where undefined: fewer than 8 draws, or chains that never moved.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_normal((4, 1_000))
    >>> 3_000 < mahmc.diagnostics.ess(x) < 5_000
    True
    """
    found = Precision(x)
    if kind in OWN_KINDS or not found.defined:
        return float(getattr(found, f"ess_{kind}", np.nan))
    return float(array_stats().ess(found.x, method=kind))


def rhat(x: np.ndarray) -> float:
    """Rank-normalised split R-hat, as ArviZ defines it.

    Parameters
    ----------
    x
        Chains: (chains, draws).

    Returns
    -------
    float
        NaN where undefined: fewer than 8 draws, a single chain, or chains that never moved.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_normal((4, 1_000))
    >>> mahmc.diagnostics.rhat(x) < 1.01 < mahmc.diagnostics.rhat(x + [[0], [0], [0], [1]])
    True
    """
    return Precision(x).rhat


def mcse(x: np.ndarray, kind: str = "mean") -> float:
    """Monte Carlo standard error, as ArviZ defines it.

    Parameters
    ----------
    x
        Chains: (chains, draws).
    kind
        The estimate whose error is wanted: "mean", "sd", or another method of ArviZ.

    Returns
    -------
    float
        NaN where undefined: fewer than 8 draws, or chains that never moved.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_normal((4, 1_000))
    >>> 0.01 < mahmc.diagnostics.mcse(x) < 0.02
    True
    """
    found = Precision(x)
    if kind in ("mean", "sd") or not found.defined:
        return float(getattr(found, f"mcse_{kind}", np.nan))
    return float(array_stats().mcse(found.x, method=kind))


def by_element(statistic: Callable[..., float], x: np.ndarray, *options: Any) -> float | np.ndarray:
    """The statistic of chains, or of each element of a vector, on all cores.

    Parameters
    ----------
    statistic
        A function of (chains, draws), as `ess`.
    x
        Chains: (chains, draws), or (chains, draws, size) for a vector.
    *options
        Further arguments of the statistic.

    Returns
    -------
    float or numpy.ndarray
        One value, or one value for each element.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_normal((4, 1_000, 3))
    >>> mahmc.diagnostics.by_element(mahmc.diagnostics.rhat, x).shape
    (3,)
    """
    if x.ndim == 2:
        return statistic(x, *options)
    return np.array(in_parallel(lambda i: statistic(x[..., i], *options), range(x.shape[-1]), x[..., 0].size))


def to_arviz(run: Results) -> Any:
    """A run as InferenceData (ArviZ 0.x) or DataTree (1.x).

    Parameters
    ----------
    run
        A run, finished or not.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        `posterior` has the draws. `sample_stats` has the energy of each draw, if other quantities were kept too, and
        the acceptance of each kind of test by chain, such as `acceptance_trajectory`. If there is a warm-up,
        `warmup_posterior` and `warmup_sample_stats` have the same for it. The attributes of `posterior` are the spec
        as JSON, the acceptance of all chains, and the version of mahmc.

    Examples
    --------
    >>> data = mahmc.diagnostics.to_arviz(mahmc.sample("gmm", "mahmc", chains=4, draws=100, warn=False))
    >>> data["sample_stats"]["acceptance_trajectory"].shape
    (4,)
    """
    import xarray as xr

    az = arviz()
    about = {"inference_library": "mahmc", "inference_library_version": __version__}
    attributes = about | {"spec": run.spec.to_json(), "acceptance": run.acceptance}
    rates = {kind: found.by_chain for kind, found in run.acceptances.items() if found.rate is not None}
    accepted = {f"acceptance_{kind}": ("chain", rate) for kind, rate in rates.items()}
    groups = dict(zip(("posterior", "sample_stats"), _datasets(run.draws), strict=True))
    groups["sample_stats"] = groups["sample_stats"].assign(accepted)
    if run.spec.warmup:
        groups |= zip(("warmup_posterior", "warmup_sample_stats"), _datasets(run.warmup_draws), strict=True)
    groups = {name: group.assign_attrs(attributes if name == "posterior" else about) for name, group in groups.items()}
    return az.InferenceData(**groups) if az.__version__.startswith("0.") else xr.DataTree.from_dict(groups)


def _datasets(draws: Mapping[str, np.ndarray]) -> tuple[Any, Any]:
    """Draws as ArviZ groups them: the quantities in one dataset, and the energy in another."""
    import xarray as xr

    chains, n = next(iter(draws.values())).shape[:2]
    coordinates = {"chain": np.arange(chains), "draw": np.arange(n)}
    variables = {}
    for name, x in draws.items():
        vector = [f"{name}_dim"] if x.ndim == 3 else []
        variables[name] = (["chain", "draw", *vector], np.ascontiguousarray(x))
        coordinates |= {dim: np.arange(x.shape[2]) for dim in vector}
    apart = "energy" in variables and len(variables) > 1  # ArviZ 0.x leaves out a group with nothing in it
    energy = {"energy": variables.pop("energy")} if apart else {}
    of_each_draw = {name: coordinates[name] for name in ("chain", "draw")}
    return xr.Dataset(variables, coordinates), xr.Dataset(energy, of_each_draw)


def ess_interval(x: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """A confidence interval for the ESS, by the jackknife over groups of chains.

    Leaving out one of g groups at a time gives g values of log(relative ESS). Their spread gives the standard error;
    the interval uses Student's t with g − 1 degrees of freedom.

    Parameters
    ----------
    x
        Chains: (chains, draws).
    level
        The probability that the interval has the true ESS in it.

    Returns
    -------
    tuple of float
        The ends of the interval; (NaN, NaN) for fewer than four chains, which are too few for a spread.

    Examples
    --------
    >>> low, high = mahmc.diagnostics.ess_interval(np.random.default_rng(1).standard_normal((16, 1_000)))
    >>> 0.8 * 16_000 < low < high < 1.3 * 16_000
    True
    """
    from scipy import stats

    g = min(len(x), 8)
    if g < 4 or not Precision(x).defined:
        return float("nan"), float("nan")
    groups = np.array_split(np.arange(len(x)), g)
    left_out = [np.delete(x, group, axis=0) for group in groups]
    values = np.log(in_parallel(lambda part: ess(part) / part.size, left_out, x.size))
    error = np.sqrt((g - 1) / g * np.sum((values - values.mean()) ** 2))
    centre, half = np.log(ess(x)), stats.t.ppf(0.5 + level / 2, g - 1) * error
    return float(np.exp(centre - half)), float(np.exp(centre + half))
