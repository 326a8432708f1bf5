"""Overview: what this is, four places to start, the samplers in a sentence each, and the targets."""

import streamlit as st

from dashboard import controls, session
from dashboard.presets import presets
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

tab = session.current()

st.title("A laboratory for mixed samplers")
st.markdown(
    "Hamiltonian Monte Carlo moves far, but some variables need updates of their own. Here you can watch, tune and "
    "check the samplers that mix both, from *Metropolis Augmented Hamiltonian Monte Carlo* (Zhou, AABI 2022)."
)

cards = presets()
for row in (cards[:2], cards[2:]):
    for column, preset in zip(st.columns(2), row, strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"##### :material/{preset.icon}: {preset.title}")
            st.write(preset.about)
            if st.button("Open and run" if preset.spec else "Open in Compare", key=preset.title, type="primary"):
                if preset.spec:
                    tab.open(preset.spec)
                    st.switch_page("pages/explore.py")
                st.session_state.update(preset.compare)
                st.switch_page("pages/compare.py")

st.subheader("The samplers")
for sampler in SAMPLERS.values():
    st.markdown(f":material/play_circle: **{sampler.title}**: {sampler.about}")

st.subheader("The targets")
st.markdown(
    f"{len(FAMILIES)} to choose from: the paper's three, examples in the manner of one's own, and your own. "
    "BLR also takes your data, a CSV file."
)
for name, family in FAMILIES.items():
    st.markdown(f":material/target: **{controls.target_title(name)}**. {family.about}")

st.subheader("Where to go")
st.page_link("pages/explore.py", label="**Explore**: pick a target and a sampler, move sliders, run, and watch.")
st.page_link("pages/compare.py", label="**Compare**: the paper's Table 1, samplers at equal cost with error bars.")
st.page_link("pages/checks.py", label="**Checks**: is each sampler right? Verdicts, and two that are wrong on purpose.")
