"""A browser, a Streamlit server per script, and a page that fails its test on an error in the console.

A test that fails shows screenshots, the console, failed requests and the server's log in its report.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.support.browser import CHROMIUM_FLAGS, Evidence, Servers, chromium_path

EVIDENCE = Evidence()


def pytest_runtest_setup(item: pytest.Item) -> None:
    EVIDENCE.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the evidence to the report of a failed test, while its pages are still open."""
    report = yield
    if report.failed:
        EVIDENCE.photograph()
        report.sections += EVIDENCE.sections()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Close the contexts that the test left open."""
    __tracebackhide__ = True
    try:
        return (yield)
    finally:
        EVIDENCE.close_pages()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for the session."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path(playwright), args=CHROMIUM_FLAGS)
        EVIDENCE.watch(launched)
        yield launched
        EVIDENCE.browser = None
        launched.close()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers for the session."""
    servers = EVIDENCE.servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own; the test fails if its console had an error."""
    context = browser.new_context()
    opened = context.new_page()
    errors: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if _is_ours(message) else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    if errors:
        EVIDENCE.photograph()
    context.close()
    assert errors == [], "errors in the browser's console"


def _is_ours(message: ConsoleMessage) -> bool:
    """An error, and not Streamlit's own: on a page's link it asks for /page/_stcore/… before it tries the root."""
    return message.type == "error" and "/_stcore/" not in message.location.get("url", "")
