"""The functions of Python, math, NumPy and SciPy that compiled functions of a custom target can call.

`meanings` gives, for a function such as np.exp or abs, the function of mahmc that replaces it in compiled code: a
function of lanes as well as of numbers. The modules themselves do not change: compiled code gets other globals.
"""

from __future__ import annotations

import builtins
import math
import sys
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from mahmc.compiled import Function
from mahmc.custom import tools

_BUILTINS = {
    "abs": tools.absolute, "max": tools.largest, "min": tools.least, "sum": tools.total, "int": tools.whole,
    "float": tools.real_number, "round": tools.nearest, "pow": tools.power,
}  # fmt: skip
_EVERYWHERE = ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_INVERSE = {
    "sin": tools.arcsin, "cos": tools.arccos, "tan": tools.arctan, "sinh": tools.arcsinh, "cosh": tools.arccosh,
    "tanh": tools.arctanh,
}  # fmt: skip
_MATH = {
    "fabs": tools.absolute, "floor": tools.whole_floor, "ceil": tools.whole_ceil, "atan2": tools.arctan2,
    "hypot": tools.hypot, "pow": tools.real_power, "erf": tools.erf, "erfc": tools.erfc, "lgamma": tools.lgamma,
    "isfinite": tools.is_finite, "isnan": tools.is_nan, "trunc": tools.whole,
}  # fmt: skip
_NUMPY = {
    "abs": tools.absolute, "absolute": tools.absolute, "fabs": tools.absolute, "floor": tools.floor,
    "ceil": tools.ceil, "rint": tools.nearest, "round": tools.nearest, "trunc": tools.whole,
    "maximum": tools.maximum, "fmax": tools.maximum, "minimum": tools.minimum, "fmin": tools.minimum,
    "where": tools.where, "clip": tools.clip, "square": tools.square, "sign": tools.sign, "power": tools.power,
    "float_power": tools.power, "hypot": tools.hypot, "arctan2": tools.arctan2, "atan2": tools.arctan2,
    "logaddexp": tools.logaddexp, "isfinite": tools.is_finite, "isnan": tools.is_nan, "logical_and": tools.both,
    "logical_or": tools.either, "logical_not": tools.negation, "sum": tools.total, "max": tools.largest,
    "min": tools.least, "dot": tools.inner_product, "float64": tools.real_number,
}  # fmt: skip
_SPECIAL = {
    "expit": tools.sigmoid, "log_expit": tools.log_sigmoid, "logit": tools.logit, "gammaln": tools.lgamma,
    "loggamma": tools.lgamma, "digamma": tools.digamma, "psi": tools.digamma, "erf": tools.erf, "erfc": tools.erfc,
    "ndtr": tools.normal_cdf, "expm1": tools.expm1, "log1p": tools.log1p,
}  # fmt: skip
ALLOWED_BUILTINS = {"len", "range", "enumerate", "zip", "bool", "tuple", "slice", "reversed"}
KNOWN_BUILTINS = (*_BUILTINS, *sorted(ALLOWED_BUILTINS))
# Functions of NumPy that make an array. Compiled code cannot call them: it allocates no memory.
MAKERS = {
    "array", "asarray", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like",
    "arange", "linspace", "concatenate", "stack", "hstack", "vstack", "append", "eye", "diag", "outer", "copy",
    "sort", "argsort", "unique", "cumsum", "diff", "repeat", "tile", "reshape",
}  # fmt: skip


def _table() -> dict[str, tuple[Any, dict[str, Function]]]:
    """By name of a module: the module, and the replacements of its functions."""
    found: dict[str, tuple[Any, dict[str, Function]]] = {"builtins": (builtins, dict(_BUILTINS))}
    common = {name: getattr(tools, name) for name in _EVERYWHERE}
    inverse = {f"a{name}": function for name, function in _INVERSE.items()}
    long_inverse = {f"arc{name}": function for name, function in _INVERSE.items()}
    found["math"] = math, common | inverse | _MATH
    found["numpy"] = np, common | long_inverse | _NUMPY | {n: f for n, f in inverse.items() if hasattr(np, n)}
    special = sys.modules.get("scipy.special")
    if special is not None:
        found["scipy.special"] = special, dict(_SPECIAL)
    return found


def meanings() -> dict[Any, Function]:
    """The replacement of each function, for all modules that are imported."""
    return _meanings("scipy.special" in sys.modules)


@cache
def _meanings(special: bool) -> dict[Any, Function]:
    """The replacements with or without those of scipy.special, which can be imported late."""
    return {getattr(module, name): new for module, table in _table().values() for name, new in table.items()}


@cache
def overlay(module: ModuleType) -> ModuleType:
    """A copy of math, numpy or scipy.special for compiled code, with the replacements of functions."""
    seen = ModuleType(f"{module.__name__} (as compiled functions of a target see it)")
    vars(seen).update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    vars(seen).update(_table()[module.__name__][1])
    return seen


def has_overlay(module: ModuleType) -> bool:
    """Whether functions of this module have replacements."""
    return module.__name__ in _table() and module is not builtins
