"""The decorators that compile functions, with the options of the compiler and the folder of its cache.

Options, and why:

- ``nogil``: each thread runs its own blocks of chains, at the same time as other threads.
- ``error_model="numpy"``: 1/0 is inf, and the state is rejected. Kernels raise no exceptions.
- no ``fastmath``: each operation is rounded as the source says, so the bits of a result are the same on every
  processor. Operators of lanes fuse a product and a sum themselves (`mahmc.lanes.operators`).
- ``_nrt``: off. Kernels allocate no memory, so references need not be counted. Counting took most of the time of a
  draw on a small target.
- ``cache``: numba compares only the file of the compiled function, not the files of the functions that it calls.
  Kernels call functions of targets in other files. So the name of the cache folder is a digest of all sources of the
  engine: after an edit of any line, another folder is used, which is empty at first. Each custom target has its own
  folder, whose name is a digest of the target's functions and of everything that they use
  (`mahmc.custom.prepare`). If the digest cannot be computed, no machine code is kept.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
}
INLINED: Any = {"forceinline": True, **OPTIONS}  # for small functions that kernels call
PACKAGE = Path(__file__).parent
Function = Callable[..., Any]


def cache_root() -> Path:
    """The folder of machine code: $MAHMC_CACHE_DIR, else the user's cache folder, else a temporary folder.

    Returns
    -------
    pathlib.Path
        The folder. It may not exist yet.

    Examples
    --------
    >>> folder = mahmc.compiled.cache_root()
    """
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
    """All source files of the engine that machine code depends on."""
    patterns = (
        "compiled.py",
        "lanes/*.py",
        "streams.py",
        "targets/*.py",
        "kernels/*.py",
        "custom/*.py",
        "examples/*.py",
    )
    return tuple(sorted(path for pattern in patterns for path in PACKAGE.glob(pattern)))


@functools.cache
def source_digest() -> str:
    """A digest of `sources` and of the compiler's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def kept(target_class: type) -> bool:
    """Whether `source_digest` includes the source of this class of target, so that its machine code can be kept."""
    return comes_with_mahmc(target_class.__module__)


def comes_with_mahmc(module: str) -> bool:
    """Whether the source of a module is one of `sources`."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and Path(file) in sources()


_CUSTOM: dict[type, Path | None] = {}  # the folder of machine code for each class of custom target, or None
_MOST_FOLDERS = 64  # of custom targets; the folders that were not used for longest are removed
_SETTINGS = threading.Lock()  # numba reads the folder of a function from a setting of the process


def keep_apart(target_class: type, key: str | None) -> None:
    """Keep machine code for this class of target in its own folder, named by the key; if the key is None, keep none."""
    _CUSTOM[target_class] = None
    if key is None:
        return
    folder = cache_root() / source_digest() / "custom" / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        by_age = sorted(folder.parent.iterdir(), key=lambda other: other.stat().st_mtime, reverse=True)
    except OSError:  # the cache cannot be written, or another process removes folders at the same time
        return
    for other in by_age[_MOST_FOLDERS:]:
        shutil.rmtree(other, ignore_errors=True)
    _CUSTOM[target_class] = folder


def stored(function: Function, folder: Path | None = None) -> Function:
    """Compile a function that Python and kernels call, and keep its machine code on disk."""
    settings: Any = numba.config
    with _SETTINGS:
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(folder or cache_root() / source_digest())
        try:
            compiled: Any = numba.njit(cache=True, **OPTIONS)(function)
            if Path(compiled.stats.cache_path).is_relative_to(settings.CACHE_DIR):
                return _compiling_if_damaged(compiled)
        finally:
            settings.CACHE_DIR = before
    # The folder cannot be written, and numba chose another folder, whose name is no digest of the sources. Machine code
    # there can be stale.
    alone: Function = numba.njit(**OPTIONS)(function)
    return alone


def _compiling_if_damaged(compiled: Any) -> Function:
    """Let numba compile, and write the file again, where a file of machine code cannot be read, as when it is cut."""
    file = compiled._cache._cache_file  # noqa: SLF001
    read, read_index = file.load, file._load_index  # noqa: SLF001

    def load(key: Any) -> Any:
        try:
            return read(key)
        except Exception:  # noqa: BLE001  # what unpickling of damaged bytes raises is not limited
            return None

    def load_index() -> Any:
        try:
            return read_index()
        except Exception:  # noqa: BLE001
            return {}

    file.load, file._load_index = load, load_index  # noqa: SLF001
    dispatcher: Function = compiled
    return dispatcher


def kernel(function: Function) -> Function:
    """Compile a kernel: a function that Python calls with the data of a target as the first argument.

    Machine code is kept on disk. Machine code for a custom target is compiled and kept separately: another process may
    not know the class of that target, and then it cannot read a list of machine code that names the class.
    """
    on_disk = stored(function)

    @functools.cache
    def compiled_for(target_class: type) -> Function:
        folder = _CUSTOM.get(target_class)
        if folder is not None:
            return stored(function, folder)
        return on_disk if target_class not in _CUSTOM and kept(target_class) else numba.njit(**OPTIONS)(function)

    @functools.wraps(function)
    def call(target: Any, *rest: Any) -> Any:
        target_class: Any = type(target)
        return compiled_for(target_class)(target, *rest)

    return call


def inlined(function: Function) -> Function:
    """Compile a small function that kernels call; the compiler always inlines it into its caller."""
    compiled: Function = numba.njit(**INLINED)(function)
    return compiled


_IMPLEMENTED: set[tuple[Function, type]] = set()


def implements(generic: Function, target_class: type) -> Callable[[Function], Function]:
    """Decorate the compiled body of `generic` for one class of target. `generic` itself has no body.

    A body is written as::

        @implements(potential, MDC)
        def mdc_potential(target, q, other, grad, scratch): ...
    """
    _IMPLEMENTED.add((generic, target_class))
    return _overloaded(generic, lambda found: found is target_class)


def otherwise(generic: Function) -> Callable[[Function], Function]:
    """Decorate the compiled body of `generic` for every class of target without a body of its own (`implements`)."""
    return _overloaded(generic, lambda found: found is not None and (generic, found) not in _IMPLEMENTED)


def _overloaded(generic: Function, applies: Callable[[type | None], bool]) -> Callable[[Function], Function]:
    def register(body: Function) -> Function:
        def choose(target: Any, *_rest: Any) -> Function | None:
            return body if applies(getattr(target, "instance_class", None)) else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        overload(generic, jit_options=INLINED, strict=False)(choose)
        return body

    return register
