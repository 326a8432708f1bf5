"""The codec of links: settings to the query of an address, and back.

A link contains only the values that differ from the defaults, in the order of the settings' entries. A message names
the values that cannot be used; the rest of the link is used. The message never repeats the text of the link, because a
link may come from anybody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from dashboard.settings.entries import Entry, Fingerprint, Settings
from mahmc import InvalidInput

S = TypeVar("S", bound=Settings)
MOST_NAMED = 5  # entries that a message names
NO_DATA = (
    "This link refers to uploaded data. Links do not contain data: upload the same file again. The upload is on "
    "Explore, in the full view, under the target's parameters. Until then you see the data that come with the target."
)


def write(settings: Settings) -> dict[str, str]:
    """The query that gives these settings."""
    changed = {name: entry for name, entry in settings.entries().items() if entry.value != entry.default}
    return {name: entry.kind.text(entry.value) for name, entry in changed.items()}


def text(settings: Settings) -> str:
    """The same as text, without a question mark."""
    return urlencode(write(settings))


def split(query: str) -> dict[str, str]:
    """The query of an address, as a mapping."""
    return dict(parse_qsl(query.lstrip("?"), keep_blank_values=True))


def read(start: S, query: Mapping[str, str], uploads: Collection[str] = ()) -> tuple[S, str]:
    """`start` changed by the query, and a message on the parts that cannot be used ("" if there are none).

    `uploads` are the fingerprints of the data that this tab has.
    """
    given = {name: value for name, value in query.items() if not name.startswith("embed")}
    left = start.renamed(given)
    settings, refused, no_data = start, [], False
    while (name := next((n for n in settings.entries() if n in left), None)) is not None:
        entry, value = settings.entries()[name], left.pop(name)
        if isinstance(entry.kind, Fingerprint) and value and value not in uploads:
            no_data = True
            continue
        try:
            settings = settings.with_(name, entry.kind.parse(value))
        except InvalidInput:
            refused.append(_refusal(name, entry))
    try:
        settings.check()
    except InvalidInput:
        settings, refused = settings.plain(), [*refused, "values that do not fit together"]
    return settings, _words(refused, len(left), no_data)


def _refusal(name: str, entry: Entry) -> str:
    return f"{name} (must be {entry.kind.allowed})"


def _words(refused: list[str], unknown: int, no_data: bool) -> str:
    parts = refused[:MOST_NAMED]
    if len(refused) > MOST_NAMED:
        parts.append(f"{len(refused) - MOST_NAMED} more such values")
    if unknown:
        parts.append(f"{unknown} parameter{'s' if unknown > 1 else ''} that this page does not know")
    ignored = f"Ignored in this link: {'; '.join(parts)}. Everything else is used." if parts else ""
    return " ".join(filter(None, [ignored, NO_DATA if no_data else ""]))
