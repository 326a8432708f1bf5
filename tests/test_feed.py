"""What a page is told between its refreshes."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import Message
from streamlit.testing.v1 import AppTest

from dashboard import feed, session
from tests.test_app import button, opened, run_until

LONG = {"draws": "1000000", "warmup": "0", "thin": "100", "chains": "4", "keep": "u,v,w,energy"}


@pytest.fixture(autouse=True)
def pages_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_claimed", True)


def read(told: bytes) -> tuple[dict, dict[str, bytes]]:
    """What is said, and the charts' messages by place."""
    end = 4 + int.from_bytes(told[:4], "little")
    said, charts = json.loads(told[4:end]), {}
    for place, size in said.pop("charts").items():
        charts[place], end = told[end : end + size], end + size
    assert end == len(told)
    return said, charts


def running() -> AppTest:
    """A page whose run would take hours, once there are draws."""
    app = opened(target="mdc", sampler="hmc", view="full", **LONG)
    button(app, "Run").click().run()
    return run_until(app, lambda app: app.session_state["session"].job.drawn > 100)


def told(app: AppTest, since: int) -> tuple[dict, dict[str, bytes]]:
    """The news, once nothing else has changed: warnings may come and go while chains are short."""
    tab = app.session_state["session"]
    for _ in range(100):
        news = tab.feed.tell(since)
        if news is not None:
            return read(news)
        app.run()
    raise AssertionError("the page always has to be refreshed")


def test_news_are_the_status_and_the_charts_made_since() -> None:
    app = running()
    tab = app.session_state["session"]
    try:
        said, charts = told(app, 0)
        assert said["text"].startswith("Drawing: ")
        assert 0 < said["share"] < 1
        assert {"Acceptance", "R-hat"} <= {tile["label"] for tile in said["tiles"]}
        assert {"trace", "density", "mean", "rates"} <= set(charts)
        drawn = tab.job.drawn
        while tab.job.drawn < 1.2 * drawn:
            time.sleep(0.01)
        later, charts = told(app, said["last"])
        assert later["text"] != said["text"]
        assert later["last"] > said["last"]
        assert 1 <= len(charts) <= later["last"] - said["last"]
    finally:
        tab.stop()


def test_what_only_a_refresh_can_show_is_no_news() -> None:
    """The end of a run, or another one: the page's buttons and what comes after a run change as well."""
    app = running()
    tab = app.session_state["session"]
    told(app, 0)
    tab.stop()
    tab.job.wait(10)
    assert tab.feed.tell(0) is None
    app.run()
    tab.reset()
    assert tab.feed.tell(0) is None


def answered(path: str, base: str = "") -> tuple[int, bytes]:
    """Status and body of the server's answer, by ASGI."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    place, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": place, "query_string": query.encode(), "headers": []}
    answer = Starlette(routes=[feed.route(base)])(scope, receive, send)
    with ThreadPoolExecutor(1) as elsewhere:  # in this thread a browser of other tests may have a loop of its own
        elsewhere.submit(asyncio.run, answer).result()
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def test_only_who_knows_the_address_is_told() -> None:
    one, two = feed.Feed(), feed.Feed()
    one.tell = lambda since: feed.news({"trace": b"abc"}, last=since + 1)
    assert one.address != two.address
    status, body = answered(f"/{one.address}?since=4")
    assert (status, read(body)) == (200, ({"last": 5}, {"trace": b"abc"}))
    assert answered(f"/{two.address}?since=4")[0] == 205
    assert answered("/live/guessed?since=0")[0] == 404
    assert [answered(f"/{one.address}{query}")[0] for query in ("", "?since=", "?since=nan")] == [400, 400, 400]
    assert answered(f"/a/b/{one.address}?since=0", "/a/b/")[0] == 200


def test_a_feed_ends_with_its_tab() -> None:
    gone = feed.Feed()
    address = gone.address
    del gone
    assert answered(f"/{address}?since=0")[0] == 404


def test_the_route_leaves_streamlits_own_alone() -> None:
    for path in ("/", "/explore", "/_stcore/health", "/component/plotly/plotly.min.js"):
        assert feed.route("").matches({"type": "http", "method": "GET", "path": path})[0] == Match.NONE
