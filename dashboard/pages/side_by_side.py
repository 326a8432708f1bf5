"""Explore: several runs side by side."""

from __future__ import annotations

import streamlit as st

from dashboard.live import component
from dashboard.views.beside import Beside


def show(beside: Beside) -> None:
    """Lay out the runs side by side: headings and tiles, then a row for each kind of chart."""
    marks, captions = [column.mark for column in beside.columns], beside.captions()
    per_row = 2 if len(marks) in (2, 4) else 3
    for first in range(0, len(marks), per_row):
        row = marks[first : first + per_row]
        for column, mark in zip(st.columns(per_row), row, strict=False):
            with column:
                component.part(f"head.{mark}", "lines")
                component.part(f"run.{mark}", "status")
        for kind, text in captions.items():
            for column, mark in zip(st.columns(per_row), row, strict=False):
                with column:
                    component.part(f"{kind}.{mark}", "chart")
            st.caption(text)
        for column, mark in zip(st.columns(per_row), row, strict=False):
            with column:
                component.part(f"remarks.{mark}", "remarks")
