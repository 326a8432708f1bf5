"""Results as escaped HTML for notebooks: a title with facts and warnings, or with a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape


def facts_as_html(title: str, facts: Mapping[str, str], warnings: Iterable[str] = ()) -> str:
    """A title with a row for each fact, and a line for each warning below."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in facts.items()
    )
    lines = "".join(f"<div>⚠ {escape(text)}</div>" for text in warnings)
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{lines}</div>"


def table_as_html(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A title and a table. The first row has the titles of the columns."""
    head = "".join(f"<th>{escape(text)}</th>" for text in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows[1:])
    return (
        f"<div><strong>{escape(title)}</strong><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
