"""Text of users inside Markdown."""

from __future__ import annotations


def unmarked(text: str) -> str:
    """The text with a backslash before each character that Markdown would interpret."""
    return "".join(f"\\{letter}" if letter in "\\*_[]`$<>~#|" else letter for letter in text)


def verbatim(text: str) -> str:
    """The text as code: on one line, at most 60 characters, with unprintable characters replaced."""
    shown = "".join(letter if letter.isprintable() and letter != "`" else "·" for letter in text)
    return f"`{shown if len(shown) <= 60 else shown[:59] + '…'}`"
