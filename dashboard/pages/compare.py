"""Compare: the controls, and a place for each part of the results."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard import figures
from dashboard.live import component
from dashboard.pages import page
from dashboard.settings.choices import Choices
from dashboard.settings.uploads import takes_data
from dashboard.views.compare import ViewState
from dashboard.views.compare import problem as why_not
from dashboard.views.side_by_side import captions, titles
from dashboard.widgets import controls, sampling, trajectory, uploading
from dashboard.widgets.controls import Controls, bound
from dashboard.widgets.markup import unmarked
from mahmc import InvalidInput, schedules, tables
from mahmc.compare import COSTS, WORST
from mahmc.samplers import PARAMETERS, SAMPLERS
from mahmc.spec import ALTERNATE, NONE
from mahmc.targets import FAMILIES


def sidebar(here: Controls) -> None:
    """All controls."""
    with st.sidebar:
        sampling.choose_target(here)
        choices = here.settings.choices
        with page.place("explored"):
            _carry(here)
        with page.place("data"):
            if takes_data(choices.target):
                uploading.choose_known(here, "data")
        with page.place("target"):
            if FAMILIES[choices.target].parameters:
                sampling.target_settings(here)
        controls.multiselect(here, "samplers", "Samplers", lambda name: SAMPLERS[name].title)
        with page.place("samplers"):
            _samplers(here)
        for name in ("budget", "replicates"):
            controls.only_field(here, name)
        controls.seed(here)


def _carry(here: Controls) -> None:
    """Where the target comes from: from Explore, or a button that takes it from there."""
    explored: Choices = here.tab.settings["explore"].choices
    if here.settings.choices.same_target(explored):
        st.caption("Target, parameters and data are the same as on Explore.")
        return
    st.button("Take the target of Explore", icon=":material/input:", width="stretch", key="compare.carry",
              on_click=here.tab.carry_target,
              help=f"{FAMILIES[explored.target].title}, with the parameters and data chosen there. Until you change or "
                   "run something here, this page takes them by itself.")  # fmt: skip


def _samplers(here: Controls) -> None:
    """Additional variants to compare, and the settings of each sampler."""
    choices, able = here.settings.choices, here.settings.able()
    if left_out := [SAMPLERS[name].title for name in here.settings.samplers if name not in able]:
        st.caption(f"Left out: {', '.join(left_out)}. It needs discrete variables, and this target has none.")
    if choices.family().density.updates:
        controls.toggle(
            here, "iid", "MAHMC: Nᵁ against an i.i.d. schedule of the same mean",
            help="Adds MAHMC with i.i.d. steps, with the same mean numbers of leapfrogs and updates.",
        )  # fmt: skip
    if second := here.settings.second_figure(here.tab.uploads):
        title = SAMPLERS[second.sampler].title
        values = ", ".join(f"{PARAMETERS[name].symbol} = {value:g}" for name, value in second.values.items())
        where = f"{title} on {FAMILIES[choices.target].short_title}"
        controls.toggle(here, "second", f"Also {title} at {values}",
                        help=f"The paper's second figure for {where}, {figures.digits(second.ess)}.")  # fmt: skip
    for name in able:
        _sampler(here, name)


def _sampler(here: Controls, sampler: str) -> None:
    """The settings of a sampler. The paper's settings are the default."""
    choices, method = here.settings.choices, SAMPLERS[sampler]
    with st.expander(method.title, key=f"compare.{sampler}"):
        if method.takes_schedule and choices.updates(sampler):
            _schedule(here, sampler)
        entries = here.settings.entries()
        for name in method.defaults(choices.target):
            if f"{sampler}.{name}" in entries:  # a schedule may replace this parameter
                controls.only_field(here, f"{sampler}.{name}")
        if choices.updates(sampler):
            picked, used = choices.picked(sampler), choices.used(sampler)
            controls.multiselect(here, f"{sampler}.update", "Updates of qᴼ", help=trajectory.UPDATE_HELP, picked=picked)
            if len(used) < len(picked):
                st.caption(f"Used: {', '.join(used)}. The schedule has no other kinds of update.")
            usual = choices.outer(sampler)[1]
            controls.select(
                here, f"{sampler}.outer", "After the trajectory", help=trajectory.OUTER_HELP,
                titles=lambda name: f"{name} (default)" if name == usual else "no update" if name == NONE else name,
            )  # fmt: skip


def _schedule(here: Controls, sampler: str) -> None:
    """A schedule as text. If the text is not a schedule, the page says why and keeps the last valid schedule."""
    name, choices = f"{sampler}.schedule", here.settings.choices
    entry, draft = here.entry(name), (choices.target, sampler, "text")
    key = here.key(entry)
    text = choices.drafts.get(draft) or entry.value
    st.text_input("Schedule", text, help=f"{trajectory.SCHEDULE_HELP} Write one of: {schedules.FORMS}",
                  **bound(key, text, partial(_typed, here, name, draft)))  # fmt: skip
    try:
        entry.kind.parse(text)
    except InvalidInput as refusal:
        st.warning(f"Not used yet: {unmarked(str(refusal))}", icon=":material/edit:")


def _typed(here: Controls, name: str, draft: tuple[str, ...], typed: str) -> None:
    """Keep the typed text, and use it if it is a schedule."""
    text = typed.strip() or ALTERNATE
    with suppress(InvalidInput):  # the page says what is wrong
        here.take(name, here.entry(name).kind.parse(text))
        text = ""
    settings = here.settings
    here.replace(replace(settings, choices=settings.choices.drafted(draft, text)))


def body(here: Controls, shown: ViewState) -> None:
    """Lay out the title with the main button, and places for bars, words and table."""
    refusal, job = why_not(here.settings, shown.now), shown.job
    with page.title("Compare"):
        if job is not None and job.alive:
            st.button("Stop", icon=":material/stop:", key="compare.stop", on_click=here.tab.stop, args=("compare",),
                      help="Stop at once; finished replicates stay")  # fmt: skip
        else:
            _start_buttons(here, shown, refusal)
    page.problem(here, refusal)
    left, right = st.columns(2)
    with left:
        controls.select(here, "cost", "Cost", COSTS.__getitem__, "Effective sample sizes are divided by this cost.")
    with right:
        _choose_quantity(here, shown)
    with page.place("live"):
        component.part("status", "status")
        component.part("remarks", "remarks", room=1)
    with page.place("found"):
        if shown.job is not None:  # from the first moment, so that what comes later has its room
            component.part("headlines", "lines", room=1)
            component.part("bars", "chart")
            component.part("table", "table", room=1)
    with page.place("closer"):
        if shown.at_rest:
            _closer(here, shown)


def _start_buttons(here: Controls, shown: ViewState, refusal: str) -> None:
    """Run; and Continue for a comparison that was stopped."""
    with st.container(horizontal=True, width="content"):
        if shown.resumable:
            st.button("Continue", icon=":material/resume:", type="primary", key="compare.continue",
                      on_click=here.tab.resume, args=("compare",),
                      help="Go on exactly where the comparison was stopped: it ends as if it had not been stopped.",
                      )  # fmt: skip
        st.button("Run", icon=":material/play_arrow:", type="secondary" if shown.resumable else "primary",
                  disabled=bool(refusal), key="compare.run", on_click=_run, args=(here,))  # fmt: skip


def _run(here: Controls) -> None:
    with suppress(InvalidInput):  # a number was typed just before the click; the page says what is wrong
        here.tab.compare(here.settings.comparison(here.tab.uploads))


def _choose_quantity(here: Controls, shown: ViewState) -> None:
    names = shown.job.result.found.quantities if shown.job else ()
    key = f"compare.quantity.{'.'.join(names)}"
    value = shown.quantity or next(iter(names), "")
    st.selectbox(
        "Quantity", names or ("",), (names or ("",)).index(value), disabled=not names,
        format_func=lambda name: "the worst of all" if name == WORST else figures.plain(name),
        help="The quantity whose effective sample size is compared.",
        **bound(key, value, lambda name: here.take("quantity", _chosen(name, names))),
    )  # fmt: skip


def _chosen(name: str, names: tuple[str, ...]) -> str:
    """The quantity as settings have it: "" for the main quantity."""
    return "" if name == names[0] else name


def _closer(here: Controls, shown: ViewState) -> None:
    """After the comparison: buttons that open a run in Explore, and the draws of each sampler."""
    found = shown.found
    assert found is not None
    st.subheader("Open in Explore")
    with st.container(horizontal=True):
        for label, entry in found.done.items():
            if st.button(tables.titled(label), key=f"compare.open.{label}", icon=":material/tune:"):
                here.tab.explore(
                    (entry.run.spec if entry.run else entry.spec).on(found.target, keep=None, start="default")
                )
                st.switch_page("pages/explore.py")
    requests = {request.place: request for request in shown.view().charts}
    if "agreement" in requests:
        st.subheader("Posterior means against the reference")
        component.part("agreement", "chart")
    component.part("accuracy", "lines")
    for kind, title in titles(found).items():
        st.subheader(title)
        page.charts([request for place, request in requests.items() if place.startswith(f"{kind}.")], columns=3)
        st.caption(captions(found)[kind])


def share(here: Controls, shown: ViewState) -> None:
    """Show the link, and the table as files."""
    files = "" if shown.at_rest else "The table appears here as files when the comparison has ended."
    page.share(here, "This link restores these controls. Run then gives the same table.", files)
