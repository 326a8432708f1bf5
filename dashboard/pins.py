"""Runs kept for comparison: listed, drawn over the histogram, and compared by ESS per gradient."""

from __future__ import annotations

import streamlit as st

from dashboard import figures
from dashboard.session import MOST_NAME, MOST_PINS, Pin, Session
from mahmc import Run, RunSpec, diagnostics


def panel(tab: Session) -> None:
    """Up to four runs kept for comparison."""
    job = tab.job
    can_pin = job is not None and not job.alive and job.drawn >= diagnostics.FEWEST_DRAWS
    if tab.choices.view != "full" or not (tab.pins or can_pin):
        return
    st.subheader("Pinned runs")
    full = len(tab.pins) >= MOST_PINS
    kept = any(pin.job is job for pin in tab.pins)
    st.button("Pin this run", icon=":material/push_pin:", on_click=tab.pin, disabled=full or kept or not can_pin,
              help=f"Keep up to {MOST_PINS} runs: they are drawn over the histogram and compared below.")  # fmt: skip
    for pin in list(tab.pins):
        _pin_row(tab, pin)
    if tab.pins:
        _compare(tab)


def _pin_row(tab: Session, pin: Pin) -> None:
    name, reopen, unpin = st.columns([6, 1, 1], vertical_alignment="bottom")
    key = f"pin.{pin.job.number}"
    pin.name = name.text_input("Name", pin.name, key=key, max_chars=MOST_NAME, label_visibility="collapsed") or pin.name
    reopen.button("Reopen", key=f"{key}.reopen", on_click=_reopen, args=(tab, pin), width="stretch",
                  help="Show this run again, with its settings in the controls")  # fmt: skip
    unpin.button("Unpin", key=f"{key}.unpin", on_click=tab.pins.remove, args=(pin,), width="stretch")
    spec = pin.job.spec
    st.caption(f"{spec.target} · {spec.sampler} · {spec.chains} chains × {pin.job.drawn:,} draws · seed {spec.seed}")


def _reopen(tab: Session, pin: Pin) -> None:
    tab.adopt(pin.job.spec)
    tab.show(pin.job)


def _compare(tab: Session) -> None:
    rows, paper = [], {}
    for pin in tab.pins:
        run = pin.job.run
        if run is None:
            continue
        low, value, high = _ess_per_gradient(run, run.spec, run.done)
        rows.append((pin.name, run.spec.sampler, value, low, high))
        at_best = run.spec.values == run.spec.method.defaults(run.spec.target)
        paper[pin.name] = run.spec.method.paper_ess.get(run.spec.target) if at_best else None
    chart = figures.ess_bars(rows, paper)
    st.plotly_chart(chart.figure, key="pins.ess", alt=chart.alt, config={"displaylogo": False})
    quantities = ", ".join(sorted({pin.job.target.paper_quantity for pin in tab.pins}))
    st.caption(f"{chart.caption} Of {quantities}; intervals are 95 %, by a jackknife over chains.")


@st.cache_data(show_spinner="Working out intervals …", max_entries=16)
def _ess_per_gradient(_run: Run, spec: RunSpec, drawn: int) -> tuple[float, float, float]:
    """The paper's figure of its quantity, with its interval: low, value, high."""
    x = _run.get(_run.target.paper_quantity)
    low, high = diagnostics.ess_interval(x)
    scale = x.size * spec.leapfrogs_per_draw
    return low / scale, diagnostics.ess(x) / scale, high / scale
