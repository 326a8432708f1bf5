"""The report: one file that holds all of it, and runs nothing that it was not meant to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dashboard.settings import link
from dashboard.settings.checks import CONTESTS, CheckSettings
from dashboard.views.checks import ViewState
from dashboard.views.report import report
from dashboard.work import contests
from dashboard.work.contests import ContestResult, ContestWork
from mahmc.checks import CASES, Cell, Findings
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS
from mahmc.version import __version__
from tests.support.pages import ended, new_tab, pages_of_one_test

EVIL = "<script>alert(1)</script>"
CHECKED = {("naive", "gmm"), ("mahmc", "blr"), ("mahmc", "blr-prior")}


@pytest.fixture(scope="module")
def shown() -> Iterator[ViewState]:
    """Three cells with their verdicts."""
    with pages_of_one_test():
        tab = new_tab()
        settings, _ = link.read(CheckSettings(), {"budget": "0.02", "seed": "11"})
        tab.replace("checks", settings)
        tab.check([cell for cell in settings.cells({})[0] if cell.key in CHECKED])
        assert ended(tab.jobs["checks"]).work.finished
        yield ViewState(settings, tab.snapshot())


def made(shown: ViewState, found: dict[str, ContestResult] | None = None) -> str:
    return report("Checks", shown.settings, shown.cells, shown.done, found or {})


def test_it_holds_verdicts_words_settings_versions_and_charts(shown: ViewState) -> None:
    text = made(shown)
    for sampler in EVERY_SAMPLER.values():
        assert sampler.title in text
    words = ("✕ wrong", "? not enough", "?budget=0.02&amp;seed=11", f"mahmc {__version__}", "numba", "Budget", "0.0001")
    for word in words:
        assert word in text
    assert WRONG_SAMPLERS["naive"].wrong.replace("'", "&#x27;") in text
    assert {cell.key for cell in shown.done} == CHECKED
    for cell in shown.done:
        for finding in cell.findings.values():
            assert finding.words.split()[-1] in text
    figures = re.findall(r'<script type="application/json" id="figure-\d+">(.*?)</script>', text, re.DOTALL)
    assert len(figures) == text.count('class="chart"') == 6
    for figure in figures:
        drawn = json.loads(figure)
        assert drawn["data"] or drawn["layout"]["annotations"]  # of chains that are too short to be judged


def test_it_asks_for_nothing(shown: ViewState) -> None:
    """No address outside plotly.js's own text, which it uses for namespaces and maps that are not drawn here."""
    text = made(shown)
    ours = re.sub(r"<script>.{1000000,}?</script>", "", text, flags=re.DOTALL)
    assert len(ours) < 1_000_000 < len(text)
    assert not re.findall(r"""(?:src|href)\s*=|https?://|@import|url\(""", ours)
    assert "default-src 'none'" in ours


def evil_cell(cell: Cell) -> Cell:
    findings = {
        name: replace(found, compared=EVIL, catches=EVIL, obstacle=EVIL,
                      comparisons=tuple(c._replace(what=EVIL) for c in found.comparisons))
        for name, found in cell.findings.items()
    }  # fmt: skip
    return replace(cell, case=cell.case._replace(title=EVIL), chosen={EVIL: EVIL}, findings=Findings(findings))


def test_every_text_is_escaped(shown: ViewState) -> None:
    cells = [replace(cell, case=cell.case._replace(title=EVIL)) for cell in shown.cells]
    text = report(EVIL, shown.settings, cells, [evil_cell(cell) for cell in shown.done], {})
    assert EVIL not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\\u003cscript\\u003ealert(1)" in text


def test_a_contest_is_in_it_once_it_has_ended(shown: ViewState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contests, "CONTEST_DRAWS", (1, 2, 4))
    case, samplers = CONTESTS["naive"]
    work = ContestWork(CASES[case], samplers, 11)
    steps = work.steps()
    next(steps)
    assert made(shown, {"naive": work.snapshot()}).count('class="chart"') == 6
    for _ in steps:
        pass
    text = made(shown, {"naive": work.snapshot()})
    assert "<h2>MAHMC and Naive MH within HMC</h2>" in text
    assert text.count('class="chart"') == 7
