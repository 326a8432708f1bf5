"""Explore: pick a target and a sampler, tune, run, and watch the chains."""

import streamlit as st

from dashboard import controls, explore, pins, saving, session

tab = session.current()
spec = explore.sidebar(tab)

explore.heading(tab, spec)
if tab.link_problem:
    st.warning(tab.link_problem, icon=":material/link_off:")
if spec is not None:
    controls.write_link(controls.link(spec, tab.choices))
    tab.follow(spec)

with st.container(key="live"):  # containers of their own, so that what one part shows does not move the others
    busy = explore.live(tab, spec)
with st.container(key="after"):
    explore.after(tab)
with st.container(key="pins"):
    pins.panel(tab)
saving.panel(tab, spec, busy)
