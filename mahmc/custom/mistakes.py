"""A mistake in the code of a compiled function: the line in the person's own file, the reason, and what to write."""

from __future__ import annotations

import linecache
from pathlib import Path

MOST_LETTERS = 80  # the largest number of letters of a line that a message shows


class Mistake(Exception):
    """A line that cannot be compiled. `why` has one or two sentences; the last sentence says what to write."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.file, self.line, self.why = file, line, why
        super().__init__(why)

    def __str__(self) -> str:
        """The message: "my_targets.py, line 12: `if q[0] > 0:`. …"."""
        text = linecache.getline(self.file, self.line).strip()
        if len(text) > MOST_LETTERS:
            text = f"{text[: MOST_LETTERS - 1]}…"
        shown = f": `{text}`" if text else ""
        return f"{Path(self.file).name}, line {self.line}{shown}. {self.why}"
