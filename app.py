"""The dashboard's entry: page configuration and the table of pages, no more."""

import streamlit as st

st.set_page_config(page_title="mahmc", page_icon="🎯", layout="wide")
st.navigation([st.Page("pages/overview.py", title="Overview", default=True)]).run()
