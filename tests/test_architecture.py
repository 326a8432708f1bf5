"""The rooms, and which way imports go; and that the walk through the dashboard is the one that is written down."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# ------------------------------------------------------------------------------------------------------ the engine

# A module may import modules of its own room and of the rooms before it.
ORDER = [
    {"glossary", "numerals", "version"},
    {"parameters", "compiled", "rounding"},
    {"lanes", "notebook", "plain", "precision", "progress", "tabular"},
    {"streams"},
    {"targets"},
    {"kernels"},
    {"schedules"},
    {"samplers"},
    {"spec"},
    {"diagnostics", "recorder"},
    {"run"},
    {"compare", "trajectory"},
    {"checks", "tables"},
    {"custom", "own", "pytest_plugin"},
    {"adapters", "examples"},
    {"cli"},
    {"__main__"},
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


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", files("mahmc"), ids=short)
def test_imports_of_the_engine_go_one_way(path: Path) -> None:
    own = path.relative_to(ROOT / "mahmc").parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name in imported(path):
        parts = name.split(".")
        target = parts[1] if parts[0] == "mahmc" and len(parts) > 1 and parts[1] in RANK else None
        if target and target != own:
            assert RANK[target] <= RANK[own], f"{own} must not import {name}"


@pytest.mark.parametrize("path", files("mahmc"), ids=short)
def test_the_engine_knows_of_no_browser(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & {"streamlit", "plotly", "dashboard", "pages"}


def test_every_module_of_the_engine_has_its_place() -> None:
    found = {path.relative_to(ROOT / "mahmc").parts[0].removesuffix(".py") for path in files("mahmc")}
    assert found - {"__init__"} == set(RANK)


# ------------------------------------------------------------------------------------------------- names of targets

NAMES = {"mdc", "blr", "gmm"}
TABLES = {  # where names of targets are data: values, cases, links, contests
    "mahmc/samplers.py", "mahmc/checks/cells.py", "dashboard/settings/presets.py", "dashboard/settings/checks.py",
}  # fmt: skip


def asks_for_a_name(tree: ast.AST) -> Iterator[str]:
    """Comparisons with the name of a target, look-ups by such a name, and the target itself where it is named."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                asked: list[ast.AST] = [left, *others]
            case ast.Subscript(slice=index):
                asked = [index]
            case ast.Call(func=ast.Attribute(), args=given):
                asked = list(given)
            case ast.MatchValue(value=value):
                asked = [value]
            case ast.Attribute(value=ast.Name(id="targets") | ast.Attribute(attr="targets"), attr=name) if (
                name in NAMES
            ):
                yield ast.unparse(node)
                continue
            case ast.ImportFrom(module="mahmc.targets", names=names) if {alias.name for alias in names} & NAMES:
                yield ast.unparse(node)
                continue
            case _:
                continue
        if any(isinstance(part, ast.Constant) and part.value in NAMES for one in asked for part in ast.walk(one)):
            yield ast.unparse(node)


def named_targets(tree: ast.AST) -> Iterator[str]:
    """Every string that is the name of a target."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
            yield f"line {node.lineno}"


@pytest.mark.parametrize(
    "path",
    [p for p in [ROOT / "app.py", *files("pages"), *files("dashboard"), *files("mahmc")] if "targets" not in p.parts],
    ids=short,
)
def test_nobody_asks_for_the_name_of_a_target(path: Path) -> None:
    """What only one target has is a hook of that target."""
    tree = ast.parse(path.read_text())
    if short(path) in TABLES:
        assert not [found for found in asks_for_a_name(tree) if not found.startswith("Case(")]
    else:
        assert not list(asks_for_a_name(tree))
        assert not list(named_targets(tree))


@pytest.mark.parametrize(
    "planted",
    [
        "if target.name == 'blr': pass", "x = name in ('mdc', 'gmm')", "x = TITLES['mdc']", "x = TITLES.get('gmm')",
        "match name:\n    case 'blr': pass", "x = targets.blr(X, y)", "from mahmc.targets import gmm",
        "x = mahmc.targets.mdc", "x = name.startswith('mdc')",
    ],
)  # fmt: skip
def test_a_question_for_the_name_of_a_target_is_seen(planted: str) -> None:
    assert list(asks_for_a_name(ast.parse(planted)))


def test_a_constant_with_the_name_of_a_target_is_seen() -> None:
    """`TARGET = "blr"` in one file, for a comparison in another; but not a name as a part of a text."""
    assert list(named_targets(ast.parse("TARGET = 'blr'"))) == ["line 1"]
    assert not list(named_targets(ast.parse("text = 'on blr'")))


# --------------------------------------------------------------------------------------------------- the dashboard

ROOMS = {
    "settings": set(),
    "work": {"settings"},
    "figures": set(),
    "views": {"settings", "work", "figures"},
    "live": {"settings", "work", "figures", "views"},
    "widgets": {"settings", "work"},
    "pages": {"settings", "work", "figures", "views", "live", "widgets"},
}
WITHOUT_STREAMLIT = ("settings", "work", "figures", "views", "live")
WITH_STREAMLIT = ("widgets/", "pages/", "live/component.py")
WITH_PLOTLY = ("figures/", "live/message.py", "live/assets.py")
WITH_STARLETTE = ("live/",)
WITH_MATPLOTLIB = ("figures/printed/files.py",)
MOST_LINES = 320


def in_room(path: Path) -> str:
    return path.relative_to(ROOT / "dashboard").as_posix()


@pytest.mark.parametrize("path", files("dashboard"), ids=short)
def test_imports_of_the_dashboard_go_one_way(path: Path) -> None:
    room = in_room(path).split("/")[0]
    if room not in ROOMS:
        assert in_room(path) in ("__init__.py", "__main__.py"), "every module has a room"
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "dashboard" and len(parts) > 1 and parts[1] != room:
            assert parts[1] in ROOMS[room], f"{room} must not import {name}"


@pytest.mark.parametrize("path", files("dashboard"), ids=short)
def test_each_library_has_its_rooms(path: Path) -> None:
    names, place = {name.split(".")[0] for name in imported(path)}, in_room(path)
    if place == "__main__.py":
        return
    for library, rooms in (("streamlit", WITH_STREAMLIT), ("plotly", WITH_PLOTLY), ("starlette", WITH_STARLETTE),
                           ("matplotlib", WITH_MATPLOTLIB)):  # fmt: skip
        assert library not in names or place.startswith(rooms), f"{library} is not for {place}"


def test_rooms_without_streamlit_do_not_get_it_through_others() -> None:
    """All their modules are imported in a new process, and Streamlit is not there afterwards."""
    modules = [
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in files("dashboard")
        if in_room(path).split("/")[0] in WITHOUT_STREAMLIT and in_room(path) != "live/component.py"
    ]
    assert len(modules) > 30
    program = f"import sys\nfor name in {modules!r}:\n    __import__(name)\nprint('streamlit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("path", files("dashboard"), ids=short)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", files("dashboard"), ids=short)
def test_functions_fit_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, f"{path.name}: {node.name}"


def test_pages_are_the_same_short_sentence() -> None:
    """Open, let widgets change settings, follow, lay out, share; the overview has neither widgets nor results."""
    for path in files("pages"):
        tree = ast.parse(path.read_text())
        calls = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.Expr)][1:]
        said = [ast.unparse(call.func).replace(f"{path.stem}.", "") for call in calls if isinstance(call, ast.Call)]
        whole = ["page.opened", "sidebar", "page.followed", "body", "share"]
        assert said == ([s for s in whole if s not in ("sidebar", "share")] if path.stem == "overview" else whole)


# ---------------------------------------------------------------------------------------------------- the packages


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def declared(needs: list[str]) -> set[str]:
    return {re.split(r"[<>=\[]", need)[0].replace("-", "_") for need in needs}


def packages(paths: list[Path]) -> set[str]:
    """Packages of others that these files import."""
    found = {name.partition(".")[0] for path in paths for name in imported(path)}
    return found - set(sys.stdlib_module_names) - {"mahmc", "dashboard"}


def test_every_package_that_is_imported_is_declared() -> None:
    """The engine does with its own; adapters have requirements of their own, and the pytest plugin is for pytest."""
    apart = {ROOT / "mahmc" / "pytest_plugin.py", *files("mahmc/adapters")}
    engine = [path for path in files("mahmc") if path not in apart]
    needs, of_the_app = PROJECT["dependencies"], PROJECT["optional-dependencies"]["app"]
    assert packages(engine) <= declared(needs)
    assert packages([ROOT / "app.py", *files("pages"), *files("dashboard")]) <= declared(needs + of_the_app)
    assert declared(of_the_app) <= packages([ROOT / "app.py", *files("dashboard")]), "the app has more than it imports"


def test_the_engine_alone_imports_nothing_of_the_app() -> None:
    code = "import sys, mahmc, mahmc.cli; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "numba" in found.stdout.split()
    assert not {"streamlit", "plotly", "pandas", "starlette", "dashboard"} & set(found.stdout.split())


def test_arviz_is_imported_for_files_only() -> None:
    """It takes seconds. Estimates need arviz-stats alone."""
    code = (
        "import sys, mahmc; run = mahmc.sample('gmm', 'mahmc', draws=100);"
        "run.ess('q'), run.rhat('q'), run.mcse('q'); print('arviz' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.split() == ["False"]
