"""Calls of methods of Matplotlib's Axes, which can be made or written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Data(NamedTuple):
    """An array of the drawing, by its name."""

    name: str

    def __repr__(self) -> str:
        return f"data[{self.name!r}]"


class Call(NamedTuple):
    """A call of a method of Axes. Among its arguments, `Data` stands for an array."""

    method: str
    args: tuple[Any, ...]
    options: Mapping[str, Any]

    def make(self, axes: Any, data: Mapping[str, np.ndarray]) -> None:
        """Make the call."""
        args = [_value(arg, data) for arg in self.args]
        getattr(axes, self.method)(*args, **{name: _value(value, data) for name, value in self.options.items()})

    def __str__(self) -> str:
        """The call as a line of Python."""
        named = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"axes.{self.method}({', '.join([*map(repr, self.args), *named])})"


def _value(argument: Any, data: Mapping[str, np.ndarray]) -> Any:
    return data[argument.name] if isinstance(argument, Data) else argument


class Sheet:
    """The calls of a drawing so far, and its arrays."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.data: dict[str, np.ndarray] = {}

    def call(self, method: str, *args: Any, **options: Any) -> None:
        """Add a call. Options that are None are left out."""
        self.calls.append(Call(method, args, {name: value for name, value in options.items() if value is not None}))

    def keep(self, name: str, values: np.ndarray) -> Data:
        """Keep an array under this name, or with a number if another array has the name."""
        number, free = 1, name
        while free in self.data:
            number, free = number + 1, f"{name} ({number + 1})"
        self.data[free] = values
        return Data(free)
