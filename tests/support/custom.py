"""Custom targets of tests: a class with changes as a target, and a list of targets that is as before after a test."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mahmc
from mahmc.targets import FAMILIES, TargetFamily


def registered(cls: type, /, annotations: dict[str, type] | None = None, **changes: Any) -> TargetFamily:
    """A class with some attributes changed, or left out if None, as a target."""
    attributes = {**vars(cls), **changes}
    body = {n: value for n, value in attributes.items() if value is not None and n not in ("__dict__", "__weakref__")}
    declared = inspect.get_annotations(cls) | (annotations or {})
    body["__annotations__"] = {n: a for n, a in declared.items() if attributes.get(n, True) is not None}
    return mahmc.target(type(cls.__name__, (), body))


@contextmanager
def families_as_before() -> Iterator[None]:
    """Targets that are registered meanwhile are forgotten."""
    before = dict(FAMILIES)
    try:
        yield
    finally:
        FAMILIES.clear()
        FAMILIES.update(before)
