"""Print verdicts on the engine that Python finds first, compiled in a hurry: `python -m tests.support.mutated CASE`."""

from __future__ import annotations

import sys

from tests.support import lean_numba  # noqa: F401  (before anything imports mahmc)
from tests.support.verdicts import print_verdicts

if __name__ == "__main__":
    print_verdicts(tuple(sys.argv[1:]))
