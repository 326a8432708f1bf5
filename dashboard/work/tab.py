"""A browser tab: the settings of its pages, its jobs, its pinned runs and its uploaded data.

Only the events of its pages change a tab. The feed reads snapshots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings.checks import CONTESTS
from dashboard.settings.entries import Settings
from dashboard.settings.presets import RUN
from dashboard.settings.uploads import Upload
from dashboard.work.checks import CheckResults, CheckWork, Identity
from dashboard.work.comparisons import CompareWork
from dashboard.work.contests import ContestWork
from dashboard.work.exploring import ExploreRuns
from dashboard.work.job import Job, Snapshot, Status
from dashboard.work.kept import KEPT
from dashboard.work.runs import RunResult, RunWork
from dashboard.work.state import DEFAULTS
from mahmc import Comparison, InvalidInput
from mahmc.checks import CASES, Cell, Checking

GONE = (
    "The result of these settings is no longer kept. Press Run to make it again: the same settings and seed give the "
    "same numbers."
)


@dataclass(frozen=True)
class TabSnapshot:
    """The state of a tab at one moment."""

    jobs: Mapping[str, Snapshot[Any]]  # by place: "explore", "compare", "checks", "contest.naive", …
    earlier: Mapping[str, Snapshot[Any]]  # the jobs that were replaced, by place
    pins: tuple[tuple[str, Snapshot[RunResult]], ...]  # by name
    uploads: Mapping[str, Upload]
    checked: Mapping[Identity, Cell]
    address: str = ""  # of this tab's feed and files

    def shown(self, place: str) -> tuple[Snapshot[Any] | None, bool]:
        """The job to show, and whether that is the earlier job: it is shown until the new job has draws."""
        job, before = self.jobs.get(place), self.earlier.get(place)
        if job is not None and before is not None and _is_waiting(job):
            return before, True
        return job, False


def _is_waiting(job: Snapshot[Any]) -> bool:
    """Whether the job is alive and has no draws yet."""
    has_draws = isinstance(job.result, RunResult) and job.result.done > 0
    return job.alive and job.status in (Status.WAITING, Status.PREPARING) and not has_draws


@dataclass(eq=False)
class Tab(ExploreRuns):
    """A tab with all of its pages."""

    results: CheckResults = field(default_factory=CheckResults)
    page: str = ""  # the page that was opened last
    carried: Settings = DEFAULTS["compare"]  # Compare's settings when they last took the target of Explore
    address: str = ""  # of the feed and files, once known

    def open(self, page: str, query: Mapping[str, str]) -> None:
        """Open a page. Its query is used if the page was not open: then it comes from a link or the history."""
        if page != self.page and query and page in self.settings:
            self.follow(page, {name: value for name, value in query.items() if name not in RUN})
            if page == "explore" and query.items() >= RUN.items():
                self.run_settings()
        elif page == "compare" and not query and self.settings[page] == self.carried and page not in self.jobs:
            self.carry_target()
        if page == "compare" and page != self.page and page not in self.jobs:
            self._find_kept()
        self.page = page
        self._watch()

    def carry_target(self) -> None:
        """Compare: take the target of Explore, with its settings and its data.

        Compare does this by itself when it is opened, until something is chosen or run there.
        """
        self.carried = self.settings["compare"].on_target_of(self.settings["explore"].choices)
        self.replace("compare", self.carried)

    def snapshot(self) -> TabSnapshot:
        """The state of the tab at this moment."""
        jobs = {place: job.snapshot() for place, job in list(self.jobs.items())}
        earlier = {place: job.snapshot() for place, job in list(self.earlier.items())}
        pins = tuple((pin.name, pin.job.snapshot()) for pin in self.pins)
        return TabSnapshot(jobs, earlier, pins, dict(self.uploads), self.results.snapshot(), self.address)

    def looked(self, now: TabSnapshot) -> None:
        """Tell runs which draws the browser gets to show."""
        for place, job in list(self.jobs.items()):
            if isinstance(job.work, RunWork) and place in now.jobs and now.jobs[place].number == job.number:
                job.work.pace.look(now.jobs[place].result.done)

    # ------------------------------------------------------------------------------------ what to compare and to check

    def compare(self, comparison: Comparison) -> None:
        """Compare: start this comparison of the present settings."""
        self.start("compare", Job(CompareWork(self.settings["compare"], comparison)))

    def _find_kept(self) -> None:
        """Compare: show the result of the present settings if it is kept, or say that it is gone."""
        settings = self.settings["compare"]
        try:
            wanted = settings.comparison(self.uploads)
        except InvalidInput:
            return  # the page says what is wrong
        found = KEPT.find(wanted)
        if found is not None:
            self.show("compare", Job(CompareWork(settings, found)))
        elif KEPT.dropped(wanted):
            self.problems["compare"] = " ".join(filter(None, [self.problem("compare"), GONE]))

    def check(self, cells: Collection[Cell]) -> None:
        """Checks: check these cells under the present settings."""
        settings = self.settings["checks"]
        if settings.unusable:
            return  # a number was typed just before the click; the page says what is wrong
        if len(cells) == 1:
            settings = replace(settings, cell=next(iter(cells)).key)
            self.settings["checks"] = settings
        checking = Checking(self.results.stored(cells, settings), **settings.strictness)
        self.start("checks", Job(CheckWork(settings, checking)))

    def contest(self, exhibit: str) -> None:
        """Checks: run a correct and a wrong sampler side by side."""
        if self.settings["checks"].unusable:
            return
        case, samplers = CONTESTS[exhibit]
        for other in CONTESTS:
            self.stop(f"contest.{other}")
        self.start(f"contest.{exhibit}", Job(ContestWork(CASES[case], samplers, self.settings["checks"].seed)))
