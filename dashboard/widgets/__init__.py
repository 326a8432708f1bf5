"""Streamlit's widgets, made from entries of settings. A widget shows an entry, and its event changes that entry."""
