"""Functions that several adapters share: importing libraries, keys for JAX, and checks of quantities."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mahmc.parameters import InvalidInput

States = Mapping[str, np.ndarray]


def library(name: str, install: str) -> Any:
    """The module `name`; InvalidInput says how to install it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise InvalidInput(f"{missing.name} is not installed: pip install {install}") from missing


def jax_in_float64() -> Any:
    """JAX with float64 switched on: in float32 the acceptance test is inexact for large energies."""
    jax = library("jax", '"jax[cpu]"')
    jax.config.update("jax_enable_x64", True)
    return jax


def strong(tree: Any) -> Any:
    """Arrays of JAX without weak types, so that states before and after a step have the same types."""
    jax = library("jax", '"jax[cpu]"')
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, jax.numpy.asarray(x).dtype), tree)


def keys(rng: np.random.Generator, n: int) -> np.ndarray:
    """n keys for JAX, (n, 2), drawn from a NumPy generator."""
    return rng.integers(0, 2**32, size=(n, 2), dtype=np.uint32)


def length(states: States) -> int:
    """The number of chains."""
    return len(next(iter(states.values())))


def refuse_whole_numbers(states: States, who: str, instead: str) -> None:
    """InvalidInput if a quantity is discrete."""
    for name, x in states.items():
        if not np.issubdtype(np.asarray(x).dtype, np.floating):
            raise InvalidInput(f"{who} moves real quantities only, and {name} is discrete. {instead}")


def refuse_unknown(found: Mapping[str, Any] | set[str], wanted: States, who: str) -> None:
    """InvalidInput if the names of a model differ from those of the target."""
    missing, extra = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if missing or extra:
        parts = [f"{', '.join(missing)} of the target is missing in the model"] if missing else []
        parts += [f"{', '.join(extra)} of the model is not in the target"] if extra else []
        raise InvalidInput(f"{who}: {' and '.join(parts)}. Give both the same names: {', '.join(wanted)}.")
