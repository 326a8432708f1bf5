"""Mistakes in one element of a vector are never called right, whatever the element, the sampler and the seed.

Each is the package with a few lines changed, in a folder of its own, run in a process of its own. All of them with
twenty seeds are in `make check-long`; one of them, with one sampler and one seed, is in `make test`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hidden import MISTAKES, Hidden

ROOT = Path(__file__).parent.parent
SEEDS = 20
IN_MAKE_TEST = {"w like its neighbour"}


def verdicts_on(mistake: Hidden, folder: Path, seeds: int) -> list[str]:
    """What checks say of the engine with the mistake: a line for each sampler and seed."""
    shutil.copytree(ROOT / "mahmc", folder / "mahmc", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "mahmc" / mistake.file
    file.write_text(mistake.written(file.read_text()))
    environment = os.environ | {
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "MAHMC_CACHE_DIR": str(folder / "cache"), "NUMBA_OPT": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.support.hidden", mistake.name, "0", str(seeds), *mistake.samplers]
    result = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout.splitlines()


@pytest.mark.parametrize("mistake", [m for m in MISTAKES if m.name in IN_MAKE_TEST], ids=lambda m: m.name)
def test_a_mistake_that_hides_is_not_called_right(mistake: Hidden, tmp_path: Path) -> None:
    one = mistake._replace(samplers=("mahmc",))
    found = verdicts_on(one, tmp_path, 1)
    assert any(line.startswith("wrong: mahmc") for line in found), found
    assert not [line for line in found if line.startswith("right: ")]


@pytest.mark.long
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.name)
def test_no_mistake_that_hides_is_called_right_in_twenty_seeds(mistake: Hidden, tmp_path: Path) -> None:
    found = verdicts_on(mistake, tmp_path, SEEDS)
    assert len(found) >= SEEDS
    assert not [line for line in found if line.startswith("right: ")]
