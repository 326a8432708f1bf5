"""Starting points: links that are worth opening, each with a sentence on what they show.

A link with run=1 starts the run when it is opened. The address bar then shows the link without run=1, so a reload or
Back starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

RUN = {"run": "1"}


class Preset(NamedTuple):
    """A link with a title and a sentence."""

    title: str
    about: str
    icon: str
    page: str
    query: Mapping[str, str]  # as in a link to that page
    run: bool = False  # whether to run at once

    @property
    def link(self) -> Mapping[str, str]:
        """The query that opens this preset, with run=1 if the preset runs at once."""
        return {**self.query, **RUN} if self.run else self.query


PRESETS = (
    Preset(
        "The paper's MDC, MAHMC at its best",
        "A hundred leapfrogs in a trajectory, and a new w after every ten: the paper's main result, 3.85 times HMC.",
        "star",
        "explore",
        {"seed": "7"},
        run=True,
    ),
    Preset(
        "What a bad step size looks like",
        "HMC on MDC with ε just beyond stability: the chains do not move, and the warnings say why.",
        "report",
        "explore",
        {"sampler": "hmc", "epsilon": "0.06", "seed": "7"},
        run=True,
    ),
    Preset(
        "GMM: jumping between modes",
        "Four modes that gradients cannot cross: updates of the component inside the trajectory jump between them.",
        "airline_stops",
        "explore",
        {"target": "gmm", "seed": "7"},
        run=True,
    ),
    Preset(
        "Nᵁ against an i.i.d. schedule",
        "Does the timing of updates matter? Evenly spaced updates against the same number at random times, at equal "
        "cost.",
        "casino",
        "compare",
        {"samplers": "hmc,mahmc", "iid": "1"},
    ),
)
