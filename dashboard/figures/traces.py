"""The trace: every chain's values, draw by draw."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from tsdownsample import MinMaxDownsampler

from dashboard.figures import look
from dashboard.figures.batches import stuck
from dashboard.figures.look import MOST_CHAINS, MOST_POINTS_OF_ONE, Chart, Series, count, digits, floats, plain, symbol

MOST_POINTS = 14_400  # of all chains together, 8 bytes each
MOST_POINTS_LIVE = 2_400  # while chains run: drawing takes time, often on the cores that the chains use
LAST_DRAWS = 50  # in the window that follows a run
FEW_CHAINS = 4  # at most this number of lines have thick strokes and labels
MOST_DOTTED, MOST_MARKED = 50, LAST_DRAWS + 2  # draws of a line with dots, and with marks of accepted and rejected
WIDTH, WIDTH_OF_FEW, WIDTH_OF_STUCK = 1, 2, 5  # pixels
LABEL_HEIGHT = 0.07  # share of the vertical axis
ACCEPTED, REJECTED = "circle", "x-thin-open"
PEAKS = "The lines connect only the peaks. Zoom in to see every draw."
EVERY_DRAW = "Every draw of this range is shown."
MARKED = "Dots are accepted proposals. Crosses are rejected proposals: the chain stays where it is."
STUCK = "Thick lines are chains that are stuck: they have never moved."


class Draws(NamedTuple):
    """The draws (chains, draws) of a quantity and of its warm-up. Draws of the warm-up are numbered up to zero."""

    x: np.ndarray
    warmup: np.ndarray | None = None

    @property
    def warm(self) -> int:
        return 0 if self.warmup is None else self.warmup.shape[1]

    @property
    def seen(self) -> int:
        return int(self.x.shape[1])

    def of(self, chain: int, first: int, last: int) -> np.ndarray:
        """The draws of a chain with these numbers."""
        x = self.x[chain, max(first - 1, 0) : max(last, 0)]
        if self.warmup is None:
            return x
        return np.concatenate([self.warmup[chain, max(first - 1 + self.warm, 0) : max(last + self.warm, 0)], x])


class Focus(NamedTuple):
    """What a trace shows of the chains.

    `window` is the number of last draws that the trace shows. `position` are the draws of a quantity that changes if
    and only if a proposal is accepted: with it, each draw of a short range is marked as accepted or rejected.
    """

    chains: int = MOST_CHAINS
    window: int | None = None
    position: Draws | None = None


def trace(
    x: np.ndarray, name: str, sampler: str, warmup: np.ndarray | None = None, points: int = MOST_POINTS,
    between: tuple[float, float] | None = None, *, focus: Focus | None = None,
) -> Chart:  # fmt: skip
    """The value of every chain at each draw. The warm-up is shaded, and its draws are numbered up to zero.

    All chains should cover the same range. A chain that drifts has not converged; a flat chain rejects all proposals.
    Long chains are drawn by at most `points` points that keep their peaks, and the caption says so. `between` limits
    the draws to a range of draw numbers, with one more draw on either side. `focus` says how many chains and which
    draws are shown. A few chains have labels at their ends. Chains that never moved have thick lines.
    """
    chains, window, position = focus or Focus()
    figure = look.new_figure("draw", symbol(name))
    draws = Draws(x, warmup)
    seen, warm = draws.seen, draws.warm
    first, last = _range_of_draws(between, 1 - warm, seen)
    if len(x) == 0 or seen + warm == 0:
        return look.empty("trace", figure)
    if window is not None:
        first = max(first, last - window + 1)
    picked = np.unique(np.linspace(0, len(x) - 1, min(len(x), chains)).round().astype(int))
    still = stuck(x if seen or warmup is None else warmup)
    most = min(MOST_POINTS_OF_ONE, points // len(picked))
    marked = position is not None and last - first < MOST_MARKED
    few, drawn = len(picked) <= FEW_CHAINS, []
    for chain, shade in zip(picked, look.shades(look.SAMPLER_COLOURS[sampler], len(picked)), strict=True):
        series = Series(f"chain {chain + 1}", shade, symbol(name))
        y = floats(draws.of(chain, first, last))
        stroke = _stroke(y.size, few, still[chain])
        if position is not None and marked and not still[chain]:
            stroke |= _marks(position.of(chain, first - 1, last), y.size)
        drawn.append(_add_chain(figure, y, first, most, series, stroke))
    end = last if window is None else max(last, first + window - 1)
    begin, end = (first, end) if window is not None else (1 - warm, max(seen, 1 - warm))
    figure.update_xaxes(range=[begin - 0.5, end + 0.5])
    if warm and begin <= 0:
        figure.add_vrect(
            0.5 - warm, 0.5, fillcolor=look.faded(look.NEUTRAL, 0.18), line_width=0, layer="below",
            annotation={"text": "warm-up", "font_size": 12}, annotation_position="top left",
        )  # fmt: skip
    _label(figure, [draws.x[chain] for chain in picked], drawn, still[picked], last)
    chart = look.finished("trace", figure, _trace_words(x, warm, name, drawn, int(still.sum())))
    thinned = last - first + 1 > most
    shown = PEAKS if thinned else EVERY_DRAW if between else ""
    words = [chart.caption, shown, MARKED if marked else "", STUCK if still.any() else ""]
    return chart._replace(caption=" ".join(filter(None, words)))


def _range_of_draws(between: tuple[float, float] | None, first: int, last: int) -> tuple[int, int]:
    """The first and the last draw to show: of all draws, or of the range `between`."""
    if between is None:
        return first, last
    low, high = (int(np.clip(end, first, last)) for end in (np.floor(between[0]), np.ceil(between[1])))
    return low, max(low, high)


def _add_chain(
    figure: go.Figure, y: np.ndarray, first: int, most: int, series: Series, stroke: dict[str, Any]
) -> np.ndarray:
    """Draw a chain, and return the values that are drawn."""
    places: dict[str, Any] = {"x0": first, "dx": 1}
    if y.size > most:
        downsampler = MinMaxDownsampler()
        peaks = downsampler.downsample(y, n_out=most // 2 * 2 - 2).astype(int)
        kept = np.unique([0, *peaks, y.size - 1])
        places, y = {"x": floats(kept + first)}, y[kept]
    line = {"color": series.colour, "width": stroke["width"]}
    figure.add_scatter(
        **places, y=y, name=series.label, line=line, mode=stroke["mode"], marker=stroke["marker"],
        opacity=stroke["opacity"], showlegend=False,
        hovertemplate=f"draw %{{x:,d}}<br>{series.title} = %{{y:.4g}}<extra>{series.label}</extra>",
    )  # fmt: skip
    return y


def _stroke(draws: int, few: bool, is_stuck: bool) -> dict[str, Any]:
    """How a line is drawn. Few lines are thick, and a chain that never moved is thicker. Many lines hide nothing."""
    return {
        "width": WIDTH_OF_STUCK if is_stuck else WIDTH_OF_FEW if few else WIDTH,
        "opacity": 0.9 if few or is_stuck else 0.5,
        "mode": "lines" if draws > MOST_DOTTED or is_stuck else "lines+markers",
        "marker": {"size": 4},
    }


def _marks(position: np.ndarray, draws: int) -> dict[str, Any]:
    """Marks of accepted and rejected draws. The very first draw of a run has no draw before it."""
    moved = np.ones(draws, bool)
    changes = np.diff(position) != 0
    moved[draws - changes.size :] = changes
    symbols, sizes = np.where(moved, ACCEPTED, REJECTED).tolist(), np.where(moved, 6, 7).tolist()
    outline = {"width": np.where(moved, 0, 2).tolist()}
    return {"mode": "lines+markers", "marker": {"symbol": symbols, "size": sizes, "opacity": 1, "line": outline}}


def _label(figure: go.Figure, draws: list[np.ndarray], drawn: list[np.ndarray], still: np.ndarray, end: int) -> None:
    """Write each chain's number at the end of its line. Of many chains, label those that are stuck, if they are few."""
    labelled = np.flatnonzero(still | (len(still) <= FEW_CHAINS))
    if not labelled.size or labelled.size > FEW_CHAINS:
        if labelled.size:
            text = f"{labelled.size} of the {len(still)} chains drawn are stuck"
            figure.add_annotation(text=text, x=1, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom",
                                  showarrow=False, font_size=13)  # fmt: skip
        return
    # The axis covers all draws so far, so that it does not jump when a peak leaves the window.
    low, high = _limits([*drawn, *draws])
    figure.update_yaxes(range=[low, high])
    heights = spread(np.array([float(drawn[i][-1]) for i in labelled]), LABEL_HEIGHT * (high - low), low, high)
    texts = [f"{figure.data[i].name}{': stuck' if still[i] else ''}" for i in labelled]
    notes = [
        {"text": f"<span style='color:{figure.data[i].line.color}'>\u25a0</span> {text}", "x": end, "y": float(y),
         "xanchor": "left", "xshift": 3, "showarrow": False, "font": {"size": 12}}
        for i, y, text in zip(labelled, heights, texts, strict=True)
    ]  # fmt: skip
    room = 26 + 7 * max(map(len, texts))
    figure.update_layout(annotations=[*figure.layout.annotations, *notes], margin_r=room)


def _limits(values: list[np.ndarray]) -> tuple[float, float]:
    """The range of the vertical axis that shows these values."""
    finite = [y[np.isfinite(y)] if not np.isfinite(y.sum()) else y for y in values]
    low = min((float(y.min()) for y in finite if y.size), default=0.0)
    high = max((float(y.max()) for y in finite if y.size), default=1.0)
    margin = 0.06 * (high - low) or max(0.05 * abs(high), 0.5)
    return low - margin, high + margin


def spread(places: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Places that are as near as possible to the given ones, at least `gap` apart, between `low` and `high`."""
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    # Without the steps, "at least gap apart" means "in order": moving up gives one solution, moving down another.
    base = places[order] - steps
    middle = (np.maximum.accumulate(base) + np.minimum.accumulate(base[::-1])[::-1]) / 2
    found = np.empty(len(places))
    room = np.clip(middle, low + gap / 2, max(low + gap / 2, high - gap / 2 - steps[-1]))
    found[order] = room + steps
    return found


def _trace_words(x: np.ndarray, warm: int, name: str, drawn: list[np.ndarray], still: int) -> str:
    chains, draws = x.shape
    text = f"Trace of {plain(name)}: {count(chains, 'chain')} of {count(draws, 'draw')}"
    text += f" after {count(warm)} of warm-up" if warm else ""
    text += f", between {digits(min(y.min() for y in drawn))} and {digits(max(y.max() for y in drawn))}."
    if draws:
        means = x.mean(axis=1, dtype=float)
        text += f" Means of chains lie between {digits(means.min())} and {digits(means.max())}."
    text += f" {count(still, 'chain')} never moved." if still else ""
    return text + (f" {len(drawn)} chains are drawn, evenly spaced." if len(drawn) < chains else "")
