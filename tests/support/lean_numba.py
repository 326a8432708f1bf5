"""Import this before mahmc, and numba compiles faster: for processes that compile a kernel for one short run.

Numba gives every compiled function wrappers by which Python and C may call it. The small parts of kernels are called by
kernels alone; without wrappers for them a kernel compiles in two thirds of the time. In such a process Python must not
call such a part: that would crash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numba.extending

WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_njit, _overload = numba.njit, numba.extending.overload


def _lean(options: dict[str, Any]) -> dict[str, Any]:
    return options | WITHOUT_WRAPPERS if options.get("forceinline") else options


def njit(*arguments: Any, **options: Any) -> Any:
    return _njit(*arguments, **_lean(options))


def overload(generic: Callable[..., Any], jit_options: dict[str, Any] | None = None, **rest: Any) -> Any:
    return _overload(generic, jit_options=_lean(jit_options or {}), **rest)  # type: ignore[arg-type]


numba.njit, numba.extending.overload = njit, overload  # type: ignore[assignment]
