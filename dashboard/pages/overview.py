"""Overview: a moving picture with a question, starting points, the samplers in a sentence each, pages and targets."""

from __future__ import annotations

import streamlit as st

from dashboard.live import component
from dashboard.settings.presets import PRESETS, TIMING, Preset
from dashboard.views.overview import ANSWER, QUESTION
from dashboard.widgets.sampling import target_title
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

PICTURE = 290  # pixels
CARDS = 3  # in a row
PAGES = {
    "explore": "Choose a target and a sampler, move sliders, run, and watch the chains.",
    "compare": "The paper's Table 1: samplers at equal cost, with error bars.",
    "checks": "Is each sampler correct? Two of them are wrong on purpose.",
}


def body() -> None:
    """All of the page."""
    st.title("A laboratory for mixed samplers")
    st.markdown(f"##### {QUESTION}")
    with st.container(height=PICTURE, border=False):  # the room of the picture, before the browser has it
        component.part("moving", "moving")
    st.markdown(
        f"{ANSWER} Here you can watch, tune and check samplers that mix Hamiltonian moves with other updates, from "
        "*Metropolis Augmented Hamiltonian Monte Carlo* (Zhou, AABI 2022)."
    )
    for first in range(0, len(PRESETS), CARDS):
        for column, preset in zip(st.columns(CARDS), PRESETS[first : first + CARDS], strict=False):
            with column.container(border=True, height="stretch"):
                _card(preset)
    samplers, places = st.columns([3, 2])
    with samplers:
        st.subheader("The samplers", anchor=False)
        st.markdown("\n".join(f"- **{sampler.title}**: {sampler.about}" for sampler in SAMPLERS.values()))
    with places:
        _places()


def _card(preset: Preset) -> None:
    """A starting point with a link, which can be copied or opened in another tab."""
    st.markdown(f"##### :material/{preset.icon}: {preset.title}")
    st.write(preset.about)
    label = "Open and run" if preset.run else "Open"
    page = f"pages/{preset.page}.py"
    st.page_link(page, label=f"**{label}**", icon=":material/arrow_forward:", query_params=preset.link)


def _places() -> None:
    st.subheader("Where to go", anchor=False)
    for name, about in PAGES.items():
        st.page_link(f"pages/{name}.py", label=f"**{name.title()}**")
        st.caption(about)
        if name == TIMING.page:
            st.page_link(f"pages/{name}.py", label=f"**{TIMING.title}**", query_params=TIMING.link, help=TIMING.about)
    with st.expander(f"The {len(FAMILIES)} targets", icon=":material/target:"):
        st.markdown("Three from the paper, example custom targets, and your own. You can also give BLR a CSV file.")
        st.markdown("\n".join(f"- **{target_title(name)}**. {it.about}" for name, it in FAMILIES.items()))
