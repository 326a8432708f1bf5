"""The pages of a tab as the browser fetches them: their views and their files."""

from __future__ import annotations

from dashboard.live import feed
from dashboard.live.cache import PartCache
from dashboard.views.registry import FILES, VIEW_STATES
from dashboard.views.view import View
from dashboard.work.files import File
from dashboard.work.tab import Tab


class Screen:
    """The pages of a tab. Only the tab's browser knows their address, which ends with the tab."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.token = feed.register(self)
        tab.address = f"live/{self.token}"
        self._caches = {page: PartCache() for page in VIEW_STATES}

    def open(self) -> None:
        """Make the address known: the browser is there, perhaps again."""
        feed.restore(self.token, self)

    def close(self) -> None:
        """Stop the tab's work and forget its address. This only sets flags, because the event loop calls it."""
        self.tab.end()
        feed.forget(self.token)

    def address(self, page: str) -> str:
        """The address of this page's content."""
        return feed.address(self.token, page)

    def view(self, page: str) -> View:
        """The view of the page at this moment, for the browser to show."""
        now = self.tab.snapshot()
        view: View = VIEW_STATES[page](self.tab.settings[page], now).view()
        self.tab.looked(now)
        return view

    def cache(self, page: str) -> PartCache:
        """The parts of the page that the browser has."""
        return self._caches[page]

    def file(self, page: str, mark: str, name: str) -> File | None:
        """A file that the page offers, or offered a moment ago; None if there is no such file."""
        return FILES[page](self.tab.snapshot(), mark, name) if page in FILES else None
