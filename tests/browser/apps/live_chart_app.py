"""The page on which test_live_chart.py tries the live chart: two charts that change, one that stands still."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard.live_chart import LiveChart


def figure(update: int, *, traces: int, points: int) -> go.Figure:
    """`traces` lines of float32; the first point of each is the number of the update."""
    rng = np.random.default_rng(update)
    lines = rng.normal(size=(traces, points)).astype(np.float32)
    lines[:, 0] = update
    data = [go.Scatter(y=line, name=f"chain {i}", mode="lines", line_width=1) for i, line in enumerate(lines)]
    return go.Figure(data, layout={"xaxis_title": "iteration", "yaxis_title": "x", "showlegend": True})


@st.fragment(run_every=0.3)
def changing() -> None:
    """Two charts with new data several times a second."""
    update = st.session_state["update"] = st.session_state.get("update", 0) + 1
    st.text(f"update {update}")
    LiveChart.of(figure(update, traces=16, points=2000), alt="Sixteen chains").show("large")
    LiveChart.of(figure(update, traces=2, points=50), height=200, alt="Two chains").show("small")


st.title("Live chart")
if st.checkbox("Show", value=True):
    changing()
LiveChart.of(figure(0, traces=1, points=20), height=200, alt="One chain").show("still")
