"""A schedule, drawn as beads on a string and described in words."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard import figures
from dashboard.figures import Chart
from dashboard.figures.beads import MOST_SHOWN, MOST_STRINGS, beads_height
from dashboard.settings.choices import Choices
from dashboard.views.view import ChartRequest
from mahmc.samplers import EVERY_SAMPLER
from mahmc.schedules import IID, MOST_STEPS, Schedule, Sequences

EXAMPLES = 3  # sequences that show an i.i.d. schedule


def words(choices: Choices) -> str:
    """A description of the schedule and of its drawing; "" if the sampler has no schedule."""
    law = _law(choices)
    if law is None:
        return ""
    steps_made = f"{_many(law.leapfrogs, 'leapfrog')} and {_many(sum(law.updates), 'update')} of qᴼ in a trajectory"
    text = f"{'On average ' if law.random else ''}{steps_made}"
    if isinstance(law, IID):
        text += f"; {EXAMPLES} random examples"
    elif isinstance(law, Sequences) and len(law.choices) > 1:
        text += f"; {len(law.choices)} sequences with their weights"
        text += f", the first {MOST_STRINGS} of them" if len(law.choices) > MOST_STRINGS else ""
    steps = law.leapfrogs + sum(law.updates)
    return text + (f". The first {MOST_SHOWN:,} steps:" if MOST_SHOWN < steps <= MOST_STEPS else ":")


def requests(choices: Choices, seed: int) -> Iterator[ChartRequest]:
    """The request for the drawing, if there is a schedule to draw."""
    law = _law(choices)
    if law is None or law.leapfrogs + sum(law.updates) > MOST_STEPS:
        return
    strings, names = _strings(law, seed), choices.picked()[: len(law.updates)]

    def make() -> Chart:
        return figures.beads(strings, names)._replace(caption="")

    yield ChartRequest("beads", (str(law), names, seed), 1, make, height=beads_height(len(strings), len(names)),
                       stem=f"{choices.target}-{choices.sampler}")  # fmt: skip


def _law(choices: Choices) -> Schedule | None:
    """The schedule; None if the sampler has no updates inside a trajectory, or too few updates are chosen."""
    method = EVERY_SAMPLER[choices.sampler]
    if method.by_site or not method.inside or not choices.updates():
        return None
    law = choices.law()
    return law if len(law.updates) <= len(choices.picked()) else None


def _strings(law: Schedule, seed: int) -> list[tuple[str, tuple[int, ...]]]:
    """The sequences to draw, with their weights; for an i.i.d. schedule random examples."""
    if isinstance(law, Sequences):
        return [(f"{weight:.2g}", D) for D, weight in zip(law.choices, law.weights, strict=True)][:MOST_STRINGS]
    if isinstance(law, IID):
        return [(f"{i}.", D) for i, D in enumerate(law.examples(EXAMPLES, seed), start=1)]
    return [("", law.examples(1)[0])]


def _many(number: float, what: str) -> str:
    return f"{number:,.6g} {what}{'' if number == 1 else 's'}"
