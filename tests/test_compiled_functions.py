"""Compiled functions are small: what belongs together is one NamedTuple, so none takes more than six parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_PARAMETERS = 6
DECORATORS = {"kernel", "inlined", "stored", "implements", "otherwise", "intrinsic", "njit"}
FILES = sorted((ROOT / "mahmc").rglob("*.py")) + sorted((ROOT / "benchmarks").glob("*.py"))


def name_of(node: ast.expr) -> str:
    """The name of a decorator: "implements" for `@implements(potential, MDC)`."""
    while isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node).rpartition(".")[2]


def is_stub(function: ast.FunctionDef) -> bool:
    """Whether this function only names a compiled one, whose bodies then have the same parameters."""
    return any(isinstance(node, ast.Raise) and "compiled code only" in ast.unparse(node) for node in function.body)


def compiled(source: str) -> Iterator[tuple[str, int]]:
    """Names and numbers of parameters of the functions that a file compiles, and of lambdas that it compiles."""
    for node in ast.walk(ast.parse(source)):
        found: list[tuple[str, ast.arguments]] = []
        if isinstance(node, ast.FunctionDef):
            if is_stub(node) or any(name_of(decorator) in DECORATORS for decorator in node.decorator_list):
                found.append((node.name, node.args))
        elif isinstance(node, ast.Call) and name_of(node) in DECORATORS:
            found += [("lambda", argument.args) for argument in node.args if isinstance(argument, ast.Lambda)]
        for name, arguments in found:
            yield name, len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


@pytest.mark.quick
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_compiled_functions_have_at_most_six_parameters(path: Path) -> None:
    assert {name: n for name, n in compiled(path.read_text()) if n > MOST_PARAMETERS} == {}


@pytest.mark.quick
def test_every_kind_of_compiled_function_is_seen() -> None:
    seen = {name for path in FILES for name, _ in compiled(path.read_text())}
    assert {"trajectory", "refresh", "side_by_side", "_potential", "update_and_restore", "update_where", "load"} <= seen
    source = """
@kernel
def a(x, y): ...
@implements(update, BLR)
def b(x, y, z): ...
@numba.njit(**OPTIONS)
def c(x): ...
def d(x, *, y):
    raise NotImplementedError("compiled code only")
def not_compiled(x): ...
e = implements(U, data)(lambda x, y, z, w: inlined(lambda x: x))
"""
    assert sorted(compiled(source)) == [("a", 2), ("b", 3), ("c", 1), ("d", 2), ("lambda", 1), ("lambda", 4)]
