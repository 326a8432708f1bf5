"""Samplers of other libraries, as `mahmc.check_sampler` takes them. None of these libraries comes with mahmc.

Each function here takes what the library calls a sampler, and returns an object with `init(states, rng)` and
`step(state, rng)`. All randomness comes from the NumPy generator that is passed in, JAX runs in float64, and nothing
adapts. A library is imported when its function is called, and not before.
"""

from mahmc.adapters.for_blackjax import blackjax
from mahmc.adapters.for_emcee import emcee
from mahmc.adapters.for_numpyro import numpyro
from mahmc.adapters.for_pymc import pymc

__all__ = ["blackjax", "emcee", "numpyro", "pymc"]
