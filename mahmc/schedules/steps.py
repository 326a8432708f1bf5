"""One sequence D, as digits and as text: 0 is a leapfrog, i is an update of kind i."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from mahmc.parameters import InvalidInput

Steps = tuple[int, ...]

MOST_STEPS = 100_000  # steps of a schedule, all its sequences together
MOST_KINDS = 9  # kinds of update, as each step is one digit


def read_steps(D: str | Sequence[int]) -> Steps:
    """Read a sequence from text or from digits.

    Parameters
    ----------
    D
        Digits, as "0001000" or (0, 0, 0, 1, 0, 0, 0), or text with runs, as "3x0 1 3x0".

    Returns
    -------
    tuple of int
        The digits, one for each step.

    Raises
    ------
    InvalidInput
        If D cannot be read, is empty or is too long.

    Examples
    --------
    >>> read_steps("3x0 1 3x0")
    (0, 0, 0, 1, 0, 0, 0)
    """
    if not isinstance(D, str):
        if not all(isinstance(step, int) and 0 <= step <= MOST_KINDS for step in D):
            raise InvalidInput(f"a sequence has steps 0 (a leapfrog) and 1 to {MOST_KINDS} (updates), not {D!r:.60}.")
        found = tuple(D)
    else:
        tokens = [re.fullmatch(r"(?:(\d{1,6})x(\d)|(\d+))", token) for token in D.split()]
        if not all(tokens):
            raise InvalidInput(
                f"the sequence {D[:60]!r} cannot be read. Write a digit for each step, 0 for a leapfrog and 1 to "
                f"{MOST_KINDS} for an update, or runs of steps: 0001000, or 3x0 1 3x0."
            )
        if sum(int(token[1] or len(token[3] or "")) for token in tokens if token) > MOST_STEPS:
            raise InvalidInput(f"the sequence {D[:40]!r} is too long: at most {MOST_STEPS} steps are allowed.")
        pieces = (token[2] * int(token[1]) if token[1] else token[3] for token in tokens if token)
        found = tuple(int(digit) for digit in "".join(pieces))
    if not found:
        raise InvalidInput("a sequence is empty: give it at least one step.")
    return found


def write_steps(D: Steps) -> str:
    """A sequence as digits or as runs, whichever text is shorter; `read_steps` reads both.

    >>> write_steps((0, 1, 0)), write_steps((0,) * 10 + (1,) + (0,) * 10)
    ('010', '10x0 1 10x0')
    """
    text = " ".join(f"{n}x{step}" if n > 1 else str(step) for step, n in runs_of(D))
    return text if len(text) < len(D) else "".join(map(str, D))


def runs_of(D: Steps) -> list[tuple[int, int]]:
    """The runs of equal steps: (step, length of the run).

    >>> runs_of((0, 0, 1, 0))
    [(0, 2), (1, 1), (0, 1)]
    """
    return [(step, sum(1 for _ in group)) for step, group in groupby(D)]
