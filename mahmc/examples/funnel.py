"""Neal's funnel (Neal 2003, "Slice sampling"): the width of x changes by orders of magnitude. There is no q^O.

    v ~ N(0, scale²),   x_i | v ~ N(0, e^v),   i = 1 … dim − 1

    U = v²/(2 scale²) + e^−v Σ x_i²/2 + (dim − 1) v/2

The distributions of v (normal) and of each x (a mixture of normals) are known exactly. How far a sampler gets into the
narrow neck is not known.
"""

from __future__ import annotations

import numpy as np

import mahmc
from mahmc.custom import Truth, Views, exp, real, setting


@mahmc.target
class NealsFunnel:
    """A normal v, and normals x with standard deviation e^(v/2): a narrow neck that large steps miss."""

    title = "Funnel: Neal's funnel, no discrete part"
    presets = {
        "mala": {"epsilon": 0.3, "L": 10},
        "hmc": {"epsilon": 0.2, "L": 40},
        "mala-p": {"epsilon": 0.1, "L": 10, "alpha": 0.9},
        "mala-pn": {"epsilon": 0.3, "L": 10, "alpha": 0.95, "delta": 0.02},
        "mahmc": {"epsilon": 0.2, "L": 10, "n_u": 4},
    }
    budget = 1_600_000
    equation = (
        r"\begin{aligned} & v \sim N(0, \mathrm{scale}^2) \\ & x_i \mid v \sim N(0, e^{v}) \\ "
        r"& i = 1, \ldots, \dim - 1 \end{aligned}"
    )
    good = "The width of x changes by orders of magnitude: a step that suits the wide part is too large for the neck."
    views = Views(pair=("x[0]", "v"))

    dim: int = setting(10, 2, 1000, "Dimension", "The number of variables: v, and dim − 1 of x.", slider=(2, 50))
    scale: float = setting(3.0, 0.01, 10.0, "Scale of v", "The standard deviation of v.", slider=(0.5, 5.0))

    def variables(self):
        return real("v"), real("x", self.dim - 1)

    def U(self, q):
        v, squares = q[0], 0.0
        for i in range(1, self.dim):
            squares += q[i] ** 2
        return v**2 / (2 * self.scale**2) + exp(-v) * squares / 2 + (self.dim - 1) * v / 2

    def grad_U(self, q, grad):
        v, precision, squares = q[0], exp(-q[0]), 0.0
        for i in range(1, self.dim):
            squares += q[i] ** 2
            grad[i] = precision * q[i]
        grad[0] = v / self.scale**2 - precision * squares / 2 + (self.dim - 1) / 2

    def exact(self, rng, n):
        v = self.scale * rng.standard_normal(n)
        return {"v": v, "x": np.exp(v / 2)[:, None] * rng.standard_normal((n, self.dim - 1))}

    def truth(self):
        """v is normal; each x is a mixture of normals over v with sd e^(scale²/4), by a fine trapezoid rule."""
        from scipy import stats

        s = self.scale
        law = stats.norm(scale=s)
        nodes = np.linspace(-8 * s, 8 * s, 401)
        weights, widths = law.pdf(nodes) * (nodes[1] - nodes[0]), np.exp(nodes / 2)
        reach = float(stats.norm.ppf(0.995) * np.exp(s))
        x = Truth(
            0.0,
            float(np.exp(s**2 / 4)),
            lambda x: stats.norm.pdf(np.asarray(x, float)[..., None], scale=widths) @ weights,
            (-reach, reach),
            cdf=lambda x: stats.norm.cdf(np.asarray(x, float)[..., None], scale=widths) @ weights,
            moments=4 if s <= 1 else 1,  # kurtosis 3·e^(scale²): a large scale would need too many draws
        )
        v = Truth(0.0, s, law.pdf, (-4 * s, 4 * s), cdf=law.cdf)
        return {"v": v} | {f"x[{i}]": x for i in range(self.dim - 1)}
