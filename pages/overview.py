"""Overview: what this is, and what is here so far."""

import streamlit as st

from mahmc.samplers import SAMPLERS
from mahmc.targets import FAMILIES

st.title("mahmc")
st.write(
    "A laboratory for samplers that mix Hamiltonian moves with other Metropolis updates. The engine is here: "
    "`mahmc sample` on the command line, `mahmc.sample` in Python. Pages to explore, compare and check samplers in "
    "the browser come next."
)
st.subheader("Samplers")
for sampler in SAMPLERS.values():
    st.markdown(f"**{sampler.title}** {sampler.about}")
st.subheader("Targets")
for family in FAMILIES.values():
    st.markdown(f"**{family.title}** {family.about}")
