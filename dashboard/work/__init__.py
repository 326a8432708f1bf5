"""Background work of one tab: settings become jobs, jobs give snapshots. No Streamlit and no Plotly in here."""
