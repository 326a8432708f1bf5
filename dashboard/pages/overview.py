"""Overview: what this is, places to start, the samplers in a sentence each, the pages, and the targets."""

from __future__ import annotations

import streamlit as st

from dashboard.settings.presets import PRESETS, Preset
from dashboard.widgets.controls import Controls
from dashboard.widgets.sampling import target_title
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

PAGES = {
    "explore": "Pick a target and a sampler, move sliders, run, and watch.",
    "compare": "The paper's Table 1: samplers at equal cost, with error bars.",
    "checks": "Is each sampler right? And two that are wrong on purpose.",
}


def body(here: Controls) -> None:
    """Everything, on one screen."""
    st.title("A laboratory for mixed samplers")
    st.markdown(
        "Hamiltonian Monte Carlo moves far, but some variables need updates of their own. Here you can watch, tune and "
        "check the samplers that mix both, from *Metropolis Augmented Hamiltonian Monte Carlo* (Zhou, AABI 2022)."
    )
    for row in (PRESETS[:2], PRESETS[2:]):
        for column, preset in zip(st.columns(2), row, strict=True):
            with column.container(border=True, height="stretch"):
                _card(preset)
    samplers, places = st.columns([3, 2])
    with samplers:
        st.subheader("The samplers", anchor=False)
        st.markdown("\n".join(f"- **{sampler.title}**: {sampler.about}" for sampler in SAMPLERS.values()))
    with places:
        _places()


def _card(preset: Preset) -> None:
    """A real link: it can be copied or opened in another tab, and adds one entry to the browser's history."""
    st.markdown(f"##### :material/{preset.icon}: {preset.title}")
    st.write(preset.about)
    label = "Open and run" if preset.run else f"Open in {preset.page.capitalize()}"
    words = f"**{label}**"
    st.page_link(f"pages/{preset.page}.py", label=words, icon=":material/arrow_forward:", query_params=preset.link)


def _places() -> None:
    st.subheader("Where to go", anchor=False)
    for name, about in PAGES.items():
        st.page_link(f"pages/{name}.py", label=f"**{name.title()}**")
        st.caption(about)
    with st.expander(f"The {len(FAMILIES)} targets", icon=":material/target:"):
        st.markdown("The paper's three, example custom targets, and your own. BLR takes a CSV file too.")
        st.markdown("\n".join(f"- **{target_title(name)}**. {it.about}" for name, it in FAMILIES.items()))
