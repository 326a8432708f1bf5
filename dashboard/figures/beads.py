"""The steps of a trajectory as beads on a string: leapfrogs, and updates of q^O by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dashboard.figures import look
from dashboard.figures.look import Chart, count, floats

MOST_BEADS = 160  # in longer strings leapfrogs are not drawn: they are the string itself
MOST_SHOWN = 2000  # first steps of a string that are drawn
MOST_STRINGS = 6
ROW, ENTRY = 28, 20  # height in pixels of a string, and of an entry of the legend
LEAST = 156  # smallest height; below, the title of the axis would cover its numbers
MARGIN = {"l": 8, "r": 12, "t": 8, "b": 44}
TOOLS = ["toImage", "zoom", "pan", "select", "lasso2d", "zoomIn", "zoomOut", "autoScale", "resetScale"]


def beads(strings: Sequence[tuple[str, Sequence[int]]], updates: Sequence[str]) -> Chart:
    """A string for each (label, steps): 0 is a leapfrog, i the update updates[i − 1]."""
    shown = [(label, np.asarray(steps[:MOST_SHOWN])) for label, steps in strings[:MOST_STRINGS]]
    longest = max(len(steps) for _, steps in shown)
    height = beads_height(len(strings), len(updates))
    figure = look.new_figure("step", "", height=height, dragmode=False, modebar={"remove": TOOLS}, margin=MARGIN)
    for y, (_, steps) in enumerate(shown):
        width = 1 if longest <= MOST_BEADS else 3
        figure.add_scatter(x=[1, len(steps)], y=[y, y], mode="lines", line={"color": look.NEUTRAL, "width": width},
                           name="0 leapfrog" if longest > MOST_BEADS else "", hoverinfo="skip",
                           showlegend=y == 0 and longest > MOST_BEADS)  # fmt: skip
    kinds = ["leapfrog", *updates]
    for kind, name in enumerate(kinds):
        places = [(x + 1, y) for y, (_, steps) in enumerate(shown) for x in np.flatnonzero(steps == kind)]
        if not places or (kind == 0 and longest > MOST_BEADS):
            continue
        x, y = np.array(places).T
        figure.add_scatter(x=floats(x), y=floats(y), mode="markers", marker=_bead(kind, longest),
                           name=f"{kind} {name}", hovertemplate=f"step %{{x}}: {name}<extra></extra>")  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=[label for label, _ in shown], showgrid=False, zeroline=False,
        range=[len(shown) - 0.5, -0.5], fixedrange=True,
    )  # fmt: skip
    figure.update_xaxes(showgrid=False, zeroline=False, fixedrange=True, tickformat="d")
    figure.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return look.finished("beads", figure, "; ".join(_words(label, steps, kinds) for label, steps in strings) + ".")


def beads_height(strings: int, updates: int) -> int:
    """The height in pixels for a number of strings, and a legend with a number of updates."""
    legend = 1 if updates < 2 else 1 + updates  # rows on a narrow screen
    return max(LEAST, MARGIN["t"] + MARGIN["b"] + ROW * min(strings, MOST_STRINGS) + ENTRY * legend)


def _bead(kind: int, longest: int) -> dict[str, Any]:
    """The marker of a step, smaller if there are many steps."""
    if kind == 0:
        return {"color": look.NEUTRAL, "size": min(max(250 / longest, 2.0), 5.0), "symbol": "circle"}
    return {
        "color": look.GROUP_COLOURS[(kind - 1) % len(look.GROUP_COLOURS)],
        "size": min(max(450 / longest, 6.0), 12.0),
        "symbol": look.GROUP_SYMBOLS[(kind - 1) % len(look.GROUP_SYMBOLS)],
    }


def _words(label: str, steps: Sequence[int], kinds: Sequence[str]) -> str:
    numbers = np.bincount(np.asarray(steps, int), minlength=len(kinds))
    made = ", ".join(f"{count(int(n))} {name}" for n, name in zip(numbers, kinds, strict=True) if n)
    return f"{label + ': ' if label else ''}{count(len(steps), 'step')}, {made}"
