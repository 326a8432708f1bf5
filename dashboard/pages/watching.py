"""Explore, to watch chains: the pace, single draws, what the trace shows, and Present mode for a projector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard.live import component
from dashboard.pages import page, side_by_side
from dashboard.views import present as keys
from dashboard.views.explore import LIVE_CHARTS, ViewState
from dashboard.widgets import controls
from dashboard.widgets.controls import Controls
from dashboard.work.job import Status

PACE_HELP = (
    "The pace beside this button is in draws a second of each chain. The warm-up is always fast: set it to 0 to watch "
    "chains from their start. The draws are the same at any pace."
)


def choose_pace(here: Controls, shown: ViewState) -> None:
    """How fast the run draws, with pause and single draws. All of this works while the run goes on."""
    tab, job = here.tab, shown.present
    running = job is not None and job.alive and not job.result.paused
    with st.container(horizontal=True, width="content", vertical_alignment="center", key="explore.pace.row"):
        controls.segmented(here, "pace", "Draws a second", keys.PACE_TITLES)
        if running or job is None or not (job.alive or job.status is Status.STOPPED):
            st.button("Pause", icon=":material/pause:", key="explore.pause", on_click=tab.pause, disabled=not running,
                      help=f"Make no more draws until Continue. {PACE_HELP}")  # fmt: skip
        else:
            st.button("Continue", icon=":material/resume:", key="explore.goon", on_click=tab.resume, args=("explore",),
                      help=f"Go on with the next draw. {PACE_HELP}")  # fmt: skip
        st.button("Step", icon=":material/skip_next:", key="explore.step", on_click=tab.step,
                  disabled=shown.spec is None, help="Make one draw of each chain, and pause")  # fmt: skip
        st.button("Present", icon=":material/present_to_all:", key="explore.present", on_click=here.take,
                  args=("present", True), help="Large type for a projector, with keys. Escape leads back")  # fmt: skip


def choose_trace(here: Controls) -> None:
    """What the trace shows."""
    controls.segmented(here, "trace", "Draws in the trace while chains run",
                       {"last": "Last draws", "all": "All draws"})  # fmt: skip
    controls.segmented(here, "lines", "Chains in the trace", {"four": "4 chains", "all": "All chains"})


def present(here: Controls, shown: ViewState) -> None:
    """For a projector: the state of the run, two charts, and the keys. The style sheet makes all of it large."""
    with page.place("live"):
        component.part("title", "lines")
        component.part("status", "status")
        if shown.beside is not None:
            component.part("ratio", "lines")
    with page.place("charts"):
        if shown.beside is not None:
            side_by_side.show(shown.beside)
        else:
            page.charts([r for r in shown.view().charts if r.place in LIVE_CHARTS])
    component.part("remarks", "remarks")
    component.part("keys", "keys", on_event=lambda event: pressed(here, event))


def pressed(here: Controls, event: Any) -> None:
    """Do what a key of Present mode does. Unknown actions do nothing."""
    tab, pace = here.tab, here.settings.pace
    actions: dict[str, Callable[[], None]] = {
        "run": tab.run_settings, "pause": tab.pause, "resume": lambda: tab.resume("explore"), "step": tab.step,
        "next": tab.next_preset, "leave": lambda: here.take("present", False),
        "slower": lambda: here.take("pace", keys.another_pace(pace, -1)),
        "faster": lambda: here.take("pace", keys.another_pace(pace, 1)),
    }  # fmt: skip
    action = event.get("action") if isinstance(event, dict) else None
    if isinstance(action, str) and action in actions:
        actions[action]()
