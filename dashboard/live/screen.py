"""The pages of one tab, as the browser fetches them: what each shows, and the files that it offers."""

from __future__ import annotations

from dashboard.live import feed
from dashboard.live.cache import PartCache
from dashboard.views.registry import FILES, SHOWN
from dashboard.views.view import View
from dashboard.work.files import File
from dashboard.work.tab import Tab


class Screen:
    """One tab's pages. The address is known to the tab's browser alone, and ends with the tab."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.token = feed.register(self)
        tab.address = f"live/{self.token}"
        self._caches = {page: PartCache() for page in SHOWN}

    def open(self) -> None:
        """The browser is there, perhaps again: its address is known."""
        feed.restore(self.token, self)

    def close(self) -> None:
        """The browser is gone: stop the tab's work, forget its address. Flags only: the server's loop calls this."""
        self.tab.end()
        feed.forget(self.token)

    def address(self, page: str) -> str:
        """Where the browser fetches what this page shows."""
        return feed.address(self.token, page)

    def view(self, page: str) -> View:
        """What the page shows now."""
        return SHOWN[page](self.tab.settings[page], self.tab.now()).view()

    def cache(self, page: str) -> PartCache:
        """What the browser has of the page."""
        return self._caches[page]

    def file(self, page: str, mark: str, name: str) -> File | None:
        """A file that the page offers, or offered a moment ago."""
        return FILES[page](self.tab.settings[page], self.tab.now(), mark, name) if page in FILES else None
