"""A drawing as a file: PDF, SVG and PNG, or an archive with a Python program and its data."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dashboard.figures.printed.drawing import WIDTH, Drawing
from dashboard.figures.printed.styles import FAINT, INK

DOTS = 300  # of an inch of a PNG
TITLE = {"x": 0.01, "ha": "left", "fontsize": 10.5, "fontweight": "bold"}
FOOTER = {"x": 0.01, "ha": "left", "fontsize": 6.5, "color": FAINT}
STYLE: Any = {
    "font.size": 8.5, "axes.labelsize": 8.5, "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8,
    "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": FAINT,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.linewidth": 0.6,
    "hatch.linewidth": 0.6, "pdf.fonttype": 42, "svg.hashsalt": "mahmc",
}  # fmt: skip
_one_at_a_time = Lock()  # Matplotlib's settings belong to the process


class Form(NamedTuple):
    """A form of a figure: the ending of its file, its media type, and a maker."""

    ending: str
    media: str
    make: Callable[[Drawing, str], bytes]


def printed(drawing: Drawing, form: str, stem: str) -> bytes:
    """The file of a drawing. Its name begins with `stem`."""
    return FORMS[form].make(drawing, stem)


def _picture(form: str, **options: Any) -> Callable[[Drawing, str], bytes]:
    """A function that makes the picture in this form. It has no date, so equal drawings give equal files."""

    def make(drawing: Drawing, _: str) -> bytes:
        import matplotlib
        from matplotlib.figure import Figure

        file = io.BytesIO()
        with _one_at_a_time, matplotlib.rc_context(STYLE):
            figure = Figure(figsize=(WIDTH, drawing.height), dpi=DOTS, layout="constrained")
            axes = figure.subplots()
            for call in drawing.calls:
                call.make(axes, drawing.data)
            figure.suptitle(drawing.heading, **TITLE)
            figure.supxlabel(drawing.footer, **FOOTER)
            figure.savefig(file, format=form, **options)
        return file.getvalue()

    return make


def _archive(drawing: Drawing, stem: str) -> bytes:
    """The program and its data, side by side in a folder of an archive."""
    data, archive = io.BytesIO(), io.BytesIO()
    np.savez_compressed(data, **drawing.data)  # type: ignore[arg-type]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr(f"{stem}/{stem}.py", program(drawing, stem))
        folder.writestr(f"{stem}/{stem}.npz", data.getvalue())
    return archive.getvalue()


def program(drawing: Drawing, stem: str) -> str:
    """A program that draws the same picture from the data beside it."""
    calls = "\n".join(map(str, drawing.calls))
    about = "\n".join([drawing.title, "", *drawing.settings]).replace("\\", "/").replace('"""', "'''")
    return f'''"""{about}

Needs NumPy and Matplotlib. Writes {stem}.pdf; another ending, as .svg or .png, gives another form.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

here = Path(__file__)
data = np.load(here.with_suffix(".npz"))
matplotlib.rcParams.update({STYLE!r})
figure = Figure(figsize=({WIDTH}, {drawing.height}), dpi={DOTS}, layout="constrained")
axes = figure.subplots()

{calls}

figure.suptitle({drawing.heading!r}, **{TITLE!r})
figure.supxlabel({drawing.footer!r}, **{FOOTER!r})
figure.savefig(here.with_suffix(".pdf"))
'''


FORMS = {
    "pdf": Form("pdf", "application/pdf", _picture("pdf", metadata={"CreationDate": None})),
    "svg": Form("svg", "image/svg+xml", _picture("svg", metadata={"Date": None})),
    "png": Form("png", "image/png", _picture("png")),
    "python": Form("zip", "application/zip", _archive),
}
