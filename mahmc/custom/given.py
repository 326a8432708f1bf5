"""Data that a person passes when a target is built, as in `Zip(X=X, y=y)`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np


class GivenData:
    """Data by field. Two objects are equal if their fingerprints are equal, so data can be the key of a cache."""

    def __init__(self, fields: Mapping[str, Any] | None = None) -> None:
        self.fields = {name: np.asarray(value) for name, value in (fields or {}).items()}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of names and values; empty if there are no data."""
        if not self.fields:
            return ""
        digest = hashlib.sha256()
        for name, value in sorted(self.fields.items()):
            digest.update(repr((name, value.shape, value.dtype.str)).encode() + value.tobytes())
        return digest.hexdigest()[:12]

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenData) and self.fingerprint == other.fingerprint


NO_DATA = GivenData()
