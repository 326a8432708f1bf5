"""Charts for print: each chart in each form, one program that draws the same picture, and names that say what it is."""

from __future__ import annotations

import io
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import matplotlib
import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from dashboard import figures
from dashboard.figures import Chart
from dashboard.figures.printed import FORMS, drawing, printed
from dashboard.figures.printed.styles import text
from dashboard.figures.traces import Draws, Focus
from dashboard.live.downloads import FAILED, GONE
from tests.support.pages import Answer, Page, answered, opened
from tests.test_figures import charts

SETTINGS = ("GMM · MAHMC (epsilon 0.3) · seed 7", "8 chains × 400 draws")
CHARTS = charts(np.abs(np.random.default_rng(0).normal(size=(4, 400))))
SMALL = {"chains": "4", "draws": "400", "warmup": "40", "target": "gmm", "seed": "7"}


def folder(archive: bytes, where: Path) -> Path:
    """The program of an archive, unpacked."""
    zipfile.ZipFile(io.BytesIO(archive)).extractall(where)
    (program,) = where.glob("*/*.py")
    return program


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_can_be_printed(name: str) -> None:
    assert printed(drawing(CHARTS[name].figure, name, SETTINGS, 320), "svg", name).rstrip().endswith(b"</svg>")


@pytest.mark.parametrize("name", ["trace", "mass", "ess_bars", "p_value_path"])
def test_the_program_draws_the_picture(name: str, tmp_path: Path) -> None:
    """Pixel by pixel, up to rounding; so title, settings and all that the picture shows is in the program."""
    drawn = drawing(CHARTS[name].figure, f"Title of {name}", SETTINGS, 320)
    program = folder(printed(drawn, "python", name), tmp_path)
    for words in (f"Title of {name}", *SETTINGS):
        assert program.read_text().count(words) == 2  # in its description, and in the picture
    with matplotlib.rc_context():
        figure = runpy.run_path(str(program))["figure"]
        again = io.BytesIO()
        figure.savefig(again, format="png")
    picture = np.asarray(Image.open(io.BytesIO(printed(drawn, "png", name))), int)
    assert np.abs(picture - np.asarray(Image.open(again), int)).max() <= 1
    assert picture.shape[1] == 6.3 * 300
    assert program.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


def test_the_labels_and_marks_of_chains_are_printed() -> None:
    """A label is a sign in the colour of its chain, and a text. Accepted and rejected draws have marks of their own."""
    x = np.repeat(np.random.default_rng(0).normal(size=(2, 10)), 2, axis=1)
    figure = figures.trace(x, "u", "hmc", focus=Focus(position=Draws(x))).figure
    drawn = drawing(figure, "", (), 320)
    notes = [(call.args[0], call.options.get("color")) for call in drawn.calls if call.method == "annotate"]
    first, second = (line.line.color for line in figure.data)
    assert notes == [("■", first), ("chain 1", None), ("■", second), ("chain 2", None)]
    marks = [(call.options["marker"], call.args[0]) for call in drawn.calls if "marker" in call.options]
    assert [(mark, drawn.data[at.name].size) for mark, at in marks] == [("o", 10), ("x", 10)] * 2


def test_a_program_needs_nothing_but_its_data(tmp_path: Path) -> None:
    """It runs on its own, in another folder than this checkout, without mahmc."""
    drawn = drawing(CHARTS["density"].figure, "Density", SETTINGS, 320)
    program = folder(printed(drawn, "python", "gmm-mahmc-seed7-q-density"), tmp_path)
    assert not re.search(r"import (mahmc|dashboard|plotly)", program.read_text())
    subprocess.run([sys.executable, "-I", program], cwd=tmp_path, check=True)
    assert program.with_suffix(".pdf").stat().st_size > 5000


def test_a_picture_shows_the_range_that_was_asked_for() -> None:
    calls = drawing(CHARTS["trace"].figure, "", (), 320, x=(10.0, 20.0), y=(0.5, 1.5)).calls
    assert [str(call) for call in calls if call.method in ("set_xlim", "set_ylim")] == [
        "axes.set_xlim(10.0, 20.0)", "axes.set_ylim(0.5, 1.5)",
    ]  # fmt: skip


def test_text_keeps_its_meaning() -> None:
    assert text("β<sub>3</sub> &lt; 5 $ <b>x</b><br>y") == "β$_{\\mathrm{3}}$ < 5 \\$ x\ny"


def test_what_cannot_be_printed_is_refused() -> None:
    """Rather than left out without a word."""
    for figure in (go.Figure(go.Pie(values=[1, 2])), go.Figure(layout={"xaxis2": {"title": {"text": "x"}}})):
        with pytest.raises(ValueError, match="cannot be printed"):
            drawing(figure, "", (), 320)


# ----------------------------------------------------------------------------------------------------- the address


def asked(page: Page, place: str, query: str) -> Answer:
    """What the server answers to a click in the list of forms."""
    return answered(f"/{page.feed['address']}/figure/{place}?{query}")


@pytest.mark.usefixtures("pages_of_one_test")
def test_the_server_gives_each_form_under_a_name_that_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(view="full", **SMALL).press("Run").ended()
    begin = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG", "python": b"PK"}
    for form, first in begin.items():
        answer = asked(page, "density", f"form={form}")
        assert answer.status == 200
        assert answer.body.startswith(first)
        name = f"gmm-mahmc-seed7-q-density.{FORMS[form].ending}"
        assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
    for request in page.view.charts:  # every chart of the page
        assert asked(page, request.place, "form=svg").status == 200, request.place
    words = " ".join(next([r.origin] for r in page.view.charts if r.place == "density"))
    for said in ("GMM", "MAHMC", "ε 0.3", "seed 7", "4 chains × 400 draws"):
        assert said in words
    for wrong in (("density", "form=exe"), ("density", ""), ("nowhere", "form=pdf")):
        assert (asked(page, *wrong).status, asked(page, *wrong).text) == (404, GONE)
    monkeypatch.setattr(Chart, "figure", property(lambda _: go.Figure(go.Pie(values=[1]))))
    assert (asked(page, "density", "form=pdf").status, asked(page, "density", "form=pdf").text) == (500, FAILED)


@pytest.mark.usefixtures("pages_of_one_test")
def test_a_zoomed_trace_is_printed_with_every_draw_of_its_range(tmp_path: Path) -> None:
    page = opened(**SMALL | {"chains": "1", "draws": "20000"}).press("Run").ended()
    x = page.job.work.run.get("q")[0]
    program = folder(asked(page, "trace", "form=python&x=100,200").body, tmp_path)
    with np.load(program.with_suffix(".npz")) as data:
        kept = {int(draw): y for draw, y in zip(data["chain 1 x"], data["chain 1 y"], strict=True)}
    assert [kept[draw] for draw in range(101, 200)] == [np.float32(x[draw - 1]) for draw in range(101, 200)]
