"""Pages for tests, without a browser: open one with a link, press, wait for its job, and read what it shows.

Streamlit's AppTest runs a page. A page only lays out places; what is in them comes from the view that a browser would
fetch, so that is where tests read it.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
from starlette.applications import Starlette
from starlette.types import Message
from streamlit.testing.v1 import AppTest

from dashboard.figures.look import Chart
from dashboard.live import downloads, feed
from dashboard.live.screen import Screen
from dashboard.pages import page as pages
from dashboard.settings import link
from dashboard.views.view import View
from dashboard.work.job import Job
from dashboard.work.kept import KEPT
from dashboard.work.runs import RunWork
from dashboard.work.tab import Tab
from mahmc import RunSpec

ROOT = Path(__file__).parents[2]
DEADLINE = 600.0  # seconds: a safety net, which no test is meant to reach; kernels may have to be compiled first
SMALL = {"draws": "300", "warmup": "30", "chains": "4"}
ENDLESS = {"draws": "1000000", "warmup": "0", "thin": "1000", "chains": "4"}  # hours, in little memory
OF_A_SLOT = r"explore\.[23]\."  # keys of widgets of a run beside the main run
MARKDOWN_LINK = r"(?<!\\)\]\("
# The page has the caption of these charts, once for all.
SHARED_CAPTION = ("beads", "histogram.", "trace.", "density.", "contest.q", "contest.component")
_tabs: list[Tab] = []


@contextmanager
def pages_of_one_test() -> Iterator[None]:
    """Pages run on their own, without app.py to send people back to. At the end, all jobs of their tabs end."""
    called_before = pages.navigation_called.is_set()
    pages.navigation_called.set()
    try:
        yield
    finally:
        if not called_before:
            pages.navigation_called.clear()
        for tab in _tabs:
            tab.end()
        for job in [job for tab in _tabs for job in tab.started]:
            job.wait(DEADLINE)
        _tabs.clear()
        KEPT.clear()


def until(condition: Callable[[], Any], seconds: float = DEADLINE) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def all_ended(page: Page) -> Page:
    """The page when all runs of Explore have ended."""
    for job in page.tab.group("explore").values():
        ended(job)
    return page.run()


def ended(job: Job[Any]) -> Job[Any]:
    """The job when it has ended, and its estimates, if it has any, are there."""
    assert not job.wait(DEADLINE).alive
    if isinstance(job.work, RunWork):
        until(lambda: not job.snapshot().result.estimating)
    return job


def new_tab() -> Tab:
    """A tab without a page; its jobs end with the test."""
    _tabs.append(Tab())
    return _tabs[-1]


def spec_of(tab: Tab) -> RunSpec:
    """The run that Explore's settings make."""
    spec, problem = tab.spec()
    assert spec is not None, problem
    return spec


def run(tab: Tab) -> Job[Any]:
    """Start it, as the button does."""
    tab.run_settings()
    return tab.jobs["explore"]


def new_screen() -> Screen:
    """The same with what a browser fetches of it."""
    return Screen(new_tab())


class Page:
    """A page as a person sees it. Words and charts are those of its view."""

    def __init__(self, name: str, app: AppTest) -> None:
        self.name, self.app = name, app
        self.run()
        _tabs.append(self.tab)

    def run(self) -> Page:
        """Refresh it."""
        self.app.run()
        assert not self.app.exception, self.app.exception[0].message
        return self

    def go(self, name: str) -> Page:
        """Another page of the same tab, through the menu: the query of the address goes."""
        self.app.query_params.clear()
        self.app.switch_page(f"pages/{name}.py")
        self.name = name
        return self.run()

    def follow(self, label: str, number: int = 0) -> Page:
        """A link on this page to another one, by its label; `number` counts links with the same label."""
        links = [found.proto for found in self.app.get("page_link") if f"**{label}**" in found.proto.label]
        link = links[number]
        self.app.query_params.clear()
        self.app.query_params.update(dict(parse_qsl(link.query_string)))
        self.app.switch_page(f"pages/{link.page}.py")
        self.name = link.page
        return self.run()

    def arrived(self, name: str) -> Page:
        """After a button that leads to another page: it is there."""
        assert self.app.title[0].value == name.capitalize()
        self.app.switch_page(f"pages/{name}.py")  # for the runs to come
        self.name = name
        return self

    # -------------------------------------------------------------------------------------------- what is behind

    @property
    def screen(self) -> Screen:
        return self.app.session_state["screen"]

    @property
    def tab(self) -> Tab:
        return self.screen.tab

    @property
    def settings(self) -> Any:
        return self.tab.settings[self.name]

    @property
    def choices(self) -> Any:
        return self.settings.choices

    @property
    def spec(self) -> RunSpec:
        return spec_of(self.tab)

    @property
    def job(self) -> Any:
        """The page's job; KeyError if there is none."""
        return self.tab.jobs[self.name]

    @property
    def feed(self) -> dict[str, Any]:
        """What the page told the browser of its view."""
        return next(data for data in self._mounted() if data["kind"] == "feed")

    @property
    def link(self) -> dict[str, str]:
        """The query that the address bar shows."""
        return link.split(self.feed["link"])

    @property
    def places(self) -> dict[str, str]:
        """The kinds of the places that the page laid out, by place."""
        return {data["place"]: data["kind"] for data in self._mounted() if data["kind"] != "feed"}

    @property
    def shared_link(self) -> dict[str, str]:
        """The link that the page offers for copying: its path, and its query."""
        return next(data["content"] for data in self._mounted() if data["kind"] == "link")

    def _mounted(self) -> list[dict[str, Any]]:
        return [json.loads(part.proto.json) for part in self.app.get("bidi_component")]

    # -------------------------------------------------------------------------------------------- what is shown

    @property
    def view(self) -> View:
        return self.screen.view(self.name)

    @property
    def status(self) -> str:
        return self.view.parts["status"]["text"]

    @property
    def tiles(self) -> dict[str, str]:
        """Values by label."""
        return {tile["label"]: tile["value"] for tile in self.view.parts["status"]["tiles"]}

    @property
    def remarks(self) -> list[str]:
        return [remark["text"] for remark in self.view.parts["remarks"]]

    @property
    def table(self) -> list[dict[str, str]]:
        """The rows of the view's table."""
        found = self.view.parts["table"]
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    @property
    def squares(self) -> dict[tuple[str, str], str]:
        """The state of each cell of the matrix."""
        found = self.view.parts["matrix"]
        return {
            (line["name"], column["name"]): square["state"]
            for line in found["lines"]
            for column, square in zip(found["columns"], line["squares"], strict=True)
        }

    @property
    def warned(self) -> str:
        """The page's own warnings and errors."""
        return " ".join(str(element.value) for kind in (self.app.warning, self.app.error) for element in kind)

    @property
    def words(self) -> str:
        """All words, the page's own and those of the view."""
        app = self.app
        kinds = (app.markdown, app.error, app.warning, app.info, app.subheader, app.caption, app.code)
        own = [str(element.value) for kind in kinds for element in kind]
        return " ".join([*own, *_texts(self.view.parts)])

    def everything(self) -> dict[str, Chart]:
        """All charts by place, each really made; and each part and chart has its place on the page."""
        view, places = self.view, self.places
        assert self.feed["mark"] == view.mark, "the page would be refreshed again and again"
        requests = {request.place: request for request in view.charts}
        assert {*view.parts, *requests} <= places.keys()
        assert all((places[place] == "chart") == (place in requests) for place in (*view.parts, *requests))
        json.dumps(view.parts, allow_nan=False)
        charts = {place: request.make() for place, request in requests.items()}
        for place, chart in charts.items():
            assert chart.alt, place
            assert bool(chart.caption) != place.startswith(SHARED_CAPTION), place
        return charts

    # --------------------------------------------------------------------------------------------------- events

    def labels(self) -> set[str]:
        """Of all widgets but buttons."""
        app = self.app
        kinds = (app.button_group, app.slider, app.select_slider, app.multiselect, app.text_area, app.selectbox)
        return {widget.label for kind in kinds for widget in kind}

    def widget(self, label: str, of: str = "") -> Any:
        """The one widget with this label; of several runs that of the main run, or that `of` a sampler or a slot."""
        app = self.app
        kinds = (app.number_input, app.slider, app.select_slider, app.selectbox, app.multiselect, app.toggle,
                 app.button_group, app.text_input, app.text_area)  # fmt: skip
        labelled = [widget for kind in kinds for widget in kind if widget.label == label]
        (found,) = [w for w in labelled if (f".{of}." in str(w.key) if of else not re.match(OF_A_SLOT, str(w.key)))]
        return found

    def set(self, label: str, value: Any, of: str = "") -> Page:
        """Give a widget another value."""
        self.widget(label, of).set_value(value)
        return self.run()

    def button(self, label: str) -> Any:
        """The first button whose label begins so."""
        return next(button for button in self.app.button if button.label.startswith(label))

    def press(self, label: str) -> Page:
        """Press it; a button that is off cannot be pressed."""
        self.button(label).click()
        return self.run()

    def ended(self, place: str = "") -> Page:
        """When the job in that place (the page's own by default) has ended."""
        ended(self.tab.jobs[place or self.name])
        return self.run()


def opened(name: str = "explore", **query: str) -> Page:
    """A page, opened with a link."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=DEADLINE)
    app.query_params.update(query)
    return Page(name, app)


def opened_app() -> Page:
    """The whole app, at its overview: `go` opens the other pages."""
    return Page("overview", AppTest.from_file(str(ROOT / "app.py"), default_timeout=DEADLINE))


def _texts(node: Any) -> Iterator[str]:
    """All strings in a part."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value)


# ------------------------------------------------------------------------------------------------------ the server


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    pieces: list[bytes]

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def text(self) -> str:
        return self.body.decode()


def answered(path: str, base: str = "") -> Answer:
    """The answer to GET, by ASGI: of the feed and of downloads."""
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(DEADLINE)  # the browser stays
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    place, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": place, "query_string": query.encode(), "headers": []}
    server = Starlette(routes=[*feed.routes(base), *downloads.routes(base)])
    with ThreadPoolExecutor(1) as elsewhere:  # in this thread a browser of other tests may have a loop of its own
        elsewhere.submit(asyncio.run, server(scope, receive, send)).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, [body for message in sent if (body := message.get("body"))])


def file_address(view: View, label: str) -> str:
    """Where the browser fetches a file that the view offers."""
    return next(f"/{file['href']}" for file in view.parts["files"] if file["label"] == label)


# ---------------------------------------------------------------------------------------------------- uploaded data


def csv_file(rows: int = 60, seed: int = 0, more: Mapping[str, list[Any]] | None = None) -> bytes:
    """A table to upload: age, dose_$, cured (zeros and ones), and more columns."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {
        "age": rng.normal(50, 9, rows).round(2).tolist(), "dose_$": rng.normal(0, 1, rows).round(3).tolist(),
        "cured": [i % 2 for i in range(rows)],
        **(more or {}),
    }  # fmt: skip
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines).encode()


def has_markdown_link(text: str) -> bool:
    return re.search(MARKDOWN_LINK, text) is not None
