"""The common look of charts: a colour for each sampler, a style for the truth, a layout; and numbers in words."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from colorsys import hls_to_rgb, rgb_to_hls
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from mahmc.glossary import SYMBOLS
from mahmc.targets import Truth

OTHER_SAMPLER = "#2B8F9E"  # for custom samplers


class _Colours(dict[str, str]):
    """Colours by sampler."""

    def __missing__(self, name: str) -> str:
        return OTHER_SAMPLER


# The paper's five samplers have hues after Okabe and Ito. Every colour has a contrast of 3 or more to a white and to a
# nearly black page. All colours remain distinct in the three kinds of colour blindness.
SAMPLER_COLOURS = _Colours({
    "mala": "#AA9400",
    "hmc": "#1170C4",
    "mala-p": "#D571BA",
    "mala-pn": "#1AA86C",
    "mahmc": "#BE4800",
    "m-hmc": "#7A4DF0",
    "naive": "#E32B4B",
    "asymmetric": "#7D6036",
})  # fmt: skip
GROUP_COLOURS = ("#4477AA", "#C4A000", "#228833", "#EE6677", "#AA3377", "#2FA0C0")  # after Tol
GROUP_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")  # so that no group needs colour

MOST_CHAINS = 16  # that are drawn; the eye cannot distinguish more
MOST_POINTS_OF_ONE = 2_000  # of one line

SHADES = (0.11, 0.42)  # luminances of the darkest and the lightest shade that are visible on both pages
HUES = 0.085  # of the circle: how far the hues of the darkest and the lightest shade are from the sampler's

NEUTRAL = "#787878"  # equal contrast to white and to nearly black
CLEAR = "rgba(0,0,0,0)"
TRUTH_LINE = {"color": NEUTRAL, "width": 2, "dash": "dash"}
OUTLINE_DASHES = ("solid", "dot", "longdashdot", "longdash")  # for runs of the same sampler; "dash" is for the truth

CAPTIONS = {
    "trace": "All chains should move over the same range, without drifts and without flat stretches.",
    "density": "Steps should stay inside the grey band. One in twenty may leave it by chance, not several in a row.",
    "mass": "Bars should end within the error bars of the true probabilities. About one in twenty misses by chance.",
    "running_mean": "The band should narrow and include the dashed line, which is the true value.",
    "running_acceptance": "The rates should settle. Near 0 the step is too large, near 1 it could be larger.",
    "autocorrelation": "The sooner the curve falls to zero, the more information each draw has.",
    "ranks": "Lines should stay inside the grey band. A chain whose line leaves it saw another part of the target.",
    "scatter": "The points should form an even cloud. Chains rarely enter or leave a separate clump.",
    "energy": "Changes should be as wide as the energy or wider. A narrow peak means that the energy changes slowly.",
    "means_against_reference": "Error bars should include the dashed line. About one in twenty misses it by chance.",
    "beads": "A trajectory from left to right. Its mirror image must also be a possible trajectory.",
    "ecdf_difference": "The line should stay inside the grey band, as with a correct sampler in 95 of 100 runs.",
    "z_bars": "About 19 of 20 bars should end within the dotted lines. Bars past the dashed lines are not chance.",
    "flows": "The two bars of each pair should have the same height: equally many moves in both directions.",
    "rank_histogram": "Lines should stay inside the grey band in 19 of 20 bins: all ranks are equally probable.",
    "p_value_path": "Where a line falls below the level and stays there, the test has found the error.",
    "ess_bars": "Longer bars are better. If two intervals overlap, the data may not show a difference.",
}

WITHOUT_TRUTH = {
    "density": "The outline should keep its shape as draws are added. The truth is unknown.",
    "mass": "The bars should keep their heights as draws are added. The truth is unknown.",
    "running_mean": "The band should narrow and stay inside the earlier band. The true value is unknown.",
}


ALL_STUCK = "All chains are stuck: this quantity never changed, so there is no Monte Carlo error and no band for it."


class Chart(NamedTuple):
    """A figure, a caption that says what to look for, and a description of what the figure shows."""

    figure: go.Figure
    caption: str
    alt: str


class Series(NamedTuple):
    """How the draws of a chain or a run are drawn."""

    label: str
    colour: str
    title: str  # of the quantity
    number: int = 0  # of the run: 0 is the present run, others are pinned


def new_figure(x_title: str, y_title: str, height: int = 320, **layout: Any) -> go.Figure:
    """An empty figure in the common look."""
    axis = {
        "gridcolor": "rgba(128,128,128,0.22)", "zeroline": False, "automargin": True, "title": {"standoff": 8},
        "ticks": "outside", "ticklen": 5, "tickcolor": CLEAR,
    }  # fmt: skip
    # Text colours are in the template, where the theme of a page may replace them.
    template = {
        "layout": {
            "font": {"color": NEUTRAL, "size": 13},
            "xaxis": axis,
            "yaxis": axis,
        }
    }
    return go.Figure(
        layout={
            "template": template,
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "height": height,
            "margin": {"l": 8, "r": 12, "t": 12, "b": 8},
            "xaxis": {"title": {"text": x_title}},
            "yaxis": {"title": {"text": y_title}},
            "legend": {
                "orientation": "h",
                "x": 0,
                "y": 1.02,
                "yanchor": "bottom",
                "bgcolor": CLEAR,
                "traceorder": "normal",
            },
            "separators": ".,",
            "hovermode": "closest",
            "uirevision": "keep",
            **layout,
        }
    )


def finished(kind: str, figure: go.Figure, alt: str, truth_known: bool = True) -> Chart:
    """The chart of a figure. A legend with one entry is left out, unless the entry has showlegend=True."""
    legends = [trace.showlegend for trace in figure.data]
    figure.update_layout(showlegend=True in legends or legends.count(None) > 1)
    return Chart(figure, caption(kind, truth_known), alt)


def caption(kind: str, truth_known: bool = True) -> str:
    """What to look for in a chart of this kind."""
    return (CAPTIONS if truth_known else CAPTIONS | WITHOUT_TRUTH)[kind]


def remark(figure: go.Figure, text: str) -> None:
    """Write a text in the middle of an empty figure."""
    figure.add_annotation(text=text, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font_size=16)


def empty(kind: str, figure: go.Figure, alt: str = "", text: str = "no draws yet", truth_known: bool = True) -> Chart:
    """A chart without data, with a text that says so."""
    remark(figure, text)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return finished(kind, figure, alt or f"{text[0].upper()}{text[1:]}: an empty chart.", truth_known)


def truth_label(truth: Truth) -> str:
    """The word "exact", or "reference" for a truth with an error."""
    return "exact" if truth.source == "exact" else "reference"


def floats(x: Any) -> np.ndarray:
    """The numbers as float32: half the bytes, and precise enough for a screen."""
    return np.ascontiguousarray(x, dtype=np.float32)


def decoded(spec: Mapping[str, Any]) -> np.ndarray:
    """The array behind plotly.py's {"dtype", "bdata", "shape"}."""
    flat = np.frombuffer(base64.b64decode(spec["bdata"]), dtype=spec["dtype"])
    return flat.reshape([int(length) for length in str(spec.get("shape", flat.size)).split(",")])


def band(figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, **upper: Any) -> None:
    """Fill the band between two curves. `upper` are options of the upper curve, which the legend shows."""
    shape = upper.pop("shape", "linear")
    upper = {"legendrank": 1001} | upper  # after the lines
    common = {"x": floats(x), "mode": "lines", "line": {"width": 0, "shape": shape}, "hoverinfo": "skip"}
    figure.add_scatter(**common, y=floats(low), showlegend=False)
    figure.add_scatter(**common, y=floats(high), fill="tonexty", fillcolor=faded(colour, 0.25), **upper)


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour like "#1170C4"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def faded(colour: str, alpha: float) -> str:
    """The colour with this opacity."""
    red, green, blue = rgb(colour)
    return f"rgba({red},{green},{blue},{alpha:g})"


def shades(colour: str, n: int) -> list[str]:
    """So many shades of a colour from dark to light, for the chains of a sampler. Their hues differ a little too."""
    if n == 1:
        return [colour]
    hue, lightness, saturation = rgb_to_hls(*(part / 255 for part in rgb(colour)))
    share = np.linspace(-1.0, 1.0, 201)[:, None]  # of black (negative) or white
    found = []
    for turn, target in zip(np.linspace(-HUES, HUES, n), np.geomspace(*SHADES, n), strict=True):
        turned = 255 * np.array(hls_to_rgb((hue + turn) % 1.0, lightness, saturation))
        mixed = turned * (1 - abs(share)) + 255 * np.maximum(share, 0)
        luminance = np.power(mixed / 255, 2.2) @ [0.2126, 0.7152, 0.0722]
        picked = mixed[np.searchsorted(luminance, target)]
        found.append("#" + "".join(f"{round(part):02X}" for part in picked))
    return found


def symbol(name: str, subscript: str = "<sub>{}</sub>") -> str:
    """A quantity in mathematical notation: β₃ for "beta[3]"."""
    base, bracket, index = name.partition("[")
    return SYMBOLS.get(base, base) + (subscript.format(index[:-1]) if bracket else "")


def plain(name: str) -> str:
    """A quantity in notation without markup, for texts."""
    return symbol(name, "[{}]")


def count(n: int, noun: str = "") -> str:
    """A number with its noun: "32,000 draws", "1 chain"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}" if noun else f"{n:,}"


def digits(value: float, n: int = 3) -> str:
    """A number with the given count of significant digits and a true minus sign."""
    return f"{value:.{n}g}".replace("-", "−")


def p_is(p_value: float) -> str:
    """A p-value in words: "p = 0.02". A p-value that is too small for a float is not shown as zero."""
    return f"p = {digits(p_value, 2)}" if p_value >= 1e-300 else "p < 1e−300"


def as_json(chart: Chart) -> str:
    """The figure as JSON that is safe inside HTML: < and > are escaped."""
    return str(to_json_plotly(chart.figure.to_dict(), engine="json"))


def library() -> str:
    """The text of plotly.js, for a page without a network."""
    return str(get_plotlyjs())
