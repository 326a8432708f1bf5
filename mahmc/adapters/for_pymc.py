"""PyMC's step methods: Metropolis, BinaryGibbsMetropolis, CategoricalGibbsMetropolis, HamiltonianMC, NUTS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mahmc.adapters.common import States, length, library, refuse_unknown
from mahmc.checks.steps import called
from mahmc.parameters import InvalidInput


def pymc(step_method: Callable[[], Any], model: Any, name: str = "") -> PymcSampler:
    """A step method of PyMC, or several in turn, to be checked.

    Parameters
    ----------
    step_method
        A function without arguments that makes the step method: `lambda: pm.Metropolis(scaling=0.5)`. It is called
        once, inside the model. For several step methods in turn it returns a list, or `pm.CompoundStep([…])`.
    model
        The model. Its free variables have the names of the target's quantities.
    name
        The name of the sampler in findings; by default the name of the step method.

    Returns
    -------
    PymcSampler
        An object with `init` and `step` for `mahmc.check_sampler`. Tuning is stopped. A step method moves one chain
        at a time, in Python: some hundred microseconds each. So give a small budget, or use `checks.invariance`.

    Examples
    --------
    >>> with pm.Model() as model:
    ...     component = pm.Categorical("component", p=[0.3, 0.4, 0.3])
    ...     pm.Normal("q", pt.as_tensor([-1, 0, 1.5])[component], pt.as_tensor([0.4, 1, 0.5])[component])
    >>> steps = lambda: [pm.Metropolis([model["q"]]), pm.CategoricalGibbsMetropolis([model["component"]])]
    >>> mahmc.check_sampler(mahmc.adapters.pymc(steps, model), "gmm-overlapping", budget=0.05)
    """
    return PymcSampler(step_method, model, name)


class PymcSampler:
    """See `pymc`. The state holds the values that PyMC moves (of a positive variable its log) by their own names."""

    def __init__(self, step_method: Callable[[], Any], model: Any, name: str) -> None:
        pm = library("pymc", "pymc")
        if not isinstance(model, pm.Model):
            raise InvalidInput(f"model = {str(model)[:40]!r} is not a model of PyMC: pass pm.Model.")
        if not callable(step_method):
            raise InvalidInput("step_method must be a function that makes the step method: lambda: pm.Metropolis().")
        with model:
            made = called("step_method()", step_method)
        made = pm.CompoundStep(list(made)) if isinstance(made, list | tuple) else made
        if not callable(getattr(made, "step", None)):
            raise InvalidInput(f"step_method() returned {type(made).__name__}, which is not a step method of PyMC.")
        _refuse_populations(made, pm)
        made.stop_tuning()
        self.name = name or str(getattr(made, "name", type(made).__name__))
        self._method, self._untouched = made, made.sampling_state
        self._free = {rv.name: model.rvs_to_values[rv].name for rv in model.free_RVs}
        self._types = {value.name: value.dtype for value in model.value_vars}
        self._to_values = _to_values(model, pm)
        self._to_names = model.compile_fn(
            model.replace_rvs_by_values(model.free_RVs), inputs=model.value_vars, on_unused_input="ignore"
        )
        self._transformed = any(model.rvs_to_transforms[rv] is not None for rv in model.free_RVs)

    def init(self, states: States, rng: np.random.Generator) -> dict[str, Any]:
        """The points that PyMC moves, from states by name."""
        refuse_unknown(self._free, states, self.name)
        rows = ({name: x[i] for name, x in states.items()} for i in range(length(states)))
        return {**states, "points": [self._to_values(row) for row in rows]}

    def step(self, state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """The next state of each chain, one chain after the other."""
        self._method.sampling_state = (
            self._untouched
        )  # a step method keeps the order of updates and counts: discard both
        self._method.set_rng(np.random.default_rng(rng.integers(0, 2**63, size=4)))
        points = [self._method.step(point)[0] for point in state["points"]]
        return {**self._by_name(points), "points": points}

    def _by_name(self, points: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        if not self._transformed:
            return {name: np.stack([point[value] for point in points]) for name, value in self._free.items()}
        rows = [self._to_names(point) for point in points]
        return {name: np.stack([row[k] for row in rows]) for k, name in enumerate(self._free)}


def _to_values(model: Any, pm: Any) -> Callable[[States], dict[str, np.ndarray]]:
    """A function from one state by name to the values that PyMC moves."""
    pytensor = library("pytensor", "pymc")
    inputs = {rv.name: rv.type(f"{rv.name} of the target") for rv in model.free_RVs}
    given = {rv: inputs[rv.name] for rv in model.free_RVs}
    outputs = []
    for rv in model.free_RVs:
        transform = model.rvs_to_transforms[rv]
        outputs.append(inputs[rv.name] if transform is None else transform.forward(rv, *rv.owner.inputs))
    function = pytensor.function(
        list(inputs.values()),
        pytensor.graph.replace.graph_replace(outputs, given, strict=False),
        on_unused_input="ignore",
    )
    values = [(model.rvs_to_values[rv].name, model.rvs_to_values[rv].dtype) for rv in model.free_RVs]
    types = {rv.name: rv.dtype for rv in model.free_RVs}

    def to_values(state: States) -> dict[str, np.ndarray]:
        found = function(*(np.asarray(state[name], types[name]) for name in inputs))
        return {name: np.asarray(x, dtype) for (name, dtype), x in zip(values, found, strict=True)}

    return to_values


def _refuse_populations(made: Any, pm: Any) -> None:
    """InvalidInput for step methods that learn from other chains, or from their own past."""
    population = library("pymc.step_methods.arraystep", "pymc").PopulationArrayStepShared
    for method in getattr(made, "methods", [made]):
        if isinstance(method, population | pm.DEMetropolisZ):
            raise InvalidInput(
                f"{type(method).__name__} learns from other chains or from its own past, which this adapter does not "
                "keep: write an object with init and step whose state contains the past (see docs/any-sampler.md)."
            )
