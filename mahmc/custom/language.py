"""Mistakes that can be seen in the text of a compiled function. They are refused before anything is compiled.

Mistakes that depend on types, such as `if` on a value that differs between chains, are found by the compiler; see
`translate`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mahmc.custom.mistakes import Mistake

_SEQUENCES = {
    ast.List: "a list", ast.Dict: "a dict", ast.Set: "a set", ast.ListComp: "a list", ast.DictComp: "a dict",
    ast.SetComp: "a set",
}  # fmt: skip
_STATEMENTS: dict[type, tuple[str, str]] = {
    ast.Assert: ("assert", "remove it. Where the density is zero U is np.inf, and such a point is rejected"),
    ast.Raise: ("raise", "remove it. Where the density is zero U is np.inf, and such a point is rejected"),
    ast.Try: ("try", "remove it. Compiled functions raise no errors: 1/0 is inf, and log(-1) is NaN"),
    ast.With: ("with", "remove it"),
    ast.Import: ("import", "put it at the top of the file"),
    ast.ImportFrom: ("import", "put it at the top of the file"),
    ast.Global: ("global", "return values instead, or make them settings"),
    ast.Nonlocal: ("nonlocal", "return values instead"),
    ast.ClassDef: ("class", "use numbers and arrays"),
    ast.FunctionDef: ("def", "put the function beside the class, where it can be called from here"),
    ast.Yield: ("yield", "return one value"),
    ast.YieldFrom: ("yield", "return one value"),
    ast.Await: ("await", "remove it"),
    ast.Delete: ("del", "remove it"),
}
_LOOP = "write a loop: total = 0.0, then for i in range(n): total += …"
_EXPRESSIONS: dict[type, tuple[str, str]] = {
    ast.GeneratorExp: ("Generator expressions are", _LOOP),
    ast.Lambda: ("lambda is", "write a function beside the class, and call it"),
    ast.NamedExpr: ("`:=` is", "set the variable on a line of its own, as x = …"),
}
RETURNED = {
    "U": "U, a value for each chain",
    "update": "delta_U, or (delta_U, accepted)",
    "visit": "the proposed value, (value, delta_U), or (value, delta_U, log_ratio)",
    "step_scale": "the factor of ε",
}
_ROWS_HAVE = {"sum": "sum({})", "max": "max({})", "min": "min({})", "shape": "len({})", "size": "len({})",
              "dot": "{} @ …", "T": "{}[i]"}  # fmt: skip


class Arguments(NamedTuple):
    """The names of the arguments in a person's function; empty for an argument that the function does not have."""

    self: str = ""
    q: str = ""
    other: str = ""
    grad: str = ""
    rng: str = ""


_ORDERS = {
    "U": ("self", "q", "other"),
    "grad_U": ("self", "q", "other", "grad"),
    "update": ("self", "q", "other", "grad", "rng"),
    "visit": ("self", "", "q", "other", "rng"),
    "step_scale": ("self", "other"),
    "method": ("self",),
}


def refuse_text(function: Callable[..., Any], role: str) -> None:
    """Raise Mistake if the text of the function has a mistake. Without a text only the compiler finds mistakes."""
    parsed = _parsed(function)
    if parsed is None:
        return
    tree, shift = parsed
    order = _ORDERS.get(role, ())
    names = [argument.arg for argument in tree.args.args]
    if role == "grad_U" and len(names) == 3:
        order = ("self", "q", "grad")
    arguments = Arguments(**{what: name for what, name in zip(order, names, strict=False) if what})
    for node, why in _Reader(role, arguments).read(tree):
        raise Mistake(function.__code__.co_filename, node.lineno + shift, why)


def _parsed(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int] | None:
    """The syntax tree of the function, and the number of lines above the function in its file."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    code = function.__code__
    if not isinstance(tree, ast.FunctionDef) or tree.name != code.co_name:
        return None
    return tree, code.co_firstlineno - 1


class _Reader:
    """Reads the text of a function, and yields each mistake with its node."""

    def __init__(self, role: str, arguments: Arguments) -> None:
        self.role, self.arguments = role, arguments
        self.rows = {name for name in (arguments.q, arguments.other, arguments.grad) if name}

    def read(self, tree: ast.FunctionDef) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
        body = tree.body[1:] if ast.get_docstring(tree, clean=False) is not None else tree.body
        nodes = sorted(
            (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.stmt | ast.expr)),
            key=lambda node: (node.lineno, node.col_offset),
        )
        for node in nodes:
            why = self._statement(node) or self._expression(node) or self._assignment(node)
            if why:
                yield node, why
        yield from self._returns(tree, nodes)

    def _statement(self, node: ast.AST) -> str:
        if type(node) in _STATEMENTS:
            word, advice = _STATEMENTS[type(node)]
            return f"{word} is not possible in compiled functions: {advice}."
        return ""

    def _expression(self, node: ast.AST) -> str:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            return "print is not possible in compiled functions: remove it. The values are in run.draws."
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._attribute(node.value.id, node.attr)
        return _value_that_cannot_be(node)

    def _attribute(self, name: str, attribute: str) -> str:
        if name and name == self.arguments.rng:
            return (
                f"{name} is not a NumPy generator: write normal({name}) or uniform({name}), from mahmc.custom. "
                f"Compute other random numbers from these, as -log(1 - uniform({name})), which is exponential."
            )
        if name in self.rows:
            instead = _ROWS_HAVE.get(attribute, "{}[i]").format(name)
            return f"{name} has no .{attribute}: {name} is a sequence of rows of chains. Write {instead}."
        return ""

    def _assignment(self, node: ast.AST) -> str:
        if isinstance(node, ast.Assign):
            targets = [t for target in node.targets for t in _flat(target)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
            targets = _flat(node.target)
        else:
            return ""
        return next((why for why in map(self._target, targets) if why), "")

    def _target(self, target: ast.expr) -> str:
        arguments = self.arguments
        if isinstance(target, ast.Name) and target.id in self.rows:
            effect = "sets no gradient" if target.id == arguments.grad else "changes no chain"
            return f"{target.id} = … gives the name another value, and {effect}: write {target.id}[i] = …."
        root, attribute = target, ""  # of self.X[0]: self and X
        while isinstance(root, ast.Attribute | ast.Subscript):
            attribute = root.attr if isinstance(root, ast.Attribute) else attribute
            root = root.value
        if not isinstance(root, ast.Name):
            return ""
        if attribute and root.id == arguments.self:
            return f"self.{attribute} cannot be changed: settings and data are constant. Use a variable."
        return self._row(root.id) if isinstance(target, ast.Subscript) else ""

    def _row(self, name: str) -> str:
        """The reason why a function may not change a row of this name."""
        if name and name == self.arguments.q:
            return f"This changes {name}, which only leapfrogs may change: use another variable."
        if not name or name != self.arguments.other or self.role == "update":
            return ""
        if self.role == "visit":
            return f"This changes {name}, which is done for you where the proposal is accepted: return the value."
        return f"This changes {name}, which only updates may change: use another variable."

    def _returns(
        self, tree: ast.FunctionDef, nodes: list[ast.stmt | ast.expr]
    ) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
        returns = [node for node in nodes if isinstance(node, ast.Return)]
        values = [node for node in returns if node.value is not None]
        if self.role == "grad_U":
            grad = self.arguments.grad
            named = any(isinstance(node, ast.Name) and node.id == grad for node in nodes)
            if not named:
                at = values[0] if values else tree
                yield at, f"The gradient is not returned but written: {grad}[0] = …, {grad}[1] = … for all rows of q."
            return
        wanted = RETURNED.get(self.role)
        if wanted is None:
            return
        if not returns:
            yield tree, f"The function returns nothing: return {wanted}."
        for node in returns:
            if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
                yield node, f"The function returns nothing here: return {wanted}."
            elif isinstance(node.value, ast.Tuple):
                allowed = {"update": (2,), "visit": (2, 3)}.get(self.role, ())
                if len(node.value.elts) not in allowed:
                    yield node, f"The function returns {len(node.value.elts)} values: return {wanted}."


def _value_that_cannot_be(node: ast.AST) -> str:
    """The reason why compiled code cannot have a value of this kind."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return "Text is not possible in compiled functions: use numbers (infinity is np.inf)."
    if type(node) in _EXPRESSIONS:
        word, advice = _EXPRESSIONS[type(node)]
        return f"{word} not possible in compiled functions: {advice}."
    if isinstance(node, ast.Compare):
        return _identity(node)
    if type(node) in _SEQUENCES:
        return (
            f"Compiled functions cannot make {_SEQUENCES[type(node)]}: make an array in data(self), and read it as "
            "self.…. For values of chains use single variables and loops."
        )
    return ""


def _identity(node: ast.Compare) -> str:
    """The reason against `is` between values, which is always false in compiled code; `x is None` is possible."""
    for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
        is_none = any(isinstance(side, ast.Constant) and side.value is None for side in (left, right))
        if isinstance(op, ast.Is | ast.IsNot) and not is_none:
            sign, word = ("==", "is") if isinstance(op, ast.Is) else ("!=", "is not")
            return f"`{word}` does not compare values: write {ast.unparse(left)} {sign} {ast.unparse(right)}."
    return ""


def _flat(target: ast.expr) -> list[ast.expr]:
    """The targets a, b and c of an assignment a, (b, c) = …."""
    if isinstance(target, ast.Tuple | ast.List):
        return [t for element in target.elts for t in _flat(element)]
    return [target]
