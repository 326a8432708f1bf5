"""How results are printed as text, and where they may be written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mahmc.parameters import InvalidInput


def number(value: float) -> str:
    """A number as a person reads it."""
    if np.isnan(value):
        return "undefined"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """A table as text. The first row has the titles."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows]  # fmt: skip
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def refuse_bad_path(path: Path | None, option: str = "--out") -> None:
    """Refuse a path that cannot be written, before the work instead of after it."""
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {folder}; make it first.")
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder; give the name of a file in it.")
    known = path.exists()
    try:
        path.open("ab").close()
        if not known:
            path.unlink()
    except OSError as reason:
        raise InvalidInput(f"{option} {path} cannot be written ({reason.strerror}): choose another place.") from None
