"""The one decorator that holds the compiler's options, and the folder of its cache.

Options, and why:

- ``nogil``: blocks of chains run on threads of their own.
- ``error_model="numpy"``: 1/0 is inf and is dealt with as a rejection; no exception inside a kernel.
- ``fastmath``: only *contract* (a·b + c as one instruction), *arcp* and *nsz*. The full flag assumes that there is
  no NaN, and the compiler would then remove the very test that catches one.
- ``_nrt``: off. Kernels allocate nothing, so nothing needs counting of references, which took most
  of the time of a draw on a small target.
- ``cache``: numba looks at the file of the compiled function alone, not at what that function calls. Our kernels
  reach targets in other files, so the cache folder itself is named by a digest of every engine source: edit one
  line anywhere and another folder, an empty one, is used. Of a target whose source is not among those (a user's own)
  nothing is kept: what it imports, reads or computes can end up in machine code too, and no digest knows of that.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "arcp", "nsz"},
    "_nrt": False,
}
INLINED: Any = {"forceinline": True, **OPTIONS}  # of small parts that kernels call
PACKAGE = Path(__file__).parent


def cache_root() -> Path:
    """Where compiled kernels live: $MAHMC_CACHE_DIR, else the user's cache folder, else a temporary one."""
    if chosen := os.environ.get("MAHMC_CACHE_DIR"):
        return Path(chosen)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = base / "mahmc"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"mahmc-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"


@functools.cache
def sources() -> tuple[Path, ...]:
    """Every source file of the engine that can end up in machine code."""
    rooms = ("compiled.py", "lanes.py", "streams.py", "targets/*.py", "kernels/*.py", "own/*.py", "examples/*.py")
    return tuple(sorted(path for room in rooms for path in PACKAGE.glob(room)))


@functools.cache
def source_digest() -> str:
    """A digest of those files, and of the compiler's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def kept(target_class: type) -> bool:
    """Whether machine code for this class of target is kept on disk: if the digest knows its source."""
    file = getattr(sys.modules.get(target_class.__module__), "__file__", None)
    return file is not None and Path(file) in sources()


def stored(function: Callable) -> Callable:
    """Compile a function that Python calls and kernels call too, kept on disk between processes."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_root() / source_digest())
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    finally:
        settings.CACHE_DIR = before


def kernel(function: Callable) -> Callable:
    """Compile an entry point: a kernel that Python calls with a target's data first, kept on disk between processes.

    Not so for a user's own target: its classes would not even be found when another process reads the list of what is
    there. And each class has a compiler of its own, as numba takes two NamedTuples for one if their names are the same.
    """
    on_disk = stored(function)

    @functools.cache
    def fresh(target_class: type) -> Callable:
        return numba.njit(**OPTIONS)(function)

    @functools.wraps(function)
    def call(target: Any, *rest: Any) -> Any:
        own: Any = type(target)
        return (on_disk if kept(own) else fresh(own))(target, *rest)

    return call


def inlined(function: Callable) -> Callable:
    """Compile a small part that kernels call; it always becomes part of its caller, so nothing is left of it."""
    return numba.njit(**INLINED)(function)


_IMPLEMENTED: set[tuple[Callable, type]] = set()


def implements(generic: Callable, target_class: type) -> Callable[[Callable], Callable]:
    """Give `generic` (a function that does nothing itself) its compiled body for one class of target.

    >>> @implements(potential, MDC)
    ... def mdc_potential(target, q, other, grad, scratch): ...
    """
    _IMPLEMENTED.add((generic, target_class))
    return _overloaded(generic, lambda given: given is target_class)


def otherwise(generic: Callable) -> Callable[[Callable], Callable]:
    """Give `generic` its compiled body for every class of target that it has no other for."""
    return _overloaded(generic, lambda given: given is not None and (generic, given) not in _IMPLEMENTED)


def _overloaded(generic: Callable, meant: Callable[[type | None], bool]) -> Callable[[Callable], Callable]:
    def register(body: Callable) -> Callable:
        def choose(target: Any, *rest: Any) -> Callable | None:
            return body if meant(getattr(target, "instance_class", None)) else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        overload(generic, jit_options=INLINED, strict=False)(choose)
        return body

    return register
