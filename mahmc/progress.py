"""The progress bar, on a terminal and in notebooks, for work that takes more than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

DELAY = 1.0  # seconds before the bar is shown


class Progress:
    """The progress of work, shown by a bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._is_shown = False

    def show(self) -> None:
        """Show the bar from now on."""
        self._is_shown = True
        self._bar.refresh()  # before the next line: in a notebook only a bar with a delay gets a place
        self._bar.delay = 0.0

    def reach(self, done: int, words: str) -> None:
        """Set the amount of work that is done, and the words beside the bar."""
        self._bar.set_postfix_str(words, refresh=False)
        self._bar.update(done - self._bar.n)

    def say(self, text: str) -> None:
        """Print a line, above the bar."""
        if self._is_shown:
            self._bar.write(text)
        else:
            print(text)


@contextmanager
def progress(total: int, unit: str, quiet: bool, title: str = "") -> Iterator[Progress]:
    """A progress bar for the work inside the block. There is none if `quiet`, or without a terminal or notebook."""
    from tqdm.auto import tqdm

    with tqdm(
        total=total, desc=title or None, unit=f" {unit}", unit_scale=True, disable=True if quiet else None,
        leave=False, delay=DELAY,
    ) as bar:  # fmt: skip
        found = Progress(bar)
        if bar.disable:
            yield found
            return
        later = Timer(DELAY, found.show)  # the first step may take long, and tqdm draws at steps only
        later.daemon = True
        later.start()
        try:
            yield found
        finally:
            later.cancel()
            later.join()
