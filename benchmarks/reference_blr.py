"""Reference values for the Bayesian logistic regression on the breast cancer data.

The posterior is sampled by Polya-Gamma Gibbs sampling (Polson, Scott and Windle, 2013), which has no step
size, no trajectory length and no accept step, so its answers serve as an independent yardstick. On purpose
nothing is imported from ``mahmc``: the data are read and the model is written out again here.

Model, with X the standardised features followed by a column of ones (31 columns):

    tau ~ Gamma(shape 1, scale 100),  beta | tau ~ N(0, I / tau),  y_i | beta ~ Bernoulli(sigmoid(x_i beta)).

Usage: ``python benchmarks/reference_blr.py [--iterations N] [--chains C] [--seed S] [--output FILE]``.
The default settings take several minutes on one core and about 1 GB of memory.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import time
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
from polyagamma import random_polyagamma
from scipy.linalg.lapack import dpotrf, dtrtrs

DATA_DIR = Path(__file__).resolve().parents[1] / "mahmc" / "data"
SHAPE = 1.0
SCALE = 100.0
BURN_IN = 2000
BINS = 60
TAIL = 0.0005
BATCHES_PER_CHAIN = 25
MAX_RHAT = 1.01


def load_data() -> tuple[np.ndarray, np.ndarray]:
    """Return the design matrix (standardised features, then ones) and the labels as floats."""
    table = np.loadtxt(DATA_DIR / "breast_cancer.csv", delimiter=",", skiprows=1)
    features, labels = table[:, :-1], table[:, -1]
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([standard, np.ones(len(labels))]), labels


def draw_beta(
    X: np.ndarray, xt_kappa: np.ndarray, omega: np.ndarray, tau: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw beta from N(V X^T (y - 1/2), V) with V = (X^T diag(omega) X + tau I)^-1."""
    weighted = X * np.sqrt(omega)[:, None]
    precision = weighted.T @ weighted
    precision.flat[:: len(precision) + 1] += tau
    factor, info = dpotrf(precision, lower=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"Cholesky factorisation failed (info={info})")
    half, _ = dtrtrs(factor, xt_kappa, lower=1)
    beta, _ = dtrtrs(factor, half + rng.standard_normal(len(half)), lower=1, trans=1)
    return beta


def energy(z: np.ndarray, y: np.ndarray, norm_sq: float, tau: float, dim: int) -> float:
    """Return U(beta, tau), minus the log posterior density over (beta, tau) up to a constant."""
    likelihood = np.logaddexp(0.0, z).sum() - y @ z
    return likelihood + 0.5 * tau * norm_sq - (0.5 * dim + SHAPE - 1.0) * np.log(tau) + tau / SCALE


def run_chain(X: np.ndarray, y: np.ndarray, iterations: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Run one Gibbs chain from an overdispersed start.

    Returns the kept draws, one row of (beta, tau, energy) for each iteration after the burn-in, and for each
    data point the number of kept draws with z_i >= 0.
    """
    dim = X.shape[1]
    xt_kappa = X.T @ (y - 0.5)
    draws = np.empty((iterations, dim + 2))
    positive = np.zeros(len(y), dtype=np.int64)
    tau = 10.0 ** rng.uniform(-1.0, 1.0)
    z = X @ (rng.standard_normal(dim) / np.sqrt(tau))
    for step in range(-BURN_IN, iterations):
        omega = random_polyagamma(1.0, z, method="devroye", random_state=rng)
        beta = draw_beta(X, xt_kappa, omega, tau, rng)
        z = X @ beta
        norm_sq = beta @ beta
        tau = rng.gamma(SHAPE + 0.5 * dim) / (1.0 / SCALE + 0.5 * norm_sq)
        if step >= 0:
            draws[step, :dim] = beta
            draws[step, dim] = tau
            draws[step, dim + 1] = energy(z, y, norm_sq, tau, dim)
            positive += z >= 0.0
    return draws, positive


def sample(X: np.ndarray, y: np.ndarray, iterations: int, chains: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Run all chains; return draws (chain, iteration, component) and the counts of draws with z_i >= 0."""
    draws = np.empty((chains, iterations, X.shape[1] + 2))
    positive = np.zeros(len(y), dtype=np.int64)
    for chain, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        start = time.perf_counter()
        draws[chain], counts = run_chain(X, y, iterations, np.random.default_rng(child))
        positive += counts
        print(f"chain {chain}: {time.perf_counter() - start:.0f} s", flush=True)
    return draws, positive


def quantity_names(dim: int) -> list[str]:
    """Return the names of the reported quantities, in order."""
    return [*(f"beta[{j}]" for j in range(dim)), "tau", "log_tau", "beta_norm", "energy"]


def quantity_draws(draws: np.ndarray, name: str) -> np.ndarray:
    """Return the draws (chain, iteration) of one named quantity."""
    dim = draws.shape[2] - 2
    if name == "tau":
        return draws[:, :, dim].copy()
    if name == "log_tau":
        return np.log(draws[:, :, dim])
    if name == "beta_norm":
        return np.sqrt(np.einsum("cij,cij->ci", draws[:, :, :dim], draws[:, :, :dim]))
    if name == "energy":
        return draws[:, :, dim + 1].copy()
    return draws[:, :, int(name[len("beta[") : -1])].copy()


def histogram(x: np.ndarray) -> dict[str, np.ndarray]:
    """Estimate the density of x (chain, iteration) on equal bins, with batch-means standard errors.

    The density is normalised by all draws, those beyond the outer edges included. Each chain is cut into
    consecutive batches much longer than the autocorrelation time; the spread of the batches' densities then
    gives a standard error that allows for autocorrelation.
    """
    low, high = np.quantile(x, [TAIL, 1.0 - TAIL])
    edges = np.linspace(low, high, BINS + 1)
    batches = [batch for chain in x for batch in np.array_split(chain, BATCHES_PER_CHAIN)]
    counts = np.array([np.histogram(batch, bins=edges)[0] for batch in batches])
    sizes = np.array([len(batch) for batch in batches])
    widths = np.diff(edges)
    by_batch = counts / (sizes[:, None] * widths)
    return {
        "edges": edges,
        "density": counts.sum(axis=0) / (x.size * widths),
        "density_se": by_batch.std(axis=0, ddof=1) / np.sqrt(len(batches)),
    }


def summarise(x: np.ndarray) -> dict[str, float | np.ndarray]:
    """Return moments, their Monte Carlo standard errors, diagnostics and the histogram of one quantity."""
    return {
        "mean": x.mean(),
        "mean_se": float(az.mcse(x, method="mean")),
        "sd": x.std(ddof=1),
        "sd_se": float(az.mcse(x, method="sd")),
        "ess": float(az.ess(x, method="bulk")),
        "rhat": float(az.rhat(x)),
        **histogram(x),
    }


def summarise_all(draws: np.ndarray) -> dict[str, np.ndarray]:
    """Summarise every quantity; each array's first axis runs over the quantities."""
    az.utils.Numba.disable_numba()  # with numba, az.mcse fails under NumPy >= 2.4 (ArviZ 0.23)
    names = quantity_names(draws.shape[2] - 2)
    rows = [summarise(quantity_draws(draws, name)) for name in names]
    return {"names": np.array(names), **{key: np.array([row[key] for row in rows]) for key in rows[0]}}


def print_table(table: dict[str, np.ndarray]) -> None:
    """Print moments, standard errors and diagnostics, one quantity to a line."""
    columns = ["mean", "mean_se", "sd", "sd_se"]
    print(f"{'quantity':<10}" + "".join(f"{c:>12}" for c in columns) + f"{'ess':>10}{'rhat':>9}")
    for i, name in enumerate(table["names"]):
        numbers = "".join(f"{table[c][i]:>12.5f}" for c in columns)
        print(f"{name:<10}{numbers}{table['ess'][i]:>10.0f}{table['rhat'][i]:>9.5f}")


def metadata(args: argparse.Namespace) -> dict[str, str]:
    """Return strings which say how the reference was made."""
    packages = ("numpy", "scipy", "polyagamma", "arviz")
    return {
        "method": "Polya-Gamma Gibbs sampling",
        "script": "benchmarks/reference_blr.py",
        "date": datetime.date.today().isoformat(),
        "seed": str(args.seed),
        "iterations": f"{args.iterations} kept per chain after {BURN_IN} of burn-in",
        "chains": str(args.chains),
        "versions": ", ".join(f"{p} {importlib.metadata.version(p)}" for p in packages),
    }


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=500_000, help="kept iterations per chain")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20240)
    parser.add_argument("--output", type=Path, default=DATA_DIR / "blr_reference.npz")
    return parser.parse_args()


def main() -> None:
    """Sample, check convergence and write the reference file."""
    args = parse_args()
    X, y = load_data()
    draws, positive = sample(X, y, args.iterations, args.chains, args.seed)
    accuracy = np.mean((positive > 0.5 * args.iterations * args.chains) == (y == 1.0))
    table = summarise_all(draws)
    print_table(table)
    print(f"accuracy {accuracy:.6f} ({round(accuracy * len(y))}/{len(y)})")
    print(f"smallest ess {table['ess'].min():.0f}, largest rhat {table['rhat'].max():.5f}")
    if not table["rhat"].max() < MAX_RHAT:
        raise SystemExit(f"not converged: an rhat is not below {MAX_RHAT}; nothing written")
    stored: dict[str, Any] = {**table, "accuracy": accuracy, **metadata(args)}
    np.savez_compressed(args.output, **stored)
    print(f"wrote {args.output.name}: {args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
