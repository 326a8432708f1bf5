"""Descriptions of constants and of code, for the digest of everything that machine code depends on."""

from __future__ import annotations

import hashlib
from types import CodeType
from typing import Any

import numpy as np


class Unkept:
    """Marks a value that has no description, so that machine code cannot be kept."""


def of_constant(value: Any) -> object:
    """A description that is different for different constants, or `Unkept`."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        return type(value).__name__, array.dtype.str, array.shape, array.strides, content
    if type(value) is tuple:
        parts = tuple(of_constant(part) for part in value)
        return Unkept if Unkept in parts else parts
    return (type(value).__name__, repr(value)) if value is None or type(value) in (bool, int, float) else Unkept


def of_code(code: CodeType) -> object:
    """A description that is different for different code; it does not depend on the file or the line."""
    constants = [of_code(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c)) for c in code.co_consts]
    return (
        code.co_name, code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
        code.co_exceptiontable.hex(),
    )  # fmt: skip


def frozen(value: Any) -> Any:
    """A copy of an array, or of a tuple of arrays: later changes of the array do not reach machine code."""
    if type(value) is tuple:
        return tuple(frozen(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value
