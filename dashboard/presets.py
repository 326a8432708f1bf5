"""Starting points: runs worth a look, each with a sentence on what to see there."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.controls import DRAWS
from mahmc import RunSpec


class Preset(NamedTuple):
    title: str
    about: str
    icon: str
    spec: RunSpec


def presets() -> list[Preset]:
    """The three cards of the overview."""
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
    ]
