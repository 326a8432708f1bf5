"""The runs of Explore in a tab: the main run, the runs beside it, and pinned runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.settings import link, presets
from dashboard.settings.choices import in_symbols
from dashboard.settings.entries import Settings
from dashboard.settings.explore import SLOTS, STYLE, ExploreSettings
from dashboard.work.job import Job
from dashboard.work.pace import Pace
from dashboard.work.runs import RunWork
from dashboard.work.state import TabState
from mahmc import InvalidInput, RunSpec

EXPLORE = {1: "explore", 2: "explore.2", 3: "explore.3"}  # places of the main run and of the runs beside it
MOST_PINS = 4
MOST_KEPT = 6  # replaced runs whose results a tab keeps, so that Back can show them again
KEPT_BYTES = 64 * 2**20  # the draws of a run that is kept take at most this memory
MOST_NAME = 60  # characters in the name of a pin


@dataclass(frozen=True)
class Pin:
    """A run that is kept for comparison, under a name."""

    name: str
    job: Job[RunWork]


@dataclass(eq=False)
class ExploreRuns(TabState):
    """A tab that has runs."""

    kept: tuple[Job[RunWork], ...] = ()  # replaced runs, the newest first
    pins: tuple[Pin, ...] = ()

    def replace(self, page: str, settings: Settings) -> None:
        """Replace the settings of a page. Runs follow those of Explore, if that is switched on."""
        super().replace(page, settings)
        if page == "explore":
            self._settings_of_run_changed()

    def arrive(self, page: str, settings: Settings) -> None:
        """Take the settings of a link. Runs of these settings that the tab still has are shown again, first of all."""
        if isinstance(settings, ExploreSettings):
            self._recall(settings)
        super().arrive(page, settings)

    def start(self, place: str, job: Job[Any]) -> None:
        """Start a job in its place. A run that was there is kept for a while."""
        before = self.jobs.get(place)
        if before is not None and isinstance(before.work, RunWork):
            self._keep(before)
        super().start(place, job)
        self._watch()

    def resume(self, place: str) -> None:
        """Continue the jobs in this place and beside it where they were stopped or paused."""
        for job in self.group(place).values():
            if isinstance(job.work, RunWork):
                job.work.pace.go_on()
        super().resume(place)

    def end(self) -> None:
        """Stop all jobs, and start no more estimates: the tab was closed."""
        super().end()
        for run in self._explored():
            run.leave()

    # ----------------------------------------------------------------------------------------------------- what to run

    @property
    def _exploring(self) -> Job[RunWork] | None:
        return self.jobs.get("explore")

    def run(self, specs: Mapping[int, RunSpec]) -> None:
        """Run these specs side by side. A job that has its spec and is alive goes on."""
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
        """Make no more draws until the runs go on."""
        for job in self.group("explore").values():
            job.work.pace.pause()

    def step(self) -> None:
        """Make one draw of each chain of each run, and pause. Runs that are over begin again."""
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
        """Put the next preset into the controls, and run it. The way in which runs are shown stays."""
        now = link.write(self.settings["explore"])
        style = {name: text for name, text in now.items() if name in STYLE}
        here, shown = presets.found("explore", now), [preset for preset in presets.PRESETS if preset.page == "explore"]
        at = shown.index(here) if here in shown else -1
        self.follow("explore", style | dict(shown[(at + 1) % len(shown)].query))
        self.run_settings()

    def run_settings(self) -> None:
        """Run the present settings, if they are allowed."""
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
        """Restart if that is switched on; else update which quantities are estimated."""
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
        """The runs that are shown, pinned runs too."""
        jobs = {id(job): job for job in (*self.group("explore").values(), *(pin.job for pin in self.pins))}
        return [job.work for job in jobs.values()]

    def _watch(self) -> None:
        """Estimate the quantities that the page shows."""
        settings, runs = self.settings["explore"], self._explored()
        for run in runs:
            run.watch(settings.quantity, settings.view == "full", len(runs) > 1)

    def _recall(self, settings: ExploreSettings) -> None:
        """Show the runs of these settings again, if the tab still has their results."""
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

    # ------------------------------------------------------------------------------------------------------------ pins

    def pin(self) -> None:
        """Pin the run that is shown, if there is room and it is not pinned yet."""
        job = self._exploring
        if job is None or len(self.pins) >= MOST_PINS or any(pin.job is job for pin in self.pins):
            return
        spec = job.work.spec
        self.pins = (*self.pins, Pin(f"{spec.method.label} ({in_symbols(spec)})"[:MOST_NAME], job))
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
