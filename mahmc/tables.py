"""A comparison as a table and in words: text, CSV, Markdown, LaTeX or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from mahmc.compare import WORST, Comparison, Interval
from mahmc.parameters import choose
from mahmc.plain import as_json
from mahmc.spec import RunSpec

FORMATS = ("text", "csv", "markdown", "latex", "json")
AGAINST = ("hmc", "mala-pn")  # the paper's yardsticks
PAPER_RATIOS: dict[tuple[str, ...], float] = {
    ("mdc", "mahmc", "hmc"): 3.85,
    ("mdc", "mahmc", "mala-pn"): 2.4,
}  # as its text has them
SECOND_TARGET = "mdc"
SECOND_MDC = {"sampler": "mahmc", "epsilon": 0.035, "n_u": 4}  # the paper's other figure for MAHMC on MDC
SECOND_MDC_PAPER = 6.08e-3


def paper_figure(found: Comparison, label: str) -> float | None:
    """What the paper has for this sampler at these settings, if anything."""
    spec = found.entries[label].spec
    if not _as_in_the_paper(spec):
        return None
    if spec.values == spec.method.defaults(spec.target):
        return spec.method.paper_ess.get(spec.target)
    second = spec.method.defaults("mdc") | {k: v for k, v in SECOND_MDC.items() if k != "sampler"}
    return SECOND_MDC_PAPER if (spec.target, spec.sampler) == ("mdc", "mahmc") and spec.values == second else None


def _as_in_the_paper(spec: RunSpec) -> bool:
    """Whether data, schedule and updates are those that the paper has, whatever the parameters are."""
    return not spec.data and spec.chosen == RunSpec.of(spec.target, spec.sampler, **spec.values).chosen


def rows(found: Comparison, quantity: str | None = None, cost: str = "leapfrogs") -> Iterator[dict[str, object]]:
    """A row for each sampler that has an interval: numbers and Intervals."""
    as_in_the_paper = cost == "leapfrogs" and quantity in (None, *found.quantities[:1])
    for label, entry in found.done.items():
        row: dict[str, object] = {
            "target": found.target.name, "sampler": label,
            "settings": entry.spec.summary,
            "paper": paper_figure(found, label) if as_in_the_paper else None,
            "ours": found.figure(label, quantity, cost),
            "worst quantity": found.figure(label, WORST, cost),
        }  # fmt: skip
        for other in AGAINST:
            row[f"times {other}"] = found.ratio(label, other, quantity, cost) if other in found.done else None
        row["acceptance"] = sum(entry.acceptance) / entry.replicates
        row["replicates"] = entry.replicates
        yield row


def table(comparisons: Sequence[Comparison], form: str = "text", **about: str) -> str:
    """All rows of all comparisons in one of the FORMATS."""
    choose(form, FORMATS, "format")
    found = [row for comparison in comparisons for row in rows(comparison, **about)]
    if form == "json":
        return as_json([_plain(row) for row in found])
    if not found:
        return "nothing to show yet: no sampler has two replicates"
    if form == "csv":
        return _csv(found)
    titles = tuple(found[0])
    cells = [tuple(_cell(value) for value in row.values()) for row in found]
    if form == "markdown":
        lines = [titles, tuple("---" for _ in titles), *cells]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
    if form == "latex":
        return _latex(titles, cells)
    widths = [max(len(line[i]) for line in (titles, *cells)) for i in range(len(titles))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (titles, *cells)]  # fmt: skip
    return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _csv(found: list[dict[str, object]]) -> str:
    """Intervals in three columns each, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    flat = [_flat(row) for row in found]
    writer.writerow(flat[0])
    writer.writerows(row.values() for row in flat)
    return out.getvalue().rstrip("\n")


def _flat(row: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in row.items():
        if isinstance(value, Interval) or name.startswith("times"):
            parts = value if isinstance(value, Interval) else (math.nan,) * 3
            flat |= {title: "" if math.isnan(part) else part
                     for title, part in zip((name, f"{name} low", f"{name} high"), parts, strict=True)}  # fmt: skip
        else:
            flat[name] = "" if value is None else value
    return flat


def _plain(row: dict[str, object]) -> dict[str, object]:
    """The row in plain values; an interval is a mapping."""
    return {
        name.replace(" ", "_"): value._asdict() if isinstance(value, Interval) else value for name, value in row.items()
    }


def _latex(titles: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    def line(parts: Sequence[str]) -> str:
        return " & ".join(part.replace("_", r"\_").replace("–", "--") for part in parts) + r" \\"

    columns = "ll" + "r" * (len(titles) - 2)
    return "\n".join([
        rf"\begin{{tabular}}{{{columns}}}", r"\hline", line(titles), r"\hline", *map(line, cells), r"\hline",
        r"\end{tabular}",
    ])  # fmt: skip


def headline(found: Comparison, label: str, other: str, quantity: str | None = None, cost: str = "leapfrogs") -> str:
    """The ratio of two samplers in words, and the paper's where it has one; whether they can be told apart."""
    ratio = found.ratio(label, other, quantity, cost)
    a, b = label.upper(), other.upper()
    if not ratio.defined:
        return f"{a} against {b}: undefined, since chains of one of them never moved."
    if ratio.low <= 1.0 <= ratio.high:
        text = f"{a} and {b} cannot be told apart here: the ratio is {ratio}, which holds 1"
    else:
        text = f"{a} is {ratio} times {b} here"
    specs = [found.entries[name].spec for name in (label, other)]
    best = all(spec.values == spec.method.defaults(spec.target) and _as_in_the_paper(spec) for spec in specs)
    as_in_the_paper = best and cost == "leapfrogs" and quantity in (None, found.quantities[0])
    paper = PAPER_RATIOS.get((specs[0].target, *(spec.sampler for spec in specs))) if as_in_the_paper else None
    if paper is None:
        return text + "."
    if ratio.low <= paper <= ratio.high:
        return f"{text}; the paper says {paper:g}."
    return f"{text}; the paper says {paper:g}, which is {abs(paper / ratio.value - 1):.0%} off ours."
