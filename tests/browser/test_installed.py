"""The wheel in an empty environment, without a checkout: the command line, and the dashboard in a browser.

Packages are downloaded, so this is in `make test-wheel` only. A Python that is not there is left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import free_port, wait_until_healthy
from tests.support.browser_pages import FINISHED, SMALL, WAIT, chart, is_drawn, open_page, press, says
from tests.support.wheels import ROOT, built

pytestmark = [pytest.mark.long, pytest.mark.wheel]
PYTHONS = ("3.11", "3.13")
OF_THE_APP = {"streamlit", "starlette", "plotly", "tsdownsample"}


def python(version: str) -> str:
    """A Python of this version: this one, one on the path, or the newest below pyenv's root."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [shutil.which(f"python{version}"), *sorted(map(str, root.glob(f"versions/{version}.*/bin/python")))[::-1]]
    for path in found:
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"Python {version} was not found")


class Installed:
    """An environment, and an empty folder to work in, whose user has no settings and no cache of kernels."""

    def __init__(self, folder: Path, version: str) -> None:
        self.work, self.bin, home = folder / "work", folder / "environment" / "bin", folder / "home"
        self.work.mkdir()
        home.mkdir()
        subprocess.run([python(version), "-m", "venv", str(folder / "environment")], check=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAHMC", "XDG"))}
        self.environment = kept | {"HOME": str(home), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment, in the empty folder."""
        path = str(self.bin / command[0])
        return subprocess.run(
            [path, *command[1:]], cwd=self.work, env=self.environment, capture_output=True, text=True, check=False
        )

    def install(self, *what: str) -> None:
        done = self.run("python", "-m", "pip", "install", "--quiet", *what)
        assert done.returncode == 0, done.stdout + done.stderr

    def packages(self) -> set[str]:
        found = self.run("python", "-m", "pip", "list", "--format", "json")
        return {package["name"].lower() for package in json.loads(found.stdout)}


@pytest.fixture(scope="module", params=PYTHONS)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel alone, without the app's packages."""
    folder = tmp_path_factory.mktemp(f"python{request.param}")
    assert not folder.is_relative_to(ROOT)
    (wheel,) = built(ROOT, folder / "dist", "-t", "wheel")
    found = Installed(folder, request.param)
    found.install(str(wheel))
    return found


def test_the_engine_and_the_command_line_need_no_streamlit(installed: Installed) -> None:
    assert not OF_THE_APP & installed.packages()
    done = installed.run("mahmc", "sample", "blr", "mahmc", "--draws", "1e2", "--json", "--out", "draws.nc")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["draws"] == 100
    assert said["quantities"]["tau"]["truth"] > 0, "the reference is there"
    assert (installed.work / "draws.nc").stat().st_size > 0
    done = installed.run("mahmc", "check", "gmm", "hmc", "--budget", "0.05", "--json")
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout)[0]["checks"]["gradient"]["verdict"] == "right"
    done = installed.run("python", "-m", "mahmc", "list")
    assert done.returncode == 0, done.stderr
    assert "mala-pn" in done.stdout


def test_app_says_what_to_install_and_then_serves_the_dashboard(installed: Installed, page: Page) -> None:
    done = installed.run("mahmc", "app")
    assert done.returncode == 2, done.stdout + done.stderr
    words = "which is not installed: run "
    assert words in done.stderr
    interpreter, *command = done.stderr.partition(words)[2].strip().replace('"', "").split()
    assert interpreter == str(installed.bin / "python")
    subprocess.run([interpreter, *command, "--quiet"], cwd=installed.work, env=installed.environment, check=True)
    assert installed.packages() >= OF_THE_APP
    with served(installed) as address:
        with urlopen(address) as answer:
            assert answer.status == 200
            assert b"<title>" in answer.read()
        open_page(page, address, "A laboratory for mixed samplers")
        open_page(page, f"{address}/explore?{urlencode({'target': 'gmm', **SMALL})}")
        press(page, "Run")
        says(page, FINISHED)
        is_drawn(chart(page, "trace"))
        icon = page.locator("link[rel*='icon']").first
        expect(icon).to_have_attribute("href", re.compile(r"media/.*\.png"), timeout=WAIT)


@contextmanager
def served(installed: Installed) -> Iterator[str]:
    """The address of a server that `mahmc app` starts in the empty folder. An interrupt ends it."""
    port, log = free_port(), installed.work.parent / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [str(installed.bin / "mahmc"), "app", "--port", str(port)],
            cwd=installed.work, env=installed.environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_until_healthy(server, f"http://localhost:{port}", log)
        yield f"http://localhost:{port}"
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130, log.read_text(errors="replace")
    finally:
        server.kill()
        server.wait()
