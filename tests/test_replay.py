"""Any draw of any run can be made again from a checkpoint, and checkpoints take little memory."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run, RunSpec
from mahmc.run import checkpoints, storage
from mahmc.run.checkpoints import Checkpoints, most_checkpoints
from mahmc.samplers import EVERY_SAMPLER
from tests.support.stops import FULL, Interrupted

SIZE: dict[str, Any] = {"chains": 19, "draws": 60, "warmup": 11, "seed": 3}
CASES: dict[str, dict[str, Any]] = {name: {"sampler": name} for name in EVERY_SAMPLER} | {
    "thinned": {"sampler": "mahmc", "thin": 3},
    "drawn schedule": {"sampler": "mahmc", "schedule": "iid(20, 0.8)"},
}
MOST = 5


@pytest.fixture(autouse=True)
def few_and_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints in short runs too, and so few of them that they are thinned out."""
    monkeypatch.setattr(checkpoints, "SHORTEST", 3)
    monkeypatch.setattr("mahmc.run.advancing.most_checkpoints", lambda setup, blocks: MOST)


def in_short_calls(run: Run) -> Run:
    while not run.finished:
        run._chunk = 4
        run.advance()
    return run


def assert_replayed(run: Run, seed: int = 1) -> None:
    """Random draws of random chains are made again, in the warm-up too."""
    assert all(0 < len(c.kept) <= MOST for c in run._checkpoints)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        warmup = bool(rng.integers(2))
        drawn = run.warmup_draws if warmup else run.draws
        chain, draw = int(rng.integers(run.spec.chains)), int(rng.integers(drawn["q"].shape[1]))
        found = run.replay(chain, draw, warmup)
        for name in ("q", "component"):
            assert np.array_equal(found.end[name], drawn[name][chain, draw])


@pytest.mark.parametrize("case", CASES)
def test_draws_are_made_again(case: str, tmp_path: Path) -> None:
    """After stops inside iterations, after an extension, and from a file."""
    spec = RunSpec.from_dict({"target": "gmm"} | SIZE | CASES[case])
    often = Interrupted(spec)
    while not often.finished:
        for _ in often:
            often._chunk = FULL
    assert often.stops > 0
    assert_replayed(often)
    run = in_short_calls(Run(spec))
    run.extend(20)
    run.save(tmp_path / "run.npz")
    for again in (run, mahmc.load(tmp_path / "run.npz"), copy.deepcopy(run)):
        assert_replayed(again)


def test_a_replay_begins_at_the_nearest_checkpoint() -> None:
    """With another state in the checkpoint, another draw comes out, and the replay says so."""
    run = in_short_calls(Run(RunSpec.of("gmm", "mahmc", **SIZE)))
    nearest = run._checkpoints[0].before(SIZE["warmup"] + 40)
    assert nearest is not None
    nearest.rows[0] = np.full(8, 2.5).view(np.uint64)  # q
    with pytest.raises(
        InvalidInput, match=r"draw 40 of chain 3 cannot be made again: .* differs from the recorded draw"
    ):
        run.replay(3, 40)
    run.replay(3, 0)


def test_a_run_from_given_values_is_made_again(tmp_path: Path) -> None:
    init = {"q": np.linspace(-2.0, 4.0, 19), "component": np.arange(19) % 4}
    run = Run(RunSpec.of("gmm", "mahmc", **SIZE), init=init)
    run.advance_all().save(tmp_path / "run.npz")
    for again in (run, mahmc.load(tmp_path / "run.npz")):
        assert again.replay(12, 0, warmup=True).q[0] == init["q"][12]
        assert_replayed_from_the_start(again)


def assert_replayed_from_the_start(run: Run) -> None:
    for c in run._checkpoints:
        c.kept = []
    assert run.replay(4, 30).end["q"] == run.draws["q"][4, 30]


def test_a_file_of_an_earlier_version_has_no_checkpoints(tmp_path: Path) -> None:
    run = in_short_calls(Run(RunSpec.of("gmm", "mahmc", **SIZE)))
    arrays = {name: array for name, array in run.arrays().items() if name not in storage.OPTIONAL}
    storage.write(tmp_path / "run.npz", run.spec, arrays, run._others())
    loaded = mahmc.load(tmp_path / "run.npz")
    assert loaded.replay(7, 33).end["q"] == run.draws["q"][7, 33]


@pytest.mark.parametrize(
    ("name", "value"),
    [("checkpoint.block", 3), ("checkpoint.block", -1), ("checkpoint.iteration", 72), ("checkpoint.iteration", 0)],
)
def test_a_file_with_impossible_checkpoints_is_refused(name: str, value: int, tmp_path: Path) -> None:
    run = in_short_calls(Run(RunSpec.of("gmm", "mahmc", **SIZE)))
    arrays = run.arrays()
    arrays[name][-1] = value
    storage.write(tmp_path / "run.npz", run.spec, arrays, run._others())
    with pytest.raises(InvalidInput, match=r"the state of the chains in .* does not fit"):
        mahmc.load(tmp_path / "run.npz")


def test_a_file_with_an_unknown_component_in_a_checkpoint_is_refused(tmp_path: Path) -> None:
    """A kernel would look up memory by this value."""
    run = in_short_calls(Run(RunSpec.of("gmm", "mahmc", **SIZE)))
    run._checkpoints[1].kept[0].rows[1, 0] = np.float64(1e6).view(np.uint64)
    run.save(tmp_path / "run.npz")
    with pytest.raises(InvalidInput, match=r"the state of the chains in .* does not fit"):
        mahmc.load(tmp_path / "run.npz")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((19, 0), r"chain = 19 is beyond the run: choose a number from 0 to 18\."),
        ((0, 60), r"draw = 60 is beyond the run: choose a number from 0 to 59\."),
        ((0, 11, True), r"draw = 11 is beyond the run: choose a number from 0 to 10\."),
        ((0, "last"), "draw = 'last' is not allowed: a whole number is needed"),
    ],
)
def test_what_cannot_be_replayed_is_refused(given: tuple[Any, ...], message: str) -> None:
    run = Run(RunSpec.of("gmm", "mahmc", **SIZE)).advance_all()
    with pytest.raises(InvalidInput, match=message):
        run.replay(*given)
    with pytest.raises(InvalidInput, match="draw = 0 is beyond the run: there is none yet"):
        Run(run.spec).replay(0, 0)


@pytest.mark.parametrize("most", [1, 2, 20])
def test_checkpoints_are_few_and_evenly_spaced(most: int) -> None:
    """However long the run becomes; and no iteration is far from a checkpoint before it."""
    run = Run(RunSpec.of("gmm", "hmc", chains=8))
    block, kept = run._blocks[0], Checkpoints()
    for done in range(7, 20_000, 7):
        block.done = done
        kept.offer(block, most)
        assert len(kept.kept) <= most
    places = [0, *(c.iteration for c in kept.kept), block.done]
    assert most == 1 or np.diff(places).max() <= 5 * block.done / most


def test_checkpoints_take_a_megabyte_for_a_million_draws() -> None:
    for target, chains, fewest in (("mdc", 16, 200), ("blr", 16, 70), ("gmm", 8, 800), ("mdc", 4_000, 0)):
        run = Run(RunSpec.of(target, "hmc", chains=chains, draws=10**6 // chains, warmup=0))
        most = most_checkpoints(run._setup, run._blocks)
        size = checkpoints.rows_of(run.states[0]).nbytes
        assert most * size * len(run._blocks) <= 1_000_000
        assert most >= fewest
