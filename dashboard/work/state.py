"""What a browser tab has: the settings of its pages, its jobs by place, and its uploaded data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.settings import link
from dashboard.settings.checks import CheckSettings
from dashboard.settings.compare import CompareSettings
from dashboard.settings.entries import Settings
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.uploads import MOST_UPLOADS, Upload
from dashboard.work.job import Job

DEFAULTS: Mapping[str, Settings] = {
    "overview": Settings(),
    "explore": ExploreSettings(),
    "compare": CompareSettings(),
    "checks": CheckSettings(),
}


@dataclass(eq=False)
class TabState:
    """The state of a tab. `settings` and `problems` are by page, `jobs` by place. Values are replaced, not changed."""

    settings: dict[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    problems: dict[str, str] = field(default_factory=dict)  # the parts of a link that cannot be used
    jobs: dict[str, Job[Any]] = field(default_factory=dict)
    earlier: dict[str, Job[Any]] = field(default_factory=dict)
    uploads: dict[str, Upload] = field(default_factory=dict)  # by fingerprint, the newest last
    started: list[Job[Any]] = field(default_factory=list)  # the jobs that may be alive; they end with the tab

    # -------------------------------------------------------------------------------------------------------- settings

    def follow(self, page: str, query: Mapping[str, str]) -> None:
        """Take the settings from a link, unless it is the link of the present settings."""
        if dict(query) != link.write(self.settings[page]):
            settings, self.problems[page] = link.read(DEFAULTS[page], query, self.uploads)
            self.arrive(page, settings)

    def arrive(self, page: str, settings: Settings) -> None:
        """Take the settings of a link."""
        self.replace(page, settings)

    def change(self, page: str, name: str, value: Any) -> None:
        """Change one entry of a page's settings: the event of a widget."""
        self.replace(page, self.settings[page].with_(name, value))

    def replace(self, page: str, settings: Settings) -> None:
        """Replace the settings of a page."""
        self.settings[page] = settings

    def forget_hidden(self, page: str, shown: Collection[str]) -> None:
        """Forget the refused numbers of fields that are not on the screen any more."""
        settings = self.settings[page]
        if hidden := settings.refused.keys() - set(shown):
            self.replace(page, settings.mended(*hidden))

    def problem(self, page: str) -> str:
        """The message about the link of a page; "" after something was run."""
        return self.problems.get(page, "")

    def use(self, upload: Upload) -> None:
        """Use these data on Explore."""
        kept = {mark: other for mark, other in self.uploads.items() if mark != upload.fingerprint}
        kept[upload.fingerprint] = upload  # at the end, so that the oldest data are dropped first
        self.uploads = dict(list(kept.items())[-MOST_UPLOADS:])
        self.change("explore", "data", upload.fingerprint)

    # ------------------------------------------------------------------------------------------------------------ jobs

    def start(self, place: str, job: Job[Any]) -> None:
        """Start a job in its place. The job before it is stopped, and shown until the new job has draws."""
        self.problems.clear()
        before = self.jobs.get(place)
        if before is not None:
            before.stop()
            self.earlier[place] = before
        self.show(place, job)
        job.start()

    def show(self, place: str, job: Job[Any]) -> None:
        """Put this job in its place, alive or not."""
        self.jobs[place] = job
        self.started[:] = [*(other for other in self.started if other.alive and other is not job), job]

    def group(self, place: str) -> dict[str, Job[Any]]:
        """The job in this place and the jobs beside it, by place: those of "explore.2" beside that of "explore"."""
        return {other: job for other, job in self.jobs.items() if other == place or other.startswith(f"{place}.")}

    def stop(self, place: str) -> None:
        """Stop the jobs in this place and beside it; their results stay."""
        for job in self.group(place).values():
            job.stop()

    def resume(self, place: str) -> None:
        """Continue the jobs in this place and beside it where they were stopped."""
        for other, job in self.group(place).items():
            self.show(other, job)
            job.start()

    def reset(self, place: str) -> None:
        """Stop the jobs in this place and beside it, and forget their results."""
        self.stop(place)
        for other in self.group(place):
            self.jobs.pop(other)
            self.earlier.pop(other, None)

    def end(self) -> None:
        """Stop all jobs: the tab was closed. This only sets flags, because the server's event loop calls it."""
        for job in self.started:
            job.stop()
