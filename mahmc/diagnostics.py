"""ESS, R-hat and Monte Carlo errors: those of arviz-stats, and NaN where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mahmc.run import Run

FEWEST_DRAWS = 8  # below that, split chains are too short for any of these


@cache
def array_stats() -> Any:
    """ArviZ's statistics of arrays, imported when first needed: 2 s beside xarray, where all of ArviZ takes 3.5 s."""
    from arviz_stats.base import array_stats

    return array_stats


@cache
def arviz() -> Any:
    """ArviZ, for its container and NetCDF. Imported when first needed: it takes seconds."""
    import arviz

    if arviz.__version__.startswith("0."):  # its own numba code does not work with NumPy from 2.4 on
        arviz.utils.Numba.disable_numba()
    return arviz


def defined(x: np.ndarray) -> bool:
    """Whether chains (chains, draws) are long enough, and any of them moved. Of a constant ArviZ says ESS = N."""
    return x.shape[-1] >= FEWEST_DRAWS and bool(np.ptp(x, axis=-1).max() > 0)


def ess(x: np.ndarray, kind: str = "bulk") -> float:
    """Effective sample size of chains (chains, draws); NaN where undefined."""
    if not defined(x):
        return float("nan")
    return float(array_stats().ess(np.asarray(x, float), method=kind, prob=(0.05, 0.95) if kind == "tail" else None))


def rhat(x: np.ndarray) -> float:
    """Rank-normalised split R-hat of chains (chains, draws); NaN where undefined."""
    return float(array_stats().rhat(np.asarray(x, float))) if defined(x) else float("nan")


def mcse(x: np.ndarray, kind: str = "mean") -> float:
    """Monte Carlo standard error of the mean or sd of chains (chains, draws); NaN where undefined."""
    return float(array_stats().mcse(np.asarray(x, float), method=kind)) if defined(x) else float("nan")


def by_element(statistic: Callable[..., float], x: np.ndarray, *options: Any) -> float | np.ndarray:
    """The statistic of (chains, draws), or of each element of (chains, draws, size)."""
    if x.ndim == 2:
        return statistic(x, *options)
    return np.array([statistic(x[..., i], *options) for i in range(x.shape[-1])])


def to_arviz(run: Run) -> Any:
    """A run as InferenceData (ArviZ 0.x) or DataTree (1.x)."""
    az = arviz()
    dims = {name: [f"{name}_dim"] for name, x in run.draws.items() if x.ndim == 3}
    posterior = {name: np.ascontiguousarray(x) for name, x in run.draws.items() if name != "energy"}
    groups: dict[str, Any] = {"posterior": posterior}
    if "energy" in run.draws:
        groups["sample_stats"] = {"energy": np.ascontiguousarray(run.draws["energy"])}
    attributes = {"spec": run.spec.to_json(), "acceptance": run.acceptance, "inference_library": "mahmc"}
    if az.__version__.startswith("0."):
        data = az.from_dict(**groups, dims=dims)
        data.posterior.attrs.update(attributes)
        return data
    tree = az.from_dict(groups, dims=dims)
    tree["posterior"].attrs.update(attributes)
    return tree


def ess_interval(x: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """A confidence interval for the ESS of chains (chains, draws), by the jackknife over groups of chains.

    Leaving out one of g groups at a time gives g values of log(relative ESS), whose spread is the error's; Student's t
    with g − 1 degrees of freedom. Fewer than four chains tell nothing of the spread: (NaN, NaN).
    """
    from scipy import stats

    g = min(len(x), 8)
    if g < 4 or not defined(x):
        return float("nan"), float("nan")
    groups = np.array_split(np.arange(len(x)), g)
    left_out = [np.delete(x, group, axis=0) for group in groups]
    values = np.log([ess(part) / part.size for part in left_out])
    error = np.sqrt((g - 1) / g * np.sum((values - values.mean()) ** 2))
    centre, half = np.log(ess(x)), stats.t.ppf(0.5 + level / 2, g - 1) * error
    return float(np.exp(centre - half)), float(np.exp(centre + half))
