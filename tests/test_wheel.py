"""The wheel: what is in it, what it needs, and that it works where there is no checkout.

`make test-wheel` installs it into empty environments, and goes through the dashboard in a browser.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from tests.support.wheels import ROOT, built

ENGINE, APP = ("mahmc",), ("dashboard", "pages", "app.py", ".streamlit/config.toml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive and the wheel."""
    wheel, source = sorted(built(ROOT, tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix, reverse=True)
    return source, wheel


@pytest.fixture(scope="module")
def unpacked(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what is in the wheel, as an installation has it."""
    folder = tmp_path_factory.mktemp("site-packages")
    zipfile.ZipFile(archives[1]).extractall(folder)
    return folder


def run(unpacked: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Python with the unpacked wheel, in a folder of its own, with an empty cache beside it."""
    environment = os.environ | {"PYTHONPATH": str(unpacked), "MAHMC_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-P", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def files_of(*places: str) -> Iterator[str]:
    """The files of the checkout in these places."""
    for place in places:
        here = ROOT / place
        for path in here.rglob("*") if here.is_dir() else [here]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_the_engine_and_the_app_and_nothing_else(archives: tuple[Path, Path]) -> None:
    expected = {name: name for name in files_of(*ENGINE)} | {f"mahmc/app/{name}": name for name in files_of(*APP)}
    found = content(archives[1])
    packed = {name for name in found if ".dist-info/" not in name}
    assert sorted(packed - set(expected)) == []
    assert sorted(set(expected) - packed) == []
    assert {Path(name).suffix for name in packed} >= {".csv", ".npz", ".html", ".css", ".js", ".png", ".toml", ".typed"}
    assert [name for name, source in expected.items() if found[name] != (ROOT / source).read_bytes()] == []


def test_a_wheel_from_the_source_archive_is_the_same(archives: tuple[Path, Path], tmp_path: Path) -> None:
    source, wheel = archives
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert (tree / "tests" / "test_wheel.py").is_file()
    assert (tree / "Makefile").is_file()
    (again,) = built(tree, tmp_path / "again", "-t", "wheel")
    assert again.name == wheel.name
    one, other = content(wheel), content(again)
    assert sorted(one) == sorted(other)
    assert [name for name in one if one[name] != other[name]] == []


def test_what_the_wheel_says_of_itself(archives: tuple[Path, Path]) -> None:
    found = content(archives[1])
    (folder,) = {name.partition("/")[0] for name in found if ".dist-info/" in name}
    said: Message = message_from_string(found[f"{folder}/METADATA"].decode())
    assert said["License-Expression"] == "MIT AND CC-BY-4.0"
    assert found[f"{folder}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert "CC BY 4.0" in found[f"{folder}/licenses/mahmc/data/README.md"].decode()
    classifiers = said.get_all("Classifier") or []
    assert [f"Programming Language :: Python :: 3.{n}" in classifiers for n in (11, 12, 13)] == [True] * 3
    assert "# mahmc" in said.get_payload()
    needed = said.get_all("Requires-Dist") or []
    for_all = {re.split(r"[<>=]", need)[0] for need in needed if ";" not in need}
    for_app = {re.split(r"[<>=]", need)[0] for need in needed if need.endswith("; extra == 'app'")}
    assert len(for_all) + len(for_app) == len(needed)
    assert {"numpy", "numba", "pandas", "scipy", "tqdm"} <= for_all
    assert {"streamlit", "plotly", "starlette", "tsdownsample", "matplotlib"} == for_app


def test_the_command_line_works_from_the_unpacked_wheel(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, tmp_path, "-m", "mahmc", "--help")
    assert done.returncode == 0, done.stderr
    assert "exit codes:" in done.stdout
    done = run(unpacked, tmp_path, "-m", "mahmc", "sample", "blr", "hmc", "--draws", "1e2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["draws"] == 100
    where = run(unpacked, tmp_path, "-c", "import mahmc; print(mahmc.__file__)").stdout.strip()
    assert Path(where) == unpacked / "mahmc" / "__init__.py"


def test_pages_come_up_from_the_unpacked_wheel(unpacked: Path, tmp_path: Path) -> None:
    """Without a checkout at hand, whatever folder the server is started in."""
    program = """
import sys
from mahmc.cli import app
folder = app.folder()
sys.path.insert(0, str(folder))
import dashboard
import streamlit
from streamlit.testing.v1 import AppTest
icons = []
streamlit.set_page_config = lambda page_icon=None, **_: icons.append(page_icon)  # a page sets only its title
page = AppTest.from_file(str(folder / "app.py"), default_timeout=600).run()
titles = [page.title[0].value]
for name in ("explore", "compare", "checks"):
    page.switch_page(f"pages/{name}.py").run()
    assert not page.exception, page.exception[0].message
    titles.append(page.title[0].value)
print(folder, dashboard.__file__, icons[0], *titles, sep="\\n")
"""
    done = run(unpacked, tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr
    app = unpacked / "mahmc" / "app"
    assert done.stdout.splitlines() == [
        str(app),
        str(app / "dashboard" / "__init__.py"),
        str(app / "dashboard" / "icon.png"),
        "A laboratory for mixed samplers",
        "Explore",
        "Compare",
        "Checks",
    ]


def test_what_is_needed_is_declared_once() -> None:
    """What a checkout installs is what the project declares, of the engine and of the app."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert listed == PROJECT["dependencies"] + PROJECT["optional-dependencies"]["app"]
