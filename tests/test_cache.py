"""Machine code is kept between processes, and never served after its source changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """
import numpy as np
from numba.core import event
import mahmc
from mahmc.kernels import energies
target = mahmc.targets.gmm(weights=[1.0], means=[0.0], sds=[1.0])
with event.install_recorder("numba:compile") as compiled:
    U = energies(target, *target.pack({"q": np.array([0.0]), "component": np.array([0])}))
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


def test_the_source_tree_stays_clean() -> None:
    assert not list((ROOT / "mahmc").rglob("*.nbi"))
    assert not list((ROOT / "mahmc").rglob("*.nbc"))
