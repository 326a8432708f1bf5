"""Charts of several runs on the same axes, and traces over leapfrogs in place of draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.look import Chart, digits

MARGIN = 0.05  # share of the range above and below
MOST_ABOVE = 3.0  # times the truth's highest value: the spike of a chain that is stuck must not flatten the others
Range = tuple[float, float]


def over_leapfrogs(chart: Chart, per_draw: float, before: int, shown: Range) -> Chart:
    """The trace with x in leapfrogs. `per_draw` is the cost of a draw; `before` draws precede the first; `shown` is x.

    Runs with the same number of leapfrogs then fill the same range, however many draws they have.
    """
    figure = go.Figure(chart.figure)
    for line in figure.data:
        if line.x is None:
            line.update(x0=(line.x0 + before) * per_draw, dx=per_draw)
        else:
            line.x = ((np.asarray(line.x, float) + before) * per_draw).astype(np.float32)
        if line.hovertemplate:
            line.hovertemplate = line.hovertemplate.replace("draw %{x:,d}", "leapfrog %{x:,.0f}")
    figure.update_xaxes(range=list(shown), title={"text": "leapfrogs of the chain"})
    alt = f"Over the leapfrogs of each chain, {digits(per_draw)} for each draw. {chart.alt}"
    return chart._replace(figure=figure, alt=alt)


def on_same_axes(charts: Sequence[Chart], truth: str = "", from_zero: bool = False) -> list[Chart]:
    """These charts without legends, with the ranges of x and y that show all of them.

    `truth` names the traces of the truth: nothing is shown above three times its height. `from_zero` begins y at zero.
    """
    xs, ys, level = [], [], np.inf
    for chart in charts:
        given = chart.figure.layout.xaxis.range
        lines = [line for line in chart.figure.data if line.y is not None and len(line.y)]
        xs += [given] if given else [_range(line.x, 0.6) for line in lines]
        ys += [_range(line.y) for line in lines]
        level = min([level, *(MOST_ABOVE * float(np.nanmax(line.y)) for line in lines if truth and line.name == truth)])
    if not ys:
        return list(charts)
    low, high = min(low for low, _ in ys), min(max(high for _, high in ys), level)
    margin = MARGIN * (high - low) or 0.5
    y = [0.0 if from_zero else low - margin, high + margin]
    x = [min(low for low, _ in xs), max(high for _, high in xs)]
    found = [chart._replace(figure=go.Figure(chart.figure)) for chart in charts]
    for chart in found:
        chart.figure.update_layout(showlegend=False)
        chart.figure.update_xaxes(range=x)
        chart.figure.update_yaxes(range=y)
    return found


def _range(values: Sequence[float], margin: float = 0.0) -> Range:
    numbers = np.asarray(values, float)
    return float(np.nanmin(numbers)) - margin, float(np.nanmax(numbers)) + margin
