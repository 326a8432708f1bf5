"""The names that a compiled function reads from outside, with the attributes that it reads, and their modules."""

from __future__ import annotations

import dis
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core.registry import CPUDispatcher

from mahmc.compiled import comes_with_mahmc
from mahmc.custom.digests import Unkept

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_FOREIGN = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


class Use(NamedTuple):
    """A name that a function reads from outside, with the attributes that it reads: ("np", "pi")."""

    chain: tuple[str, ...]
    line: int
    of_self: bool = False  # the name is an attribute of the first argument


def uses(code: CodeType, around: frozenset[str] = frozenset()) -> Iterator[Use]:
    """All names that a function and its inner functions read from outside, and attributes of the first argument."""
    inside = around | {*code.co_varnames, *code.co_cellvars}
    first = code.co_varnames[0] if code.co_argcount else None
    instructions = list(dis.get_instructions(code))
    for i, instruction in enumerate(instructions):
        argument = instruction.argval
        last = argument[-1] if isinstance(argument, tuple) and argument else argument
        loaded = instruction.opname in _LOADS and argument not in inside
        of_self = instruction.opname.startswith("LOAD_FAST") and first is not None and last == first
        if not loaded and not of_self:
            continue
        following = []
        for after in instructions[i + 1 :]:
            if after.opname not in _ATTRIBUTES:
                break
            following.append(str(after.argval))
        line = instruction.positions.lineno if instruction.positions else None
        if loaded:
            yield Use((str(argument), *following), line or code.co_firstlineno)
        elif following:
            yield Use(tuple(following[:1]), line or code.co_firstlineno, of_self=True)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from uses(constant, frozenset(code.co_cellvars))


def module_of(value: Any) -> str:
    """The name of the module that a function or class belongs to."""
    if isinstance(value, np.ufunc):
        module = getattr(sys.modules.get("scipy.special"), value.__name__, None)
        return "scipy.special" if module is value else "numpy"
    owner = getattr(value, "__self__", None)
    if isinstance(value, BuiltinFunctionType) and isinstance(owner, ModuleType):
        return owner.__name__
    return str(getattr(value, "__module__", None) or type(value).__module__)


def name_of(value: Any) -> str:
    """The name of a function or class; for another value the name of its class."""
    return str(getattr(value, "__name__", type(value).__name__))


def place_of(value: Any) -> object:
    """The module and the name of a function; `Unkept` if the module has another value under this name."""
    module = module_of(value.py_func if isinstance(value, CPUDispatcher) else value)
    here = vars(sys.modules[module]) if module in sys.modules else {}
    return next(((module, name) for name, found in here.items() if found is value), Unkept)


def of_mahmc(value: Any) -> bool:
    """Whether a function comes with mahmc; the examples do not count, as they are custom targets."""
    function = value.py_func if isinstance(value, CPUDispatcher) else value
    return (
        callable(value)
        and module_of(function).startswith("mahmc.")
        and comes_with_mahmc(module_of(function))
        and (not module_of(function).startswith("mahmc.examples"))
    )


def foreign(function: FunctionType) -> bool:
    """Whether a function comes with Python or with a package, so that it is not a person's own helper function."""
    file = str(Path(function.__code__.co_filename).resolve())
    return file.startswith(_FOREIGN) and not comes_with_mahmc(function.__module__)
