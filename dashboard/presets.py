"""Starting points: runs and comparisons worth a look, each with a sentence on what to see there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dashboard.controls import DRAWS
from mahmc import RunSpec


class Preset(NamedTuple):
    title: str
    about: str
    icon: str
    spec: RunSpec | None = None  # a run to explore
    compare: Mapping[str, Any] = {}  # or what the controls of Compare are set to, by key


def presets() -> list[Preset]:
    """The cards of the overview."""
    size = {"draws": DRAWS, "warmup": DRAWS // 10, "seed": 7}
    return [
        Preset(
            "The paper's MDC, MAHMC at its best",
            "A hundred leapfrogs in a row, with w drawn anew after every ten: the paper's headline, 3.85 times HMC.",
            "star",
            RunSpec.of("mdc", "mahmc", **size),
        ),
        Preset(
            "What a bad step size looks like",
            "HMC on MDC with ε just beyond stability: the chains stand still, and every warning says why.",
            "report",
            RunSpec.of("mdc", "hmc", epsilon=0.06, **size),
        ),
        Preset(
            "GMM: jumping between modes",
            "Four modes that a gradient cannot cross; updates of the component inside the trajectory carry it over.",
            "airline_stops",
            RunSpec.of("gmm", "mahmc", **size),
        ),
        Preset(
            "Nᵁ against an i.i.d. schedule",
            "Does it matter when updates come? Evenly spaced ones beside as many at random, at equal cost.",
            "casino",
            compare={"compare.target": "mdc", "compare.samplers": ["hmc", "mahmc"], "compare.iid": True},
        ),
    ]
