"""NumPyro's kernels: HMC, NUTS, HMCGibbs, MixedHMC and others with init(key, …) and sample(state, …)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from mahmc.adapters.common import States, jax_in_float64, keys, length, library, refuse_unknown, strong
from mahmc.checks.steps import called
from mahmc.parameters import InvalidInput

NO_WARMUP = 0  # iterations in which a kernel would adapt


def numpyro(
    kernel: Any, *, model_args: tuple[Any, ...] = (), model_kwargs: Mapping[str, Any] | None = None, name: str = ""
) -> NumpyroSampler:
    """A kernel of NumPyro, to be checked.

    Parameters
    ----------
    kernel
        `HMC(model, step_size=…)`, `NUTS(model, step_size=…)`, `HMCGibbs(…)`, `MixedHMC(…)`. The latent sites of the
        model have the names of the target's quantities. The kernel does not adapt: its step size and mass matrix are
        those of its construction.
    model_args, model_kwargs
        The arguments of the model.
    name
        The name of the sampler in findings; by default the class of the kernel.

    Returns
    -------
    NumpyroSampler
        An object with `init` and `step` for `mahmc.check_sampler`. All chains move together, compiled. Keys are drawn
        from the NumPy generator in `init` and are part of the state from then on. Float64 is switched on in JAX.

    Examples
    --------
    >>> def model():
    ...     k = numpyro.sample("component", dist.Categorical(jnp.array([0.3, 0.4, 0.3])))
    ...     numpyro.sample("q", dist.Normal(jnp.array([-1, 0, 1.5])[k], jnp.array([0.4, 1, 0.5])[k]))
    >>> kernel = HMCGibbs(HMC(model, step_size=0.5, num_steps=3), gibbs_fn=conditional, gibbs_sites=["component"])
    >>> mahmc.check_sampler(mahmc.adapters.numpyro(kernel), "gmm-overlapping", budget=0.5).verdict
    <Verdict.RIGHT: 'right'>
    """
    return NumpyroSampler(kernel, model_args, dict(model_kwargs or {}), name)


class NumpyroSampler:
    """See `numpyro`. The state is the kernel's own for each chain, beside the quantities by name."""

    def __init__(self, kernel: Any, model_args: tuple[Any, ...], model_kwargs: dict[str, Any], name: str) -> None:
        if not callable(getattr(kernel, "init", None)) or not callable(getattr(kernel, "sample", None)):
            raise InvalidInput(
                f"{kernel!r} is not a kernel of NumPyro: pass HMC(model, …) or the like, which has init and sample."
            )
        if getattr(kernel, "model", None) is None:
            raise InvalidInput(f"{type(kernel).__name__} has no model: make it with model=…, not with potential_fn=….")
        for part in _parts(kernel):
            if getattr(part, "_find_heuristic_step_size", False):
                raise InvalidInput(
                    f"{type(part).__name__} has find_heuristic_step_size=True, so that its step size depends on the "
                    "start of each chain: leave this argument out, and give step_size=…."
                )
        self.name = name or type(kernel).__name__
        self._jax = jax_in_float64()
        self._kernel, self._arguments = kernel, (model_args, model_kwargs)
        self._begin = self._jax.jit(self._jax.vmap(self._begun))
        self._advance = self._jax.jit(self._jax.vmap(self._advanced))

    def init(self, states: States, rng: np.random.Generator) -> dict[str, Any]:
        """The kernel's state of each chain, from states by name."""
        self._check_sites(states)
        given = {name: _as_wide_as_jax_has(np.asarray(x)) for name, x in states.items()}
        chain = called(f"{self.name}.init", self._begin, keys(rng, length(states)), given)
        return {**states, "chain": chain}

    def step(self, state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """The next state of each chain."""
        chain, values = self._advance(state["chain"])
        return {**{name: np.asarray(values[name]) for name in state if name != "chain"}, "chain": chain}

    def _begun(self, key: Any, values: Any) -> Any:
        """The kernel's state of one chain."""
        util = library("numpyro.infer.util", "numpyro")
        with warnings.catch_warnings():  # the kernel handles discrete sites
            warnings.filterwarnings("ignore", category=FutureWarning, message="Some algorithms will automatically")
            free = util.unconstrain_fn(self._kernel.model, *self._arguments, values)
        return strong(self._kernel.init(key, NO_WARMUP, free, *self._arguments))

    def _advanced(self, chain: Any) -> tuple[Any, Any]:
        """The next state of one chain, and its quantities by name.

        `init` leaves functions in the kernel that belong to the program being compiled. So it is called in this program
        as well; nothing uses its result, and the compiler drops it.
        """
        kernel, arguments, key = self._kernel, self._arguments, self._jax.random.PRNGKey(0)
        kernel.init(key, NO_WARMUP, getattr(chain, kernel.sample_field), *arguments)
        chain = strong(kernel.sample(chain, *arguments))
        return chain, kernel.postprocess_fn(*arguments)(getattr(chain, kernel.sample_field))

    def _check_sites(self, states: States) -> None:
        handlers = library("numpyro.handlers", "numpyro")
        model_args, model_kwargs = self._arguments
        seeded = handlers.seed(self._kernel.model, self._jax.random.PRNGKey(0))
        traced = partial(handlers.trace(seeded).get_trace, *model_args, **model_kwargs)
        trace = called(f"the model of {self.name}", traced)
        latent = {name for name, site in trace.items() if site["type"] == "sample" and not site["is_observed"]}
        refuse_unknown(latent, states, self.name)


def _as_wide_as_jax_has(x: np.ndarray) -> np.ndarray:
    """Real numbers in float64, whole numbers in int64: models have these."""
    return np.asarray(x, float if np.issubdtype(x.dtype, np.floating) else np.int64)


def _parts(kernel: Any) -> Iterator[Any]:
    """The kernel and the kernels inside it."""
    yield kernel
    inner = getattr(kernel, "inner_kernel", None)
    if inner is not None:
        yield from _parts(inner)
