"""Chains of one spec. They advance in chunks on threads, and can stop, go on and become longer."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from dataclasses import replace
from typing import Any

import numpy as np

from mahmc.kernels import State
from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.recorder import Place, Trajectory, walk
from mahmc.run import storage
from mahmc.run.blocks import Block, Rows, Setup, chains_of, checked_threads, packed, pool, refuse_beyond
from mahmc.run.checkpoints import Checkpoints, block_before, most_checkpoints
from mahmc.run.measures import Moment, Progress
from mahmc.run.recording import Recording
from mahmc.run.results import Results
from mahmc.spec import RUN_PARAMETERS, RunSpec
from mahmc.streams import Seeds
from mahmc.targets import Target

CHUNK_SECONDS = 0.2  # a stop does not wait for the end of a chunk
STEPS_AHEAD = 32  # an idle thread runs ahead in steps of chunk/32
SHORTEST_CHUNK = 0.015  # seconds: handing out work costs half a millisecond
SHORTEST_CALL = 0.0005  # seconds of one call that advances a block: each call costs about 30 µs
FIRST_CHUNK, LONGEST_FIRST_CHUNK = 16, 64  # iterations, while the speed is unknown; more with many blocks
MOMENT_OF_STEPS = 10  # draws between two moments in the history of a run that advances by single steps
MOMENTS = 50  # in the history of a short run, unless chunks would become too short


class Run(Results):
    """Chains of one spec. Iterating advances them chunk by chunk, and yields a Progress after each chunk.

    Draws may be read at any time, from another thread too: finished draws do not change.

    Parameters
    ----------
    spec
        The settings of the run.
    target
        The target, if it is already built, for example on your own data; by default the target that the spec names.
    threads
        The number of threads; by default one for each core. Draws do not depend on it.
    init
        The state that each chain starts from, an array (chains, …) for each quantity of the target; by default the
        target says where chains start.

    Raises
    ------
    InvalidInput
        If the draws need more memory than is free, or if chains cannot start at their initial values.

    Examples
    --------
    >>> run = mahmc.Run(mahmc.RunSpec.of("mdc", "mahmc", draws=5_000))
    >>> for progress in run:
    ...     if progress.share > 0.5:
    ...         run.stop()
    >>> run.advance_all().finished  # goes on; the draws are those of a run that never stopped
    True
    """

    def __init__(
        self,
        spec: RunSpec,
        target: Target | None = None,
        threads: int | None = None,
        init: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        target = target or spec.build_target()
        starts = None if init is None else packed(target, init, spec.chains)
        self._begin(spec, target, threads, starts)

    @classmethod
    def at(cls, spec: RunSpec, target: Target, threads: int | None, starts: Rows) -> Run:
        """A run whose chains start at these rows of q and other, which fill whole blocks."""
        run = cls.__new__(cls)
        cls._begin(run, spec, target, threads, starts)
        return run

    def _begin(self, spec: RunSpec, target: Target, threads: int | None, starts: Rows | None) -> None:
        self.spec, self.target = spec, target
        self.threads = checked_threads(threads)
        self.seconds = 0.0
        self._stop = np.zeros(1, np.uint8)
        self._setup = Setup.of(spec, target, starts)
        self._outer = self._setup.outer
        self._recording = Recording(spec, self.target)
        blocks = -(-spec.chains // LANES)
        seeds = Seeds(spec.seed, blocks)
        self._blocks = [self._setup.block(b, seeds, self._recording.of(chains_of(b))) for b in range(blocks)]
        self._checkpoints = [Checkpoints() for _ in self._blocks]
        self._most_checkpoints = most_checkpoints(self._setup, self._blocks)
        self._chunk = max(FIRST_CHUNK, min(blocks, LONGEST_FIRST_CHUNK))
        self._tally = self._tallied()
        self.history: list[Moment] = []

    # ------------------------------------------------------------------------------------------ advancing

    def __iter__(self) -> Iterator[Progress]:
        self._stop[0] = 0  # here, not at the first chunk, so that an early stop is not lost
        return self._chunks()

    def _chunks(self) -> Iterator[Progress]:
        while not self.finished and not self._stop[0]:
            self.advance()
            yield self.progress

    def advance_all(self) -> Run:
        """Advance the run to its end.

        Returns
        -------
        Run
            The run itself.

        Examples
        --------
        >>> mahmc.Run(mahmc.RunSpec.of("gmm", "hmc", draws=100)).advance_all().finished
        True
        """
        for _ in self:
            pass
        return self

    def extend(self, draws: int) -> Run:
        """Add draws to every chain, and advance to the new end.

        The draws are those of one longer run, bit for bit, and `run.spec` becomes the spec of that run. An unfinished
        run goes on to the new end. Ctrl-C stops the chains; `advance_all` then goes on. Do not call this while chains
        advance on another thread.

        Parameters
        ----------
        draws
            The number of draws to add to each chain.

        Returns
        -------
        Run
            The run itself.

        Raises
        ------
        InvalidInput
            If the number cannot be used, or if all draws together need more memory than is free.

        Examples
        --------
        >>> run = mahmc.sample("gmm", "mahmc", draws=1_000)
        >>> run.extend(500).draws["q"].shape
        (16, 1500)
        """
        more = RUN_PARAMETERS["draws"].check(draws)
        spec = replace(self.spec, draws=RUN_PARAMETERS["draws"].check(self.spec.draws + more))
        longer = Recording(spec, self.target)
        longer.fill(*self._recording.first(self.spec.slots))
        for block in self._blocks:
            block.record = longer.of(chains_of(block.number))
        self.spec, self._recording, self._setup = spec, longer, replace(self._setup, spec=spec)
        self._most_checkpoints = most_checkpoints(self._setup, self._blocks)
        return self.advance_all()

    def advance(self, seconds: float = CHUNK_SECONDS) -> None:
        """Advance every block by one chunk of about `seconds`, and some blocks by up to two chunks.

        Other work on the cores may slow a thread. Threads do not wait for a slow thread: they run ahead. A stop makes
        the chunk shorter.

        Parameters
        ----------
        seconds
            The time that the chunk should take. Its length follows from the speed of the chunk before.

        Examples
        --------
        >>> run = mahmc.Run(mahmc.RunSpec.of("gmm", "hmc", draws=100))
        >>> run.advance()
        >>> run.done > 0
        True
        """
        before, begin = self._block_iterations(), self.seconds
        self._advance_to(self._goal(), self._chunk)
        self.history.append(self._moment())
        took, workers = self.seconds - begin, min(self.threads, len(self._blocks))
        made = (self._block_iterations() - before) / len(self._blocks)
        if made and not self._stop[0]:
            each = max(took / made, 1e-9)  # seconds for each iteration
            wanted = min(seconds, max(SHORTEST_CHUNK, self.spec.slots * self.spec.thin * each / MOMENTS))
            wanted = max(wanted, SHORTEST_CALL * len(self._blocks) / workers)
            self._chunk = max(1, min(int(wanted / each), 8 * self._chunk))

    def step(self, draws: int = 1) -> None:
        """Advance every chain by this number of draws and no more: by fewer at the end of the run, or after a stop.

        The draws are those of a run that advances in any other way, bit for bit. `advance` is faster: here threads
        wait for each other after each call.

        Parameters
        ----------
        draws
            The number of draws to add to each chain; those of the warm-up come first.

        Examples
        --------
        >>> run = mahmc.Run(mahmc.RunSpec.of("gmm", "hmc", draws=100))
        >>> run.step(3)
        >>> run.done
        3
        """
        end = min(self.done + draws, self.spec.slots) * self.spec.thin
        while self._iterations < end and not self._stop[0]:
            self._advance_to(min(end, self._setup.end_of_phase(self._iterations)), ahead=0)
        if len(self.history) > 1 and self.done - self.history[-2].done <= MOMENT_OF_STEPS:
            self.history[-1] = self._moment()
        else:
            self.history.append(self._moment())

    def stop(self) -> None:
        """Stop now, from any thread. `advance_all` goes on exactly from there.

        Kernels stop at the next segment of a trajectory, and undo the unfinished iteration.

        Examples
        --------
        >>> run = mahmc.Run(mahmc.RunSpec.of("gmm", "mahmc", draws=5_000))
        >>> for progress in run:
        ...     run.stop()
        >>> run.finished, run.advance_all().finished
        (False, True)
        """
        self._stop[0] = 1

    @property
    def stopped(self) -> bool:
        return bool(self._stop[0])

    @property
    def finished(self) -> bool:
        return self._iterations == self._setup.iterations

    @property
    def done(self) -> int:
        """Recorded draws of every chain so far, including the warm-up."""
        return self._iterations // self.spec.thin

    @property
    def progress(self) -> Progress:
        return Progress(self.done, self.spec.slots, self.seconds, self.leapfrogs)

    @property
    def states(self) -> list[State]:
        """The state from which the next iteration of each block starts. Read it only between chunks."""
        return [block.state for block in self._blocks]

    # ------------------------------------------------------------------------------------------------- replay

    def replay(self, chain: int, draw: int, warmup: bool = False) -> Trajectory:
        """Make the iteration again that gave a draw, and record each of its steps.

        The run keeps checkpoints, so only the iterations since the nearest checkpoint are made again. Chains may
        advance on another thread meanwhile.

        Parameters
        ----------
        chain
            The number of the chain, from 0.
        draw
            The number of the draw, from 0.
        warmup
            Whether `draw` counts draws of the warm-up instead of draws after the warm-up.

        Returns
        -------
        Trajectory
            The steps of the iteration. With `thin` above 1, it is the last of the iterations between two draws.

        Raises
        ------
        InvalidInput
            If there is no such chain or draw, if the iteration has more than 10,000 steps, or if the iteration does not
            give the recorded draw again.

        Examples
        --------
        >>> run = mahmc.sample("gmm", "mahmc", draws=1_000)
        >>> bool(run.replay(chain=3, draw=500).end["q"] == run.draws["q"][3, 500])
        True
        """
        there = self.warmup_draws if warmup else self.draws
        drawn = min(self.done, self.spec.warmup) if warmup else self.draws_done
        chain, draw = (refuse_beyond(*said) for said in (("chain", chain, self.spec.chains), ("draw", draw, drawn)))
        slot = draw if warmup else self.spec.warmup + draw
        iteration, number = (slot + 1) * self.spec.thin - 1, chain // LANES
        block = block_before(self._setup, number, iteration, self._checkpoints[number].before(iteration))
        found = walk(self.spec, self.target, block.state, block.plan, Place(iteration, chain))
        for name in (q.name for q in found.quantities if q.name in there):
            if not np.array_equal(found.end[name], there[name][chain, draw], equal_nan=True):
                raise InvalidInput(
                    f"draw {draw} of chain {chain} cannot be made again: {name} differs from the recorded draw. "
                    "The run was made by another version of mahmc, numba or NumPy."
                )
        return found

    # -------------------------------------------------------------------------------------- files, pickle and copy

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file that `mahmc.load` reads: draws, spec, and the state of the chains.

        Do not call this while chains advance on another thread. The file is an NPZ archive, and nothing in it can be
        executed. It is first written under another name, so an earlier file is replaced only by a complete file.

        Parameters
        ----------
        path
            The file. An existing file is replaced.

        Examples
        --------
        >>> run = mahmc.sample("gmm", "mahmc", draws=1_000)
        >>> run.save("run.npz")
        >>> mahmc.load("run.npz").extend(500).draws["q"].shape
        (16, 1500)
        """
        storage.write(path, self.spec, self.arrays(), self._others())

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the run with its state. The restored run goes on with the same draws."""
        copied = {name: array.copy() for name, array in self.arrays().items()}
        return restored, (self.spec, self.target, self.threads, copied, self._others())

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays that change as the run advances, by name. Read them only between chunks."""
        return storage.arrays_of(self._contents)

    @property
    def _contents(self) -> storage.Contents:
        return storage.Contents(self._setup, self._blocks, self._checkpoints, self._recording, self.history)

    def put_back(self, arrays: Mapping[str, np.ndarray], others: Mapping[str, float]) -> None:
        """Take over the state of a run of the same spec, as `arrays` gives it."""
        self._setup = replace(self._setup, starts=storage.starts_in(arrays))
        storage.put_back(self._contents, arrays)
        self.seconds, self._chunk = float(others["seconds"]), int(others["chunk"])
        self._tally = self._tallied()

    def _others(self) -> dict[str, float]:
        """Numbers to store beside the arrays."""
        return {"seconds": self.seconds, "chunk": self._chunk}

    # --------------------------------------------------------------------------------------------- inside

    @property
    def _iterations(self) -> int:
        return min(block.done for block in self._blocks)

    def _tallied(self) -> list[tuple[int, np.ndarray]]:
        """Iterations and counts of each block. They are read between chunks, so that they belong together."""
        return [(block.done, block.counts.copy()) for block in self._blocks]

    def _moment(self) -> Moment:
        return Moment(self.done, self._chain_iterations(), self._total_counts().sum(axis=0))

    def _advance_to(self, goal: int, ahead: int) -> None:
        """Advance every block to the iteration `goal`. Blocks of idle threads go on, by at most `ahead` iterations."""
        begin = time.perf_counter()
        waiting = deque(sorted(self._blocks, key=lambda block: block.done))
        workers = min(self.threads, len(waiting))
        futures = [pool(self.threads).submit(self._advance_blocks, waiting, goal, ahead) for _ in range(workers)]
        try:
            wait(futures)
        except BaseException:  # Ctrl-C: leave no kernel running behind
            self.stop()
            wait(futures)
            raise
        for future in futures:
            future.result()
        self.seconds += time.perf_counter() - begin
        self._tally = self._tallied()

    def _goal(self) -> int:
        """The iteration that every block reaches or passes in the next chunk."""
        return min(self._iterations + self._chunk, self._setup.end_of_phase(self._iterations))

    def _advance_blocks(self, waiting: deque[Block], goal: int, ahead: int) -> None:
        """One thread's part of a chunk: waiting blocks, then running ahead with the last block until all are done."""
        block = None
        while waiting:
            try:
                block = waiting.popleft()
            except IndexError:  # another thread took the last block
                break
            self._advance_block(block, goal)
        if block is None:
            return
        limit = min(goal + ahead, self._setup.iterations)
        step = max(1, ahead // STEPS_AHEAD)
        while self._iterations < goal and block.done < limit and not self._stop[0]:
            self._advance_block(block, min(block.done + step, limit))

    def _advance_block(self, block: Block, goal: int) -> None:
        self._setup.advance(block, goal, self._stop)
        self._checkpoints[block.number].offer(block, self._most_checkpoints)

    def _block_iterations(self) -> int:
        """Iterations of all blocks together."""
        return sum(block.done for block in self._blocks)

    def _chain_iterations(self) -> int:
        """Iterations of all recorded chains together."""
        return sum(b.done * b.record.reals.shape[0] for b in self._blocks)

    def _total_counts(self) -> np.ndarray:
        """Counts by phase and kind, over the chains that are recorded."""
        total: np.ndarray = sum(b.counts[:, :, : b.record.reals.shape[0]].sum(axis=2) for b in self._blocks)
        return total


def restored(
    spec: RunSpec, target: Target, threads: int | None, arrays: Mapping[str, np.ndarray], others: Mapping[str, float]
) -> Run:
    """The run with its state put back."""
    run = Run.at(spec, target, threads, storage.places(arrays))
    run.put_back(arrays, others)
    return run
