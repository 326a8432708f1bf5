"""What belongs to one browser tab: its choices, its run, and the runs it pinned. Ends with the tab."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from dashboard.controls import Choices, read_link
from dashboard.estimates import Estimates, Estimator, preload
from dashboard.feed import Feed
from dashboard.gallery import Gallery
from dashboard.jobs import Background, Checks, Comparing, Contest, Job, Status
from dashboard.ledger import Ledger
from dashboard.uploads import MOST_UPLOADS, Upload
from mahmc import Comparison, InvalidInput, RunSpec
from mahmc.checks import Checking
from mahmc.targets import Target

MOST_PINS = 4
MOST_NAME = 60  # letters of a pin's name


@dataclass
class Pin:
    """A run that was kept for comparison, under a name."""

    name: str
    job: Job


@dataclass
class Session:
    choices: Choices
    link_problem: str = ""
    job: Job | None = None
    former: Job | None = None  # shown, faded, until the next one has something to show
    estimator: Estimator | None = None
    pins: list[Pin] = field(default_factory=list)
    gallery: Gallery = field(default_factory=Gallery)
    feed: Feed = field(default_factory=Feed)
    uploads: dict[str, Upload] = field(default_factory=dict)  # data of the person's own by fingerprint, the last last
    comparing: Comparing | None = None
    checks: Checks | None = None
    ledger: Ledger | None = None  # what the page of checks was asked, and what it found
    contests: dict[tuple[str, int], Contest] = field(default_factory=dict)  # by exhibit and seed

    def start(self, spec: RunSpec) -> None:
        """Start a run of this spec, unless it is the one under way; whatever ran before is stopped."""
        if self.job is not None and self.job.spec == spec and self.job.alive:
            return
        self.stop()
        self.show(Job(spec, self.target(spec)).start())

    def target(self, spec: RunSpec) -> Target:
        """The target of this spec, on the person's own data if it says so."""
        return self.uploads[spec.data].target(dict(spec.settings)) if spec.data else spec.build_target()

    def use(self, upload: Upload) -> None:
        """Sample from the posterior of these data from now on."""
        self.uploads.pop(upload.fingerprint, None)  # to the end: the oldest are forgotten first
        self.uploads[upload.fingerprint] = upload
        for forgotten in list(self.uploads)[:-MOST_UPLOADS]:
            del self.uploads[forgotten]
        self.choices.data = upload

    def show(self, job: Job) -> None:
        """Make this job the one that the page shows."""
        self.former = self.job
        self.job, self.estimator = job, Estimator(job)
        _ends_with_the_tab(job)

    def compare(self, comparison: Comparison) -> None:
        """Start this comparison; whatever was compared before is stopped."""
        if self.comparing is not None:
            self.comparing.stop()
        self.comparing = Comparing(comparison).start()
        _ends_with_the_tab(self.comparing)

    def check(self, checking: Checking) -> None:
        """Start these checks; whatever was checked before is stopped."""
        if self.checks is not None:
            self.checks.stop()
        self.checks = Checks(checking).start()
        _ends_with_the_tab(self.checks)

    def contest(self, exhibit: str, contest: Contest) -> None:
        """Start this contest; an unfinished one of other settings is stopped, and of finished ones the last stays."""
        for other in self.contests.values():
            other.stop()
        mine = (exhibit, contest.seed)
        self.contests = {key: other for key, other in self.contests.items() if key[0] != exhibit} | {mine: contest}
        _ends_with_the_tab(contest.start())

    def open(self, spec: RunSpec) -> None:
        """Put this spec into the controls, and run it."""
        self.adopt(spec)
        self.start(spec)

    def adopt(self, spec: RunSpec) -> None:
        """Put this spec into the controls."""
        choices = Choices.of(spec, self.choices.view, self.choices.follow)
        choices.edition = self.choices.edition + 1
        choices.data = self.uploads.get(spec.data)
        self.choices, self.link_problem = choices, ""

    def stop(self) -> None:
        if self.job is not None:
            self.job.stop()

    def resume(self) -> None:
        """Go on where it was stopped."""
        if self.job is not None:
            self.job.start()

    def reset(self) -> None:
        """Stop, and forget what was drawn."""
        self.stop()
        self.job = self.former = self.estimator = None

    def pin(self) -> None:
        """Keep the run that is shown, if there is room and it is not kept yet."""
        if self.job is None or len(self.pins) >= MOST_PINS or any(pin.job is self.job for pin in self.pins):
            return
        spec = self.job.spec
        self.pins.append(Pin(f"{spec.method.label} ({spec.summary})"[:MOST_NAME], self.job))

    def follow(self, spec: RunSpec) -> None:
        """Start anew if the controls have moved away from the run shown, and that is what the person asked for."""
        if self.choices.follow and self.job is not None and self.job.spec != spec:
            self.start(spec)

    def estimates(self, name: str) -> Estimates | None:
        """The latest diagnostics of this quantity of the run."""
        return self.estimator(name) if self.estimator else None

    def shown(self) -> tuple[Job | None, bool]:
        """The job to draw, and whether it is only the former one, until this one has begun."""
        if self.job is not None and self.job.run is None and self.job.alive and self.former is not None:
            return self.former, True
        return self.job, False

    def stale(self, spec: RunSpec | None) -> bool:
        """Whether what is shown is of other settings than the controls say."""
        return self.job is not None and self.job.spec != spec


def _cancel(jobs: list[Background]) -> None:
    """The tab was closed: stop what it ran. Flags only, as this is called on the server's loop."""
    for job in jobs:
        job.stop()


@st.cache_resource(scope="session", on_release=_cancel, show_spinner=False)
def _jobs_of_this_tab() -> list[Background]:
    return []


def _ends_with_the_tab(job: Background) -> None:
    """Have it stopped when the tab closes. Those that ended are let go: their draws are not kept in memory by this."""
    jobs = _jobs_of_this_tab()
    jobs[:] = [*(other for other in jobs if other.alive), job]


_claimed = False


def _claim_pages() -> None:
    """Have app.py run even where the first thing a new server is asked for is the link of a page.

    Streamlit then runs the file in pages/ by itself, with a menu of its own, until st.navigation is called once in the
    process. So the first page to run calls it, and starts over.
    """
    global _claimed
    if not _claimed:
        _claimed = True
        pages = sorted((Path(__file__).parent.parent / "pages").glob("*.py"))
        st.navigation([st.Page(page, default=page.stem == "overview") for page in pages], position="hidden")
        st.rerun()


@st.cache_resource(show_spinner=False)
def _preloaded() -> bool:
    """Once in the life of the server."""
    preload()
    return True


def current(link: bool = True) -> Session:
    """The session of this tab; made from the link it was opened with, if that is of the page that shows runs."""
    _claim_pages()
    _preloaded()
    if "session" not in st.session_state:
        choices, problem = read_link(st.query_params.to_dict() if link else {})
        st.session_state.session = Session(choices, problem)
    return st.session_state.session


def chosen_spec(session: Session) -> tuple[RunSpec | None, str]:
    """The spec that the controls make, or what is wrong with them."""
    try:
        return session.choices.spec(), ""
    except InvalidInput as error:
        return None, str(error)


def status_line(job: Job | None) -> str:
    """How things stand, in words."""
    if job is None:
        return "Nothing has run yet."
    if job.status == Status.FAILED:
        return f"This run cannot be done. {job.problem}"
    if job.run is None or (job.status == Status.PREPARING and job.alive):
        return {
            Status.WAITING: "Waiting for a place: other runs are under way on this server.",
            Status.STOPPED: "Stopped before it began.",
        }.get(job.status, "Loading the kernels; the first time ever they are compiled, which takes a few seconds.")
    progress, spec = job.run.progress, job.spec
    done = f"{progress.done:,} of {spec.slots:,} draws a chain"
    if job.status == Status.FINISHED:
        return f"Finished: {done} in {_seconds(progress.seconds)}."
    if job.status == Status.STOPPED or not job.alive:
        return f"Stopped at {done}. Continue goes on exactly where it left off."
    phase = "warming up" if progress.done < spec.warmup else "drawing"
    return f"{phase.capitalize()}: {done}, about {_seconds(progress.seconds_left)} left."


def _seconds(seconds: float) -> str:
    if seconds != seconds:
        return "…"
    return f"{seconds / 60:.1f} min" if seconds >= 100 else f"{seconds:.1f} s"
