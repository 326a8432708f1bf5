"""Overview: what this is, four places to start, the samplers in a sentence each, the pages, and the targets."""

import streamlit as st

from dashboard import controls, session
from dashboard.presets import presets
from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

PAGES = {
    "explore": "Pick a target and a sampler, move sliders, run, and watch.",
    "compare": "The paper's Table 1: samplers at equal cost, with error bars.",
    "checks": "Is each sampler right? And two that are wrong on purpose.",
}
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

samplers, places = st.columns([3, 2])
with samplers:
    st.subheader("The samplers", anchor=False)
    st.markdown("\n".join(f"- **{sampler.title}**: {sampler.about}" for sampler in SAMPLERS.values()))
with places:
    st.subheader("Where to go", anchor=False)
    for page, about in PAGES.items():
        st.page_link(f"pages/{page}.py", label=f"**{page.title()}**")
        st.caption(about)
    with st.expander(f"The {len(FAMILIES)} targets", icon=":material/target:"):
        st.markdown("The paper's three, examples in the manner of one's own, and your own. BLR takes a CSV file too.")
        st.markdown("\n".join(f"- **{controls.target_title(name)}**. {it.about}" for name, it in FAMILIES.items()))
