"""The view of Compare: progress, ratios in words, bars, the table, and the draws of all samplers side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from dashboard import figures
from dashboard.figures import Chart
from dashboard.settings import link
from dashboard.settings.choices import in_symbols
from dashboard.settings.compare import SAME_MEAN, CompareSettings, second_label
from dashboard.views import origin, side_by_side, words
from dashboard.views.view import ChartRequest, Line, Remark, Tile, View, lines, remarks, status, table
from dashboard.work import files
from dashboard.work.comparisons import CompareResult
from dashboard.work.files import File, text_file
from dashboard.work.job import Snapshot
from dashboard.work.tab import TabSnapshot
from mahmc import Comparison, InvalidInput, tables
from mahmc.compare import COSTS, WORST, Interval

FORMS = {"csv": ("CSV", "csv", "text/csv"), "markdown": ("Markdown", "md", "text/markdown"),
         "latex": ("LaTeX", "tex", "application/x-tex")}  # fmt: skip
UNITS = {"leapfrogs": "leapfrog", "gradients": "gradient", "updates": "gradient or update", "seconds": "second"}
INTERVALS = (
    "Bars are means over replicates. Intervals are 95 %, by the bootstrap over replicates (Student's t for fewer than "
    "six replicates). Ratios are taken within replicates."
)
ONLY_SHOWN = ("cost", "quantity")  # entries that change what is shown, not what is compared


@dataclass(frozen=True)
class ViewState:
    """The comparison that is shown under these settings."""

    settings: CompareSettings
    now: TabSnapshot

    @property
    def job(self) -> Snapshot[CompareResult] | None:
        return self.now.jobs.get("compare")

    @property
    def found(self) -> Comparison | None:
        """The comparison, once at least one sampler has an interval."""
        found = self.job.result.found if self.job else None
        return found if found is not None and found.done else None

    @property
    def stale(self) -> bool:
        """Whether the results belong to earlier settings."""
        return self.job is not None and _compared(self.job.result.settings) != _compared(self.settings)

    @property
    def quantity(self) -> str | None:
        """The quantity whose effective sample sizes are shown; None for the main quantity."""
        known = self.job.result.found.quantities if self.job else ()
        return self.settings.quantity if self.settings.quantity in known else None

    @property
    def about(self) -> dict[str, Any]:
        """Quantity and cost, as the engine takes them."""
        return {"cost": self.settings.cost, "quantity": self.quantity}

    @cached_property
    def rows(self) -> list[dict[str, object]]:
        """The rows of the table, computed once for bars and table."""
        return list(tables.rows(self.found, **self.about)) if self.found is not None else []

    @property
    def at_rest(self) -> bool:
        return self.job is not None and not self.job.alive and self.found is not None

    @property
    def resumable(self) -> bool:
        """Whether the comparison was stopped, and its settings are still the present ones."""
        job = self.job
        return job is not None and not (job.alive or job.problem or job.result.found.finished or self.stale)

    @property
    def origin(self) -> str:
        """The settings of the comparison that is shown, in words."""
        return origin.of_comparison(self.job.result.found) if self.job else ""

    @property
    def measure(self) -> str:
        """What is compared: "ESS of u per leapfrog"."""
        assert self.job is not None
        quantity = self.quantity or self.job.result.found.quantities[0]
        shown = "the worst quantity" if quantity == WORST else figures.plain(quantity)
        return f"ESS of {shown} per {UNITS[self.settings.cost]}"

    # ------------------------------------------------------------------------------------------------ the view

    def view(self) -> View:
        """What the page shows at this moment."""
        job = self.job
        parts: dict[str, Any] = {"status": self._status(), "remarks": self._remarks()}
        if self.found is not None:
            parts |= {"headlines": self._headlines(self.found), "table": self._table()}
            parts |= {"files": self._files()} if self.at_rest else {}
            parts |= {"accuracy": self._score(self.found)} if self.at_rest else {}
        state = (job.number, job.alive, self.found is not None, bool(job.problem)) if job else ()
        return View(
            parts=parts,
            charts=list(self._charts()),
            layout=(state, self.resumable, job.result.found.quantities if job else ()),
            busy=job is not None and job.alive,
            live=job is not None and job.alive,
            faded=self.stale,
        )

    def _status(self) -> dict[str, Any]:
        if self.job is None:
            text = "All samplers get the same number of leapfrogs, in several replicates. Press Run."
            awaited = [Tile(tables.titled(name), "–", "Press Run to see this number.") for name in self.settings.able()]
            return status(text, tiles=awaited)  # they keep the room of the tiles to come
        job, result = self.job, self.job.result
        return status(_status_line(job), result.share, self._by_sampler(result.found))

    def _by_sampler(self, found: Comparison) -> list[Tile]:
        """The progress of each sampler."""
        text = "Finished replicates, of all. Intervals need two replicates."
        done = {tables.titled(label): entry.replicates for label, entry in found.entries.items()}
        return [Tile(title, f"{count} / {found.replicates}", text) for title, count in done.items()]

    def _remarks(self) -> list[dict[str, Any]]:
        found = [Remark(self.job.problem, "error")] if self.job is not None and self.job.problem else []
        if self.stale:
            found.append(Remark(words.EARLIER, "info"))
        return remarks(found)

    def _headlines(self, found: Comparison) -> list[dict[str, Any]]:
        of_paper = found.target.presentation.paper.second
        second = [second_label(of_paper)] if of_paper else []
        wanted = [("mahmc", SAME_MEAN), *((label, other) for label in (*second, "mahmc") for other in tables.AGAINST)]
        pairs = [pair for pair in wanted if set(pair) <= found.done.keys()]
        said = [tables.headline(found, label, other, **self.about) for label, other in pairs]
        of = Line(f"{self.measure} · {self.origin}", tone="note")
        return lines([*(Line(text, strong=i == 0) for i, text in enumerate(said)), of])

    def _table(self) -> dict[str, Any]:
        """The table with ratios first. The caption names the target, so no column does."""
        last = ("settings", "target")
        names = [name for name in self.rows[0] if name.startswith("times")]
        names = ["sampler", *names, *(name for name in self.rows[0] if name not in ("sampler", *names, *last)), last[0]]
        rows = [row | self._in_words(str(row["sampler"])) for row in self.rows]
        columns = [_column(name).replace("times ", "times\u00a0") for name in names]
        return table(columns, [[_cell(row[name]) for name in names] for row in rows], f"{self.measure} · {self.origin}")

    def _in_words(self, label: str) -> dict[str, str]:
        """A sampler's title and its settings, for a row of the table."""
        assert self.found is not None
        return {"sampler": tables.titled(label), "settings": in_symbols(self.found.entries[label].spec)}

    def _files(self) -> list[dict[str, str]]:
        assert self.job is not None
        mark = f"{self.job.number}.{self.settings.cost}.{self.quantity or ''}"
        address = f"{self.now.address}/compare/files/{mark}"
        return [{"label": f.label, "name": f.name, "help": f.help, "href": f"{address}/{f.name}"}
                for f in _files(self.job.result.found, self.settings.cost, self.quantity)]  # fmt: skip

    # -------------------------------------------------------------------------------------------------- charts

    def _charts(self) -> Iterator[ChartRequest]:
        if self.found is None or self.job is None:
            return
        done = sum(entry.replicates for entry in self.found.done.values())
        mark = (self.job.number, self.settings.cost, self.quantity, len(self.found.done))
        height = 90 + 38 * max(len(self.rows), 3)
        stem = _stem(self.found, self.settings.cost, self.quantity)
        yield ChartRequest("bars", mark, done, self._bars, self.measure, height, self.origin, stem=stem)
        if self.at_rest:
            yield from self._multiples(self.found, (self.job.number,), done)

    def _bars(self) -> Chart:
        assert self.found is not None
        rows, paper = [], {}
        for row in self.rows:
            label, ours = str(row["sampler"]), row["ours"]
            assert isinstance(ours, Interval)
            rows.append((tables.titled(label), self.found.entries[label].spec.sampler, ours.value, ours.low, ours.high))
            paper[tables.titled(label)] = row["paper"] if isinstance(row["paper"], float) else None
        chart = figures.ess_bars(rows, paper, f"ESS per {UNITS[self.settings.cost]}")
        return chart._replace(caption=f"{chart.caption} {INTERVALS}")

    def _multiples(self, found: Comparison, mark: tuple[Any, ...], size: int) -> Iterator[ChartRequest]:
        """One histogram and one trace for each sampler, on the same axes; means of coefficients against the truth."""
        if side_by_side.coefficients(found):
            make, stem = partial(side_by_side.agreement, found), f"{found.target.name}-seed{found.seed}"
            yield ChartRequest("agreement", mark, size, make, "", 340, self.origin, stem=stem)
        charts = side_by_side.SameAxes(found)
        for kind, chart in (("histogram", charts.histogram), ("trace", charts.trace)):
            for label, run in side_by_side.first_runs(found).items():
                title, of = tables.titled(label), origin.of_entry(found, label)
                stem = files.stem(run.spec, charts.name)
                yield ChartRequest(f"{kind}.{label}", mark, size, chart(label), title, 240, of, stem=stem)

    def _score(self, found: Comparison) -> list[dict[str, Any]]:
        """How well the draws of each sampler do what the target is used for, where there is a number for that."""
        score = found.target.presentation.score
        if score is None:
            return []
        runs = side_by_side.first_runs(found)
        found_by = {tables.titled(label): words.percent(score.of(run.draws), 2) for label, run in runs.items()}
        shares = ", ".join(f"{title} {share}" for title, share in found_by.items())
        paper = "" if math.isnan(score.paper) else f" The paper has {100 * score.paper:.4g} %."
        return lines([Line(f"{score.what.capitalize()} by a vote of the draws: {shares}.{paper}")])


def _compared(settings: CompareSettings) -> dict[str, str]:
    """The part of the link that says what is compared."""
    return {name: text for name, text in link.write(settings).items() if name not in ONLY_SHOWN}


def problem(settings: CompareSettings, now: TabSnapshot) -> str:
    """Why these settings cannot be compared; "" if they can."""
    try:
        settings.comparison(now.uploads)
    except InvalidInput as refusal:
        return f"This cannot be compared: {refusal}"
    return ""


def _status_line(job: Snapshot[CompareResult]) -> str:
    found, step = job.result.found, job.result.step
    size = f"{found.budget:,} leapfrogs in each replicate"
    if found.finished:
        kept = " This result was kept: the same settings and seed give the same numbers." if step is None else ""
        return f"Finished: {found.replicates} replicates of {len(found.entries)} samplers, {size}.{kept}"
    if not job.alive:
        return f"Stopped after {step.done if step else 0} of {found.total} runs. The results so far are below."
    if step is None:
        return f"Starting: {found.total} runs, {size}."
    last, left = tables.titled(step.label), step.seconds_left
    return f"{step.done} of {found.total} runs are done, {last} last; about {left:.0f} s left."


def _column(name: str) -> str:
    """The title of a column: "times MALA-PN" for times mala-pn."""
    first, space, other = name.partition(" ")
    return f"times {tables.titled(other)}" if first == "times" and space else name


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# ----------------------------------------------------------------------------------------------------- files


def _stem(found: Comparison, cost: str, quantity: str | None) -> str:
    """The beginning of the names of the files of a comparison."""
    return f"{found.target.name}-{(quantity or found.quantities[0]).replace(' ', '-')}-per-{cost}-seed{found.seed}"


def _files(found: Comparison, cost: str, quantity: str | None) -> list[File]:
    """The table in several forms."""
    about: dict[str, Any] = {"cost": cost, "quantity": quantity}
    stem = _stem(found, cost, quantity)
    help = "The table, with intervals"
    return [
        text_file(f"{stem}.{ending}", label, help, partial(tables.table, [found], form, **about), media)
        for form, (label, ending, media) in FORMS.items()
    ]


def file(now: TabSnapshot, mark: str, name: str) -> File | None:
    """The file of this name. Its mark contains the job's number, the cost and the quantity."""
    number, _, rest = mark.partition(".")
    cost, _, quantity = rest.partition(".")
    for job in (now.jobs.get("compare"), now.earlier.get("compare")):
        if job is not None and str(job.number) == number and cost in COSTS and job.result.found.done:
            found = job.result.found
            chosen = quantity if quantity in (*found.quantities, WORST) else None
            return next((f for f in _files(found, cost, chosen) if f.name == name), None)
    return None
