"""Which charts of a live page are made anew."""

from __future__ import annotations

import pytest

from dashboard.gallery import AT_ONCE, NEWS, Gallery, Wanted

pytestmark = pytest.mark.quick


class Wall:
    """A page with charts a … e, and which of them were made at each refresh."""

    def __init__(self) -> None:
        self.gallery: Gallery[str] = Gallery()

    def refresh(self, draws: int, live: bool = True, about: str = "u") -> tuple[list[str], list[str]]:
        made: list[str] = []

        def make(key: str) -> str:
            made.append(key)
            return f"{key} of {about} at {draws}"

        wanted = [Wanted(key, about, draws, lambda key=key: make(key)) for key in "abcde"]  # type: ignore[misc]
        return self.gallery.show(wanted, live), made


def test_all_are_made_at_first_and_when_the_subject_changes() -> None:
    wall = Wall()
    assert wall.refresh(10)[1] == list("abcde")
    assert wall.refresh(10, about="v")[1] == list("abcde")
    assert wall.refresh(10, about="v")[0] == [f"{key} of v at 10" for key in "abcde"]


def test_while_live_they_take_turns() -> None:
    wall = Wall()
    wall.refresh(10)
    turns = [wall.refresh(10 * 2**i)[1] for i in range(1, 11)]
    assert all(len(made) == AT_ONCE for made in turns)
    assert "".join(key for made in turns for key in made)[:10] == "abcdeabcde"


def test_a_chart_with_hardly_more_draws_is_left_alone() -> None:
    wall = Wall()
    wall.refresh(1000)
    assert wall.refresh(int(1000 * (1 + NEWS)))[1] == []
    assert len(wall.refresh(int(1000 * (1 + NEWS)) + 1)[1]) == AT_ONCE


def test_at_the_end_all_are_of_all_draws() -> None:
    wall = Wall()
    wall.refresh(1000)
    shown, made = wall.refresh(1001, live=False)
    assert made == list("abcde")
    assert shown == [f"{key} of u at 1001" for key in "abcde"]
    assert wall.refresh(1001, live=False)[1] == []


def test_charts_made_since() -> None:
    """Numbers go up by one, from 1, whatever is made anew."""
    wall = Wall()
    assert wall.gallery.last == 0
    wall.refresh(10)
    assert wall.gallery.last == 5
    assert list(wall.gallery.since(3)) == ["d", "e"]
    wall.refresh(20)
    assert wall.gallery.since(5) == {"a": "a of u at 20"}
    assert wall.gallery.since(wall.gallery.last) == {}
