"""Runs that are extended, saved and loaded: the same draws, bit for bit, as one run that was never interrupted."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput, Run, RunSpec, targets
from mahmc.run import recording
from mahmc.run.blocks import Setup
from mahmc.targets import FAMILIES
from tests.support.stops import FULL, Interrupted

SIZE: dict[str, Any] = {"chains": 19, "draws": 60, "warmup": 11, "seed": 3}
MORE = 47
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mahmc": ("mdc", "mahmc", {}),
    "thinned": ("gmm", "mahmc", {"thin": 3}),
    "drawn schedule": ("gmm", "mahmc", {"schedule": "iid(20, 0.8)"}),
    "persistent": ("gmm", "mala-pn", {"keep": ("q", "momentum", "slice"), "thin": 2}),
    "mixed": ("gmm", "m-hmc", {}),
    "no warm-up": ("mdc", "hmc", {"warmup": 0}),
    "discrete alone": ("gmm", "mahmc", {"keep": ("component",)}),
}
every_case = pytest.mark.parametrize("case", CASES)


def specs(case: str) -> tuple[RunSpec, RunSpec]:
    """A run, and the longer run that it becomes."""
    target, sampler, chosen = CASES[case]
    spec = RunSpec.of(target, sampler, **SIZE | chosen)
    return spec, spec.with_(draws=spec.draws + MORE)


def assert_same(one: Run, two: Run) -> None:
    """Draws, counts, states and specs are the same."""
    assert one.spec == two.spec
    assert one.finished
    assert one.leapfrogs == two.leapfrogs
    for name in two.spec.keep:
        assert np.array_equal(one.draws[name], two.draws[name])
        assert np.array_equal(one.warmup_draws[name], two.warmup_draws[name])
    for kind, found in two.acceptances.items():
        assert np.array_equal(one.acceptances[kind].accepted, found.accepted)
        assert np.array_equal(one.acceptances[kind].made, found.made)
    for here, there in zip(one.states, two.states, strict=True):
        assert np.array_equal(here.stack, there.stack)
        assert np.array_equal(here.rng, there.rng)


def through_pickle(run: Run, folder: Path) -> Run:
    return pickle.loads(pickle.dumps(run))


def through_a_file(run: Run, folder: Path) -> Run:
    run.save(folder / "run.npz")
    return mahmc.load(folder / "run.npz")


KEPT = pytest.mark.parametrize("kept", [through_pickle, through_a_file])


# -------------------------------------------------------------------------------------------------------- extended


@every_case
def test_an_extended_run_is_the_longer_run(case: str) -> None:
    short, long = specs(case)
    run = Run(short, threads=2).advance_all()
    assert run.extend(MORE) is run
    assert_same(run, Run(long, threads=1).advance_all())


def test_extended_twice_and_while_stopped() -> None:
    short, long = specs("mahmc")
    run = Interrupted(short, chain([1, 30], repeat(FULL)))
    run.advance_all()
    run.extend(7)
    assert run.stops == 2
    assert not run.finished
    run.extend(MORE - 7)
    assert_same(run, Run(long).advance_all())


def test_extended_from_the_start_and_with_blocks_apart() -> None:
    short, long = specs("thinned")
    assert_same(Run(short).extend(MORE), Run(long).advance_all())
    run = Run(short)
    run._chunk = 16
    run._advance_block(run._blocks[1], 100)  # ahead of the others
    assert_same(run.extend(MORE), Run(long).advance_all())


@pytest.mark.parametrize("more", [0, -1, 1.5, "many", True])
def test_a_run_is_extended_by_a_number_of_draws(more: Any) -> None:
    run = mahmc.sample("gmm", "hmc", draws=20)
    with pytest.raises(InvalidInput, match=r"draws = .* is not allowed: draws must be a whole number"):
        run.extend(more)
    assert run.spec.draws == 20


def test_an_extension_beyond_memory_is_refused_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    run = mahmc.sample("gmm", "hmc", draws=200, chains=8)
    before = run.draws["q"].copy()
    monkeypatch.setattr(recording, "free_memory", lambda: 4 * 8 * 17 * 400)
    with pytest.raises(InvalidInput, match=r"draws = 1200 on 8 chains take .* GiB may be used. Take at most 800 draws"):
        run.extend(1000)
    assert run.spec.draws == 200
    assert np.array_equal(run.draws["q"], before)
    assert run.extend(100).draws["q"].shape == (8, 300)


def test_an_extended_run_on_data_of_its_own() -> None:
    target = own_data()
    run = mahmc.sample(target, "hmc", draws=20, chains=8).extend(10)
    assert np.array_equal(run.draws["beta"], mahmc.sample(target, "hmc", draws=30, chains=8).draws["beta"])
    assert run.spec.draws == 30


# ------------------------------------------------------------------------------------------------ saved and loaded


def own_data(scale: float = 2.0, seed: int = 1) -> targets.Target:
    rng = np.random.default_rng(seed)
    return targets.blr(rng.standard_normal((20, 3)), rng.integers(0, 2, 20), scale=scale)


@KEPT
@every_case
def test_a_run_that_comes_back_goes_on(case: str, kept: Callable[[Run, Path], Run], tmp_path: Path) -> None:
    """Begun, kept, gone on with, kept again at its end, and extended."""
    short, long = specs(case)
    run = Run(short)
    run._chunk = 16
    run.advance()
    other = kept(run, tmp_path)
    assert (other.done, other.seconds, other.spec) == (run.done, run.seconds, run.spec)
    other = kept(other.advance_all(), tmp_path)
    whole = Run(short).advance_all()
    assert_same(other, whole)
    assert_same(other.extend(MORE), Run(long).advance_all())
    assert other.history[-1].iterations == 19 * long.slots * long.thin


@KEPT
def test_a_run_that_was_stopped_inside_an_iteration_comes_back(
    kept: Callable[[Run, Path], Run], tmp_path: Path
) -> None:
    short, _ = specs("mahmc")
    run = Interrupted(short, [5, 33])
    for _ in range(2):
        for _ in run:
            pass
    assert not run.finished
    assert_same(kept(run, tmp_path).advance_all(), Run(short).advance_all())


@KEPT
def test_chains_come_back_that_only_their_initial_values_let_start(
    kept: Callable[[Run, Path], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = RunSpec.of("mdc", "hmc", n_w=3, chains=3, draws=10, warmup=0)
    init = {"u": np.zeros(3), "v": np.zeros(3), "w": np.ones((3, 3))}
    run = Run(spec, init=init).advance_all()
    infinite = {"u": np.full(8, 1e200), "v": np.zeros(8), "w": np.ones((8, 3))}
    monkeypatch.setattr(Setup, "_drawn_start", lambda *given: infinite)
    with pytest.raises(InvalidInput, match="has an energy of inf where chain 0 starts"):
        Run(spec)
    assert np.array_equal(kept(run, tmp_path).draws["u"], run.draws["u"])


def test_a_file_is_plain_arrays_and_json(tmp_path: Path) -> None:
    run = mahmc.sample("gmm", "mahmc", draws=30, chains=3)
    run.save(tmp_path / "mine")  # whatever it is called
    with np.load(tmp_path / "mine", allow_pickle=False) as archive:
        about = json.loads(archive["about"].tobytes())
        assert RunSpec.from_dict(about["spec"]) == run.spec
        assert (about["format"], about["mahmc"]) == (1, mahmc.__version__)
        assert archive["reals"].shape == (3, 230, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_draws_that_are_not_there_yet_are_not_in_the_file(tmp_path: Path) -> None:
    """The file is as long as what was drawn."""
    run = Run(RunSpec.of("gmm", "mahmc", draws=100_000, chains=8))
    run.advance()
    run.save(tmp_path / "run.npz")
    assert (tmp_path / "run.npz").stat().st_size < run.done * 8 * 17 + 200_000


def test_a_file_that_cannot_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = mahmc.sample("gmm", "mahmc", draws=30, chains=3)
    run.save(tmp_path / "run.npz")
    before = (tmp_path / "run.npz").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        run.extend(10).save(tmp_path / "run.npz")
    assert (tmp_path / "run.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    with pytest.raises(InvalidInput, match=r"cannot be written \(No such file or directory\): choose another place"):
        run.save(tmp_path / "no folder" / "run.npz")
    with pytest.raises(InvalidInput, match="is a folder: give the name of a file in it"):
        run.save(tmp_path)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    mahmc.sample("gmm", "mahmc", draws=30, chains=3).save(tmp_path / "run.npz")
    (tmp_path / "other").touch()
    assert (tmp_path / "run.npz").stat().st_mode == (tmp_path / "other").stat().st_mode


# --------------------------------------------------------------------------------------------- what is not taken back


def saved(folder: Path, target: str | targets.Target = "gmm", **chosen: Any) -> Path:
    mahmc.sample(target, "mahmc", **{"draws": 30, "chains": 3} | chosen).save(folder / "run.npz")
    return folder / "run.npz"


def changed(path: Path, about: dict[str, Any] | None = None, **arrays: Any) -> Path:
    """The file with something else in it."""
    with np.load(path) as archive:
        held = dict(archive)
    said = json.loads(held["about"].tobytes()) | (about or {})
    held |= {name: change(held[name]) for name, change in arrays.items()}
    held["about"] = np.frombuffer(json.dumps(said).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **held)
    return path


def refused(path: Path, words: str, target: targets.Target | None = None) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        mahmc.load(path, target)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "text": lambda content: b"chain,draw,q\n0,0,1.5\n",
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-30],
    "one bit": lambda content: content[:3000] + bytes([content[3000] ^ 4]) + content[3001:],
    "a pickle": lambda content: pickle.dumps({"about": 1}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_and_foreign_files_are_refused(damage: str, tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    refused(path, "is damaged, or is not a file that run.save wrote")


def test_other_archives_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    refused(tmp_path / "a.npz", "is damaged, or is not a file that run.save wrote")
    np.save(tmp_path / "a.npy", np.zeros(3))
    refused(tmp_path / "a.npy", "is damaged, or is not a file that run.save wrote")
    refused(changed(saved(tmp_path), {"kind": "something else"}), "is damaged, or is not a file that run.save wrote")
    refused(tmp_path / "none.npz", "cannot be read (No such file or directory)")
    refused(tmp_path, "cannot be read (Is a directory)")


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    about = np.array([Trap()], object)
    with (tmp_path / "trap.npz").open("wb") as file:
        np.savez(file, about=about)
    refused(tmp_path / "trap.npz", "is damaged, or is not a file that run.save wrote")
    assert not (tmp_path / "sprung").exists()


def one(value: int) -> Callable[[np.ndarray], np.ndarray]:
    """The array with this value in place of its first."""
    return lambda x: np.array([value, *x[1:]])


@pytest.mark.parametrize(
    "changes",
    [
        {"state.rng": lambda x: x[:, :3]},
        {"state.q": lambda x: x[:, :0]},
        {"state.U": lambda x: x.astype(np.float32)},
        {"reals": lambda x: x[:, :-1]},
        {"done": one(-5)},
        {"done": one(1000)} | {name: lambda x: np.resize(x, (19, 1000, x.shape[2])) for name in ("reals", "discretes")},
        {"discretes": lambda x: x[:, :-1]},
        {"history.counts": lambda x: x[:, 1:]},
        {"history.done": lambda x: x[1:]},
    ],
    ids=",".join,
)
def test_states_that_do_not_fit_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    refused(changed(saved(tmp_path, chains=19), **changes), f"does not fit mahmc {mahmc.__version__}")


def test_files_of_another_format_are_refused_by_version(tmp_path: Path) -> None:
    path = changed(saved(tmp_path), {"format": 2, "mahmc": "9.1.0"})
    refused(path, f"was saved by mahmc 9.1.0, in format 2; this is mahmc {mahmc.__version__}, which reads format 1")


def test_a_run_on_data_of_its_own_needs_the_same_data(tmp_path: Path) -> None:
    path = saved(tmp_path, own_data())
    whole = mahmc.sample(own_data(), "mahmc", draws=40, chains=3)
    refused(path, f"used blr with a user's data (fingerprint {own_data().fingerprint}), which are not in the file")
    refused(path, "the given target has other data than the run", own_data(seed=2))
    refused(path, "the given target has other data than the run", targets.blr())
    refused(
        path, "scale = 2.0, but the given target has 3.0: build the target with the same settings", own_data(scale=3.0)
    )
    refused(path, "used the target blr, but the given target is mdc", targets.mdc())
    assert np.array_equal(mahmc.load(path, own_data()).extend(10).draws["beta"], whole.draws["beta"])


CUSTOM = """
import mahmc
from mahmc.custom import real


@mahmc.target
class KeptNormal:
    def variables(self):
        return real("x")

    def U(self, q):
        return q[0] ** 2 / 2

    def grad_U(self, q, grad):
        grad[0] = q[0]
"""


def test_a_custom_target_has_to_be_known_and_the_same(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(CUSTOM)
    try:
        mahmc.load_targets(source)
        path, whole = saved(tmp_path, "kept-normal"), mahmc.sample("kept-normal", "mahmc", draws=40, chains=3)
        del FAMILIES["kept-normal"]
        refused(path, f"custom target kept-normal, which is unknown here: first mahmc.load_targets('{source}')")
        mahmc.load_targets(source)
        assert np.array_equal(mahmc.load(path).extend(10).draws["x"], whole.draws["x"])
        source.write_text(CUSTOM.replace("** 2 / 2", "** 2").replace("= q[0]", "= 2 * q[0]"))
        mahmc.load_targets(source)
        refused(path, "kept-normal has other energies than when")
        del FAMILIES["kept-normal"]
        source.unlink()
        refused(path, "kept-normal, which is unknown here: first define its class with @mahmc.target, and then load")
    finally:
        FAMILIES.pop("kept-normal", None)


def test_a_file_with_other_energies_is_refused(tmp_path: Path) -> None:
    other_energies: dict[str, Any] = {"state.U": lambda U: U + 0.01}
    path = changed(saved(tmp_path), **other_energies)
    refused(path, "gmm has other energies than when")
