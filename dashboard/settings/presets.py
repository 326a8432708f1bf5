"""Starting points: links that are worth opening, each with a sentence, and with what to look for once it is open.

A link with run=1 starts the run when it is opened. The address bar then shows the link without run=1, so a reload or
Back starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dashboard.settings.explore import LOOKS

RUN = {"run": "1"}


class Preset(NamedTuple):
    """A link with a title, a sentence, and sentences on what to look for."""

    title: str
    about: str
    icon: str
    page: str
    query: Mapping[str, str]  # as in a link to that page
    run: bool = False  # whether to run at once
    look_for: tuple[str, ...] = ()  # shown on the page as long as its settings are those of the preset

    @property
    def link(self) -> Mapping[str, str]:
        """The query that opens this preset, with run=1 if the preset runs at once."""
        return {**self.query, **RUN} if self.run else self.query


def found(page: str, query: Mapping[str, str]) -> Preset | None:
    """The preset that gives the runs of this link to a page."""
    return next((preset for preset in PRESETS if preset.page == page and _runs(preset.query) == _runs(query)), None)


def _runs(query: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in query.items() if name not in LOOKS}


PRESETS = (
    Preset(
        "Why MAHMC beats HMC",
        "Both make the same number of leapfrogs on the paper's MDC. MAHMC learns about four times as much from them.",
        "star",
        "explore",
        {"draws": "4000", "warmup": "400", "seed": "7", "2.sampler": "hmc"},
        run=True,
        look_for=(
            "Both traces have the same number of leapfrogs. MAHMC crosses the whole range from draw to draw; HMC moves "
            "in smaller steps, because w holds u where it is until the trajectory ends.",
            "MAHMC draws a new w after every ten leapfrogs, inside the trajectory. So u goes on moving, and the test "
            "at the end still accepts nearly every trajectory.",
            "The line above the charts has the price: the ESS per leapfrog of MAHMC is about four times that of HMC.",
        ),
    ),
    Preset(
        "A step too large",
        "HMC just below and just above the largest stable step: on one side the chains move, on the other never.",
        "report",
        "explore",
        {
            "sampler": "hmc",
            "epsilon": "0.055",
            "draws": "4000",
            "warmup": "400",
            "seed": "7",
            "2.sampler": "hmc",
            "2.epsilon": "0.06",
        },
        run=True,
        look_for=(
            "Run 1 has ε = 0.055, run 2 has ε = 0.06. The leapfrog on this target is stable up to about 0.0565.",
            "Above that the error of the energy grows with every leapfrog. The test rejects every trajectory, so the "
            "chains of run 2 stay where they began: flat traces, and a histogram of a few spikes.",
            "Move ε of run 2 below 0.056 and press Run: the chains move again.",
        ),
    ),
    Preset(
        "Random walk against persistence",
        "Three samplers that make one leapfrog at a time. The momentum that they keep decides how far they get.",
        "trending_up",
        "explore",
        {"sampler": "mala", "seed": "7", "2.sampler": "mala-p", "3.sampler": "mala-pn"},
        run=True,
        look_for=(
            "MALA forgets its momentum at every step, so its trace is a random walk: it wanders, and returns late.",
            "MALA-P keeps most of its momentum. It runs in one direction until a rejection turns it around.",
            "MALA-PN lets its rejections come in clusters, so it turns around less often, and gets the most from the "
            "same leapfrogs.",
        ),
    ),
    Preset(
        "A sampler that is wrong",
        "Naive Metropolis within HMC looks healthy: it moves, it accepts, its chains agree. Its answer is wrong.",
        "error",
        "explore",
        {
            "target": "gmm",
            "weights": "0.3,0.4,0.3",
            "means": "-1.0,0.0,1.0",
            "sds": "1.0,0.4,1.0",
            "epsilon": "0.5",
            "L": "2",
            "n_u": "8",
            "draws": "10000",
            "warmup": "1000",
            "seed": "7",
            "quantity": "component",
            "2.sampler": "naive",
            "2.epsilon": "0.5",
            "2.L": "2",
            "2.n_u": "8",
        },
        run=True,
        look_for=(
            "Three overlapping components with weights 0.3, 0.4 and 0.3. The grey marks are these true weights.",
            "The bars of MAHMC meet them. Those of the naive sampler do not: it is in the narrow component too often.",
            "Its test counts each update inside the trajectory twice. Neither its trace nor its acceptance shows the "
            "mistake: only the distribution does.",
        ),
    ),
    Preset(
        "Jumping between modes",
        "Four modes that gradients cannot cross. HMC changes the component only between its trajectories.",
        "airline_stops",
        "explore",
        {"target": "gmm", "seed": "7", "2.sampler": "hmc"},
        run=True,
        look_for=(
            "Each sampler makes 15 leapfrogs in a trajectory. MAHMC proposes a new component after each of them, HMC "
            "within Gibbs only after the last.",
            "So MAHMC jumps between the modes often, and HMC stays in one mode for long.",
            "Both are right: given enough draws, both histograms agree with the exact density. HMC needs more "
            "than ten times as many leapfrogs for it.",
        ),
    ),
    Preset(
        "Your own data",
        "Bayesian logistic regression on a CSV file of yours: upload it, choose the column to predict, and run.",
        "upload_file",
        "explore",
        {"target": "blr", "draws": "5000", "warmup": "500", "seed": "7", "view": "full"},
        look_for=(
            'Open "Parameters of the target" at the side, and upload a CSV file with a column of two classes.',
            "Until then Run uses the breast cancer data of the paper.",
            "Your file stays on this server as long as this tab is open. Links do not contain it.",
        ),
    ),
)
TIMING = Preset(
    "Timing of updates",
    "Does it matter? Evenly spaced updates against the same number at random times, at equal cost.",
    "casino",
    "compare",
    {"samplers": "hmc,mahmc", "iid": "1"},
)
