"""A trajectory's sequence of steps as beads on a string: leapfrogs, and updates of q^O by kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.figures import look
from dashboard.figures.look import Chart, count, floats

MOST_BEADS = 160  # of a sequence: more would touch each other
MOST_STRINGS = 6
ROW = 34  # pixels
FRAME = 70  # pixels for legend and axis


def beads(strings: Sequence[tuple[str, Sequence[int]]], updates: Sequence[str]) -> Chart:
    """One string for each (label, steps): 0 is a leapfrog, i the update named updates[i − 1]; the first, if many."""
    shown = [(label, np.asarray(steps[:MOST_BEADS])) for label, steps in strings[:MOST_STRINGS]]
    longest = max(len(steps) for _, steps in strings)
    cut = f", the first {MOST_BEADS} of {count(longest)}" if longest > MOST_BEADS else ""
    figure = look.new_figure(f"step{cut}", "", height=FRAME + ROW * len(shown))
    for y, (_, steps) in enumerate(shown):
        figure.add_scatter(x=[1, len(steps)], y=[y, y], mode="lines", line={"color": look.NEUTRAL, "width": 1},
                           hoverinfo="skip", showlegend=False)  # fmt: skip
    kinds = ["leapfrog", *updates]
    for kind, name in enumerate(kinds):
        places = [(x + 1, y) for y, (_, steps) in enumerate(shown) for x in np.flatnonzero(steps == kind)]
        if not places:
            continue
        x, y = np.array(places).T
        marker = (
            {"color": look.NEUTRAL, "size": 5, "symbol": "circle"}
            if kind == 0
            else {
                "color": look.GROUP_COLOURS[(kind - 1) % len(look.GROUP_COLOURS)],
                "size": 12,
                "symbol": look.GROUP_SYMBOLS[(kind - 1) % len(look.GROUP_SYMBOLS)],
            }
        )
        figure.add_scatter(x=floats(x), y=floats(y), mode="markers", marker=marker,
                           name=name if kind == 0 else f"update {kind}: {name}",
                           hovertemplate=f"step %{{x}}: {name}<extra></extra>")  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=[label for label, _ in shown], showgrid=False,
        range=[len(shown) - 0.5, -0.5],
    )  # fmt: skip
    figure.update_xaxes(showgrid=False)
    return look.finished("beads", figure, "; ".join(_words(label, steps, kinds) for label, steps in strings) + ".")


def _words(label: str, steps: Sequence[int], kinds: Sequence[str]) -> str:
    numbers = np.bincount(np.asarray(steps, int), minlength=len(kinds))
    made = ", ".join(f"{count(int(n))} {name}" for n, name in zip(numbers, kinds, strict=True) if n)
    return f"{label + ': ' if label else ''}{count(len(steps), 'step')}, {made}"
