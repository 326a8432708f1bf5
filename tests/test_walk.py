"""The walk of one click, as docs/architecture.md draws it, is the walk that the dashboard takes."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import FrameType

import pytest
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

from dashboard.live import feed
from dashboard.pages import page
from tests.support.pages import until

pytestmark = pytest.mark.quick  # it opens each page, runs a job of each kind and reads the feed

ROOT = Path(__file__).parent.parent
WALKS = {"explore": 0, "compare": 1, "checks": 2}  # columns of the table
LINKS = {
    "explore": {"target": "gmm", "draws": "300", "warmup": "30", "chains": "4"},
    "compare": {"target": "gmm", "samplers": "hmc,mahmc", "budget": "48000", "replicates": "2"},
    "checks": {"budget": "0.01", "cell": "mahmc.gmm"},
}
BUTTONS = {"explore": "Run", "compare": "Run", "checks": "Check this cell"}


def steps(column: int) -> dict[str, list[str]]:
    """The functions of one walk by phase, in their order."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "docs" / "architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and re.match(r"\d+\. ", cells[1]):
            found.setdefault(cells[0], []).append(cells[2 + column].strip("*`"))
    return found


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The functions of the dashboard that are called meanwhile, in whatever thread, in order."""
    calls: list[str] = []
    folder = str(ROOT / "dashboard")

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder):
            module = Path(code.co_filename).relative_to(folder).with_suffix("").as_posix().replace("/", ".")
            calls.append(f"{module}.{code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        threading.setprofile(None)
        sys.setprofile(None)


def _set() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@pytest.mark.parametrize("name", WALKS)
def test_the_walk_of_a_click_is_the_one_that_is_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "navigation_called", _set())
    app = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=60)
    app.query_params.update(LINKS[name])
    app.run()
    button = next(b for b in app.button if b.label == BUTTONS[name])
    with recorded() as calls:
        button.click().run()
        screen = app.session_state["screen"]
        until(lambda: not screen.view(name).busy)  # estimates come after the job, and change the layout once more
        mark = screen.view(name).mark
        clicked = len(calls)
        asked(screen.token, name, mark)
    walk = steps(WALKS[name])
    assert list(walk) == ["event", "job", "page", "request"]
    for phase, functions in walk.items():
        heard = calls[clicked:] if phase == "request" else calls[:clicked]
        places = [heard.index(function) for function in functions if function in heard]
        assert len(places) == len(functions), f"{phase}: {set(functions) - set(heard)} is not called"
        assert places == sorted(places), f"{phase}: another order"
    assert calls.index(walk["event"][-1]) < calls.index(walk["job"][0])


def asked(token: str, name: str, mark: str) -> None:
    """What the browser asks for."""
    query = f"since=0&mark={mark}".encode()
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": query,
             "path_params": {"token": token, "page": name}}  # fmt: skip
    assert feed._answer(Request(scope)).status_code == 200


def test_every_function_of_the_walk_exists() -> None:
    for column in WALKS.values():
        for function in chain(*steps(column).values()):
            module, *names = re.match(r"(.*?\.\w+)\.(.*)", function).groups()  # type: ignore[union-attr]
            text = (ROOT / "dashboard" / (module.replace(".", "/") + ".py")).read_text()
            assert f"def {names[0].split('.')[-1]}(" in text, function
