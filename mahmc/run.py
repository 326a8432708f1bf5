"""A run: blocks of chains, advanced in chunks on threads, that can stop and go on."""

from __future__ import annotations

import os
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mahmc import diagnostics
from mahmc.kernels import Counts, Plan, Record, State, Timetable, new_counts, new_state
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.spec import RunSpec
from mahmc.streams import Purpose, Seeds
from mahmc.targets import Target, elements

CHUNK_SECONDS = 0.2  # a stop does not wait for its end
STEPS_AHEAD = 32  # to a chunk: a thread that is done takes such steps until the others are
SHORTEST_CHUNK = 0.015  # seconds: handing out work costs half a millisecond
SHORTEST_CALL = 0.0005  # seconds that a block is advanced by at a time: each call costs about 30 µs
FIRST_CHUNK, LONGEST_FIRST_CHUNK = 16, 64  # iterations, more with many blocks, where speed is not known yet
MOMENTS = 50  # in the history of a short run, if chunks do not become too short
MEMORY_SHARE = 0.5  # of what is free; diagnostics need room as well


class Progress(NamedTuple):
    """How far a run is. Draws are per chain, the warm-up's included."""

    done: int
    total: int
    seconds: float
    leapfrogs: int

    @property
    def share(self) -> float:
        return self.done / self.total

    @property
    def leapfrogs_per_second(self) -> float:
        return self.leapfrogs / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        return self.seconds * (self.total - self.done) / self.done if self.done else float("nan")


class Acceptance(NamedTuple):
    """Accepted and made, in whole numbers, by chain. `rate` is None where nothing was tested."""

    accepted: np.ndarray
    made: np.ndarray

    @property
    def rate(self) -> float | None:
        made = int(self.made.sum())
        return int(self.accepted.sum()) / made if made else None

    @property
    def by_chain(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return self.accepted / self.made


class Moment(NamedTuple):
    """What had been done at the end of a chunk: draws of each chain, iterations of all, and counts by kind."""

    done: int
    iterations: int
    counts: np.ndarray


@dataclass
class Block:
    """LANES chains in lockstep. `counts` are apart for warm-up and draws: (phase, kind, lane)."""

    state: State
    plan: Plan | Timetable
    record: Record
    counts: np.ndarray
    done: int = 0  # iterations


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """One pool for the whole process, however many runs there are: they share the cores chunk by chunk."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mahmc")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked_threads(threads: int | None) -> int:
    """The number of threads: the one given, or one for each core."""
    if threads is None:
        return cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidInput(
            f"threads = {threads!r} is not allowed: a whole number of at least 1, or None for all cores."
        )
    return threads


def scalar_names(spec: RunSpec, target: Target) -> tuple[str, ...]:
    """Every scalar quantity that can be had from what a run of this spec records."""
    kept = spec.keep
    recorded = [e for q in target.quantities if q.name in kept for e in elements(q)]
    derived = [n for n, function in target.derived.items() if target.needs(function) <= set(kept)]
    momentum = [f"momentum[{i}]" for i in range(target.dim)] if "momentum" in kept else []
    return (*recorded, *derived, *(n for n in ("energy", "slice") if n in kept), *momentum)


class Run:
    """Chains of one spec. Iterating advances them chunk by chunk and yields a Progress after each.

    >>> run = Run(RunSpec.of("mdc", "mahmc", draws=10_000))
    >>> for progress in run:
    ...     if progress.share > 0.5:
    ...         run.stop()
    >>> run.advance_all()  # goes on; the draws are those of a run that never stopped

    Draws may be read at any time, from another thread too: what is done does not change any more.

    `init` gives the state that each chain starts from, an array (chains, …) for each quantity of the target.
    """

    def __init__(
        self,
        spec: RunSpec,
        target: Target | None = None,
        threads: int | None = None,
        init: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.spec = spec
        self.target = target or spec.build_target()
        self.threads = _checked_threads(threads)
        self.seconds = 0.0
        self._stop = np.zeros(1, np.uint8)
        self._plan, self._outer = spec.law.plan(self.target, spec.updates), self.target.number(spec.outer)
        self._columns = _columns(spec, self.target)
        _refuse_if_too_large(spec, self._columns)
        shape = (spec.chains, spec.slots)
        self._reals = np.empty((*shape, len(self._columns.real_rows)))
        self._discretes = np.empty((*shape, len(self._columns.discrete_rows)), np.int8)
        blocks = -(-spec.chains // LANES)
        seeds = Seeds(spec.seed, blocks)
        starts = None if init is None else _packed(self.target, init, spec.chains)
        self._blocks = [self._new_block(b, seeds, starts) for b in range(blocks)]
        self._chunk = max(FIRST_CHUNK, min(blocks, LONGEST_FIRST_CHUNK))
        self._tally = self._tallied()
        self.history: list[Moment] = []

    # ------------------------------------------------------------------------------------------ advancing

    def __iter__(self) -> Iterator[Progress]:
        self._stop[0] = 0  # here, not at the first chunk: a stop that comes in between must not be lost
        return self._chunks()

    def _chunks(self) -> Iterator[Progress]:
        while not self.finished and not self._stop[0]:
            self.advance()
            yield self.progress

    def advance_all(self) -> Run:
        """Go on to the end."""
        for _ in self:
            pass
        return self

    def advance(self, seconds: float = CHUNK_SECONDS) -> None:
        """Run every block to an iteration about `seconds` further, or up to a chunk beyond; less if stopped meanwhile.

        Whatever else the cores have to do slows one thread or another: none waits for that, it runs ahead instead.
        """
        goal, before = self._goal(), self._block_iterations()
        begin = time.perf_counter()
        waiting = deque(sorted(self._blocks, key=lambda block: block.done))
        workers = min(self.threads, len(waiting))
        futures = [_pool(self.threads).submit(self._advance_blocks, waiting, goal) for _ in range(workers)]
        try:
            wait(futures)
        except BaseException:  # Ctrl-C: leave no kernel running behind
            self.stop()
            wait(futures)
            raise
        for future in futures:
            future.result()
        took = time.perf_counter() - begin
        self.seconds += took
        self._tally = self._tallied()
        self.history.append(Moment(self.done, self._chain_iterations(), self._total_counts().sum(axis=0)))
        made = (self._block_iterations() - before) / len(self._blocks)
        if made and not self._stop[0]:
            each = max(took / made, 1e-9)  # seconds an iteration
            wanted = min(seconds, max(SHORTEST_CHUNK, self.spec.slots * self.spec.thin * each / MOMENTS))
            wanted = max(wanted, SHORTEST_CALL * len(self._blocks) / workers)
            self._chunk = max(1, min(int(wanted / each), 8 * self._chunk))

    def stop(self) -> None:
        """Stop now, from any thread: kernels leave off at the next segment and undo what was half done."""
        self._stop[0] = 1

    @property
    def stopped(self) -> bool:
        return bool(self._stop[0])

    @property
    def finished(self) -> bool:
        return self._iterations == self.spec.slots * self.spec.thin

    @property
    def done(self) -> int:
        """Recorded draws of every chain so far, the warm-up's included."""
        return self._iterations // self.spec.thin

    @property
    def progress(self) -> Progress:
        return Progress(self.done, self.spec.slots, self.seconds, self.leapfrogs)

    @property
    def states(self) -> list[State]:
        """What the next iteration of each block starts from. For reading while no chunk is under way."""
        return [block.state for block in self._blocks]

    # ---------------------------------------------------------------------------------------- pickle and copy

    def __reduce__(self) -> tuple[Any, ...]:
        """Everything as it stands: a run that comes back goes on with the same draws."""
        return _restored, (self.spec, self.target, self.threads, self._as_it_stands())

    def _as_it_stands(self) -> dict[str, Any]:
        blocks = [(b.done, [a.copy() for a in _arrays((b.state, b.plan, b.counts))]) for b in self._blocks]
        own = {"seconds": self.seconds, "_chunk": self._chunk, "history": list(self.history)}
        return own | {"draws": (self._reals.copy(), self._discretes.copy()), "blocks": blocks}

    # --------------------------------------------------------------------------------------------- results

    @property
    def draws(self) -> dict[str, np.ndarray]:
        """The draws after the warm-up, by quantity: (chains, draws), or (chains, draws, size)."""
        return self._quantities(self.spec.warmup, max(self.done, self.spec.warmup))

    @property
    def warmup_draws(self) -> dict[str, np.ndarray]:
        """The draws of the warm-up, likewise."""
        return self._quantities(0, min(self.done, self.spec.warmup))

    def get(self, name: str, warmup: bool = False) -> np.ndarray:
        """One quantity: recorded ("w"), an element of one ("w[3]"), or worked out from them ("ones")."""
        draws = self.warmup_draws if warmup else self.draws
        if name in draws:
            return draws[name]
        if name in self.target.derived:
            try:
                return self.target.derived[name](draws)
            except KeyError as missing:
                raise InvalidInput(f"{name} needs {missing}, which was not recorded: add it to keep.") from None
        base, bracket, index = name.partition("[")
        if bracket and base in draws and index[:-1].isdigit() and int(index[:-1]) < draws[base].shape[-1]:
            return draws[base][..., int(index[:-1])]
        raise InvalidInput(f"{name!r} was not recorded. There are: {', '.join(self.names)}.")

    @property
    def names(self) -> tuple[str, ...]:
        """Every scalar quantity that can be had from what was recorded."""
        return scalar_names(self.spec, self.target)

    @property
    def acceptance(self) -> float:
        """Mean acceptance of the test of q^H (with MAHMC of the whole trajectory), after the warm-up."""
        return self.acceptances["trajectory"].rate or 0.0

    @property
    def acceptances(self) -> dict[str, Acceptance]:
        """Accepted tests by kind ("trajectory", "inner", "outer") and chain, after the warm-up."""
        counts, iterations = self._drawn
        tests = self.spec.method.tests(self.spec.values)
        inner = counts[Counts.INNER :]
        return {
            "trajectory": Acceptance(counts[Counts.TRAJECTORY], iterations * tests),
            "inner": Acceptance(inner[0::2].sum(axis=0), inner[1::2].sum(axis=0)),
            "outer": Acceptance(counts[Counts.OUTER], iterations * (self._outer > 0)),
        }

    @property
    def update_acceptances(self) -> dict[str, Acceptance]:
        """Accepted updates of q^O inside trajectories, by the update's name and by chain, after the warm-up."""
        inner = self._drawn[0][Counts.INNER :]
        rows = {name: 2 * (self.target.number(name) - 1) for name in self.spec.updates}
        return {name: Acceptance(inner[row], inner[row + 1]) for name, row in rows.items()}

    @property
    def acceptance_history(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draws done at the end of each chunk, and the acceptance within each, by kind; the warm-up's included."""
        moments = list(self.history)
        if not moments:
            return np.empty(0), {}
        iterations = np.diff([0, *(m.iterations for m in moments)])
        moments = [m for m, n in zip(moments, iterations, strict=True) if n > 0]
        iterations = iterations[iterations > 0]
        counts = np.diff([np.zeros(len(m.counts), np.int64) for m in moments[:1]] + [m.counts for m in moments], axis=0)
        inner = counts[:, Counts.INNER :]
        kinds = {
            "trajectory": (counts[:, Counts.TRAJECTORY], iterations * self.spec.method.tests(self.spec.values)),
            "inner": (inner[:, 0::2].sum(axis=1), inner[:, 1::2].sum(axis=1)),
            "outer": (counts[:, Counts.OUTER], iterations * (self._outer > 0)),
        }
        with np.errstate(invalid="ignore"):
            rates = {kind: accepted / made for kind, (accepted, made) in kinds.items() if made.any()}
        return np.array([m.done for m in moments]), rates

    @property
    def non_finite(self) -> int:
        """Rejections because an energy or a gradient was not finite, the warm-up's included."""
        return int(self._total_counts()[:, Counts.NON_FINITE].sum())

    @property
    def leapfrogs(self) -> int:
        """Leapfrogs of all chains so far, the warm-up's included."""
        return int(self._total_counts()[:, Counts.LEAPFROGS].sum())

    @property
    def drawing(self) -> dict[str, int]:
        """What the draws after the warm-up took of all chains: leapfrogs, and updates of q^O inside and after them."""
        counts, iterations = self._drawn
        updates = counts[Counts.INNER + 1 :: 2].sum() + iterations.sum() * (self._outer > 0)
        return {"leapfrogs": int(counts[Counts.LEAPFROGS].sum()), "updates": int(updates)}

    @property
    def gradients(self) -> int:
        """Gradients evaluated: one a leapfrog and one at each start. Updates of q^O correct the gradient they find."""
        return self.leapfrogs + self.spec.chains

    # ----------------------------------------------------------------------------------------- diagnostics

    def ess(self, name: str, kind: str = "bulk") -> float | np.ndarray:
        """Effective sample size by ArviZ; NaN, which means undefined, where chains never moved."""
        return diagnostics.by_element(diagnostics.ess, self.get(name), kind)

    def rhat(self, name: str) -> float | np.ndarray:
        """Rank-normalised split R-hat by ArviZ."""
        return diagnostics.by_element(diagnostics.rhat, self.get(name))

    def mcse(self, name: str, kind: str = "mean") -> float | np.ndarray:
        """Monte Carlo standard error of the mean (or of the "sd") by ArviZ."""
        return diagnostics.by_element(diagnostics.mcse, self.get(name), kind)

    def ess_per_gradient(self, name: str) -> float | np.ndarray:
        """The paper's figure: relative bulk ESS divided by the leapfrogs of one draw, those that were really made."""
        return self.ess(name) / self.drawing["leapfrogs"]

    def to_arviz(self) -> Any:
        """As ArviZ's container: InferenceData up to ArviZ 0.x, DataTree from 1.0 on."""
        return diagnostics.to_arviz(self)

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Write draws, acceptance and the spec to a NetCDF file that ArviZ opens."""
        self.to_arviz().to_netcdf(os.fspath(path), engine="h5netcdf")

    # --------------------------------------------------------------------------------------------- inside

    @property
    def _iterations(self) -> int:
        return min(block.done for block in self._blocks)

    @property
    def _warmup_iterations(self) -> int:
        return self.spec.warmup * self.spec.thin

    @property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts after the warm-up, (kind, chain), and iterations of each chain that they are of."""
        done = np.repeat([max(0, done - self._warmup_iterations) for done, _ in self._tally], LANES)
        counts = np.concatenate([counts[1] for _, counts in self._tally], axis=1)
        return counts[:, : self.spec.chains], done[: self.spec.chains]

    def _tallied(self) -> list[tuple[int, np.ndarray]]:
        """Iterations and counts of each block, that belong together: read in the midst of a chunk they would not."""
        return [(block.done, block.counts.copy()) for block in self._blocks]

    def _goal(self) -> int:
        """The iteration that every block is at when the next chunk ends, if not beyond."""
        return min(self._iterations + self._chunk, self._end_of_phase(self._iterations))

    def _end_of_phase(self, done: int) -> int:
        """The end of the warm-up, or of the run."""
        return self._warmup_iterations if done < self._warmup_iterations else self.spec.slots * self.spec.thin

    def _advance_blocks(self, waiting: deque[Block], goal: int) -> None:
        """One thread's part of a chunk: blocks as they wait, then the last one ahead while others are on the way."""
        block = None
        while waiting:
            try:
                block = waiting.popleft()
            except IndexError:  # another thread came first
                break
            self._advance_block(block, goal)
        if block is None:
            return
        limit = min(goal + self._chunk, self.spec.slots * self.spec.thin)
        step = max(1, self._chunk // STEPS_AHEAD)
        while self._iterations < goal and block.done < limit and not self._stop[0]:
            self._advance_block(block, min(block.done + step, limit))

    def _advance_block(self, block: Block, goal: int) -> None:
        """On to `goal`, but not across the end of the warm-up, as counts change there."""
        phase = 0 if block.done < self._warmup_iterations else 1
        n = min(goal, self._end_of_phase(block.done)) - block.done
        if n > 0:
            block.done += self.spec.method.advance(
                self.spec.method, self.target.data, block.plan, self._outer, self.spec.values, block.state,
                block.counts[phase], block.record, block.done, n, self._stop,
            )  # fmt: skip

    def _new_block(self, number: int, seeds: Seeds, starts: tuple[np.ndarray, np.ndarray] | None) -> Block:
        chains = slice(number * LANES, (number + 1) * LANES)
        if starts is None:
            q, other = self.target.pack(self._drawn_start(seeds.generator(number, Purpose.START)))
        else:
            q, other = starts[0][chains], starts[1][chains]
        state = new_state(self.target, q, other, seeds, number)
        if not np.isfinite(state.U).all():
            raise InvalidInput(f"{self.target.name} has an infinite energy where its chains start; check its data.")
        record = Record(
            self._reals[chains], self._columns.real_rows, self._discretes[chains], self._columns.discrete_rows,
            self.spec.thin,
        )  # fmt: skip
        return Block(state, self._plan.for_a_block(), record, new_counts(self.target, phases=2))

    def _drawn_start(self, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        """Where the chains of a block start."""
        if self.spec.start == "exact":
            assert self.target.exact is not None  # the spec made sure
            return self.target.exact(rng, LANES)
        starts = [self.target.start(rng) for _ in range(LANES)]
        return {name: np.array([start[name] for start in starts]) for name in starts[0]}

    def _block_iterations(self) -> int:
        """Iterations of all blocks together."""
        return sum(block.done for block in self._blocks)

    def _chain_iterations(self) -> int:
        """Iterations of all recorded chains together."""
        return sum(b.done * b.record.reals.shape[0] for b in self._blocks)

    def _total_counts(self) -> np.ndarray:
        """Counts by phase and kind, over the chains that are recorded."""
        return sum(b.counts[:, :, : b.record.reals.shape[0]].sum(axis=2) for b in self._blocks)

    def _quantities(self, begin: int, end: int) -> dict[str, np.ndarray]:
        arrays: dict[bool, np.ndarray] = {True: self._discretes, False: self._reals}
        return {name: arrays[discrete][:, begin:end, columns] for name, discrete, columns in self._columns.quantities}


def _arrays(node: Any) -> Iterator[np.ndarray]:
    """The arrays of nested tuples, in order."""
    if isinstance(node, np.ndarray):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _arrays(part)


def _restored(spec: RunSpec, target: Target, threads: int, kept: dict[str, Any]) -> Run:
    """A run as it stood. The state's arrays are views of one piece of memory, so they are filled, not replaced."""
    run = Run(spec, target, threads)
    run._reals[:], run._discretes[:] = kept.pop("draws")
    for block, (done, arrays) in zip(run._blocks, kept.pop("blocks"), strict=True):
        block.done = done
        for mine, before in zip(_arrays((block.state, block.plan, block.counts)), arrays, strict=True):
            mine[...] = before
    vars(run).update(kept)
    run._tally = run._tallied()
    return run


def _packed(target: Target, init: Mapping[str, np.ndarray], chains: int) -> tuple[np.ndarray, np.ndarray]:
    """Initial values as the rows of q and other, for whole blocks: the last chain's fill up the last block."""
    shapes = {q.name: (chains, q.size) if q.vector else (chains,) for q in target.quantities}
    if set(init) != set(shapes):
        raise InvalidInput(f"init must give a value for each of {', '.join(shapes)}, and has {', '.join(init)}.")
    values = {name: np.asarray(init[name]) for name in shapes}
    for name, shape in shapes.items():
        if values[name].shape != shape:
            raise InvalidInput(f"init: {name} has the shape {values[name].shape}; {shape} is needed.")
        if not np.isfinite(values[name]).all():
            raise InvalidInput(f"init: {name} has values that are not finite.")
    rows = np.minimum(np.arange(-(-chains // LANES) * LANES), chains - 1)
    return target.pack({name: x[rows] for name, x in values.items()})


class Columns(NamedTuple):
    """Which rows of the state's stack are recorded, and where each quantity then is: (name, discrete, columns)."""

    real_rows: np.ndarray
    discrete_rows: np.ndarray
    quantities: tuple[tuple[str, bool, int | slice], ...]


def _columns(spec: RunSpec, target: Target) -> Columns:
    energy = target.dim + target.n_other
    places = {q.name: (q.discrete, q.first + (target.dim if q.source == "other" else 0), q.size, q.vector)
              for q in target.quantities}  # fmt: skip
    places |= {
        "energy": (False, energy, 1, False),
        "momentum": (False, energy + 1, target.dim, True),
        "slice": (False, energy + 1 + target.dim, 1, False),
    }
    rows: dict[bool, list[int]] = {True: [], False: []}
    quantities: list[tuple[str, bool, int | slice]] = []
    for name in spec.keep:
        discrete, first, size, vector = places[name]
        begin = len(rows[discrete])
        rows[discrete] += range(first, first + size)
        quantities.append((name, discrete, slice(begin, begin + size) if vector else begin))
    return Columns(np.array(rows[False], np.int64), np.array(rows[True], np.int64), tuple(quantities))


def free_memory() -> int:
    """Bytes that can still be had, as far as the system says."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return 4 * 2**30


def memory_needed(spec: RunSpec, target: Target) -> int:
    """Bytes that the draws of a run take."""
    return _bytes_per_slot(spec, _columns(spec, target)) * spec.slots


def _bytes_per_slot(spec: RunSpec, columns: Columns) -> int:
    return spec.chains * (8 * len(columns.real_rows) + len(columns.discrete_rows))


def _refuse_if_too_large(spec: RunSpec, columns: Columns) -> None:
    per_slot = _bytes_per_slot(spec, columns)
    needed, allowed = per_slot * spec.slots, int(free_memory() * MEMORY_SHARE)
    if needed > allowed:
        fits = max(1, allowed // per_slot)
        raise InvalidInput(
            f"draws = {spec.draws} on {spec.chains} chains take {needed / 2**30:.3g} GiB; "
            f"{allowed / 2**30:.3g} GiB may be used. Take at most {fits} draws with the warm-up, fewer chains, "
            f"a thin of {-(-needed // allowed) * spec.thin} with as many fewer draws, or keep fewer quantities than "
            f"{', '.join(spec.keep)}."
        )


def sample(target: str | Target, sampler: str, *, threads: int | None = None, **chosen: Any) -> Run:
    """Draw chains: `sample("mdc", "mahmc", epsilon=0.04, L=10, n_u=10, chains=16, draws=20_000, seed=7)`.

    What is left out takes the paper's best value for that target and sampler, or the default. See `RunSpec.of`.
    Ctrl-C stops the chains and returns the run with the draws made so far, with a warning.
    """
    spec = RunSpec.of(target, sampler, **chosen)
    run = Run(spec, target if isinstance(target, Target) else None, threads)
    try:
        run.advance_all()
    except KeyboardInterrupt:
        run.stop()
        warnings.warn(
            f"stopped by Ctrl-C after {run.done} of {spec.slots} draws of each chain, the warm-up's included: the run "
            "has what was drawn, and run.advance_all() goes on exactly where it stopped.",
            RuntimeWarning,
            stacklevel=2,
        )
    return run
