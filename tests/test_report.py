"""The report: one file that holds all of it, and runs nothing that it was not meant to."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from dashboard.jobs import Checks
from dashboard.ledger import Asked, Ledger
from dashboard.report import report
from mahmc.checks import Cell
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS
from mahmc.version import __version__

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def book() -> tuple[Ledger, list[Cell], list[Cell]]:
    ledger = Ledger(Asked.of({"budget": "0.02", "seed": "11"})[0])
    cells, _ = ledger.asked.cells()
    some = [cell for cell in cells if cell.key in {("naive", "gmm"), ("mahmc", "blr"), ("mahmc", "blr-prior")}]
    job = Checks(ledger.checking(some)).start().wait(60)
    assert job.checking.finished
    return ledger, cells, [found for cell in cells if (found := ledger.found(cell))]


def test_it_holds_verdicts_words_settings_versions_and_charts(book: tuple[Ledger, list[Cell], list[Cell]]) -> None:
    ledger, cells, done = book
    text = report("Checks", ledger.asked, cells, done, {})
    for sampler in EVERY_SAMPLER.values():
        assert sampler.title in text
    for word in ("✕ wrong", "? not enough", "seed=11", f"mahmc {__version__}", "numba", "Budget", "0.02", "0.0001"):
        assert word in text
    assert WRONG_SAMPLERS["naive"].wrong.replace("'", "&#x27;") in text
    for cell in done:
        for finding in cell.findings.values():
            assert finding.catches.split()[0] in text
    figures = re.findall(r'<script type="application/json" id="figure-\d+">(.*?)</script>', text, re.DOTALL)
    assert len(figures) == text.count('class="chart"') == 6
    for figure in figures:
        drawn = json.loads(figure)
        assert drawn["data"] or drawn["layout"]["annotations"]  # of chains that are too short to be judged


def test_it_asks_for_nothing(book: tuple[Ledger, list[Cell], list[Cell]]) -> None:
    """No address outside plotly.js's own text, which it uses for namespaces and maps that are not drawn here."""
    ledger, cells, done = book
    text = report("Checks", ledger.asked, cells, done, {})
    ours = re.sub(r"<script>.{1000000,}?</script>", "", text, flags=re.DOTALL)
    assert len(ours) < 1_000_000 < len(text)
    assert not re.findall(r"""(?:src|href)\s*=|https?://|@import|url\(""", ours)
    assert "default-src 'none'" in ours


def test_every_text_is_escaped(book: tuple[Ledger, list[Cell], list[Cell]]) -> None:
    ledger, cells, done = book
    evil = [
        replace(cell, case=cell.case._replace(title=EVIL), chosen={EVIL: EVIL},
                findings={n: replace(f, compared=EVIL, catches=EVIL, obstacle=EVIL,
                                     comparisons=tuple(c._replace(what=EVIL) for c in f.comparisons))
                          for n, f in cell.findings.items()})
        for cell in done
    ]  # fmt: skip
    shown = [replace(cell, case=cell.case._replace(title=EVIL)) for cell in cells]
    text = report(EVIL, ledger.asked, shown, evil, {})
    assert EVIL not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\\u003cscript\\u003ealert(1)" in text
