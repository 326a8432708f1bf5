"""BlackJAX's sampling algorithms: HMC, MALA, NUTS and others with init(position) and step(key, state)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahmc.adapters.common import States, jax_in_float64, keys, length, refuse_whole_numbers, strong
from mahmc.checks.steps import called
from mahmc.parameters import InvalidInput


def blackjax(algorithm: Any, name: str = "") -> BlackjaxSampler:
    """A sampling algorithm of BlackJAX, to be checked.

    Parameters
    ----------
    algorithm
        The result of `blackjax.hmc(…)`, `blackjax.mala(…)` or `blackjax.nuts(…)`: `init(position)` and
        `step(key, state)`.
        Its log density takes a position by name, {"v": …, "x": …}, without the axis of chains.
    name
        The name of the sampler in findings.

    Returns
    -------
    BlackjaxSampler
        An object with `init` and `step` for `mahmc.check_sampler`. All chains move together, compiled. Each step of
        each chain has a key that is drawn from the NumPy generator. The step size is that of the algorithm, without
        adaptation. Float64 is switched on in JAX.

    Examples
    --------
    >>> import blackjax, jax.numpy as jnp
    >>> def log_density(position):
    ...     v, x = position["v"], position["x"]
    ...     return -v**2 / 2 - jnp.exp(-v) * (x**2).sum() / 2 - x.size * v / 2
    >>> hmc = blackjax.hmc(log_density, step_size=0.3, inverse_mass_matrix=jnp.ones(3), num_integration_steps=5)
    >>> mahmc.check_sampler(mahmc.adapters.blackjax(hmc), "neals-funnel", dim=3, scale=1.0).verdict
    <Verdict.RIGHT: 'right'>
    """
    return BlackjaxSampler(algorithm, name or "blackjax")


class BlackjaxSampler:
    """See `blackjax`. The state is BlackJAX's own for each chain, beside the position by name."""

    def __init__(self, algorithm: Any, name: str) -> None:
        if not callable(getattr(algorithm, "init", None)) or not callable(getattr(algorithm, "step", None)):
            raise InvalidInput(
                f"{algorithm!r} is not a sampling algorithm of BlackJAX: pass what blackjax.hmc(log_density, …) "
                "returns, which has init and step."
            )
        jax = jax_in_float64()
        self.name = name
        self._init = jax.jit(jax.vmap(lambda position, key: strong(algorithm.init(position, key))))
        self._step = jax.jit(jax.vmap(lambda key, chain: strong(algorithm.step(key, chain)[0])))

    def init(self, states: States, rng: np.random.Generator) -> dict[str, Any]:
        """BlackJAX's state of each chain, from positions by name."""
        refuse_whole_numbers(states, self.name, "Use mahmc.adapters.numpyro(HMCGibbs(…)), or a step of your own.")
        position = {name: np.asarray(x, float) for name, x in states.items()}
        chain = called(f"{self.name}.init", self._init, position, keys(rng, length(states)))
        if not hasattr(chain, "position"):
            raise InvalidInput(f"{self.name}: a state without position ({type(chain).__name__}) cannot be checked.")
        return self._by_name(chain)

    def step(self, state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """The next state of each chain."""
        n = length({name: x for name, x in state.items() if name != "chain"})
        return self._by_name(self._step(keys(rng, n), state["chain"]))

    @staticmethod
    def _by_name(chain: Any) -> dict[str, Any]:
        return {**{name: np.asarray(x) for name, x in chain.position.items()}, "chain": chain}
