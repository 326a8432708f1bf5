"""A dashboard server on a free port, and a headless Chromium that opens its pages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Browser, Playwright, sync_playwright

ROOT = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")


@contextmanager
def dashboard() -> Iterator[str]:
    """Serve the dashboard; gives its address."""
    port = _free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "dashboard", "--server.port", str(port)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait(port)
        yield f"http://localhost:{port}"
    finally:
        server.kill()
        server.wait()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium: the one that $CHROMIUM names, else one on the search path, else Playwright's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_path(playwright), args=FLAGS)
        yield browser
        browser.close()


def _path(playwright: Playwright) -> str:
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    return next((path for path in found if path), playwright.chromium.executable_path)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait(port: int) -> None:
    for _ in range(1200):
        try:
            with urlopen(f"http://localhost:{port}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the dashboard did not start")
