"""Plotly's colours, dashes, symbols and marked-up texts in Matplotlib's words."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

POINT = 0.75  # points of a pixel
INK = "#262730"
FAINT = "#5A5C64"
GRID = "#80808038"

DASHES: dict[str, Any] = {
    "solid": "solid", "dot": "dotted", "dash": "dashed", "dashdot": "dashdot", "longdash": (0, (8.0, 3.0)),
    "longdashdot": (0, (8.0, 3.0, 1.0, 3.0)),
}  # fmt: skip
SYMBOLS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v", "triangle-left": "<",
    "triangle-right": ">", "cross": "P", "x": "X", "x-thin": "x", "star": "*", "line-ew": "_", "line-ns": "|",
}  # fmt: skip
OPEN = "-open"  # the end of the names of symbols that are not filled
SIGN = re.compile(r"<span style='color:([^']*)'>(.)</span> *(.*)")  # a text after a sign in a colour of its own
STEPS = {"linear": None, "hvh": "mid", "hv": "post", "vh": "pre"}


def colour(value: str) -> str:
    """A colour like "#1170C4", or "#1170C440" with an opacity, of a colour in a figure."""
    if not value.startswith("rgb"):
        return value
    red, green, blue, *alpha = (float(part) for part in re.findall(r"[\d.]+", value))
    parts = [red, green, blue, *(255 * opacity for opacity in alpha)]
    return "#" + "".join(f"{round(part):02X}" for part in parts)


def text(markup: str) -> str:
    """A text with subscripts, line breaks and $ as Matplotlib reads them. Other tags are left out."""
    found = unescape(markup).replace("$", r"\$")
    found = re.sub(r"<br\s*/?>", "\n", found)
    for tag, sign in (("sub", "_"), ("sup", "^")):
        found = re.sub(rf"<{tag}>(.*?)</{tag}>", rf"${sign}{{\\mathrm{{\1}}}}$", found)
    return re.sub(r"</?[a-z]+>", "", found)


def pieces(markup: str) -> list[tuple[str, str | None]]:
    """A text in pieces with their colours: a sign in a colour of its own, if the text begins with one, and the rest."""
    found = SIGN.fullmatch(markup)
    return [(found[2], colour(found[1])), (text(found[3]), None)] if found else [(text(markup), None)]


def without_markup(markup: str) -> str:
    """The text alone, on one line."""
    return re.sub(r"<[^>]*>", " ", unescape(markup)).strip()
