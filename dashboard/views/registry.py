"""The pages: what each shows, and the files that it offers. A new page has a line in both tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dashboard.views import checks, compare, explore, report
from dashboard.views.view import View
from dashboard.work.files import File
from dashboard.work.tab import Now


class Shown(Protocol):
    """What a page shows under its settings at one moment."""

    def view(self) -> View:
        """All of it, as plain data."""


@dataclass(frozen=True)
class Still:
    """A page without work: nothing on it changes by itself."""

    settings: Any
    now: Now

    def view(self) -> View:
        return View()


SHOWN: Mapping[str, Callable[[Any, Now], Shown]] = {
    "overview": Still,
    "explore": explore.Shown,
    "compare": compare.Shown,
    "checks": checks.Shown,
}
FILES: Mapping[str, Callable[[Any, Now, str, str], File | None]] = {
    "explore": explore.file,
    "compare": compare.file,
    "checks": report.file,
}
