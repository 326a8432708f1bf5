"""What these tests sample from: a correlated normal, the funnel with three dimensions, and the overlapping mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

FUNNEL: dict[str, Any] = {"target": "neals-funnel", "dim": 3, "scale": 1.0}
WEIGHTS, MEANS, SDS = (0.3, 0.4, 0.3), (-1.0, 0.0, 1.5), (0.4, 1.0, 0.5)  # of "gmm-overlapping"
COVARIANCE = np.array([[1.0, 0.6], [0.6, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)


def assert_the_generator_decides(sampler: Any, states: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same generator gives the same step, another generator another step. Returns the step."""

    def moved(seed: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        return sampler.step(sampler.init(states, rng), rng)

    for name in states:
        assert np.array_equal(moved(1)[name], moved(1)[name])
        assert not np.array_equal(moved(1)[name], moved(2)[name])
    return moved(1)


def correlated(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Exact draws of N(0, COVARIANCE)."""
    return {"x": rng.multivariate_normal(np.zeros(2), COVARIANCE, n)}
