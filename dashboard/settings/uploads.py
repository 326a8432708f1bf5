"""Uploaded data, for targets that take data; a tab keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahmc.tabular import Table, design
from mahmc.targets import FAMILIES, Target, TargetFamily

MOST_UPLOADS = 6  # how many a tab keeps: for its pins, its run, and one more


@dataclass(eq=False)
class Upload:
    """An uploaded table for a target, and the column that the other columns explain."""

    family: TargetFamily
    file: str
    column: str
    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]  # of X's columns
    _built: dict[tuple[tuple[str, Any], ...], Target] = field(default_factory=dict)

    @classmethod
    def of(cls, target: str, file: str, table: Table, column: str) -> Upload:
        """The upload of a table; InvalidInput if this column cannot be explained."""
        return cls(FAMILIES[target], file, column, *design(table, column))

    def target(self, settings: Mapping[str, Any]) -> Target:
        """The target on these data. The target that was built last is kept."""
        mark = tuple(sorted(settings.items()))
        if mark not in self._built:
            assert self.family.build_on is not None  # only a target that takes data is offered an upload
            self._built = {mark: self.family.build_on(self.X, self.y, **settings)}
        return self._built[mark]

    @property
    def any_target(self) -> Target:
        """The target on these data, with any settings."""
        return next(iter(self._built.values()), None) or self.target({})

    @property
    def fingerprint(self) -> str:
        return self.any_target.fingerprint

    @property
    def size(self) -> str:
        """Rows × columns, without the intercept."""
        return f"{len(self.X):,} × {len(self.names) - 1}"

    def named(self, quantity: str) -> str:
        """The column that a coefficient belongs to; "" for other quantities."""
        base, _, index = quantity.partition("[")
        is_coefficient = index and base == self.any_target.presentation.coefficients
        return self.names[int(index[:-1])] if is_coefficient else ""


Uploads = Mapping[str, Upload]  # by fingerprint


def takes_data(target: str) -> bool:
    """Whether the target of this name takes uploaded data."""
    return FAMILIES[target].build_on is not None
