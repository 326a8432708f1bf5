"""Parameters from a target's prior, data simulated from each, and chains on the posterior given these data.

Where data are a few whole numbers, equal data sets occur again and again: their chains run side by side in one run.
Every other data set has a run of its own. The unit is always the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mahmc.checks.verdicts import Workbench
from mahmc.kernels import new_state
from mahmc.kernels.state import evaluate_all
from mahmc.lanes import LANES
from mahmc.run import Run
from mahmc.spec import RunSpec, built_target
from mahmc.streams import Seeds
from mahmc.targets import Target, elements

FEW_ELEMENTS = 8  # elements of a data field that are compared one by one
PROJECTIONS = 2  # random projections of a longer data field
EXAMPLE = (
    "    def prior(self, rng, n): return {'mu': rng.normal(0, 2, n)}\n"
    "    def simulate(self, parameters, rng): return {'y': rng.normal(parameters['mu'], 1, len(self.y))}"
)


def version(target: Target) -> Target | None:
    """The target that data are simulated for: the small version or the target itself; None if there is no model."""
    if target.truth.model is None:
        return None
    small = target.truth.small() if target.truth.small is not None else None
    return small if small is not None and small.truth.model is not None else target


def what_to_add(target: Target) -> str:
    """What a target needs so that it can be checked, with an example."""
    return (
        f"{target.name} with these settings has no exact draws, no known distributions, and no prior to simulate data "
        "from, so nothing can be checked. If you can draw from the target, add exact(self, rng, n), which returns n "
        "independent draws by variable. For a Bayesian model add prior(self, rng, n), which returns n parameter sets "
        "by variable, and simulate(self, parameters, rng), which returns the random data fields for one parameter "
        f"set:\n{EXAMPLE}"
    )


@dataclass(frozen=True)
class Simulated:
    """Parameter sets, (n,) or (n, size) by quantity, and data simulated from each, (n, …) by field."""

    target: Target
    parameters: Mapping[str, np.ndarray]
    data: Mapping[str, np.ndarray]

    @classmethod
    def draw(cls, target: Target, n: int, rng: np.random.Generator) -> Simulated:
        """n parameter sets from the prior, and data from each."""
        assert target.truth.model is not None  # `version` made sure
        given = target.truth.model.prior(rng, n)
        kinds = {q.name: int if q.discrete else float for q in target.density.quantities}
        parameters = {name: np.asarray(given[name]).astype(kind) for name, kind in kinds.items()}
        data = {name: np.asarray(x) for name, x in target.truth.model.simulate(parameters, rng).items()}
        return cls(target, parameters, data)

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """Groups of rows with equal data sets."""
        n = len(next(iter(self.data.values())))
        table = np.column_stack([x.reshape(n, -1).astype(float) for x in self.data.values()])
        _, place = np.unique(table, axis=0, return_inverse=True)
        place = place.ravel()
        order = np.argsort(place, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(place[order])) + 1)

    def posteriors(self) -> Iterator[tuple[np.ndarray, Target]]:
        """Rows with equal data sets, and the target given these data."""
        assert self.target.truth.model is not None
        for rows in self.groups:
            yield rows, self.target.truth.model.with_data({name: x[rows[0]] for name, x in self.data.items()})

    def energies(self) -> np.ndarray:
        """U of each parameter set, given its data."""
        q, other = self.target.density.pack(self.parameters)
        found = np.empty(len(q))
        state = new_state(self.target, q[:1].repeat(LANES, axis=0), other[:1].repeat(LANES, axis=0), Seeds(0), 0)
        for rows, posterior in self.posteriors():
            padded = rows[np.minimum(np.arange(-(-len(rows) // LANES) * LANES), len(rows) - 1)]
            U = np.empty(len(padded))
            evaluate_all(
                posterior.density.data, state, q[padded], other[padded], U
            )  # one state for all: making a new state takes longer
            found[rows] = U[: len(rows)]
        return found

    def chains(self, spec: RunSpec, seed: tuple[int, ...], bench: Workbench) -> Iterator[tuple[np.ndarray, Run]]:
        """Rows with equal data sets, and `spec.chains` chains for each row on their posterior, from its parameters."""
        numbers = np.random.SeedSequence(seed).generate_state(len(self.groups))
        for number, (rows, posterior) in zip(numbers, self.posteriors(), strict=True):
            starts = np.repeat(rows, spec.chains)
            one = replace(spec, chains=len(starts), seed=int(number), data=posterior.fingerprint)
            init = {name: x[starts] for name, x in self.parameters.items()}
            yield rows, bench.advance(Run(one, posterior, init=init))

    def functions(self, parameters: Mapping[str, np.ndarray], energy: np.ndarray) -> dict[str, np.ndarray]:
        """All that is compared: parameters, data, the joint energy and derived quantities."""
        found = {**parameters, "energy": energy}
        found |= {name: function(found) for name, function in self.target.presentation.derived.items()}
        return found | dict(_summaries(self.data))


def _summaries(data: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """A short data field as it is; for a longer field its sum, its sum of squares, and random projections."""
    for name, x in data.items():
        flat = x.reshape(len(x), -1)
        whole = np.issubdtype(x.dtype, np.integer) or np.array_equal(flat, np.round(flat))
        if flat.shape[1] <= FEW_ELEMENTS:
            yield f"data {name}", (flat if x.ndim > 1 else flat[:, 0]).astype(int if whole else float)
            continue
        yield f"sum of data {name}", flat.sum(axis=1).astype(float)
        yield f"sum of squares of data {name}", np.square(flat, dtype=float).sum(axis=1)
        directions = np.random.default_rng((flat.shape[1], 14)).standard_normal((flat.shape[1], PROJECTIONS))
        for k, projected in enumerate((flat @ directions).T):
            yield f"projection {k + 1} of data {name}", projected


def tested(
    target: str | Target, sampler: str, chosen: Mapping[str, Any], size: Mapping[str, int]
) -> tuple[Target, Target | None, RunSpec | None]:
    """The target, the version that data are simulated for, and the spec of chains on such data."""
    built, rest = built_target(target, chosen)
    values = RunSpec.of(built, sampler, **rest).chosen  # refuses what is wrong
    simulated = version(built)
    if simulated is None:
        return built, None, None
    if simulated is not built:
        values |= {name: value for name, value in built.truth.small_values.items() if name in values}
    keep = (*(quantity.name for quantity in simulated.density.quantities), "energy")
    return built, simulated, RunSpec.of(simulated, sampler, **values, **size, warmup=0, keep=keep)


def in_words(target: Target, simulated: Target, spec: RunSpec) -> str:
    """The version that data were simulated for, in words."""
    if simulated is target:
        return f"{target.name}"
    return f"a small version of {target.name} ({spec.summary})"


def unmoved(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], target: Target) -> list[str]:
    """The scalars that changed in no chain."""
    found = []
    for quantity in target.density.quantities:
        changed = (before[quantity.name] != after[quantity.name]).reshape(-1, quantity.size).any(axis=0)
        found += [name for name, moved in zip(elements(quantity), changed, strict=True) if not moved]
    return found
