"""The rooms, and which way imports go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parent.parent

# A module may import modules of its own room and of the rooms before it.
ORDER = [
    {"version"},
    {"parameters", "compiled"},
    {"lanes", "tabular"},
    {"streams"},
    {"targets"},
    {"kernels"},
    {"schedules"},
    {"samplers"},
    {"spec"},
    {"diagnostics"},
    {"run"},
    {"compare"},
    {"checks", "tables"},
    {"own"},
    {"examples"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def imported(path: Path) -> set[str]:
    """Dotted names that a file imports, but for those that only type checkers see."""
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    hidden = {id(inner) for branch in branches for inner in ast.walk(branch)}
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "mahmc" and len(parts) > 1 and parts[1] in RANK else None


@pytest.mark.parametrize("path", sorted((ROOT / "mahmc").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(ROOT / "mahmc").parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name in imported(path):
        target = room(name)
        if target and target != own:
            assert RANK[target] <= RANK[own], f"{own} must not import {name}"


@pytest.mark.parametrize("path", sorted((ROOT / "mahmc").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_the_engine_knows_of_no_browser(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & {"streamlit", "plotly", "dashboard", "pages"}


def test_every_module_of_the_engine_has_its_place() -> None:
    found = {p.relative_to(ROOT / "mahmc").parts[0].removesuffix(".py") for p in (ROOT / "mahmc").rglob("*.py")}
    assert found - {"__init__"} == set(RANK)


def test_pages_are_short_sentences() -> None:
    for page in (ROOT / "pages").glob("*.py"):
        assert len(page.read_text().splitlines()) <= 100, page.name
