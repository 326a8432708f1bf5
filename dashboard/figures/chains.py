"""Charts of chains over draws: running means and rates, autocorrelations, ranks. x is (chains, draws)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, pairwise

import numpy as np
import plotly.graph_objects as go
from scipy import fft

from dashboard.figures import look
from dashboard.figures.batches import REACH, running_means
from dashboard.figures.look import MOST_CHAINS, MOST_POINTS_OF_ONE, Chart, count, digits, floats, plain, symbol
from mahmc.targets import Truth

CHECKPOINTS = 100
MOST_CORRELATED = 131_072  # last draws of a chain that are used
MOST_RANKED = 131_072  # draws of all chains together that are used
RANK_BINS = 20


# ------------------------------------------------------------------------------------- running mean and acceptance


def running_mean(x: np.ndarray, truth: Truth | None, name: str, sampler: str) -> Chart:
    """The mean over all chains against the number of draws, with ± 1.96 Monte Carlo standard errors.

    The band should narrow around the true value, as 1/√draws. At each of 100 checkpoints the error is computed from the
    draws until then, by batch means (see `batches.running_means`).
    """
    figure = look.new_figure("draws of each chain", f"mean of {symbol(name)}")
    truth_known = truth is not None and bool(np.isfinite(truth.mean))
    if x.size == 0:
        return look.empty("running_mean", figure, truth_known=truth_known)
    run, colour = running_means(x, CHECKPOINTS), look.SAMPLER_COLOURS[sampler]
    known = ~np.isnan(run.error)
    low, high = run.mean - REACH * run.error, run.mean + REACH * run.error
    if known.any():
        look.band(figure, run.at[known], low[known], high[known], colour, name="± 1.96 errors")
    figure.add_scatter(
        x=floats(run.at), y=floats(run.mean), name="mean", mode="lines" if run.at.size > 1 else "markers",
        line={"color": colour, "width": 2},
        hovertemplate=f"%{{x:,d}} draws<br>mean of {symbol(name)} = %{{y:.4g}}<extra></extra>",
    )  # fmt: skip
    # The first checkpoints vary so much that they would compress the rest to a line.
    calm = slice(run.at.size // 10, None)
    shown = np.concatenate([run.mean[calm], low[calm], high[calm]])
    if truth is not None and truth_known:
        _add_level(figure, truth.mean, look.truth_label(truth))
        shown = np.append(shown, truth.mean)
    margin = 0.05 * float(np.ptp(shown[~np.isnan(shown)])) or 0.5
    figure.update_yaxes(range=[float(np.nanmin(shown)) - margin, float(np.nanmax(shown)) + margin])
    words = _running_mean_words(run.mean[-1], run.error[-1], x, truth, name)
    return look.finished("running_mean", figure, words, truth_known)


def _add_level(figure: go.Figure, level: float, label: str) -> None:
    """A horizontal line in the truth's style, with an entry in the legend."""
    figure.add_hline(level, line=look.TRUTH_LINE)
    figure.add_scatter(x=[None], y=[None], mode="lines", line=look.TRUTH_LINE, name=f"{label} {digits(level, 4)}")


def _running_mean_words(mean: float, error: float, x: np.ndarray, truth: Truth | None, name: str) -> str:
    chains, draws = x.shape
    within = " (error undefined)" if np.isnan(error) else f" ± {digits(error)} (standard error)"
    text = f"Running mean of {plain(name)} over {count(chains, 'chain')}: {digits(mean, 4)}{within} after "
    text += f"{count(draws, 'draw')} of each"
    if truth is None:
        return text + "."
    if not np.isfinite(truth.mean):
        return text + "; the true mean is not finite."
    text += f"; {look.truth_label(truth)} value {digits(truth.mean, 4)}"
    both = np.hypot(error, truth.mean_se)
    return text + (f", {digits(abs(mean - truth.mean) / both, 2)} errors away." if both > 0 else ".")


def running_acceptance(done: np.ndarray, rates: Mapping[str, np.ndarray], sampler: str) -> Chart:
    """Acceptance rates by kind ("trajectory", "inner updates", ...) against draws; NaN where nothing was tested.

    The lines should settle. A rate of the trajectory near 0 wastes gradients; near 1 the step could be larger. Updates
    of q^O by Gibbs are always accepted.
    """
    figure = look.new_figure("draws of each chain", "share accepted", yaxis_range=[-0.02, 1.02])
    kinds = {kind: rate for kind, rate in rates.items() if len(rate) and not np.isnan(rate).all()}
    if not kinds:
        return look.empty("running_acceptance", figure)
    kept = np.unique(np.linspace(0, len(done) - 1, min(len(done), MOST_POINTS_OF_ONE)).round().astype(int))
    for (kind, rate), dash in zip(kinds.items(), cycle(look.OUTLINE_DASHES), strict=False):
        figure.add_scatter(
            x=floats(np.asarray(done)[kept]), y=floats(np.asarray(rate)[kept]), name=kind,
            mode="lines" if len(kept) > 1 else "markers", showlegend=True,
            line={"color": look.SAMPLER_COLOURS[sampler], "width": 2, "dash": dash},
            hovertemplate=f"%{{x:,d}} draws<br>{kind} %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
    last = ", ".join(f"{kind} {digits(rate[-1])}" for kind, rate in kinds.items())
    return look.finished("running_acceptance", figure, f"Share accepted after {count(int(done[-1]), 'draw')}: {last}.")


# --------------------------------------------------------------------------------------------- autocorrelation


def autocorrelation_function(x: np.ndarray, max_lag: int) -> np.ndarray:
    """Autocorrelations of (chains, draws) at lags 0 … max_lag, each chain about its mean; NaN for a constant chain.

        ρ_t = Σ_i (x_i − x̄)(x_{i+t} − x̄) / Σ_i (x_i − x̄)²

    Like ArviZ's `autocorr`, which ArviZ 1.x does not have for arrays; padded only as far as max_lag needs it.
    """
    draws = x.shape[1]
    centred = x - x.mean(axis=1, dtype=float, keepdims=True)
    size = fft.next_fast_len(draws + max_lag, real=True)
    spectrum = fft.rfft(centred, n=size, axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    covariance = fft.irfft(power, n=size, axis=1)[:, : max_lag + 1]
    moved = x.min(axis=1) < x.max(axis=1)
    rho: np.ndarray = np.full_like(covariance, np.nan)
    np.divide(covariance, covariance[:, :1], out=rho, where=moved[:, None])
    return rho


def autocorrelation(x: np.ndarray, name: str, sampler: str, max_lag: int = 100) -> Chart:
    """The autocorrelation at each lag: the mean of all chains, and the range of the chains.

    The sooner the curve falls to zero, the better. A wide range means that chains are too short, or disagree. The last
    131 072 draws of a chain are used. The autocorrelation of a constant chain is undefined.
    """
    figure = look.new_figure("lag (draws)", f"autocorrelation of {symbol(name)}")
    if x.size == 0:
        return look.empty("autocorrelation", figure)
    x = x[:, -MOST_CORRELATED:]
    draws = x.shape[1]
    max_lag = max(0, min(max_lag, draws - 1))
    rho = autocorrelation_function(x, max_lag)
    rho = rho[~np.isnan(rho[:, 0])]
    if len(rho) == 0:
        what = f"Autocorrelation of {plain(name)}: undefined, since no chain moved in {count(draws, 'draw')}."
        return look.empty("autocorrelation", figure, what, "undefined: no chain moved")
    lags = np.unique(np.linspace(0, max_lag, min(max_lag + 1, MOST_POINTS_OF_ONE)).round().astype(int))
    mean, low, high = (statistic(axis=0) for statistic in (rho.mean, rho.min, rho.max))
    colour = look.SAMPLER_COLOURS[sampler]
    if len(rho) > 1:
        look.band(figure, lags, low[lags], high[lags], colour, name="range of chains")
    figure.add_scatter(
        x=floats(lags), y=floats(mean[lags]), name="mean of chains" if len(rho) > 1 else "autocorrelation",
        mode="lines" if len(lags) > 1 else "markers", line={"color": colour, "width": 2},
        hovertemplate="lag %{x:,d}<br>autocorrelation %{y:.4g}<extra></extra>",
    )  # fmt: skip
    figure.add_hline(0, line={"color": look.NEUTRAL, "width": 1})
    figure.update_yaxes(range=[min(-0.05, 1.05 * float(low[lags].min())), 1.05])
    return look.finished("autocorrelation", figure, _autocorrelation_words(mean, len(rho), x, name))


def _autocorrelation_words(mean: np.ndarray, moved: int, x: np.ndarray, name: str) -> str:
    chains, draws = x.shape
    text = f"Autocorrelation of {plain(name)}, mean of {count(moved, 'chain')} of {count(draws, 'draw')}"
    if mean.size > 1:
        small = np.flatnonzero(np.abs(mean) < 0.05)
        text += f": {digits(mean[1])} at lag 1, "
        last = f"still {digits(mean[-1])} at lag {count(mean.size - 1)}"
        text += f"first below 0.05 at lag {count(small[0])}" if small.size else last
    still = chains - moved
    return text + "." + (f" Left out: {count(still, 'chain')} that never moved." if still else "")


# ------------------------------------------------------------------------------------------------------- ranks


def ranks(x: np.ndarray, name: str, sampler: str) -> Chart:
    """The ranks of each chain's draws among the draws of all chains: frequencies in 20 bins, relative to uniform.

    The lines should stay inside the band around 1. A slope means that a chain is lower or higher than the others, a
    hump or a trough that it is narrower or wider. Ties are broken at random. The quarters of a single chain are
    compared with each other. Long chains are thinned evenly.
    """
    figure = look.new_figure(f"rank of {symbol(name)} among all draws (share)", "frequency (uniform = 1)")
    if x.size == 0:
        return look.empty("ranks", figure)
    label = "chain"
    if len(x) == 1 and x.shape[1] >= 4:
        label, quarter = "quarter", x.shape[1] // 4
        x = x[:, : 4 * quarter].reshape(4, quarter)
    x = x[:, :: -(-x.size // MOST_RANKED)]
    if len(x) == 1 or x.min() == x.max():
        text = "too few draws" if len(x) == 1 else "undefined: no chain moved"
        return look.empty("ranks", figure, f"Ranks of {plain(name)}: {text}.", text)
    frequency, error = rank_frequencies(x)
    bins = frequency.shape[1]
    ends = np.array([0.0, 1.0])
    look.band(figure, ends, 1 - REACH * error * np.ones(2), 1 + REACH * error * np.ones(2), look.NEUTRAL,
              name="95 % of bins, if chains agree")  # fmt: skip
    figure.add_hline(1, line=look.TRUTH_LINE)
    picked = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_CHAINS)).round().astype(int))
    middles = (np.arange(-1, bins + 1) + 0.5) / bins  # with a point beyond each end, so that lines reach the ends
    for chain, shade in zip(picked, look.shades(look.SAMPLER_COLOURS[sampler], len(picked)), strict=True):
        figure.add_scatter(
            x=floats(middles), y=floats(np.pad(frequency[chain], 1, "edge")), name=f"{label} {chain + 1}",
            mode="lines", showlegend=False, line={"color": shade, "width": 1.5, "shape": "hvh"},
            hovertemplate=f"rank %{{x:.4g}}<br>frequency %{{y:.4g}}<extra>{label} {chain + 1}</extra>",
        )  # fmt: skip
    figure.update_xaxes(range=[0, 1])
    return look.finished("ranks", figure, _ranks_words(frequency, error, x, name, label, len(picked)))


def rank_frequencies(x: np.ndarray) -> tuple[np.ndarray, float]:
    """The frequency of each chain's ranks in each bin, relative to uniform, and its standard error.

    N independent draws would give √((1 − 1/C)(B − 1)/N) for B bins and C chains. Draws of a chain are not independent:
    so each chain is cut into 8 pieces, and where these differ more than independent draws would, the error grows
    by as much, averaged over chains and bins. A chain that differs from *others* does not make it grow.
    """
    chains, draws = x.shape
    bins = min(RANK_BINS, max(2, chains * draws // 5))
    at_random = np.random.default_rng(0).random(x.size)
    rank = np.empty(x.size, np.int64)
    rank[np.lexsort((at_random, x.ravel()))] = np.arange(x.size)
    place = (rank * bins // x.size).reshape(x.shape)
    pieces = np.linspace(0, draws, min(draws, 8) + 1).round().astype(int)
    counts = np.array(
        [[np.bincount(chain[a:b], minlength=bins) for a, b in pairwise(pieces)]
         for chain in place]
    )  # fmt: skip
    frequency = counts.sum(axis=1) * bins / draws
    excess = 1.0
    if draws >= 64:
        by_piece = counts * (bins / np.diff(pieces)[:, None])
        within = np.square(by_piece - frequency[:, None]).sum(axis=1) / (8 * 7)
        even = frequency * (bins - frequency) / draws  # of independent draws with the chain's own frequencies
        excess = max(1.0, float(within.sum() / even.sum()))
    return frequency, float(np.sqrt(excess * (1.0 - 1.0 / chains) * (bins - 1) / draws))


def _ranks_words(frequency: np.ndarray, error: float, x: np.ndarray, name: str, label: str, drawn: int) -> str:
    text = f"Ranks of {plain(name)} among {count(x.size, 'draw')} of {count(len(x), label)}"
    off = np.abs(frequency - 1) / error
    worst = int(off.max(axis=1).argmax())
    text += f": {digits(100 * (off > REACH).mean(), 2)} % of bins outside the band; largest deviation "
    text += f"{digits(off.max(), 2)} errors, in {label} {worst + 1}"
    return text + "." + (f" {drawn} chains are drawn, evenly spaced." if drawn < len(x) else "")
