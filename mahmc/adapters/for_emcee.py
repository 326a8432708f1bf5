"""emcee's ensembles: walkers whose moves use the positions of other walkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mahmc.adapters.common import States, length, library, refuse_whole_numbers
from mahmc.checks.steps import called
from mahmc.parameters import InvalidInput


def emcee(
    log_prob: Callable[[np.ndarray], Any],
    walkers: int = 32,
    *,
    moves: Any = None,
    vectorize: bool = False,
    name: str = "",
) -> EmceeSampler:
    """An ensemble sampler of emcee, to be checked.

    Parameters
    ----------
    log_prob
        The log density as emcee takes it: of one vector (ndim,), or with `vectorize` of several vectors, (n, ndim). The
        coordinates are the target's quantities, one after the other.
    walkers
        The number of walkers in an ensemble: even, and at least twice the number of coordinates.
    moves
        As in `emcee.EnsembleSampler`; by default the stretch move.
    vectorize
        Whether `log_prob` takes several vectors at once, which is faster.
    name
        The name of the sampler in findings.

    Returns
    -------
    EmceeSampler
        An object with `init` and `step` for `mahmc.check_sampler`. Its `group` is the number of walkers: neighbouring
        chains are one ensemble, and one unit when errors are computed.

    Examples
    --------
    >>> def log_prob(q):
    ...     v, x = q[:, 0], q[:, 1:]
    ...     return -(v**2) / 2 - np.exp(-v) * (x**2).sum(axis=1) / 2 - v
    >>> sampler = mahmc.adapters.emcee(log_prob, walkers=16, vectorize=True)
    >>> mahmc.check_sampler(sampler, "neals-funnel", dim=3, scale=1.0, budget=0.2)
    """
    return EmceeSampler(log_prob, walkers, moves, vectorize, name or "emcee")


class EmceeSampler:
    """See `emcee`. The state keeps log densities beside the quantities by name."""

    def __init__(self, log_prob: Any, walkers: int, moves: Any, vectorize: bool, name: str) -> None:
        if not callable(log_prob):
            raise InvalidInput(f"log_prob = {str(log_prob)[:40]!r} is not a function.")
        if not isinstance(walkers, int) or walkers < 4 or walkers % 2:
            raise InvalidInput(f"walkers = {walkers!r} is not allowed: an even number, 4 or more.")
        self.name, self.group = name, walkers
        self._library = library("emcee", "emcee")
        self._log_prob, self._moves, self._vectorize = log_prob, moves, vectorize

    def init(self, states: States, rng: np.random.Generator) -> dict[str, Any]:
        """Log densities of all walkers."""
        refuse_whole_numbers(states, self.name, "Use an adapter of another library, or a step of your own.")
        coords = _columns(states)
        n, ndim = coords.shape
        if self.group < 2 * ndim:
            raise InvalidInput(f"walkers = {self.group} is not allowed: {ndim} coordinates need {2 * ndim} or more.")
        if n % self.group:
            raise InvalidInput(f"{n} chains are not a whole number of ensembles with {self.group} walkers.")
        log_prob, blobs = called(f"{self.name}: log_prob", self._ensemble(ndim).compute_log_prob, coords)
        if blobs is not None:
            raise InvalidInput(
                f"{self.name}: log_prob returns blobs beside the log density: return only the log density."
            )
        return {**states, "log_prob": np.asarray(log_prob, float)}

    def step(self, state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """One move of every ensemble."""
        states = {name: x for name, x in state.items() if name != "log_prob"}
        coords, log_prob = _columns(states), state["log_prob"].copy()
        sampler = self._ensemble(coords.shape[1])
        random = np.random.RandomState(rng.integers(0, 2**32, size=8, dtype=np.uint32)).get_state()
        for first in range(0, len(coords), self.group):
            rows = slice(first, first + self.group)
            start = self._library.State(coords[rows], log_prob=log_prob[rows], random_state=random)
            moved = next(sampler.sample(start, iterations=1, store=False, skip_initial_state_check=True))
            coords[rows], log_prob[rows], random = moved.coords, moved.log_prob, moved.random_state
        return {**_by_name(coords, states), "log_prob": log_prob}

    def _ensemble(self, ndim: int) -> Any:
        return self._library.EnsembleSampler(
            self.group, ndim, self._log_prob, moves=self._moves, vectorize=self._vectorize
        )  # fmt: skip


def _columns(states: States) -> np.ndarray:
    """All quantities side by side, (chains, ndim)."""
    return np.concatenate([np.asarray(x, float).reshape(length(states), -1) for x in states.values()], axis=1)


def _by_name(coords: np.ndarray, states: States) -> dict[str, np.ndarray]:
    """The quantities by name: the reverse of `_columns`."""
    found, first = {}, 0
    for name, x in states.items():
        size = x[0].size
        found[name] = coords[:, first : first + size].reshape(x.shape)
        first += size
    return found
