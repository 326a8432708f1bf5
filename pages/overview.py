"""Overview: what this is, the samplers in a sentence each, and three places to start."""

import streamlit as st

from dashboard import session
from dashboard.presets import presets
from mahmc.samplers import SAMPLERS

tab = session.current()

st.title("A laboratory for mixed samplers")
st.markdown(
    "Hamiltonian Monte Carlo moves far, but some variables need updates of their own. Here you can watch, tune and "
    "check the samplers that mix both, from *Metropolis Augmented Hamiltonian Monte Carlo* (Zhou, AABI 2022)."
)

for column, preset in zip(st.columns(3), presets(), strict=True):
    with column.container(border=True, height="stretch"):
        st.markdown(f"##### :material/{preset.icon}: {preset.title}")
        st.write(preset.about)
        if st.button("Open and run", key=preset.title, type="primary"):
            tab.open(preset.spec)
            st.switch_page("pages/explore.py")

st.subheader("The five samplers")
for sampler in SAMPLERS.values():
    st.markdown(f":material/play_circle: **{sampler.title}**: {sampler.about}")

st.subheader("Where to go")
st.page_link("pages/explore.py", label="**Explore**: pick a target and a sampler, move sliders, run, and watch.")
st.page_link("pages/compare.py", label="**Compare**: the paper's Table 1, samplers at equal cost with error bars.")
st.page_link("pages/checks.py", label="**Checks**: is each sampler right? Verdicts, and two that are wrong on purpose.")
