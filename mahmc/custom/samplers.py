"""Custom samplers for checks: `file.py:step` is one sampler, and `file.py` is all samplers of a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mahmc.custom.load import load_module
from mahmc.parameters import InvalidInput, choose
from mahmc.samplers import EVERY_SAMPLER

OFFERED = "SAMPLERS"  # the name of a mapping in a file that offers several samplers
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
LOADED: dict[str, Any] = {}  # by name: the samplers that the person who started the server has loaded


def find_sampler(where: str) -> tuple[str, Any]:
    """Find one custom sampler.

    Parameters
    ----------
    where
        "file.py:step", or "file.py" if the file has only one sampler.

    Returns
    -------
    name : str
        The name of the sampler.
    sampler : callable or type
        The sampler.

    Raises
    ------
    InvalidInput
        If the file or the sampler does not exist, or the file has several samplers.
    """
    path, colon, name = where.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, name = where, ""
    found = _offered(path)
    if not name:
        if len(found) > 1:
            raise InvalidInput(
                f"{Path(path).name} has {len(found)} samplers: choose a sampler, as {path}:{min(found)}."
            )
        return next(iter(found.items()))
    everything = found | {key: value for key, value in vars(load_module(path)).items() if callable(value)}
    return name, everything[choose(name, everything, f"sampler of {Path(path).name}")]


def load_samplers(where: str) -> dict[str, Any]:
    """Load custom samplers, and add them to `LOADED`.

    Parameters
    ----------
    where
        "file.py" for all samplers of a file, or "file.py:step" for one sampler.

    Returns
    -------
    dict
        The samplers by name.

    Raises
    ------
    InvalidInput
        If the file cannot be used, or the name of a sampler is not allowed.
    """
    found = dict([find_sampler(where)]) if where.rpartition(":")[0].endswith(".py") else _offered(where)
    for name in found:
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"a sampler cannot be called {name!r}: use at most 40 letters, digits, - and _.")
        if name in EVERY_SAMPLER:
            raise InvalidInput(f"{name} is the name of a sampler of mahmc: give your sampler another name.")
    LOADED.update(found)
    return found


def _offered(path: str) -> dict[str, Any]:
    """The samplers of a file: its mapping SAMPLERS, or its function or class `step`."""
    module = load_module(path)
    offered = getattr(module, OFFERED, None)
    if offered is not None:
        if not isinstance(offered, dict) or not offered or not all(isinstance(name, str) for name in offered):
            raise InvalidInput(f"{Path(path).name}: {OFFERED} must be a mapping of samplers by name.")
        return dict(offered)
    if not hasattr(module, "step"):
        raise InvalidInput(
            f"{Path(path).name} offers no sampler: define step(states, rng), or {OFFERED} = {{'name': step}}."
        )
    return {Path(path).stem.replace("_", "-"): module.step}
