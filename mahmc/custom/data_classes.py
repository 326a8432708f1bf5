"""The data classes of custom targets. Machine code on disk refers to these classes by their names in this module.

A name ends in the digest of everything that the machine code of the target depends on (see `prepare`). So two classes
with the same name are the same.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from itertools import count

_numbers = count(1)


def data_class(name: str, fields: list[str], key: str | None) -> tuple[type, bool]:
    """The NamedTuple class with these fields and this key, and whether the class is new. Without a key it is new."""
    full = f"{name}_{key or f'unkept_{next(_numbers)}'}"
    here = sys.modules[__name__]
    if hasattr(here, full):
        return getattr(here, full), False
    made: type = namedtuple(full, fields or ["nothing"], module=__name__)  # type: ignore[misc]  # numba needs a field
    setattr(here, full, made)
    return made, True
