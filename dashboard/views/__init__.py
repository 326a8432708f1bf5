"""The views of pages, made of settings and a snapshot: words and requests for charts. No Streamlit in here."""
