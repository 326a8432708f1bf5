"""The live chart in a browser: updates keep the DOM node and what the user did, and cost little."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from dashboard.live_chart import payload

APP = Path(__file__).parent / "apps" / "live_chart_app.py"
LIMIT = 200_000  # bytes per update of 16 traces × 2000 points
FIRST_VALUE = "node => node._fullData?.[0].y[0]"  # the app writes the number of the update there
X_RANGE = "node => node._fullLayout.xaxis.range.map(Number)"
TEXT_COLOUR = "node => getComputedStyle(node.querySelector('.xtick text')).fill"


@pytest.fixture
def app(page: Page, serve: Callable[[Path], str]) -> Page:
    """The page with its three charts drawn."""
    page.goto(serve(APP))
    for alt in ("Sixteen chains", "Two chains", "One chain"):
        expect(chart(page, alt).locator(".xtick").first).to_be_attached(timeout=30_000)
    return page


def chart(page: Page, alt: str) -> Locator:
    """The chart with this text alternative."""
    return page.get_by_role("img", name=alt, exact=True)


def after_updates(target: Locator, count: int = 3) -> None:
    """Wait until the data drawn in this chart is `count` updates newer."""
    wait_for(target, f"node => node._fullData?.[0].y[0] >= {target.evaluate(FIRST_VALUE) + count}")


def wait_for(target: Locator, condition: str) -> None:
    """Wait until a JavaScript predicate holds of the node."""
    node = target.element_handle()
    target.page.wait_for_function(condition, arg=node)


def visible_box(target: Locator) -> FloatRect:
    """Where this part of the page is, once it is in view: the mouse reaches nothing else."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    return box


def drag_across(page: Page, target: Locator) -> None:
    """Drag from a quarter to half of the plot's width, at half its height."""
    box = visible_box(target.locator(".nsewdrag"))
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=10)
    page.mouse.up()


def test_updates_keep_the_node_and_change_the_data(app: Page) -> None:
    """A mark on the chart's DOM node is still there when newer data is."""
    for alt in ("Sixteen chains", "Two chains"):
        target = chart(app, alt)
        target.evaluate("node => { node.dataset.mark = 'x'; }")
        after_updates(target)
        expect(target).to_have_attribute("data-mark", "x")
    expect(app.get_by_text(re.compile(r"^update \d+$"))).to_be_visible()


def test_a_zoom_outlives_updates(app: Page) -> None:
    """The range the user dragged is the range after newer data was drawn."""
    target = chart(app, "Two chains")
    before = target.evaluate(X_RANGE)
    drag_across(app, target)
    wait_for(target, f"node => node._fullLayout.xaxis.range[0] > {before[0] + 1}")
    zoomed = target.evaluate(X_RANGE)
    assert zoomed[1] < before[1] - 1
    after_updates(target)
    assert target.evaluate(X_RANGE) == zoomed


def test_no_update_is_drawn_during_a_drag(app: Page) -> None:
    """A dragged axis follows the pointer: news waits for the button, and is drawn when it is released."""
    target, other = chart(app, "Two chains"), chart(app, "Sixteen chains")
    box = visible_box(target.locator(".ewdrag"))
    app.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    app.mouse.down()
    held = target.evaluate(FIRST_VALUE)
    after_updates(other)
    assert target.evaluate(FIRST_VALUE) == held
    app.mouse.up()
    wait_for(target, f"node => node._fullData[0].y[0] >= {held + 3}")


def test_a_hidden_trace_stays_hidden(app: Page) -> None:
    """A click on a legend entry outlives updates."""
    target = chart(app, "Two chains")
    target.locator(".legendtoggle").nth(1).click()
    wait_for(target, "node => node._fullData[1].visible === 'legendonly'")
    after_updates(target)
    assert target.evaluate("node => node._fullData.map(trace => trace.visible)") == [True, "legendonly"]


def test_the_library_is_fetched_once(page: Page, serve: Callable[[Path], str]) -> None:
    """Three charts, one request, from this server; after a reload the stored copy does."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    address = serve(APP)
    page.goto(address)
    after_updates_of_all(page)
    assert len([url for url in requests if "plotly.min.js" in url]) == 1
    assert [url for url in requests if not url.startswith((address, "blob:", "data:"))] == []
    page.reload()
    after_updates_of_all(page)
    assert (
        page.evaluate("performance.getEntriesByType('resource').find(e => /plotly.min/.test(e.name)).transferSize") == 0
    )


def after_updates_of_all(page: Page) -> None:
    """Wait until each chart is drawn and the changing ones have changed."""
    for alt in ("Sixteen chains", "Two chains"):
        expect(chart(page, alt).locator(".xtick").first).to_be_attached(timeout=30_000)
        after_updates(chart(page, alt))
    expect(chart(page, "One chain").locator(".xtick").first).to_be_attached()


def test_an_update_is_small_on_the_wire(page: Page, serve: Callable[[Path], str]) -> None:
    """No websocket message is larger than the limit, Streamlit's envelope and the component's script included."""
    sizes: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
    page.goto(serve(APP))
    after_updates_of_all(page)
    assert 16 * 2000 * 4 < max(sizes) < LIMIT


def test_the_payload_is_small_and_exact() -> None:
    """16 × 2000 float32 fit below the limit, and can be read back from the message."""
    lines = np.random.default_rng(1).normal(size=(16, 2000)).astype(np.float32)
    figure = go.Figure([go.Scatter(y=line, name=f"chain {i}") for i, line in enumerate(lines)])
    message = payload(figure)
    assert message == payload(figure.to_dict())
    assert len(message) < LIMIT
    for trace, line in zip(read(message)["data"], lines, strict=True):
        np.testing.assert_array_equal(trace["y"], line)


def test_the_payload_takes_any_array() -> None:
    """Floats become float32, wide integers float64, a matrix keeps its shape, dates and gaps stay JSON."""
    wide = np.array([0, 2**40])
    z = np.arange(6.0).reshape(2, 3)
    x = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    figure = go.Figure([go.Heatmap(z=z), go.Scatter(x=x, y=wide), go.Scatter(y=[1.0, float("nan")])])
    for content in (figure, {"data": [{"z": z}, {"x": x, "y": wide}, {"y": [1.0, float("nan")]}]}):
        heatmap, dated, gap = read(payload(content))["data"]
        assert heatmap["z"].dtype == np.float32
        np.testing.assert_array_equal(heatmap["z"], z)
        np.testing.assert_array_equal(dated["y"], wide)
        assert dated["x"][0].startswith("2026-01-01")
        assert gap["y"] == [1.0, None]


def read(message: bytes) -> dict:
    """The figure in a message, as the browser reads it."""
    start = 4 + int.from_bytes(message[:4], "little")

    def array(node: dict) -> object:
        if "bdata" not in node:
            return node
        first, last = node["bdata"]
        shape = [int(length) for length in node["shape"].split(",")]
        return np.frombuffer(message[start + first : start + last], dtype=node["dtype"]).reshape(shape)

    return json.loads(message[4:start], object_hook=array)["figure"]


def test_charts_have_a_text_alternative(app: Page) -> None:
    """A chart is an image with a name to assistive technology."""
    for alt in ("Sixteen chains", "Two chains", "One chain"):
        expect(app.locator(f'.live-chart[role="img"][aria-label="{alt}"]')).to_have_count(1)


def test_colours_follow_the_theme_without_reload(app: Page) -> None:
    """Light to dark changes the text of the chart that gets no new data, and keeps its node."""
    target = chart(app, "One chain")
    target.evaluate("node => { node.dataset.mark = 'x'; }")
    light = target.evaluate(TEXT_COLOUR)
    app.emulate_media(color_scheme="dark")
    target.scroll_into_view_if_needed()  # out of sight it is not drawn
    wait_for(target, f"node => ({TEXT_COLOUR})(node) !== '{light}'")
    assert brightness(target.evaluate(TEXT_COLOUR)) > 0.5 > brightness(light)
    expect(target).to_have_attribute("data-mark", "x")


def brightness(colour: str) -> float:
    """The mean of an rgb(...) colour's channels, from 0 to 1."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / (3 * 255)


def test_it_fits_a_phone(app: Page) -> None:
    """Narrowed to 390 pixels, charts shrink with their container and nothing sticks out."""
    app.set_viewport_size({"width": 390, "height": 844})
    for alt in ("Sixteen chains", "One chain"):
        wait_for(chart(app, alt), "node => node.offsetWidth < 390 && node._fullLayout.width === node.offsetWidth")
        assert chart(app, alt).evaluate("node => node.scrollWidth <= node.offsetWidth")
    assert app.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_is_offered_for_upload(app: Page) -> None:
    """Neither Plotly's logo nor its button that sends the data to a server."""
    titles = chart(app, "One chain").locator(".modebar-btn").evaluate_all("nodes => nodes.map(n => n.dataset.title)")
    assert "Zoom" in titles
    assert [title for title in titles if re.search("share|cloud|produced|edit", title or "", re.IGNORECASE)] == []


def test_a_chart_that_leaves_the_page_is_purged(app: Page) -> None:
    """Unticking the box removes charts and what Plotly kept of them; ticking it draws them again."""
    node = chart(app, "Two chains").element_handle()
    app.get_by_text("Show", exact=True).click()
    app.wait_for_function("node => !node.isConnected && !node._fullLayout", arg=node)
    app.get_by_text("Show", exact=True).click()
    after_updates_of_all(app)


def test_a_library_that_does_not_load_is_said(browser: Browser, serve: Callable[[Path], str]) -> None:
    """A readable sentence in the chart's place; when the library is there again, so is the chart."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/plotly.min.js*", lambda route: route.abort())
    page.goto(serve(APP))
    place = page.locator(".live-chart").first
    expect(place).to_contain_text("This chart cannot be drawn: plotly.js did not load", timeout=30_000)
    page.unroute("**/plotly.min.js*")
    expect(place.locator(".xtick").first).to_be_attached(timeout=30_000)
    expect(place).not_to_contain_text("cannot be drawn")
    context.close()
