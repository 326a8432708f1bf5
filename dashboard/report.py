"""The report: verdicts, grounds and key charts in one HTML file that opens alone, without a network."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from dashboard import checking, contests
from dashboard.figures import Chart
from dashboard.jobs import Contest
from dashboard.ledger import EXHIBITS, SETTINGS, Asked, Ledger
from dashboard.session import Session
from mahmc.checks import Cell, Verdict
from mahmc.samplers import EVERY_SAMPLER
from mahmc.version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "arviz")
_HERE = Path(__file__)


def panel(tab: Session, ledger: Ledger, cells: Sequence[Cell], busy: bool) -> None:
    """The link, and the report for download: not while the page refreshes itself, as saving.panel says."""
    with st.expander("Share and report", icon=":material/share:"):
        st.caption("This link brings back these controls; Run all then gives the same verdicts.")
        st.code("?" + urlencode(ledger.asked.link()), language=None, wrap_lines=True)
        done = [found for cell in cells if (found := ledger.found(cell)) and found.verdict is not None]
        if busy or not done:
            st.caption("The report appears here when there are verdicts and nothing runs.")
            return
        seed = ledger.asked.settings["seed"]
        contest = {name: tab.contests[name, seed] for name in EXHIBITS if (name, seed) in tab.contests}
        st.download_button(
            "Report", lambda: report("Checks of samplers", ledger.asked, cells, done, contest), "checks.html",
            "text/html", on_click="ignore", icon=":material/download:",
            help="Verdicts, words, settings and charts in one file that opens in any browser, without a network.",
        )  # fmt: skip


def report(
    title: str, asked: Asked, cells: Sequence[Cell], done: Sequence[Cell], contest: Mapping[str, Contest]
) -> str:
    """The whole page. `cells` are those of the matrix, `done` those with a verdict, with their findings."""
    charts = _Charts()
    parts = [
        f"<h1>{escape(title)}</h1>",
        _settings(asked),
        _matrix(cells, done),
        *(f"<p><b class=wrong>✕ {escape(EVERY_SAMPLER[name].title)}</b> {escape(EVERY_SAMPLER[name].wrong)}</p>"
          for name in dict.fromkeys(cell.sampler for cell in done if cell.verdict is Verdict.WRONG)),
        *(_exhibit(name, found, asked, charts) for name, found in contest.items() if found.over and found.runs),
        "<h2>Cell by cell</h2><p>A click opens a cell.</p>",
        *(_cell(cell, charts) for cell in done),
    ]  # fmt: skip
    page = _HERE.with_suffix(".html").read_text(encoding="utf-8")
    texts = {"TITLE": escape(title), "BODY": "\n".join(parts), "CHARTS": charts.scripts(), "PLOTLY": get_plotlyjs()}
    for name, text in texts.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    return page


class _Charts:
    """The charts of a page: a place for each, and their figures as data, which a script draws when they are seen."""

    def __init__(self) -> None:
        self.figures: list[str] = []

    def place(self, title: str, chart: Chart) -> str:
        text = to_json_plotly(chart.figure.to_dict(), engine="json")  # with < and > as \\u003c and \\u003e
        self.figures.append(f'<script type="application/json" id="figure-{len(self.figures)}">{text}</script>')
        return (
            f'<figure><h4>{escape(title)}</h4><div class="chart" role="img" data-figure="figure-'
            f'{len(self.figures) - 1}" aria-label="{escape(chart.alt)}"></div>'
            f"<figcaption>{escape(chart.alt)} {escape(chart.caption)}</figcaption></figure>"
        )

    def scripts(self) -> str:
        return "\n".join(self.figures)


def _settings(asked: Asked) -> str:
    names = {p.title: asked.settings[name] for name, p in SETTINGS.items()}
    versions = {"mahmc": __version__, "Python": platform.python_version()} | {n: version(n) for n in LIBRARIES}
    about = {**names, "Made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
             "Versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
             "Link": "?" + urlencode(asked.link())}  # fmt: skip
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in about.items())
    level = escape(str(asked.settings["level"]))
    return (
        f'<table class="about">{rows}</table>'
        f"<p><b class=wrong>✕ wrong</b>: a right sampler gets this by chance with probability {level} at most, in each "
        "cell. <b class=right>✓ right</b>: no check objected, and errors of the size that it states would have been "
        "caught. <b class=unclear>? not enough draws to tell</b>: errors that matter could have gone unseen.</p>"
    )


def _verdict(cell: Cell | None, tag: str, words: Mapping[Verdict, str]) -> str:
    if cell is None or cell.verdict is None:
        return f"<{tag}>–</{tag}>"
    verdict = cell.verdict
    state = checking.STATES[verdict]
    return f'<{tag} class="{state}">{checking.SYMBOLS[verdict]} {escape(words[verdict])}</{tag}>'


def _matrix(cells: Iterable[Cell], done: Sequence[Cell]) -> str:
    found = {cell.key: cell for cell in done}
    columns = dict.fromkeys((cell.case.name, cell.case.title) for cell in cells)
    head = "".join(f"<th>{escape(title)}</th>" for _, title in columns)
    rows = "".join(
        f"<tr><th>{escape(sampler.label)}</th>"
        + "".join(_verdict(found.get((name, case)), "td", checking.WORDS) for case, _ in columns)
        + "</tr>"
        for name, sampler in EVERY_SAMPLER.items()
    )
    return f'<div class="wide"><table class="matrix"><tr><th></th>{head}</tr>{rows}</table></div>'


def _cell(cell: Cell, charts: _Charts) -> str:
    title = f"{EVERY_SAMPLER[cell.sampler].title} on {cell.case.title}"
    chosen = ", ".join(f"{name} = {value}" for name, value in {**cell.case.settings, **cell.chosen}.items())
    whole = {verdict: str(verdict) for verdict in Verdict}
    findings = "".join(
        f"<li><b class={checking.STATES[f.verdict]}>{checking.SYMBOLS[f.verdict]} {escape(f.check)}</b>: "
        f"{escape(f.words)}</li>"
        for f in cell.findings.values()
    )
    pictures = ""
    if "marginals" in cell.findings:
        pictures = charts.place("Histogram against the truth", checking.histogram(cell, checking.foremost(cell)))
        pictures += charts.place("Differences in Monte Carlo errors", checking.z_scores(cell))
    return (
        f"<details><summary>{escape(title)}: {_verdict(cell, 'b', whole)}</summary><p>{escape(chosen)}</p>"
        f'<ul>{findings}</ul><div class="charts">{pictures}</div></details>'
    )


def _exhibit(name: str, contest: Contest, asked: Asked, charts: _Charts) -> str:
    titles = " and ".join(EVERY_SAMPLER[sampler].title for sampler in contest.cells)
    chart = contests.path(contest, asked.settings["level"], asked.draws)
    return f"<h2>{escape(titles)}</h2>" + charts.place("p-value against draws of each chain", chart)
