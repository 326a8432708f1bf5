"""Explore: pick a target and a sampler, tune, run, and watch the chains."""

import streamlit as st

from dashboard import controls, explore, pins, saving, session

tab = session.current()
spec = explore.sidebar(tab)

explore.heading(tab, spec)
if tab.link_problem:
    st.warning(tab.link_problem, icon=":material/link_off:")
if spec is not None:
    controls.write_link(spec, tab.choices)
    tab.follow(spec)

explore.live(tab, spec)
explore.after(tab)
pins.panel(tab)
saving.panel(tab, spec)
