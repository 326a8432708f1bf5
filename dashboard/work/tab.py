"""A browser tab: the settings of its pages, its jobs, its pinned runs and its uploaded data.

Only the events of its pages change a tab. The feed reads snapshots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.settings import link, presets
from dashboard.settings.checks import CONTESTS, CheckSettings
from dashboard.settings.compare import CompareSettings
from dashboard.settings.entries import Settings
from dashboard.settings.explore import LOOKS, SLOTS, ExploreSettings
from dashboard.settings.presets import RUN
from dashboard.settings.uploads import MOST_UPLOADS, Upload
from dashboard.work.checks import CheckResults, CheckWork, Identity
from dashboard.work.comparisons import CompareWork
from dashboard.work.contests import ContestWork
from dashboard.work.job import Job, Snapshot, Status
from dashboard.work.kept import KEPT
from dashboard.work.pace import Pace
from dashboard.work.runs import RunResult, RunWork
from mahmc import Comparison, InvalidInput, RunSpec
from mahmc.checks import CASES, Cell, Checking

EXPLORE = {1: "explore", 2: "explore.2", 3: "explore.3"}  # places of the main run and of the runs beside it
MOST_PINS = 4
MOST_KEPT = 6  # replaced runs of Explore whose results a tab keeps, so that Back can show them again
KEPT_BYTES = 64 * 2**20  # the draws of a run that is kept take at most this memory
MOST_NAME = 60  # characters in the name of a pin
GONE = (
    "The result of these settings is no longer kept. Press Run to make it again: the same settings and seed give the "
    "same numbers."
)
DEFAULTS: Mapping[str, Settings] = {
    "overview": Settings(),
    "explore": ExploreSettings(),
    "compare": CompareSettings(),
    "checks": CheckSettings(),
}


@dataclass(frozen=True)
class Pin:
    """A run that is kept for comparison, under a name."""

    name: str
    job: Job[RunWork]


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
class Tab:
    """The state of a tab. `settings` and `problems` are by page, `jobs` by place. Values are replaced, not changed."""

    settings: dict[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    problems: dict[str, str] = field(default_factory=dict)  # the parts of a link that cannot be used
    jobs: dict[str, Job[Any]] = field(default_factory=dict)
    earlier: dict[str, Job[Any]] = field(default_factory=dict)
    kept: tuple[Job[RunWork], ...] = ()  # replaced runs of Explore, the newest first
    pins: tuple[Pin, ...] = ()
    uploads: dict[str, Upload] = field(default_factory=dict)  # by fingerprint, the newest last
    results: CheckResults = field(default_factory=CheckResults)
    page: str = ""  # the page that was opened last
    carried: Settings = DEFAULTS["compare"]  # Compare's settings when they last took the target of Explore
    address: str = ""  # of the feed and files, once known
    started: list[Job[Any]] = field(default_factory=list)  # the jobs that may be alive; they end with the tab

    # --------------------------------------------------------------------------------------------- settings

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

    def follow(self, page: str, query: Mapping[str, str]) -> None:
        """Take the settings from a link, unless it is the link of the present settings."""
        if dict(query) != link.write(self.settings[page]):
            settings, self.problems[page] = link.read(DEFAULTS[page], query, self.uploads)
            if isinstance(settings, ExploreSettings):
                self._recall(settings)
            self.replace(page, settings)

    def change(self, page: str, name: str, value: Any) -> None:
        """Change one entry of a page's settings: the event of a widget."""
        self.replace(page, self.settings[page].with_(name, value))

    def replace(self, page: str, settings: Settings) -> None:
        """Replace the settings of a page."""
        self.settings[page] = settings
        if page == "explore":
            self._settings_of_run_changed()

    def carry_target(self) -> None:
        """Compare: take the target of Explore, with its settings and its data.

        Compare does this by itself when it is opened, until something is chosen or run there.
        """
        self.carried = self.settings["compare"].on_target_of(self.settings["explore"].choices)
        self.replace("compare", self.carried)

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

    # ------------------------------------------------------------------------------------------------- jobs

    def start(self, place: str, job: Job[Any]) -> None:
        """Start a job in its place. The job before it is stopped, and shown until the new job has draws."""
        self.problems.clear()
        before = self.jobs.get(place)
        if before is not None:
            before.stop()
            self.earlier[place] = before
            if isinstance(before.work, RunWork):
                self._keep(before)
        self.show(place, job)
        self._watch()
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
        """Continue the jobs in this place and beside it where they were stopped or paused."""
        for other, job in self.group(place).items():
            self.show(other, job)
            if isinstance(job.work, RunWork):
                job.work.pace.go_on()
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
        for run in self._explored():
            run.leave()

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

    # ------------------------------------------------------------------------------------------- what to run

    @property
    def _exploring(self) -> Job[RunWork] | None:
        return self.jobs.get("explore")

    def run(self, specs: Mapping[int, RunSpec]) -> None:
        """Explore: run these specs side by side. A job that has its spec and is alive goes on."""
        for number, spec in specs.items():
            job = self.jobs.get(EXPLORE[number])
            if job is None or not job.alive or job.work.spec != spec:
                self.start(EXPLORE[number], self._new_run(spec, specs[1]))
            else:
                job.work.pace.go_on()

    def _new_run(self, spec: RunSpec, main: RunSpec) -> Job[RunWork]:
        data = self.uploads[spec.data].target(dict(spec.settings)) if spec.data else None
        return Job(RunWork(spec, data, Pace(self._rate(spec, main))))

    def _rate(self, spec: RunSpec, main: RunSpec) -> float:
        """The draws a second of a run: as many leapfrogs a second as the main run makes at the chosen pace."""
        return float(self.settings["explore"].rate * main.leapfrogs_per_draw / spec.leapfrogs_per_draw)

    def pause(self) -> None:
        """Explore: make no more draws until the runs go on."""
        for job in self.group("explore").values():
            job.work.pace.pause()

    def step(self) -> None:
        """Explore: make one draw of each chain of each run, and pause. Runs that are over begin again."""
        jobs = self.group("explore")
        if not jobs or all(job.over for job in jobs.values()):
            specs, _ = self.specs()
            jobs = {EXPLORE[number]: self._new_run(spec, specs[1]) for number, spec in specs.items()}
        for place, job in jobs.items():
            job.work.pace.step()
            if self.jobs.get(place) is job:
                job.start()
            else:
                self.start(place, job)

    def next_preset(self) -> None:
        """Explore: put the next preset into the controls, and run it. What the page looks like stays."""
        now = link.write(self.settings["explore"])
        looks = {name: text for name, text in now.items() if name in LOOKS}
        here, shown = presets.found("explore", now), [preset for preset in presets.PRESETS if preset.page == "explore"]
        at = shown.index(here) if here in shown else -1
        self.follow("explore", looks | dict(shown[(at + 1) % len(shown)].query))
        self.run_settings()

    def run_settings(self) -> None:
        """Explore: run the present settings, if they are allowed."""
        specs, _ = self.specs()
        if specs:
            self.run(specs)

    def explore(self, spec: RunSpec, run: bool = True) -> None:
        """Put this spec into Explore's controls, and run it."""
        self.settings["explore"] = self.settings["explore"].adopting(spec)
        if run:
            self.run_settings()
        else:
            self._settings_of_run_changed()

    def specs(self) -> tuple[dict[int, RunSpec], str]:
        """The runs of Explore's settings by number, or what is wrong with the settings."""
        try:
            return self.settings["explore"].specs(self.uploads), ""
        except InvalidInput as refusal:
            return {}, str(refusal)

    def spec(self) -> tuple[RunSpec | None, str]:
        """The main run of Explore's settings, or what is wrong with the settings."""
        specs, problem = self.specs()
        return specs.get(1), problem

    def _settings_of_run_changed(self) -> None:
        """Explore: restart if that is switched on; else update which quantities are estimated."""
        specs, _ = self.specs()
        for number in SLOTS:
            if number not in self.settings["explore"].slots and EXPLORE[number] in self.jobs:
                self._keep(self.jobs[EXPLORE[number]])
                self.reset(EXPLORE[number])
        if self._exploring is None:
            return
        shown = {number: self.jobs[place].work.spec for number, place in EXPLORE.items() if place in self.jobs}
        for place in self.group("explore"):
            work = self.jobs[place].work
            work.pace.change(self._rate(work.spec, shown[1]))
        if self.settings["explore"].follow and specs and shown != specs:
            self.run(specs)
        else:
            self._watch()

    def _explored(self) -> list[RunWork]:
        """Explore: the runs that are shown, pinned runs too."""
        jobs = {id(job): job for job in (*self.group("explore").values(), *(pin.job for pin in self.pins))}
        return [job.work for job in jobs.values()]

    def _watch(self) -> None:
        """Explore: estimate the quantities that the page shows."""
        settings, runs = self.settings["explore"], self._explored()
        for run in runs:
            run.watch(settings.quantity, settings.view == "full", len(runs) > 1)

    def _recall(self, settings: ExploreSettings) -> None:
        """Explore: show the runs of these settings again, if the tab still has their results."""
        try:
            specs = settings.specs(self.uploads)
        except InvalidInput:
            return
        known = (*self.kept, *(pin.job for pin in self.pins))
        for number, spec in specs.items():
            place = EXPLORE[number]
            present, found = self.jobs.get(place), next((job for job in known if job.work.spec == spec), None)
            if found is None or (present is not None and present.work.spec == spec):
                continue
            if present is not None:
                present.stop()
                self._keep(present)
            self.show(place, found)

    def _keep(self, job: Job[RunWork]) -> None:
        """Keep a run that is replaced, and forget the oldest of the others."""
        kept = (job, *(other for other in self.kept if other is not job))
        self.kept = tuple(other for other in kept if other.work.bytes <= KEPT_BYTES)[:MOST_KEPT]

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

    # ------------------------------------------------------------------------------------------------- pins

    def pin(self) -> None:
        """Pin the run that is shown, if there is room and it is not pinned yet."""
        job = self._exploring
        if job is None or len(self.pins) >= MOST_PINS or any(pin.job is job for pin in self.pins):
            return
        spec = job.work.spec
        self.pins = (*self.pins, Pin(f"{spec.method.label} ({spec.summary})"[:MOST_NAME], job))
        self._watch()

    def rename(self, number: int, name: str) -> None:
        """Rename the pin with this job number. An empty name changes nothing."""
        named = name.strip()[:MOST_NAME]
        self.pins = tuple(replace(pin, name=named) if named and pin.job.number == number else pin for pin in self.pins)

    def unpin(self, number: int) -> None:
        """Remove a pin."""
        self.pins = tuple(pin for pin in self.pins if pin.job.number != number)

    def reopen(self, number: int) -> None:
        """Show a pinned run again, with its settings in the controls."""
        for pin in self.pins:
            if pin.job.number == number:
                self.show("explore", pin.job)
                self.explore(pin.job.work.spec, run=False)
