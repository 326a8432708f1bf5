"""Checks: what is checked, the matrix of verdicts, a closer look at one of them, and right against wrong."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import figures
from dashboard.live import component
from dashboard.pages import page
from dashboard.settings.checks import CONTESTS, CUSTOM, LOOKS, CheckSettings, sampler_title
from dashboard.settings.uploads import TARGET
from dashboard.views import beads, contest
from dashboard.views.checks import Shown
from dashboard.views.exhibits import quantities
from dashboard.widgets import controls, sampling, trajectory, uploading
from dashboard.widgets.controls import Controls, bound
from mahmc.checks import CASES, CHECKS, Cell
from mahmc.checks.subjects import CHAINS
from mahmc.checks.verdicts import POWER
from mahmc.samplers import EVERY_SAMPLER


def sidebar(here: Controls) -> None:
    """All controls."""
    with st.sidebar:
        for name in ("budget", "level"):
            controls.number(here, name)
        controls.seed(here)
        controls.toggle(
            here, "own", "Add a case of your own",
            help="A mixture with your components, MDC with another sd, BLR's prior: one more column of the matrix.",
        )  # fmt: skip
        if here.settings.custom:
            _custom_case(here)


def _custom_case(here: Controls) -> None:
    """The target and the sampler of the custom column."""
    choices = here.settings.choices
    sampling.choose_target_and_sampler(here, f"{CUSTOM}.")
    with sampling.target_settings(here, expanded=True):
        if choices.target == TARGET:
            uploading.choose_known(here, f"{CUSTOM}.data")
            if choices.data in here.tab.uploads and not choices.built(here.tab.uploads).truths:
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
    shown = Shown(here.settings, here.tab.now())
    for cell in shown.cells:
        if cell.key == (choices.sampler, CUSTOM):
            _run_button(here, shown, [cell], "Check it", "checks.run.own", primary=True)


def body(here: Controls, shown: Shown) -> None:
    """The title with the one button that matters now, the matrix, and what lies behind a verdict."""
    with page.title("Checks"):
        if shown.working:
            st.button("Stop", icon=":material/stop:", key="checks.stop", on_click=here.tab.stop, args=("checks",),
                      help="Verdicts that are in stay")  # fmt: skip
        else:
            _run_button(here, shown, shown.cells, "Run all", "checks.run.all", primary=True)
    st.markdown(
        "Does a sampler draw from the distribution it is meant to draw from? Each cell puts one sampler on one target "
        "with a known truth to the test; the last two samplers are wrong on purpose, and turn red where it shows."
    )
    page.problem(here, shown.refusal)
    with page.place("live"):
        component.part("status", "status")
        component.part("remarks", "remarks")
        component.part("matrix", "matrix", on_event=lambda event: _clicked(here, event))
        component.part("why", "lines")
    _meaning(here.settings)
    with page.place("closer"):
        _closer_look(here, shown)
    with page.place("contest"):
        _contest(here, shown)


def _run_button(
    here: Controls, shown: Shown, cells: list[Cell], label: str, key: str, primary: bool = False
) -> None:  # fmt: skip
    """A button that checks these cells; what of them is done is not done again."""
    left = shown.left(cells)
    done = "All of it is checked with these settings: take another seed for fresh draws." if not left else None
    st.button(
        label, key=key, icon=":material/play_arrow:", type="primary" if primary else "secondary", help=done,
        disabled=not left or shown.working, on_click=_run, args=(here, cells),
    )  # fmt: skip


def _clicked(here: Controls, event: Any) -> None:
    """A cell of the matrix is chosen, or a row is run. The browser's word is checked."""
    shown = Shown(here.settings, here.tab.now())
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
    """What a verdict says, and what it does not."""
    with st.expander("What a verdict means", icon=":material/help:"):
        st.markdown(
            "- :red[**✕ wrong**]: a sampler that is right gets this by chance with probability "
            f"{figures.digits(settings.level, 2)} at most, in each cell; that is divided among its checks and their "
            "many comparisons.\n"
            f"- :green[**✓ right**]: no check objected, and each would have caught, with probability {POWER:.0%}, "
            "errors of the size it states: *the smallest error that it would have caught*. Smaller ones may be there.\n"
            "- :orange[**? not enough draws to tell**]: no check objected, but errors that matter could have gone "
            "unseen. Raise the budget, or tune the sampler so that it mixes."
        )
        for name, check in CHECKS.items():
            st.markdown(f"- **{name.capitalize()}**: {check.help}.")


# ------------------------------------------------------------------------------------------------- a closer look


def _closer_look(here: Controls, shown: Shown) -> None:
    """The cell that was chosen: what its checks say, in words and pictures."""
    cell = shown.chosen
    st.subheader(f"{cell.title} on {cell.case.title}", anchor=False)
    with st.container(horizontal=True):
        _run_button(here, shown, [cell], "Check this cell", "checks.run.cell")
        row = [other for other in shown.cells if other.sampler == cell.sampler]
        _run_button(here, shown, row, f"Check the row of {sampler_title(cell.sampler)}", "checks.run.row")
    component.part("findings", "lines")
    with page.place("kind"):
        if shown.kinds:
            _choose_kind(here, shown)
        else:
            st.info("No verdict with these settings yet. Check this cell, or click another.",
                    icon=":material/touch_app:")  # fmt: skip
    with page.place("quantity"):
        found = shown.found(cell)
        if shown.kind == "marginals" and found is not None and quantities(found):
            _choose_quantity(here, shown, quantities(found))
    with page.place("pictures"):
        _pictures(shown)
    with page.place("comparisons"):
        _table(shown)


def _choose_kind(here: Controls, shown: Shown) -> None:
    key = f"checks.check.{'.'.join(shown.kinds)}"
    st.segmented_control("Look at", shown.kinds, default=shown.kind, required=True, label_visibility="collapsed",
                         format_func=str.capitalize,
                         **bound(key, shown.kind, lambda kind: here.take("check", kind)))  # fmt: skip


def _choose_quantity(here: Controls, shown: Shown, names: list[str]) -> None:
    key = f"checks.quantity.{'.'.join(names)}"
    st.selectbox("Quantity", names, names.index(shown.quantity), format_func=figures.plain,
                 help="Whose distribution is shown.",
                 **bound(key, shown.quantity, lambda name: here.take("quantity", name)))  # fmt: skip


def _pictures(shown: Shown) -> None:
    """Histogram and distribution function at the left, z-scores at the right; of other checks one chart."""
    places = [r.place for r in shown.view().charts if not r.place.startswith("contest.") and r.place != "beads"]
    if "z" not in places:
        for place in places:
            component.part(place, "chart")
        return
    left, right = st.columns(2)
    for place in places:
        with right if place == "z" else left:
            component.part(place, "chart")


def _table(shown: Shown) -> None:
    """Every comparison, smallest p-value first."""
    frame, finding = shown.comparisons(), shown.finding
    if frame is None or finding is None:
        return
    short = st.column_config.NumberColumn(format="%.3g")
    numbers = {name: short for name in frame.columns if name != "compared"}
    st.dataframe(frame, hide_index=True, column_config=numbers, height=min(38 + 35 * len(frame), 330), placeholder="")
    st.caption(
        f"All comparisons of round {finding.rounds}, smallest corrected p-value first; “corrected” accounts for their "
        f"number. This check may give a false alarm with probability {figures.digits(finding.level, 2)}, over all "
        "its rounds."
    )


# -------------------------------------------------------------------------------------------- right against wrong


def _contest(here: Controls, shown: Shown) -> None:
    """Two samplers on one mixture, and a slider for the number of draws."""
    st.subheader("Right against wrong", anchor=False)
    titles = {name: f"{EVERY_SAMPLER[right].title} and {EVERY_SAMPLER[wrong].title}"
              for name, (_, (right, wrong)) in CONTESTS.items()}  # fmt: skip
    controls.segmented(here, "exhibit", "Exhibit", titles)
    exhibit = here.settings.exhibit
    case, (_, wrong) = CONTESTS[exhibit]
    st.markdown(f"Both start from the same exact draws of *{CASES[case].title}*. {EVERY_SAMPLER[wrong].wrong}")
    now = contest.Shown(here.settings, shown.now)
    with page.place("contest.live"):
        _contest_buttons(here, now)
    with page.place("contest.pictures"):
        if now.job is not None and now.looks:
            _contest_pictures(here, now)


def _contest_buttons(here: Controls, now: contest.Shown) -> None:
    """Run both, or how far they are and Stop."""
    exhibit = here.settings.exhibit
    if "contest.remarks" in now.parts():
        component.part("contest.remarks", "remarks")
    elif now.working:
        component.part("contest.status", "status")
        st.button("Stop", icon=":material/stop:", key="contest.stop", on_click=here.tab.stop,
                  args=(f"contest.{exhibit}",), help="What was tested until then stays.")  # fmt: skip
    elif now.job is None or not now.job.result.finished:
        st.button("Run both", icon=":material/play_arrow:", key="contest.run", on_click=here.tab.contest,
                  args=(exhibit,), help=f"{CHAINS} chains of {LOOKS[-1]:,} draws each, some seconds")  # fmt: skip


def _contest_pictures(here: Controls, now: contest.Shown) -> None:
    assert now.job is not None
    controls.stops(here, "draws", "Draws of each chain", LOOKS,
                   help=f"How many draws of each of the {CHAINS} chains the pictures and the test get.")  # fmt: skip
    samplers = now.job.result.samplers
    for column, sampler in zip(st.columns(2), samplers, strict=True):
        with column:
            component.part(f"contest.words.{sampler}", "lines")
    for name, kind in (("q", "density"), ("component", "mass")):
        page.charts([request for request in now.charts() if request.place.startswith(f"contest.{name}.")])
        st.caption(figures.caption(kind))
    component.part("contest.path", "chart")


def share(here: Controls, shown: Shown) -> None:
    """The link, and the report."""
    files = "" if shown.done else "The report appears here when there are verdicts."
    page.share(here, "This link brings back these controls; Run all then gives the same verdicts.", files)
