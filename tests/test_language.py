"""Mistakes of language in a custom target: each is refused with the person's own line, why, and what to write."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import mahmc
from mahmc import InvalidInput
from tests.support import refusals

pytestmark = pytest.mark.usefixtures("families_as_before")
FILE = '''
import math
import numpy as np
import mahmc
from mahmc.custom import discrete, exp, grad_U, normal, real, uniform, update, where
{top}

@mahmc.target
class Mine:
    """x is standard normal, and two coins have no say."""

    n: int = 2
    s: float = 1.5
    a: np.ndarray
    {field}

    def data(self):
        return {{"a": np.array([1.0, 2.0])}}

    def variables(self):
        return real("x", 2), discrete("k", 2)

    def U(self, q, other):
{U}

    def grad_U(self, q, other, grad):
{grad_U}

    @update
    def flip(self, q, other, grad, rng):
{flip}
'''
RIGHT = {
    "top": "",
    "field": "",
    "U": "return q[0] ** 2 / 2 + q[1] ** 2 / 2",
    "grad_U": "grad[0] = q[0]\ngrad[1] = q[1]",
    "flip": "other[0] = 1 - other[0]\nreturn 0.0",
}


def written(folder: Path, **parts: str) -> Path:
    """A file with a target, some of whose parts are these."""
    body = RIGHT | parts
    bodies = {name: textwrap.indent(body[name], 8 * " ") for name in ("U", "grad_U", "flip")}
    path = folder / "mine.py"
    path.write_text(FILE.format(**body | bodies))
    return path


def refusal_of(path: Path) -> str:
    return refusals.refusal_of(lambda: mahmc.load_targets(path)[0]())


# Where, what is written there, the function that is named, and what the message says. `# here` marks the line.
MISTAKES = {
    "if": ("U", "if q[0] > 0:  # here\n    return q[0]\nreturn -q[0]", "write x = where(q[0] > 0, a, b)"),
    "if in an update": (
        "flip", "if uniform(rng) < 0.5:  # here\n    other[0] = 1.0\nreturn 0.0",
        "write x = where(uniform(rng) < 0.5, a, b)",
    ),
    "if on a value": ("U", "if q[0]:  # here\n    return 0.0\nreturn q[0]", "compare it, as in where(x != 0, a, b)"),
    "choice": ("U", "return q[0] if q[0] > 0 else -q[0]  # here", "write where(q[0] > 0, q[0], -q[0])"),
    "while": (
        "U", "x = q[0]\nwhile x > 0:  # here\n    x = x - 1\nreturn x", "loop over range(n), and choose by where",
    ),
    "and": ("U", "return where(q[0] > 0 and q[1] > 0, 1.0, 2.0)  # here", "write (q[0] > 0) & (q[1] > 0)"),
    "or": ("U", "return where(q[0] > 0 or q[1] > 0, 1.0, 2.0)  # here", "write (q[0] > 0) | (q[1] > 0)"),
    "not": ("U", "return where(not (q[0] > 0), 1.0, 2.0)  # here", "write ~(q[0] > 0)"),
    "chain": ("U", "return where(0 < q[0] < 1, 1.0, 2.0)  # here", "write (0 < q[0]) & (q[0] < 1)"),
    "bound of a loop": ("U", "t = 0.0\nfor i in range(other[0]):  # here\n    t += q[i]\nreturn t", "bound of range"),
    "unknown name": ("U", "return exq(q[0])  # here", "The name 'exq' is not known here. Did you mean 'exp'?"),
    "not imported": ("U", "return tanh(q[0])  # here", "write from mahmc.custom import tanh"),
    "unknown setting": (
        "U", "return q[0] * self.sa  # here", "no setting, data field or method 'sa'. Did you mean 's'?",
    ),
    "print": ("U", "print(q[0])  # here\nreturn q[0]", "print is not possible in compiled functions: remove it"),
    "text": ("U", "return q[0] + '1'  # here", "Text is not possible in compiled functions: use numbers"),
    "list": ("U", "x = [q[0], q[1]]  # here\nreturn x[0]", "cannot make a list: make an array in data(self)"),
    "dict": ("U", "x = {1: q[0]}  # here\nreturn x[1]", "cannot make a dict"),
    "generator": ("U", "return sum(q[i] for i in range(2))  # here", "write a loop: total = 0.0"),
    "array": ("U", "x = np.zeros(2)  # here\nreturn q[0] + x[0]", "np.zeros makes an array, which compiled functions"),
    "scipy": (
        "U", "from_stats = stats.norm.logpdf(q[0])  # here\nreturn from_stats",
        "write its formula with functions of mahmc.custom",
    ),
    "random": ("U", "return q[0] + np.random.normal()  # here", "random numbers come from rng"),
    "rng": ("flip", "x = rng.normal()  # here\nreturn x", "write normal(rng) or uniform(rng)"),
    "no rng": (
        "flip", "u = uniform()  # here\nreturn 0.0 * u", "The number of arguments is wrong in a call of uniform",
    ),
    "changes q": ("U", "q[0] = 1.0  # here\nreturn q[0]", "This changes q, which only leapfrogs may"),
    "changes q in an update": ("flip", "q[0] += 1.0  # here\nreturn 0.0", "This changes q, which only leapfrogs may"),
    "changes other": ("grad_U", "other[0] = 1.0  # here\ngrad[0] = q[0]\ngrad[1] = q[1]", "which only updates may"),
    "changes self": ("U", "self.s = 3.0  # here\nreturn q[0]", "self.s cannot be changed"),
    "changes data": ("U", "self.a[0] += 1.0  # here\nreturn q[0]", "self.a cannot be changed"),
    "grad renamed": ("grad_U", "grad = q  # here", "sets no gradient: write grad[i] = …"),
    "grad returned": ("grad_U", "return q[0]  # here", "The gradient is not returned but written: grad[0] = …"),
    "returns nothing": ("flip", "other[0] = 1 - other[0]\nreturn  # here", "return delta_U, or (delta_U, accepted)"),
    "three results": ("flip", "return 0.0, q[0] > 0, 1.0  # here", "The function returns 3 values: return delta_U, or"),
    "accepted is no condition": ("flip", "return 0.0, uniform(rng)  # here", "return delta_U, or (delta_U, accepted)"),
    "several values": ("U", "x = q[0], q[1]\nreturn x  # here", "The function returns several values: return U"),
    "raise": (
        "U", "if self.s < 0:\n    raise ValueError  # here\nreturn q[0]", "Where the density is zero U is np.inf",
    ),
    "assert": ("U", "assert self.s > 0  # here\nreturn q[0]", "assert is not possible in compiled functions"),
    "import": ("U", "import math  # here\nreturn q[0]", "put it at the top of the file"),
    "method of rows": ("U", "return q.sum()  # here", "q has no .sum: q is a sequence of rows"),
    "whole rows": ("U", "return q * 2  # here", "q, other and grad are sequences of rows, not arrays"),
    "rows gone through": ("U", "for x in q:  # here\n    pass\nreturn x", "for i in range(len(q)): x = q[i]"),
    "matrix": ("U", "return (self.a.reshape(1, 2) @ q)[0]  # here", "self.A[i] @ q, in a loop"),
    "index": ("U", "return q[self.s]  # here", "An index is a whole number"),
    "dimensions": ("U", "return self.a[0, 1] * q[0]  # here", "The array has 1 dimension(s)"),
    "part of a value": ("U", "x = q[0]\nx[0] = 2.0  # here\nreturn x", "single chains cannot be read or set"),
    "not set before": (
        "U", "for i in range(self.n):\n    total += q[i]  # here\nreturn total", "set it before, as total = 0.0",
    ),
    "unknown function": ("U", "return np.sinc(q[0])  # here", "sinc is not known for values of chains"),
    "is": ("U", "return where(other[0] is self.n, q[0], q[1])  # here", "write other[0] == self.n"),
    "in": (
        "U", "return where(other[0] in (0, 2), q[0], q[1])  # here",
        "`in` is not possible for values of chains: write (other[0] == 0) | (other[0] == 2)",
    ),
    "walrus": ("U", "return (x := q[0]) ** 2 + x  # here", "set the variable on a line of its own"),
    "no brackets": ("U", "return where(q[0] > 0 & q[1] > 0, 1.0, 2.0)  # here", "(a > 0) & (b > 0)"),
    "unpacked": ("U", "x, y = q  # here\nreturn x + y", "write x, y = q[0], q[1]"),
    "unpacked in a call": ("U", "return max(*q)  # here", "sum, max and min take all rows: sum(q)"),
    "type of number": ("U", "return np.float32(q[0])  # here", "values of chains, which are float64: remove it"),
    "misspelt function": ("U", "return np.exq(q[0])  # here", "numpy has no 'exq'. Did you mean 'exp'?"),
    "attribute of a value": ("U", "return q[0].real  # here", "A value of chains has no .real"),
}  # fmt: skip
TOP = {"scipy": "from scipy import stats"}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.quick
def test_a_mistake_is_told_with_its_line_and_what_to_write(name: str, tmp_path: Path) -> None:
    where, text, words = MISTAKES[name]
    path = written(tmp_path, **{where: text, "top": TOP.get(name, "")})
    lines = path.read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "# here" in line)
    message = refusal_of(path)
    assert message.startswith(f"Mine.{where} cannot be compiled: mine.py, line {number}: `"), message
    assert lines[number - 1].strip()[:60] in message
    assert words in message
    assert len(message) < 420


AROUND = {
    "in a helper function": (
        {"top": "def far(x):\n    if x > 0:  # here\n        return x\n    return -x", "U": "return far(q[0])"},
        "write x = where(x > 0, a, b)",
    ),
    "in a helper of a helper": (
        {
            "top": "def near(x):\n    return missing(x)  # here\n\ndef far(x):\n    return near(x)",
            "U": "return far(q[0])",
        },
        "The name 'missing' is not known here",
    ),
    "helper without return": (
        {"top": "def far(x):\n    y = x**2", "U": "return far(q[0]) + 1.0  # here"},
        "does every function that is called here return a value?",
    ),
    "helper with other arguments": (
        {"top": "def far(x):\n    return x", "U": "return far(q[0], 2.0)  # here"},
        "The number of arguments is wrong in a call of far: too many positional arguments",
    ),
    "helper that calls itself": (
        {"top": "def far(x):  # here\n    return far(x) + 1.0", "U": "return far(q[0])"},
        "far calls itself: write a loop",
    ),
    "global dict": (
        {"top": "TABLE = {0: 1.0}", "U": "return q[0] * TABLE[0]  # here"}, "TABLE is a dict, which compiled",
    ),
    "global list": (
        {"top": "TABLE = [1.0]", "U": "return q[0] * TABLE[0]  # here"}, "make it a tuple or a NumPy array",
    ),
    "class": ({"top": "class Far: pass", "U": "return Far(q[0])  # here"}, "Far is a class"),
    "constant of the class": ({"field": "FAR = 2.0", "U": "return q[0] * self.FAR  # here"}, "as FAR: float = 2.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.quick
def test_a_mistake_in_what_a_function_uses_is_told_where_it_is(name: str, tmp_path: Path) -> None:
    parts, words = AROUND[name]
    path = written(tmp_path, **parts)
    lines = path.read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "# here" in line)
    message = refusal_of(path)
    assert message.startswith(
        f"Mine.U cannot be compiled: mine.py, line {number}: `{lines[number - 1].strip()[:60]}"
    ), message
    assert words in message


@pytest.mark.quick
def test_mistakes_that_the_text_shows_are_refused_when_the_file_is_loaded(tmp_path: Path) -> None:
    """Before anything is built: `print` is no traceback later."""
    path = written(tmp_path, flip="print(other[0])\nreturn 0.0")
    with pytest.raises(InvalidInput, match=r"mine\.py, line 32: `print\(other\[0\]\)`\. print is not possible"):
        mahmc.load_targets(path)


@pytest.mark.quick
def test_after_an_edit_the_line_is_that_of_the_new_text(tmp_path: Path) -> None:
    first = refusal_of(written(tmp_path, U="print(q[0])\nreturn q[0]"))
    second = refusal_of(written(tmp_path, U="x = q[0]\nprint(x)\nreturn q[0]"))
    assert "`print(q[0])`" in first
    assert "`print(x)`" in second


@pytest.mark.quick
def test_without_the_text_of_a_function_its_mistakes_are_told_by_their_line() -> None:
    """As of a class that is typed into an interpreter: nothing can be shown, and the reason is the same."""
    body = RIGHT | {"U": "x = q[0]\nreturn exq(x)"}
    bodies = {name: textwrap.indent(body[name], 8 * " ") for name in ("U", "grad_U", "flip")}
    names: dict[str, Any] = {"__name__": "typed"}
    exec(compile(FILE.format(**body | bodies), "<typed>", "exec"), names)
    with pytest.raises(InvalidInput, match=r"Mine.U cannot be compiled: <typed>, line 25\. The name 'exq'"):
        names["Mine"]()


def test_the_right_one_is_built(tmp_path: Path) -> None:
    (family,) = mahmc.load_targets(written(tmp_path))
    assert family().names == ("x[0]", "x[1]", "k[0]", "k[1]")
