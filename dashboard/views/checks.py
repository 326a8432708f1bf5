"""The view of Checks: the matrix of verdicts, and the findings of one cell."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from dashboard import figures
from dashboard.settings import link
from dashboard.settings.checks import AGREEMENT, CUSTOM, CheckSettings, sampler_title
from dashboard.settings.checks import rows as sampler_rows
from dashboard.settings.choices import in_symbols
from dashboard.views import beads, contest, exhibits, origin, squares
from dashboard.views.view import HEIGHT, ChartRequest, Line, Remark, View, lines, remarks, status
from dashboard.work.checks import CheckProgress, Identity, identity
from dashboard.work.job import Snapshot
from dashboard.work.tab import TabSnapshot
from mahmc import RunSpec
from mahmc.checks import Cell, Finding, Verdict
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS

REPORT = "checks.html"
OTHER_VERDICTS = (
    "The verdicts so far belong to earlier settings and are not shown. They come back with those settings. Press Run "
    "all for verdicts with the present settings."
)


@dataclass(frozen=True)
class ViewState:
    """The matrix under these settings, with the findings of its cells."""

    settings: CheckSettings
    now: TabSnapshot

    @cached_property
    def _built(self) -> tuple[list[Cell], str]:
        return self.settings.cells(self.now.uploads)

    @property
    def cells(self) -> list[Cell]:
        """The matrix, row by row, without results."""
        return self._built[0]

    @property
    def refusal(self) -> str:
        """Why the custom case cannot be checked."""
        return self._built[1]

    @property
    def job(self) -> Snapshot[CheckProgress] | None:
        return self.now.jobs.get("checks")

    @property
    def working(self) -> bool:
        return self.job is not None and self.job.working

    def identity(self, cell: Cell) -> Identity:
        """What the results of this cell are stored under."""
        return identity(cell, self.settings)

    def found(self, cell: Cell) -> Cell | None:
        """The cell with its results so far; None if it was not checked with these settings."""
        return self.now.checked.get(self.identity(cell))

    @cached_property
    def results(self) -> list[Cell]:
        """The cells that were checked with these settings, to the end or in part."""
        return [found for cell in self.cells if (found := self.found(cell)) is not None]

    @property
    def done(self) -> list[Cell]:
        """The cells that have a verdict."""
        return [cell for cell in self.results if cell.verdict is not None]

    @cached_property
    def chosen(self) -> Cell:
        """The cell whose findings are shown: the chosen cell, or the default if there is no such cell."""
        by_key = {cell.key: cell for cell in self.cells}
        return by_key.get(self.settings.cell) or by_key[CheckSettings.cell]

    def left(self, cells: list[Cell]) -> list[Cell]:
        """The cells whose checks are not complete."""
        return [cell for cell in cells if not (found := self.found(cell)) or not found.finished]

    # ------------------------------------------------------------------------------------------------ the view

    def view(self) -> View:
        """What the page shows at this moment."""
        return self._contest() if self.settings.view == "contest" else self._matrix_of_verdicts()

    def _contest(self) -> View:
        now = contest.ViewState(self.settings, self.now)
        return View(
            parts={"files": self._files(), **now.parts()},
            charts=[*self._charts_of_sidebar(), *now.charts()],
            layout=now.layout,
            busy=now.working,
            live=now.working,
        )

    def _matrix_of_verdicts(self) -> View:
        chosen = self.found(self.chosen)
        known = len(chosen.findings) if chosen else 0
        alive = self.job.alive if self.job else False
        return View(
            parts={
                "status": self._status(), "origin": lines([Line(f"Verdicts with {self._strictness}.", tone="note")]),
                "remarks": self._remarks(), "matrix": self._matrix(), "why": self._why(),
                "findings": self._findings(chosen), "files": self._files(),
            },
            charts=[
                *self._charts_of_sidebar(),
                *self._charts(),
            ],
            layout=(self.working, alive, self.chosen.key, known, len(self.done), len(self.left(self.cells))),
            busy=alive,
            live=self.working,
        )  # fmt: skip

    def _status(self) -> dict[str, Any]:
        job = self.job
        if job is None:
            return status(f"Nothing is checked yet. Press Run all to check {len(self.cells)} cells, or click a cell.")
        return status(self._status_line(job), job.result.share if job.working else None)

    def _status_line(self, job: Snapshot[CheckProgress]) -> str:
        progress, present = job.result, {self.identity(cell) for cell in self.cells}
        count = f"{sum(cell.finished for cell in self.results)} of {len(self.cells)} cells have a verdict"
        if not job.working:
            return f"{'Finished' if progress.finished else 'Stopped'}: with these settings {count}."
        left = f", about {progress.seconds_left:.0f} s left" if progress.seconds_left is not None else ""
        cell = self.now.checked.get(progress.current[0]) if progress.current else None
        running = ""
        if cell is not None and progress.current is not None:
            running = f": {progress.current[1]} of {sampler_title(cell.sampler)} on {cell.case.title}"
        earlier = "" if present & set(progress.identities) else " With earlier settings:"
        return f"{count}.{earlier} Check {progress.done + 1} of {progress.total}{running}{left}."

    def _remarks(self) -> list[dict[str, Any]]:
        problem = self.job.problem if self.job else ""
        found = [Remark(problem, "error")] if problem else []
        if self.now.checked and not self.results:
            found.append(Remark(OTHER_VERDICTS, "info"))
        return remarks(found)

    def _matrix(self) -> dict[str, Any]:
        columns = list(dict.fromkeys((cell.case.name, cell.case.title) for cell in self.cells))
        rows = []
        for name in sampler_rows():
            row = {cell.case.name: cell for cell in self.cells if cell.sampler == name}
            ours = name in EVERY_SAMPLER
            none = squares.NO_DISCRETE if ours else squares.OTHER_STATES
            made = [self._square(row[case]) if case in row else none for case, _ in columns]
            note = "yours" if not ours else "wrong on purpose" if EVERY_SAMPLER[name].wrong else ""
            title = sampler_title(name)
            rows.append({"name": name, "title": title, "note": note, "squares": [s._asdict() for s in made]})
        return {
            "columns": [{"name": name, "title": title} for name, title in columns],
            "lines": rows, "chosen": list(self.chosen.key), "canRun": not self.working and not self.settings.unusable,
        }  # fmt: skip

    def _square(self, cell: Cell) -> squares.Square:
        """A cell as the matrix shows it now."""
        found, key, job = self.found(cell), self.identity(cell), self.job
        planned = job is not None and job.working and key in job.result.identities
        current = job.result.current if job is not None and planned else None
        running = current[1] if current and current[0] == key else ""
        return squares.of(found, running, planned)

    def _files(self) -> list[dict[str, str]]:
        """The report, if there are verdicts."""
        text = "Verdicts, findings, settings and charts in one file. It opens in any browser, without a network."
        found = {
            "label": "Report",
            "name": report_name(self.settings),
            "help": text,
            "href": _report_href(self.settings, self.now),
        }
        return [found] if self.done else []

    def _why(self) -> list[dict[str, Any]]:
        """Explain what is wrong with the samplers that got the verdict wrong."""
        said = []
        for name, sampler in WRONG_SAMPLERS.items():
            row = [cell for cell in self.results if cell.sampler == name]
            passed = [cell.case.title for cell in row if cell.verdict is Verdict.RIGHT]
            unseen = f" On {' and '.join(passed)} the error is too small for the checks." if passed else ""
            if any(cell.verdict is Verdict.WRONG for cell in row):
                said.append(Line(f"is wrong. {sampler.wrong}{unseen}", tone="bad", lead=f"✕ {sampler.title}"))
        return lines(said)

    @property
    def _strictness(self) -> str:
        """Budget, false alarms and seed, in words."""
        settings = self.settings
        level = figures.digits(settings.level, 2)
        return f"budget {settings.budget:g} · false alarms {level} at most · seed {settings.seed}"

    # ------------------------------------------------------------------------------------------- a closer look

    @property
    def origin(self) -> str:
        """Sampler, target and strictness of the chosen cell, in words."""
        cell = self.chosen
        target = cell.case.title if cell.case.name != CUSTOM else origin.of_target(cell.target)
        ours = cell.sampler in EVERY_SAMPLER
        chosen = in_symbols(RunSpec.of(cell.target, cell.sampler, **cell.chosen)) if ours else ""
        of = f"{sampler_title(cell.sampler)} on {target}"
        return " · ".join(filter(None, [of, chosen, self._strictness]))

    def _findings(self, cell: Cell | None) -> list[dict[str, Any]]:
        if cell is None:
            return []
        found = [*cell.findings.values(), *([self.agreement] if self.kind == AGREEMENT and self.agreement else [])]
        return lines([squares.sentence(finding) for finding in found])

    @property
    def kinds(self) -> list[str]:
        """What of the chosen cell can be looked at: its checks, and the agreement of samplers without exact draws."""
        cell = self.found(self.chosen)
        if cell is None:
            return []
        return [*cell.findings, *([AGREEMENT] if self.agreement is not None and cell.findings else [])]

    @property
    def kind(self) -> str:
        """The check that is shown, or the agreement."""
        return self.settings.check_shown if self.settings.check_shown in self.kinds else next(iter(self.kinds), "")

    @property
    def finding(self) -> Finding | None:
        """The finding that is shown."""
        cell = self.found(self.chosen)
        if self.kind == AGREEMENT:
            return self.agreement
        return cell.findings.get(self.kind) if cell else None

    @cached_property
    def agreement(self) -> Finding | None:
        """Whether the right samplers agree on the chosen cell's case, where there are no exact draws."""
        if self.chosen.target.truth.exact is not None:
            return None
        cells = self._on_the_same_case()
        identities = tuple(self.identity(cell) for cell in cells)
        return exhibits.agreement(exhibits.Checked(identities, tuple(cells), self.settings.strictness))

    def _on_the_same_case(self) -> list[Cell]:
        """The cells with draws in the column of the chosen cell."""
        return [cell for cell in self.results if cell.case.name == self.chosen.case.name and cell.run is not None]

    @property
    def quantity(self) -> str:
        """The quantity whose marginal distribution is shown."""
        cell = self.found(self.chosen)
        assert cell is not None
        return (
            self.settings.quantity if self.settings.quantity in exhibits.quantities(cell) else exhibits.foremost(cell)
        )

    def _charts_of_sidebar(self) -> Iterator[ChartRequest]:
        if self.settings.custom:
            yield from beads.requests(self.settings.choices, 0)

    def _charts(self) -> Iterator[ChartRequest]:
        cell, kind = self.found(self.chosen), self.kind
        if cell is None or not kind:
            return
        compared = tuple(self.identity(other) for other in self._on_the_same_case()) if kind == AGREEMENT else ()
        mark = (*self.identity(cell), kind, self.finding.rounds if self.finding else 0, compared)
        if kind == "marginals":
            yield from self._marginals(cell, mark)
            return
        for place, title, make in exhibits.pictures(cell, kind, self.finding):
            yield ChartRequest(place, mark, 1, make, title, origin=self.origin, stem=self._stem)

    def _marginals(self, cell: Cell, mark: Identity) -> Iterator[ChartRequest]:
        name = self.quantity
        about = (*mark, name)
        if name:
            title = "Histogram against the truth"
            make = partial(exhibits.histogram, cell, name)
            yield ChartRequest("histogram", about, 1, make, title, origin=self.origin, stem=f"{self._stem}-{name}")
        if name and exhibits.has_ecdf(cell, name):
            title = "Distribution function minus the true one"
            make = partial(exhibits.ecdf, cell, name)
            yield ChartRequest("ecdf", about, 1, make, title, origin=self.origin, stem=f"{self._stem}-{name}")
        title = "Differences from the truth in Monte Carlo errors"
        make = partial(exhibits.z_scores, cell)
        yield ChartRequest("z", mark, 1, make, title, HEIGHT + 120, self.origin, stem=self._stem)

    @property
    def _stem(self) -> str:
        """The beginning of the names of the files of the chosen cell's charts."""
        return f"{self.chosen.case.name}-{self.chosen.sampler}-seed{self.settings.seed}"

    def comparisons(self) -> pd.DataFrame | None:
        """Every comparison of the finding that is looked at, smallest corrected p-value first."""
        return exhibits.comparisons(self.finding) if self.finding is not None else None


def report_name(settings: CheckSettings) -> str:
    """The name of the report's file."""
    return f"checks-budget{settings.budget:g}-seed{settings.seed}.html"


def report_mark(settings: CheckSettings) -> str:
    """The settings as a part of the report's address. So the address determines the report."""
    return base64.urlsafe_b64encode(link.text(settings).encode()).decode().rstrip("=") or "-"


def _report_href(settings: CheckSettings, now: TabSnapshot) -> str:
    return f"{now.address}/checks/files/{report_mark(settings)}/{REPORT}"
