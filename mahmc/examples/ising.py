"""An Ising ring whose spins are observed with Gaussian noise. A sum over all states of the spins gives the exact truth.

    P(s) ∝ exp(coupling Σ s_i s_{i+1} + field Σ s_i),   s_i = ±1 on a ring,   x_i | s_i ~ N(mu s_i, sd²)

    U = −coupling Σ s_i s_{i+1} − field Σ s_i + Σ (x_i − mu s_i)²/(2 sd²)

q^H = x, q^O = s.
"""

from __future__ import annotations

import itertools

import numpy as np

import mahmc
from mahmc.custom import Truth, Views, discrete, exp, floor, mass_truth, real, setting, sigmoid, uniform, update, where


@mahmc.target
class Ising:
    """Spins on a ring that tend to agree with their neighbours, and for each spin a normal x around its value."""

    title = "Ising: coupled spins seen through noise"
    presets = {
        "mala": {"epsilon": 0.7, "L": 1},
        "hmc": {"epsilon": 0.7, "L": 2},
        "mala-p": {"epsilon": 0.7, "L": 1, "alpha": 0.8},
        "mala-pn": {"epsilon": 0.7, "L": 1, "alpha": 0.8, "delta": 0.1},
        "mahmc": {"epsilon": 0.7, "L": 1, "n_u": 4},
    }
    watch = "magnetisation"
    budget = 960_000
    equation = (
        r"\begin{aligned} & P(s) \propto e^{J A + h M}, \quad s_i = \pm 1 \\ "
        r"& A = \textstyle\sum s_i s_{i+1}, \quad M = \sum s_i \\ & x_i \mid s_i \sim N(\mu s_i, sd^2) \\ "
        r"& J \text{: coupling}, \quad h \text{: field} \end{aligned}"
    )
    good = "Each x follows its spin, and spins follow their neighbours: x and s must be updated often, in turns."
    views = Views("magnetisation", "magnetisation, the sum of all spins", ("x[0]", "x[1]"), colour="s[0]")

    n: int = setting(8, 3, 12, "Spins", "The number of spins on the ring.")
    coupling: float = setting(0.4, -2.0, 2.0, "Coupling", "How strongly neighbours agree. Below 0 they disagree.")
    field: float = setting(0.1, -2.0, 2.0, "Field", "How strongly each spin is pulled towards 1.")
    mu: float = setting(1.0, 0.0, 10.0, "Mean of x", "The mean of x is mu if its spin is 1, and −mu if it is −1.")
    sd: float = setting(0.7, 0.01, 10.0, "Noise", "The standard deviation of x, given its spin.")

    def variables(self):
        return real("x", self.n), discrete("s", self.n, values=(-1, 1))

    def U(self, q, other):
        total = 0.0
        for i in range(self.n):
            s = other[i]
            total += (q[i] - self.mu * s) ** 2 / (2 * self.sd**2) - s * (self.coupling * other[i - 1] + self.field)
        return total

    def grad_U(self, q, other, grad):
        for i in range(self.n):
            grad[i] = (q[i] - self.mu * other[i]) / self.sd**2

    @update(cost_in_leapfrogs=12)
    def gibbs(self, q, other, grad, rng):
        """Draw each spin in turn from its conditional: U(s_i = −1) − U(s_i = 1) = 2·pull."""
        delta_U = 0.0
        for i in range(self.n):
            neighbours = other[i - 1] + other[i + 1 if i + 1 < self.n else 0]
            pull = self.coupling * neighbours + self.field + self.mu * q[i] / self.sd**2
            s = where(uniform(rng) < sigmoid(2 * pull), 1.0, -1.0)
            delta_U += (other[i] - s) * pull
            grad[i] += self.mu * (other[i] - s) / self.sd**2
            other[i] = s
        return delta_U

    @update(reversible=True, cost_in_leapfrogs=6)
    def flip(self, q, other, grad, rng):
        """Choose one spin at random, and propose the opposite value."""
        chosen, flipping = floor(uniform(rng) * self.n), 0.0
        for i in range(self.n):
            neighbours = other[i - 1] + other[i + 1 if i + 1 < self.n else 0]
            pull = self.coupling * neighbours + self.field + self.mu * q[i] / self.sd**2
            flipping = where(chosen == i, 2 * other[i] * pull, flipping)
        accepted = uniform(rng) < exp(-flipping)
        for i in range(self.n):
            turned = accepted & (chosen == i)
            grad[i] += where(turned, 2 * self.mu * other[i] / self.sd**2, 0.0)
            other[i] = where(turned, -other[i], other[i])
        return where(accepted, flipping, 0.0), accepted

    def derived(self):
        return {"magnetisation": lambda draws: draws["s"].sum(axis=-1)}

    def stable_epsilon(self):
        return 2 * self.sd

    def small(self):
        """Three spins have eight states: few enough to count transitions between states."""
        return {"n": 3}

    def spins(self):
        """All states of the spins, with their probabilities. Given the spins, all x are independent normals."""
        states = np.array(list(itertools.product((-1, 1), repeat=self.n)))
        agreement = (states * np.roll(states, 1, axis=1)).sum(axis=1)
        weights = np.exp(self.coupling * agreement + self.field * states.sum(axis=1))
        return states, weights / weights.sum()

    def exact(self, rng, n):
        states, mass = self.spins()
        s = states[rng.choice(len(states), n, p=mass)]
        return {"x": self.mu * s + self.sd * rng.standard_normal(s.shape), "s": s.astype(np.int8)}

    def truth(self):
        from scipy import stats

        states, mass = self.spins()
        up = float(mass @ (states[:, 0] == 1))  # the same for every spin: the ring has no beginning
        shares, means = np.array([1 - up, up]), np.array([-self.mu, self.mu])
        reach = self.mu + 4 * self.sd
        x = Truth(
            float(shares @ means),
            float(np.sqrt(self.sd**2 + 4 * up * (1 - up) * self.mu**2)),
            lambda x: stats.norm.pdf(np.asarray(x, float)[..., None], means, self.sd) @ shares,
            (-reach, reach),
            cdf=lambda x: stats.norm.cdf(np.asarray(x, float)[..., None], means, self.sd) @ shares,
        )
        total = np.bincount(states.sum(axis=1) + self.n, weights=mass)
        truths = {"magnetisation": mass_truth(total, first=-self.n)}
        for i in range(self.n):
            truths |= {f"x[{i}]": x, f"s[{i}]": mass_truth(np.array([1 - up, 0.0, up]), first=-1)}
        return truths
