"""Running: reproducible however it is cut, honest counts, memory, and results."""

from __future__ import annotations

import pickle
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run, RunSpec, targets
from mahmc.diagnostics import arviz
from mahmc.kernels import Counts
from mahmc.samplers import EVERY_SAMPLER, SAMPLERS
from tests.support.stops import Interrupted, stopped_often

HANGS = 120.0  # seconds; only a thread that hangs is waited for so long
CASES = [("mdc", "mahmc"), ("mdc", "mala-pn"), ("blr", "mahmc"), ("gmm", "mahmc"), ("gmm", "mala-p")]


def equal(one: Run, two: Run) -> bool:
    return all(np.array_equal(one.draws[name], two.draws[name]) for name in two.draws)


@pytest.mark.quick
@pytest.mark.parametrize(("target", "sampler"), CASES)
def test_same_spec_same_draws_whatever_threads_chunks_and_stops(target: str, sampler: str) -> None:
    spec = RunSpec.of(target, sampler, chains=19, draws=150, warmup=30, seed=3)
    whole = Run(spec, threads=1).advance_all()
    assert equal(Run(spec, threads=3).advance_all(), whole)
    pieces = Run(spec)
    while not pieces.finished:
        pieces._chunk = 7
        pieces.advance()
    assert equal(pieces, whole)
    assert np.array_equal(pieces.acceptances["trajectory"].accepted, whole.acceptances["trajectory"].accepted)
    assert not equal(Run(spec.with_(seed=4)).advance_all(), whole)


@pytest.mark.parametrize(("target", "sampler"), CASES)
def test_stopped_in_the_midst_of_iterations_and_continued(target: str, sampler: str) -> None:
    """After each count of steps inside a trajectory; draws and counts are those of a run that was never stopped."""
    spec = RunSpec.of(target, sampler, chains=16, draws=150, warmup=10, seed=5)
    run, whole = stopped_often(spec), Run(spec).advance_all()
    assert equal(run, whole)
    assert run.leapfrogs == whole.leapfrogs
    for kind in ("trajectory", "inner", "outer"):
        assert np.array_equal(run.acceptances[kind].accepted, whole.acceptances[kind].accepted)
        assert np.array_equal(run.acceptances[kind].made, whole.acceptances[kind].made)


@pytest.mark.parametrize("updates", [1, 2, 9])
def test_a_stop_takes_effect_at_the_next_step_of_the_trajectory(updates: int) -> None:
    """A stop after so many updates leaves the momentum of a trajectory of so many segments: no leapfrog came after."""
    spec = RunSpec.of("mdc", "mahmc", n_u=10, L=10, chains=8, draws=1, warmup=0, seed=5)
    stopped, short = Interrupted(spec, [updates]), Run(spec.with_(n_u=updates)).advance_all()
    assert len(list(stopped)) == 1
    assert (stopped.stops, stopped.done, stopped.leapfrogs) == (1, 0, 0)
    assert np.array_equal(stopped._blocks[0].state.p, short._blocks[0].state.p)


def test_a_stop_by_another_thread_is_seen_inside_the_trajectory() -> None:
    """One iteration would take minutes; it is stopped after its first updates, and undone."""
    run = Run(RunSpec.of("blr", "mahmc", L=1000, n_u=1000, epsilon=1e-4, chains=8, draws=10, warmup=0))
    updates = run._blocks[0].counts[1, Counts.INNER + 1]  # that the kernel has made so far

    def stop_when_under_way() -> None:
        while not updates.any():
            time.sleep(0.001)
        run.stop()

    threading.Thread(target=stop_when_under_way, daemon=True).start()
    run.advance_all()
    assert run.stopped
    assert not run.finished
    assert run.done == 0
    assert not run._blocks[0].counts.any()


class Uneven(Run):
    """One block gets no core in the first chunks until the other thread is as far ahead as it may be, and ends.

    Notes how far apart blocks are, in chunks.
    """

    def __init__(self, spec: RunSpec, slow: int) -> None:
        super().__init__(spec, threads=2)
        self.slow, self.apart = self._blocks[slow], [0.0]
        self.taken = threading.Event()  # the slow block, by a thread: it is not left to the one that has the others
        self.ended = threading.Event()  # the other thread's part of this chunk

    def advance(self, seconds: float = mahmc.run.CHUNK_SECONDS) -> None:
        self._chunk = 64
        self.taken.clear()
        self.ended.clear()
        super().advance(seconds)

    def _advance_blocks(self, waiting: deque[mahmc.run.Block], goal: int, ahead: int) -> None:
        super()._advance_blocks(waiting, goal, ahead)
        self.ended.set()

    def _advance_block(self, block: mahmc.run.Block, goal: int) -> None:
        slowed = len(self.history) < 6
        if slowed and block is not self.slow:
            assert self.taken.wait(HANGS)
        elif slowed:
            self.taken.set()
            assert self.ended.wait(HANGS)
        super()._advance_block(block, goal)
        done = [block.done for block in self._blocks]
        self.apart.append((max(done) - min(done)) / 64)


@pytest.mark.parametrize(("chains", "slow"), [(16, 0), (16, 1), (19, 1)])
def test_no_thread_waits_for_a_slow_one_and_draws_are_the_same(chains: int, slow: int) -> None:
    """A block runs up to a chunk ahead of the goal, so two ahead of another; then counts, draws and stops are right."""
    spec = RunSpec.of("mdc", "mahmc", chains=chains, draws=700, warmup=101, thin=3, seed=3)  # it ends within a step
    run, whole = Uneven(spec, slow), Run(spec, threads=1).advance_all()
    for progress in run:
        assert progress.done == min(block.done for block in run._blocks) // 3
        iterations = sum(len(block.record.reals) * block.done for block in run._blocks)
        assert run.leapfrogs == spec.leapfrogs_per_draw // 3 * iterations
        if len(run.history) == 3:
            run.stop()
    assert max(run.apart) == 2.0
    assert run.acceptances["outer"].rate is None  # it is in its warm-up
    run.advance_all()
    assert max(run.apart) == 2.0
    assert run.acceptances["outer"].rate == 1.0
    assert run.finished
    assert equal(run, whole)
    assert np.array_equal(run.warmup_draws["u"], whole.warmup_draws["u"])
    for kind, counts in run.acceptances.items():
        assert np.array_equal(counts.accepted, whole.acceptances[kind].accepted)
        assert np.array_equal(counts.made, whole.acceptances[kind].made)


def test_a_chain_does_not_depend_on_how_many_others_there_are() -> None:
    few, many = (mahmc.sample("mdc", "mahmc", chains=n, draws=40, seed=1) for n in (3, 16))
    assert all(np.array_equal(few.draws[name], many.draws[name][:3]) for name in few.draws)


@pytest.mark.quick
def test_shapes_types_and_names() -> None:
    run = mahmc.sample("mdc", "mahmc", chains=5, draws=20, warmup=6)
    assert run.draws["u"].shape == run.draws["energy"].shape == (5, 20)
    assert run.draws["u"].dtype == np.float64
    assert run.draws["w"].shape == (5, 20, 20)
    assert run.warmup_draws["v"].shape == (5, 6)
    assert np.array_equal(run.get("ones"), run.draws["w"].sum(axis=2))
    assert np.array_equal(run.get("w[4]"), run.draws["w"][..., 4])
    blr = mahmc.sample("blr", "hmc", chains=2, draws=8, warmup=0)
    assert blr.draws["beta"].shape == (2, 8, 31)
    assert set(blr.draws) == {"beta", "tau", "energy"}
    assert set(mahmc.sample("gmm", "hmc", chains=2, draws=8).draws) == {"q", "component", "energy"}
    with pytest.raises(InvalidInput, match="There are: u, v"):
        run.get("x")


def test_keep_thin_and_start() -> None:
    full = mahmc.sample("mdc", "mala-pn", chains=4, draws=30, warmup=0, seed=2)
    part = mahmc.sample("mdc", "mala-pn", chains=4, draws=10, warmup=0, seed=2, thin=3, keep=("w", "slice"))
    assert set(part.draws) == {"w", "slice"}
    assert np.array_equal(part.draws["w"], full.draws["w"][:, 2::3])
    assert np.abs(part.draws["slice"]).max() <= 1.0
    assert part.gradients == full.gradients
    with pytest.raises(InvalidInput, match="add it to keep"):
        mahmc.sample("mdc", "hmc", draws=3, keep=("u",)).get("ones")
    exact = mahmc.sample("gmm", "mala", start="exact", epsilon=1e-9, L=1, chains=4000, draws=1, warmup=0, seed=6)
    assert (
        abs(exact.get("q").mean() - exact.target.truth.scalars["q"].mean)
        < 5 * exact.target.truth.scalars["q"].sd / 4000**0.5
    )


def test_energy_is_U_at_the_draw() -> None:
    run = mahmc.sample("mdc", "mahmc", chains=2, draws=50)
    u, v, k = run.draws["u"], run.draws["v"], run.get("ones")
    U = u**2 / 2 + (v - u) ** 2 / (2 * 0.04**2) + 20 * np.logaddexp(0, u) - (20 - k) * u
    assert np.allclose(run.draws["energy"], U, rtol=1e-10, atol=1e-9)


@pytest.mark.quick
def test_counts_are_whole_numbers_of_what_was_done() -> None:
    run = mahmc.sample("mdc", "mahmc", chains=3, draws=100, warmup=20, L=4, n_u=5)
    assert run.gradients == 3 * 120 * 20 + 3
    accepted = run.acceptances
    assert accepted["trajectory"].accepted.dtype == np.int64
    assert accepted["trajectory"].made.tolist() == [100, 100, 100]
    assert accepted["inner"].made.tolist() == [400, 400, 400]
    assert accepted["inner"].rate == accepted["outer"].rate == 1.0
    moved = np.mean(np.diff(np.concatenate([run.warmup_draws["u"][:, -1:], run.draws["u"]], axis=1)) != 0)
    assert run.acceptance == pytest.approx(moved)
    assert mahmc.sample("mdc", "hmc", draws=10).acceptances["inner"].rate is None
    metropolis = mahmc.sample("mdc", "mahmc", chains=3, draws=100, update="metropolis").acceptances
    assert 0.2 < (metropolis["inner"].rate or 0) < 0.99


def test_non_finite_energies_are_rejections_and_counted() -> None:
    run = mahmc.sample("mdc", "hmc", epsilon=100.0, L=100, chains=8, draws=20, warmup=0)
    assert run.acceptance == 0.0
    assert run.non_finite == 8 * 20
    assert all(np.isfinite(run.draws[name]).all() for name in run.draws)
    steep = targets.blr([[1e160], [1e160]], [0, 1])
    persistent = mahmc.sample(steep, "mala-pn", chains=8, draws=20, warmup=0, L=2)
    assert persistent.non_finite > 0
    assert np.isfinite(persistent.draws["beta"]).all()


def test_a_trajectory_that_overflowed_does_not_stop_its_chain() -> None:
    """In the funnel's neck steps are unstable, elsewhere they are not: after an infinite momentum comes a new one."""
    target = targets.build("neals-funnel", dim=3, scale=1.0)
    run = mahmc.sample(target, "hmc", epsilon=0.9, L=12, chains=256, draws=400, warmup=0, seed=1)
    assert run.non_finite > 256
    late = run.draws["v"][:, 200:]
    assert np.mean(np.ptp(late, axis=1) > 0) > 0.9  # a few sit deep in the neck, where hardly a step is stable


def test_memory_is_worked_out_beforehand() -> None:
    with pytest.raises(InvalidInput, match="GiB may be used"):
        mahmc.sample("blr", "hmc", draws=10**9)
    spec = RunSpec.of("mdc", "hmc", draws=1000, warmup=0, chains=10)
    assert mahmc.run.memory_needed(spec, targets.mdc()) == 10 * 1000 * (3 * 8 + 20)


def test_progress() -> None:
    run = Run(RunSpec.of("mdc", "hmc", draws=3000, warmup=100))
    seen = []
    for progress in run:
        seen.append(progress)
        run._chunk = 200  # else a slow machine makes it a few draws, of which one rejection would be much
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1].share == 1.0
    assert seen[-1].seconds_left == 0.0
    nothing = Run(run.spec).acceptance_history  # as a page asks before the first draws are there
    assert (len(nothing[0]), nothing[1]) == (0, {})
    done, rates = run.acceptance_history
    assert done[-1] == 3100
    assert set(rates) == {"trajectory", "outer"}
    assert np.all(rates["trajectory"] > 0.9)
    assert np.all(rates["outer"] == 1.0)


@pytest.mark.quick
def test_diagnostics_are_arvizs() -> None:
    run = mahmc.sample("mdc", "mahmc", chains=4, draws=500)
    az, u = arviz(), run.draws["u"]
    assert run.ess("u") == pytest.approx(float(az.ess(u)), rel=1e-10)
    assert run.ess("u", "tail") == pytest.approx(float(az.ess(u, method="tail", prob=(0.05, 0.95))), rel=1e-10)
    assert run.rhat("u") == pytest.approx(float(az.rhat(u)), rel=1e-10)
    assert run.mcse("u") == pytest.approx(float(az.mcse(u)), rel=1e-10)
    assert run.ess_per_gradient("u") == pytest.approx(float(az.ess(u)) / u.size / 100, rel=1e-10)
    assert np.asarray(run.ess("w")).shape == (20,)


def test_chains_that_never_moved_have_no_ess() -> None:
    run = mahmc.sample("gmm", "hmc", epsilon=99.0, draws=50, weights=[1.0], means=[0.0], sds=[1.0])
    assert run.acceptance == 0.0
    assert np.isnan(run.ess("component"))
    assert np.isnan(run.rhat("component"))
    assert np.isnan(mahmc.sample("mdc", "hmc", draws=3).ess("u"))


@pytest.mark.quick
def test_netcdf_opens_in_arviz(tmp_path: Path) -> None:
    run = mahmc.sample("mdc", "mahmc", chains=3, draws=30)
    run.to_netcdf(tmp_path / "draws.nc")
    opened = arviz().from_netcdf(str(tmp_path / "draws.nc"))
    posterior = opened["posterior"]
    assert np.array_equal(posterior["u"].values, run.draws["u"])
    assert posterior["w"].shape == (3, 30, 20)
    assert RunSpec.from_json(posterior.attrs["spec"]) == run.spec
    assert np.array_equal(opened["sample_stats"]["energy"].values, run.draws["energy"])


def test_acceptances_read_in_the_midst_of_a_chunk_are_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gibbs updates are always accepted, so their rate is 1 whenever it is read: accepted and made belong together.

    Read where a kernel has just counted its iterations and the run has not: as in the midst of the chunk.
    """
    right, seen = SAMPLERS["mahmc"], []

    def advance(*block: Any) -> int:
        done = right.advance(*block)
        seen.append((run.acceptances["inner"].rate, run.acceptances["outer"].rate))
        return done

    monkeypatch.setitem(EVERY_SAMPLER, "mahmc", replace(right, advance=advance))
    run = Run(RunSpec.of("mdc", "mahmc", chains=16, draws=200, warmup=100), threads=1)
    while not run.finished:
        run._chunk = 50
        run.advance()
    assert seen == [(None, None)] * 6 + [(1.0, 1.0)] * 6  # two blocks; warm-up in two chunks, draws in four


# -------------------------------------------------------------------------------------------------- initial values

STARTS = {"u": np.linspace(0, 1, 13), "v": np.zeros(13), "w": np.tile([0, 1, 1], (13, 1))}


def frozen(init: dict[str, np.ndarray]) -> Run:
    """Chains that hardly move."""
    spec = RunSpec.of("mdc", "hmc", n_w=3, chains=13, draws=1, warmup=0, epsilon=1e-12, L=1, outer="none")
    return Run(spec, init=init).advance_all()


def test_chains_start_where_they_are_told() -> None:
    draws = frozen(STARTS).draws
    for name, expected in STARTS.items():
        assert np.allclose(draws[name][:, 0], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("init", "said"),
    [
        ({"u": STARTS["u"]}, "init must have a value for each of u, v, w, but it has u."),
        (STARTS | {"u": np.zeros(12)}, "init: u has the shape (12,); (13,) is needed."),
        (STARTS | {"w": np.zeros((13, 2))}, "init: w has the shape (13, 2); (13, 3) is needed."),
        (STARTS | {"v": np.full(13, np.nan)}, "init: v has values that are not finite."),
    ],
)
def test_initial_values_that_cannot_be_used_are_refused(init: dict[str, np.ndarray], said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        frozen(init)


# ----------------------------------------------------------------------------------------- threads, Ctrl-C, pickle


@pytest.mark.parametrize("threads", [-1, 0, 1.5, True, "two"])
def test_threads_that_cannot_be_used_are_refused(threads: Any) -> None:
    with pytest.raises(InvalidInput, match=r"threads = .* is not allowed: a whole number of at least 1"):
        mahmc.sample("mdc", "hmc", threads=threads)


def test_an_interrupt_keeps_the_draws_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    advance, calls = Run.advance, []

    def interrupted(run: Run, seconds: float = mahmc.run.CHUNK_SECONDS) -> None:
        run._chunk = 50
        calls.append(run.done)
        if len(calls) == 4:
            raise KeyboardInterrupt
        advance(run, seconds)

    monkeypatch.setattr(Run, "advance", interrupted)
    size: dict[str, Any] = {"chains": 8, "draws": 400, "warmup": 0, "seed": 3}
    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C after"):
        run = mahmc.sample("mdc", "mahmc", **size)
    assert 0 < run.draws["u"].shape[1] < 400
    monkeypatch.undo()
    assert np.array_equal(run.advance_all().draws["u"], mahmc.sample("mdc", "mahmc", **size).draws["u"])


SCHEDULES = [{}, {"schedule": "iid(20, 0.8)"}, {"sampler": "m-hmc"}, {"sampler": "mala-pn"}]


@pytest.mark.parametrize("chosen", SCHEDULES, ids=str)
@pytest.mark.parametrize("copied", [lambda run: pickle.loads(pickle.dumps(run)), deepcopy], ids=["pickle", "deepcopy"])
def test_a_copy_of_a_run_under_way_goes_on_by_itself(chosen: dict[str, Any], copied: Callable[[Run], Run]) -> None:
    spec = RunSpec.of("gmm", **{"sampler": "mahmc", "chains": 12, "draws": 300, "warmup": 20, "seed": 4, **chosen})
    run, whole = Run(spec), Run(spec).advance_all()
    run._chunk = 64
    run.advance()
    other = copied(run)
    assert (other.done, other.leapfrogs, other.spec) == (run.done, run.leapfrogs, spec)
    other.advance_all()
    assert not run.finished
    for name, draws in whole.draws.items():
        assert np.array_equal(other.draws[name], draws)
        assert np.array_equal(run.advance_all().draws[name], draws)
    assert other.acceptances["trajectory"].rate == whole.acceptances["trajectory"].rate


def test_a_run_on_data_of_its_own_goes_through_pickle() -> None:
    rng = np.random.default_rng(1)
    target = targets.blr(rng.standard_normal((20, 3)), rng.integers(0, 2, 20), scale=2.0)
    run = mahmc.sample(target, "hmc", draws=20, warmup=5, chains=8)
    other = pickle.loads(pickle.dumps(run))
    assert np.array_equal(other.draws["beta"], run.draws["beta"])
    assert np.array_equal(other.target.density.arrays["X"], target.density.arrays["X"])
    assert other.target.fingerprint == target.fingerprint
