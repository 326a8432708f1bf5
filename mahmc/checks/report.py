"""A verdict as JSON and as one HTML file, for CI and for people without a dashboard."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

from mahmc.checks.cells import Cell
from mahmc.checks.verdicts import Finding, Verdict
from mahmc.version import __version__

MOST_COMPARISONS = 20  # of each check, in a report
LIBRARIES = ("numpy", "scipy")
COLOURS = {Verdict.RIGHT: "#1a7f37", Verdict.WRONG: "#b3261e", Verdict.UNCLEAR: "#8a5300"}


def as_dict(cell: Cell) -> dict[str, Any]:
    """The verdict and the findings of a cell, as plain values."""
    return {
        "sampler": cell.sampler,
        "target": cell.case.name,
        "settings": {name: _plain(value) for name, value in {**cell.case.settings, **cell.chosen}.items()},
        "verdict": str(cell.verdict),
        "seconds": round(cell.seconds, 2),
        "checks": {name: _finding(finding) for name, finding in cell.findings.items()},
        "versions": _versions(),
    }


def as_json(cells: Sequence[Cell]) -> str:
    """The verdicts of some cells as JSON."""
    return json.dumps([as_dict(cell) for cell in cells], indent=2, ensure_ascii=False)


def as_html(cells: Sequence[Cell], title: str = "Checks of samplers") -> str:
    """The verdicts of some cells as one HTML page without other files."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = ", ".join(f"{name} {number}" for name, number in _versions().items())
    body = "\n".join(_section(cell) for cell in cells)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>'
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;"
        "background:#fff}table{border-collapse:collapse}"
        "td,th{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}"
        f"</style></head><body><h1>{escape(title)}</h1><p>Made {made}. {escape(about)}.</p>{body}</body></html>\n"
    )


def _finding(finding: Finding) -> dict[str, Any]:
    worst = list(zip(finding.comparisons, finding.corrected, strict=True))[:MOST_COMPARISONS]
    return {
        "verdict": str(finding.verdict),
        "words": finding.words,
        "p_value": finding.p_value,
        "level": finding.level,
        "draws": finding.draws,
        "rounds": finding.rounds,
        "comparisons": len(finding.comparisons),
        "smallest": [
            {
                "what": c.what, "p_value": c.p_value, "corrected": corrected,
                "estimate": _plain(c.estimate), "truth": _plain(c.truth), "error": _plain(c.error),
            }
            for c, corrected in worst
        ],
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """The value as JSON can write it: null for NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return list(value) if isinstance(value, tuple) else value


def _versions() -> dict[str, str]:
    return {"mahmc": __version__, "Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _section(cell: Cell) -> str:
    assert cell.verdict is not None  # all checks are done
    lines = "".join(
        f'<li><b style="color:{COLOURS[f.verdict]}">{escape(f.check.capitalize())}</b>: {escape(f.words)}'
        f"{_comparisons(f)}</li>"
        for f in cell.findings.values()
    )
    title = f"{escape(cell.title)} on {escape(cell.case.title)}"
    return (
        f'<h2>{title}: <span style="color:{COLOURS[cell.verdict]}">{escape(str(cell.verdict))}</span></h2>'
        f"<ul>{lines}</ul>"
    )


def _comparisons(finding: Finding) -> str:
    if len(finding.comparisons) < 2:
        return ""
    found = list(zip(finding.comparisons, finding.corrected, strict=True))[:MOST_COMPARISONS]
    rows = "".join(
        f"<tr><td>{escape(c.what)}</td><td>{c.p_value:.2g}</td><td>{corrected:.2g}</td></tr>" for c, corrected in found
    )
    summary = f"The {min(MOST_COMPARISONS, len(finding.comparisons))} smallest of {len(finding.comparisons)} p-values"
    return (
        f"<details><summary>{summary}</summary><table><tr><th>compared</th><th>p-value</th><th>corrected</th></tr>"
        f"{rows}</table></details>"
    )
