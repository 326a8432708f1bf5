"""The parts of the Checks page: what is checked, verdicts as they come, and a closer look at one of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from scipy import stats

from dashboard import controls, figures, trajectory, uploading
from dashboard.comparing import distances
from dashboard.controls import Choices
from dashboard.figures import Chart
from dashboard.ledger import AGREEMENT, OWN, SETTINGS, Asked, Ledger
from dashboard.live_chart import LiveChart
from dashboard.live_status import live_status
from dashboard.markup import unmarked
from dashboard.session import Session
from dashboard.uploads import TARGET
from dashboard.verdict_matrix import Line, Square, verdict_matrix
from mahmc.checks import CHECKS, Cell, Finding, Verdict, joint, margins
from mahmc.checks.verdicts import POWER
from mahmc.samplers import EVERY_SAMPLER, WRONG_SAMPLERS

UPDATE_SECONDS = 0.5
SYMBOLS = {Verdict.RIGHT: "✓", Verdict.WRONG: "✕", Verdict.UNCLEAR: "?"}
WORDS = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "not enough"}
STATES = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "unclear"}
NO_SQUARE = Square("none", "", "no", "discrete part", "It visits discrete variables, and this target has none.")
COLOURS = {Verdict.RIGHT: "green", Verdict.WRONG: "red", Verdict.UNCLEAR: "orange"}


def ledger(tab: Session) -> Ledger:
    """This tab's ledger, at first as the link says that the page was opened with."""
    if tab.ledger is None:
        tab.ledger = Ledger(*Asked.of(st.query_params.to_dict()))
    return tab.ledger


# ---------------------------------------------------------------------------------------------------- controls


def sidebar(tab: Session, ledger: Ledger) -> tuple[list[Cell], str]:
    """All controls; the cells of the matrix, and why a case of one's own cannot be checked."""
    asked = ledger.asked
    with st.sidebar:
        for name in ("budget", "level"):
            controls.number(SETTINGS[name], asked.settings, SETTINGS[name].default, f"checks.{name}")
        controls.choose_seed(asked.settings, "checks.seed")
        controls.toggle(
            "Add a case of your own", asked, "with_own", "checks.own",
            help="A mixture with your components, MDC with another sd, BLR's prior: one more column of the matrix.",
        )  # fmt: skip
        if asked.with_own:
            controls.choose_target_and_sampler(asked.own)
            with controls.target_settings(asked.own, expanded=True):
                _own_data(tab, asked.own)
            with st.expander(f"Parameters of {EVERY_SAMPLER[asked.own.sampler].title}"):
                trajectory.choose(asked.own)
    cells, problem = asked.cells()
    if not any(cell.key == asked.cell for cell in cells):  # its column is gone
        asked.cell = Asked().cell
    for cell in cells:
        if cell.key == (asked.own.sampler, OWN):
            with st.sidebar:
                _run_button(tab, ledger, [cell], "Check it", "checks.run.own", primary=True)
    controls.write_link(asked.link())
    return cells, problem


def _own_data(tab: Session, own: Choices) -> None:
    """Which data, of BLR."""
    if own.target != TARGET:
        return
    key = f"checks.data.{len(tab.uploads)}"
    controls.fill(key, own.data.fingerprint if own.data else "")
    own.data = tab.uploads.get(uploading.choose_known(tab.uploads, key))
    if own.data is not None and not own.built().truths:
        st.caption(uploading.NO_TRUTH)


def heading(tab: Session, ledger: Ledger, cells: list[Cell]) -> None:
    """The title with the one button that matters now, and what the page answers."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title("Checks", width="content")
        if tab.checks is not None and tab.checks.working:
            st.button("Stop", icon=":material/stop:", on_click=tab.checks.stop, help="Verdicts that are in stay")
        else:
            _run_button(tab, ledger, cells, "Run all", "checks.run.all", primary=True)
    st.markdown(
        "Does a sampler draw from the distribution it is meant to draw from? Each cell puts one sampler on one target "
        "with a known truth to the test; the last two samplers are wrong on purpose, and turn red where it shows."
    )


def _run_button(
    tab: Session, ledger: Ledger, cells: list[Cell], label: str, key: str, primary: bool = False
) -> None:  # fmt: skip
    """A button that checks these cells; what of them is done is not done again."""
    left = [cell for cell in cells if not (found := ledger.found(cell)) or not found.finished]
    alive = tab.checks is not None and tab.checks.working
    done = "All of it is checked with these settings: take another seed for fresh draws." if not left else None
    st.button(
        label, key=key, icon=":material/play_arrow:", type="primary" if primary else "secondary", help=done,
        disabled=not left or alive, on_click=_run, args=(tab, ledger, cells),
    )  # fmt: skip


def _run(tab: Session, ledger: Ledger, cells: list[Cell]) -> None:
    ledger.link_problem = ""
    if len(cells) == 1:
        ledger.asked.cell = cells[0].key
    tab.check(ledger.checking(cells))


# -------------------------------------------------------------------------------------------------- as it runs


def live(tab: Session, ledger: Ledger, cells: list[Cell]) -> bool:
    """Progress and the matrix, refreshed by themselves while verdicts come in. Returns whether they do."""
    seen = _seen(tab, ledger, cells)
    st.fragment(_live, run_every=UPDATE_SECONDS if seen[0] else None)(tab, ledger, cells, seen)
    return seen[0]


def _seen(tab: Session, ledger: Ledger, cells: list[Cell]) -> tuple[bool, tuple[str, str], int]:
    """What the rest of the page hangs on: whether checks run, the cell looked at, and how much is known of it."""
    found = ledger.found(_chosen(ledger.asked, cells))
    alive = tab.checks is not None and tab.checks.working
    return alive, ledger.asked.cell, len(found.findings) if found else 0


def _chosen(asked: Asked, cells: list[Cell]) -> Cell:
    return next(cell for cell in cells if cell.key == asked.cell)


def _live(tab: Session, ledger: Ledger, cells: list[Cell], seen: Any) -> None:
    status, matrix, words = (st.container(key=f"checks.{part}") for part in ("status", "matrix", "words"))
    job, alive = tab.checks, seen[0]
    with status:
        if job is not None and job.problem:
            st.error(job.problem, icon=":material/error:")
        elif job is None:
            live_status(f"Nothing is checked yet: {len(cells)} cells wait for Run all, or click one.", None, [],
                        "checks.progress")  # fmt: skip
        else:
            live_status(_status_line(tab, ledger, cells), job.checking.share if job.working else None, [],
                        "checks.progress")  # fmt: skip
    with matrix:
        _matrix(tab, ledger, cells, alive)
    with words:
        _why(ledger, cells)
    if seen != _seen(tab, ledger, cells):
        st.rerun()


def _status_line(tab: Session, ledger: Ledger, cells: list[Cell]) -> str:
    job = tab.checks
    assert job is not None
    work, step = job.checking, job.step
    mine = [found for cell in cells if (found := ledger.found(cell))]
    count = f"{sum(cell.finished for cell in mine)} of {len(cells)} cells have their verdict"
    if not job.working:
        return f"{'Finished' if work.finished else 'Stopped'}: with these settings {count}."
    left = f", about {step.seconds_left:.0f} s left" if step else ""
    now = work.current
    under_way = f": {now[1]} of {EVERY_SAMPLER[now[0].sampler].title} on {now[0].case.title}" if now else ""
    others = "" if any(cell in mine for cell in work.cells.values()) else " Of the former settings:"
    return f"{count}.{others} Check {work.done + 1} of {work.total}{under_way}{left}."


def _matrix(tab: Session, ledger: Ledger, cells: list[Cell], alive: bool) -> None:
    columns = list(dict.fromkeys((cell.case.name, cell.case.title) for cell in cells))
    lines = []
    for sampler in EVERY_SAMPLER:
        method = EVERY_SAMPLER[sampler]
        row = {cell.case.name: cell for cell in cells if cell.sampler == sampler}
        squares = [_square(tab, ledger, row[name]) if name in row else NO_SQUARE for name, _ in columns]
        lines.append(Line(sampler, method.title, "wrong on purpose" if method.wrong else "", squares))

    def choose(sampler: str, column: str) -> None:
        if any(cell.key == (sampler, column) for cell in cells):
            ledger.asked.cell = sampler, column

    def run(sampler: str) -> None:
        row = [cell for cell in cells if cell.sampler == sampler]
        if row and not (tab.checks is not None and tab.checks.working):
            _run(tab, ledger, row)

    verdict_matrix(columns, lines, ledger.asked.cell, "checks.verdicts", choose, run, not alive)


def _square(tab: Session, ledger: Ledger, cell: Cell) -> Square:
    """One cell as it stands."""
    found, job = ledger.found(cell), tab.checks
    mine = job is not None and job.working and found is not None and job.checking.cells.get(found.key) is found
    now = job.checking.current if job and mine else None
    under_way = now[1] if now and now[0] is found else ""
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


def _why(ledger: Ledger, cells: list[Cell]) -> None:
    """What is wrong with those that were found to be."""
    for name, sampler in WRONG_SAMPLERS.items():
        row = [found for cell in cells if cell.sampler == name and (found := ledger.found(cell))]
        passed = [cell.case.title for cell in row if cell.verdict is Verdict.RIGHT]
        unseen = f" On {' and '.join(passed)} that does less than its checks would have seen." if passed else ""
        if any(cell.verdict is Verdict.WRONG for cell in row):
            st.markdown(f":red[**✕ {sampler.title}**] is wrong. {sampler.wrong}{unseen}")


def meaning(asked: Asked) -> None:
    """What a verdict says, and what it does not."""
    with st.expander("What a verdict means", icon=":material/help:"):
        st.markdown(
            f"- :red[**✕ wrong**]: a sampler that is right gets this by chance with probability {_level(asked)} at "
            "most, in each cell; that is divided among its checks and their many comparisons.\n"
            f"- :green[**✓ right**]: no check objected, and each would have caught, with probability {POWER:.0%}, "
            "errors of the size it states: *the smallest error that it would have caught*. Smaller ones may be there.\n"
            "- :orange[**? not enough draws to tell**]: no check objected, but errors that matter could have gone "
            "unseen. Raise the budget, or tune the sampler so that it mixes."
        )
        for name, text in CHECKS.items():
            st.markdown(f"- **{name.capitalize()}**: {text}.")


def _level(asked: Asked) -> str:
    return figures.digits(asked.settings["level"], 2)


# ------------------------------------------------------------------------------------------------- a closer look


def closer_look(tab: Session, ledger: Ledger, cells: list[Cell]) -> None:
    """The cell that was chosen: what its checks say, in words and pictures."""
    asked = ledger.asked
    cell = _chosen(asked, cells)
    sampler = EVERY_SAMPLER[cell.sampler]
    st.subheader(f"{sampler.label} on {cell.case.title}", anchor=False)
    with st.container(horizontal=True):
        _run_button(tab, ledger, [cell], "Check this cell", "checks.run.cell")
        row = [other for other in cells if other.sampler == cell.sampler]
        _run_button(tab, ledger, row, f"Check the row of {sampler.title}", "checks.run.row")
    found = ledger.found(cell)
    if found is None or not found.findings:
        st.info("No verdict with these settings yet. Check this cell, or click another.", icon=":material/touch_app:")
        return
    for finding in found.findings.values():
        st.markdown(_sentence(finding))
    _pictures(ledger, cells, found)


def _sentence(finding: Finding) -> str:
    verdict = finding.verdict
    return f":{COLOURS[verdict]}[**{SYMBOLS[verdict]} {finding.check.capitalize()}**] {unmarked(finding.words)}"


def _pictures(ledger: Ledger, cells: list[Cell], cell: Cell) -> None:
    kinds = list(cell.findings)
    agreement = _agreement(ledger, cells) if cell.case.name == "blr" else None
    if agreement is not None:
        kinds.append(AGREEMENT)
    check = controls.segmented("Look at", kinds, ledger.asked, "check", f"checks.check.{'.'.join(kinds)}")
    mark = (*ledger.identity(cell), check)
    if check == "marginals":
        _marginals(mark, cell)
    elif check == AGREEMENT and agreement is not None:
        _show_agreement(mark, cell, agreement)
    else:
        finding = cell.findings[check]
        _exhibit(mark, cell, finding)
        _table(finding)


def _exhibit(mark: tuple[Hashable, ...], cell: Cell, finding: Finding) -> None:
    """The picture of a check other than marginals, where it has one."""
    found = finding.exhibit
    if isinstance(found, joint.Ranks):
        _chart(mark, lambda: figures.rank_histogram(found.ranks, joint.RANKED, joint.BINS, cell.sampler), "ranks",
               "Ranks of true parameters")  # fmt: skip
    elif found is not None:
        _chart(mark, lambda: figures.flows(found.states, found.counts, cell.sampler), "flows",
               "Flows each way between discrete states")  # fmt: skip


def _marginals(mark: tuple[Hashable, ...], cell: Cell) -> None:
    finding = cell.findings["marginals"]
    names = quantities(cell)
    name = st.selectbox(
        "Quantity", names, names.index(foremost(cell)), key=f"checks.quantity.{cell.target.name}.{len(names)}",
        format_func=figures.plain, help="Whose distribution is shown.",
    )  # fmt: skip
    left, right = st.columns(2)
    with left:
        _chart((*mark, name), lambda: histogram(cell, name), "histogram", "Histogram against the truth")
        if has_ecdf(cell, name):
            _chart((*mark, name), lambda: ecdf(cell, name), "ecdf", "Distribution function minus the true one")
    with right:
        _chart(mark, lambda: z_scores(cell), "z", "Differences from the truth in Monte Carlo errors", height=440)
    _table(finding)


def quantities(cell: Cell) -> list[str]:
    """What was kept of marginals and has a known truth."""
    return [name for name in cell.findings["marginals"].exhibit.names if cell.target.truth(name)]


def foremost(cell: Cell) -> str:
    """The quantity to look at first: the paper's, or τ where that was not kept, or any."""
    names = quantities(cell)
    return next(name for name in (cell.target.paper_quantity, "tau", *names) if name in names)


def histogram(cell: Cell, name: str) -> Chart:
    """A quantity's draws against its truth, with the error band."""
    run, truth = cell.findings["marginals"].exhibit, cell.target.truths[name]
    draw = figures.mass if truth.discrete else figures.density
    return draw([(EVERY_SAMPLER[cell.sampler].title, cell.sampler, run.get(name))], truth, name)


def has_ecdf(cell: Cell, name: str) -> bool:
    truth = cell.target.truths[name]
    return truth.cdf is not None and not truth.discrete


def ecdf(cell: Cell, name: str) -> Chart:
    """The distribution function of thinned draws, minus the true one."""
    x = np.asarray(cell.findings["marginals"].exhibit.get(name), float)
    return figures.ecdf_difference(margins.thinned(x), cell.target.truths[name], name, cell.sampler)


def z_scores(cell: Cell) -> Chart:
    """All differences that have an error, and beyond which of them the first round calls a sampler wrong."""
    finding = cell.findings["marginals"]
    freedom = finding.exhibit.spec.chains - 1
    comparisons = max(1, len(finding.comparisons))
    critical = float(stats.t.isf(finding.level / margins.ROUNDS / comparisons / 2.0, freedom))
    return figures.z_bars([(c.what, c.z) for c in finding.comparisons], critical, cell.sampler)


def _table(finding: Finding) -> None:
    """Every comparison, smallest p-value first."""
    if not finding.comparisons:
        return
    frame = pd.DataFrame(finding.comparisons).rename(columns={"what": "compared", "p_value": "p-value"})
    frame.insert(2, "corrected", np.minimum(1.0, frame["p-value"] * len(frame)))
    if frame["estimate"].notna().any():
        frame["z-score"] = [c.z for c in finding.comparisons]
    else:
        frame = frame.drop(columns=["estimate", "truth", "error"])
    short = st.column_config.NumberColumn(format="%.3g")
    numbers = {name: short for name in frame.columns if name != "compared"}
    st.dataframe(frame, hide_index=True, column_config=numbers, height=min(38 + 35 * len(frame), 330), placeholder="")
    st.caption(
        f"All comparisons of round {finding.rounds}, smallest p-value first; “corrected” is times their number. This "
        f"check may give a false alarm with probability {figures.digits(finding.level, 2)}, over all its rounds."
    )


def _agreement(ledger: Ledger, cells: list[Cell]) -> Finding | None:
    """Of all samplers that have drawn from BLR's posterior; worked out once for those that have."""
    mine = [cell for cell in cells if cell.case.name == "blr"]
    done = tuple(ledger.identity(cell) for cell in mine if (found := ledger.found(cell)) and found.run)
    return _agreement_of(ledger, mine, done)


@st.cache_resource(show_spinner="Holding posterior means against each other …", max_entries=16)
def _agreement_of(_ledger: Ledger, _cells: list[Cell], done: tuple[Hashable, ...]) -> Finding | None:
    return _ledger.agreement(_cells)


def _show_agreement(mark: tuple[Hashable, ...], cell: Cell, finding: Finding) -> None:
    found = finding.exhibit
    truths = [cell.target.truths[f"beta[{j}]"] for j in range(cell.target.dim)]
    rows = {
        EVERY_SAMPLER[name].title: (name, *distances(found.means[name], found.errors[name], truths))
        for name in found.means
    }
    st.markdown(_sentence(finding))
    _chart((*mark, *rows), lambda: figures.means_against_reference(rows, margins.CHAINS_WITHOUT_EXACT), "agreement",
           "Posterior means against the reference")  # fmt: skip
    _table(finding)


def _chart(mark: tuple[Hashable, ...], make: Callable[[], Chart], kind: str, title: str, height: int = 320) -> None:
    """Show a chart; it is made once for all that look at the same results."""
    _made((*mark, kind, height), make, title, height).show(f"chart.checks.{kind}")


@st.cache_resource(max_entries=128, show_spinner=False)
def _made(mark: tuple[Hashable, ...], _make: Callable[[], Chart], title: str, height: int) -> LiveChart:
    chart = _make()
    return LiveChart.of(chart.figure, alt=chart.alt, title=title, caption=chart.caption, height=height)
