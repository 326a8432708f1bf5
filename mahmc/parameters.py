"""A parameter, described in one place for validation, sliders, the command line and the docs."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from mahmc.numerals import exact


class InvalidInput(ValueError):
    """A given value cannot be used. The message says the value, the allowed values, and what to do."""


@dataclass(frozen=True)
class Parameter:
    """A number, a list of numbers, or true or false, that a person can choose.

    Parameters
    ----------
    name
        The name in Python, on the command line and in links.
    symbol
        The symbol in the paper.
    title
        The name in words.
    help
        What the parameter does, in one or two sentences.
    kind
        "float", "int", "bool" or "floats".
    low, high
        The smallest and the largest allowed value.
    low_open, high_open
        Whether the bound itself is not allowed.
    slider
        The range of a slider: the values that are usually sensible.
    log
        Whether the slider is logarithmic.
    step
        The step of the slider.
    default
        The value if none is given.

    Examples
    --------
    >>> parameter = mahmc.Parameter("L", "L", "Leapfrogs", "Leapfrog steps.", kind="int", low=1, high=100, default=10)
    >>> parameter.check(20), parameter.range
    (20, 'a whole number in [1, 100]')
    """

    name: str
    symbol: str
    title: str
    help: str
    kind: str = "float"
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
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
        return f"{what}{low}{exact(self.low)}, {exact(self.high)}{high}"

    def check(self, value: Any) -> Any:
        """Check a value.

        Parameters
        ----------
        value
            The value, of any type.

        Returns
        -------
        int, float, bool or tuple of float
            The same value as a plain Python value.

        Raises
        ------
        InvalidInput
            If the value is not allowed.

        Examples
        --------
        >>> mahmc.SAMPLERS["hmc"].name, mahmc.samplers.PARAMETERS["L"].check(np.int64(20))
        ('hmc', 20)
        """
        if self.kind == "bool":
            return self._checked_bool(value)
        if self.kind == "floats":
            if isinstance(value, str | bytes) or not isinstance(value, Iterable):
                raise self._refusal(value)
            return tuple(self._checked_number(item, whole=False) for item in value)
        return self._checked_number(value, whole=self.kind == "int")

    def parse(self, text: str) -> Any:
        """Read a value from the text of a link or of the command line.

        Parameters
        ----------
        text
            The text.

        Returns
        -------
        int, float, bool or tuple of float
            The value.

        Raises
        ------
        InvalidInput
            If the text cannot be read, or the value is not allowed.

        Examples
        --------
        >>> mahmc.samplers.PARAMETERS["L"].parse("1e3")
        1000
        """
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
    """Read a whole number as people write it: 1000000, 1_000_000 or 1e6.

    Parameters
    ----------
    text
        The text.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If the text is not a whole number.

    Examples
    --------
    >>> mahmc.parameters.whole_number("1e6")
    1000000
    """
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def nearest(value: str, names: Iterable[str]) -> str | None:
    """The name most similar to `value`.

    Parameters
    ----------
    value
        What a person wrote.
    names
        The known names.

    Returns
    -------
    str or None
        The most similar name, or None if no name is similar.

    Examples
    --------
    >>> mahmc.parameters.nearest("mhac", ["hmc", "mahmc"])
    'mahmc'
    """
    near = difflib.get_close_matches(value[:60].lower(), list(names), n=1, cutoff=0.5)
    return near[0] if near else None


def choose(value: Any, allowed: Iterable[str], what: str) -> str:
    """Check that a name is allowed.

    Parameters
    ----------
    value
        The name that a person gave.
    allowed
        The allowed names.
    what
        What is named, for the message.

    Returns
    -------
    str
        The name.

    Raises
    ------
    InvalidInput
        If the name is not allowed. The message gives the most similar allowed name.

    Examples
    --------
    >>> mahmc.parameters.choose("hmc", ["hmc", "mahmc"], "sampler")
    'hmc'
    """
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    near = nearest(str(value), names)
    hint = f"Did you mean {near!r}? " if near else ""
    raise InvalidInput(f"{what} {str(value)[:60]!r} is unknown. {hint}Choose from: {', '.join(names)}.")
