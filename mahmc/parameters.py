"""A parameter, described once: for validation, sliders, the command line and the docs alike."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


class InvalidInput(ValueError):
    """A value that was given cannot be used. The message names it, what is allowed, and what to do."""


@dataclass(frozen=True)
class Parameter:
    """One number (or list of numbers, or yes/no) that a person may choose.

    `low` and `high` bound what is valid; `slider` bounds what a slider shows, which is what makes sense.
    """

    name: str
    symbol: str
    title: str
    help: str
    kind: str = "float"  # "float", "int", "bool" or "floats"
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False  # the bound itself is not allowed
    high_open: bool = False
    slider: tuple[float, float] | None = None
    log: bool = False
    step: float | None = None
    default: Any = None

    @property
    def range(self) -> str:
        """The allowed values in words: "in (0, 100]"."""
        if self.kind == "bool":
            return "true or false"
        low = "(" if self.low_open or self.low == -math.inf else "["
        high = ")" if self.high_open or self.high == math.inf else "]"
        what = {"int": "a whole number in ", "float": "in ", "floats": "numbers, each in "}[self.kind]
        return f"{what}{low}{self.low:g}, {self.high:g}{high}"

    def check(self, value: Any) -> Any:
        """The value as a plain int, float, bool or tuple, or InvalidInput."""
        if self.kind == "bool":
            return self._checked_bool(value)
        if self.kind == "floats":
            if isinstance(value, str | bytes) or not isinstance(value, Iterable):
                raise self._refusal(value)
            return tuple(self._checked_number(item, whole=False) for item in value)
        return self._checked_number(value, whole=self.kind == "int")

    def parse(self, text: str) -> Any:
        """The value from text, as a URL or a command line brings it."""
        try:
            if self.kind == "bool":
                return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]
            if self.kind == "floats":
                return self.check([float(item) for item in text.split(",")])
            return self.check(whole_number(text) if self.kind == "int" else float(text))
        except InvalidInput:
            raise
        except (ValueError, KeyError, OverflowError):
            raise self._refusal(text) from None

    def _checked_bool(self, value: Any) -> bool:
        if value in (True, False):
            return bool(value)
        raise self._refusal(value)

    def _checked_number(self, value: Any, whole: bool) -> int | float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._refusal(value)
        number: int | float = int(value) if isinstance(value, Integral) else float(value)
        if whole and not (isinstance(number, int) or number.is_integer()):
            raise self._refusal(value)
        number = int(number) if whole else float(number)
        above = number > self.low if self.low_open else number >= self.low
        below = number < self.high if self.high_open else number <= self.high
        if not (math.isfinite(number) and above and below):
            raise self._refusal(value)
        return number

    def _refusal(self, value: Any) -> InvalidInput:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return InvalidInput(f"{self.name} = {shown} is not allowed: {self.title.lower()} must be {self.range}.")


def whole_number(text: str) -> int:
    """A whole number as people write it: 1000000, 1_000_000 or 1e6. ValueError if the text is not one."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def nearest(value: str, names: Iterable[str]) -> str | None:
    """The name nearest to `value`, if any is near."""
    near = difflib.get_close_matches(value[:60].lower(), list(names), n=1, cutoff=0.5)
    return near[0] if near else None


def choose(value: Any, allowed: Iterable[str], what: str) -> str:
    """`value` if it is one of the allowed names; otherwise an error with the nearest right one."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    near = nearest(str(value), names)
    hint = f"Did you mean {near!r}? " if near else ""
    raise InvalidInput(f"{what} {str(value)[:60]!r} is unknown. {hint}Choose from: {', '.join(names)}.")
