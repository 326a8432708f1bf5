"""How every chart looks: one colour a sampler, one style for the truth, one layout; and how it is put into words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from mahmc.targets import Truth

OTHER_SAMPLER = "#2B8F9E"  # of samplers that are not ours


class _Colours(dict[str, str]):
    """Colours by sampler."""

    def __missing__(self, name: str) -> str:
        return OTHER_SAMPLER


# The paper's five have hues after Okabe and Ito. Every colour has a contrast of 3 or more both to white and to a
# near-black page, and no two look alike to eyes without red, green or blue cones.
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
GROUP_COLOURS = ("#4477AA", "#C4A000", "#228833", "#EE6677", "#AA3377", "#2FA0C0")  # after Tol; with a symbol each
GROUP_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")

SHADES = (0.12, 0.38)  # luminances of the darkest and the lightest shade that can be seen on either page

NEUTRAL = "#787878"  # equally far from white and from near-black
CLEAR = "rgba(0,0,0,0)"
TRUTH_LINE = {"color": NEUTRAL, "width": 2, "dash": "dash"}
OUTLINE_DASHES = ("solid", "dot", "longdashdot", "longdash")  # tells runs of one sampler apart; "dash" is the truth's

SYMBOLS = {
    "tau": "τ",
    "log_tau": "log τ",
    "beta": "β",
    "beta_norm": "|β|",
    "energy": "energy U",
    "ones": "Σw",
    "slice": "slice v",
}

CAPTIONS = {
    "trace": "Look for chains that all wander over the same range, without drifting and without standing still.",
    "density": "Look for steps inside the grey band: one in twenty may leave it by chance, several in a row may not.",
    "mass": "Look for bars that end within the error bars of the true masses; about one in twenty may miss by chance.",
    "running_mean": "Look for a band that narrows and keeps the dashed line, the true value, inside.",
    "running_acceptance": "Look for rates that settle; near 0 the step is too large, near 1 it could be larger.",
    "autocorrelation": "Look for how soon the curve falls to zero: the sooner, the more each draw is worth.",
    "ranks": "Look for lines inside the grey band: a chain that leaves it at length saw another part of the target.",
    "scatter": "Look for one even cloud: a gap or a lone clump is a region which chains enter or leave too rarely.",
    "energy": "Look for differences as wide as the energy itself, or wider; a narrow peak means a slow walk in energy.",
    "means_against_reference": "Look for error bars that hold the dashed line, but for one in twenty by chance.",
    "beads": "A trajectory from left to right; read from right to left it must be one that can be drawn as well.",
    "ecdf_difference": "Look for a line that stays inside the grey band: a right sampler's does in 95 of 100 runs.",
    "z_bars": "Look for bars within the dotted lines, but for one in twenty; beyond the dashed ones is no chance.",
    "flows": "Look for two bars of one height in each pair: as many passages forth as back.",
    "rank_histogram": "Look for lines inside the grey band, but for one bin in twenty: every rank is as probable.",
    "p_value_path": "Look for where a line falls below the level and stays there: from there on the test can tell.",
    "ess_bars": "Longer bars are better; where two intervals overlap, the runs do not tell those samplers apart.",
}

WITHOUT_TRUTH = {
    "density": "Look for an outline that keeps its shape as draws come in; its truth is not known.",
    "mass": "Look for bars that stay as they are while draws come in; their truth is not known.",
    "running_mean": "Look for a band that narrows and stays inside what it was before; the true value is not known.",
}


class Chart(NamedTuple):
    """A figure, one sentence on what to look for in it, and what it shows in words."""

    figure: go.Figure
    caption: str
    alt: str


def new_figure(x_title: str, y_title: str, height: int = 320, **layout: Any) -> go.Figure:
    """An empty figure in the common look."""
    axis = {
        "gridcolor": "rgba(128,128,128,0.22)", "zeroline": False, "automargin": True, "title": {"standoff": 8},
        "ticks": "outside", "ticklen": 5, "tickcolor": CLEAR,
    }  # fmt: skip
    # Text colours are in the template, where a page's own theme may replace them.
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
            "separators": ".\u00a0",
            "hovermode": "closest",
            "uirevision": "keep",
            **layout,
        }
    )


def finished(kind: str, figure: go.Figure, alt: str, truth_known: bool = True) -> Chart:
    """The chart; a legend with one entry is left out, unless that entry asks for it."""
    asked = [trace.showlegend for trace in figure.data]
    figure.update_layout(showlegend=True in asked or asked.count(None) > 1)
    return Chart(figure, caption(kind, truth_known), alt)


def caption(kind: str, truth_known: bool = True) -> str:
    """What to look for in a chart of this kind."""
    return (CAPTIONS if truth_known else CAPTIONS | WITHOUT_TRUTH)[kind]


def remark(figure: go.Figure, text: str) -> None:
    """A word in the middle of the figure, where there is nothing else to see."""
    figure.add_annotation(text=text, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font_size=16)


def empty(kind: str, figure: go.Figure, alt: str = "", text: str = "no draws yet", truth_known: bool = True) -> Chart:
    """A chart of nothing that says so."""
    remark(figure, text)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return finished(kind, figure, alt or f"{text[0].upper()}{text[1:]}: an empty chart.", truth_known)


def truth_label(truth: Truth) -> str:
    """ "exact", or "reference" for a truth that has errors of its own."""
    return "exact" if truth.source == "exact" else "reference"


def floats(x: Any) -> np.ndarray:
    """What goes to the browser: float32, half the bytes and more digits than a screen has."""
    return np.ascontiguousarray(x, dtype=np.float32)


def band(figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, **upper: Any) -> None:
    """A filled band between two curves; `upper` goes to the trace that a legend shows."""
    shape = upper.pop("shape", "linear")
    upper = {"legendrank": 1001} | upper  # after the lines
    common = {"x": floats(x), "mode": "lines", "line": {"width": 0, "shape": shape}, "hoverinfo": "skip"}
    figure.add_scatter(**common, y=floats(low), showlegend=False)
    figure.add_scatter(**common, y=floats(high), fill="tonexty", fillcolor=faded(colour, 0.25), **upper)


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def faded(colour: str, alpha: float) -> str:
    red, green, blue = rgb(colour)
    return f"rgba({red},{green},{blue},{alpha:g})"


def shades(colour: str, n: int) -> list[str]:
    """n shades of one hue from dark to light, for chains of one sampler."""
    if n == 1:
        return [colour]
    share = np.linspace(-1.0, 1.0, 201)[:, None]  # of black or white that is mixed in
    mixed = np.array(rgb(colour)) * (1 - abs(share)) + 255 * np.maximum(share, 0)
    luminance = np.power(mixed / 255, 2.2) @ [0.2126, 0.7152, 0.0722]
    picked = np.searchsorted(luminance, np.geomspace(*SHADES, n))
    return ["#" + "".join(f"{round(part):02X}" for part in mixed[i]) for i in picked]


def symbol(name: str, subscript: str = "<sub>{}</sub>") -> str:
    """A quantity as people write it: β₃ for "beta[3]"."""
    base, bracket, index = name.partition("[")
    return SYMBOLS.get(base, base) + (subscript.format(index[:-1]) if bracket else "")


def plain(name: str) -> str:
    """The same without markup, for words."""
    return symbol(name, "[{}]")


def count(n: int, noun: str = "") -> str:
    """ "32 000 draws", "1 chain"."""
    digits = f"{n:,}".replace(",", "\u00a0")
    return f"{digits} {noun}{'' if n == 1 else 's'}" if noun else digits


def digits(value: float, n: int = 3) -> str:
    return f"{value:.{n}g}".replace("-", "−")


def p_is(p_value: float) -> str:
    """ "p = 0.02"; one that is too small for a number is not zero."""
    return f"p = {digits(p_value, 2)}" if p_value >= 1e-300 else "p < 1e−300"


def as_json(chart: Chart) -> str:
    """The figure as JSON that may stand inside HTML: < and > are written as \\u003c and \\u003e."""
    return to_json_plotly(chart.figure.to_dict(), engine="json")


def library() -> str:
    """The text of plotly.js, for a page that must open alone."""
    return get_plotlyjs()
