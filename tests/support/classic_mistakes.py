"""Classic mistakes of samplers, each in plain NumPy beside its right version.

A sampler and its mistake differ in one line, which the flag of the sampler switches: `Mahmc(problem)` is right,
`Mahmc(problem, with_delta_E=False)` has the mistake. All move a batch of chains at once: q has shape (chains, dim) and
`other` has shape (chains, variables). Nothing is taken from the engine: energies and gradients are written out again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mahmc.checks.matrix import case_of
from mahmc.targets import Target

States = Mapping[str, np.ndarray]
Rng = np.random.Generator

# -------------------------------------------------------------------------------------------------------- problems


@dataclass(frozen=True, eq=False)
class Problem:
    """A target of the battery in NumPy: U(q, other), its gradient in q, and what suits a sampler there."""

    name: str  # as `mahmc.check_sampler` knows it
    energy: Callable[[np.ndarray, np.ndarray], np.ndarray]
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray]
    epsilon: float  # of HMC
    mala_epsilon: float  # of MALA: large enough that its test matters
    segments: int = 5  # of one leapfrog each, in a trajectory with an update between two of them
    values: tuple[int, ...] = ()  # of each discrete variable; none if there are no such variables
    positive: bool = False  # whether `other` is one positive number
    scale: Callable[[np.ndarray], Any] = lambda other: 1.0  # the step size is epsilon times this
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def target(self) -> Target:
        return case_of(self.name, self.settings)[1]

    @property
    def has_other(self) -> bool:
        return bool(self.values) or self.positive

    def packed(self, states: States) -> tuple[np.ndarray, np.ndarray]:
        """q (chains, dim) and other (chains, variables) of states by name."""
        n = len(next(iter(states.values())))
        rows: dict[str, list[np.ndarray]] = {"q": [np.empty((n, 0))], "other": [np.empty((n, 0))]}
        for quantity in self.target.density.quantities:
            rows[quantity.source].append(np.asarray(states[quantity.name], float).reshape(n, -1))
        return np.concatenate(rows["q"], axis=1), np.concatenate(rows["other"], axis=1)

    def unpacked(self, q: np.ndarray, other: np.ndarray) -> dict[str, np.ndarray]:
        """The reverse."""
        states = {}
        for quantity in self.target.density.quantities:
            first, size = quantity.first, quantity.size
            part = (q if quantity.source == "q" else other)[:, first : first + size]
            part = part.astype(np.int8) if quantity.discrete else part
            states[quantity.name] = part if quantity.vector else part[:, 0]
        return states


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def mdc(n_w: int = 20, sd: float = 0.04) -> Problem:
    """u ~ N(0, 1), v | u ~ N(u, sd²), and w_i = 1 with probability 1/(1 + e^u)."""

    def energy(q: np.ndarray, w: np.ndarray) -> np.ndarray:
        u, v = q.T
        return u**2 / 2 + (v - u) ** 2 / (2 * sd**2) + n_w * _softplus(u) - (n_w - w.sum(axis=1)) * u

    def gradient(q: np.ndarray, w: np.ndarray) -> np.ndarray:
        u, v = q.T
        pull = (v - u) / sd**2
        return np.column_stack([u - pull + n_w * _sigmoid(u) - (n_w - w.sum(axis=1)), pull])

    return Problem("mdc", energy, gradient, 0.035, 0.05, values=(0, 1))


def mixture(name: str, weights: Any, means: Any, sds: Any, **suits: Any) -> Problem:
    """component ~ Categorical(weights), q | component ~ N(mean, sd²)."""
    w, m, s = (np.asarray(x, float) for x in (weights, means, sds))

    def energy(q: np.ndarray, other: np.ndarray) -> np.ndarray:
        k = other[:, 0].astype(int)
        return (q[:, 0] - m[k]) ** 2 / (2 * s[k] ** 2) + np.log(s[k] / w[k])

    def gradient(q: np.ndarray, other: np.ndarray) -> np.ndarray:
        k = other.astype(int)
        return (q - m[k]) / s[k] ** 2

    return Problem(name, energy, gradient, values=tuple(range(w.size)), **suits)


def blr_prior(d: int = 31, shape: float = 1.0, rate: float = 0.01) -> Problem:
    """tau ~ Gamma(shape, rate), beta | tau ~ N(0, I/tau). Leapfrogs are in units of beta's width."""

    def energy(beta: np.ndarray, tau: np.ndarray) -> np.ndarray:
        t = tau[:, 0]
        return t * ((beta**2).sum(axis=1) / 2 + rate) - (d / 2 + shape - 1) * np.log(t)

    return Problem(
        "blr-prior", energy, lambda beta, tau: tau * beta, 0.4, 0.7, positive=True, scale=lambda tau: tau**-0.5
    )


def ising(coupling: float = 0.4, field: float = 0.1, mu: float = 1.0, sd: float = 0.7) -> Problem:
    """Spins on a ring, P(s) ∝ exp(coupling Σ s_i s_{i+1} + field Σ s_i), and x_i | s_i ~ N(mu s_i, sd²)."""

    def energy(x: np.ndarray, s: np.ndarray) -> np.ndarray:
        ring = -coupling * s * np.roll(s, 1, axis=1) - field * s
        return (ring + (x - mu * s) ** 2 / (2 * sd**2)).sum(axis=1)

    return Problem("ising", energy, lambda x, s: (x - mu * s) / sd**2, 0.5, 0.7, values=(-1, 1))


def spike_slab() -> Problem:
    """include_j ~ Bernoulli(0.3), beta_j ~ N(0, 1), and a linear regression on w = include ∘ beta."""
    data = case_of("spike-slab", {})[1].density.data
    A, b, log_odds = data.A, data.b, np.log(data.inclusion / (1 - data.inclusion))

    def energy(beta: np.ndarray, include: np.ndarray) -> np.ndarray:
        w = include * beta
        fit = w * (w @ A / 2 - b)
        return (fit + beta**2 / (2 * data.slab**2) - include * log_odds).sum(axis=1)

    def gradient(beta: np.ndarray, include: np.ndarray) -> np.ndarray:
        return include * ((include * beta) @ A - b) + beta / data.slab**2

    return Problem("spike-slab", energy, gradient, 0.1, 0.12, values=(0, 1))


def funnel(dim: int = 3, scale: float = 1.0) -> Problem:
    """v ~ N(0, scale²), x_i | v ~ N(0, e^v). There is no `other`."""

    def energy(q: np.ndarray, other: np.ndarray) -> np.ndarray:
        v, squares = q[:, 0], (q[:, 1:] ** 2).sum(axis=1)
        return v**2 / (2 * scale**2) + np.exp(-v) * squares / 2 + (dim - 1) * v / 2

    def gradient(q: np.ndarray, other: np.ndarray) -> np.ndarray:
        v, x = q[:, :1], q[:, 1:]
        of_v = v / scale**2 - np.exp(-v) * (x**2).sum(axis=1, keepdims=True) / 2 + (dim - 1) / 2
        return np.concatenate([of_v, np.exp(-v) * x], axis=1)

    return Problem("neals-funnel", energy, gradient, 0.4, 0.8, settings={"dim": dim, "scale": scale})


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "mdc": mdc,
    "gmm": lambda: mixture(
        "gmm", (0.15, 0.3, 0.3, 0.25), (-2, 0, 2, 4), (0.1**0.5,) * 4, epsilon=0.3, mala_epsilon=0.45, segments=15
    ),
    "gmm-overlapping": lambda: mixture(
        "gmm-overlapping", (0.3, 0.4, 0.3), (-1, 0, 1.5), (0.4, 1.0, 0.5), epsilon=0.7, mala_epsilon=0.75
    ),
    "blr-prior": blr_prior,
    "ising": ising,
    "spike-slab": spike_slab,
    "neals-funnel": funnel,
}  # fmt: skip

# ---------------------------------------------------------------------------------------------------- shared moves


def kinetic(p: np.ndarray) -> np.ndarray:
    return (p**2).sum(axis=1) / 2


def leapfrogs(
    problem: Problem, q: np.ndarray, p: np.ndarray, other: np.ndarray, epsilon: Any, L: int
) -> tuple[Any, ...]:
    """L leapfrogs of q and p; `epsilon` is one number or one for each chain, (chains, 1)."""
    step = epsilon * problem.scale(other)
    with np.errstate(over="ignore", invalid="ignore"):  # where the leapfrog diverges, the final test refuses
        p = p - step / 2 * problem.gradient(q, other)
        for i in range(L):
            q = q + step * p
            p = p - (step if i < L - 1 else step / 2) * problem.gradient(q, other)
    return q, p


def update(problem: Problem, q: np.ndarray, other: np.ndarray, rng: Rng, jacobian: bool = True) -> tuple[Any, ...]:
    """A Metropolis update of `other`: its new value, and U after − U before.

    A discrete variable, chosen at random, gets another value; a positive number makes a random walk on its log scale.
    """
    n = len(q)
    log_ratio = 0.0  # log Q(old | new) − log Q(new | old)
    if problem.values:
        proposed = with_value(other, rng.integers(other.shape[1], size=n), _another(problem, rng, n), problem)
    else:
        proposed = other * np.exp(0.6 * rng.standard_normal(other.shape))
        if jacobian:
            log_ratio = np.log(proposed / other)[:, 0]
    delta_U = problem.energy(q, proposed) - problem.energy(q, other)
    accepted = np.log(rng.random(n)) < log_ratio - delta_U
    return np.where(accepted[:, None], proposed, other), np.where(accepted, delta_U, 0.0)


def _another(problem: Problem, rng: Rng, n: int) -> np.ndarray:
    """How far to go on among the values: to any other, with the same probability."""
    return rng.integers(1, len(problem.values), size=n)


def with_value(other: np.ndarray, site: np.ndarray, further: np.ndarray, problem: Problem) -> np.ndarray:
    """`other` with variable `site` of each chain moved on by `further` places in the list of values."""
    values = np.array(problem.values, float)
    chains = np.arange(len(other))
    now = np.searchsorted(values, other[chains, site])
    changed = other.copy()
    changed[chains, site] = values[(now + further) % values.size]
    return changed


def choose(accepted: np.ndarray, new: tuple[Any, ...], old: tuple[Any, ...]) -> tuple[Any, ...]:
    """The new state of each chain if accepted, else its old one."""
    return tuple(np.where(accepted[:, None], a, b) for a, b in zip(new, old, strict=True))


# -------------------------------------------------------------------------------------------------------- samplers


@dataclass(frozen=True)
class Mahmc:
    """Updates of `other` inside a trajectory: a leapfrog in each segment, and an update between two segments.

    Without `with_delta_E` the final test forgets that updates changed the energy as well, each by a test of its own.
    Without `palindrome` an update follows the last segment too, so that the sequence read backwards is another one.
    """

    problem: Problem
    with_delta_E: bool = True
    palindrome: bool = True

    def step(self, states: States, rng: Rng) -> dict[str, np.ndarray]:
        problem = self.problem
        old = q, other = problem.packed(states)
        p = rng.standard_normal(q.shape)
        E0, delta_E = problem.energy(q, other) + kinetic(p), np.zeros(len(q))
        for segment in range(problem.segments):
            q, p = leapfrogs(problem, q, p, other, problem.epsilon, 1)
            if segment < problem.segments - 1 or not self.palindrome:  # the mistake (b): `or True`
                other, delta_U = update(problem, q, other, rng)
                delta_E += delta_U if self.with_delta_E else 0.0  # the mistake (a): no ΔE
        E = problem.energy(q, other) + kinetic(p)
        accepted = np.log(rng.random(len(q))) < E0 + delta_E - E
        return problem.unpacked(*choose(accepted, (q, other), old))


@dataclass(frozen=True)
class HMC:
    """HMC of q, then a Metropolis update of `other`.

    Without `jacobian` the random walk on the log scale forgets that its proposal is not symmetric on the scale of
    `other` itself. Of `frozen` coordinates the momentum stays zero: they keep the value that they started with.
    """

    problem: Problem
    jacobian: bool = True
    frozen: tuple[int, ...] = ()
    L: int = 5

    def step(self, states: States, rng: Rng) -> dict[str, np.ndarray]:
        problem = self.problem
        q, other = problem.packed(states)
        q, _ = self.moved(q, other, problem.epsilon, rng)
        if problem.has_other:
            other, _ = update(problem, q, other, rng, self.jacobian)  # the mistake (c): no Jacobian
        return problem.unpacked(q, other)

    def moved(self, q: np.ndarray, other: np.ndarray, epsilon: Any, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        """q after a trajectory, and the probability with which it was accepted."""
        problem, p = self.problem, rng.standard_normal(q.shape)
        if self.frozen:  # the mistake (g): a coordinate that is left out
            mask = np.ones(q.shape[1])
            mask[list(self.frozen)] = 0.0
            p, problem = p * mask, replace(problem, gradient=lambda q, other: mask * self.problem.gradient(q, other))
        end, momentum = leapfrogs(problem, q, p, other, epsilon, self.L)
        with np.errstate(over="ignore", invalid="ignore"):
            log_ratio = problem.energy(q, other) + kinetic(p) - problem.energy(end, other) - kinetic(momentum)
        ratio = np.exp(np.minimum(np.nan_to_num(log_ratio, nan=-np.inf), 0.0))
        return choose(rng.random(len(q)) < ratio, (end,), (q,))[0], ratio


@dataclass(frozen=True)
class Mala:
    """MALA: a step along the gradient with noise, and a Metropolis test with the ratio of both proposals.

    Without `proposal_ratio` the test is that of a symmetric proposal, which this one is not.
    """

    problem: Problem
    proposal_ratio: bool = True

    def step(self, states: States, rng: Rng) -> dict[str, np.ndarray]:
        problem = self.problem
        q, other = problem.packed(states)
        size = problem.mala_epsilon * problem.scale(other)
        noise = rng.standard_normal(q.shape)
        new = q - size**2 / 2 * problem.gradient(q, other) + size * noise
        back = (q - new + size**2 / 2 * problem.gradient(new, other)) / size
        log_ratio = problem.energy(q, other) - problem.energy(new, other)
        if self.proposal_ratio:  # the mistake (d): left out
            log_ratio += kinetic(noise) - kinetic(back)
        q = choose(np.log(rng.random(len(q))) < log_ratio, (new,), (q,))[0]
        if problem.has_other:
            other, _ = update(problem, q, other, rng)
        return problem.unpacked(q, other)


@dataclass(frozen=True)
class AdaptiveHMC:
    """HMC that looks for its step size: larger after an acceptance, smaller after a rejection.

    The right version `stops`: its step size is found by chains that are thrown away, from starts of their own. The
    wrong one goes on for ever, in each chain by itself, so that the step size knows where the chain is.
    """

    problem: Problem
    stops: bool = True
    rate: float = 1.0
    wanted: float = 0.7  # acceptance
    warmup: int = 50

    def init(self, states: States, rng: Rng) -> dict[str, np.ndarray]:
        n = len(next(iter(states.values())))
        epsilon = np.full((n, 1), self.problem.epsilon)
        if self.stops:
            q, other = self._own_starts(rng)
            sizes = np.full((len(q), 1), self.problem.epsilon)
            for _ in range(self.warmup):
                q, sizes = self._adapted(q, other, sizes, rng)
            epsilon = np.full((n, 1), np.median(sizes))
        return {**states, "epsilon": epsilon}

    def step(self, state: States, rng: Rng) -> dict[str, np.ndarray]:
        q, other = self.problem.packed({name: x for name, x in state.items() if name != "epsilon"})
        epsilon = state["epsilon"]
        if self.stops:
            q, _ = HMC(self.problem).moved(q, other, epsilon, rng)
        else:  # the mistake (e): the step size follows the state
            q, epsilon = self._adapted(q, other, epsilon, rng)
        if self.problem.has_other:
            other, _ = update(self.problem, q, other, rng)
        return {**self.problem.unpacked(q, other), "epsilon": epsilon}

    def _adapted(self, q: np.ndarray, other: np.ndarray, epsilon: np.ndarray, rng: Rng) -> tuple[Any, ...]:
        q, ratio = HMC(self.problem).moved(q, other, epsilon, rng)
        larger = epsilon * np.exp(self.rate * (ratio - self.wanted))[:, None]
        return q, np.clip(larger, self.problem.epsilon / 20, self.problem.epsilon * 4)

    def _own_starts(self, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        starts = [self.problem.target.density.start(rng) for _ in range(32)]
        return self.problem.packed({name: np.array([start[name] for start in starts]) for name in starts[0]})


@dataclass(frozen=True)
class MixedHMC:
    """M-HMC with Laplace momentum: each discrete variable has a kinetic energy k, from which it pays for its changes.

    A visit proposes another value by its conditional probability (Liu 1996), which costs −log of the ratio of
    Metropolis and Hastings. Before the `erratum` the final test took the sum of these costs for the change of U.
    """

    problem: Problem
    erratum: bool = True

    def step(self, states: States, rng: Rng) -> dict[str, np.ndarray]:
        problem = self.problem
        old = q, other = problem.packed(states)
        n, variables = other.shape
        p = rng.standard_normal(q.shape)
        k = rng.exponential(size=(n, variables))
        order = np.argsort(rng.random((n, variables)), axis=1)
        E0, delta = problem.energy(q, other) + kinetic(p), np.zeros(n)
        chains = np.arange(n)
        q, p = leapfrogs(problem, q, p, other, problem.epsilon, 1)
        for visit in range(problem.segments - 1):
            site = order[:, visit % variables]
            other, delta_U, cost = self._visit(q, other, site, k[chains, site], rng)
            k[chains, site] -= cost
            delta += delta_U if self.erratum else cost  # the mistake (f): what k lost, for the change of U
            q, p = leapfrogs(problem, q, p, other, problem.epsilon, 1)
        E = problem.energy(q, other) + kinetic(p)
        accepted = np.log(rng.random(n)) < E0 + delta - E
        return problem.unpacked(*choose(accepted, (q, other), old))

    def _visit(self, q: np.ndarray, other: np.ndarray, site: np.ndarray, k: np.ndarray, rng: Rng) -> tuple[Any, ...]:
        """`other` after a visit, U after − U before, and what k paid."""
        problem, n = self.problem, len(q)
        choices = [with_value(other, site, np.full(n, further), problem) for further in range(len(problem.values))]
        U = np.stack([problem.energy(q, choice) for choice in choices], axis=1)  # the first is where it is
        chains = np.arange(n)
        weights = np.exp(U[:, 1:].min(axis=1, keepdims=True) - U[:, 1:])  # of the others, the likeliest has one
        passed = np.cumsum(weights, axis=1)
        further = 1 + (rng.random((n, 1)) * passed[:, -1:] >= passed[:, :-1]).sum(axis=1)
        cost = _log_mass_without(U, further) - _log_mass_without(U, np.zeros(n, int))
        accepted = cost <= k
        new = np.stack(choices, axis=1)[chains, further]
        delta_U = U[chains, further] - U[:, 0]
        return np.where(accepted[:, None], new, other), np.where(accepted, delta_U, 0.0), np.where(accepted, cost, 0.0)


def _log_mass_without(U: np.ndarray, k: np.ndarray) -> np.ndarray:
    """log Σ_{j ≠ k} e^−U_j of each chain, without differences of nearly equal numbers."""
    rest = -U.copy()
    rest[np.arange(len(U)), k] = -np.inf
    highest = rest.max(axis=1)
    return highest + np.log(np.exp(rest - highest[:, None]).sum(axis=1))


# -------------------------------------------------------------------------------------------------------- mistakes


class Mistake(NamedTuple):
    """A mistake, its right version, where it can be made, and the target and budget at which it is called wrong."""

    name: str
    wrong: Callable[[Problem], Any]
    right: Callable[[Problem], Any]
    applies: Callable[[Problem], bool]
    target: str
    budget: float
    enough: float = 1.0  # the budget at which the right version is called right


def _with_other(problem: Problem) -> bool:
    return problem.has_other


def _anywhere(problem: Problem) -> bool:
    return True


def _discrete(problem: Problem) -> bool:
    return bool(problem.values)


MIXTURE, FUNNEL = "gmm-overlapping", "neals-funnel"
MISTAKES = {
    mistake.name: mistake
    for mistake in (
        Mistake("no delta_E", lambda p: Mahmc(p, with_delta_E=False), Mahmc, _with_other, MIXTURE, 0.1),
        Mistake("asymmetric sequence", lambda p: Mahmc(p, palindrome=False), Mahmc, _with_other, MIXTURE, 0.2),
        Mistake("no Jacobian", lambda p: HMC(p, jacobian=False), HMC, lambda p: p.positive, "blr-prior", 0.05, 2.0),
        Mistake("MALA without proposal ratio", lambda p: Mala(p, False), Mala, _anywhere, MIXTURE, 0.1),
        Mistake("adaptation never stops", lambda p: AdaptiveHMC(p, False), AdaptiveHMC, _anywhere, FUNNEL, 0.1),
        Mistake("M-HMC before its erratum", lambda p: MixedHMC(p, False), MixedHMC, _discrete, MIXTURE, 0.2),
        Mistake("one coordinate never moved", lambda p: HMC(p, frozen=(-1,)), HMC, _anywhere, FUNNEL, 0.05),
    )
}
