"""Values as JSON."""

from __future__ import annotations

import json
import math
from typing import Any


def as_json(value: Any) -> str:
    """A value as JSON. NaN and infinity become null, because JSON does not have them."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value of dictionaries, lists and numbers with None for NaN and infinity."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
