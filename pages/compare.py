"""Compare: samplers on one target at equal cost, with error bars, beside the paper's Table 1."""

import streamlit as st

from dashboard import comparing, session

tab = session.current(link=False)
wish, problem = comparing.sidebar(tab)

comparing.heading(tab, wish)
if problem:
    st.warning(problem, icon=":material/error:")

with st.container(key="live"):
    comparing.live(tab, wish)
with st.container(key="after"):
    comparing.after(tab)
