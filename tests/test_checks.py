"""The check checks: its own false alarms, and that it sees small differences."""

from __future__ import annotations

import numpy as np
import pytest

from mahmc.checks import compare, invariance

pytestmark = pytest.mark.quick


def two_samples(seed: int, n: int, shift: float = 0.0, correlation: float = 0.0) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    samples = []
    for s, r in ((0.0, 0.0), (shift, correlation)):
        x, noise = rng.standard_cauchy(n) + s, rng.standard_cauchy(n)
        samples.append({"x": x, "y": r * x + noise, "k": rng.integers(0, 4, n)})
    return samples


def test_p_values_are_not_too_small_under_equality() -> None:
    """Corrected p-values below 5 % in at most 5 % of 400 repetitions, up to four standard errors."""
    corrected = [r[0].p_value * len(r) for r in (compare(*two_samples(seed, 500)) for seed in range(400))]
    assert np.mean(np.array(corrected) < 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)


def test_differences_are_seen() -> None:
    assert compare(*two_samples(1, 20_000, shift=0.2))[0].p_value < 1e-8
    product = compare(*two_samples(1, 20_000, correlation=0.3))[0]
    assert product.p_value < 1e-6
    assert "x and y" in product.what


def test_verdict_says_what_was_done() -> None:
    verdict = invariance("gmm", "mahmc", draws=2048, seed=1)
    assert verdict.right
    assert verdict.comparisons[0].p_value == min(c.p_value for c in verdict.comparisons)
    assert "false alarms at most 1e-05" in str(verdict)
