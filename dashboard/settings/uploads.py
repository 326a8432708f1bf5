"""Data that a person uploaded for BLR, as a tab keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahmc import targets
from mahmc.tabular import Table, design
from mahmc.targets import Target

TARGET = "blr"  # that takes uploaded data
MOST_UPLOADS = 6  # that a tab keeps: its pins, its run, and one more


@dataclass(eq=False)
class Upload:
    """A table that a person brought, and the column of it that is explained."""

    file: str
    column: str
    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]  # of X's columns
    _built: dict[tuple, Target] = field(default_factory=dict)

    @classmethod
    def of(cls, file: str, table: Table, column: str) -> Upload:
        """InvalidInput where the table cannot be used for this column."""
        return cls(file, column, *design(table, column))

    def target(self, settings: Mapping[str, Any]) -> Target:
        """BLR on these data; the last one that was built is kept."""
        mark = tuple(sorted(settings.items()))
        if mark not in self._built:
            self._built = {mark: targets.blr(self.X, self.y, **settings)}
        return self._built[mark]

    @property
    def fingerprint(self) -> str:
        return self.target({}).fingerprint if not self._built else next(iter(self._built.values())).fingerprint

    @property
    def size(self) -> str:
        """Rows × columns, without the intercept."""
        return f"{len(self.X):,} × {len(self.names) - 1}"

    def named(self, quantity: str) -> str:
        """The column that a coefficient belongs to; "" for other quantities."""
        base, _, index = quantity.partition("[")
        return self.names[int(index[:-1])] if base == "beta" and index else ""


Uploads = Mapping[str, Upload]  # by fingerprint
