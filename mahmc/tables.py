"""Comparisons as tables, in text, CSV, Markdown, LaTeX or JSON, and headlines in words."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from mahmc.compare import WORST, Comparison, Interval
from mahmc.parameters import choose
from mahmc.plain import as_json
from mahmc.samplers import SAMPLERS

FORMATS = ("text", "csv", "markdown", "latex", "json")
AGAINST = ("hmc", "mala-pn")  # the samplers that the paper compares mahmc with


def paper_figure(found: Comparison, label: str) -> float | None:
    """The paper's value for a sampler with these settings.

    Parameters
    ----------
    found
        A comparison, as `mahmc.compare` returns it.
    label
        The name of a sampler in the comparison.

    Returns
    -------
    float or None
        ESS per leapfrog; None if the paper has no value.

    Examples
    --------
    >>> found = mahmc.Comparison("mdc", ["mahmc"])
    >>> mahmc.tables.paper_figure(found, "mahmc")
    0.0178
    """
    spec = found.entries[label].spec
    if not spec.is_of_the_paper or spec.paper_ess:
        return spec.paper_ess
    second = found.target.presentation.paper.second
    if second is None or spec.sampler != second.sampler:
        return None
    return second.ess if spec.values == spec.method.defaults(spec.target) | dict(second.values) else None


def rows(found: Comparison, quantity: str | None = None, cost: str = "leapfrogs") -> Iterator[dict[str, object]]:
    """A row for each sampler that has an interval.

    Parameters
    ----------
    found
        A comparison, as `mahmc.compare` returns it.
    quantity, cost
        As `Comparison.figure` takes them.

    Yields
    ------
    dict
        Numbers and Intervals by column.

    Examples
    --------
    >>> found = mahmc.compare("gmm", ["hmc"], gradients=160_000, replicates=2, chains=4)
    >>> [row["sampler"] for row in mahmc.tables.rows(found)]
    ['hmc']
    """
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
    """All rows of all comparisons as text.

    Parameters
    ----------
    comparisons
        Comparisons, as `mahmc.compare` returns them.
    form
        "text", "csv", "markdown", "latex" or "json".
    **about
        `quantity` and `cost`, as `Comparison.figure` takes them.

    Returns
    -------
    str
        A row for each sampler that has an interval.

    Raises
    ------
    InvalidInput
        If the format or the cost is unknown.

    Examples
    --------
    >>> found = mahmc.compare("gmm", ["hmc"], gradients=160_000, replicates=2, chains=4)
    >>> mahmc.tables.table([found], "csv").splitlines()[1].startswith('gmm,hmc,"epsilon 0.3, L 15",')
    True
    """
    choose(form, FORMATS, "format")
    found = [row for comparison in comparisons for row in rows(comparison, **about)]
    if form == "json":
        return as_json([_plain(row) for row in found])
    if not found:
        return "no results yet: no sampler has two replicates"
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
    """Rows as CSV, with three columns for each interval and all digits of numbers."""
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
    """The row as plain values; an interval becomes a mapping."""
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


def titled(label: str) -> str:
    """The label of a comparison's row for people: "MALA-PN" for mala-pn, "MAHMC, i.i.d." for mahmc, i.i.d.

    Parameters
    ----------
    label
        The label.

    Returns
    -------
    str
        The label with the title of its sampler. A label that does not begin with a sampler stays as it is.

    Examples
    --------
    >>> mahmc.tables.titled("mala-pn"), mahmc.tables.titled("mahmc, i.i.d.")
    ('MALA-PN', 'MAHMC, i.i.d.')
    """
    name, comma, rest = label.partition(",")
    return f"{SAMPLERS[name].title}{comma}{rest}" if name in SAMPLERS else label


def headline(found: Comparison, label: str, other: str, quantity: str | None = None, cost: str = "leapfrogs") -> str:
    """The ratio of two samplers in words, with the paper's ratio if there is one.

    Parameters
    ----------
    found
        A comparison, as `mahmc.compare` returns it.
    label, other
        The names of two samplers in the comparison.
    quantity, cost
        As `Comparison.figure` takes them.

    Returns
    -------
    str
        A sentence. It also says whether the data show a difference.

    Examples
    --------
    >>> found = mahmc.compare("gmm", ["hmc"], gradients=160_000, replicates=2, chains=4)
    >>> mahmc.tables.headline(found, "hmc", "hmc").startswith("HMC")
    True
    """
    ratio = found.ratio(label, other, quantity, cost)
    a, b = titled(label), titled(other)
    if not ratio.defined:
        return f"{a} against {b}: undefined, because the chains of one sampler never moved."
    if ratio.low <= 1.0 <= ratio.high:
        text = f"{a} is {ratio} times {b} here: the interval includes 1, so the data do not show a difference"
    else:
        text = f"{a} is {ratio} times {b} here"
    specs = [found.entries[name].spec for name in (label, other)]
    best = all(spec.paper_ess for spec in specs)
    as_in_the_paper = best and cost == "leapfrogs" and quantity in (None, found.quantities[0])
    samplers = (specs[0].sampler, specs[1].sampler)
    paper = found.target.presentation.paper.ratios.get(samplers) if as_in_the_paper else None
    if paper is None:
        return text + "."
    if ratio.low <= paper <= ratio.high:
        return f"{text}; the paper says {paper:g}."
    return f"{text}; the paper says {paper:g}, which differs from this estimate by {abs(paper / ratio.value - 1):.0%}."
