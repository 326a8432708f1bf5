"""Checks: is each sampler right? Verdicts on targets with a known truth, with grounds one can look at."""

import streamlit as st

from dashboard import checking, contests, report, session

tab = session.current(link=False)
ledger = checking.ledger(tab)
cells, refusal = checking.sidebar(tab, ledger)

checking.heading(tab, ledger, cells)
for text in filter(None, (ledger.link_problem, refusal)):
    st.warning(text, icon=":material/error:")

with st.container(key="live"):
    busy = checking.live(tab, ledger, cells)
checking.meaning(ledger.asked)
with st.container(key="closer"):
    checking.closer_look(tab, ledger, cells)
with st.container(key="contest"):
    busy |= contests.right_against_wrong(tab, ledger.asked)
report.panel(tab, ledger, cells, busy)
