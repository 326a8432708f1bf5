"""Checks: the controls, the matrix of verdicts, the findings of one cell, and a correct against a wrong sampler."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import figures
from dashboard.live import component
from dashboard.pages import page
from dashboard.settings.checks import CONTEST_DRAWS, CONTESTS, CUSTOM, WHERE_IT_TELLS, CheckSettings, sampler_title
from dashboard.settings.uploads import takes_data
from dashboard.views import beads, contest
from dashboard.views.checks import ViewState
from dashboard.views.exhibits import quantities
from dashboard.widgets import controls, sampling, trajectory, uploading
from dashboard.widgets.controls import Controls, bound
from mahmc.checks import CASES, CHECKS, Cell
from mahmc.checks.subjects import CHAINS
from mahmc.checks.verdicts import POWER
from mahmc.numerals import rounded_up
from mahmc.samplers import EVERY_SAMPLER

EXHIBITS = {name: f"{EVERY_SAMPLER[right].title} and {EVERY_SAMPLER[wrong].title}"
            for name, (_, (right, wrong)) in CONTESTS.items()}  # fmt: skip
VIEWS = {"matrix": "Matrix of verdicts", "contest": "Right against wrong"}


def sidebar(here: Controls) -> None:
    """All controls."""
    with st.sidebar:
        for name in ("budget", "level"):
            controls.number(here, name)
        controls.seed(here)
        controls.toggle(
            here, "own", "Add a case of your own",
            help="Adds a column to the matrix: a mixture with your components, MDC with another sd, BLR's prior, …",
        )  # fmt: skip
        if here.settings.custom:
            _custom_case(here)


def _custom_case(here: Controls) -> None:
    """The target and the sampler of the custom column."""
    choices = here.settings.choices
    sampling.choose_target_and_sampler(here, f"{CUSTOM}.")
    with sampling.target_settings(here, expanded=True):
        if takes_data(choices.target):
            uploading.choose_known(here, f"{CUSTOM}.data")
            if choices.data in here.tab.uploads and not choices.built(here.tab.uploads).truth.scalars:
                st.caption(uploading.NO_TRUTH)
    with st.expander(f"Parameters of {EVERY_SAMPLER[choices.sampler].title}", key="checks.custom.sampler"):
        with page.place("trajectory"):
            trajectory.choose(here, full=True)
        with page.place("drawing"):
            if text := beads.words(choices):
                st.caption(text)
            for request in beads.requests(choices, 0):
                component.part(request.place, "chart")
        sampling.offer_defaults(here)
    shown = ViewState(here.settings, here.tab.snapshot())
    for cell in shown.cells:
        if cell.key == (choices.sampler, CUSTOM):
            _run_button(here, shown, [cell], "Check this case", "checks.run.custom", primary=True)


def body(here: Controls, shown: ViewState) -> None:
    """Lay out the title with the main button, and the chosen part: the matrix, or a right against a wrong sampler."""
    now = contest.ViewState(here.settings, shown.now)
    with page.title("Checks"):
        if here.settings.view == "contest":
            _contest_button(here, now)
        elif shown.working:
            st.button("Stop", icon=":material/stop:", key="checks.stop", on_click=here.tab.stop, args=("checks",),
                      help="Stop at once; the verdicts so far stay")  # fmt: skip
        else:
            _run_button(here, shown, shown.cells, "Run all", "checks.run.all", primary=True)
    with st.container(horizontal=True):
        controls.segmented(here, "view", "Part of the page", VIEWS)
        with st.container(key="place.exhibit", width="content"):
            if here.settings.view == "contest":
                controls.segmented(here, "exhibit", "Exhibit", EXHIBITS)
    if here.settings.view == "contest":
        page.problem(here)
        _contest(here, now)
    else:
        _matrix(here, shown)


def _matrix(here: Controls, shown: ViewState) -> None:
    """The matrix, and the findings of one cell."""
    st.markdown(
        "Does a sampler draw from the right distribution? Each cell of the matrix tests one sampler on one target "
        "with a known truth. The last two samplers are wrong on purpose: cells turn red where a check finds the error."
    )
    page.problem(here, shown.refusal, here.settings.unusable)
    with page.place("live"):
        component.part("status", "status")
        component.part("origin", "lines")
        component.part("remarks", "remarks")
        component.part("matrix", "matrix", on_event=lambda event: _clicked(here, event))
        component.part("why", "lines", room=1)
    _meaning(here.settings)
    with page.place("closer"):
        _closer_look(here, shown)


def _run_button(
    here: Controls, shown: ViewState, cells: list[Cell], label: str, key: str, primary: bool = False
) -> None:  # fmt: skip
    """A button that checks these cells. Checks that are done are not repeated."""
    left = shown.left(cells)
    done = "Everything is checked with these settings. Choose another seed for new draws." if not left else None
    st.button(
        label, key=key, icon=":material/play_arrow:", type="primary" if primary else "secondary", help=done,
        disabled=not left or shown.working or bool(shown.settings.unusable), on_click=_run, args=(here, cells),
    )  # fmt: skip


def _clicked(here: Controls, event: Any) -> None:
    """Handle a click in the matrix: choose a cell, or check a row. The names that the browser sends are verified."""
    shown = ViewState(here.settings, here.tab.snapshot())
    match event:
        case {"chosen": [str(sampler), str(case)]} if any(cell.key == (sampler, case) for cell in shown.cells):
            here.take("cell", (sampler, case))
        case {"row": [str(sampler)]} if not shown.working:
            row = [cell for cell in shown.cells if cell.sampler == sampler]
            if row:
                _run(here, row)


def _run(here: Controls, cells: list[Cell]) -> None:
    here.tab.check(cells)


def _meaning(settings: CheckSettings) -> None:
    """Explain the verdicts."""
    with st.expander("What a verdict means", icon=":material/help:"):
        st.markdown(
            "- :red[**✕ wrong**]: a check found an error. A correct sampler gets this verdict by chance with "
            f"probability {rounded_up(settings.level, 2)} at most, in each cell. It is divided among the checks "
            "and their many comparisons.\n"
            "- :green[**✓ right**]: no check found an error. Each check states the smallest error that it would have "
            f"caught with probability {POWER:.0%}. A smaller error is still possible.\n"
            "- :orange[**? not enough draws to tell**]: no check found an error, but errors that matter could have "
            "been missed. Raise the budget, or tune the sampler so that it mixes better."
        )
        for name, check in CHECKS.items():
            st.markdown(f"- **{name.capitalize()}**: {check.help}.")


# ------------------------------------------------------------------------------------------------- a closer look


def _closer_look(here: Controls, shown: ViewState) -> None:
    """Show the findings of the chosen cell, in words and charts."""
    cell = shown.chosen
    st.subheader(f"{cell.title} on {cell.case.title}", anchor=False)
    with st.container(horizontal=True):
        _run_button(here, shown, [cell], "Check this cell", "checks.run.cell")
        row = [other for other in shown.cells if other.sampler == cell.sampler]
        _run_button(here, shown, row, f"Check the row of {sampler_title(cell.sampler)}", "checks.run.row")
    component.part("findings", "lines", room=3)
    with page.place("kind"):
        if shown.kinds:
            _choose_kind(here, shown)
        else:
            st.info("There is no verdict with these settings yet. Check this cell, or click another cell.",
                    icon=":material/touch_app:")  # fmt: skip
    with page.place("quantity"):
        found = shown.found(cell)
        if shown.kind == "marginals" and found is not None and quantities(found):
            _choose_quantity(here, shown, quantities(found))
    with page.place("pictures"):
        _pictures(shown)
    with page.place("comparisons"):
        _table(shown)


def _choose_kind(here: Controls, shown: ViewState) -> None:
    key = f"checks.check.{'.'.join(shown.kinds)}"
    st.segmented_control("Look at", shown.kinds, default=shown.kind, required=True, label_visibility="collapsed",
                         format_func=str.capitalize,
                         **bound(key, shown.kind, lambda kind: here.take("check", kind)))  # fmt: skip


def _choose_quantity(here: Controls, shown: ViewState, names: list[str]) -> None:
    key = f"checks.quantity.{'.'.join(names)}"
    st.selectbox("Quantity", names, names.index(shown.quantity), format_func=figures.plain,
                 help="The quantity whose distribution is shown.",
                 **bound(key, shown.quantity, lambda name: here.take("quantity", name)))  # fmt: skip


def _pictures(shown: ViewState) -> None:
    """Histogram and distribution function on the left, z-scores on the right; one chart for other checks."""
    places = [r.place for r in shown.view().charts if not r.place.startswith("contest.") and r.place != "beads"]
    if "z" not in places:
        for place in places:
            component.part(place, "chart")
        return
    left, right = st.columns(2)
    for place in places:
        with right if place == "z" else left:
            component.part(place, "chart")


def _table(shown: ViewState) -> None:
    """A table of all comparisons, smallest p-value first."""
    frame, finding = shown.comparisons(), shown.finding
    if frame is None or finding is None:
        return
    short = st.column_config.NumberColumn(format="%.3g")
    numbers = {name: short for name in frame.columns if name != "compared"}
    st.dataframe(frame, hide_index=True, column_config=numbers, height=min(38 + 35 * len(frame), 330), placeholder="")
    st.caption(
        f"{shown.origin}. All comparisons of round {finding.rounds}, smallest corrected p-value first. The corrected "
        "p-value accounts for the number of comparisons. This check gives a false alarm with probability "
        f"{rounded_up(finding.level, 2)} at most, over all its rounds."
    )


# -------------------------------------------------------------------------------------------- right against wrong


def _contest(here: Controls, now: contest.ViewState) -> None:
    """A correct and a wrong sampler on one mixture, with a slider for the number of draws that Play moves."""
    case, (_, wrong) = CONTESTS[here.settings.exhibit]
    st.markdown(f"Both start from the same exact draws of *{CASES[case].title}*. {EVERY_SAMPLER[wrong].wrong}")
    with page.place("contest.live"):
        if "contest.remarks" in now.parts():
            component.part("contest.remarks", "remarks")
        if "contest.status" in now.parts():
            component.part("contest.status", "status")
    with page.place("contest.pictures"):
        if now.job is not None and now.tested_after:
            _contest_pictures(here, now)


def _contest_button(here: Controls, now: contest.ViewState) -> None:
    """A button that runs both samplers; while they run, Stop."""
    exhibit, job = here.settings.exhibit, now.job
    if now.working:
        st.button("Stop", icon=":material/stop:", key="contest.stop", on_click=here.tab.stop,
                  args=(f"contest.{exhibit}",), help="Stop at once; the tests so far stay.")  # fmt: skip
    elif job is None or not (job.problem or job.result.finished):
        st.button("Run both", icon=":material/play_arrow:", key="contest.run", type="primary",
                  on_click=here.tab.contest, args=(exhibit,), disabled=bool(here.settings.unusable),
                  help=f"{CHAINS} chains of {CONTEST_DRAWS[-1]:,} draws each")  # fmt: skip


def _contest_pictures(here: Controls, now: contest.ViewState) -> None:
    """The slider, the draws of both samplers side by side, and what eye and test say of them."""
    assert now.job is not None
    component.part("contest.player", "player", on_event=lambda event: _played(here, event))
    (first, kind), *others = now.quantities.items()
    _pair(now, first, kind)
    for column, sampler in zip(st.columns(2), now.job.result.samplers, strict=True):
        with column:
            component.part(f"contest.words.{sampler}", "lines")
    for name, kind in others:
        _pair(now, name, kind)
    component.part("contest.path", "chart")


def _pair(now: contest.ViewState, name: str, kind: str) -> None:
    """The charts of one quantity from both samplers, side by side."""
    page.charts([request for request in now.charts() if request.place.startswith(f"contest.{name}.")])
    st.caption(figures.caption(kind))


def _played(here: Controls, event: Any) -> None:
    """Handle a move of the slider over the number of draws. The number that the browser sends is verified."""
    match event:
        case {"draws": int(draws)} if draws in (WHERE_IT_TELLS, *CONTEST_DRAWS):
            here.take("draws", draws)


def share(here: Controls, shown: ViewState) -> None:
    """Show the link and the report."""
    files = "" if shown.done else "The report appears here as soon as there are verdicts."
    page.share(here, "This link restores these controls. Run all then gives the same verdicts.", files)
