"""The project's files: allowed versions are versions that the tests run with, and hooks are what `make lint` runs."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDS = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]
NEWEST_NEEDS_3_12 = ("arviz", "arviz-stats")


def numbers(text: str) -> list[int]:
    """A version as four numbers."""
    found = [int(part) for part in re.findall(r"\d+", text)[:4]]
    return found + [0] * (4 - len(found))


def is_newest(installed: str, bound: str) -> bool:
    """Whether no version series lies between the installed version and the bound: 1.7 below 2, 0.68.1 below 0.69."""
    places = len(bound.split("."))
    before, limit = numbers(installed)[:places], numbers(bound)[:places]
    return [*before[:-1], before[-1] + 1] == limit


def test_the_newest_version_is_just_below_the_bound() -> None:
    assert is_newest("1.7.3", "2")
    assert is_newest("0.68.1", "0.69")
    assert not is_newest("0.68.1", "0.70")
    assert not is_newest("1.7.3", "3")


@pytest.mark.quick
def test_the_tests_run_with_the_lowest_or_the_newest_allowed_versions() -> None:
    """`make test` has an environment of each kind. If this fails, `make clean` removes outdated environments."""
    lowest, newest = {}, {}
    for need in NEEDS:
        match = re.fullmatch(r"([\w-]+)>=([\d.]+),<([\d.]+)", need)
        assert match is not None, f"{need}: both bounds are needed"
        name, low, bound = match.groups()
        installed = version(name)
        lowest[f"{name} {installed}"] = numbers(installed) == numbers(low)
        is_capped = name in NEWEST_NEEDS_3_12 and sys.version_info < (3, 12)
        newest[f"{name} {installed}"] = is_newest(installed, bound) or is_capped
    assert all(lowest.values()) or all(newest.values()), (
        f"not the lowest: {[name for name, so in lowest.items() if not so]}, "
        f"not the newest: {[name for name, so in newest.items() if not so]}"
    )


def test_hooks_run_the_commands_of_make_lint() -> None:
    recipe = re.search(r"^lint: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]
    assert re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text()) == commands
