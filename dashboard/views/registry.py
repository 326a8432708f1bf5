"""The pages: the view state of each, and its files. A new page needs a line in both tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dashboard.views import checks, compare, explore, overview, report
from dashboard.views.view import View
from dashboard.work.files import File
from dashboard.work.tab import TabSnapshot


class ViewState(Protocol):
    """The state of a page under its settings at one moment, which gives the view."""

    def view(self) -> View:
        """What the page shows, as plain data."""


VIEW_STATES: Mapping[str, Callable[[Any, TabSnapshot], ViewState]] = {
    "overview": overview.ViewState,
    "explore": explore.ViewState,
    "compare": compare.ViewState,
    "checks": checks.ViewState,
}
FILES: Mapping[str, Callable[[TabSnapshot, str, str], File | None]] = {
    "explore": explore.file,
    "compare": compare.file,
    "checks": report.file,
}
