"""Background work of a tab: jobs run what the settings say and give snapshots. No Streamlit and no Plotly in here."""
