"""One iteration of one chain as arrays: what happened at every step, and the account of its energy."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mahmc.plain import as_json, plain
from mahmc.spec import RunSpec
from mahmc.targets import Quantity

KINDS = ("start", "leapfrog", "update", "visit", "test", "outer")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One iteration of one chain. Arrays have a row for each step, and cannot be changed.

    The kinds of step: "start", a momentum is drawn; "leapfrog"; "update", an update of qᴼ inside the trajectory;
    "visit", M-HMC visits one discrete variable; "test", the Metropolis test, after which a rejected chain is back at
    its start; "outer", the update of qᴼ after the trajectory. HMC, MAHMC and M-HMC have one start and one test. MALA,
    MALA-P and MALA-PN have a start, a leapfrog and a test for each of their L steps.

    The account: at each step E = U + K. ΔE is the sum of all changes of U by updates since the start. The test accepts
    with probability min(1, exp(log_odds)), where log_odds = E₀ + ΔE − E + log P(D⁻¹)/P(D), and E₀ is the energy at the
    start. The naive sampler, which is wrong on purpose, leaves ΔE out of the test: its `correction` is 0, not 1.

    What a step does not have is NaN in arrays of numbers, −1 in `site`, and "" in arrays of words.

    Parameters
    ----------
    spec
        The settings of the run.
    iteration, chain
        The number of the iteration, from 0, warm-up included; the number of the chain, from 0.
    quantities
        The quantities of the target, with their rows in q and in qᴼ.
    correction
        The factor of ΔE in the test: 1, or 0 for the naive sampler.
    kind
        The kind of each step.
    update
        The name of the update or the proposal that the step makes.
    site
        The number of the discrete variable that is visited.
    decision
        "accepted" or "rejected".
    q, p, other
        q, its momentum p, and qᴼ after the step: an array (steps, …) each.
    proposal
        The state that an update, a visit or a test proposed: q and then qᴼ. If an update other than a visit was
        rejected, its proposal is unknown (NaN), because updates of a target do not report it.
    epsilon
        The size of the leapfrog: ε, or a part of ε for M-HMC, times the step scale of the target.
    U, K
        Potential and kinetic energy after the step. At a test, they are the energies of the state that is tested.
    delta_E
        ΔE after the step.
    log_ratio
        log P(D⁻¹) − log P(D) for the sequence of steps that the chain follows.
    log_odds
        E₀ + ΔE − E + log_ratio after the step.
    probability, uniform
        The acceptance probability of a test, and the uniform number that the probability is compared with.
    v
        The persistent uniform of MALA-PN after the step.
    cost, k
        The cost of a visit, and the kinetic energy that the variable had before the visit.

    Examples
    --------
    >>> recording = mahmc.trajectory(mahmc.RunSpec.of("gmm", "mahmc", L=2, n_u=2))
    >>> recording.kind.tolist()
    ['start', 'leapfrog', 'leapfrog', 'update', 'leapfrog', 'leapfrog', 'test', 'outer']
    >>> recording["q"].shape
    (8,)
    """

    spec: RunSpec
    iteration: int
    chain: int
    quantities: tuple[Quantity, ...]
    correction: float
    kind: np.ndarray
    update: np.ndarray
    site: np.ndarray
    decision: np.ndarray
    q: np.ndarray
    p: np.ndarray
    other: np.ndarray
    proposal: np.ndarray
    epsilon: np.ndarray
    U: np.ndarray
    K: np.ndarray
    delta_E: np.ndarray
    log_ratio: np.ndarray
    log_odds: np.ndarray
    probability: np.ndarray
    uniform: np.ndarray
    v: np.ndarray
    cost: np.ndarray
    k: np.ndarray

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity of the target after each step: an array (steps,), or (steps, size) for a vector."""
        found = {q.name: q for q in self.quantities}[name]
        values = (self.q if found.source == "q" else self.other)[:, found.first : found.first + found.size]
        return values if found.vector else values[:, 0]

    @property
    def end(self) -> dict[str, np.ndarray]:
        """The state after the iteration, by quantity: the state from which the next iteration starts."""
        return {q.name: self[q.name][-1] for q in self.quantities}

    @property
    def accepted(self) -> bool:
        """Whether the last test accepted."""
        decided: str = self.decision[self.kind == "test"][-1]
        return decided == "accepted"

    def to_dict(self) -> dict[str, Any]:
        """The recording as plain values: lists, numbers and words.

        Returns
        -------
        dict
            All fields by name. NaN and infinity are None.

        Examples
        --------
        >>> mahmc.trajectory(mahmc.RunSpec.of("gmm", "hmc", L=2)).to_dict()["kind"]
        ['start', 'leapfrog', 'leapfrog', 'test', 'outer']
        """
        found: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "quantities":
                value = [quantity._asdict() for quantity in value]
            found[f.name] = value.to_dict() if f.name == "spec" else value.tolist() if _is_array(value) else value
        made: dict[str, Any] = plain(found)
        return made

    def to_json(self) -> str:
        """The recording as JSON.

        Returns
        -------
        str
            What `to_dict` returns, as text. NaN and infinity are null.

        Examples
        --------
        >>> import json
        >>> json.loads(mahmc.trajectory(mahmc.RunSpec.of("gmm", "hmc", L=2)).to_json())["chain"]
        0
        """
        return as_json(self.to_dict())

    def __repr__(self) -> str:
        said = "accepted" if self.accepted else "rejected"
        return (
            f"<Trajectory {self.spec.target} {self.spec.sampler}: iteration {self.iteration} of chain {self.chain}, "
            f"{len(self)} steps, {said}>"
        )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
