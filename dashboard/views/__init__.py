"""What pages show: settings and a snapshot become a View. Words and requests for charts, no Streamlit in here."""
