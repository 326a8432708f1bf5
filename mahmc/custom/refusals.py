"""Values and functions that compiled functions cannot use: messages with the person's own line, and what to write."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from mahmc.custom import names, tools
from mahmc.custom.mistakes import Mistake
from mahmc.custom.uses import Use, module_of, name_of

_FORMULA = "write its formula with functions of mahmc.custom, such as exp, log and lgamma"


def mistake(code: CodeType, use: Use, why: str) -> Mistake:
    """The mistake at the line where a name is used."""
    return Mistake(code.co_filename, use.line, why)


def refuse_function(code: CodeType, value: Any, use: Use) -> None:
    """Raise Mistake if compiled code cannot call the function. Numba decides about functions of NumPy and math."""
    text = ".".join(use.chain)
    module, name = module_of(value), name_of(value)
    if module == "builtins":
        if name in names.ALLOWED_BUILTINS:
            return
        why = {
            "print": "print is not possible in compiled functions: remove it. The values are in run.draws.",
            "isinstance": "isinstance is not possible in compiled functions, where all types are known: remove it.",
        }.get(name, f"{name} is not possible in compiled functions: use numbers, arrays and loops over range(n).")
        raise mistake(code, use, why)
    if module.startswith(("numpy.random", "random")) or "random" in use.chain[:-1]:
        raise mistake(
            code, use, f"{text} cannot be used: random numbers come from rng. In an update write uniform(rng) or "
            "normal(rng). U and grad_U cannot use random numbers.",
        )  # fmt: skip
    if module.split(".")[0] == "numpy" and name in names.MAKERS:
        raise mistake(
            code, use, f"{text} makes an array, which compiled functions cannot do: make the array in data(self), "
            "and read it as self.…. For values of chains use single variables and loops.",
        )  # fmt: skip
    if module.split(".")[0] in ("numpy", "math", "numba"):
        return  # numba may know the function
    if isinstance(value, type):
        raise mistake(code, use, f"{text} is a class, which compiled functions cannot use: use numbers.")
    raise mistake(code, use, f"{text} cannot be compiled: {_FORMULA}.")


def refuse_constant(code: CodeType, value: Any, use: Use) -> None:
    """Raise Mistake if compiled code cannot read the value."""
    text = ".".join(use.chain)
    if _plain(value):
        return
    kinds: dict[type, str] = {str: "text", dict: "a dict", list: "a list", set: "a set"}
    what = kinds.get(type(value), type(value).__name__)
    article = what if what.startswith("a ") or what == "text" else f"an object of class {what}"
    advice = "make it a tuple or a NumPy array" if isinstance(value, list) else "use a number, a tuple or an array"
    raise mistake(code, use, f"{text} is {article}, which compiled functions cannot read: {advice}.")


def _plain(value: Any) -> bool:
    """Whether a value is a number, an array of numbers, or a tuple of numbers and arrays."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    if isinstance(value, tuple):
        return all(_plain(part) for part in value)
    return value is None or isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating)


def near(name: str, known: Sequence[str]) -> str:
    """A hint at the most similar known name, or an empty text."""
    close = difflib.get_close_matches(name, [n for n in known if not n.startswith("__")], 1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


def unknown(name: str, function: FunctionType) -> str:
    """The message for a name that the function's file does not define."""
    if name in tools.__all__:
        return f"{name} is not known here: write from mahmc.custom import {name}."
    if name in ("np", "numpy"):
        return f"{name} is not known here: write import numpy as np."
    if name == "math":
        return "math is not known here: write import math."
    known = [*function.__globals__, *function.__code__.co_varnames, *tools.__all__, *names.KNOWN_BUILTINS]
    return f"The name {name!r} is not known here.{near(name, known) or ' Define it in the file, or import it.'}"
