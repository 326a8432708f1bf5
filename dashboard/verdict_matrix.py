"""Samplers × targets with a verdict in each cell: one component, whose cells change without being rebuilt.

A cell that is clicked, or entered with the keyboard, is chosen to be looked at closely; the arrow beside a sampler's
name runs its row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

_HERE = Path(__file__)


class Square(NamedTuple):
    """One cell as it is shown: a colour by state, a symbol, a word, and what is under way or found it."""

    state: str  # "right", "wrong", "unclear", "running", "waiting", "open", or "none" where there is nothing to check
    symbol: str
    word: str
    detail: str = ""
    help: str = ""


class Line(NamedTuple):
    """One sampler's row."""

    name: str
    title: str
    note: str
    squares: Sequence[Square]


_mount = st.components.v2.component(
    "mahmc_verdict_matrix",
    html="""<div class="verdicts" tabindex="-1"><table aria-label="Verdicts by sampler and target">
            <thead><tr></tr></thead><tbody></tbody></table></div>""",
    css=_HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=_HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def verdict_matrix(
    columns: Sequence[tuple[str, str]],
    lines: Sequence[Line],
    chosen: tuple[str, str],
    key: str,
    choose: Callable[[str, str], None],
    run: Callable[[str], None],
    can_run: bool,
) -> None:
    """Show it; with the same `key` again, update it. Columns are names and titles.

    `choose(sampler, column)` is called when a cell is clicked, `run(sampler)` when a row is to be run.
    """
    shown = {
        "columns": [{"name": name, "title": title} for name, title in columns],
        "lines": [line._asdict() | {"squares": [square._asdict() for square in line.squares]} for line in lines],
        "chosen": list(chosen),
        "canRun": can_run,
    }

    def was_chosen() -> None:
        sampler, column = _sent(key, "chosen", 2)
        choose(sampler, column)

    def was_run() -> None:
        (sampler,) = _sent(key, "row", 1)
        run(sampler)

    _mount(key=key, data=shown, on_chosen_change=was_chosen, on_row_change=was_run)


def _sent(key: str, name: str, n: int) -> list[str]:
    """What the browser sent: n texts."""
    sent = [str(part) for part in st.session_state[key][name] or ()]
    return sent if len(sent) == n else [""] * n
