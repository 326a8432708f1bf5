"""Machine code is kept between processes, and never served after its source changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """
import time
import mahmc
begin = time.perf_counter()
run = mahmc.Run(mahmc.RunSpec.of("gmm", "hmc", weights=[1.0], means=[0.0], sds=[1.0], draws=4000, warmup=0))
run.advance()
first = time.perf_counter() - begin
print(first, abs(run.advance_all().get("q").mean()), mahmc.__file__)
"""


def output(package_root: Path, cache: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(package_root), "MAHMC_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, env=environment, cwd=package_root, capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_second_process_starts_at_once_and_a_changed_source_is_seen(tmp_path: Path) -> None:
    copy, cache = tmp_path / "mahmc", tmp_path / "cache"
    shutil.copytree(ROOT / "mahmc", copy, ignore=shutil.ignore_patterns("__pycache__"))
    cold, mean, file = output(tmp_path, cache)
    assert Path(file).is_relative_to(tmp_path)
    assert float(mean) < 0.2
    warm, again, _ = output(tmp_path, cache)
    assert again == mean
    assert float(warm) < float(cold)  # a warm start loads what a cold one compiles
    target = copy / "targets" / "gmm.py"
    edited = target.read_text().replace(
        "away = load(q, 0) - load(other, 1)", "away = load(q, 0) - load(other, 1) - 9.0"
    )
    edited = edited.replace("(x - mean) * (x - mean)", "(x - mean - 9.0) * (x - mean - 9.0)")
    target.write_text(edited)
    _, moved, _ = output(tmp_path, cache)
    assert float(moved) > 8.0, "the old machine code was served"


def test_the_source_tree_stays_clean() -> None:
    assert not list((ROOT / "mahmc").rglob("*.nbi"))
    assert not list((ROOT / "mahmc").rglob("*.nbc"))
