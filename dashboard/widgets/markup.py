"""Other people's text inside Markdown."""

from __future__ import annotations


def unmarked(text: str) -> str:
    """With what Markdown would take for marks left as it is."""
    return "".join(f"\\{letter}" if letter in "\\*_[]`$<>~#|" else letter for letter in text)


def verbatim(text: str) -> str:
    """As it is, on one line and not too long, in the letters of code."""
    shown = "".join(letter if letter.isprintable() and letter != "`" else "·" for letter in text)
    return f"`{shown if len(shown) <= 60 else shown[:59] + '…'}`"
