"""A browser, a Streamlit server per script, and a page that fails its test on an error in the console.

A test that fails shows screenshots, the console, failed requests and the server's log in its report.
"""

from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.support.browser import CHROMIUM_FLAGS, Evidence, Servers, chromium_path

EVIDENCE = Evidence()


def pytest_runtest_setup(item: pytest.Item) -> None:
    EVIDENCE.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the evidence to the report of a failed test, while its pages are still open."""
    report = yield
    if report.failed:
        EVIDENCE.photograph()
        report.sections += EVIDENCE.sections()
        EVIDENCE.kept.clear()  # a test that failed may have left anything behind
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
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One headless Chromium for the session, with a profile on disk.

    It keeps the compiled scripts of Streamlit and plotly.js, as a visitor's own browser does: a page then opens in less
    than half the time.
    """
    with sync_playwright() as playwright:
        folder, path = tmp_path_factory.mktemp("profile"), chromium_path(playwright)
        launched = playwright.chromium.launch_persistent_context(folder, executable_path=path, args=CHROMIUM_FLAGS)
        EVIDENCE.watch(launched)
        yield launched
        EVIDENCE.profile = None
        launched.close()


@pytest.fixture(scope="session")
def browser(profile: BrowserContext) -> Browser:
    """The same Chromium, for tests that open contexts of their own."""
    assert profile.browser is not None
    return profile.browser


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers for the session."""
    servers = EVIDENCE.servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


@pytest.fixture
def new_tab(profile: BrowserContext) -> Callable[[], Page]:
    """Opens pages of the session's profile, with nothing stored. They are closed after the test."""

    def opened() -> Page:
        page = profile.new_page()
        page.add_init_script("localStorage.clear()")
        return page

    return opened


@pytest.fixture
def page(new_tab: Callable[[], Page]) -> Iterator[Page]:
    """A page as `new_tab` opens it; the test fails if its console had an error."""
    opened = new_tab()
    errors = errors_of(opened)
    yield opened
    if errors:
        EVIDENCE.photograph()
    opened.close()
    assert errors == [], "errors in the browser's console"


@pytest.fixture(scope="module")
def shared() -> Iterator[list[tuple[Page, list[str]]]]:
    """For a page that tests of a module share, with the errors of its console."""
    found: list[tuple[Page, list[str]]] = []
    yield found
    for page, _ in found:
        page.close()
    EVIDENCE.kept.clear()


@pytest.fixture
def shared_page(shared: list[tuple[Page, list[str]]], new_tab: Callable[[], Page]) -> Iterator[Page]:
    """A page that was opened for an earlier test of the module, or a new one; a test that fails is its last.

    The test fails if the page's console had an error meanwhile.
    """
    if not shared or shared[-1][0].is_closed():
        opened = new_tab()
        shared.append((opened, errors_of(opened)))
        EVIDENCE.kept.append(opened)
    opened, errors = shared[-1]
    yield opened
    if errors:
        EVIDENCE.photograph()
    found = errors.copy()
    errors.clear()
    assert found == [], "errors in the browser's console"


def errors_of(page: Page) -> list[str]:
    """All errors in the page's console, from now on."""
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if _is_ours(message) else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


def _is_ours(message: ConsoleMessage) -> bool:
    """An error, and not Streamlit's own: on a page's link it asks for /page/_stcore/… before it tries the root."""
    return message.type == "error" and "/_stcore/" not in message.location.get("url", "")
