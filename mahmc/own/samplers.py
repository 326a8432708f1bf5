"""Samplers from a person's own file, to be checked: `file.py:step`, or everything that a file offers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mahmc.own.load import load_module
from mahmc.parameters import InvalidInput, choose
from mahmc.samplers import EVERY_SAMPLER

OFFERED = "SAMPLERS"  # the name of a mapping in a file, by which it offers several samplers
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
LOADED: dict[str, Any] = {}  # samplers of the person who started the server, by name


def find_sampler(where: str) -> tuple[str, Any]:
    """The name and the sampler that "file.py:step" stands for; of a file alone the only one that it offers."""
    path, colon, name = where.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, name = where, ""
    found = _offered(path)
    if not name:
        if len(found) > 1:
            raise InvalidInput(f"{Path(path).name} has {len(found)} samplers: say which, as {path}:{min(found)}.")
        return next(iter(found.items()))
    everything = found | {key: value for key, value in vars(load_module(path)).items() if callable(value)}
    return name, everything[choose(name, everything, f"sampler of {Path(path).name}")]


def load_samplers(where: str) -> dict[str, Any]:
    """All samplers of a file, or the one that "file.py:step" names; known by their names from then on."""
    found = dict([find_sampler(where)]) if where.rpartition(":")[0].endswith(".py") else _offered(where)
    for name in found:
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"a sampler cannot be called {name!r}: letters, digits, - and _, at most 40.")
        if name in EVERY_SAMPLER:
            raise InvalidInput(f"{name} is the name of a sampler of mahmc: give yours another one.")
    LOADED.update(found)
    return found


def _offered(path: str) -> dict[str, Any]:
    """What a file offers: its mapping SAMPLERS, or else its function or class `step`."""
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
