"""What Checks shows: the matrix of verdicts, and a closer look at one of its cells."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from dashboard.settings import link
from dashboard.settings.checks import AGREEMENT, CheckSettings, sampler_title
from dashboard.settings.checks import rows as sampler_rows
from dashboard.views import beads, contest, exhibits
from dashboard.views.view import HEIGHT, ChartRequest, Line, Remark, View, lines, remarks, status
from dashboard.work.checks import CheckProgress, Identity, identity
from dashboard.work.job import Snapshot
from dashboard.work.tab import Now
from mahmc.checks import Cell, Finding, Verdict
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS

REPORT = "checks.html"
SYMBOLS = {Verdict.RIGHT: "✓", Verdict.WRONG: "✕", Verdict.UNCLEAR: "?"}
WORDS = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "not enough"}
STATES = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "unclear"}
TONES = {Verdict.RIGHT: "good", Verdict.WRONG: "bad", Verdict.UNCLEAR: "unclear"}


class Square(NamedTuple):
    """One cell as it is shown: a colour by state, a symbol, a word, and what is under way or found it."""

    state: str  # "right", "wrong", "unclear", "running", "waiting", "open", or "none" where there is nothing to check
    symbol: str
    word: str
    detail: str = ""
    help: str = ""


NOT_MEANT = Square("none", "", "no", "other quantities", "This sampler does not take the states of this target.")
NO_SQUARE = Square("none", "", "no", "discrete part", "It visits discrete variables, and this target has none.")


@dataclass(frozen=True)
class Shown:
    """The matrix under these settings, with what was found of its cells."""

    settings: CheckSettings
    now: Now

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

    def mark(self, cell: Cell) -> Identity:
        return identity(cell, self.settings)

    def found(self, cell: Cell) -> Cell | None:
        """The cell with its results, if there are any or they are on their way."""
        return self.now.checked.get(self.mark(cell))

    @cached_property
    def results(self) -> list[Cell]:
        """The cells that have results, or will."""
        return [found for cell in self.cells if (found := self.found(cell)) is not None]

    @property
    def done(self) -> list[Cell]:
        """The cells that have their verdict."""
        return [cell for cell in self.results if cell.verdict is not None]

    @cached_property
    def chosen(self) -> Cell:
        """The cell that is looked at closely; the first one where the chosen one is not there."""
        by_key = {cell.key: cell for cell in self.cells}
        return by_key.get(self.settings.cell) or by_key[CheckSettings.cell]

    def left(self, cells: list[Cell]) -> list[Cell]:
        """Those of the cells that are not checked to the end."""
        return [cell for cell in cells if not (found := self.found(cell)) or not found.finished]

    # ------------------------------------------------------------------------------------------------ the view

    def view(self) -> View:
        """What the page shows at this moment."""
        look = self.found(self.chosen)
        known = len(look.findings) if look else 0
        of_contest = contest.Shown(self.settings, self.now)
        alive = self.working or of_contest.working
        ended = self.job.alive if self.job else False
        return View(
            parts={
                "status": self._status(), "remarks": self._remarks(), "matrix": self._matrix(), "why": self._why(),
                "findings": self._findings(look), "files": self._files(), **of_contest.parts(),
            },
            charts=[*self._charts(), *of_contest.charts()],
            layout=(self.working, ended, self.chosen.key, known, len(self.done), len(self.left(self.cells)),
                    of_contest.layout),
            busy=alive or ended,
            live=alive,
        )  # fmt: skip

    def _status(self) -> dict[str, Any]:
        job = self.job
        if job is None:
            return status(f"Nothing is checked yet: {len(self.cells)} cells wait for Run all, or click one.")
        return status(self._status_line(job), job.result.share if job.working else None)

    def _status_line(self, job: Snapshot[CheckProgress]) -> str:
        work, mine = job.result, {self.mark(cell) for cell in self.cells}
        count = f"{sum(cell.finished for cell in self.results)} of {len(self.cells)} cells have their verdict"
        if not job.working:
            return f"{'Finished' if work.finished else 'Stopped'}: with these settings {count}."
        left = f", about {work.seconds_left:.0f} s left" if work.seconds_left is not None else ""
        now = self.now.checked.get(work.current[0]) if work.current else None
        under_way = ""
        if now is not None and work.current is not None:
            under_way = f": {work.current[1]} of {sampler_title(now.sampler)} on {now.case.title}"
        others = "" if mine & set(work.marks) else " With earlier settings:"
        return f"{count}.{others} Check {work.done + 1} of {work.total}{under_way}{left}."

    def _remarks(self) -> list[dict[str, Any]]:
        problem = self.job.problem if self.job else ""
        return remarks([Remark(problem, "error")] if problem else [])

    def _matrix(self) -> dict[str, Any]:
        columns = list(dict.fromkeys((cell.case.name, cell.case.title) for cell in self.cells))
        rows = []
        for name in sampler_rows():
            row = {cell.case.name: cell for cell in self.cells if cell.sampler == name}
            ours = name in EVERY_SAMPLER
            none = NO_SQUARE if ours else NOT_MEANT
            squares = [self._square(row[case]) if case in row else none for case, _ in columns]
            note = "yours" if not ours else "wrong on purpose" if EVERY_SAMPLER[name].wrong else ""
            title = sampler_title(name)
            rows.append({"name": name, "title": title, "note": note, "squares": [s._asdict() for s in squares]})
        return {
            "columns": [{"name": name, "title": title} for name, title in columns],
            "lines": rows, "chosen": list(self.chosen.key), "canRun": not self.working,
        }  # fmt: skip

    def _square(self, cell: Cell) -> Square:
        """One cell as it stands."""
        found, mark, job = self.found(cell), self.mark(cell), self.job
        mine = job is not None and job.working and mark in job.result.marks
        now = job.result.current if job is not None and mine else None
        under_way = now[1] if now and now[0] == mark else ""
        if found is not None and (verdict := found.verdict) is not None:
            by = next((name for name, finding in found.findings.items() if finding.wrong), "")
            help = {Verdict.WRONG: f"Found by {by}.", Verdict.RIGHT: "No check objected.",
                    Verdict.UNCLEAR: "Errors that matter could still hide: raise the budget."}[verdict]  # fmt: skip
            return Square(STATES[verdict], SYMBOLS[verdict], WORDS[verdict], under_way or by, help)
        if under_way:
            return Square("running", "◌", "running", under_way)
        if mine:
            return Square("waiting", "·", "waiting")
        if found is not None and found.findings:
            return Square("open", "–", "stopped", f"{len(found.findings)} of {len(found.checks)} checks")
        return Square("open", "–", "not run")

    def _files(self) -> list[dict[str, str]]:
        """The report, once there are verdicts."""
        text = "Verdicts, words, settings and charts in one file that opens in any browser, without a network."
        found = {"label": "Report", "name": REPORT, "help": text, "href": _report_href(self.settings, self.now)}
        return [found] if self.done else []

    def _why(self) -> list[dict[str, Any]]:
        """What is wrong with the samplers that were found to be."""
        said = []
        for name, sampler in WRONG_SAMPLERS.items():
            row = [cell for cell in self.results if cell.sampler == name]
            passed = [cell.case.title for cell in row if cell.verdict is Verdict.RIGHT]
            unseen = f" On {' and '.join(passed)} the error is smaller than its checks can see." if passed else ""
            if any(cell.verdict is Verdict.WRONG for cell in row):
                said.append(Line(f"is wrong. {sampler.wrong}{unseen}", tone="bad", lead=f"✕ {sampler.title}"))
        return lines(said)

    # ------------------------------------------------------------------------------------------- a closer look

    def _findings(self, cell: Cell | None) -> list[dict[str, Any]]:
        if cell is None:
            return []
        found = [*cell.findings.values(), *([self.agreement] if self.kind == AGREEMENT and self.agreement else [])]
        return lines([sentence(finding) for finding in found])

    @property
    def kinds(self) -> list[str]:
        """What of the chosen cell can be looked at: its checks, and of BLR's posterior the agreement of samplers."""
        cell = self.found(self.chosen)
        if cell is None:
            return []
        return [*cell.findings, *([AGREEMENT] if self.agreement is not None and cell.findings else [])]

    @property
    def kind(self) -> str:
        """What is looked at."""
        return self.settings.check_shown if self.settings.check_shown in self.kinds else next(iter(self.kinds), "")

    @property
    def finding(self) -> Finding | None:
        """The finding that is looked at."""
        cell = self.found(self.chosen)
        if self.kind == AGREEMENT:
            return self.agreement
        return cell.findings.get(self.kind) if cell else None

    @cached_property
    def agreement(self) -> Finding | None:
        """Whether the right samplers agree on the posterior of the chosen cell's case, where a check of it exists."""
        if self.chosen.case.name != "blr":
            return None
        mine = self._on_the_same_case()
        marks = tuple(self.mark(cell) for cell in mine)
        return exhibits.agreement(exhibits.Checked(marks, tuple(mine), self.settings.strictness))

    def _on_the_same_case(self) -> list[Cell]:
        """The cells of the chosen one's column that have draws."""
        return [cell for cell in self.results if cell.case.name == self.chosen.case.name and cell.run is not None]

    @property
    def quantity(self) -> str:
        """The quantity of marginals that is shown."""
        cell = self.found(self.chosen)
        assert cell is not None
        return (
            self.settings.quantity if self.settings.quantity in exhibits.quantities(cell) else exhibits.foremost(cell)
        )

    def _charts(self) -> Iterator[ChartRequest]:
        if self.settings.custom:
            yield from beads.requests(self.settings.choices, 0)
        cell, kind = self.found(self.chosen), self.kind
        if cell is None or not kind:
            return
        compared = tuple(self.mark(other) for other in self._on_the_same_case()) if kind == AGREEMENT else ()
        mark = (*self.mark(cell), kind, self.finding.rounds if self.finding else 0, compared)
        if kind == "marginals":
            yield from self._marginals(cell, mark)
            return
        for place, title, make in exhibits.pictures(cell, kind, self.finding):
            yield ChartRequest(place, mark, 1, make, title)

    def _marginals(self, cell: Cell, mark: Identity) -> Iterator[ChartRequest]:
        name = self.quantity
        about = (*mark, name)
        if name:
            title = "Histogram against the truth"
            yield ChartRequest("histogram", about, 1, lambda: exhibits.histogram(cell, name), title)
        if name and exhibits.has_ecdf(cell, name):
            title = "Distribution function minus the true one"
            yield ChartRequest("ecdf", about, 1, lambda: exhibits.ecdf(cell, name), title)
        title = "Differences from the truth in Monte Carlo errors"
        yield ChartRequest("z", mark, 1, lambda: exhibits.z_scores(cell), title, HEIGHT + 120)

    def comparisons(self) -> pd.DataFrame | None:
        """Every comparison of the finding that is looked at, smallest corrected p-value first."""
        finding = self.finding
        if finding is None or not finding.comparisons:
            return None
        frame = pd.DataFrame(finding.comparisons).drop(columns="family")
        frame = frame.rename(columns={"what": "compared", "p_value": "p-value"})
        frame.insert(2, "corrected", finding.corrected)
        if frame["estimate"].notna().any():
            frame["z-score"] = [c.z for c in finding.comparisons]
            return frame
        return frame.drop(columns=["estimate", "truth", "error"])


def sentence(finding: Finding) -> Line:
    """What a check says."""
    verdict = finding.verdict
    return Line(finding.words, tone=TONES[verdict], lead=f"{SYMBOLS[verdict]} {finding.check.capitalize()}")


def report_mark(settings: CheckSettings) -> str:
    """The settings as a part of an address: the report's address carries what the report is of."""
    return base64.urlsafe_b64encode(link.text(settings).encode()).decode().rstrip("=") or "-"


def _report_href(settings: CheckSettings, now: Now) -> str:
    return f"{now.address}/checks/files/{report_mark(settings)}/{REPORT}"
