"""Why it works: the equation of the target and of the sampler, when they are good, and the words of the page."""

from __future__ import annotations

import streamlit as st

from dashboard.settings.choices import Choices
from dashboard.widgets.markup import unmarked
from mahmc.glossary import TERMS, Panel
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import FAMILIES

TITLE = "Metropolis Augmented Hamiltonian Monte Carlo"
PAPER = f"[{TITLE}](https://scholar.google.com/scholar?q=%22{TITLE.replace(' ', '+')}%22) (Zhou, AABI 2022)"
WIDTH = 420  # pixels of a panel: two of them fit beside each other, or below each other


def show(choices: Choices) -> None:
    """A panel of the target, one of the sampler, and the glossary."""
    family, sampler = FAMILIES[choices.target], EVERY_SAMPLER[choices.sampler]
    label = f"Why it works: {sampler.title} on {unmarked(family.short_title)}"
    with st.expander(label, icon=":material/school:", key="theory"):
        row = st.container(horizontal=True)
        with row.container(width=WIDTH):
            _panel(family.title, family.panel, f"{choices.notation}.")
        with row.container(width=WIDTH):
            _panel(choices.sampler_name, sampler.panel, sampler.wrong)
        with st.popover("Glossary", icon=":material/dictionary:"):
            st.markdown("\n".join(f"- **{term.short}**: {unmarked(term.long)}" for term in TERMS.values()))


def _panel(title: str, panel: Panel, more: str) -> None:
    st.markdown(f"**{unmarked(title)}**")
    if panel.equation:
        st.latex(panel.equation)
    for text in (more, panel.good):
        if text:
            st.markdown(unmarked(text))
    if panel.paper:
        st.caption(f"{PAPER}: {panel.paper}.")
