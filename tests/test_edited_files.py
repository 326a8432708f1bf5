"""Files of runs that somebody edited, or made to do harm: each is refused in words, and none ends the process."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """The arrays of a saved run whose steps are drawn, so that blocks have plans of their own."""
    path = tmp_path_factory.mktemp("run") / "run.npz"
    mahmc.sample("gmm", "mahmc", schedule="iid(10, 0.5)", chains=8, draws=60, seed=3, warn=False).save(path)
    with np.load(path) as archive:
        return dict(archive)


def loaded(arrays: dict[str, np.ndarray], folder: Path, **how: Any) -> mahmc.Run:
    path = folder / "run.npz"
    (np.savez_compressed if how.get("compressed") else np.savez)(path, **arrays)  # type: ignore[arg-type]
    return mahmc.load(path)


def test_the_file_as_it_is_goes_on(stored: dict[str, np.ndarray], tmp_path: Path) -> None:
    assert loaded(stored, tmp_path).extend(10).draws["q"].shape == (8, 70)


def edited(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[dict[str, np.ndarray]], None]:
    def edit(arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = change(arrays[name].copy())

    return edit


def filled(value: int, *where: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array[where or ...] = value
        return array

    return change


@pytest.mark.parametrize(
    "edit",
    [
        edited("plan.begins", filled(10**12)),
        edited("plan.ends", filled(10**12)),
        edited("plan.ends", lambda ends: ends + 25),
        edited("plan.rows", filled(9)),
        edited("plan.rows", filled(-1)),
        edited("state.other", filled(50, slice(None), 0)),
        edited("state.other", filled(-1, slice(None), 0)),
        edited("counts", filled(-5)),
        edited("done", filled(-1)),
        edited("done", filled(10**9)),
        edited("history.done", lambda done: done[::-1] - 10**6),
    ],
)
def test_numbers_that_kernels_would_trust_are_looked_at(
    stored: dict[str, np.ndarray], tmp_path: Path, edit: Callable[[dict[str, np.ndarray]], None]
) -> None:
    arrays = dict(stored)
    edit(arrays)
    with pytest.raises(InvalidInput, match="does not fit"):
        loaded(arrays, tmp_path)


def with_about(arrays: dict[str, np.ndarray], change: Callable[[dict[str, Any]], Any]) -> dict[str, np.ndarray]:
    about = json.loads(arrays["about"].tobytes())
    text = json.dumps(change(about))
    return {**arrays, "about": np.frombuffer(text.encode(), np.uint8)}


@pytest.mark.parametrize(
    "change",
    [
        lambda about: {name: value for name, value in about.items() if name != "format"},
        lambda about: {name: value for name, value in about.items() if name != "others"},
        lambda about: {name: value for name, value in about.items() if name != "target file"},
        lambda about: about | {"spec": [1, 2]},
        lambda about: about | {"spec": about["spec"] | {"target": ["gmm"]}},
        lambda about: about | {"others": {"seconds": 1.0, "chunk": 0}},
        lambda about: about | {"others": {"seconds": 1.0, "chunk": "x"}},
        lambda about: about | {"others": {"seconds": float("nan"), "chunk": 5}},
        lambda about: [about],
    ],
)
def test_a_description_with_something_else_in_it_is_refused(
    stored: dict[str, np.ndarray], tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    with pytest.raises(InvalidInput, match="is damaged, or is not a file"):
        loaded(with_about(stored, change), tmp_path)


def test_deep_json_is_refused(stored: dict[str, np.ndarray], tmp_path: Path) -> None:
    deep = np.frombuffer(b"[" * 200_000, np.uint8)
    with pytest.raises(InvalidInput, match="is damaged"):
        loaded({**stored, "about": deep}, tmp_path)


def test_what_is_larger_than_the_file_is_not_unpacked(stored: dict[str, np.ndarray], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is damaged"):
        loaded({**stored, "junk": np.zeros(10**6)}, tmp_path, compressed=True)


def test_a_header_that_promises_more_than_there_is_allocates_nothing(
    stored: dict[str, np.ndarray], tmp_path: Path
) -> None:
    loaded(stored, tmp_path)
    huge = tmp_path / "huge.npz"
    with zipfile.ZipFile(tmp_path / "run.npz") as before, zipfile.ZipFile(huge, "w") as after:
        for member in before.infolist():
            content = before.read(member)
            if member.filename == "reals.npy":
                content = content.replace(b"'shape': (8, ", b"'shape': (10000000000000,")[: len(content)]
            after.writestr(member.filename, content)
    with pytest.raises(InvalidInput, match="is damaged"):
        mahmc.load(huge)
