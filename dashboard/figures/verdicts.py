"""Charts of checks: distribution functions, z-scores, flows, ranks, and p-values against the number of draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
from scipy import stats

from dashboard.figures import look
from dashboard.figures.look import Chart, count, digits, floats, p_is, plain, symbol
from mahmc.targets import Truth

BAND = 0.95
MOST_STEPS = 900  # steps of a distribution function that are drawn
MOST_BARS = 16  # the largest z-scores; the page has a table of all
MOST_PAIRS = 12  # the pairs of states with most moves
SMALLEST_P = 1e-20  # smaller p-values are drawn here
P_TICKS = {10.0**k: f"1e−{-k}" if k else "1" for k in range(-20, 1, 4)}


# ------------------------------------------------------------------------------------- distribution functions


def ecdf_difference(x: np.ndarray, truth: Truth, name: str, sampler: str) -> Chart:
    """The difference between the share of draws below each point and the true one. x are thinned, independent draws.

    The line should stay inside the band. The band is simultaneous: a correct sampler leaves it *anywhere* in 5 of 100
    runs, by the distribution of Kolmogorov's statistic for this number of draws.
    """
    assert truth.cdf is not None
    figure = look.new_figure(symbol(name), "share below, minus the true share")
    x = np.sort(np.asarray(x, float), axis=None)
    n = x.size
    if n == 0:
        return look.empty("ecdf_difference", figure)
    exact = truth.cdf(x)
    above, below = np.arange(1, n + 1) / n - exact, exact - np.arange(n) / n
    largest = float(max(above.max(), below.max()))
    reach = float(stats.kstwo.ppf(BAND, n))
    low, high = truth.support
    ends = np.array([low, high])
    look.band(figure, ends, np.full(2, -reach), np.full(2, reach), look.NEUTRAL, name="95 %, simultaneous")
    figure.add_hline(0, line=look.TRUTH_LINE)
    kept = np.unique(np.linspace(0, n - 1, min(n, MOST_STEPS)).round().astype(int))
    kept = kept[(x[kept] >= low) & (x[kept] <= high)]
    both = np.stack([-below[kept], above[kept]], axis=1)  # just before a draw, and at it
    figure.add_scatter(
        x=floats(np.repeat(x[kept], 2)), y=floats(both.ravel()), name="draws", mode="lines", showlegend=False,
        line={"color": look.SAMPLER_COLOURS[sampler], "width": 1.5},
        hovertemplate=f"{symbol(name)} = %{{x:.4g}}<br>difference %{{y:.3g}}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(range=[low, high])
    edge = 1.2 * max(reach, largest)  # the band's own edges must be seen
    figure.update_yaxes(range=[-edge, edge])
    p_value = float(stats.kstwo.sf(largest, n))
    words = f"Share of {count(n, 'thinned draw')} of {plain(name)} below each point, minus the exact share: at most "
    words += f"{digits(largest, 2)} apart; the 95 % band ends at {digits(reach, 2)} ({p_is(p_value)})."
    return look.finished("ecdf_difference", figure, words)


# ------------------------------------------------------------------------------------------ differences in errors


def z_bars(rows: Sequence[tuple[str, float]], critical: float, sampler: str) -> Chart:
    """Differences from the truth in standard errors, the largest on top. ±2 and the critical value are marked.

    About 19 of 20 bars should be within ±2. With many comparisons some are outside by chance. `critical` accounts for
    their number: only a bar beyond it makes a sampler wrong. A difference without an error (NaN) is left out.
    """
    rows = sorted((row for row in rows if not np.isnan(row[1])), key=lambda row: -abs(row[1]))
    shown = rows[:MOST_BARS]
    figure = look.new_figure("standard errors", "", height=90 + 22 * max(len(shown), 4), bargap=0.3)
    if not shown:
        return look.empty("z_bars", figure, text="nothing to compare")
    at, z = -np.arange(len(shown), dtype=float), np.array([z for _, z in shown])
    longest = float(max(1.15 * critical, 1.08 * min(abs(z).max(), 1e6)))
    figure.add_bar(
        x=floats(np.clip(z, -longest, longest)), y=floats(at), orientation="h", showlegend=False,
        marker={"color": look.SAMPLER_COLOURS[sampler]},
        hovertext=[f"{what}: {digits(value)}" for what, value in shown], hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip
    marks = (("±2", 2.0, "dot"), (f"±{digits(critical, 2)}: wrong beyond", critical, "dash"))
    for label, place, dash in marks:
        for side in (-1, 1):
            figure.add_scatter(
                x=floats(np.full(2, side * place)), y=floats([at[-1] - 0.5, 0.5]), name=label, mode="lines",
                line={"color": look.NEUTRAL, "width": 2, "dash": dash}, hoverinfo="skip", showlegend=side > 0,
            )  # fmt: skip
    figure.update_xaxes(range=[-longest, longest])
    figure.update_yaxes(tickvals=floats(at), ticktext=[what for what, _ in shown], showgrid=False,
                        range=[at[-1] - 0.6, 0.6])  # fmt: skip
    beyond = sum(abs(value) > critical for _, value in rows)
    usual = sum(abs(value) > 2.0 for _, value in rows)
    words = f"{count(len(rows), 'difference')} from the truth in standard errors: {usual} beyond 2, {beyond} beyond "
    words += f"the critical {digits(critical, 2)}. The largest is {digits(shown[0][1])} ({shown[0][0]})."
    return look.finished("z_bars", figure, words)


# -------------------------------------------------------------------------------------------------------- flows


def flows(states: Sequence[str], counts: np.ndarray, sampler: str) -> Chart:
    """The number of moves of the discrete part from one state to another and back, with all else fixed.

    The two bars of a pair should have the same height, up to the error bars: ± 1.96 errors of a fair coin that is
    thrown for each move. The pairs with most moves are shown.
    """
    figure = look.new_figure("states", "moves", barmode="group", bargap=0.3)
    pairs = [(i, j) for i, j in combinations(range(len(states)), 2) if counts[i, j] + counts[j, i] > 0]
    pairs = sorted(pairs, key=lambda pair: -(counts[pair] + counts[pair[::-1]]))[:MOST_PAIRS]
    if not pairs:
        return look.empty("flows", figure, text="no moves")
    forth, back = np.array([[counts[pair], counts[pair[::-1]]] for pair in pairs], float).T
    error = 0.5 * np.sqrt(forth + back)
    names = [f"{_short(states[i])} ⇄ {_short(states[j])}" for i, j in pairs]
    colour, at = look.SAMPLER_COLOURS[sampler], np.arange(len(pairs))
    for label, heights, alpha, shape in (("forth", forth, 0.45, ""), ("back", back, 0.15, "/")):
        figure.add_bar(
            x=floats(at), y=floats(heights), name=label,
            marker={"color": look.faded(colour, alpha), "line": {"color": colour, "width": 1.5},
                    "pattern": {"shape": shape, "fgcolor": colour, "size": 6, "fillmode": "overlay"}},
            error_y={"array": floats(1.96 * error), "color": look.NEUTRAL, "width": 3},
            hovertext=[f"{name}, {label}: {count(int(h))}" for name, h in zip(names, heights, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(tickvals=floats(at), ticktext=names, showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    z = np.abs(forth - back) / (2 * error)
    worst = int(z.argmax())
    words = f"{count(int(counts.sum()), 'move')} between {count(len(states), 'state')}. Of the pairs shown, "
    words += f"{names[worst]} differs most: {count(int(forth[worst]))} forth and {count(int(back[worst]))} back, "
    words += f"{digits(z[worst], 2)} errors."
    return look.finished("flows", figure, words)


def _short(state: str) -> str:
    return state.removeprefix("component ")


# -------------------------------------------------------------------------------------------------------- ranks


def rank_histogram(ranks: Mapping[str, np.ndarray], most: int, bins: int, sampler: str) -> Chart:
    """The ranks, 0 … most, of the true value of each parameter among later draws: frequencies relative to uniform.

    95 of 100 bins should be inside the band, by the binomial distribution. A slope is a bias; a hump means that draws
    are too wide, a trough that draws are too narrow.
    """
    figure = look.new_figure("rank of the true value (share)", "frequency (uniform = 1)")
    n = min((r.size for r in ranks.values()), default=0)
    if n == 0:
        return look.empty("rank_histogram", figure)
    low, high = stats.binom.ppf([0.025, 0.975], n, 1.0 / bins) * bins / n
    ends = np.array([0.0, 1.0])
    look.band(figure, ends, np.full(2, low), np.full(2, high), look.NEUTRAL, name="95 % of bins, if correct")
    figure.add_hline(1, line=look.TRUTH_LINE)
    middles = (np.arange(-1, bins + 1) + 0.5) / bins  # with a point beyond each end, so that lines reach the ends
    outside, colours = 0, look.shades(look.SAMPLER_COLOURS[sampler], len(ranks))
    for i, (name, r) in enumerate(ranks.items()):
        frequency = np.bincount(r.astype(int) * bins // (most + 1), minlength=bins) * bins / r.size
        outside += int(((frequency < low) | (frequency > high)).sum())
        figure.add_scatter(
            x=floats(middles), y=floats(np.pad(frequency, 1, "edge")), name=symbol(name), mode="lines",
            line={"color": colours[i], "width": 2, "shape": "hvh", "dash": look.OUTLINE_DASHES[i % 4]},
            hovertemplate=f"rank %{{x:.3g}}<br>frequency %{{y:.3g}}<extra>{symbol(name)}</extra>",
        )  # fmt: skip
    figure.update_xaxes(range=[0, 1])
    words = f"Ranks of the true {', '.join(plain(name) for name in ranks)} in {count(n, 'simulated data set')}: "
    words += f"{outside} of {count(bins * len(ranks), 'bin')} outside the 95 % band."
    return look.finished("rank_histogram", figure, words)


# ----------------------------------------------------------------------------------------------------- p-values


def p_value_path(paths: Sequence[tuple[str, str, Sequence[int], Sequence[float]]], level: float, now: int) -> Chart:
    """The test's p-value against the number of draws, by label and sampler. The level and `now` are marked.

    Where a line falls below the level, the test has found the error. The line of a correct sampler stays above.
    """
    figure = look.new_figure("draws of each chain", "p-value of the test")
    paths = [path for path in paths if len(path[2])]
    if not paths:
        return look.empty("p_value_path", figure)
    words = []
    for label, sampler, draws, p_values in paths:
        shape = "circle" if sampler == paths[0][1] else "x"
        figure.add_scatter(
            x=floats(draws), y=floats(np.maximum(p_values, SMALLEST_P)), name=label, mode="lines+markers",
            line={"color": look.SAMPLER_COLOURS[sampler], "width": 2}, marker={"symbol": shape, "size": 8},
            hovertext=[f"{label}: {p_is(p)}" for p in p_values],
            hovertemplate="%{x:,d} draws<br>%{hovertext}<extra></extra>",
        )  # fmt: skip
        below = [n for n, p in zip(draws, p_values, strict=True) if p < level]
        words.append(f"{label} {f'is below from {count(below[0])} draws on' if below else 'is never below'}")
    last = max(max(path[2]) for path in paths)
    _add_mark(figure, np.array([0.8, 1.25 * last]), np.full(2, level), f"level {digits(level, 2)}", "dash")
    _add_mark(figure, np.full(2, now), np.array([SMALLEST_P, 1.0]), "shown", "dot")
    ticks = paths[0][2][::2]
    figure.update_xaxes(type="log", range=[np.log10(0.8), np.log10(1.25 * max(last, now))], tickvals=floats(ticks),
                        ticktext=[count(n) for n in ticks])  # fmt: skip
    lowest = min(level, *(max(min(path[3]), SMALLEST_P) for path in paths))
    figure.update_yaxes(type="log", range=[1.1 * np.log10(lowest), 0.4], tickvals=floats(list(P_TICKS)),
                        ticktext=list(P_TICKS.values()))  # fmt: skip
    return look.finished("p_value_path", figure, f"p-values against the level {digits(level, 2)}: {'; '.join(words)}.")


def _add_mark(figure: go.Figure, x: np.ndarray, y: np.ndarray, label: str, dash: str) -> None:
    figure.add_scatter(x=floats(x), y=floats(y), name=label, mode="lines", hoverinfo="skip",
                       line={"color": look.NEUTRAL, "width": 2, "dash": dash})  # fmt: skip
