"""The known truth of BLR: the prior exactly, and the posterior on the breast cancer data from a reference."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mahmc.targets.parts import Truth

DATA = Path(__file__).parent.parent / "data"


def prior_truths(d: int, shape: float, scale: float) -> dict[str, Truth]:
    """The truths of the prior: τ is Gamma, β_j = N/√τ is Student t with 2·shape degrees of freedom, |β|² scaled F."""
    from scipy import stats

    beta = _law(stats.t(2 * shape, scale=1.0 / np.sqrt(shape * scale)), 0.002, moments=math.ceil(2 * shape) - 1)
    tau = stats.gamma(shape, scale=scale)
    log_tau = stats.loggamma(shape, loc=np.log(scale))
    square = stats.f(d, 2 * shape, scale=d / (shape * scale))
    mean = _norm_mean(d, shape, scale)
    second = float(square.mean()) if shape > 1 else np.inf
    norm = Truth(
        mean,
        float(np.sqrt(second - mean**2)) if np.isfinite(second) else np.inf,
        lambda x: 2.0 * np.asarray(x) * square.pdf(np.square(x)),
        (0.0, float(np.sqrt(square.ppf(0.995)))),
        cdf=lambda x: square.cdf(np.square(x)),
        moments=math.ceil(2 * shape) - 1,
    )
    truths = {f"beta[{j}]": beta for j in range(d)}
    return truths | {"tau": _law(tau, 0.001), "log_tau": _law(log_tau, 0.0005), "beta_norm": norm}


def _norm_mean(d: int, shape: float, scale: float) -> float:
    """E|β| = E χ_d · E τ^−½ = √2·Γ((d+1)/2)/Γ(d/2) · Γ(shape−½)/Γ(shape)/√scale; infinite up to shape ½."""
    if shape <= 0.5:
        return math.inf
    chi = math.sqrt(2.0) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    return chi * math.exp(math.lgamma(shape - 0.5) - math.lgamma(shape)) / math.sqrt(scale)


def _law(law: Any, tail: float, moments: int = 4) -> Truth:
    mean, sd = float(law.mean()), float(law.std())
    support = float(law.ppf(tail)), float(law.ppf(1.0 - tail))
    return Truth(mean, sd, law.pdf, support, cdf=law.cdf, moments=moments)


@cache
def reference() -> dict[str, Truth]:
    """The posterior on the breast cancer data, by benchmarks/reference_blr.py (Pólya-Gamma Gibbs, independent code)."""
    with np.load(DATA / "blr_reference.npz") as file:
        stored = dict(file)
    source = f"reference: {stored['method']}"
    truths = {}
    for i, name in enumerate(stored["names"]):
        edges = stored["edges"][i]
        truths[str(name)] = Truth(
            float(stored["mean"][i]),
            float(stored["sd"][i]),
            _step_function(edges, stored["density"][i]),
            (float(edges[0]), float(edges[-1])),
            source=source,
            mean_se=float(stored["mean_se"][i]),
            sd_se=float(stored["sd_se"][i]),
            density_se=_step_function(edges, stored["density_se"][i]),
        )
    return truths


def _step_function(edges: np.ndarray, heights: np.ndarray) -> Any:
    """The function that is heights[i] between edges[i] and edges[i + 1], and zero outside."""
    padded = np.concatenate([[0.0], heights, [0.0]])
    return lambda x: padded[np.searchsorted(edges, x, side="right")]
