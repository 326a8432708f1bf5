"""Machine code is kept between processes, and never served after its source changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mahmc.compiled import stored

ROOT = Path(__file__).parent.parent
PROGRAM = """
import numpy as np
from numba.core import event
import mahmc
from mahmc.kernels import energies
target = mahmc.targets.gmm(weights=[1.0], means=[0.0], sds=[1.0])
with event.install_recorder("numba:compile") as compiled:
    U = energies(target, *target.density.pack({"q": np.array([0.0]), "component": np.array([0])}))
print(len(compiled.buffer), U[0], mahmc.__file__)
"""


def output(package_root: Path, cache: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(package_root), "MAHMC_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, env=environment, cwd=package_root, capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_a_second_process_compiles_nothing_and_a_changed_source_is_seen(tmp_path: Path) -> None:
    """The kernel is in kernels/state.py and the change in targets/gmm.py: numba by itself would not see it."""
    copy, cache = tmp_path / "mahmc", tmp_path / "cache"
    shutil.copytree(ROOT / "mahmc", copy, ignore=shutil.ignore_patterns("__pycache__"))
    cold, energy, file = output(tmp_path, cache)
    assert Path(file).is_relative_to(tmp_path)
    assert int(cold) > 0
    warm, again, _ = output(tmp_path, cache)
    assert again == energy
    assert int(warm) == 0
    target = copy / "targets" / "gmm.py"
    right, moved = "away = load(q, 0) - load(other, 1)", "away = load(q, 0) - load(other, 1) - 9.0"
    assert target.read_text().count(right) == 1
    target.write_text(target.read_text().replace(right, moved))
    changed, other, _ = output(tmp_path, cache)
    assert int(changed) > 0
    assert float(other) == float(energy) + 9.0**2 / 2, "the old machine code was served"


def plus_one(x: float) -> float:
    return x + 1.0


@pytest.mark.quick
def test_machine_code_is_not_kept_if_its_folder_cannot_be_written(tmp_path: Path) -> None:
    """numba would choose a folder whose name is no digest of the sources, and serve stale code from there."""
    (tmp_path / "file").touch()
    compiled: Any = stored(plus_one, tmp_path / "file" / "folder")
    assert compiled.stats.cache_path is None
    assert compiled(1.0) == 2.0


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_of_machine_code_is_written_again(kind: str, tmp_path: Path) -> None:
    stored(plus_one, tmp_path)(1.0)
    (file,) = tmp_path.rglob(f"*.{kind}")
    file.write_bytes(file.read_bytes()[:20] if kind == "nbc" else b"")
    assert stored(plus_one, tmp_path)(1.0) == 2.0
    again: Any = stored(plus_one, tmp_path)
    assert again(1.0) == 2.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_the_source_tree_stays_clean() -> None:
    assert not list((ROOT / "mahmc").rglob("*.nbi"))
    assert not list((ROOT / "mahmc").rglob("*.nbc"))
