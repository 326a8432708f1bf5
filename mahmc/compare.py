"""Samplers at equal cost: effective sample size for the same number of leapfrogs, with intervals.

    >>> found = mahmc.compare("mdc")
    >>> found.figure("mahmc"), found.ratio("mahmc", "hmc")

Every sampler gets the same leapfrogs, to the last one, in several replicates that share nothing but the settings;
chains start from exact draws where the target has them, and after a warm-up of equal leapfrogs otherwise and as well. A
figure is the mean over replicates of ESS / cost. Intervals are by the bootstrap over replicates: these are drawn with
replacement, the same of every sampler, so that a ratio is resampled in pairs, and the percentiles are those for which
a mean of so few would have the width of Student's t (the expanded percentile interval of Hesterberg, 2015). Fewer than
six replicates are too few to resample: there Student's t itself is used, of a ratio with its linearised residuals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mahmc import diagnostics, targets
from mahmc.parameters import InvalidInput, choose
from mahmc.run import Run
from mahmc.samplers import PAPER_SAMPLERS, SAMPLERS
from mahmc.spec import RunSpec, checked_seed
from mahmc.targets import Target

CHAINS = 16
REPLICATES = 8
WARMUP_SHARE = 0.1  # of the budget, on top of it
FEWEST_DRAWS = 100  # of each chain, for an ESS worth showing
MOST_ROUNDING = 2.0  # how much larger a budget may become, so that it divides evenly
RESAMPLES = 4000
FEWEST_RESAMPLED = 6  # replicates; fewer have no tails to take percentiles of
LEVEL = 0.95

COSTS = {
    "leapfrogs": "leapfrogs, the paper's measure",
    "gradients": "gradients really evaluated",
    "updates": "gradients and updates of qᴼ",
    "seconds": "seconds of sampling on this machine",
}
WORST = "worst"


class Interval(NamedTuple):
    """An estimate and its 95 % interval; NaN where undefined."""

    value: float
    low: float
    high: float

    @property
    def defined(self) -> bool:
        return not math.isnan(self.value)

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]" if self.defined else "undefined"


UNDEFINED = Interval(math.nan, math.nan, math.nan)


class Step(NamedTuple):
    """One replicate of one sampler is done."""

    done: int
    total: int
    label: str
    seconds_left: float


@dataclass
class Entry:
    """One sampler at its settings, and what its replicates gave."""

    label: str
    spec: RunSpec
    ess: dict[str, list[float]] = field(default_factory=dict)  # by quantity, a value a replicate
    cost: dict[str, list[float]] = field(default_factory=dict)  # by cost model, likewise
    acceptance: list[float] = field(default_factory=list)
    means: list[dict[str, float]] = field(default_factory=list)
    run: Run | None = None  # the first replicate, to look at

    @property
    def replicates(self) -> int:
        return len(self.acceptance)

    def snapshot(self) -> Entry:
        """The entry as it stands now. A replicate that another thread is still adding is left out."""
        n = self.replicates
        ess, cost = ({k: v[:n] for k, v in list(table.items())} for table in (self.ess, self.cost))
        return replace(self, ess=ess, cost=cost, acceptance=self.acceptance[:n], means=self.means[:n])


class Comparison:
    """Samplers on one target. Iterating advances it by a replicate of a sampler at a time; `stop` keeps what is done.

    Replicates go round: the first of every sampler, then the second, so that a stop leaves samplers comparable.
    """

    def __init__(
        self,
        target: str | Target,
        samplers: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
        gradients: int | None = None,
        replicates: int = REPLICATES,
        seed: int | None = 0,
        chains: int = CHAINS,
    ) -> None:
        self.target = targets.build(target) if isinstance(target, str) else target
        if replicates < 2:
            raise InvalidInput(f"replicates = {replicates}: intervals need at least 2.")
        start = "exact" if self.target.exact is not None else "default"
        wanted = gradients or self.target.budget
        specs = {
            label: RunSpec.of(self.target, sampler, chains=chains, keep=_keep(self.target), start=start, **values)
            for label, sampler, values in _chosen(samplers)
        }
        self.replicates, self.seed = replicates, checked_seed(seed)
        self.budget, warmup = _budgets(specs, wanted, chains)
        self.entries: dict[str, Entry] = {}
        for label, spec in specs.items():
            per_draw = spec.leapfrogs_per_draw * chains
            sized = {"draws": round(self.budget / per_draw), "warmup": round(warmup / per_draw)}
            self.entries[label] = Entry(label, spec.on(self.target, **sized))
        self.seconds = 0.0
        self._done = 0
        self._run: Run | None = None
        self._stopped = False
        self._intervals: dict[tuple[Any, ...], Interval] = {}  # that were worked out, by what they are of

    # ------------------------------------------------------------------------------------------- advancing

    @property
    def total(self) -> int:
        return self.replicates * len(self.entries)

    @property
    def finished(self) -> bool:
        return self._done == self.total

    @property
    def share(self) -> float:
        """How much is done, the replicate under way included."""
        under_way = self._run.progress.share if self._run is not None else 0.0
        return min(1.0, (self._done + under_way) / self.total)

    def stop(self) -> None:
        """Stop now, from any thread; replicates that are done are kept."""
        self._stopped = True
        if self._run is not None:
            self._run.stop()

    def __iter__(self) -> Iterator[Step]:
        self._stopped = False  # here, not at the first step: a stop that comes in between must not be lost
        return self._steps()

    def _steps(self) -> Iterator[Step]:
        entries = list(self.entries.values())
        while not self.finished and not self._stopped:
            replicate, entry = self._done // len(entries), entries[self._done % len(entries)]
            begin = time.perf_counter()
            if not self._advance(entry, replicate):
                return
            self._done += 1
            self.seconds += time.perf_counter() - begin
            left = self.seconds / self._done * (self.total - self._done)
            yield Step(self._done, self.total, entry.label, left)

    def advance_all(self) -> Comparison:
        """Go on to the end."""
        for _ in self:
            pass
        return self

    def _advance(self, entry: Entry, replicate: int) -> bool:
        """One replicate; False if it was stopped, and is to be done again."""
        seed = int(np.random.SeedSequence([self.seed, replicate]).generate_state(1)[0])
        self._run = run = Run(entry.spec.on(self.target, seed=seed), self.target)
        if self._stopped:
            return False
        run.advance_all()
        self._run = None
        if not run.finished:
            return False
        for name, ess in _sample_sizes(run).items():
            entry.ess.setdefault(name, []).append(ess)
        entry.means.append({name: float(run.get(name).mean()) for name in run.names})
        for name, cost in _costs(run).items():
            entry.cost.setdefault(name, []).append(cost)
        entry.acceptance.append(run.acceptance)
        entry.run = entry.run or run
        return True

    # --------------------------------------------------------------------------------------------- results

    @property
    def done(self) -> dict[str, Entry]:
        """The samplers that have at least two replicates, so that there is an interval."""
        return {label: entry for label, entry in self.entries.items() if entry.replicates >= 2}

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities compared, the paper's first; "worst" is the smallest ESS of all of them."""
        first = next((entry for entry in self.entries.values() if entry.ess), None)
        return (*first.ess, WORST) if first else ()

    def figure(self, label: str, quantity: str | None = None, cost: str = "leapfrogs") -> Interval:
        """ESS per unit of cost: the paper's figure, for its quantity and leapfrogs."""
        entry = self.entries[label]
        if entry.replicates < 2:
            return UNDEFINED
        return self._interval((label, quantity, cost), self._values(entry, quantity, cost))

    def ratio(self, label: str, to: str, quantity: str | None = None, cost: str = "leapfrogs") -> Interval:
        """How many times the ESS per unit of cost of `to` that of `label` is, by replicates of the same number."""
        a, b = (self._values(self.entries[name], quantity, cost) for name in (label, to))
        n = min(len(a), len(b))
        return self._interval((label, to, quantity, cost), a[:n], b[:n]) if n >= 2 else UNDEFINED

    def _interval(self, of: tuple[Any, ...], a: np.ndarray, b: np.ndarray | None = None) -> Interval:
        """The interval, resampled once for the same replicates however often it is asked for."""
        key = (*of, len(a))
        if key not in self._intervals:
            self._intervals[key] = interval(a, b)
        return self._intervals[key]

    def snapshot(self) -> Comparison:
        """The comparison as it stands now: a copy to look at, which does not change while this one goes on."""
        found = copy(self)
        found.entries = {label: entry.snapshot() for label, entry in self.entries.items()}
        return found

    def _values(self, entry: Entry, quantity: str | None, cost: str) -> np.ndarray:
        """ESS / cost of each replicate. That of a quantity is NaN if in any replicate no chain moved."""
        name = quantity or self.quantities[0]
        n = entry.replicates  # counted last: another thread may be in the midst of adding one more
        table = {key: np.array(values[:n]) for key, values in list(entry.ess.items())}
        if name == WORST:
            means = {key: values.mean() for key, values in table.items()}
            undefined = [key for key, mean in means.items() if math.isnan(mean)]
            name = undefined[0] if undefined else min(means, key=lambda key: means[key])
        return table[name] / np.array(entry.cost[choose(cost, COSTS, "cost")][:n])


def compare(
    target: str | Target,
    samplers: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    gradients: int | None = None,
    replicates: int = REPLICATES,
    seed: int | None = 0,
    chains: int = CHAINS,
) -> Comparison:
    """Compare samplers, all five at the paper's values if none are named, at `gradients` leapfrogs a replicate.

    `samplers` are names, or a mapping from labels to settings: {"mine": {"sampler": "hmc", "epsilon": 0.03}}.
    """
    return Comparison(target, samplers, gradients, replicates, seed, chains).advance_all()


# ---------------------------------------------------------------------------------------------- the statistics


def interval(a: np.ndarray, b: np.ndarray | None = None, level: float = LEVEL) -> Interval:
    """The mean of replicates, or the ratio of two means, with its bootstrap interval (see above)."""
    from scipy import stats

    n = len(a)
    if np.isnan(a).any() or (b is not None and (np.isnan(b).any() or b.mean() == 0)):
        return UNDEFINED
    if n < FEWEST_RESAMPLED:
        ratio = a.mean() if b is None else a.mean() / b.mean()
        residual = a - ratio if b is None else (a - ratio * b) / b.mean()
        half = stats.t.ppf((1 + level) / 2, n - 1) * residual.std(ddof=1) / math.sqrt(n)
        return Interval(float(ratio), max(0.0, float(ratio - half)), float(ratio + half))
    picked = np.random.default_rng(20221116).integers(0, n, (RESAMPLES, n))
    value, means = a.mean(), a[picked].mean(axis=1)
    if b is not None:
        value, means = value / b.mean(), means / b[picked].mean(axis=1)
    tail = stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t.ppf((1 - level) / 2, n - 1))
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(value), float(low), float(high))


def _keep(target: Target) -> tuple[str, ...]:
    """What has to be recorded for the quantities that samplers are compared by."""
    needed = set().union(*(target.needs(function) for function in target.comparisons.values()))
    return tuple(name for name in (*(q.name for q in target.quantities), "energy") if name in needed)


def _sample_sizes(run: Run) -> dict[str, float]:
    """ESS of each quantity; of a vector the least, NaN if that of one element is undefined."""
    draws = run.draws
    return {name: float(np.min(diagnostics.by_element(diagnostics.ess, function(draws))))
            for name, function in run.target.comparisons.items()}  # fmt: skip


def accuracy(run: Run) -> float:
    """BLR: share of the points classified right by a vote of the draws, 1 where more than half have x·β ≥ 0."""
    assert run.target.score is not None
    return run.target.score.of(run.draws)


def _costs(run: Run) -> dict[str, float]:
    """What the draws after the warm-up cost."""
    made = run.drawing
    gradients = made["leapfrogs"] + run.spec.chains
    return {"leapfrogs": made["leapfrogs"], "gradients": gradients, "updates": gradients + made["updates"],
            "seconds": run.seconds * run.spec.draws / run.spec.slots}  # fmt: skip


# ------------------------------------------------------------------------------------------------- the set-up


def _chosen(samplers: Sequence[str] | Mapping[str, Mapping[str, Any]] | None) -> list[tuple[str, str, dict[str, Any]]]:
    """Label, sampler and settings of each."""
    if samplers is None:
        samplers = list(PAPER_SAMPLERS)
    if isinstance(samplers, str):
        samplers = [samplers]
    if not samplers:
        raise InvalidInput(f"no sampler is chosen; take one or more of {', '.join(SAMPLERS)}.")
    if isinstance(samplers, Mapping):
        return [
            (label, str(values.get("sampler", label)), {k: v for k, v in values.items() if k != "sampler"})
            for label, values in samplers.items()
        ]
    return [(choose(name, SAMPLERS, "sampler"), name, {}) for name in dict.fromkeys(samplers)]


def _budgets(specs: Mapping[str, RunSpec], wanted: int, chains: int) -> tuple[int, int]:
    """Leapfrogs of a replicate and of its warm-up, near what is wanted, that every sampler can use up exactly.

    One that draws how many it makes comes near it instead, and its cost is what it really made.
    """
    unit = chains * math.lcm(*(round(spec.leapfrogs_per_draw) for spec in specs.values() if not spec.law.random))
    most = max(spec.leapfrogs_per_draw for spec in specs.values())
    fewest = math.ceil(chains * most * FEWEST_DRAWS)
    if wanted < fewest:
        raise InvalidInput(
            f"{wanted:,} leapfrogs are too few for an ESS: {chains} chains with {most:g} leapfrogs a draw need at "
            f"least {fewest:,}, for {FEWEST_DRAWS} draws each. Raise the budget, or take fewer chains."
        )
    if unit > MOST_ROUNDING * wanted:
        raise InvalidInput(
            f"no budget near {wanted:,} divides evenly among these samplers: with their leapfrogs a draw the smallest "
            f"that all use up exactly is {unit:,}. Take values of L (and Nᵁ) with common multiples, or that budget."
        )
    return max(1, round(wanted / unit)) * unit, max(1, round(WARMUP_SHARE * wanted / unit)) * unit
