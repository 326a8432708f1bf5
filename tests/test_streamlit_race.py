"""A page that runs again while its last run ends: both change the same widget states."""

from __future__ import annotations

from streamlit.runtime.state.session_state import Value, WStates

from dashboard.pages import page


def test_states_that_change_meanwhile_do_not_end_a_run() -> None:
    """Without `page` it is Streamlit's own iteration, which raises RuntimeError here."""
    states = WStates()
    states["a"], states["b"] = Value(1), Value(2)
    seen = []
    for key in states:
        seen.append(key)
        states[f"{key}, from another run"] = Value(3)
    assert seen == ["a", "b"]
    assert WStates.__iter__ is page._iterated
