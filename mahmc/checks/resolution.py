"""Resolution: the size of the errors that a verdict of *right* rules out, by kind of quantity.

Each check has a default size for each kind of quantity that it compares. People may set another size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from mahmc.parameters import InvalidInput, choose

KINDS = {
    "mean": "in standard deviations",
    "variance": "as a share of the variance",
    "probability": "as a difference",
    "product": "of two ranks, in standard deviations",
    "flow": "between two discrete states, as a share of the reverse flow",
}
Resolution = Mapping[str, float]
DEFAULT: Resolution = MappingProxyType({})  # every check keeps its own sizes


def checked_resolution(resolution: Resolution) -> dict[str, float]:
    """Sizes by kind, if they can be used.

    Parameters
    ----------
    resolution
        Sizes of errors by kind: "mean", "variance", "probability", "product" or "flow".

    Returns
    -------
    dict
        The same sizes.

    Raises
    ------
    InvalidInput
        For an unknown kind, or a size that is not in (0, 1].

    Examples
    --------
    >>> mahmc.checks.resolution.checked_resolution({"probability": 0.01})
    {'probability': 0.01}
    """
    for kind, size in resolution.items():
        choose(kind, KINDS, "resolution: kind")
        if isinstance(size, bool) or not isinstance(size, int | float) or not (math.isfinite(size) and 0 < size <= 1):
            raise InvalidInput(f"resolution: {kind} = {size!r} is not allowed: a size in (0, 1] is needed.")
    return {kind: float(size) for kind, size in resolution.items()}


def parsed_resolution(text: str) -> dict[str, float]:
    """Sizes by kind, from text such as "mean=0.1,probability=0.02"."""
    found: dict[str, float] = {}
    for part in text.split(","):
        kind, _, size = part.partition("=")
        try:
            found[kind.strip()] = float(size)
        except ValueError:
            raise InvalidInput(
                f"resolution: {part.strip()!r} is not of the form KIND=SIZE, as in mean=0.1,probability=0.02."
            ) from None
    return checked_resolution(found)
