"""Widgets for the runs beside the main run: a sampler and its values for each, on the same target."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard.settings.entries import Settings
from dashboard.settings.explore import SLOTS, SlotSettings
from dashboard.widgets import controls, sampling, trajectory
from dashboard.widgets.controls import Controls
from mahmc.samplers import EVERY_SAMPLER


@dataclass(frozen=True)
class SlotControls(Controls):
    """The widgets of one slot of a page. They work like those of the page, with the settings of the slot."""

    of: Controls
    number: int

    @property
    def settings(self) -> SlotSettings:
        found: SlotSettings = self.of.settings.slot(self.number)
        return found

    def replace(self, settings: Settings) -> None:
        assert isinstance(settings, SlotSettings)
        self.of.replace(self.of.settings.with_slot(self.number, settings))


def choose(page: Controls, full: bool) -> None:
    """An expander for each run beside the main run, and a button that adds one."""
    numbers = page.settings.slots
    for number in numbers:
        _choose_slot(SlotControls(page.tab, f"{page.page}.{number}", page, number, fields=page.fields), full)
    if len(numbers) < len(SLOTS):
        st.button(
            "Compare with another sampler", icon=":material/add:", width="stretch", key=f"{page.page}.add",
            help="Run another sampler, or the same with other values, beside this one: same target, same seed, and "
            "the same number of leapfrogs.",
            on_click=lambda: page.replace(page.settings.with_another()),
        )  # fmt: skip


def _choose_slot(slot: SlotControls, full: bool) -> None:
    title = EVERY_SAMPLER[slot.settings.choices.sampler].title
    with st.expander(f"Run {slot.number}: {title}", expanded=True, key=f"{slot.page}.slot"):
        controls.select(slot, "sampler", "Sampler", lambda name: EVERY_SAMPLER[name].label)
        trajectory.choose(slot, full)
        sampling.offer_defaults(slot)
        st.button("Remove", icon=":material/close:", width="stretch", key=f"{slot.page}.remove",
                  on_click=lambda: slot.of.replace(slot.of.settings.without_slot(slot.number)),
                  help=f"Remove run {slot.number}.")  # fmt: skip
