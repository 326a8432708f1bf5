"""Calls that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mahmc import InvalidInput
from mahmc.targets import TargetFamily


def refusal_of(function: Callable[..., Any] | TargetFamily, *given: Any, **chosen: Any) -> str:
    """The message with which a call is refused."""
    with pytest.raises(InvalidInput) as refusal:
        function(*given, **chosen)
    return str(refusal.value)
