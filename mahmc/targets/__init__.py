"""The targets: one file for each target, and the table of all targets."""

from __future__ import annotations

from typing import Any

from mahmc.parameters import InvalidInput, choose
from mahmc.targets.base import Target, TargetFamily
from mahmc.targets.blr import FAMILY as BLR_FAMILY
from mahmc.targets.blr import blr
from mahmc.targets.gmm import FAMILY as GMM_FAMILY
from mahmc.targets.gmm import gmm
from mahmc.targets.mdc import FAMILY as MDC_FAMILY
from mahmc.targets.mdc import mdc
from mahmc.targets.parts import (
    Density,
    Derived,
    KnownTruth,
    Model,
    Paper,
    PaperFigure,
    Presentation,
    Quantity,
    Score,
    Truth,
    Views,
    elements,
)

FAMILIES: dict[str, TargetFamily] = {family.name: family for family in (MDC_FAMILY, BLR_FAMILY, GMM_FAMILY)}

__all__ = [
    "FAMILIES", "Density", "Derived", "KnownTruth", "Model", "Paper", "PaperFigure", "Presentation", "Quantity",
    "Score", "Target", "TargetFamily", "Truth", "Views", "blr", "build", "elements", "family", "gmm", "mdc",
]  # fmt: skip


def family(name: Any) -> TargetFamily:
    """The target family with this name.

    Parameters
    ----------
    name
        The name of a target, as "mdc".

    Returns
    -------
    TargetFamily
        The target with its parameters, before values are chosen.

    Raises
    ------
    InvalidInput
        If the name is unknown. The message gives the most similar name, and says how to load a custom target.

    Examples
    --------
    >>> [parameter.name for parameter in mahmc.targets.family("mdc").parameters]
    ['n_w', 'sd']
    """
    try:
        return FAMILIES[choose(name, FAMILIES, "target")]
    except InvalidInput as unknown:
        hint = "For a custom target, load its file first: mahmc.load_targets('file.py'), or write file.py:Class."
        raise InvalidInput(f"{unknown} {hint}") from None


def build(name: str, **settings: Any) -> Target:
    """Build a target.

    Parameters
    ----------
    name
        The name of the target.
    **settings
        Values of the target's parameters; the others have their default values.

    Returns
    -------
    Target
        The target.

    Raises
    ------
    InvalidInput
        If the name or a parameter is unknown, or a value is not allowed.

    Examples
    --------
    >>> mahmc.targets.build("mdc", n_w=3).names
    ('u', 'v', 'w[0]', 'w[1]', 'w[2]')
    """
    chosen = family(name)
    known = [parameter.name for parameter in chosen.parameters]
    for setting in settings:
        if setting not in known:
            raise InvalidInput(
                f"{name} has no parameter {setting!r}. The parameters of {name}: {', '.join(known) or 'none'}."
            )
    return chosen.build(**settings)
