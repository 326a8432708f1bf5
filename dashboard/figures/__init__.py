"""Charts: functions from arrays to a `Chart` (a Plotly figure, what to look for in it, and what it shows in words).

Nothing here depends on pages, threads or kernels. x is always (chains, draws).
"""

from dashboard.figures.beads import beads
from dashboard.figures.beside import on_same_axes, over_leapfrogs
from dashboard.figures.chains import (
    autocorrelation,
    autocorrelation_function,
    ranks,
    running_acceptance,
    running_mean,
)
from dashboard.figures.distributions import density, energy, mass, scatter
from dashboard.figures.efficiency import ess_bars, means_against_reference
from dashboard.figures.look import CAPTIONS, SAMPLER_COLOURS, Chart, as_json, caption, digits, library, p_is, plain
from dashboard.figures.traces import FEW_CHAINS, LAST_DRAWS, MOST_POINTS, MOST_POINTS_LIVE, Draws, Focus, trace
from dashboard.figures.verdicts import ecdf_difference, flows, p_value_path, rank_histogram, z_bars

__all__ = [
    "CAPTIONS", "FEW_CHAINS", "LAST_DRAWS", "MOST_POINTS", "MOST_POINTS_LIVE", "SAMPLER_COLOURS", "Chart", "Draws",
    "Focus", "as_json", "autocorrelation", "autocorrelation_function", "beads", "caption", "density", "digits",
    "ecdf_difference", "energy", "ess_bars", "flows", "library", "mass", "means_against_reference", "on_same_axes",
    "over_leapfrogs", "p_is", "p_value_path", "plain", "rank_histogram", "ranks", "running_acceptance", "running_mean",
    "scatter", "trace", "z_bars",
]  # fmt: skip
