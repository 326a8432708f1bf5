"""The layout of each page: the widgets in the sidebar, and a place for each part of the view."""
