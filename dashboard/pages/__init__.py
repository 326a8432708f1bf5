"""The parts of each page: which widgets at the side, and which place for each part of the view. Streamlit only."""
