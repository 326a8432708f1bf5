"""Makes functions that numba can compile from a person's functions, and a digest of everything that they use.

Helper functions and methods that U calls are compiled too. Functions of NumPy and math are replaced by functions of
mahmc that take lanes (see `names`). Functions and values that cannot be compiled are refused here, with the person's
own line.

Everything that a compiled function uses is looked up here once, when the target is first built. So everything that
machine code depends on is known here. `Prepared.key_of` is a digest of this; machine code is kept on disk under this
key. The key is None if a function uses a value that has no digest.
"""

from __future__ import annotations

import builtins
import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from mahmc.compiled import comes_with_mahmc, inlined, source_digest
from mahmc.custom import names
from mahmc.custom.digests import Unkept, frozen, of_code, of_constant
from mahmc.custom.language import refuse_text
from mahmc.custom.methods import lower_calls, offer_methods
from mahmc.custom.mistakes import Mistake
from mahmc.custom.refusals import mistake, near, refuse_constant, refuse_function, unknown
from mahmc.custom.uses import Use, foreign, of_mahmc, place_of, uses


class Prepared:
    """The compiled functions of one class, and the digest of everything that they use."""

    def __init__(self, cls: type, fields: Sequence[str]) -> None:
        self.cls, self.fields = cls, tuple(fields)
        self.files: set[str] = set()
        self.roles: dict[Callable[..., Any], str] = {}
        self._functions: dict[Callable[..., Any], Any] = {}
        self._methods: dict[str, Callable[..., Any]] = {}
        self._used: list[object] = [cls.__name__, self.fields]
        self._kept = True

    def belong_to(self, data: type) -> None:
        """Tell the data class, when it exists: compiled code then finds the methods of its objects."""
        offer_methods(data, self._methods)

    @property
    def _meanings(self) -> dict[Any, Callable[..., Any]]:
        return names.meanings()

    def key_of(self, roles: object) -> str | None:
        """A digest of everything that machine code of these functions depends on, and of their roles."""
        if not self._kept:
            return None
        versions = (source_digest(), np.__version__, llvmlite.__version__, numba.__version__, sys.version_info[:2])
        return hashlib.sha256(repr((versions, roles, self._used)).encode()).hexdigest()[:16]

    def compiled(self, function: Any, role: str = "helper") -> Any:
        """The function, compiled with everything that it uses."""
        if function in self._functions:
            made = self._functions[function]
            if made is None:
                code = function.__code__
                raise Mistake(code.co_filename, code.co_firstlineno, f"{code.co_name} calls itself: write a loop.")
            return made
        self._functions[function] = None
        self.roles[function] = role
        self.files.add(function.__code__.co_filename)
        refuse_text(function, role)
        self._functions[function] = inlined(self._with_our_names(function, role != "helper"))
        return self._functions[function]

    def _with_our_names(self, function: FunctionType, has_self: bool) -> FunctionType:
        code = function.__code__
        self._use("function", function.__module__, of_code(code))  # stored code asks for the module by its name
        defaults, named = frozen(function.__defaults__ or ()), frozen(tuple((function.__kwdefaults__ or {}).items()))
        self._use("defaults", of_constant(defaults))
        for name, value in named:
            self._use("default", name, of_constant(value))
        scope: dict[str, Any] = dict(function.__globals__)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        chains: dict[str, list[Use]] = {}
        for use in uses(code):
            if use.of_self:
                if has_self:
                    self._look_at_self(function, use)
            else:
                chains.setdefault(use.chain[0], []).append(use)
        for name, found in chains.items():
            value = self._meaning(function, name, cells, found)
            if name in cells:
                cells[name] = CellType(value)
            else:
                scope[name] = value
        made = FunctionType(code, scope, function.__name__, defaults or None, tuple(cells.values()) or None)
        made.__kwdefaults__ = dict(named) or None
        made.__module__ = function.__module__
        return made

    # ----------------------------------------------------------------------------------------- names from outside

    def _meaning(self, function: FunctionType, name: str, cells: Mapping[str, Any], found: list[Use]) -> Any:
        """The value of a name for compiled code."""
        code = function.__code__
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                raise mistake(code, found[0], f"{name} has no value here.") from None
        elif name in function.__globals__:
            value = function.__globals__[name]
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            raise mistake(code, found[0], unknown(name, function))
        return self._seen(code, value, [(use, use.chain[1:]) for use in found])

    def _seen(self, code: CodeType, value: Any, found: list[tuple[Use, tuple[str, ...]]]) -> Any:
        """A value for compiled code, given the uses of the value with the attributes that they read."""
        if not isinstance(value, ModuleType):
            return self._known(code, value, found[0][0])
        attributes: dict[str, list[tuple[Use, tuple[str, ...]]]] = {}
        for use, rest in found:
            if not rest:
                raise mistake(code, use, f"{value.__name__} is a module, not a value.")
            attributes.setdefault(rest[0], []).append((use, rest[1:]))
        seen = {}
        for name, rests in attributes.items():
            if not hasattr(value, name):
                raise mistake(code, rests[0][0], f"{value.__name__} has no {name!r}.{near(name, dir(value))}")
            seen[name] = self._seen(code, getattr(value, name), rests)
        if names.has_overlay(value) and not any(isinstance(x, ModuleType) for x in seen.values()):
            return names.overlay(value)
        module = ModuleType(f"{value.__name__} (as target {id(self)}.{len(self._used)} sees it)")
        vars(module).update({n: x for n, x in vars(value).items() if not n.startswith("__")} | seen)
        return module

    def _known(self, code: CodeType, value: Any, use: Use) -> Any:
        """A value for compiled code that is not a module: a function or a constant."""
        text = ".".join(use.chain)
        if _hashable(value) and value in self._meanings:
            self._use(text, place_of(self._meanings[value]))
            return self._meanings[value]
        if isinstance(value, CPUDispatcher) and not comes_with_mahmc(value.py_func.__module__):
            value = value.py_func
        if of_mahmc(value):
            self._use(text, place_of(value))
            return value
        if isinstance(value, FunctionType) and not foreign(value):
            made = self.compiled(value)
            self._use(text, "function", self._number(value))
            return made
        if callable(value) or isinstance(value, type):
            refuse_function(code, value, use)
            self._use(text, place_of(value))
            return value
        refuse_constant(code, value, use)
        self._use(text, of_constant(value))
        return frozen(value)

    # ---------------------------------------------------------------------------------------- attributes of self

    def _look_at_self(self, function: FunctionType, use: Use) -> None:
        name, code = use.chain[0], function.__code__
        if name in self.fields:
            return
        found = inspect.getattr_static(self.cls, name, None)
        if isinstance(found, FunctionType):
            if name not in self._methods:
                self._methods[name] = self.compiled(found, "method")
                lower_calls(name)
            self._use("method", name, self._number(found))
            return
        if isinstance(found, bool | int | float | tuple):
            kind = type(found).__name__
            why = f"{name} is not a setting: annotate it in the class, as {name}: {kind} = {found!r}."
        elif found is not None:
            why = f"self.{name} cannot be compiled: declare a field without a value, and make its value in data(self)."
        else:
            known = [*self.fields, *(n for n, f in vars(self.cls).items() if inspect.isfunction(f))]
            why = f"There is no setting, data field or method {name!r}.{near(name, known)}"
        raise mistake(code, use, why)

    # ------------------------------------------------------------------------------------------------ the digest

    def _number(self, function: Any) -> int:
        """The number of a function that is known already: it says which function a name means."""
        return [*self._functions].index(function)

    def _use(self, *what: object) -> None:
        if any(part is Unkept for part in what):
            self._kept = False
        self._used.append(what)


def _hashable(value: Any) -> bool:
    return callable(value) and getattr(type(value), "__hash__", None) is not None
