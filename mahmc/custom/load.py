"""Custom targets from files, and pickling of targets, by their names and settings."""

from __future__ import annotations

import copyreg
import hashlib
import importlib.util
import pickle
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from mahmc.parameters import InvalidInput, choose
from mahmc.targets import FAMILIES, Target, TargetFamily

_loaded: dict[Path, tuple[bytes, ModuleType]] = {}


def load_targets(path: str | Path) -> list[TargetFamily]:
    """Run a Python file, and add the targets that it defines to `targets.FAMILIES`.

    Parameters
    ----------
    path
        The file. It can import other files in the same folder.

    Returns
    -------
    list of TargetFamily
        The targets of the file.

    Raises
    ------
    InvalidInput
        If the file does not exist, cannot be run, or defines no target.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = Path(mahmc.examples.__file__).with_name("funnel.py").read_text()
    >>> _ = Path("my_targets.py").write_text(text.replace("NealsFunnel", "MyFunnel"))
    >>> [family.name for family in mahmc.load_targets("my_targets.py")]
    ['my-funnel']
    """
    return list(_classes(path).values())


def find(where: str) -> TargetFamily:
    """Load one custom target.

    Parameters
    ----------
    where
        "file.py:Class", or "file.py" if the file defines only one target.

    Returns
    -------
    TargetFamily
        The target.

    Raises
    ------
    InvalidInput
        If the file or the class does not exist, or the file defines several targets.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = Path(mahmc.examples.__file__).with_name("funnel.py").read_text()
    >>> _ = Path("my_targets.py").write_text(text.replace("NealsFunnel", "AnotherFunnel"))
    >>> mahmc.custom.find("my_targets.py:AnotherFunnel").name
    'another-funnel'
    """
    path, colon, name = where.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, name = where, ""
    found = _classes(path)
    if not name and len(found) > 1:
        raise InvalidInput(
            f"{Path(path).name} has {len(found)} targets: {', '.join(found)}. Choose a target, as {path}:{min(found)}."
        )
    return found[choose(name or min(found), found, f"target class of {path}")]


def load_module(path: str | Path) -> ModuleType:
    """The module of a Python file. As with `import`, the file is run once; it is run again if its content changes."""
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}: give the path of a Python file.")
    if file.suffix != ".py":
        raise InvalidInput(f"{file} is not a Python file: its name must end in .py.")
    content = file.read_bytes()
    if _loaded.get(file, (b"",))[0] != content:
        _loaded[file] = content, _run(file, content)
    return _loaded[file][1]


def _classes(path: str | Path) -> dict[str, TargetFamily]:
    """The targets of a file, by name of the class."""
    module = load_module(path)
    file = str(module.__file__)
    found = {
        attribute: value for attribute, value in vars(module).items()
        if isinstance(value, TargetFamily) and value.file == file
    }  # fmt: skip
    if not found:
        raise InvalidInput(f"{Path(file).name} has no targets: decorate a class with @mahmc.target.")
    FAMILIES.update({family.name: family for family in found.values()})
    return found


def _run(file: Path, content: bytes) -> ModuleType:
    """The module that this content makes.

    Python's own loader is not used: it may run the bytecode of an earlier content that had the same length and was
    written in the same second.
    """
    name = f"mahmc_custom_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        exec(compile(content, str(file), "exec", dont_inherit=True), vars(module))
    except InvalidInput as refusal:
        named = str(refusal) if f"{file.name}, line" in str(refusal) else f"{file.name}: {refusal}"
        raise InvalidInput(named) from None
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        place = f", line {lines[-1]}" if lines else ""
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        place = f", line {line}" if line else place
        raise InvalidInput(f"{file.name}{place} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _reduced(target: Target) -> tuple[Any, ...]:
    """For pickle: the target's family and settings, and the data that are not in the settings."""
    family = FAMILIES[target.name]
    if family.file and not Path(family.file).is_file():
        raise pickle.PicklingError(
            f"{target.name} is defined in {family.file}, which is not a file, so another process cannot build it: put "
            "its class into a file, and load it by mahmc.load_targets."
        )
    data = {n: x for n, x in target.density.arrays.items() if n not in target.settings} if target.fingerprint else {}
    if target.fingerprint == "simulated":  # simulated data can be numbers too
        data = {n: x for n, x in target.density.data._asdict().items() if n not in target.settings}
    return _rebuilt, (target.name, family.file, dict(target.settings), data)


def _rebuilt(name: str, file: str, settings: Mapping[str, Any], data: Mapping[str, Any]) -> Target:
    if name not in FAMILIES or FAMILIES[name].file != file:  # never another target that has this name here
        load_targets(file)
    return FAMILIES[name].build(**data, **settings)


copyreg.pickle(Target, _reduced)
