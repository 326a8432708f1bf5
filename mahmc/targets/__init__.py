"""The targets: one file each, and the table of all."""

from __future__ import annotations

from typing import Any

from mahmc.parameters import InvalidInput, choose
from mahmc.targets.base import Quantity, Target, TargetFamily, Truth, Views, elements
from mahmc.targets.blr import FAMILY as BLR_FAMILY
from mahmc.targets.blr import blr
from mahmc.targets.gmm import FAMILY as GMM_FAMILY
from mahmc.targets.gmm import gmm
from mahmc.targets.mdc import FAMILY as MDC_FAMILY
from mahmc.targets.mdc import mdc

FAMILIES: dict[str, TargetFamily] = {family.name: family for family in (MDC_FAMILY, BLR_FAMILY, GMM_FAMILY)}

__all__ = [
    "FAMILIES", "Quantity", "Target", "TargetFamily", "Truth", "Views", "blr", "build", "elements", "family", "gmm",
    "mdc",
]  # fmt: skip


def family(name: Any) -> TargetFamily:
    """The family `name`; otherwise an error with the nearest right one, and where others would come from."""
    try:
        return FAMILIES[choose(name, FAMILIES, "target")]
    except InvalidInput as unknown:
        hint = "One of your own is known once its file is loaded: mahmc.load_targets('file.py'), or file.py:Class."
        raise InvalidInput(f"{unknown} {hint}") from None


def build(name: str, **settings: Any) -> Target:
    """The target `name`, with its own parameters where they are given."""
    chosen = family(name)
    known = [parameter.name for parameter in chosen.parameters]
    for setting in settings:
        if setting not in known:
            raise InvalidInput(f"{name} has no parameter {setting!r}; it has {', '.join(known) or 'none'}.")
    return chosen.build(**settings)
