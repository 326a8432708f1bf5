"""Make the moving picture of the overview: one chain of HMC and one of MAHMC, draw by draw at equal leapfrogs.

    python -m benchmarks.moving

The draws are those of the engine, and a test compares the file dashboard/views/moving.json with them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import mahmc
from mahmc.run import Results

FILE = Path(__file__).parents[1] / "dashboard" / "views" / "moving.json"
SAMPLERS = ("hmc", "mahmc")  # 15 leapfrogs in each trajectory, by default
SHARED: dict[str, Any] = {"target": "gmm", "draws": 1_500, "warmup": 0, "chains": 8, "seed": 5}
CHAIN = 0
POINTS = 161  # of the density


def picture() -> dict[str, Any]:
    """The draws of both chains, when they jump, and the true density."""
    runs = [mahmc.sample(sampler=sampler, warn=False, **SHARED) for sampler in SAMPLERS]
    truth = runs[0].target.truth.scalars["q"]
    x = np.linspace(*truth.support, POINTS)
    return {
        "x": [round(float(value), 3) for value in x],
        "density": [round(float(value), 4) for value in truth.density(x)],
        "runs": [_chain(run) for run in runs],
    }


def _chain(run: Results) -> dict[str, Any]:
    q, component = run.get("q")[CHAIN], run.get("component")[CHAIN]
    jumps = np.flatnonzero(np.diff(component)) + 1
    return {
        "spec": run.spec.to_dict(),
        "leapfrogs": run.spec.leapfrogs_per_draw,
        "q": [round(float(value), 2) for value in q],
        "jumps": [int(draw) for draw in jumps],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(picture(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
