"""A browser, a Streamlit server per script, and a page that fails its test on an error in the console."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_TIMEOUT = 60.0  # seconds


def chromium_path(playwright: Playwright) -> str:
    """Chromium from $CHROMIUM, the search path or Playwright's own store; no browser is a failure, never a skip."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, CHROMIUM_NAMES), playwright.chromium.executable_path]
    for path in found:
        if path and Path(path).exists():
            return path
    pytest.fail(
        "The browser tests need Chromium and found none. Install it (apt-get install chromium, or "
        "python -m playwright install chromium), or set CHROMIUM to the path of its executable.",
        pytrace=False,
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for the session."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path(playwright), args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


class Servers:
    """Streamlit servers, one per script: called with a script, it gives the address that serves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[Path, tuple[subprocess.Popen, str]] = {}

    def __call__(self, script: Path) -> str:
        if script not in self.running:
            port = free_port()
            log = self.folder / f"{script.stem}.log"
            self.running[script] = start(script, port, log), f"http://localhost:{port}"
            wait_until_healthy(*self.running[script], log)
        return self.running[script][1]

    def cpu_seconds(self, script: Path) -> float:
        """What the script's server has used of the processor so far."""
        fields = Path(f"/proc/{self.running[script][0].pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        for process, _ in self.running.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers for the session."""
    servers = Servers(tmp_path_factory.mktemp("servers"))
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
    context.close()
    assert errors == [], "errors in the browser's console"


def _is_ours(message: ConsoleMessage) -> bool:
    """An error, and not Streamlit's own: on a page's link it asks for /page/_stcore/… before it tries the root."""
    return message.type == "error" and "/_stcore/" not in message.location.get("url", "")


def edit_first_row(page: Page, across: float, text: str) -> None:
    """Type into the first row of the page's first table, so far across it as a share of its width."""
    cells = page.get_by_test_id("stDataFrame").locator("canvas").first
    cells.scroll_into_view_if_needed(timeout=60_000)
    editor = page.locator("#portal input")
    while not editor.is_visible():  # the grid is drawn when it likes: click until it answers
        box = cells.bounding_box()
        assert box is not None
        page.mouse.dblclick(box["x"] + across * box["width"], box["y"] + 52)
        page.wait_for_timeout(500)
    editor.fill(text)
    editor.press("Enter")


def free_port() -> int:
    """A port nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def start(script: Path, port: int, log: Path) -> subprocess.Popen:
    """`streamlit run` from the repository's root, with the repository on the path and its output in `log`."""
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.headless", "true"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def wait_until_healthy(process: subprocess.Popen, address: str, log: Path) -> None:
    """Return when the server answers; fail with its output when it ends or stays silent."""
    deadline = time.monotonic() + START_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except (URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    process.kill()
    pytest.fail(f"Streamlit did not start:\n{log.read_text(errors='replace')}", pytrace=False)
