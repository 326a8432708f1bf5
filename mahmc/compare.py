"""Comparison of samplers at equal cost: effective sample size for the same number of leapfrogs, with intervals.

    >>> found = mahmc.compare("mdc")
    >>> found.figure("mahmc"), found.ratio("mahmc", "hmc")

Every sampler makes exactly the same number of leapfrogs, in several independent replicates. Chains start from exact
draws where the target has them. All chains have a warm-up, with the same number of leapfrogs for every sampler. A
figure is the mean over replicates of ESS / cost.

Intervals come from the bootstrap over replicates. The same replicates are drawn for every sampler, with replacement, so
a ratio is resampled in pairs. The percentiles are widened for a small number of replicates, to the width of Student's t
(the expanded percentile interval of Hesterberg, 2015). Fewer than six replicates are too few to resample: there the
interval is Student's t, for a ratio with linearised residuals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mahmc import diagnostics, targets
from mahmc.notebook import table_as_html
from mahmc.numerals import exact
from mahmc.parameters import InvalidInput, choose
from mahmc.run import Run
from mahmc.samplers import PAPER_SAMPLERS, SAMPLERS
from mahmc.spec import RunSpec, checked_seed
from mahmc.targets import Target

CHAINS = 16
REPLICATES = 8
WARMUP_SHARE = 0.1  # of the budget, in addition to it
FEWEST_DRAWS = 100  # of each chain, for a useful ESS
MOST_ROUNDING = 2.0  # largest factor by which a budget may grow so that it divides evenly
RESAMPLES = 4000
FEWEST_RESAMPLED = 6  # replicates; fewer do not give percentiles in the tails
CONFIDENCE = 0.95  # of intervals

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


class ReplicateDone(NamedTuple):
    """One replicate of one sampler is done."""

    done: int
    total: int
    label: str
    seconds_left: float


@dataclass
class Entry:
    """One sampler with its settings, and the results of its replicates."""

    label: str
    spec: RunSpec
    ess: dict[str, list[float]] = field(default_factory=dict)  # by quantity, one value for each replicate
    cost: dict[str, list[float]] = field(default_factory=dict)  # by kind of cost, one value for each replicate
    acceptance: list[float] = field(default_factory=list)
    means: list[dict[str, float]] = field(default_factory=list)
    run: Run | None = None  # the first replicate, for charts

    @property
    def replicates(self) -> int:
        return len(self.acceptance)

    def snapshot(self) -> Entry:
        """A copy of the entry so far, without a replicate that another thread is still adding."""
        n = self.replicates
        ess, cost = ({k: v[:n] for k, v in list(table.items())} for table in (self.ess, self.cost))
        return replace(self, ess=ess, cost=cost, acceptance=self.acceptance[:n], means=self.means[:n])


class Comparison:
    """Samplers on one target. Each step of an iteration makes one replicate; `stop` keeps the replicates that are done.

    Every sampler makes its first replicate, then every sampler its second, so samplers stay comparable after a stop.

    Parameters
    ----------
    target, samplers, gradients, replicates, seed, chains
        As `compare` takes them.

    Raises
    ------
    InvalidInput
        If the target or a sampler is unknown, or if no budget near `gradients` can be used up exactly by all samplers.

    Examples
    --------
    >>> found = mahmc.Comparison("gmm", ["hmc", "mahmc"], gradients=160_000, replicates=2, chains=4)
    >>> [step.label for step in found]
    ['hmc', 'mahmc', 'hmc', 'mahmc']
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
        start = "exact" if self.target.truth.exact is not None else "default"
        wanted = gradients or self.target.presentation.budget
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
        self._done = 0  # replicates that are measured
        self._made = 0  # replicates that are sampled
        self._run: Run | None = None
        self._stopped = False
        self._intervals: dict[tuple[Any, ...], Interval] = {}  # results so far, by sampler, quantity and cost

    def __repr__(self) -> str:
        return (
            f"<Comparison of {', '.join(self.entries)} on {self.target.name}: {self._done} of {self.total} replicates "
            f"of {self.budget:,} leapfrogs, seed {self.seed}>"
        )

    def _repr_html_(self) -> str:
        """For notebooks: a row for each sampler that has an interval."""
        rows = [
            (
                "sampler",
                "settings",
                f"ESS of {self.target.presentation.main_quantity} / leapfrog",
                "acceptance",
                "replicates",
            )
        ]
        for label, entry in self.done.items():
            rate = sum(entry.acceptance) / entry.replicates
            cells = (entry.spec.summary, str(self.figure(label)), f"{rate:.3f}", str(entry.replicates))
            rows.append((label, *cells))
        about = f"{self.budget:,} leapfrogs in each replicate, {self._done} of {self.total} replicates are done"
        return table_as_html(f"Samplers on {self.target.presentation.title}: {about}", rows)

    # ------------------------------------------------------------------------------------------- advancing

    @property
    def total(self) -> int:
        return self.replicates * len(self.entries)

    @property
    def finished(self) -> bool:
        return self._done == self.total

    @property
    def share(self) -> float:
        """The share of the work that is done, with the current replicate, and with one that waits to be measured."""
        run = self._run  # another thread may set it to None
        return min(1.0, (self._made + (run.progress.share if run is not None else 0.0)) / self.total)

    def stop(self) -> None:
        """Stop now, from any thread. Replicates that are done are kept, with a replicate that waits to be measured.

        Examples
        --------
        >>> found = mahmc.Comparison("gmm", ["hmc"], gradients=160_000, replicates=4, chains=4)
        >>> for step in found:
        ...     found.stop()
        >>> found
        <Comparison of hmc on gmm: 2 of 4 replicates of 160,020 leapfrogs, seed 0>
        >>> found.finished
        False
        """
        self._stopped = True
        run = self._run  # another thread may set it to None
        if run is not None:
            run.stop()

    def __iter__(self) -> Iterator[ReplicateDone]:
        self._stopped = False  # here, not at the first step, so that an early stop is not lost
        return self._steps()

    def _steps(self) -> Iterator[ReplicateDone]:
        """Sample each replicate while the replicate before it is measured on another thread."""
        begin, self._made = time.perf_counter() - self.seconds, self._done
        measured: Future[Measures] | None = None
        with ThreadPoolExecutor(1, "measures") as beside:
            try:
                for number in range(self._done, self.total + 1):
                    run = None if self._stopped or number == self.total else self._sampled(number)
                    if measured is not None:
                        found, measured = measured, None
                        yield self._added(found.result(), begin)
                    if run is None:
                        return
                    measured = beside.submit(_measures, run)
            finally:  # after Ctrl-C too, the replicate that was sampled counts
                if measured is not None:
                    self._added(measured.result(), begin)

    def advance_all(self) -> Comparison:
        """Go on to the end, or until `stop` is called.

        Returns
        -------
        Comparison
            This comparison.

        Examples
        --------
        >>> found = mahmc.Comparison("gmm", ["hmc"], gradients=160_000, replicates=2, chains=4)
        >>> found.advance_all().finished
        True
        """
        for _ in self:
            pass
        return self

    def _entry(self, number: int) -> Entry:
        """The sampler of the replicate with this number."""
        return list(self.entries.values())[number % len(self.entries)]

    def _sampled(self, number: int) -> Run | None:
        """Sample one replicate; None if it was stopped, and must be made again."""
        seed = int(np.random.SeedSequence([self.seed, number // len(self.entries)]).generate_state(1)[0])
        self._run = run = Run(self._entry(number).spec.on(self.target, seed=seed), self.target)
        if self._stopped:
            return None
        run.advance_all()
        self._run = None
        self._made += run.finished
        return run if run.finished else None

    def _added(self, found: Measures, begin: float) -> ReplicateDone:
        """Add the results of a replicate."""
        entry = self._entry(self._done)
        for name, ess in found.ess.items():
            entry.ess.setdefault(name, []).append(ess)
        entry.means.append(found.means)
        for name, cost in found.costs.items():
            entry.cost.setdefault(name, []).append(cost)
        entry.acceptance.append(found.run.acceptance)
        entry.run = entry.run or found.run
        self._done += 1
        self.seconds = time.perf_counter() - begin
        left = self.seconds / self._done * (self.total - self._done)
        return ReplicateDone(self._done, self.total, entry.label, left)

    # --------------------------------------------------------------------------------------------- results

    @property
    def done(self) -> dict[str, Entry]:
        """The samplers with an interval, which needs at least two replicates."""
        return {label: entry for label, entry in self.entries.items() if entry.replicates >= 2}

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities compared, the paper's first. "worst" is the quantity with the smallest ESS."""
        first = next((entry for entry in self.entries.values() if entry.ess), None)
        return (*first.ess, WORST) if first else ()

    def figure(self, label: str, quantity: str | None = None, cost: str = "leapfrogs") -> Interval:
        """ESS per unit of cost. For the paper's quantity and leapfrogs, this is the measure of its Table 1.

        Parameters
        ----------
        label
            The name of the sampler in this comparison.
        quantity
            One of `quantities`; by default the first, the quantity of the paper.
        cost
            One of "leapfrogs", "gradients", "updates" and "seconds".

        Returns
        -------
        Interval
            The estimate with its 95 % interval; undefined with fewer than two replicates.

        Examples
        --------
        >>> found = mahmc.compare("gmm", ["mahmc"], gradients=160_000, replicates=2, chains=4)
        >>> 0 < found.figure("mahmc").value < 1
        True
        """
        entry = self.entries[label]
        if entry.replicates < 2:
            return UNDEFINED
        return self._interval((label, quantity, cost), self._values(entry, quantity, cost))

    def ratio(self, label: str, to: str, quantity: str | None = None, cost: str = "leapfrogs") -> Interval:
        """ESS per unit of cost of `label`, divided by that of `to`. Replicates with the same number are paired.

        Parameters
        ----------
        label, to
            The names of two samplers in this comparison.
        quantity, cost
            As in `figure`.

        Returns
        -------
        Interval
            The ratio with its 95 % interval; undefined with fewer than two replicates.

        Examples
        --------
        >>> found = mahmc.compare("gmm", ["hmc", "mahmc"], gradients=160_000, replicates=2, chains=4)
        >>> found.ratio("hmc", "hmc").value
        1.0
        """
        a, b = (self._values(self.entries[name], quantity, cost) for name in (label, to))
        n = min(len(a), len(b))
        return self._interval((label, to, quantity, cost), a[:n], b[:n]) if n >= 2 else UNDEFINED

    def _interval(self, of: tuple[Any, ...], a: np.ndarray, b: np.ndarray | None = None) -> Interval:
        """The interval, which is resampled only once for the same replicates."""
        key = (*of, len(a))
        if key not in self._intervals:
            self._intervals[key] = interval(a, b)
        return self._intervals[key]

    def snapshot(self) -> Comparison:
        """A copy of the comparison so far, which does not change while the comparison goes on.

        Returns
        -------
        Comparison
            The copy.

        Examples
        --------
        >>> found = mahmc.Comparison("gmm", ["hmc"], gradients=160_000, replicates=2, chains=4)
        >>> early = found.snapshot()
        >>> found.advance_all().done.keys() - early.done.keys()
        {'hmc'}
        """
        found = copy(self)
        found.entries = {label: entry.snapshot() for label, entry in self.entries.items()}
        return found

    def _values(self, entry: Entry, quantity: str | None, cost: str) -> np.ndarray:
        """ESS / cost of each replicate, NaN where no chain moved. "worst" is NaN if any quantity is."""
        name = quantity or self.quantities[0]
        n = entry.replicates  # another thread may be adding a replicate, and counts it last
        table = {key: np.array(values[:n]) for key, values in list(entry.ess.items())}
        if name == WORST:
            means = {key: values.mean() for key, values in table.items()}
            undefined = [key for key, mean in means.items() if math.isnan(mean)]
            name = undefined[0] if undefined else min(means, key=lambda key: means[key])
        found: np.ndarray = table[name] / np.array(entry.cost[choose(cost, COSTS, "cost")][:n])
        return found


def compare(
    target: str | Target,
    samplers: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    gradients: int | None = None,
    replicates: int = REPLICATES,
    seed: int | None = 0,
    chains: int = CHAINS,
) -> Comparison:
    """Compare samplers at equal cost.

    Parameters
    ----------
    target
        A target by name, or a built target.
    samplers
        Names, or a mapping from labels to settings, as {"mine": {"sampler": "hmc", "epsilon": 0.03}}. By default the
        five samplers of the paper's Table 1, with the paper's best values.
    gradients
        Leapfrogs of one replicate of one sampler, all chains together; by default the target's budget.
    replicates
        The number of independent replicates of each sampler, at least 2: intervals come from their spread.
    seed
        Same settings and same seed: the same draws. None takes a new seed.
    chains
        Chains side by side in each replicate.

    Returns
    -------
    Comparison
        `figure("mahmc")` and `ratio("mahmc", "hmc")` give estimates with intervals; `mahmc.tables.table([found])`
        gives all estimates as a table.

    Raises
    ------
    InvalidInput
        If the target or a sampler is unknown, or if no budget near `gradients` can be used up exactly by all samplers.

    Examples
    --------
    >>> found = mahmc.compare("gmm", ["hmc", "mahmc"], gradients=160_000, replicates=2, chains=4)
    >>> found
    <Comparison of hmc, mahmc on gmm: 4 of 4 replicates of 160,020 leapfrogs, seed 0>
    """
    return Comparison(target, samplers, gradients, replicates, seed, chains).advance_all()


# ---------------------------------------------------------------------------------------------- the statistics


def interval(a: np.ndarray, b: np.ndarray | None = None, level: float = CONFIDENCE) -> Interval:
    """The mean of replicates, or the ratio of two means, with its bootstrap interval (see the top of this file)."""
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
    """The quantities to record, so that the compared quantities can be computed."""
    needed = {name for function in target.comparisons.values() for name in function.reads}
    return tuple(name for name in (*(q.name for q in target.density.quantities), "energy") if name in needed)


class Measures(NamedTuple):
    """The results of one replicate."""

    run: Run
    ess: dict[str, float]
    means: dict[str, float]
    costs: dict[str, float]


def _measures(run: Run) -> Measures:
    means = {name: float(run.get(name).mean()) for name in run.names}
    return Measures(run, _sample_sizes(run), means, _costs(run))


def _sample_sizes(run: Run) -> dict[str, float]:
    """ESS of each quantity. For a vector it is the smallest ESS, or NaN if the ESS of an element is undefined."""
    draws = run.draws
    values = {name: function(draws) for name, function in run.target.comparisons.items()}
    elements = {(name, i): x[..., i] for name, x in values.items() if x.ndim == 3 for i in range(x.shape[-1])}
    scalars = {(name, 0): x for name, x in values.items() if x.ndim == 2}
    found = diagnostics.of_each(scalars | elements, ["ess_bulk"])
    return {name: float(np.min([of["ess_bulk"] for (one, _), of in found.items() if one == name])) for name in values}


def _costs(run: Run) -> dict[str, float]:
    """The cost of the draws after the warm-up, by kind of cost."""
    made = run.drawing
    gradients = made["leapfrogs"] + run.spec.chains
    return {"leapfrogs": made["leapfrogs"], "gradients": gradients, "updates": gradients + made["updates"],
            "seconds": run.seconds * run.spec.draws / run.spec.slots}  # fmt: skip


# ------------------------------------------------------------------------------------------------- the set-up


def _chosen(samplers: Sequence[str] | Mapping[str, Mapping[str, Any]] | None) -> list[tuple[str, str, dict[str, Any]]]:
    """The label, the sampler and the settings of each entry."""
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
    """Leapfrogs of a replicate and of its warm-up, near the wanted number, that every sampler can use up exactly.

    A sampler with a random number of leapfrogs only comes near it. Its cost is the number that it made.
    """
    unit = chains * math.lcm(*(round(spec.leapfrogs_per_draw) for spec in specs.values() if not spec.law.random))
    most = max(spec.leapfrogs_per_draw for spec in specs.values())
    fewest = math.ceil(chains * most * FEWEST_DRAWS)
    if wanted < fewest:
        raise InvalidInput(
            f"{wanted:,} leapfrogs are too few for an ESS: {chains} chains with {exact(most)} leapfrogs for each draw "
            f"need at least {fewest:,}, for {FEWEST_DRAWS} draws each. Raise the budget, or take fewer chains."
        )
    if unit > MOST_ROUNDING * wanted:
        raise InvalidInput(
            f"no budget near {wanted:,} divides evenly among these samplers: the smallest budget that all of them use "
            f"up exactly is {unit:,} leapfrogs. Take that budget, or values of L (and Nᵁ) with a small common multiple."
        )
    return max(1, round(wanted / unit)) * unit, max(1, round(WARMUP_SHARE * wanted / unit)) * unit
