"""Tests with the real libraries, in an environment of their own: `make test-adapters`. Elsewhere they are left out."""

from __future__ import annotations

from importlib.util import find_spec

LIBRARIES = ("blackjax", "emcee", "jax", "numpyro", "pymc")
collect_ignore_glob = [] if all(find_spec(name) for name in LIBRARIES) else ["test_*.py"]
