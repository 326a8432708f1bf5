"""What these tests sample from: a correlated normal, the funnel with three dimensions, and the overlapping mixture."""

from __future__ import annotations

import numpy as np

FUNNEL = {"target": "neals-funnel", "dim": 3, "scale": 1.0}
WEIGHTS, MEANS, SDS = (0.3, 0.4, 0.3), (-1.0, 0.0, 1.5), (0.4, 1.0, 0.5)  # of "gmm-overlapping"
COVARIANCE = np.array([[1.0, 0.6], [0.6, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)


def correlated(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Exact draws of N(0, COVARIANCE)."""
    return {"x": rng.multivariate_normal(np.zeros(2), COVARIANCE, n)}
