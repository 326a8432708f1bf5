"""A widget shows what the settings say, and what is heard of a widget that is gone changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from dashboard.widgets.controls import bound


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What Streamlit keeps of a session."""
    made: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", made)
    return made


def test_a_widget_that_shows_the_value_stays(state: dict[str, Any]) -> None:
    taken: list[float] = []
    first = bound("epsilon", 0.3, taken.append)
    state[first["key"]] = 0.2  # the user's entry
    first["on_change"]()
    assert taken == [0.2]
    assert bound("epsilon", 0.2, taken.append)["key"] == first["key"]


def test_a_widget_with_another_value_makes_room_and_is_not_listened_to(state: dict[str, Any]) -> None:
    taken: list[float] = []
    first = bound("epsilon", 0.3, taken.append)
    state[first["key"]] = 0.3
    second = bound("epsilon", 0.2, taken.append)  # the settings were changed by a slider
    assert second["key"] != first["key"]
    first["on_change"]()  # the browser did not know of it yet
    assert taken == []
    state[second["key"]] = 0.1
    second["on_change"]()
    assert taken == [0.1]


def test_a_refused_entry_is_replaced_by_what_is_in_use(state: dict[str, Any]) -> None:
    first = bound("epsilon", 0.3, lambda value: None)
    state[first["key"]] = -1.0
    first["on_change"]()
    second = bound("epsilon", 0.3, lambda value: None)
    assert second["key"] not in state
    assert bound("epsilon", 0.3, lambda value: None)["key"] == second["key"]
