"""For tests in a browser: Chromium, Streamlit servers, and what a failed test needs to explain itself."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Playwright, Response
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / ".test-artifacts"  # screenshots of failed tests; not in git
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-opt",  # no page lives so long that optimising its scripts pays
]
START_TIMEOUT = 120.0  # seconds until a server must answer; only a server that hangs takes so long
SCREENSHOT_TIMEOUT = 20_000  # milliseconds
LOG_LINES = 200  # of a server's log, in the report of a failed test
MOST_EVENTS = 500  # that are kept of the console
# Says in the console what each press, release and click reached: a click that had no effect explains itself.
NOTE_CLICKS = """for (const kind of ["pointerdown", "pointerup", "click"]) {
  window.addEventListener(kind, ({ target, clientX, clientY }) => console.debug(
    `${kind} at ${clientX}, ${clientY} on <${target.nodeName}> ${String(target.innerText ?? "").slice(0, 40)}`), true);
}"""


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


# ---------------------------------------------------------------------------------------------------- servers


class Servers:
    """Streamlit servers, one per script: called with a script, it gives the address that serves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[Path, tuple[subprocess.Popen[bytes], str]] = {}
        self.asked: list[Path] = []  # scripts that the present test asked for
        self.closed = False

    def __call__(self, script: Path) -> str:
        if script not in self.asked:
            self.asked.append(script)
        if script not in self.running:
            port, log = free_port(), self.log(script)
            self.running[script] = start(script, port, log), f"http://localhost:{port}"
            wait_until_healthy(*self.running[script], log)
        return self.running[script][1]

    def log(self, script: Path) -> Path:
        """The file with all that the script's server has printed."""
        return self.folder / f"{script.stem}.log"

    def report(self, script: Path) -> str:
        """Whether the script's server runs, and the end of its log."""
        process, address = self.running[script]
        code = None if self.closed else process.poll()
        state = "was running" if code is None else f"ended with exit code {code}"
        with self.log(script).open(errors="replace") as lines:
            last = "".join(deque(lines, LOG_LINES))
        return f"The server at {address} {state}. The last {LOG_LINES} lines of {self.log(script)}:\n{last or 'none'}"

    def cpu_seconds(self, script: Path) -> float:
        """The processor time that the script's server has used so far."""
        fields = Path(f"/proc/{self.running[script][0].pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.closed = True
        for process, _ in self.running.values():
            process.kill()
            process.wait()


def free_port() -> int:
    """A port nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def start(script: Path, port: int, log: Path) -> subprocess.Popen[bytes]:
    """`streamlit run` from the repository's root, with the repository on the path and its output in `log`."""
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.headless", "true"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
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


# ----------------------------------------------------------------------------------------------------- evidence


class Evidence:
    """What a failed test shows: screenshots, addresses, console, page errors, failed requests and servers' logs.

    It watches every context of the browser, those that tests open themselves too.
    """

    def __init__(self) -> None:
        self.profile: BrowserContext | None = None
        self.servers: Servers | None = None
        self.kept: list[Page] = []  # pages that several tests share
        self.begin("")

    def begin(self, test: str) -> None:
        """A test begins: forget the one before."""
        self.test = test
        self.console: deque[str] = deque(maxlen=MOST_EVENTS)
        self.page_errors: deque[str] = deque(maxlen=MOST_EVENTS)
        self.requests: deque[str] = deque(maxlen=MOST_EVENTS)
        self.pages: list[str] = []
        if self.servers:
            self.servers.asked.clear()

    def watch(self, profile: BrowserContext) -> None:
        """Listen to the session's profile, and to every context that its browser opens from now on."""
        self.profile, browser = profile, profile.browser
        assert browser is not None
        open_context = browser.new_context

        def new_context(**options: object) -> BrowserContext:
            context = open_context(**options)  # type: ignore[arg-type]
            self._listen(context)
            return context

        browser.new_context = new_context  # type: ignore[method-assign]
        self._listen(profile)

    @property
    def contexts(self) -> list[BrowserContext]:
        browser = self.profile.browser if self.profile else None
        return list(browser.contexts) if browser else []

    def _listen(self, context: BrowserContext) -> None:
        context.add_init_script(NOTE_CLICKS)
        context.on("console", lambda message: self.console.append(_in_words(message)))
        context.on("weberror", lambda error: self.page_errors.append(str(error.error)))
        context.on("page", lambda page: page.on("crash", lambda page: self.page_errors.append(f"{page.url} crashed")))
        context.on(
            "requestfailed", lambda sent: self.requests.append(f"{sent.method} {sent.url}: {sent.failure or 'failed'}")
        )
        context.on("response", self._note_bad_answer)

    def _note_bad_answer(self, answer: Response) -> None:
        if answer.status >= 400:
            self.requests.append(f"{answer.request.method} {answer.url}: status {answer.status}")

    def photograph(self) -> None:
        """Take a screenshot of every open page, with its address."""
        opened = [page for context in self.contexts for page in context.pages if page.url != "about:blank"]
        for number, page in enumerate(opened, len(self.pages) + 1):
            self.pages.append(f"Page {number}: {page.url}\nScreenshot: {self._screenshot(page, number)}")

    def _screenshot(self, page: Page, number: int) -> str:
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{re.sub(r'[^A-Za-z0-9]+', '-', self.test).strip('-')[:120]}-{number}.png"
        try:
            page.screenshot(path=path, timeout=SCREENSHOT_TIMEOUT)
        except PlaywrightError as reason:
            return f"none, as it could not be taken: {reason}"
        return str(path)

    def sections(self) -> list[tuple[str, str]]:
        """Titles and texts for the report of a failed test."""
        found = [
            ("browser: open pages", "\n".join(self.pages) or "none"),
            ("browser: console", "\n".join(self.console) or "none"),
            ("browser: page errors", "\n".join(self.page_errors) or "none"),
            ("browser: failed requests", "\n".join(self.requests) or "none"),
        ]
        servers = self.servers
        logs = [(f"server of {script.name}", servers.report(script)) for script in servers.asked] if servers else []
        return found + logs

    def close_pages(self) -> None:
        """Close what the test left open: a run there would slow down the next test. First and kept pages stay."""
        for context in self.contexts:
            if context is not self.profile:
                context.close()
        for page in self.profile.pages[1:] if self.profile else []:
            if page not in self.kept:
                page.close()


def _in_words(message: ConsoleMessage) -> str:
    place = message.location.get("url", "")
    return f"{message.type}: {message.text}" + (f" ({place})" if place else "")


# -------------------------------------------------------------------------------------------------------- pages


def edit_first_row(page: Page, across: float, text: str) -> None:
    """Type into the first row of the page's first table, so far across it as a share of its width."""
    cells = page.get_by_test_id("stDataFrame").locator("canvas").first
    cells.scroll_into_view_if_needed(timeout=60_000)
    editor = page.locator("#portal input")
    for _ in range(120):  # the grid is drawn at a time of its own: click until it answers
        box = cells.bounding_box()
        assert box is not None
        page.mouse.dblclick(box["x"] + across * box["width"], box["y"] + 52)
        try:
            editor.wait_for(timeout=500)
            break
        except PlaywrightTimeout:
            continue
    editor.fill(text)
    editor.press("Enter")
