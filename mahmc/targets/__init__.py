"""The targets: one file each, and the table of all."""

from __future__ import annotations

from typing import Any

from mahmc.parameters import InvalidInput, choose
from mahmc.targets.base import Quantity, Target, TargetFamily, Truth, elements
from mahmc.targets.blr import FAMILY as BLR_FAMILY
from mahmc.targets.blr import blr
from mahmc.targets.gmm import FAMILY as GMM_FAMILY
from mahmc.targets.gmm import gmm
from mahmc.targets.mdc import FAMILY as MDC_FAMILY
from mahmc.targets.mdc import mdc

FAMILIES: dict[str, TargetFamily] = {family.name: family for family in (MDC_FAMILY, BLR_FAMILY, GMM_FAMILY)}

__all__ = ["FAMILIES", "Quantity", "Target", "TargetFamily", "Truth", "blr", "build", "elements", "gmm", "mdc"]


def build(name: str, **settings: Any) -> Target:
    """The target `name`, with its own parameters where they are given."""
    family = FAMILIES[choose(name, FAMILIES, "target")]
    known = [parameter.name for parameter in family.parameters]
    for setting in settings:
        if setting not in known:
            raise InvalidInput(f"{name} has no parameter {setting!r}; it has {', '.join(known)}.")
    return family.build(**settings)
