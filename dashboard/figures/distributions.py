"""Charts of distributions: densities, masses, scatter plots, energies. x is (chains, draws)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dashboard.figures import look
from dashboard.figures.batches import REACH, Bins, Shares, share_errors, shares, stuck
from dashboard.figures.look import Chart, Series, count, digits, floats, plain, symbol
from mahmc.targets import Truth

Runs = Sequence[tuple[str, str, np.ndarray]]  # label, sampler, draws; the present run comes first, pinned runs follow

FEWEST_BINS, MOST_BINS = 30, 80
FOR_QUANTILES = 20_000  # draws that determine the bins
MOST_SCATTERED = 4_000
MOST_ENERGIES = 262_144  # last draws of a chain that are used
MOST_GROUPS_IN_LEGEND = 8
FEWEST_EXPECTED = 5  # bins with fewer expected draws do not count as deviations


def thinned(most: int, *arrays: np.ndarray) -> list[np.ndarray]:
    """At most `most` elements, evenly spaced, of each of these arrays of equal shape (chains, draws)."""
    shape = arrays[0].shape
    size = shape[0] * shape[1]
    picked = np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))
    return [x[np.unravel_index(picked, shape)] for x in arrays]


# ----------------------------------------------------------------------------------------------------- density


def density(runs: Runs, truth: Truth | None, name: str) -> Chart:
    """Histograms of a continuous quantity as densities, and the true density.

    The bars of the first run should stay inside the band of ± 1.96 errors around the truth. The error combines the
    first run's Monte Carlo error in each bin (see `batches.share_errors`) with the error of the reference, if the truth
    is not exact. Bins cover the support of the truth, or else the middle 99.8 % of all draws. The description
    counts the draws outside.
    """
    figure = look.new_figure(symbol(name), f"density of {symbol(name)}")
    runs = [run for run in runs if run[2].size]
    if not runs and truth is not None:
        _add_true_density(figure, truth, symbol(name))
    if not runs:
        return _without_draws("density", figure, truth, name)
    bins = choose_bins([x for _, _, x in runs], truth.support if truth else None)
    words = []
    for i, (label, sampler, x) in enumerate(runs):
        found = shares(x, bins)
        mass, error = truth_by_bin(truth, bins, found)
        if i == 0 and error is not None:
            level, reach = mass / bins.width, REACH * error / bins.width
            low, high = np.maximum(level - reach, 0), level + reach
            label_of_band = "95 % Monte Carlo" if found.moved.any() else "95 % of the reference"
            look.band(figure, bins.middles, low, high, look.NEUTRAL, shape="hvh", name=label_of_band)
        series = Series(label, look.SAMPLER_COLOURS[sampler], symbol(name), i)
        _add_histogram(figure, bins, found.pooled / bins.width, series)
        words.append(_histogram_words(label, found, mass, error, bins.middles, name))
    if truth is not None:
        _add_true_density(figure, truth, symbol(name))
    against = f" against the {look.truth_label(truth)} density" if truth else ""
    alt = f"Histogram of {plain(name)}{against}. {' '.join(words)}"
    return _with_stuck(look.finished("density", figure, alt, truth_known=truth is not None), runs[0][2])


def _with_stuck(chart: Chart, x: np.ndarray) -> Chart:
    """The chart with a caption that says which chains of the first run have no Monte Carlo error."""
    still = int(stuck(x).sum())
    if not still:
        return chart
    if still == len(x):
        return chart._replace(caption=look.ALL_STUCK)
    text = f"{still} of {len(x)} chains are stuck. Errors are those of the other chains."
    return chart._replace(caption=f"{chart.caption} {text}")


def _without_draws(kind: str, figure: go.Figure, truth: Truth | None, name: str) -> Chart:
    """A chart of the truth alone, or an empty chart."""
    if truth is None:
        return look.empty(kind, figure, truth_known=False)
    look.remark(figure, "no draws yet")
    return look.finished(kind, figure, f"The {look.truth_label(truth)} {kind} of {plain(name)}; no draws yet.")


def _add_true_density(figure: go.Figure, truth: Truth, title: str) -> None:
    label = look.truth_label(truth)
    x = np.linspace(*truth.support, 1000)  # enough that the steps of a reference look like steps
    heights = np.asarray(truth.density(x), float)
    figure.add_scatter(
        x=floats(x), y=floats(np.where(np.isfinite(heights), heights, np.nan)), name=label, mode="lines",
        line=look.TRUTH_LINE, hovertemplate=f"{title} = %{{x:.4g}}<br>{label} %{{y:.4g}}<extra></extra>",
    )  # fmt: skip


def choose_bins(draws: Sequence[np.ndarray], support: tuple[float, float] | None) -> Bins:
    """30 to 80 bins of width 2·IQR/∛n (Freedman and Diaconis) over the support, or the middle 99.8 % of draws."""
    pooled = np.concatenate([thinned(FOR_QUANTILES, x)[0] for x in draws]).astype(float)
    low, first, third, high = np.quantile(pooled, [0.001, 0.25, 0.75, 0.999])
    if support is not None:
        low, high = support
    else:
        margin = 0.02 * (high - low) or max(1e-3 * abs(low), 0.5)
        low, high = low - margin, high + margin
    width = 2.0 * (third - first) / np.cbrt(draws[0].size)
    n = np.ceil((high - low) / width) if width > 0 else FEWEST_BINS
    return Bins(float(low), float(high), int(np.clip(n, FEWEST_BINS, MOST_BINS)))


def truth_by_bin(truth: Truth | None, bins: Bins, found: Shares) -> tuple[np.ndarray, np.ndarray | None]:
    """The true probability of each bin, and the standard error of the share of draws in the bin.

    If no chain moved, the error is that of the truth alone, or None if the truth is exact.
    """
    if truth is None:
        return np.full(bins.n, np.nan), None
    within = bins.low + bins.width / 64 * (np.arange(64 * bins.n).reshape(bins.n, 64) + 0.5)
    if truth.cdf is not None:
        mass = np.diff(truth.cdf(bins.edges))
    else:
        mass = bins.width * np.asarray(truth.density(within)).mean(axis=1)
    error = share_errors(found, mass)
    # The reference's errors in its own neighbouring bins may be correlated: their mean is an upper bound.
    of_truth = bins.width * np.asarray(truth.density_se(within)).mean(axis=1)
    if error is None:
        return mass, of_truth if of_truth.any() and not found.moved.any() else None
    return mass, np.hypot(error, of_truth)


def _add_histogram(figure: go.Figure, bins: Bins, heights: np.ndarray, series: Series) -> None:
    """An outline with steps at the bins' edges. The outline of the first run is filled."""
    beyond = bins.width * np.array([0.5])
    figure.update_xaxes(range=[bins.low, bins.high])
    figure.add_scatter(
        x=floats(np.concatenate([bins.low - beyond, bins.middles, bins.high + beyond])),
        y=floats(np.pad(heights, 1)), name=series.label, mode="lines",
        line={"color": series.colour, "width": 1.5, "shape": "hvh", "dash": look.OUTLINE_DASHES[series.number % 4]},
        fill="tozeroy" if series.number == 0 else None, fillcolor=look.faded(series.colour, 0.25),
        hovertemplate=f"{series.title} = %{{x:.4g}}<br>density %{{y:.4g}}<extra>{series.label}</extra>",
    )  # fmt: skip


def _histogram_words(
    label: str, found: Shares, mass: np.ndarray, error: np.ndarray | None, places: np.ndarray, name: str
) -> str:
    text = f"{label}: {count(found.total, 'draw')}"
    enough = found.total * mass >= FEWEST_EXPECTED
    if error is not None and enough.any() and found.moved.any():
        off = np.where(enough, np.abs(found.pooled - mass) / np.where(enough, error, 1.0), 0.0)
        worst = int(off.argmax())
        text += f", largest deviation {digits(off[worst], 2)} Monte Carlo errors at {plain(name)} = "
        text += f"{digits(places[worst], 2)}"
    elif not np.isnan(mass).any():
        text += ", too few to compare, or no chain moved"
    return text + (f", {count(found.outside)} outside the range shown." if found.outside else ".")


# -------------------------------------------------------------------------------------------------------- mass


def mass(runs: Runs, truth: Truth | None, name: str) -> Chart:
    """The frequencies of the values of an integer quantity, and the true probabilities.

    The bars of the first run should end within the error bars of the truth: ± 1.96 Monte Carlo errors of that run, by
    `batches.share_errors`.
    """
    figure = look.new_figure(symbol(name), "relative frequency", barmode="group", bargap=0.25)
    runs = [run for run in runs if run[2].size]
    if truth is None and not runs:
        return look.empty("mass", figure, truth_known=False)
    lows, highs = zip(*([truth.support] if truth else [(x.min(), x.max()) for _, _, x in runs]), strict=True)
    values = np.arange(round(min(lows)), round(max(highs)) + 1)
    bins = Bins(values[0] - 0.5, values[-1] + 0.5, values.size)
    true_mass = np.asarray(truth.density(values), float) if truth else np.full(values.size, np.nan)
    words, reach = [], None
    for i, (label, sampler, x) in enumerate(runs):
        found = shares(x, bins)
        _add_bars(figure, values, found.pooled, Series(label, look.SAMPLER_COLOURS[sampler], symbol(name), i))
        error = share_errors(found, true_mass) if truth else None
        reach = REACH * error if i == 0 and error is not None else reach
        words.append(_histogram_words(label, found, true_mass, error, values, name))
    if truth is not None:
        _add_true_masses(figure, values, true_mass, reach, truth, symbol(name))
    figure.update_xaxes(tickformat="d", **({"dtick": 1} if values.size <= 12 else {}))
    figure.update_yaxes(rangemode="tozero")
    if not runs:
        return _without_draws("mass", figure, truth, name)
    against = f" against the {look.truth_label(truth)} masses" if truth else ""
    alt = f"Relative frequencies of {plain(name)}{against}. {' '.join(words)}"
    return _with_stuck(look.finished("mass", figure, alt, truth_known=truth is not None), runs[0][2])


def _add_bars(figure: go.Figure, values: np.ndarray, heights: np.ndarray, series: Series) -> None:
    label, colour, title, number = series
    marker = {"color": look.faded(colour, 0.45 if number == 0 else 0.15), "line": {"color": colour, "width": 1.5}}
    pattern = {"shape": ("", "/", ".", "\\")[number % 4], "fgcolor": colour, "size": 6, "fillmode": "overlay"}
    figure.add_bar(
        x=floats(values), y=floats(heights), name=label, marker={**marker, "pattern": pattern},
        hovertemplate=f"{title} = %{{x:d}}<br>frequency %{{y:.4g}}<extra>{label}</extra>",
    )  # fmt: skip


def _add_true_masses(
    figure: go.Figure, values: np.ndarray, heights: np.ndarray, reach: np.ndarray | None, truth: Truth, title: str
) -> None:
    label = look.truth_label(truth)
    figure.add_scatter(
        x=floats(values), y=floats(heights), name=label, mode="markers",
        marker={"symbol": "line-ew", "size": min(14, 180 / values.size), "line": {"color": look.NEUTRAL, "width": 2.5}},
        error_y=None if reach is None else {"array": floats(reach), "color": look.NEUTRAL, "width": 3},
        hovertemplate=f"{title} = %{{x:d}}<br>{label} %{{y:.4g}}<extra></extra>",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- scatter and energy


def scatter(
    x: np.ndarray,
    y: np.ndarray,
    names: tuple[str, str],
    sampler: str,
    colour: np.ndarray | None = None,
    colour_name: str = "",
) -> Chart:
    """Two quantities against each other, at most 4000 evenly spaced draws, coloured by an integer quantity if given.

    The cloud should have the shape of the target. Separate clumps of one colour are modes between which chains rarely
    move.
    """
    figure = look.new_figure(symbol(names[0]), symbol(names[1]), height=380, legend_itemsizing="constant")
    if x.size == 0:
        return look.empty("scatter", figure)
    groups = np.zeros(x.shape, np.int8) if colour is None else colour
    a, b, group = thinned(MOST_SCATTERED, x, y, groups)
    found = np.unique(group)
    for g in found:
        shade, shape, label = look.SAMPLER_COLOURS[sampler], "circle", ""
        if colour is not None:
            shade, shape = (kinds[g % len(kinds)] for kinds in (look.GROUP_COLOURS, look.GROUP_SYMBOLS))
            label = f"{symbol(colour_name)} {g}"
        figure.add_scatter(
            x=floats(a[group == g]), y=floats(b[group == g]), name=label, mode="markers",
            marker={"size": 4, "opacity": 0.55, "color": shade, "symbol": shape},
            showlegend=colour is not None and len(found) <= MOST_GROUPS_IN_LEGEND,
            hovertemplate=f"{symbol(names[0])} = %{{x:.4g}}<br>{symbol(names[1])} = %{{y:.4g}}<extra>{label}</extra>",
        )  # fmt: skip
    text = f"Scatter of {plain(names[0])} and {plain(names[1])}: {count(a.size)} of {count(x.size, 'draw')}"
    text += f", correlation {digits(np.corrcoef(a, b)[0, 1])}" if np.ptp(a) > 0 and np.ptp(b) > 0 else ""
    text += "" if colour is None else f", coloured by {plain(colour_name)} ({count(len(found), 'value')})"
    return look.finished("scatter", figure, text + ".")


def energy(e: np.ndarray, sampler: str) -> Chart:
    """The distribution of the energy about its mean, and that of its change between consecutive draws.

    Changes should be at least as wide as the energy: for independent draws their standard deviation is √2 times that of
    the energy. A narrow peak of changes means that the chain moves slowly between energies, and so through the target.
    The last 262 144 draws of a chain are used.
    """
    figure = look.new_figure("energy U, about its mean", "density")
    if e.size == 0:
        return look.empty("energy", figure)
    e = e[:, -MOST_ENERGIES:]
    centred, change = e - e.mean(dtype=float), np.diff(e, axis=1)
    parts = {"energy": centred, "change between draws": change} if change.size else {"energy": centred}
    bins = choose_bins(list(parts.values()), None)
    for i, (label, values) in enumerate(parts.items()):
        heights = shares(values, bins).pooled / bins.width
        _add_histogram(figure, bins, heights, Series(label, look.SAMPLER_COLOURS[sampler], "U − mean", i))
    spread = float(np.sqrt(np.square(centred).mean()))
    text = f"Energy of {count(e.size, 'draw')}: standard deviation {digits(spread)}"
    if spread > 0 and change.size:
        ratio = float(np.sqrt(np.square(change).mean())) / spread
        text += f"; changes between draws are {digits(ratio)} times as large (1.41 for independent draws)"
    return look.finished("energy", figure, text + ".")
