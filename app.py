"""The dashboard's entry. Imported, it gives the server with its routes; run by Streamlit, it lists the pages."""

from pathlib import Path

import streamlit as st

from dashboard.live import downloads, feed

if __name__ == "__main__":  # by Streamlit, for each visitor
    icon = str(Path(__file__).parent / "dashboard" / "icon.png")
    st.set_page_config(page_icon=icon, layout="wide", initial_sidebar_state=384)
    st.navigation(
        [
            st.Page("pages/overview.py", title="Overview", icon=":material/home:", default=True),
            st.Page("pages/explore.py", title="Explore", icon=":material/tune:"),
            st.Page("pages/compare.py", title="Compare", icon=":material/bar_chart:"),
            st.Page("pages/checks.py", title="Checks", icon=":material/fact_check:"),
        ]
    ).run()
else:
    base = st.get_option("server.baseUrlPath")
    app = st.App(__file__, routes=[*feed.routes(base), *downloads.routes(base)])
