"""Adapters that turn samplers of other libraries into samplers for `mahmc.check_sampler`.

The other libraries are not installed with mahmc. Each function takes a sampler of its library, and returns an object
with `init(states, rng)` and `step(state, rng)`. All randomness comes from the NumPy generator that is passed in, JAX
runs in float64, and nothing adapts. A library is imported only when its function is called.
"""

from mahmc.adapters.for_blackjax import blackjax
from mahmc.adapters.for_emcee import emcee
from mahmc.adapters.for_numpyro import numpyro
from mahmc.adapters.for_pymc import pymc

__all__ = ["blackjax", "emcee", "numpyro", "pymc"]
