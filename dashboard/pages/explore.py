"""Explore: the controls, the live charts, the diagnostics after a run, and pinned runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard.live import component
from dashboard.pages import page, side_by_side, theory, watching
from dashboard.settings import link, presets
from dashboard.settings.uploads import Upload
from dashboard.views import beads
from dashboard.views.explore import AT_REST, FULL_CHARTS, LIVE_CHARTS, ViewState
from dashboard.widgets import controls, sampling, slots, trajectory, uploading
from dashboard.widgets.controls import Controls, bound
from dashboard.widgets.markup import unmarked
from dashboard.work.exploring import MOST_NAME, MOST_PINS, Pin
from dashboard.work.job import Status
from mahmc import RunSpec
from mahmc.targets import FAMILIES, Target

SIZE = ("chains", "draws")  # of a run; the seed follows
QUANTITY_WIDTH = 280  # pixels
RECORDED = ("warmup", "thin")


def sidebar(here: Controls) -> None:
    """All controls. Present mode has none."""
    if here.settings.present:
        return
    with st.sidebar:
        controls.segmented(
            here, "view", "Depth",
            help="Simple: the sampler's sliders and the size of the run. Full: also schedules, updates, the target's "
                 "settings, and every diagnostic.",
        )  # fmt: skip
        full = here.settings.view == "full"
        sampling.choose_target_and_sampler(here)
        with page.place("trajectory"):
            trajectory.choose(here, full)
        with page.place("drawing"):
            if full:
                _drawing(here)
        with page.place("defaults"):
            sampling.offer_defaults(here)
        for name in SIZE:
            controls.number(here, name)
        controls.seed(here)
        with page.place("more"):
            if full:
                _more(here)
        with page.place("slots"):
            slots.choose(here, full)
        with page.place("buttons"):
            _buttons(here)
        controls.toggle(
            here, "follow", "Restart when I move a slider",
            help="On: every change of a control restarts the chains at once. Off: press Run when you are ready.",
        )  # fmt: skip


def _more(here: Controls) -> None:
    """The parameters of the target, and what of each run is recorded."""
    with sampling.target_settings(here):
        uploading.choose(here)
    with st.expander("Warm-up and thinning", key="explore.run.settings"):
        for name in RECORDED:
            controls.number(here, name)


def _drawing(here: Controls) -> None:
    """The schedule, drawn as beads on a string."""
    text = beads.words(here.settings.choices)
    if text:
        st.caption(text)
    for request in beads.requests(here.settings.choices, here.settings.seed):
        component.part(request.place, "chart")


def _buttons(here: Controls) -> None:
    tab = here.tab
    jobs, (spec, problem) = tab.group("explore").values(), tab.spec()
    alive = any(job.alive for job in jobs)
    resumable = any(job.work.pace.paused if job.alive else job.status is Status.STOPPED for job in jobs)
    buttons: list[tuple[str, str, bool, Callable[[], None], str]] = [
        ("Run", "play_arrow", spec is not None, lambda: _run(here), "Start chains with these settings"),
        ("Stop", "stop", alive, lambda: tab.stop("explore"), "Stop at once; the draws so far stay"),
        ("Continue", "resume", resumable, lambda: tab.resume("explore"), "Continue exactly where the run was stopped"),
        ("Reset", "restart_alt", bool(jobs), lambda: tab.reset("explore"), "Stop, and delete the draws"),
    ]
    columns = st.columns(2, wrap=False)
    for i, (label, icon, enabled, action, text) in enumerate(buttons):
        columns[i % 2].button(
            label, icon=f":material/{icon}:", type="primary" if label == "Run" else "secondary", width="stretch",
            disabled=not enabled, on_click=action, help=text, key=f"explore.side.{label}",
        )  # fmt: skip
    if problem:
        st.error(problem)


def _run(here: Controls) -> None:
    here.tab.run_settings()


def body(here: Controls, shown: ViewState) -> None:
    """Lay out the title with the main button, the live charts, and the diagnostics after a run."""
    if here.settings.present:
        watching.present(here, shown)
        return
    _head(here, shown)
    page.problem(here, "" if shown.spec else here.tab.specs()[1])
    with page.place("guide"):
        _guide(here)
    with page.place("live"):
        component.part("status", "status")
        component.part("origin", "lines")
        component.part("remarks", "remarks", room=0 if shown.beside else 1)
        if shown.beside is not None:
            component.part("ratio", "lines")
    with page.place("repeated"):
        if shown.repeated:
            _offer_new_seed(here)
    with page.place("quantity"), st.container(horizontal=True, vertical_alignment="bottom", key="explore.shown"):
        _choose_quantity(here, shown)
        watching.choose_trace(here)
    with page.place("beside"):
        if shown.beside is not None:
            side_by_side.show(shown.beside)
    with page.place("charts"):
        page.charts([r for r in shown.view().charts if r.place in (*LIVE_CHARTS, *FULL_CHARTS)])
    with page.place("compare"):
        _offer_comparison(here)
    with page.place("theory"):
        theory.show(here.settings.choices)
    with page.place("after"):
        if shown.full:
            _after(shown)
    with page.place("pins"):
        if shown.full or here.tab.pins:
            _pins(here, shown)


def _head(here: Controls, shown: ViewState) -> None:
    tab = here.tab
    with page.title("Explore"):
        if any(job.alive for job in tab.group("explore").values()):
            st.button("Stop", key="explore.main.stop", icon=":material/stop:", on_click=tab.stop, args=("explore",))
        else:
            st.button("Run", key="explore.main.run", icon=":material/play_arrow:", type="primary", on_click=_run,
                      args=(here,), disabled=shown.spec is None)  # fmt: skip
        watching.choose_pace(here, shown)
    with page.place("data"):
        if shown.spec is not None and shown.spec.data:
            title = FAMILIES[shown.spec.target].short_title
            st.caption(f"{title} on your data: {uploading.described(tab.uploads[shown.spec.data])}.")


def _offer_new_seed(here: Controls) -> None:
    """Say that the run gives the draws of the run before, and offer a run with other draws."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Same settings and same seed as the run before: the draws are the same, bit for bit.")
        st.button("Run with a new seed", icon=":material/casino:", key="explore.new.seed", on_click=_run_anew,
                  args=(here,))  # fmt: skip


def _run_anew(here: Controls) -> None:
    here.take("seed", controls.new_seed())
    _run(here)


def _guide(here: Controls) -> None:
    """What to look for in the preset whose settings these are."""
    preset = presets.found("explore", link.write(here.settings))
    if preset is not None:
        with st.container(border=True):
            st.markdown(f"**:material/{preset.icon}: {preset.title}**")
            st.markdown("\n".join(f"- {sentence}" for sentence in preset.look_for))


def _choose_quantity(here: Controls, shown: ViewState) -> None:
    """A list of quantities for tiles and charts. The main quantity is the default."""
    if not shown.names or shown.target is None:
        return
    labels, key = shown.labels(), f"explore.quantity.{shown.target.name}.{len(shown.names)}"
    st.selectbox(
        "Quantity", shown.names, shown.names.index(shown.name), format_func=labels.__getitem__,
        disabled=shown.target.name != here.settings.choices.target,
        **bound(key, shown.name, lambda name: here.take("quantity", name)),
        help="The quantity that tiles, trace, histogram and running mean show.", width=QUANTITY_WIDTH,
    )  # fmt: skip


def _offer_comparison(here: Controls) -> None:
    """A button that leads to Compare with the target, its parameters and its data."""
    if st.button("Compare samplers on this target", icon=":material/leaderboard:", key="explore.compare",
                 help="Open Compare with this target, its parameters and its data."):  # fmt: skip
        here.tab.carry_target()
        st.switch_page("pages/compare.py")


# ------------------------------------------------------------------------------------------------ after the run


def _after(shown: ViewState) -> None:
    """The diagnostics of a run that has stopped, in tabs."""
    if not shown.at_rest:
        return
    st.subheader(f"Diagnostics of {unmarked(shown.main_title)}" if shown.main_title else "Diagnostics")
    *tabs, table = st.tabs([*AT_REST.values(), "All quantities"])
    for place, tab in zip(AT_REST, tabs, strict=True):
        with tab:
            component.part(place, "chart")
    with table:
        _table(shown)


def _table(shown: ViewState) -> None:
    result = shown.result
    if result is None or not result.estimated:
        st.caption("Computing the diagnostics of all quantities …")
        return
    whole = st.column_config.NumberColumn(format="%.0f")
    st.dataframe(shown.summary(), column_config={"ESS bulk": whole, "ESS tail": whole,
                                                 "R-hat": st.column_config.NumberColumn(format="%.4f"),
                                                 "z-score": st.column_config.NumberColumn(format="%.2f")})  # fmt: skip
    source = next((truth.source for truth in result.target.truth.scalars.values()), "none known")
    st.caption(
        f"{shown.origin}. Truth: {source}. The z-score is the difference between mean and truth, divided by the Monte "
        "Carlo error. An absolute value above 3 is suspicious. An empty cell is undefined: the quantity never changed, "
        "or its truth is unknown."
    )


# ------------------------------------------------------------------------------------------------- pinned runs


def _pins(here: Controls, shown: ViewState) -> None:
    """Up to four runs that are kept for comparison."""
    pins, job = here.tab.pins, here.tab.jobs.get("explore")
    if not pins and not shown.at_rest:
        return
    st.subheader("Pinned runs")
    kept = any(pin.job is job for pin in pins)
    st.button("Pin this run", icon=":material/push_pin:", on_click=here.tab.pin, key="explore.pin",
              disabled=len(pins) >= MOST_PINS or kept or not shown.at_rest,
              help=f"Keep up to {MOST_PINS} runs: they are shown beside the present run.")  # fmt: skip
    shown_marks = {column.mark for column in shown.beside.columns} if shown.beside else set()
    for pin in pins:
        is_shown = pin.job is job or f"pin{pin.job.number}" in shown_marks
        _pin_row(here, pin, "" if is_shown else " · not shown above, because its target is another")


def _pin_row(here: Controls, pin: Pin, note: str) -> None:
    name, number, spec, drawn = pin.name, pin.job.number, pin.job.work.spec, pin.job.work.snapshot().drawn
    field, reopen, unpin = st.columns([6, 1, 1], vertical_alignment="bottom")
    key = f"explore.pin.{number}"
    field.text_input("Name", name, max_chars=MOST_NAME, label_visibility="collapsed",
                     **bound(key, name, lambda text: here.tab.rename(number, text)))  # fmt: skip
    reopen.button("Reopen", key=f"{key}.reopen", on_click=here.tab.reopen, args=(number,), width="stretch",
                  help="Show this run again, with its settings in the controls")  # fmt: skip
    unpin.button("Unpin", key=f"{key}.unpin", on_click=here.tab.unpin, args=(number,), width="stretch")
    st.caption(f"{spec.subject} · {spec.chains:,} chains × {drawn:,} draws · seed {spec.seed}{note}")


# ------------------------------------------------------------------------------------------------------ sharing


def share(here: Controls, shown: ViewState) -> None:
    """Show the link, the program and the files."""
    if here.settings.present:
        return
    spec, target = (shown.job.result.spec, shown.target) if shown.job else (shown.spec, shown.target)
    if spec is None or target is None:
        return
    about = "This link restores these controls, seed included. Run then gives the same draws, bit for bit."
    about += " The link does not contain your data." if spec.data else ""
    rest = shown.result is not None and shown.job is not None and not shown.job.alive and bool(shown.result.drawn)
    files = f"Draws take {shown.memory()} in memory." if rest else "Files appear here when the run has ended."
    runs = [column.spec for column in shown.beside.columns] if shown.beside else [spec]
    programs = [snippet(run, target, here.tab.uploads.get(run.data)) for run in runs]
    page.share(here, about, files, "\n".join(programs))


def snippet(spec: RunSpec, target: Target, upload: Upload | None = None) -> str:
    """The program that makes this run. It contains the names of files, but not their folders."""
    file = Path(FAMILIES[spec.target].file).name
    load = f"mahmc.load_targets({file!r})  # where this target is written\n" if file else ""
    imports = "import mahmc\n"
    if upload is not None:
        imports = "from pathlib import Path\n\nimport mahmc\nfrom mahmc import tabular\n"
        settings = "".join(f", {name}={value!r}" for name, value in spec.settings)
        load = (
            f"table = tabular.read(Path({upload.file!r}).read_bytes())  # your file\n"
            f"X, y, names = tabular.design(table, {upload.column!r})\n"
            f"target = mahmc.targets.{spec.target}(X, y{settings})\n"
        )
    shown = f"print(run.acceptance, run.ess({target.presentation.main_quantity!r}))"
    return f"{imports}\n{load}{spec.to_python()}\n{shown}\n"
