"""Translates errors of the compiler into messages: the person's own line, the reason, and what to write.

An error of the compiler lists places in the code from the inside out. The first place in the person's own file is the
line of the message.
"""

from __future__ import annotations

import ast
import dis
import linecache
import re
from collections.abc import Callable, Collection
from typing import Any

import numba
from numba.core import types

from mahmc.custom.language import RETURNED
from mahmc.custom.mistakes import Mistake
from mahmc.custom.prepare import Prepared
from mahmc.lanes import RowsType, lanes, mask

_BY_CHAIN = "can differ between chains"
_ROWS, _RNG = RowsType(False), types.Array(types.uint64, 2, "C")
_GIVEN = {
    "U": (_ROWS, _ROWS), "grad_U": (_ROWS, _ROWS, _ROWS), "update": (_ROWS, _ROWS, _ROWS, _RNG),
    "visit": (lanes, _ROWS, _ROWS, _RNG), "step_scale": (_ROWS,),
}  # fmt: skip


def mistake_of(compiled: Prepared, function: Callable[..., Any], data: Any, error: Exception) -> Mistake:
    """The mistake in a function that cannot be compiled, or that returns a wrong kind of value.

    The function is compiled alone, so that the compiler's message is about this function only. `error` is the error of
    compiling the function together with others.
    """
    dispatcher, role, code = compiled.compiled(function), compiled.roles[function], function.__code__
    given = _GIVEN[role]
    if role in ("U", "grad_U"):  # functions without `other` have fewer arguments
        given = given[: code.co_argcount - 1]
    arguments = (numba.typeof(data), *given)
    try:
        dispatcher.compile(arguments)
    except Exception as alone:
        return translated(alone, compiled.files, function)
    returned = dispatcher.overloads[arguments].signature.return_type
    if not _fits(role, returned):
        why = f"The function returns {_in_words(str(returned))}: return {RETURNED[role]}."
        return Mistake(code.co_filename, _return_line(function), why)
    return translated(error, compiled.files, function)


def _fits(role: str, returned: types.Type) -> bool:
    def is_value(x: types.Type) -> bool:
        return x == lanes or isinstance(x, types.Number | types.Boolean)

    if role == "grad_U":
        return True
    if isinstance(returned, types.BaseTuple):
        parts: list[types.Type] = [*returned]  # type: ignore[misc]
        if role == "update":
            return len(parts) == 2 and is_value(parts[0]) and (parts[1] == mask or isinstance(parts[1], types.Boolean))
        return role == "visit" and len(parts) in (2, 3) and all(map(is_value, parts))
    return is_value(returned)


def _return_line(function: Callable[..., Any]) -> int:
    """The line of the last return, or of the function."""
    code = function.__code__
    lines = [i.positions.lineno for i in dis.get_instructions(code) if i.opname.startswith("RETURN") and i.positions]
    return max((line for line in lines if line), default=code.co_firstlineno)


def translated(error: Exception, files: Collection[str], function: Callable[..., Any]) -> Mistake:
    """The mistake that causes an error of the compiler."""
    text, code = str(error), function.__code__
    file, line = _place(text, files) or (code.co_filename, code.co_firstlineno)
    return Mistake(file, line, _why(text, _statement(file, line)))


def _place(text: str, files: Collection[str]) -> tuple[str, int] | None:
    for found in re.finditer(r"at (.+?) \((\d+)\)", text):
        if found[1] in files:
            return found[1], int(found[2])
    for found in re.finditer(r'File "([^"\n]+)", line (\d+)', text):
        for file in files:
            if file.endswith(found[1].lstrip("./")):
                return file, int(found[2])
    return None


def _statement(file: str, line: int) -> ast.stmt | None:
    """The innermost statement that contains this line."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            compound = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if not compound and (found is None or node.lineno >= found.lineno):
                found = node
    return found


def _why(text: str, statement: ast.stmt | None) -> str:
    for pattern, reason in _REASONS:
        found = re.search(pattern, text)
        if found:
            return reason(found, statement)
    return f"The compiler says: {_gist(text)}."


def _gist(text: str) -> str:
    """The informative part of a compiler's message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    skipped = ("Failed in", "During", "There are", "- Of which", "File")
    what = [line.rstrip(".:") for line in lines if not line.startswith((*skipped, ">>>"))]
    calls = [line[4:] for line in lines if line.startswith(">>>")]
    return " ".join([what[0] if what else text[:80], *calls[:1]])[:200]


# ------------------------------------------------------------------------------------------------------- reasons


def _condition(found: re.Match[str], statement: ast.stmt | None) -> str:
    """A condition that differs between chains, where Python needs one answer."""
    for node in ast.walk(statement) if statement else ():
        if why := _logic(node):
            return why
    if isinstance(statement, ast.While):
        test = ast.unparse(statement.test)
        return (
            f"The condition {test} {_BY_CHAIN}, so chains would leave the loop at different times: loop over range(n), "
            "and choose by where(condition, a, b)."
        )
    if isinstance(statement, ast.If):
        test = ast.unparse(statement.test)
        return f"The condition {test} {_BY_CHAIN}, so `if` is not possible: write x = where({test}, a, b)."
    return f"This condition {_BY_CHAIN}, but Python needs one answer here: choose by where(condition, a, b)."


def _logic(node: ast.AST) -> str:
    """The message for `and`, `or`, `not`, a < b < c, or `a if b else c` with conditions that differ between chains."""
    if isinstance(node, ast.BoolOp):
        sign, word = ("&", "and") if isinstance(node.op, ast.And) else ("|", "or")
        parts = f" {sign} ".join(f"({ast.unparse(value)})" for value in node.values)
        return f"`{word}` cannot join conditions that differ between chains: write {parts}."
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"`not` cannot negate a condition that differs between chains: write ~({ast.unparse(node.operand)})."
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return f"Two comparisons at once, as a < b < c, are not possible for values of chains: write {_split(node)}."
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return _membership(node)
    if isinstance(node, ast.IfExp):
        test, yes, no = (ast.unparse(part) for part in (node.test, node.body, node.orelse))
        return f"The condition {test} {_BY_CHAIN}, so `if` is not possible: write where({test}, {yes}, {no})."
    return ""


def _split(node: ast.Compare) -> str:
    """Two comparisons, joined by &, for a < b < c."""
    terms = [node.left, *node.comparators]
    pairs = zip(terms, node.ops, terms[1:], strict=False)
    return " & ".join(f"({ast.unparse(ast.Compare(left, [op], [right]))})" for left, op, right in pairs)


def _membership(node: ast.Compare) -> str:
    """The message for x in (1, 2) and x not in (1, 2)."""
    word, sign, join = ("in", "==", "|") if isinstance(node.ops[0], ast.In) else ("not in", "!=", "&")
    given = node.comparators[0]
    values = [ast.unparse(value) for value in given.elts] if isinstance(given, ast.Tuple) else ["1", "2"]
    tests = f" {join} ".join(f"({ast.unparse(node.left)} {sign} {value})" for value in values)
    return f"`{word}` is not possible for values of chains: write {tests}."


def _truth_of_number(found: re.Match[str], statement: ast.stmt | None) -> str:
    return f"This value {_BY_CHAIN}, and it is not a condition: compare it, as in where(x != 0, a, b)."


def _undefined(found: re.Match[str], statement: ast.stmt | None) -> str:
    name = found[1]
    return f"{name} has no value when this line is reached: set it before, as {name} = 0.0."


def _in_range(found: re.Match[str], statement: ast.stmt | None) -> str:
    return (
        f"The bound of range {_BY_CHAIN}, but a loop has one length: loop over range(n), where n is a setting, and "
        "choose by where(i < bound, a, b)."
    )


def _index(found: re.Match[str], statement: ast.stmt | None) -> str:
    return "An index is a whole number: write q[0], q[i], or a discrete variable as in self.centres[other[0]]."


def _part_of_value(found: re.Match[str], statement: ast.stmt | None) -> str:
    return "This is one value for each chain, and single chains cannot be read or set. Use where(condition, a, b)."


def _dimensions(found: re.Match[str], statement: ast.stmt | None) -> str:
    return f"The array has {found[1]} dimension(s) and needs as many indices: x[i], or A[i, j] for a matrix."


def _matrix(found: re.Match[str], statement: ast.stmt | None) -> str:
    return "A matrix times rows is not possible. Multiply row by row: self.A[i] @ q, in a loop over i in range(n)."


def _whole_rows(found: re.Match[str], statement: ast.stmt | None) -> str:
    return (
        "q, other and grad are sequences of rows, not arrays: use single rows, q[i], in a loop over range(n). "
        "sum(q), max(q), len(q), q[1:] and numbers @ q are possible too."
    )


def _iteration(found: re.Match[str], statement: ast.stmt | None) -> str:
    return "Loop over the numbers of rows: for i in range(len(q)): x = q[i]."


def _unpacked(found: re.Match[str], statement: ast.stmt | None) -> str:
    return "Rows cannot be unpacked: write x, y = q[0], q[1]. The functions sum, max and min take all rows: sum(q)."


def _arguments(found: re.Match[str], statement: ast.stmt | None) -> str:
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if statement else []
    names = ", ".join(dict.fromkeys(ast.unparse(call.func) for call in calls)) or "a function"
    said = found[1].strip(' ."')
    return f"The number of arguments is wrong in a call of {names}: {said}."


def _no_function(found: re.Match[str], statement: ast.stmt | None) -> str:
    name, given = found[1], found[2]
    if "none" in given:
        return f"{name} is called with None: does every function that is called here return a value?"
    return (
        f"{name} is not known for values of chains. Use functions of mahmc.custom: "
        "exp, log, log1p, expm1, sqrt, sin, cos, tan, tanh, arctan, erf, lgamma, digamma, sigmoid, softplus, where, …."
    )


def _number_type(found: re.Match[str], statement: ast.stmt | None) -> str:
    return f"{found[1]}(…) is not possible for values of chains, which are float64: remove it, or write int(…)."


def _attribute_of_value(found: re.Match[str], statement: ast.stmt | None) -> str:
    return f"A value of chains has no .{found[1]}: compute with + − * / ** and functions of mahmc.custom."


def _allocates(found: re.Match[str], statement: ast.stmt | None) -> str:
    return (
        "This line makes an array, a list or text, which compiled functions cannot do: make it in data(self) and read "
        "it as self.…, or loop over single values."
    )


def _operator(found: re.Match[str], statement: ast.stmt | None) -> str:
    sign, left, right = _SIGNS[found[1]], _in_words(found[2]), _in_words(found[3])
    if "none" in (found[2], found[3]):
        return f"{sign} is used with None: does every function that is called here return a value?"
    hint = f" Write brackets around comparisons: (a > 0) {sign} (b > 0)." if sign in ("&", "|", "^") else ""
    return f"{sign} is not possible between {left} and {right}.{hint}"


_SIGNS = {
    "add": "+", "iadd": "+=", "sub": "-", "isub": "-=", "mul": "*", "imul": "*=", "truediv": "/", "itruediv": "/=",
    "pow": "**", "matmul": "@", "and_": "&", "or_": "|", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "mod": "%", "floordiv": "//", "xor": "^",
}  # fmt: skip


_TYPES = {
    "Lanes": "a value of chains", "Mask": "a condition", "Rows": "rows", "array": "an array", "none": "nothing (None)",
    "unicode": "text", "Literal[str]": "text",
}  # fmt: skip


def _in_words(numba_type: str) -> str:
    if numba_type.startswith(("Tuple", "UniTuple")):
        return "several values"
    for name, words in _TYPES.items():
        if name in numba_type:
            return words
    number = re.fullmatch(r"Literal\[int\]\((-?\d+)\)", numba_type)
    return f"the number {number[1]}" if number else f"a number ({numba_type})"


_REASONS: tuple[tuple[str, Callable[[re.Match[str], ast.stmt | None], str]], ...] = (
    (r">>> bool\(Mask\)", _condition),
    (r">>> not_\(Mask\)", _condition),
    (r">>> (?:bool|not_)\(Lanes\)", _truth_of_number),
    (r"[Vv]ariable '([^']+)'.* (?:is not defined|referenced before assignment)", _undefined),
    (r"local variable '([^']+)' (?:is not defined|referenced before assignment)", _undefined),
    (r">>> range\([^)]*Lanes", _in_range),
    (r">>> (?:static_)?(?:getitem|setitem)\((?:Masked)?Rows, (?!int|slice)", _index),
    (r">>> (?:static_)?(?:getitem|setitem)\((?:Lanes|Mask),", _part_of_value),
    (r">>> (?:static_)?(?:getitem|setitem)\(array\(\w+, (\d)d, \w+\), (?:Uni)?Tuple", _dimensions),
    (r">>> matmul\(array\([^)]*2d[^)]*\), (?:Masked)?Rows\)", _matrix),
    (r">>> (\w+)\([^>\n]*Rows", _whole_rows),
    (r"getiter[^\n]*Rows|Rows[^\n]*not iterable", _iteration),
    (r"failed to unpack (?:Masked)?Rows|should be a tuple, got (?:Masked)?Rows", _unpacked),
    (r"(missing a required argument[^\n]*|too many positional arguments|got an unexpected keyword[^\n]*)", _arguments),
    (r"((?:not enough|too many) arguments[^\n]*)", _arguments),
    (r">>> (add|iadd|sub|isub|mul|imul|truediv|itruediv|pow|matmul|and_|or_|lt|le|gt|ge|eq|ne|mod|floordiv|xor)"
     r"\(([^\n]+), ([^,\n]+)\)", _operator),
    (r">>> (\w+)\(([^\n]*Lanes[^\n]*|none[^\n]*)\)", _no_function),
    (r"Function\((\w+)\) found for signature:\s+>>> <unknown function>\([^\n]*(?:Lanes|Mask)", _number_type),
    (r"Unknown attribute '([^']+)' of type (?:Lanes|Mask)", _attribute_of_value),
    (r"Cannot unify[^\n]*", lambda found, s: f"A variable has two types: {found[0][13:]}. Give the variable one type."),
    (r"NRT required", _allocates),
    (r"Only accept returning of array", _allocates),
)  # fmt: skip
