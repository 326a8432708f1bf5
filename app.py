"""The dashboard's entry: page configuration and the table of pages, no more."""

import streamlit as st

st.set_page_config(page_title="mahmc", page_icon="dashboard/icon.png", layout="wide", initial_sidebar_state=360)
st.navigation(
    [
        st.Page("pages/overview.py", title="Overview", icon=":material/home:", default=True),
        st.Page("pages/explore.py", title="Explore", icon=":material/tune:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/bar_chart:"),
        st.Page("pages/checks.py", title="Checks", icon=":material/fact_check:"),
    ]
).run()
