"""The app on which test_live.py tries the live transport: pages whose content changes at each look.

A test changes what the server says by `control/{token}?name=value`, which no run of the page notices by itself.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dashboard.figures.look import Chart
from dashboard.live import feed
from dashboard.live.cache import PartCache
from dashboard.live.component import follow, part
from dashboard.views.view import ChartRequest, Line, Remark, Tile, View, lines, remarks, status, table


def chart(update: int, alt: str, traces: int, points: int) -> Chart:
    """`traces` lines of float32; the first point of each is the number of the update."""
    rng = np.random.default_rng(update)
    values = rng.normal(size=(traces, points)).astype(np.float32)
    values[:, 0] = update
    data = [go.Scatter(y=line, name=f"chain {i}", mode="lines", line_width=1) for i, line in enumerate(values)]
    layout = {"xaxis_title": "iteration", "yaxis_title": "x", "showlegend": True}
    return Chart(go.Figure(data, layout=layout), f"Caption {update}", alt)


class Tab:
    """One browser tab. The number of the update goes up at each look, while busy."""

    def __init__(self) -> None:
        self.token = feed.register(self)
        self.caches = {page: PartCache() for page in ("one", "two", "large")}
        self.update = 0
        self.runs = 0
        self.taken = 0  # links
        self.busy = True
        self.faded = False
        self.broken = False
        self.empty = False
        self.wrong_chart = False
        self.layout = 0
        self.delay = 0.0
        self.events: list[object] = []
        self.numbers = dict.fromkeys(self.caches, 0)

    def cache(self, page: str) -> PartCache:
        return self.caches[page]

    def view(self, page: str) -> View:
        if self.broken:
            raise RuntimeError("broken, as the test wants")
        self.update += self.busy
        parts: dict[str, Any] = {"status": status(f"{page}: update {self.update}")}
        if page == "one":
            parts |= self.parts()
        charts = {"one": self.charts(), "large": [self.chart("large", "Sixteen chains", 16, 2000)]}.get(page, [])
        return View(parts, charts, self.layout, self.busy, faded=self.faded, seconds=0.3)

    def parts(self) -> dict[str, Any]:
        n, href = self.update, f"control/{self.token}/file"
        tiles = [Tile("Update", str(n), f"Help of {n}", "beside"), Tile("Other", "1", "")]
        tones = [
            Line(f"{tone or 'plain'} {n}", tone == "good", tone) for tone in ("", "good", "bad", "unclear", "note")
        ]
        verdict = {"state": "right", "symbol": "✓", "word": "right", "detail": f"draws {n}", "help": "Help"}
        boxes = [Remark(f"{tone} {n} <b>", tone) for tone in ("info", "warning", "error")]
        columns = ["Name", "Kind", *(f"Column {i}" for i in range(20))]
        rows = [[f"row {i}", "kind", *(f"{n + i}.{j}" for j in range(20))] for i in range(3)]
        return {
            "status": status(f"one: update {n}", n % 10 / 10, tiles),
            "remarks": remarks([] if self.empty else boxes),
            "lines": lines(tones),
            "table": table(columns, rows),
            "matrix": {
                "columns": [{"name": "gmm", "title": "mixture"}, {"name": "blr", "title": "regression"}],
                "lines": [
                    {"name": name, "title": name.upper(), "note": "note", "squares": [verdict, verdict]}
                    for name in ("hmc", "mahmc")
                ],
                "chosen": ["hmc", "gmm"],
                "canRun": True,
            },
            "files": [{"label": f"File {n}", "href": href, "name": "draws.csv", "help": "All draws"}],
            "tabbed": lines([Line(f"tabbed {n}")]),
            "events": lines([Line(f"events {json.dumps(self.events)}")]),
        }

    def charts(self) -> list[ChartRequest]:
        still = ChartRequest("still", "u", 0, lambda: chart(0, "One chain", 1, 20), height=200)
        return [still, self.chart("small", "Two chains", 2, 50), self.chart("below", "Below", 1, 20)]

    def chart(self, place: str, alt: str, traces: int, points: int) -> ChartRequest:
        make = partial(self.made, alt, traces, points)
        return ChartRequest(place, "u", self.update, make, f"Title of {place}", 200)

    def made(self, alt: str, traces: int, points: int) -> Chart:
        if self.wrong_chart and alt == "Two chains":
            raise RuntimeError("a wrong chart, as the test wants")
        return chart(self.update, alt, traces, points)


def show(page: str) -> Tab:
    """What both pages have: the reader, the address bar's link, a way to the other page, and the status."""
    tab = st.session_state.setdefault("tab", Tab())
    tab.runs += 1
    time.sleep(tab.delay)
    if tab.token not in feed._tabs:
        tab.token = feed.register(tab)
    if tab.runs == 1:
        take(tab, page, st.query_params.get("n", ""))

    key = f"{page}.number"
    if st.session_state.get(f"{key}.taken") != tab.taken:  # a link was taken since: the field shows its number
        st.session_state[f"{key}.taken"], st.session_state[key] = tab.taken, tab.numbers[page]
    tab.numbers[page] = int(st.number_input("n", value=tab.numbers[page], key=key))
    link = urlencode({"n": tab.numbers[page]}) if tab.numbers[page] else ""
    mark = tab.view(page).mark
    navigated = lambda query: take(tab, page, query.removeprefix("n="))  # noqa: E731
    path = "" if page == "one" else page
    follow(feed.address(tab.token, page), mark, link, path, on_navigate=navigated)
    if st.button("Other page"):
        st.switch_page(PAGES["two" if page == "one" else "one"])
    st.button("Run again")
    st.text(f"{page}: run {tab.runs}, query {json.dumps(dict(st.query_params))}")
    part("status", "status")
    return tab


def take(tab: Tab, page: str, number: str) -> None:
    """The number of a link, for a new widget."""
    tab.taken += 1
    tab.numbers[page] = int(number) if number.isdecimal() else 0


def one() -> None:
    tab = show("one")
    if st.checkbox("Show", value=True):
        part("small", "chart")
        part("lines", "lines")
    part("still", "chart")
    part("remarks", "remarks")
    part("table", "table")
    part("matrix", "matrix", on_event=tab.events.append)
    part("files", "files")
    part("events", "lines")
    _, second = st.tabs(["First tab", "Second tab"])
    with second:
        part("tabbed", "lines")
    st.markdown("[Jump](#below)")
    st.html("<div style='height: 3000px'></div>")
    st.header("Below", anchor="below")
    part("below", "chart")


def two() -> None:
    show("two")


def large() -> None:
    show("large")
    part("large", "chart")


def control(request: Request) -> Response:
    """Set fields of a tab; `forget` makes its token unknown."""
    tab = feed._tabs[request.path_params["token"]]
    for name, value in request.query_params.items():
        if name == "forget":
            del feed._tabs[request.path_params["token"]]
        else:
            setattr(tab, name, json.loads(value))
    return PlainTextResponse("done")


def file(request: Request) -> Response:
    return PlainTextResponse("a,b\n1,2\n")


if __name__ == "__main__":
    PAGES = {"one": st.Page(one, title="One", default=True), "two": st.Page(two, title="Two")}
    PAGES["large"] = st.Page(large, title="Large")
    st.navigation(list(PAGES.values())).run()
else:
    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}" if base else ""
    controls = [Route(f"{prefix}/control/{{token}}", control), Route(f"{prefix}/control/{{token}}/file", file)]
    app = st.App(__file__, routes=[*feed.routes(base), *controls])
