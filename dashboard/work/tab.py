"""What belongs to one browser tab: its settings page by page, its jobs, its pins and its uploaded data.

Settings go in, jobs run, snapshots come out. A tab is changed by its page's events only; the feed reads snapshots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings import link
from dashboard.settings.checks import CONTESTS, CheckSettings
from dashboard.settings.compare import CompareSettings
from dashboard.settings.entries import Settings
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.presets import RUN
from dashboard.settings.uploads import MOST_UPLOADS, Upload
from dashboard.work.checks import CheckResults, CheckWork, Identity
from dashboard.work.comparisons import CompareWork
from dashboard.work.contests import ContestWork
from dashboard.work.job import Job, Snapshot, Status
from dashboard.work.runs import RunResult, RunWork
from mahmc import Comparison, InvalidInput, RunSpec
from mahmc.checks import CASES, Cell, Checking

MOST_PINS = 4
MOST_NAME = 60  # letters of a pin's name
DEFAULTS: Mapping[str, Settings] = {
    "overview": Settings(),
    "explore": ExploreSettings(),
    "compare": CompareSettings(),
    "checks": CheckSettings(),
}


@dataclass(frozen=True)
class Pin:
    """A run that was kept for comparison, under a name."""

    name: str
    job: Job[RunWork]


@dataclass(frozen=True)
class Now:
    """All that is known of a tab at one moment."""

    jobs: Mapping[str, Snapshot]  # by place: "explore", "compare", "checks", "contest.naive", …
    earlier: Mapping[str, Snapshot]  # those that were replaced, by place
    pins: tuple[tuple[str, Snapshot[RunResult]], ...]  # by name
    uploads: Mapping[str, Upload]
    checked: Mapping[Identity, Cell]
    address: str = ""  # where the browser finds this tab's feed and files

    def shown(self, place: str) -> tuple[Snapshot | None, bool]:
        """The job to show, and whether it is the earlier one: shown until the new one has something to show."""
        job, before = self.jobs.get(place), self.earlier.get(place)
        waiting = job is not None and job.alive and job.status in (Status.WAITING, Status.PREPARING)
        if waiting and before is not None and not _begun(job):
            return before, True
        return job, False


def _begun(job: Snapshot | None) -> bool:
    return isinstance(job, Snapshot) and isinstance(job.result, RunResult) and job.result.done > 0


@dataclass(eq=False)
class Tab:
    """`settings` and `problems` are by page, `jobs` by place. Each is replaced, never changed in place."""

    settings: dict[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    problems: dict[str, str] = field(default_factory=dict)  # what a link said that cannot be used
    jobs: dict[str, Job] = field(default_factory=dict)
    earlier: dict[str, Job] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    uploads: dict[str, Upload] = field(default_factory=dict)  # by fingerprint, the last one last
    results: CheckResults = field(default_factory=CheckResults)
    page: str = ""  # that was opened last
    address: str = ""  # of its feed and files, once it has one
    started: list[Job] = field(default_factory=list)  # all that may be under way; they end with the tab

    # --------------------------------------------------------------------------------------------- settings

    def open(self, page: str, query: Mapping[str, str]) -> None:
        """A page is opened. A query counts when the page was not open before: it is that of a link, or of history."""
        if page != self.page and query and page in self.settings:
            self.follow(page, {name: value for name, value in query.items() if name not in RUN})
            if page == "explore" and query.items() >= RUN.items():
                self.run_settings()
        self.page = page
        self._watch()

    def follow(self, page: str, query: Mapping[str, str]) -> None:
        """Take the settings from a link, unless it is the one that they make already."""
        if dict(query) != link.write(self.settings[page]):
            settings, self.problems[page] = link.read(DEFAULTS[page], query, self.uploads)
            self.replace(page, settings)

    def change(self, page: str, name: str, value: Any) -> None:
        """A widget's event: one entry of a page's settings is changed."""
        self.replace(page, self.settings[page].with_(name, value))

    def replace(self, page: str, settings: Settings) -> None:
        """Other settings altogether."""
        self.settings[page] = settings
        if page == "explore":
            self._settings_of_run_changed()

    def problem(self, page: str) -> str:
        """What of the link cannot be used, until something is run."""
        return self.problems.get(page, "")

    def use(self, upload: Upload) -> None:
        """Sample from the posterior of these data on Explore from now on."""
        kept = {mark: other for mark, other in self.uploads.items() if mark != upload.fingerprint}
        kept[upload.fingerprint] = upload  # at the end: the oldest are forgotten first
        self.uploads = dict(list(kept.items())[-MOST_UPLOADS:])
        self.change("explore", "data", upload.fingerprint)

    # ------------------------------------------------------------------------------------------------- jobs

    def start(self, place: str, job: Job) -> None:
        """Start a job in its place; what was under way there is stopped, and kept until the new one has begun."""
        self.problems.clear()
        before = self.jobs.get(place)
        if before is not None:
            before.stop()
            self.earlier[place] = before
        self.show(place, job)
        self._watch()
        job.start()

    def show(self, place: str, job: Job) -> None:
        """Have this job in its place, under way or not."""
        self.jobs[place] = job
        self.started[:] = [*(other for other in self.started if other.alive and other is not job), job]

    def stop(self, place: str) -> None:
        """Stop what is under way there; what is done stays."""
        if place in self.jobs:
            self.jobs[place].stop()

    def resume(self, place: str) -> None:
        """Go on where it was stopped."""
        if place in self.jobs:
            self.jobs[place].start()

    def reset(self, place: str) -> None:
        """Stop, and forget what was made there."""
        self.stop(place)
        self.jobs.pop(place, None)
        self.earlier.pop(place, None)

    def end(self) -> None:
        """The tab was closed: stop everything. Flags only, as this is called on the server's loop."""
        for job in self.started:
            job.stop()
        if self._exploring is not None:
            self._exploring.work.leave()

    def now(self) -> Now:
        """What is known at this moment."""
        jobs = {place: job.snapshot() for place, job in list(self.jobs.items())}
        earlier = {place: job.snapshot() for place, job in list(self.earlier.items())}
        pins = tuple((pin.name, pin.job.snapshot()) for pin in self.pins)
        return Now(jobs, earlier, pins, dict(self.uploads), self.results.snapshot(), self.address)

    # ------------------------------------------------------------------------------------------- what to run

    @property
    def _exploring(self) -> Job[RunWork] | None:
        return self.jobs.get("explore")

    def run(self, spec: RunSpec) -> None:
        """Explore: run this spec, unless that is what is under way."""
        job = self._exploring
        if job is not None and job.alive and job.work.spec == spec:
            return
        data = self.uploads[spec.data].target(dict(spec.settings)) if spec.data else None
        self.start("explore", Job(RunWork(spec, data)))

    def run_settings(self) -> None:
        """Explore: run what the settings make, if that can be run."""
        spec, _ = self.spec()
        if spec is not None:
            self.run(spec)

    def explore(self, spec: RunSpec, run: bool = True) -> None:
        """Put this spec into Explore's controls, and run it."""
        self.settings["explore"] = self.settings["explore"].adopting(spec)
        if run:
            self.run(spec)
        else:
            self._settings_of_run_changed()

    def spec(self) -> tuple[RunSpec | None, str]:
        """The run that Explore's settings make, or what is wrong with them."""
        try:
            return self.settings["explore"].spec(self.uploads), ""
        except InvalidInput as refusal:
            return None, str(refusal)

    def _settings_of_run_changed(self) -> None:
        """Explore: start anew if the person asked for that; and have estimates of what is looked at."""
        job, settings = self._exploring, self.settings["explore"]
        if job is None:
            return
        spec, _ = self.spec()
        if settings.follow and spec is not None and job.work.spec != spec:
            self.run(spec)
        else:
            self._watch()

    def _watch(self) -> None:
        """Explore: have estimates of what is looked at."""
        if self._exploring is not None:
            settings = self.settings["explore"]
            self._exploring.work.watch(settings.quantity, settings.view == "full")

    def compare(self, comparison: Comparison) -> None:
        """Compare: start this comparison, as the settings ask for it."""
        self.start("compare", Job(CompareWork(self.settings["compare"], comparison)))

    def check(self, cells: Collection[Cell]) -> None:
        """Checks: check these cells under the present settings."""
        settings = self.settings["checks"]
        if len(cells) == 1:
            settings = replace(settings, cell=next(iter(cells)).key)
            self.settings["checks"] = settings
        checking = Checking(self.results.taken(cells, settings), **settings.strictness)
        self.start("checks", Job(CheckWork(settings, checking)))

    def contest(self, exhibit: str) -> None:
        """Checks: run a right and a wrong sampler side by side."""
        case, samplers = CONTESTS[exhibit]
        for other in CONTESTS:
            self.stop(f"contest.{other}")
        self.start(f"contest.{exhibit}", Job(ContestWork(CASES[case], samplers, self.settings["checks"].seed)))

    # ------------------------------------------------------------------------------------------------- pins

    def pin(self) -> None:
        """Keep the run that is shown, if there is room and it is not kept yet."""
        job = self._exploring
        if job is None or len(self.pins) >= MOST_PINS or any(pin.job is job for pin in self.pins):
            return
        spec = job.work.spec
        self.pins = (*self.pins, Pin(f"{spec.method.label} ({spec.summary})"[:MOST_NAME], job))

    def rename(self, number: int, name: str) -> None:
        """Give a pin, by its job's number, another name; an empty one is not taken."""
        named = name.strip()[:MOST_NAME]
        self.pins = tuple(replace(pin, name=named) if named and pin.job.number == number else pin for pin in self.pins)

    def unpin(self, number: int) -> None:
        """Let a pin go."""
        self.pins = tuple(pin for pin in self.pins if pin.job.number != number)

    def reopen(self, number: int) -> None:
        """Show a pinned run again, with its settings in the controls."""
        for pin in self.pins:
            if pin.job.number == number:
                self.show("explore", pin.job)
                self.explore(pin.job.work.spec, run=False)
