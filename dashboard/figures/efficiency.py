"""Charts that compare samplers: effective sample sizes, and means against a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy import special

from dashboard.figures import look
from dashboard.figures.look import Chart, digits, floats

Row = tuple[str, str, float | None, float | None, float | None]  # label, sampler, value, low, high


def ess_bars(rows: Sequence[Row], paper: Mapping[str, float | None], quantity: str = "ESS per leapfrog") -> Chart:
    """A bar for each run with its interval, and the paper's value as a diamond.

    If two intervals do not overlap, the data show a difference. None or NaN is undefined: chains that never moved have
    no effective sample size and no bar.
    """
    figure = look.new_figure(quantity, "", height=90 + 38 * max(len(rows), 3), bargap=0.35)
    if not rows:
        return look.empty("ess_bars", figure, text="no runs yet")
    at = -np.arange(len(rows), dtype=float)  # the first row on top
    value, low, high = np.array([[_number(v) for v in row[2:]] for row in rows]).T
    published = np.array([_number(paper.get(row[0])) for row in rows])
    figure.add_bar(
        x=floats(np.nan_to_num(value)), y=floats(at), orientation="h", showlegend=False,
        marker={"color": [look.SAMPLER_COLOURS[row[1]] for row in rows]},
        error_x={"array": floats(high - value), "arrayminus": floats(value - low),
                 "symmetric": False, "color": look.NEUTRAL, "thickness": 2, "width": 5},
        hovertext=[_bar_words(row) for row in rows], hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip
    if not np.isnan(published).all():
        _add_published(figure, published, at, quantity)
    longest = float(np.nanmax([0.0, *value, *high, *published])) or 1.0
    figure.add_scatter(
        x=floats(np.full(len(rows), 1.44 * longest)), y=floats(at), mode="text", textposition="middle left",
        text=["undefined" if np.isnan(v) else digits(v) for v in value], showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1.45 * longest], nticks=6)
    figure.update_yaxes(tickvals=floats(at), ticktext=[row[0] for row in rows], showgrid=False)
    words = [_bar_words(row, paper.get(row[0])) for row in rows]
    return look.finished("ess_bars", figure, f"{quantity}. {'; '.join(words)}.")


def _add_published(figure: go.Figure, published: np.ndarray, at: np.ndarray, quantity: str) -> None:
    known = ~np.isnan(published)
    marker = {"symbol": "diamond", "size": 10, "color": "#FFFFFF", "line": {"color": look.NEUTRAL, "width": 2}}
    figure.add_scatter(
        x=floats(published[known]), y=floats(at[known]), name="paper", mode="markers", marker=marker, showlegend=True,
        cliponaxis=False, hovertemplate=f"paper: {quantity} %{{x:.4g}}<extra></extra>",
    )  # fmt: skip


def _bar_words(row: Row, published: float | None = None) -> str:
    label, value, low, high = row[0], *(_number(v) for v in row[2:])
    text = f"{label}: undefined" if np.isnan(value) else f"{label}: {digits(value)}"
    text += "" if np.isnan([value, low, high]).any() else f" ({digits(low)} to {digits(high)})"
    return text if published is None else f"{text}, paper {digits(published)}"


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)


def means_against_reference(rows: Mapping[str, tuple[str, np.ndarray, np.ndarray]], replicates: int) -> Chart:
    """Differences of each sampler's means from the reference, in standard deviations of the quantity, with a verdict.

    `rows` are sampler, differences and their standard errors by label. About 19 of 20 error bars (± 1.96 errors) should
    include zero. The verdict accounts for all differences: Student's t for few replicates, corrected by Bonferroni.
    """
    figure = look.new_figure("coefficient β<sub>j</sub>", "difference from the reference (sd)")
    worst, name = 0.0, ""
    for i, (label, (sampler, off, error)) in enumerate(rows.items()):
        at = np.arange(off.size) + (i - (len(rows) - 1) / 2) * 0.14
        figure.add_scatter(
            x=floats(at), y=floats(off), name=label, mode="markers",
            marker={"color": look.SAMPLER_COLOURS[sampler], "size": 5, "symbol": look.GROUP_SYMBOLS[i % 7]},
            error_y={"array": floats(1.96 * error), "thickness": 1, "width": 0},
            hovertemplate="β %{x:.0f}: %{y:.3g} sd<extra>" + label + "</extra>",
        )  # fmt: skip
        z = np.abs(off) / error
        if z.max() > worst:
            worst, name = float(z.max()), f"β[{int(z.argmax())}] by {label}"
    figure.add_hline(0, line=look.TRUTH_LINE)
    count = sum(off.size for _, off, _ in rows.values())
    limit = float(special.stdtrit(max(replicates - 1, 1), 1 - 0.005 / count))
    all_agree = "All" if worst <= limit else "Not all"
    verdict = (
        f"{all_agree} {count} means agree with the reference: the largest difference is {digits(worst, 2)} errors "
        f"({name}). By chance, a difference above {digits(limit, 2)} errors occurs once in a hundred times."
    )
    return look.finished("means_against_reference", figure, verdict)
