"""The trace: every chain's values, draw by draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from tsdownsample import MinMaxDownsampler

from dashboard.figures import look
from dashboard.figures.look import MOST_CHAINS, MOST_POINTS_OF_ONE, Chart, Series, count, digits, floats, plain, symbol

MOST_POINTS = 14_400  # of all chains together, 8 bytes each
MOST_POINTS_LIVE = 2_400  # while chains run: drawing takes time, often on the cores that the chains use
PEAKS = "The lines connect only the peaks. Zoom in to see every draw."
EVERY_DRAW = "Every draw of this range is shown."


def trace(
    x: np.ndarray, name: str, sampler: str, warmup: np.ndarray | None = None, points: int = MOST_POINTS,
    between: tuple[float, float] | None = None,
) -> Chart:  # fmt: skip
    """The value of every chain at each draw. The warm-up is shaded, and its draws are numbered up to zero.

    All chains should cover the same range. A chain that drifts has not converged; a flat chain rejects all proposals.
    Long chains are drawn by at most `points` points that keep their peaks, and the caption says so. At most 16 chains
    are drawn. `between` limits the draws to a range of draw numbers, with one more draw on either side.
    """
    figure = look.new_figure("draw", symbol(name))
    seen = x.shape[1]
    warm = 0 if warmup is None else warmup.shape[1]
    first, last = _range_of_draws(between, 1 - warm, seen)
    if len(x) == 0 or seen + warm == 0:
        return look.empty("trace", figure)
    picked = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_CHAINS)).round().astype(int))
    most = min(MOST_POINTS_OF_ONE, points // len(picked))
    drawn = []
    for chain, shade in zip(picked, look.shades(look.SAMPLER_COLOURS[sampler], len(picked)), strict=True):
        before = np.empty(0) if warmup is None else warmup[chain, max(first - 1 + warm, 0) : max(last + warm, 0)]
        y = np.concatenate([floats(before), floats(x[chain, max(first - 1, 0) : max(last, 0)])])
        series = Series(f"chain {chain + 1}", shade, symbol(name))
        drawn.append(_add_chain(figure, y, first, most, series))
    figure.update_traces(opacity=0.9 if len(picked) <= 4 else 0.5)  # the last of many chains must not hide the others
    figure.update_xaxes(range=[0.5 - warm, max(seen + 0.5, 1.5 - warm)])
    if warm:
        figure.add_vrect(
            0.5 - warm, 0.5, fillcolor=look.faded(look.NEUTRAL, 0.18), line_width=0, layer="below",
            annotation={"text": "warm-up", "font_size": 12}, annotation_position="top left",
        )  # fmt: skip
    chart = look.finished("trace", figure, _trace_words(x, warm, name, drawn))
    thinned = last - first + 1 > most
    return chart._replace(caption=f"{chart.caption} {PEAKS if thinned else EVERY_DRAW if between else ''}".strip())


def _range_of_draws(between: tuple[float, float] | None, first: int, last: int) -> tuple[int, int]:
    """The first and the last draw to show: of all draws, or of the range `between`."""
    if between is None:
        return first, last
    low, high = (int(np.clip(end, first, last)) for end in (np.floor(between[0]), np.ceil(between[1])))
    return low, max(low, high)


def _add_chain(figure: go.Figure, y: np.ndarray, first: int, most: int, series: Series) -> np.ndarray:
    """Draw a chain, and return the values that are drawn."""
    places: dict[str, Any] = {"x0": first, "dx": 1}
    if y.size > most:
        downsampler = MinMaxDownsampler()
        peaks = downsampler.downsample(y, n_out=most // 2 * 2 - 2).astype(int)
        kept = np.unique([0, *peaks, y.size - 1])
        places, y = {"x": floats(kept + first)}, y[kept]
    figure.add_scatter(
        **places, y=y, name=series.label, mode="lines" if y.size > 50 else "lines+markers",
        line={"width": 1, "color": series.colour}, marker={"size": 4}, showlegend=False,
        hovertemplate=f"draw %{{x:,d}}<br>{series.title} = %{{y:.4g}}<extra>{series.label}</extra>",
    )  # fmt: skip
    return y


def _trace_words(x: np.ndarray, warm: int, name: str, drawn: list[np.ndarray]) -> str:
    chains, draws = x.shape
    text = f"Trace of {plain(name)}: {count(chains, 'chain')} of {count(draws, 'draw')}"
    text += f" after {count(warm)} of warm-up" if warm else ""
    text += f", between {digits(min(y.min() for y in drawn))} and {digits(max(y.max() for y in drawn))}."
    if draws:
        means = x.mean(axis=1, dtype=float)
        text += f" Means of chains lie between {digits(means.min())} and {digits(means.max())}."
    still = sum(y.size > 1 and y.min() == y.max() for y in drawn)
    text += f" {count(still, 'chain')} drawn never moved." if still else ""
    return text + (f" {len(drawn)} chains are drawn, evenly spaced." if len(drawn) < chains else "")
