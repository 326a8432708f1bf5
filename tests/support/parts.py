"""Targets with something changed in one of their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mahmc import Target


def with_parts(target: Target, **changes: Mapping[str, Any]) -> Target:
    """The target with changed fields by part: density={"sites": 0}."""
    parts: dict[str, Any] = {part: replace(getattr(target, part), **fields) for part, fields in changes.items()}
    return replace(target, **parts)
