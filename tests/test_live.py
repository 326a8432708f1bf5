"""The live transport without a browser: charts as bytes, what is new at a look, and how the server answers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import plotly
import plotly.graph_objects as go
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import Message

from dashboard.figures.look import Chart
from dashboard.live import assets, component, feed
from dashboard.live.cache import AT_ONCE, GROWTH, PartCache
from dashboard.live.message import CANNOT_BE_DRAWN, chart_message, figure_message
from dashboard.views.view import ChartRequest, View

pytestmark = pytest.mark.quick
LIMIT = 200_000  # bytes of a message of 16 traces × 2000 points


# A chart as bytes


def decoded(message: bytes) -> dict[str, Any]:
    """The header of a message, with its arrays, as the browser reads them."""
    start = 4 + int.from_bytes(message[:4], "little")

    def array(node: dict[str, Any]) -> object:
        if "bdata" not in node:
            return node
        first, last = node["bdata"]
        shape = [int(length) for length in node["shape"].split(",")]
        return np.frombuffer(message[start + first : start + last], dtype=node["dtype"]).reshape(shape)

    header: dict[str, Any] = json.loads(message[4:start], object_hook=array)
    return header


def test_a_message_is_small_and_exact() -> None:
    """16 × 2000 float32 fit below the limit, and can be read back from the message."""
    lines = np.random.default_rng(1).normal(size=(16, 2000)).astype(np.float32)
    figure = go.Figure([go.Scatter(y=line, name=f"chain {i}") for i, line in enumerate(lines)])
    message = figure_message(figure)
    assert message == figure_message(figure.to_dict())
    assert len(message) < LIMIT
    for trace, line in zip(decoded(message)["figure"]["data"], lines, strict=True):
        np.testing.assert_array_equal(trace["y"], line)


def test_a_message_takes_any_array() -> None:
    """Floats become float32, wide integers float64, a matrix keeps its shape, dates and gaps stay JSON."""
    wide = np.array([0, 2**40 + 1])  # no float32
    z = np.arange(6.0).reshape(2, 3)
    x = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    figure = go.Figure([go.Heatmap(z=z), go.Scatter(x=x, y=wide), go.Scatter(y=[1.0, float("nan")])])
    for content in (figure, {"data": [{"z": z}, {"x": x, "y": wide}, {"y": [1.0, float("nan")]}]}):
        heatmap, dated, gap = decoded(figure_message(content))["figure"]["data"]
        assert heatmap["z"].dtype == np.float32
        np.testing.assert_array_equal(heatmap["z"], z)
        np.testing.assert_array_equal(dated["y"], wide)
        assert dated["x"][0].startswith("2026-01-01")
        assert gap["y"] == [1.0, None]


def test_a_message_has_the_charts_words_and_leaves_looks_to_the_page() -> None:
    figure = go.Figure(
        layout={"template": "plotly_dark", "width": 100, "height": 100, "xaxis": {"title": {"text": "x"}}}
    )
    sent = decoded(chart_message(Chart(figure, "a caption", "an alt"), "trace", "a title", 250, "live/plotly.js"))
    assert sent["figure"]["layout"] == {"xaxis": {"title": {"text": "x"}}}
    words = {name: sent[name] for name in ("caption", "alt", "place", "title", "height", "library")}
    assert list(words.values()) == ["a caption", "an alt", "trace", "a title", 250, "live/plotly.js"]


def test_equal_figures_have_equal_versions() -> None:
    def version(values: Iterable[float], **words: str) -> int:
        found: int = decoded(figure_message(go.Figure(go.Scatter(y=np.array(list(values)))), **words))["version"]
        return found

    assert version([1.0, 2.0]) == version([1.0, 2.0])
    assert version([1.0, 2.0]) != version([1.0, 3.0])
    assert version([1.0, 2.0], caption="a") != version([1.0, 2.0], caption="b")


# What is new at a look


def read(news: bytes) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The header, and the charts by place."""
    end = 4 + int.from_bytes(news[:4], "little")
    header, charts = json.loads(news[4:end]), {}
    for place, size in header.pop("charts").items():
        charts[place], end = decoded(news[end : end + size]), end + size
    assert end == len(news)
    return header, charts


class Page:
    """A page with charts a … e, and which of them were made at each look."""

    def __init__(self) -> None:
        self.cache = PartCache()
        self.made: list[str] = []

    def request(self, place: str, about: str, size: int) -> ChartRequest:
        def make() -> Chart:
            self.made.append(place)
            return Chart(go.Figure(), "", f"{place} of {about} at {size}")

        return ChartRequest(place, about, size, make)

    def look(self, size: int, live: bool = True, about: str = "u", since: int = 0) -> tuple[dict[str, str], str]:
        """The text alternatives of the charts sent, and the charts made."""
        self.made = []
        view = View(charts=[self.request(place, about, size) for place in "abcde"], live=live)
        _, charts = read(self.cache.changes(view, since))
        return {place: chart["alt"] for place, chart in charts.items()}, "".join(self.made)


def test_all_charts_are_made_at_first_and_when_the_subject_changes() -> None:
    page = Page()
    assert page.look(10)[1] == "abcde"
    assert page.look(10)[1] == ""
    sent, made = page.look(10, about="v")
    assert made == "abcde"
    assert sent == {place: f"{place} of v at 10" for place in "abcde"}


@pytest.mark.parametrize("change", [{"title": "t"}, {"height": 99}])
def test_a_chart_with_another_title_or_height_is_made_at_once(change: dict[str, Any]) -> None:
    page = Page()
    request = page.request("a", "u", 1)
    page.cache.changes(View(charts=[request], live=True), 0)
    page.cache.changes(View(charts=[request._replace(**change)], live=True), 0)
    assert page.made == ["a", "a"]


def test_while_live_charts_take_turns() -> None:
    page = Page()
    page.look(10)
    turns = [page.look(10 * 2**i)[1] for i in range(1, 11)]
    assert all(len(made) == AT_ONCE for made in turns)
    assert "".join(turns)[:10] == "abcdeabcde"


def test_a_chart_that_hardly_grew_is_left_alone() -> None:
    page = Page()
    page.look(1000)
    assert page.look(int(1000 * (1 + GROWTH)))[1] == ""
    assert len(page.look(int(1000 * (1 + GROWTH)) + 1)[1]) == AT_ONCE


def test_at_the_end_all_charts_are_of_the_last_size() -> None:
    page = Page()
    page.look(1000)
    sent, made = page.look(1001, live=False)
    assert made == "abcde"
    assert sent == {place: f"{place} of u at 1001" for place in "abcde"}
    assert page.look(1001, live=False)[1] == ""


def test_only_what_changed_since_is_sent() -> None:
    """Numbers go up by one, from 1, whatever changed."""
    cache = PartCache()

    def news(since: int, **parts: object) -> tuple[int, dict[str, object]]:
        header, _ = read(cache.changes(View(parts), since))
        return header["last"], header["parts"]

    assert news(0, a=[1], b={"text": "x"}) == (2, {"a": [1], "b": {"text": "x"}})
    assert news(2, a=[1], b={"text": "x"}) == (2, {})
    assert news(2, a=[1], b={"text": "y"}) == (3, {"b": {"text": "y"}})
    assert news(1, a=[1], b={"text": "y"}) == (3, {"b": {"text": "y"}})
    assert news(0, a=[1], b={"text": "y"}) == (3, {"a": [1], "b": {"text": "y"}})


def test_charts_made_since_are_sent() -> None:
    page = Page()
    page.look(10)
    assert list(page.look(10, since=3)[0]) == ["d", "e"]
    assert page.look(20, since=5)[0] == {"a": "a of u at 20"}
    assert page.look(20, since=6)[0] == {"b": "b of u at 20"}


def test_a_number_from_elsewhere_counts_as_none() -> None:
    """A browser may still have the numbers of a cache before this one."""
    assert read(PartCache().changes(View({"a": 1}), 50))[0]["parts"] == {"a": 1}


def test_the_header_tells_of_the_view() -> None:
    view = View({"a": 1}, busy=True, faded=True, seconds=0.7)
    header, charts = read(PartCache().changes(view, 0))
    expected = {
        "last": 1,
        "busy": True,
        "faded": True,
        "seconds": 0.7,
        "mark": view.mark,
        "parts": {"a": 1},
        "gone": [],
    }
    assert (header, charts) == (expected, {})


def test_a_place_that_left_the_view_is_dropped() -> None:
    page = Page()
    both = View({"p": 1}, [page.request("a", "u", 1)])
    page.cache.changes(both, 0)
    header, charts = read(page.cache.changes(View(), 0))
    assert (header["parts"], sorted(header["gone"]), charts) == ({}, ["a", "p"], {})
    assert read(page.cache.changes(View(), header["last"]))[0]["gone"] == []
    again, charts = read(page.cache.changes(both, header["last"]))
    assert (again["parts"], again["gone"], list(charts)) == ({"p": 1}, [], ["a"])
    assert page.made == ["a", "a"]


def test_an_error_in_one_chart_loses_no_other(caplog: pytest.LogCaptureFixture) -> None:
    page = Page()

    def fail() -> Chart:
        raise RuntimeError("no such quantity")

    charts = [ChartRequest("wrong", "u", 1, fail, "A title"), page.request("a", "u", 1)]
    with caplog.at_level(logging.ERROR):
        header, sent = read(page.cache.changes(View({"p": 1}, charts), 0))
    assert header["parts"] == {"p": 1}
    assert sent["a"]["alt"] == "a of u at 1"
    assert (sent["wrong"]["alt"], sent["wrong"]["title"]) == (CANNOT_BE_DRAWN, "A title")
    assert sent["wrong"]["figure"]["layout"]["annotations"][0]["text"] == CANNOT_BE_DRAWN
    assert "no such quantity" in caplog.text


@pytest.mark.parametrize("content", [float("nan"), {"x": object()}])
def test_a_part_that_is_not_json_is_named(content: object) -> None:
    with pytest.raises(ValueError, match="the part at 'share' is not JSON"):
        PartCache().changes(View({"share": content}), 0)


def test_two_may_ask_at_once() -> None:
    """A chart that two requests ask for at the same time is made once."""
    page, barrier = Page(), Barrier(2)
    view = View({"p": 1}, [page.request(place, "u", 1) for place in "abcde"])

    def ask(_: int) -> bytes:
        barrier.wait()
        return page.cache.changes(view, 0)

    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            page.cache, page.made = PartCache(), []
            one, two = pool.map(ask, range(2))
            assert one == two
            assert "".join(page.made) == "abcde"


# How the server answers


class Tab:
    def __init__(self, view: Callable[[], View]) -> None:
        self.make = view
        self.caches = {"explore": PartCache()}

    def view(self, page: str) -> View:
        return self.make()

    def cache(self, page: str) -> PartCache:
        return self.caches[page]


VIEW = View({"p": 1})


def answered(path: str, base: str = "") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the server's answer, by ASGI."""
    sent: list[Message] = []
    requests: list[Message] = [{"type": "http.request"}]

    async def receive() -> Message:
        return requests.pop() if requests else await asyncio.Future()  # then no more comes

    async def send(message: Message) -> None:
        sent.append(message)

    place, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": place, "query_string": query.encode(), "headers": []}
    answer = Starlette(routes=feed.routes(base))(scope, receive, send)
    with ThreadPoolExecutor(1) as elsewhere:  # in this thread a browser of other tests may have a loop of its own
        elsewhere.submit(asyncio.run, answer).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)


def status(path: str, base: str = "") -> int:
    return answered(path, base)[0]


def place(tab: Tab, page: str = "explore") -> str:
    return f"/{feed.address(feed.register(tab), page)}"


def test_a_tab_is_told_by_its_address() -> None:
    tab = Tab(lambda: VIEW)
    code, headers, body = answered(f"{place(tab)}?since=0&mark={VIEW.mark}")
    assert (code, read(body)[0]["parts"]) == (200, {"p": 1})
    assert (headers["content-encoding"], headers["cache-control"]) == ("identity", "no-store")
    assert read(answered(f"{place(tab)}?since=1&mark={VIEW.mark}")[2])[0]["parts"] == {}


def test_tokens_differ_and_cannot_be_guessed() -> None:
    tab = Tab(lambda: VIEW)
    assert feed.register(tab) != feed.register(tab)
    assert len(feed.register(tab)) > 20
    assert status(f"/live/guessed/explore?since=0&mark={VIEW.mark}") == 404


def test_another_layout_is_for_a_refresh() -> None:
    tab = Tab(lambda: VIEW)
    assert [status(f"{place(tab)}?since=0{mark}") for mark in ("", "&mark=", "&mark=0")] == [205, 205, 205]


def test_an_unknown_page_is_not_found() -> None:
    tab = Tab(lambda: VIEW)
    query = f"since=0&mark={VIEW.mark}"
    assert [status(f"{place(tab, page)}?{query}") for page in ("explore", "nowhere")] == [200, 404]


def closer_tab() -> Tab:
    """A tab with two charts, of which "a" can be looked at closer."""

    def chart(low: float, high: float) -> Chart:
        return Chart(go.Figure(go.Scatter(y=np.array([low, high]))), f"from {low:g} to {high:g}", "closer")

    whole = Chart(go.Figure(), "all of it", "whole")
    requests = [ChartRequest("a", 1, 1, lambda: whole, closer=chart), ChartRequest("b", 1, 1, lambda: whole)]
    return Tab(lambda: View(charts=requests))


def test_a_range_of_a_chart_can_be_asked_for() -> None:
    """Both messages say that they are about the same: the browser may take one for the other."""
    tab = closer_tab()
    code, headers, body = answered(f"{place(tab)}/closer/a?from=-2.5&to=4")
    assert (code, headers["cache-control"]) == (200, "no-store")
    found = decoded(body)
    assert found["caption"] == "from -2.5 to 4"
    np.testing.assert_array_equal(found["figure"]["data"][0]["y"], [-2.5, 4.0])
    whole = read(answered(f"{place(tab)}?since=0&mark={tab.make().mark}")[2])[1]
    assert (whole["a"]["closer"], whole["b"]["closer"]) == (True, False)
    assert whole["a"]["subject"] == found["subject"]


@pytest.mark.parametrize(
    ("path", "code"),
    [("b?from=0&to=1", 404), ("c?from=0&to=1", 404), ("a", 400), ("a?from=0", 400), ("a?from=nan&to=1", 400),
     ("a?from=1&to=0", 400), ("a?from=0&to=inf", 400), ("a?from=x&to=1", 400)],
)  # fmt: skip
def test_a_range_that_makes_no_sense_is_refused(path: str, code: int) -> None:
    assert status(f"{place(closer_tab())}/closer/{path}") == code
    assert status(f"/live/guessed/explore/closer/{path}") in (400, 404)
    assert status(f"{place(closer_tab(), 'nowhere')}/closer/{path}") in (400, 404)


@pytest.mark.parametrize("since", ["", "?since=", "?since=nan", "?since=-1", "?since=1.5", f"?since={'9' * 5000}"])
def test_nonsense_in_since_is_refused(since: str) -> None:
    tab = Tab(lambda: VIEW)
    assert status(f"{place(tab)}{since}") == 400


@pytest.mark.parametrize("error", [RuntimeError("lost"), KeyError("lost")], ids=["error", "KeyError"])
def test_an_error_in_a_view_is_logged(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Also a KeyError, which from `cache` would mean an unknown page."""

    def fail() -> View:
        raise error

    tab = Tab(fail)
    with caplog.at_level(logging.ERROR):
        assert status(f"{place(tab)}?since=0&mark=0") == 500
    assert "lost" in caplog.text


def test_a_part_that_is_not_json_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    view = View({"share": float("nan")})
    tab = Tab(lambda: view)
    with caplog.at_level(logging.ERROR):
        assert status(f"{place(tab)}?since=0&mark={view.mark}") == 500
    assert "'share' is not JSON" in caplog.text


def test_an_address_ends_with_its_tab() -> None:
    tab = Tab(lambda: VIEW)
    path = f"{place(tab)}?since=0&mark={VIEW.mark}"
    assert status(path) == 200
    del tab
    assert status(path) == 404


@pytest.mark.parametrize("base", ["a/b", "/a/b/"])
def test_routes_are_below_the_apps_path(base: str) -> None:
    tab = Tab(lambda: VIEW)
    path = f"{place(tab)}?since=0&mark={VIEW.mark}"
    assert (status(f"/a/b{path}", base), status(path, base)) == (200, 404)
    assert (status(f"/a/b/{assets.MODULE}", base), status(f"/{assets.MODULE}", base)) == (200, 404)


def test_routes_leave_streamlits_own_alone() -> None:
    for path in ("/", "/explore", "/live", "/_stcore/health", "/component/plotly/plotly.min.js", "/static/js/index.js"):
        for route in feed.routes(""):
            assert route.matches({"type": "http", "method": "GET", "path": path})[0] == Match.NONE


@pytest.mark.parametrize(("file", "start"), [(assets.MODULE, b"const STYLE"), (assets.LIBRARY, b"/**\n* plotly.js v")])
def test_files_are_kept_by_the_browser_for_good(file: str, start: bytes) -> None:
    code, headers, body = answered(f"/{file}")
    assert (code, body[: len(start)]) == (200, start)
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-type"].startswith("text/javascript")


def test_no_name_is_taken_twice_in_the_browsers_script() -> None:
    """All files become one module, where a second declaration of a name is an error and nothing would load."""
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", assets._MODULE.decode(), re.MULTILINE)
    assert len(names) > 30
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_the_librarys_address_has_its_version() -> None:
    assert f"live/plotly-{plotly.__version__}.js" == assets.LIBRARY


# What the browser sends


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What was mounted, by key; no Streamlit runs."""
    found: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(component, "_mount", lambda key, **settings: found.update({key: settings}))
    monkeypatch.setattr(st, "session_state", {})
    return found


def test_an_event_reaches_the_page_as_plain_json(mounted: dict[str, dict[str, Any]]) -> None:
    got: list[Any] = []
    component.part("verdicts", "matrix", on_event=got.append)
    assert mounted["live.verdicts"]["data"] == {"kind": "matrix", "place": "verdicts", "room": 0}
    for sent in ({"chosen": ("hmc", "gmm")}, {"x": object()}, {"x": float("nan")}, None):
        st.session_state["live.verdicts"] = {"event": sent}
        mounted["live.verdicts"]["on_event_change"]()
    assert got == [{"chosen": ["hmc", "gmm"]}]


def test_a_query_reaches_the_page(mounted: dict[str, dict[str, Any]]) -> None:
    got: list[Any] = []
    component.follow(
        "live/token/explore", "mark", "n=1", "explore", on_refresh=lambda: got.append("refresh"), on_navigate=got.append
    )
    for sent in ("?n=2", "", 5, None):
        st.session_state["live.feed"] = {"navigate": sent}
        mounted["live.feed"]["on_navigate_change"]()
    mounted["live.feed"]["on_refresh_change"]()
    assert got == ["n=2", "", "refresh"]


def test_each_run_of_a_page_is_a_reason_to_look(mounted: dict[str, dict[str, Any]]) -> None:
    """Streamlit calls the browser's script only for data that changed."""
    component.follow("live/token/explore", "mark", "", "explore")
    first = mounted["live.feed"]["data"]
    component.follow("live/token/explore", "mark", "", "explore")
    assert mounted["live.feed"]["data"] != first
