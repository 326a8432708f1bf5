"""The report of Checks: verdicts, findings and charts in one HTML file that opens without a network."""

from __future__ import annotations

import base64
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path

from dashboard.figures import Chart, as_json, library
from dashboard.settings import link
from dashboard.settings.checks import CONTESTS, STRICTNESS, CheckSettings, sampler_title
from dashboard.settings.checks import rows as sampler_rows
from dashboard.views import checks, contest, exhibits, squares
from dashboard.work.contests import ContestResult
from dashboard.work.files import File
from dashboard.work.tab import TabSnapshot
from mahmc.checks import Cell, Verdict
from mahmc.samplers import EVERY_SAMPLER
from mahmc.version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "arviz")
TITLE = "Checks of samplers"
_HERE = Path(__file__)


def file(now: TabSnapshot, mark: str, name: str) -> File | None:
    """The report of the settings that are encoded in `mark`."""
    if name != checks.REPORT:
        return None
    try:
        query = base64.urlsafe_b64decode(mark + "=" * (-len(mark) % 4)).decode() if mark != "-" else ""
    except ValueError:
        return None
    of_report, _ = link.read(CheckSettings(), link.split(query), now.uploads)
    return File(checks.report_name(of_report), "Report", "", lambda: pieces(of_report, now), "text/html")


def pieces(settings: CheckSettings, now: TabSnapshot) -> Iterator[bytes]:
    """The report in pieces."""
    shown = checks.ViewState(settings, now)
    contests = {name: job.result for name in CONTESTS
                if (job := now.jobs.get(f"contest.{name}")) and job.result.seed == settings.seed}  # fmt: skip
    yield report(TITLE, settings, shown.cells, shown.done, contests).encode()


def report(
    title: str,
    settings: CheckSettings,
    cells: Sequence[Cell],
    done: Sequence[Cell],
    contests: Mapping[str, ContestResult],
) -> str:
    """The HTML of the report. `cells` are the cells of the matrix, `done` the cells that have a verdict."""
    charts = _Charts()
    parts = [
        f"<h1>{escape(title)}</h1>",
        _settings(settings),
        _matrix(cells, done),
        *(f"<p><b class=wrong>✕ {escape(EVERY_SAMPLER[name].title)}</b> {escape(EVERY_SAMPLER[name].wrong)}</p>"
          for name in dict.fromkeys(cell.sampler for cell in done if cell.verdict is Verdict.WRONG)
          if name in EVERY_SAMPLER),
        *(_exhibit(found, settings, charts) for found in contests.values() if found.finished),
        "<h2>Cell by cell</h2><p>Click a cell to open it.</p>",
        *(_cell(cell, charts) for cell in done),
    ]  # fmt: skip
    page = _HERE.with_suffix(".html").read_text(encoding="utf-8")
    texts = {"TITLE": escape(title), "BODY": "\n".join(parts), "CHARTS": charts.scripts(), "PLOTLY": library()}
    for name, text in texts.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    return page


class _Charts:
    """The charts of a report: a place for each, and its figure as data. A script draws a figure when it is visible."""

    def __init__(self) -> None:
        self.figures: list[str] = []

    def place(self, title: str, chart: Chart) -> str:
        number = len(self.figures)
        self.figures.append(f'<script type="application/json" id="figure-{number}">{as_json(chart)}</script>')
        return (
            f'<figure><h4>{escape(title)}</h4><div class="chart" role="img" data-figure="figure-'
            f'{number}" aria-label="{escape(chart.alt)}"></div>'
            f"<figcaption>{escape(chart.alt)} {escape(chart.caption)}</figcaption></figure>"
        )

    def scripts(self) -> str:
        return "\n".join(self.figures)


def _settings(settings: CheckSettings) -> str:
    names = {p.title: getattr(settings, name) for name, p in STRICTNESS.items()}
    versions = {"mahmc": __version__, "Python": platform.python_version()} | {n: version(n) for n in LIBRARIES}
    about = {**names, "Made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
             "Versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
             "Link": f"?{link.text(settings)}"}  # fmt: skip
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in about.items())
    level = escape(str(settings.level))
    return (
        f'<table class="about">{rows}</table>'
        "<p><b class=wrong>✕ wrong</b>: a check found an error. A correct sampler gets this verdict by chance with "
        f"probability {level} at most, in each cell. <b class=right>✓ right</b>: no check found an error. Each check "
        "states the smallest error that it would have caught. <b class=unclear>? not enough draws to tell</b>: "
        "errors that matter could have been missed.</p>"
    )


def _verdict(cell: Cell | None, tag: str, words: Mapping[Verdict, str]) -> str:
    if cell is None or cell.verdict is None:
        return f"<{tag}>–</{tag}>"
    verdict = cell.verdict
    state = squares.STATES[verdict]
    return f'<{tag} class="{state}">{squares.SYMBOLS[verdict]} {escape(words[verdict])}</{tag}>'


def _matrix(cells: Iterable[Cell], done: Sequence[Cell]) -> str:
    found = {cell.key: cell for cell in done}
    columns = dict.fromkeys((cell.case.name, cell.case.title) for cell in cells)
    head = "".join(f"<th>{escape(title)}</th>" for _, title in columns)
    rows = "".join(
        f"<tr><th>{escape(EVERY_SAMPLER[name].label if name in EVERY_SAMPLER else name)}</th>"
        + "".join(_verdict(found.get((name, case)), "td", squares.WORDS) for case, _ in columns)
        + "</tr>"
        for name in sampler_rows()
    )
    return f'<div class="wide"><table class="matrix"><tr><th></th>{head}</tr>{rows}</table></div>'


def _cell(cell: Cell, charts: _Charts) -> str:
    title = f"{sampler_title(cell.sampler)} on {cell.case.title}"
    chosen = ", ".join(f"{name} = {value}" for name, value in {**cell.case.settings, **cell.chosen}.items())
    whole = {verdict: str(verdict) for verdict in Verdict}
    findings = "".join(
        f"<li><b class={squares.STATES[f.verdict]}>{squares.SYMBOLS[f.verdict]} {escape(f.check)}</b>: "
        f"{escape(f.words)}</li>"
        for f in cell.findings.values()
    )
    pictures = ""
    if "marginals" in cell.findings:
        if name := exhibits.foremost(cell):
            pictures = charts.place("Histogram against the truth", exhibits.histogram(cell, name))
        pictures += charts.place("Differences in Monte Carlo errors", exhibits.z_scores(cell))
    return (
        f"<details><summary>{escape(title)}: {_verdict(cell, 'b', whole)}</summary><p>{escape(chosen)}</p>"
        f'<ul>{findings}</ul><div class="charts">{pictures}</div></details>'
    )


def _exhibit(found: ContestResult, settings: CheckSettings, charts: _Charts) -> str:
    titles = " and ".join(EVERY_SAMPLER[sampler].title for sampler in found.samplers)
    chart = contest.path(found, settings.level, contest.draws_shown(found, settings))
    return f"<h2>{escape(titles)}</h2>" + charts.place("p-value against draws of each chain", chart)
