"""Starting points: links that are worth opening, each with a sentence on what to see there.

A link with run=1 starts the run when it is opened; the address that is shown then leaves run out, so that a reload or
Back starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

RUN = {"run": "1"}


class Preset(NamedTuple):
    title: str
    about: str
    icon: str
    page: str
    query: Mapping[str, str]  # as in a link to that page
    run: bool = False  # whether to run at once

    @property
    def link(self) -> Mapping[str, str]:
        """The query that opens this preset, and runs it if it says so."""
        return {**self.query, **RUN} if self.run else self.query


PRESETS = (
    Preset(
        "The paper's MDC, MAHMC at its best",
        "A hundred leapfrogs in a row, with w drawn anew after every ten: the paper's headline, 3.85 times HMC.",
        "star",
        "explore",
        {"seed": "7"},
        run=True,
    ),
    Preset(
        "What a bad step size looks like",
        "HMC on MDC with ε just beyond stability: the chains stand still, and every warning says why.",
        "report",
        "explore",
        {"sampler": "hmc", "epsilon": "0.06", "seed": "7"},
        run=True,
    ),
    Preset(
        "GMM: jumping between modes",
        "Four modes that a gradient cannot cross; updates of the component inside the trajectory carry it over.",
        "airline_stops",
        "explore",
        {"target": "gmm", "seed": "7"},
        run=True,
    ),
    Preset(
        "Nᵁ against an i.i.d. schedule",
        "Does it matter when updates come? Evenly spaced updates against the same number at random times, at equal "
        "cost.",
        "casino",
        "compare",
        {"samplers": "hmc,mahmc", "iid": "1"},
    ),
)
