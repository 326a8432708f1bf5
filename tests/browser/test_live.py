"""The live transport in a browser: news keeps DOM nodes and what the user did, costs little, and misses nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FloatRect,
    Locator,
    Page,
    Request,
    Response,
    Route,
    ViewportSize,
    expect,
)

from tests.support.browser_pages import HeldMessages, until

APP = Path(__file__).parent / "apps" / "live_app.py"
LIMIT = 200_000  # bytes of an update of 16 traces × 2000 points and some
TIMEOUT = 60_000
SIZE: ViewportSize = {"width": 1280, "height": 720}
AT_FIRST = {"busy": True, "faded": False, "empty": False, "wrong_chart": False}  # what the server says
NAMES = ("Two chains", "One chain", "Below")
FIRST_VALUE = "node => node._fullData?.[0].y[0]"  # the app writes the number of the update there
X_RANGE = "node => node._fullLayout.xaxis.range.map(Number)"
TEXT_COLOUR = "node => getComputedStyle(node.querySelector('.xtick text')).fill"
CONTAINER = "node.closest('[data-testid=stElementContainer]')"
CONTRAST = """node => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const over = (top, below) => below.map((value, i) => value + (top[3] ?? 1) * (top[i] - value));
  const line = [];
  for (let at = node; at; at = at.parentElement) line.unshift(getComputedStyle(at));
  const ground = line.reduce((below, style) => over(channels(style.backgroundColor), below), [255, 255, 255]);
  const opacity = line.reduce((product, style) => product * Number(style.opacity), 1);
  const [r, g, b, a = 1] = channels(line.at(-1).color);
  const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * linear(colour[i] / 255), 0);
  const [dark, bright] = [light(ground), light(over([r, g, b, a * opacity], ground))].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}"""
FAINT = f"""nodes => nodes.map((node) => [node.innerText, ({CONTRAST})(node)]).filter(([, ratio]) => !(ratio >= 4.5))"""
GROUND = "node => getComputedStyle(node).backgroundColor"
LOOKS = "performance.getEntriesByType('resource').filter(({ name }) => /since=/.test(name))"


@pytest.fixture
def page(page: Page) -> Page:
    return patient(page)


@pytest.fixture
def app(page: Page, serve: Callable[[Path], str]) -> Page:
    """The first page with its charts drawn, while work runs."""
    return opened(page, serve(APP))


@pytest.fixture
def same_app(shared_page: Page, serve: Callable[[Path], str]) -> Page:
    """The same, opened once for all tests that take it: whatever they change is put back here."""
    if shared_page.url == "about:blank":
        return opened(patient(shared_page), serve(APP))
    shared_page.set_viewport_size(SIZE)
    shared_page.emulate_media(color_scheme="light")
    say(shared_page, **AT_FIRST)
    run_again(shared_page)
    shared_page.get_by_role("checkbox", name="Show").set_checked(True, force=True)
    shared_page.get_by_role("tab", name="First tab").click()
    place(shared_page, "remarks").evaluate("node => { node.style.marginTop = '' }")
    shared_page.mouse.move(0, 0)
    shared_page.locator(".stMain").evaluate("node => node.scrollTo(0, 0)")
    after_updates(chart(shared_page, "Two chains"), 1)
    return shared_page


@pytest.fixture
def troubled(profile: BrowserContext, serve: Callable[[Path], str]) -> Page:
    """The same, where errors in the console are expected."""
    return opened(patient(profile.new_page()), serve(APP))


def patient(page: Page) -> Page:
    """A page for a busy machine, which keeps count of all that the browser fetches."""
    page.set_default_timeout(TIMEOUT)
    expect.set_options(timeout=TIMEOUT)
    page.add_init_script("performance.setResourceTimingBufferSize(100_000)")
    return page


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    for name in NAMES:
        expect(chart(page, name).locator(".xtick").first).to_be_attached()
    return page


def chart(page: Page, alt: str) -> Locator:
    """The chart with this text alternative."""
    return page.get_by_role("figure", name=alt, exact=True)


def place(page: Page, name: str) -> Locator:
    """The part at a place of the page."""
    return page.locator(f'.live-part[data-place="{name}"]')


def status(page: Page) -> Locator:
    return page.locator(".live-status-text")


def updates(page: Page) -> int:
    """The number of the update that the status shows."""
    return int(status(page).inner_text().rpartition(" ")[2])


def after_updates(target: Locator, count: int = 3) -> None:
    """Wait until the data drawn in this chart is `count` updates newer."""
    expect(target.locator(".xtick").first).to_be_attached()
    wait_for(target, f"node => node._fullData?.[0].y[0] >= {target.evaluate(FIRST_VALUE) + count}")


def after_news(page: Page, count: int = 3) -> None:
    """Wait until the status is `count` updates newer."""
    number = "Number(document.querySelector('.live-status-text').textContent.split(' ').at(-1))"
    page.wait_for_function(f"{number} >= {updates(page) + count}")


def wait_for(target: Locator, condition: str) -> None:
    """Wait until a JavaScript predicate holds of the node."""
    target.page.wait_for_function(condition, arg=target.element_handle())


def at_rest(page: Page) -> None:
    """Wait until the browser has all there is."""
    expect(page.locator('.live-feed[data-state="rest"]')).to_be_attached()


def has_run(page: Page) -> int:
    """How often the page's script has run."""
    return int(re.findall(r"run (\d+)", page.get_by_text(re.compile("run \\d+, query")).inner_text())[0])


def run_again(page: Page) -> None:
    """Have Streamlit run the page, and wait until it has."""
    before = has_run(page)
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text(f"run {before + 1}, query")).to_be_visible()


def say(page: Page, **fields: object) -> None:
    """Change what the server says next; no run of the page."""
    token = page.evaluate(f"{LOOKS}.at(-1).name.match(/live\\/([^/]+)/)[1]")
    origin = page.evaluate("location.origin")
    values: dict[str, str | float | bool] = {name: json.dumps(value) for name, value in fields.items()}
    assert page.request.get(f"{origin}/control/{token}", params=values).ok


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


def mark(target: Locator) -> None:
    target.evaluate("node => { node.marked = true; }")


def is_marked(target: Locator) -> bool:
    return bool(target.evaluate("node => node.marked === true"))


# Charts


def test_updates_keep_the_node_and_change_the_data(same_app: Page) -> None:
    """A mark on the chart's DOM node is still there when newer data is, and after the page ran again."""
    for name in NAMES:
        mark(chart(same_app, name))
    after_updates(chart(same_app, "Two chains"))
    run_again(same_app)
    after_updates(chart(same_app, "Two chains"))
    assert all(is_marked(chart(same_app, name)) for name in NAMES)


def test_a_chart_has_its_words(same_app: Page) -> None:
    """An image with a name to assistive technology, its title above, and the caption of what is drawn below."""
    for name in NAMES:
        expect(same_app.locator(f'.live-chart[role="figure"][aria-label="{name}"]')).to_have_count(1)
    small = place(same_app, "small")
    expect(small.locator(".live-chart-title")).to_have_text("Title of small")
    drawn = "node.querySelector('.live-chart')._fullData[0].y[0]"
    wait_for(small, f"node => node.lastElementChild.textContent === `Caption ${{{drawn}}}`")


def test_a_zoom_outlives_updates(app: Page) -> None:
    """The range that the user dragged is the range after newer data was drawn, and after the page ran again."""
    target = chart(app, "Two chains")
    before = target.evaluate(X_RANGE)
    drag_across(app, target)
    wait_for(target, f"node => node._fullLayout.xaxis.range[0] > {before[0] + 1}")
    zoomed = target.evaluate(X_RANGE)
    assert zoomed[1] < before[1] - 1
    after_updates(target)
    assert target.evaluate(X_RANGE) == zoomed
    run_again(app)
    after_updates(target)
    assert target.evaluate(X_RANGE) == zoomed


def test_no_update_is_drawn_during_a_drag(same_app: Page) -> None:
    """A dragged axis follows the pointer: news waits for the button, and is drawn when it is released."""
    target = chart(same_app, "Two chains")
    box = visible_box(target.locator(".ewdrag"))
    same_app.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    same_app.mouse.down()
    held = target.evaluate(FIRST_VALUE)
    after_news(same_app)
    assert target.evaluate(FIRST_VALUE) == held
    same_app.mouse.up()
    wait_for(target, f"node => node._fullData[0].y[0] >= {held + 3}")


def test_a_hidden_trace_stays_hidden(same_app: Page) -> None:
    """A click on a legend entry outlives updates."""
    target = chart(same_app, "Two chains")
    target.locator(".legendtoggle").nth(1).click()
    wait_for(target, "node => node._fullData[1].visible === 'legendonly'")
    after_updates(target)
    assert target.evaluate("node => node._fullData.map(trace => trace.visible)") == [True, "legendonly"]
    target.locator(".legendtoggle").nth(1).click()
    wait_for(target, "node => node._fullData[1].visible === true")


def test_library_and_script_are_fetched_once(page: Page, serve: Callable[[Path], str]) -> None:
    """Three charts and more parts, one request for each file, from this server; after a reload none."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    address = serve(APP)
    opened(page, address)
    after_updates(chart(page, "Two chains"))
    for file in ("plotly-", "live-"):
        assert len([url for url in requests if f"live/{file}" in url]) == 1
    expect(page.locator('script[src*="live/plotly-"]')).to_have_count(1)
    assert [url for url in requests if not url.startswith((address, "blob:", "data:"))] == []
    page.reload()
    after_updates(chart(page, "Two chains"))
    kept = "performance.getEntriesByType('resource').filter(e => /live\\/(plotly|live)-/.test(e.name))"
    assert page.evaluate(f"{kept}.map(e => e.transferSize)") == [0, 0]


def test_an_update_is_small_and_streamlit_carries_none(page: Page, serve: Callable[[Path], str]) -> None:
    """News goes by HTTP, with the large chart in it; a websocket message only lays out a place."""
    frames: list[int] = []
    answers: list[Response] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame))))
    page.on("response", lambda answer: answers.append(answer) if "since=" in answer.url else None)
    page.goto(f"{serve(APP)}/large")
    after_updates(chart(page, "Sixteen chains"))
    sizes = [len(answer.body()) for answer in answers[:-1] if answer.status == 200]
    assert 16 * 2000 * 4 < max(sizes) < LIMIT
    assert max(frames) < 10_000


def test_colours_follow_the_theme_without_reload(same_app: Page) -> None:
    """Light to dark changes the text of the chart that gets no new data, and keeps its node."""
    target = chart(same_app, "One chain")
    mark(target)
    target.scroll_into_view_if_needed()  # out of sight it is not drawn
    light = target.evaluate(TEXT_COLOUR)
    same_app.emulate_media(color_scheme="dark")
    wait_for(target, f"node => ({TEXT_COLOUR})(node) !== '{light}'")
    assert brightness(target.evaluate(TEXT_COLOUR)) > 0.5 > brightness(light)
    assert is_marked(target)


def brightness(colour: str) -> float:
    """The mean of an rgb(...) colour's channels, from 0 to 1."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / (3 * 255)


def test_it_fits_a_phone(same_app: Page) -> None:
    """Narrowed to 390 pixels, parts shrink with their container, a table scrolls in its box, nothing sticks out."""
    same_app.set_viewport_size({"width": 390, "height": 844})
    for name in ("Two chains", "One chain"):
        wait_for(chart(same_app, name), "node => node.offsetWidth < 390 && node._fullLayout.width === node.offsetWidth")
        assert chart(same_app, name).evaluate("node => node.scrollWidth <= node.offsetWidth")
    assert same_app.evaluate("document.documentElement.scrollWidth") <= 390
    assert same_app.locator(".stMain").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_nothing_is_offered_for_upload(same_app: Page) -> None:
    """Neither Plotly's logo nor its button that sends the data to a server."""
    titles = (
        chart(same_app, "One chain").locator(".modebar-btn").evaluate_all("nodes => nodes.map(n => n.dataset.title)")
    )
    assert "Zoom" in titles
    assert [title for title in titles if re.search("share|cloud|produced|edit", title or "", re.IGNORECASE)] == []


def test_a_chart_that_leaves_the_page_is_purged(same_app: Page) -> None:
    """Unticking the box removes charts and what Plotly kept of them."""
    node = chart(same_app, "Two chains").element_handle()
    same_app.get_by_text("Show", exact=True).click()
    same_app.wait_for_function("node => !node.isConnected && !node._fullLayout", arg=node)


def test_a_place_that_comes_later_is_filled_at_once(same_app: Page) -> None:
    """At rest the server has no news: what the browser has of a place is shown again."""
    say(same_app, busy=False)
    at_rest(same_app)
    words = place(same_app, "lines").inner_text()
    same_app.get_by_text("Show", exact=True).click()
    expect(place(same_app, "lines")).to_have_count(0)
    same_app.get_by_text("Show", exact=True).click()
    expect(chart(same_app, "Two chains").locator(".xtick").first).to_be_attached()
    assert place(same_app, "lines").inner_text() == words


def test_a_chart_out_of_sight_is_not_drawn_until_it_is_seen(same_app: Page) -> None:
    below = chart(same_app, "Below")
    first = below.evaluate(FIRST_VALUE)
    after_updates(chart(same_app, "Two chains"))
    assert below.evaluate(FIRST_VALUE) == first
    below.scroll_into_view_if_needed()
    after_updates(below)


def test_a_library_that_does_not_load_is_said(browser: Browser, serve: Callable[[Path], str]) -> None:
    """A readable sentence in the chart's place; when the library is there again, so is the chart."""
    context = browser.new_context()
    page = patient(context.new_page())
    page.route("**/live/plotly-*", lambda route: route.abort())
    page.goto(serve(APP))
    target = place(page, "small").locator(".live-chart")
    expect(target).to_contain_text("This chart cannot be drawn: plotly.js did not load")
    page.unroute("**/live/plotly-*")
    expect(target.locator(".xtick").first).to_be_attached()
    expect(target).not_to_contain_text("cannot be drawn")
    after_updates(target)
    context.close()


def test_a_chart_with_an_error_says_so_and_the_others_go_on(same_app: Page) -> None:
    say(same_app, wrong_chart=True)
    wrong = place(same_app, "small").get_by_role(
        "figure", name="This chart cannot be drawn. The server's log has the details."
    )
    expect(wrong.locator(".annotation-text")).to_be_visible()
    same_app.get_by_role("link", name="Jump").click()
    after_updates(chart(same_app, "Below"))
    say(same_app, wrong_chart=False)
    chart(same_app, "One chain").scroll_into_view_if_needed()
    after_updates(chart(same_app, "Two chains"))
    expect(place(same_app, "small").locator(".annotation-text")).to_have_count(0)


# Other parts

CHANGING = [
    ".live-status-text",
    ".live-tile:first-child .value",
    ".live-remark:last-child .text",
    ".live-lines p:nth-child(2)",
    ".live-table tr:last-child td:last-child",
    ".verdicts tr:last-child td:last-child .detail",
    ".live-file",
]


def test_parts_change_in_place(same_app: Page) -> None:
    """The words of a DOM node change, the node stays: at updates, and when the page runs again."""
    nodes = {selector: same_app.locator(selector).first for selector in CHANGING}
    before = {selector: node.text_content() for selector, node in nodes.items()}
    for node in nodes.values():
        mark(node)
    after_news(same_app)
    run_again(same_app)
    after_news(same_app)
    assert [selector for selector, node in nodes.items() if node.text_content() == before[selector]] == []
    assert [selector for selector, node in nodes.items() if not is_marked(node)] == []


def test_words_are_text_and_never_markup(same_app: Page) -> None:
    expect(place(same_app, "remarks").locator(".text").first).to_contain_text("<b>")
    expect(place(same_app, "remarks").locator("b")).to_have_count(0)


def test_an_empty_part_takes_no_room(same_app: Page) -> None:
    """Without content a place takes no room; with content it is there again. The reader never takes room."""
    feed = same_app.locator(".live-feed")
    expect(feed).not_to_be_visible()
    assert feed.evaluate(f"node => getComputedStyle({CONTAINER}).position") == "absolute"
    remarks = place(same_app, "remarks").locator(".live-remark")
    expect(remarks).to_have_count(3)
    top = "node => node.getBoundingClientRect().top"
    table, still = place(same_app, "table"), place(same_app, "still")
    gap = table.evaluate(top) - still.evaluate(top)
    say(same_app, empty=True)
    expect(remarks).to_have_count(0)
    expect(place(same_app, "remarks")).not_to_be_visible()
    container = still.evaluate(
        "node => node.closest('[data-testid=stElementContainer]').getBoundingClientRect().height"
    )
    assert table.evaluate(top) - still.evaluate(top) - container < 30 < gap - container  # one gap of 16 pixels
    say(same_app, empty=False)
    expect(remarks).to_have_count(3)
    expect(place(same_app, "remarks")).to_be_visible()


def test_a_place_on_a_hidden_tab_is_up_to_date_when_shown(same_app: Page) -> None:
    words = place(same_app, "tabbed")
    expect(words).not_to_be_visible()
    after_news(same_app)
    say(same_app, busy=False)
    at_rest(same_app)
    same_app.get_by_role("tab", name="Second tab").click()
    expect(words).to_be_visible()
    expect(words).to_have_text(f"tabbed {updates(same_app)}")


def test_a_tile_explains_itself(same_app: Page) -> None:
    """A tile in focus has its help below the row, also when the help changes."""
    same_app.locator(".live-tile").first.focus()
    expect(same_app.locator(".live-tiles-help")).to_have_text(re.compile(r"^Help of \d+$"))
    before = same_app.locator(".live-tiles-help").inner_text()
    expect(same_app.locator(".live-tiles-help")).not_to_have_text(before)
    same_app.locator(".live-tile").nth(1).focus()
    expect(same_app.locator(".live-tiles-help")).to_have_text("")


def test_a_table_is_a_table(same_app: Page) -> None:
    """Titles; numbers at the right but in the first and the last column; the first column in sight at any scroll."""
    table = place(same_app, "table")
    expect(table.get_by_role("columnheader", name="Column 19")).to_be_attached()
    expect(table.get_by_role("rowheader")).to_have_text(["row 0", "row 1", "row 2"])
    aligned = (
        table.locator("tbody tr")
        .first.locator("th, td")
        .evaluate_all("cells => cells.map(cell => getComputedStyle(cell).textAlign)")
    )
    assert aligned == ["left", *["right"] * (len(aligned) - 2), "left"]
    box = table.locator(".live-table")
    box.evaluate("node => { node.scrollLeft = 400; }")
    first = table.get_by_role("rowheader").first
    assert first.evaluate("node => node.getBoundingClientRect().left") == box.evaluate(
        "node => node.getBoundingClientRect().left + node.clientLeft"
    )
    after_news(same_app)
    assert box.evaluate("node => node.scrollLeft") == 400


def test_a_matrix_tells_what_was_chosen(app: Page) -> None:
    """A click on a cell and on a row's arrow, and the keyboard's way to a cell."""
    cells = place(app, "matrix").locator(".square")
    cells.first.focus()
    app.keyboard.press("ArrowRight")
    app.keyboard.press("ArrowDown")
    after_news(app)
    expect(cells.nth(3)).to_be_focused()
    app.keyboard.press("Enter")
    expect(place(app, "events")).to_contain_text('events [{"chosen": ["mahmc", "blr"]}]')
    place(app, "matrix").get_by_role("button", name="Check HMC on all targets").click()
    expect(place(app, "events")).to_contain_text('{"row": ["hmc"]}]')


@pytest.mark.parametrize("moved", [False, True])
def test_a_click_on_a_file_is_never_lost(same_app: Page, moved: bool) -> None:
    """Pressed before an update and released after, also if that moved the link: the file comes, under its name."""
    link = place(same_app, "files").locator(".live-file")
    box = visible_box(link)
    same_app.mouse.move(box["x"] + 10, box["y"] + 10)
    same_app.mouse.down()
    before = link.inner_text()
    expect(link).not_to_have_text(before)
    if moved:
        place(same_app, "remarks").evaluate("node => { node.style.marginTop = '150px' }")
    with same_app.expect_download(timeout=20_000) as download:
        same_app.mouse.up()
    assert download.value.suggested_filename == "draws.csv"
    assert download.value.path().read_text() == "a,b\n1,2\n"


def test_results_of_earlier_settings_are_faded(same_app: Page) -> None:
    say(same_app, faded=True)
    expect(place(same_app, "small")).to_have_class(re.compile("mahmc-faded"))
    for faded in (chart(same_app, "Two chains"), same_app.locator(".live-tiles"), same_app.locator(".live-table")):
        expect(faded).to_have_css("opacity", "0.72")
        expect(faded).to_have_css("filter", "grayscale(1)")
    assert same_app.locator(".live-tile").first.evaluate(CONTRAST) >= 4.5
    expect(place(same_app, "lines")).to_have_css("opacity", "1")
    say(same_app, faded=False)
    expect(chart(same_app, "Two chains")).to_have_css("opacity", "1")


def test_a_part_that_comes_later_is_faded_like_the_others(app: Page) -> None:
    """Before the next look is answered."""
    say(app, faded=True, busy=False)
    at_rest(app)
    app.route("**/*since=*", lambda route: None)  # no answer
    app.get_by_text("Show", exact=True).click()
    expect(place(app, "small")).to_have_count(0)
    app.get_by_text("Show", exact=True).click()
    expect(place(app, "small")).to_have_class(re.compile("mahmc-faded"))


def test_words_can_be_read(same_app: Page) -> None:
    """A contrast of 4.5 at least, of every tone, in both themes."""
    words = same_app.locator(".live-remark .text, .live-remark .icon, .live-lines p, .live-file, .live-table td")
    assert words.count() > 12
    light = same_app.locator(".stApp").evaluate(GROUND)
    assert words.evaluate_all(FAINT) == []
    same_app.emulate_media(color_scheme="dark")
    wait_for(same_app.locator(".stApp"), f"node => ({GROUND})(node) !== '{light}'")
    after_news(same_app)
    assert words.evaluate_all(FAINT) == []


# When the browser looks


def test_at_rest_the_browser_stops_looking(same_app: Page) -> None:
    """Each run of the page is one more look."""
    say(same_app, busy=False)
    at_rest(same_app)
    looks = same_app.evaluate(f"{LOOKS}.length")
    same_app.evaluate("new Promise((resolve) => setTimeout(resolve, 2000))")
    assert same_app.evaluate(f"{LOOKS}.length") == looks
    run_again(same_app)
    at_rest(same_app)
    assert same_app.evaluate(f"{LOOKS}.length") == looks + 1
    say(same_app, busy=True)
    run_again(same_app)
    after_news(same_app)


def test_another_layout_has_the_page_run_once(app: Page) -> None:
    """Also if the run takes longer than some looks."""
    before = has_run(app)
    say(app, delay=1.0, layout=1)
    expect(app.get_by_text(f"run {before + 1}, query")).to_be_visible()
    after_news(app)
    assert has_run(app) == before + 1
    after_updates(chart(app, "Two chains"))


def test_a_tab_that_the_server_forgot_is_found_again(troubled: Page) -> None:
    """The page runs again and has a new address."""
    mark(chart(troubled, "Two chains"))
    say(troubled, forget=True)
    wait = f"new Set({LOOKS}.map(({{ name }}) => name.match(/live\\/([^/]+)/)[1])).size === 2"
    troubled.wait_for_function(wait)
    after_news(troubled)
    after_updates(chart(troubled, "Two chains"))
    assert is_marked(chart(troubled, "Two chains"))


def test_a_server_that_does_not_answer_is_said(troubled: Page) -> None:
    """After some tries, and no longer once the server answers."""
    troubled.route("**/*since=*", lambda route: route.abort())
    alert = troubled.get_by_role("alert").filter(has_text="The server does not answer. Trying again …")
    expect(alert).to_be_visible()
    troubled.unroute("**/*since=*")
    expect(alert).to_have_count(0)
    after_news(troubled)


def test_a_server_with_an_error_is_said(troubled: Page) -> None:
    say(troubled, broken=True)
    alert = troubled.get_by_role("alert").filter(has_text="The server cannot update this page. The server's log")
    expect(alert).to_be_visible()
    say(troubled, broken=False)
    expect(alert).to_have_count(0)
    after_news(troubled)


def test_a_late_answer_does_not_overwrite_a_newer_one(app: Page) -> None:
    held: list[tuple[Route, bytes]] = []
    app.route("**/*since=*", lambda route: held.append((route, route.fetch().body())), times=1)
    while not held:
        app.wait_for_timeout(50)
    run_again(app)
    after_news(app)
    say(app, busy=False)
    at_rest(app)
    newest = status(app).inner_text()
    watch = "new MutationObserver(() => seen.push(node.textContent)).observe(node, { childList: true })"
    status(app).evaluate(f"node => {{ window.seen = []; {watch}; }}")
    route, late = held[0]
    route.fulfill(body=late)
    run_again(app)
    at_rest(app)
    assert (app.evaluate("window.seen"), status(app).inner_text()) == ([], newest)


def test_an_unseen_tab_looks_less_often(same_app: Page) -> None:
    same_app.evaluate("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")
    looks = same_app.evaluate(f"{LOOKS}.length")
    same_app.wait_for_function(f"{LOOKS}.length >= {looks + 3}")
    *_, first, second = same_app.evaluate(f"{LOOKS}.map(({{ startTime }}) => startTime)")
    assert second - first > 1900
    same_app.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    after_news(same_app)
    *_, first, second = same_app.evaluate(f"{LOOKS}.map(({{ startTime }}) => startTime)")
    assert second - first < 1900


# The address bar


def set_number(page: Page, number: int, link: str | None = None) -> None:
    """Type a number, which the page puts into its link when it runs."""
    page.get_by_label("n", exact=True).fill(str(number))
    page.get_by_label("n", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(f"n={number}" if link is None else link))


def history(page: Page) -> int:
    return int(page.evaluate("history.length"))


def on_page(page: Page, name: str) -> None:
    expect(page.get_by_text(re.compile(f"^{name}: run"))).to_be_visible()
    expect(status(page)).to_have_text(re.compile(f"^{name}: update"))


def number_is(page: Page, number: int) -> None:
    expect(page.get_by_label("n", exact=True)).to_have_value(str(number))
    expect(page).to_have_url(re.compile(f"n={number}"))


def test_the_link_is_replaced_and_never_pushed(app: Page) -> None:
    entries = history(app)
    for number in (3, 4, 5):
        set_number(app, number)
    run_again(app)
    assert history(app) == entries
    expect(app).to_have_url(re.compile(r"/\?n=5$"))


@pytest.mark.parametrize("how", ["navigation", "switch_page"])
def test_another_page_is_one_entry_and_back_leads_to_the_link_before(app: Page, how: str) -> None:
    """The session stays: numbers, and the count of runs."""
    set_number(app, 3)
    set_number(app, 4)
    entries, runs = history(app), has_run(app)
    if how == "navigation":
        app.get_by_test_id("stSidebarNav").get_by_text("Two").click()
    else:
        app.get_by_role("button", name="Other page").click()
    on_page(app, "two")
    assert history(app) == entries + 1
    set_number(app, 7)
    assert history(app) == entries + 1
    app.go_back()
    on_page(app, "one")
    number_is(app, 4)
    expect(app.get_by_text('query {"n": "4"}')).to_be_visible()
    assert has_run(app) > runs
    app.go_forward()
    on_page(app, "two")
    number_is(app, 7)
    assert history(app) == entries + 1


def test_a_run_that_ends_after_back_leaves_the_way_forward(page: Page, serve: Callable[[Path], str]) -> None:
    """Streamlit writes the address of each run, also of one of the page that was left."""
    held = HeldMessages(page)
    app = opened(page, serve(APP))
    set_number(app, 4)
    app.get_by_test_id("stSidebarNav").get_by_text("Two").click()
    on_page(app, "two")
    set_number(app, 7)
    entries = history(app)
    held.is_holding = True
    app.get_by_role("button", name="Run again").click()
    held.until_runs(app, 1)
    app.go_back()
    held.until_runs(app, 2)
    held.release()
    on_page(app, "one")
    number_is(app, 4)
    assert history(app) == entries
    app.go_forward()
    on_page(app, "two")
    number_is(app, 7)


@pytest.mark.parametrize("how", ["navigation", "back"])
def test_a_page_that_is_being_left_does_not_ask_to_run(page: Page, serve: Callable[[Path], str], how: str) -> None:
    """Streamlit would take the newer request, and the click or Back would be lost."""
    held = HeldMessages(page)
    app = opened(page, serve(APP))
    app.get_by_test_id("stSidebarNav").get_by_text("Two").click()
    on_page(app, "two")
    held.is_holding = True
    if how == "navigation":
        app.get_by_test_id("stSidebarNav").get_by_text("One").click()
    else:
        app.go_back()
    held.until_runs(app, 1)
    looks: list[Route] = []

    def see(route: Route) -> None:
        looks.append(route)
        route.fulfill(status=205)

    app.route("**/two?since=*", see)
    until(app, lambda: len(looks) >= 3, True)
    app.unroute("**/two?since=*")
    held.release()
    on_page(app, "one")
    after_updates(chart(app, "Two chains"))
    on_page(app, "one")


def test_back_on_the_same_page_reaches_the_page(app: Page) -> None:
    """A jump within the page is an entry of its own, and its link may be another one."""
    set_number(app, 3)
    app.get_by_role("link", name="Jump").click()
    expect(app).to_have_url(re.compile(r"n=3#below$"))
    set_number(app, 4, r"n=4#below$")
    app.go_back()
    number_is(app, 3)
    app.go_forward()
    number_is(app, 4)
    expect(app).to_have_url(re.compile(r"n=4#below$"))


def test_a_link_is_read_and_embedding_is_kept(page: Page, serve: Callable[[Path], str]) -> None:
    page.goto(f"{serve(APP)}/?n=6&embed=true")
    on_page(page, "one")
    number_is(page, 6)
    set_number(page, 8)
    expect(page).to_have_url(re.compile(r"\?n=8&embed=true$"))


def test_pages_do_not_show_each_others_content(app: Page) -> None:
    """Before the first look at a page is answered, its status is empty, though the page before has one too."""
    app.route("**/two?since=*", lambda route: None)  # no answer
    app.get_by_test_id("stSidebarNav").get_by_text("Two").click()
    expect(app.get_by_text(re.compile("^two: run"))).to_be_visible()
    expect(status(app)).to_have_text("")
    app.unroute("**/two?since=*")
    run_again(app)
    on_page(app, "two")
    requests: list[Request] = []
    app.on("request", lambda request: requests.append(request) if "since=" in request.url else None)
    until(app, lambda: len(requests) >= 3, True)
    assert {request.url.partition("?")[0].rpartition("/")[2] for request in requests} == {"two"}
    app.get_by_test_id("stSidebarNav").get_by_text("One").click()
    on_page(app, "one")
    after_updates(chart(app, "Two chains"))
    expect(place(app, "lines").locator("p").first).to_have_text(re.compile(r"plain \d+"))
