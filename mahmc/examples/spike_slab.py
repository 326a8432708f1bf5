"""Spike and slab: a linear regression that also selects columns (Kuo and Mallick 1998), on simulated data.

    include_j ~ Bernoulli(inclusion),   beta_j ~ N(0, slab²),   y ~ N(X·(include ∘ beta), noise² I)

With w = include ∘ beta, A = XᵀX/noise² and b = Xᵀy/noise²:

    U = wᵀAw/2 − bᵀw + |beta|²/(2 slab²) − Σ include_j log(inclusion/(1 − inclusion))

Given `include`, beta is normal, so a sum over all 2^d subsets of columns gives the exact truth. If a column is
excluded, its beta moves freely under the prior, and the column can be included when the value of beta fits the data. So
moves of beta and updates of `include` need each other.
"""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np

import mahmc
from mahmc.custom import (
    Truth,
    Views,
    discrete,
    exp,
    floor,
    grad_U,
    mass_truth,
    real,
    setting,
    sigmoid,
    uniform,
    update,
    where,
)


@mahmc.target
class SpikeSlab:
    """Linear regression on simulated data: coefficients β, and for each column a binary variable that includes it."""

    title = "Spike and slab: which columns matter"
    presets = {
        "mala": {"epsilon": 0.2, "L": 2},
        "hmc": {"epsilon": 0.15, "L": 5},
        "mala-p": {"epsilon": 0.15, "L": 2, "alpha": 0.95},
        "mala-pn": {"epsilon": 0.15, "L": 2, "alpha": 0.95, "delta": 0.1},
        "mahmc": {"epsilon": 0.15, "L": 2, "n_u": 4},
    }
    watch = "included"
    budget = 960_000
    equation = (
        r"\begin{aligned} & \mathrm{include}_j \sim \mathrm{Bernoulli}(\mathrm{inclusion}) \\ "
        r"& \beta_j \sim N(0, \mathrm{slab}^2) \\ "
        r"& y \sim N\big(X (\mathrm{include} \circ \beta), \mathrm{noise}^2 I\big) \end{aligned}"
    )
    good = "A column can come in only when its β fits the data, so moves of β and updates of include need each other."
    coefficients = "beta"
    views = Views("included", "number of included columns", ("beta[0]", "beta[1]"), colour="include[1]")

    d: int = setting(6, 1, 12, "Columns", "The number of columns of X. The exact truth is a sum over 2^d subsets.")
    n: int = setting(30, 2, 10_000, "Observations", "The number of rows of X.", slider=(5, 200))
    noise: float = setting(1.0, 0.01, 100.0, "Noise", "The standard deviation of y, which is known.")
    slab: float = setting(1.0, 0.01, 100.0, "Slab", "The standard deviation of a coefficient in the prior.")
    inclusion: float = setting(0.3, 0.001, 0.999, "Inclusion", "The prior probability that a column is included.")
    data_seed: int = setting(1, 0, 10**6, "Seed of the data", "The seed from which X and y are simulated.")

    A: np.ndarray
    b: np.ndarray

    def data(self):
        """Correlated columns, and coefficients that decrease: some are clear, some are in doubt, some are near 0.

        Sums go row by row: the last bits of a matrix product depend on the processor.
        """
        rng = np.random.default_rng(self.data_seed)
        X = rng.standard_normal((self.n, self.d)) + 0.7 * rng.standard_normal((self.n, 1))
        coefficients = 0.6 * np.cumprod([1.0] + [-0.6] * (self.d - 1))
        y = self.noise * rng.standard_normal(self.n) + (X * coefficients).sum(axis=1)
        A, b = (X[:, :, None] * X[:, None, :]).sum(axis=0), (X * y[:, None]).sum(axis=0)
        return {"A": A / self.noise**2, "b": b / self.noise**2}

    def variables(self):
        return real("beta", self.d), discrete("include", self.d)

    def U(self, q, other):
        total, log_odds = 0.0, np.log(self.inclusion / (1 - self.inclusion))
        for j in range(self.d):
            pull = 0.0
            for k in range(self.d):
                pull += self.A[j, k] * other[k] * q[k]
            total += other[j] * (q[j] * (pull / 2 - self.b[j]) - log_odds) + q[j] ** 2 / (2 * self.slab**2)
        return total

    def grad_U(self, q, other, grad):
        for j in range(self.d):
            pull = 0.0
            for k in range(self.d):
                pull += self.A[j, k] * other[k] * q[k]
            grad[j] = other[j] * (pull - self.b[j]) + q[j] / self.slab**2

    @update
    def gibbs(self, q, other, grad, rng):
        """Draw each element of `include` in turn from its conditional, given the others."""
        delta_U, log_odds = 0.0, np.log(self.inclusion / (1 - self.inclusion))
        for j in range(self.d):
            pull = 0.0
            for k in range(self.d):
                pull += self.A[j, k] * other[k] * q[k]
            cost = q[j] * (pull - self.b[j] + self.A[j, j] * (0.5 - other[j]) * q[j]) - log_odds  # U(1) − U(0)
            chosen = where(uniform(rng) < sigmoid(-cost), 1.0, 0.0)
            delta_U += (chosen - other[j]) * cost
            other[j] = chosen
        grad_U(self, q, other, grad)
        return delta_U

    @update(reversible=True, cost_in_leapfrogs=1)
    def flip(self, q, other, grad, rng):
        """Choose one column at random, and propose to include or exclude it."""
        site, flipping, log_odds = floor(uniform(rng) * self.d), 0.0, np.log(self.inclusion / (1 - self.inclusion))
        for j in range(self.d):
            pull = 0.0
            for k in range(self.d):
                pull += self.A[j, k] * other[k] * q[k]
            cost = q[j] * (pull - self.b[j] + self.A[j, j] * (0.5 - other[j]) * q[j]) - log_odds
            flipping = where(site == j, (1 - 2 * other[j]) * cost, flipping)
        accepted = uniform(rng) < exp(-flipping)
        for j in range(self.d):
            other[j] = where(accepted & (site == j), 1 - other[j], other[j])
        grad_U(self, q, other, grad)
        return where(accepted, flipping, 0.0), accepted

    def prior(self, rng, n):
        include = rng.random((n, self.d)) < self.inclusion
        return {"beta": self.slab * rng.standard_normal((n, self.d)), "include": include.astype(np.int8)}

    def simulate(self, parameters, rng):
        """b = Xᵀy/noise² ~ N(A·(include ∘ beta), A). A is singular if there are more columns than observations."""
        values, vectors = np.linalg.eigh(self.A)
        noise = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(self.d))
        return {"b": self.A @ (parameters["include"] * parameters["beta"]) + noise}

    def small(self):
        """Three columns have eight subsets: few enough to count transitions between them."""
        return {"d": min(self.d, 3)}

    def derived(self):
        return {"included": lambda draws: draws["include"].sum(axis=-1)}

    def stable_epsilon(self):
        """2/√λ, where λ is the largest curvature: that with all columns included, as no submatrix has a larger one."""
        return float(2 / np.sqrt(np.linalg.eigvalsh(self.A).max() + self.slab**-2))

    @cached_property
    def subsets(self):
        """All subsets of columns, with their probabilities, and the mean and covariance of beta for each subset."""
        states = np.array(list(itertools.product((0, 1), repeat=self.d)))
        A = states[:, :, None] * self.A * states[:, None, :] + np.eye(self.d) / self.slab**2
        covariances = np.linalg.inv(A)
        means = np.einsum("sij,sj->si", covariances, states * self.b)
        log_odds = np.log(self.inclusion / (1 - self.inclusion))
        fit = (means * states * self.b).sum(axis=1) - np.linalg.slogdet(A)[1]
        log_mass = fit / 2 + log_odds * states.sum(axis=1)
        mass = np.exp(log_mass - log_mass.max())
        return states, mass / mass.sum(), means, covariances

    def exact(self, rng, n):
        states, mass, means, covariances = self.subsets
        k = rng.choice(len(states), n, p=mass)
        noise = np.einsum("nij,nj->ni", np.linalg.cholesky(covariances)[k], rng.standard_normal((n, self.d)))
        return {"beta": means[k] + noise, "include": states[k].astype(np.int8)}

    def truth(self):
        states, mass, means, covariances = self.subsets
        truths = {"included": mass_truth(np.bincount(states.sum(axis=1), weights=mass, minlength=self.d + 1))}
        for j in range(self.d):
            inside = float(mass @ states[:, j])
            truths |= {
                f"include[{j}]": mass_truth(np.array([1 - inside, inside])),
                f"beta[{j}]": _mixture(mass, means[:, j], np.sqrt(covariances[:, j, j])),
            }
        return truths


def _mixture(mass: np.ndarray, means: np.ndarray, sds: np.ndarray) -> Truth:
    from scipy import stats

    mean = float(mass @ means)
    return Truth(
        mean,
        float(np.sqrt(mass @ (sds**2 + means**2) - mean**2)),
        lambda x: stats.norm.pdf(np.asarray(x, float)[..., None], means, sds) @ mass,
        (float((means - 4 * sds)[mass > 1e-4].min()), float((means + 4 * sds)[mass > 1e-4].max())),
        cdf=lambda x: stats.norm.cdf(np.asarray(x, float)[..., None], means, sds) @ mass,
    )
