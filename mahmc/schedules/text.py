"""Schedules from text: "alternate(10, 4)", "iid(100, 0.9)", "sequences(0010:0.7, 0100:0.3)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mahmc.parameters import InvalidInput
from mahmc.schedules.constructors import alternate, iid, sequences
from mahmc.schedules.laws import Schedule

FORMS = "alternate, iid(100, 0.9), iid(100, 0.8, 0.1, 0.1), sequences(10x0 1 10x0), sequences(0010:0.7, 0100:0.3)"


@lru_cache(64)
def parse(text: str) -> Schedule:
    """Read a schedule.

    Parameters
    ----------
    text
        The text that `str(schedule)` writes, or a text in one of the `FORMS`.

    Returns
    -------
    Schedule
        The schedule.

    Raises
    ------
    InvalidInput
        If the text cannot be read, or the schedule is not allowed.

    Examples
    --------
    >>> schedules.parse("iid(100, 0.9)") == schedules.iid(100, 0.9)
    True
    """
    name, bracket, rest = text.strip().partition("(")
    if not bracket or not rest.endswith(")"):
        raise _unreadable(text)
    items = [item.strip() for item in rest[:-1].split(",")]
    if name == "sequences":
        return sequences(*weighted(items))
    numbers = [_number(item, text) for item in items]
    if name == "alternate" and len(numbers) == 2:
        return alternate(*numbers)  # type: ignore[arg-type]
    if name == "iid" and len(numbers) == 1:
        return iid(numbers[0])  # type: ignore[arg-type]
    if name == "iid":
        return iid(numbers[0], numbers[1], numbers[2:] or None)  # type: ignore[arg-type]
    raise _unreadable(text)


def weighted(items: Sequence[str]) -> tuple[list[str], list[float] | None]:
    """Split texts such as "0010" or "0010:0.7" into sequences and weights.

    Parameters
    ----------
    items
        A text for each sequence. Either all texts have a weight, or none has.

    Returns
    -------
    sequences : list of str
        The sequences.
    weights : list of float, or None
        The weights, None if no text has one.

    Raises
    ------
    InvalidInput
        If only some texts have a weight, or a weight is not a number.

    Examples
    --------
    >>> schedules.weighted(["0010:0.7", "0100:0.3"])
    (['0010', '0100'], [0.7, 0.3])
    """
    parts = [item.partition(":") for item in items]
    if not any(colon for _, colon, _ in parts):
        return list(items), None
    if missing := [D for D, _, weight in parts if not weight.strip()]:
        raise InvalidInput(f"the sequence {missing[0].strip()[:40]!r} has no weight: give each sequence a weight.")
    return [D for D, _, _ in parts], [_number(weight.strip(), ", ".join(items)) for _, _, weight in parts]


def _unreadable(text: str) -> InvalidInput:
    return InvalidInput(f"schedule {text[:60]!r} cannot be read. Write it as one of: {FORMS}.")


def _number(text: str, whole_text: str) -> int | float:
    try:
        return int(text) if re.fullmatch(r"\d{1,9}", text) else float(text)
    except ValueError:
        raise _unreadable(whole_text) from None
