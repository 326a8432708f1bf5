"""Digests of the draws of many short runs: whether an engine still gives the same draws, bit for bit.

    python -m tests.support.draws           compares the engine with tests/data/stored_draws.json
    python -m tests.support.draws --write   makes that file anew, after a change that is meant to change draws

The bits of a draw do not depend on the processor. To show this, the runs are made in a process of their own whose
kernels are compiled for a plain x86-64 processor, with a cache folder of its own; NumPy, its linear algebra and the C
library use plain instructions too. The digests depend on the versions of numba and NumPy; the file says which versions
made it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from mahmc import Run, RunSpec
from mahmc.samplers import EVERY_SAMPLER
from tests.support.cases import pairs

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "stored_draws.json"
SIZE = {"chains": 8, "draws": 40, "warmup": 5, "seed": 11}
# Beyond one sampler with its defaults: schedules, several kinds of update, no update after the trajectory, thinning,
# a second block of chains, every quantity that can be kept.
GENERAL: list[tuple[str, str, dict[str, Any]]] = [
    ("mdc", "mahmc", {"schedule": "iid(30, 0.9)"}),
    ("blr", "mahmc", {"schedule": "iid(12, 0.8)"}),
    ("gmm", "mahmc", {"schedule": "iid(20, 0.8)", "outer": "none"}),
    ("mdc", "mahmc", {"schedule": "iid(30, 0.8, 0.1, 0.1)", "update": "gibbs,metropolis"}),
    ("blr", "mahmc", {"schedule": "iid(10, 0.6, 0.2, 0.2)", "update": "metropolis,gibbs", "outer": "none"}),
    ("ising", "mahmc", {"schedule": "iid(20, 0.8)"}),
    ("spike-slab", "mahmc", {"schedule": "iid(20, 0.8)"}),
    ("mdc", "mahmc", {"schedule": "sequences(2x0 1 8x0:0.7, 8x0 1 2x0:0.3)"}),
    ("gmm", "mahmc", {"schedule": "sequences(0102:0.35, 2010:0.25, 00120:0.25, 02100:0.15)",
                      "update": "gibbs,neighbour", "outer": "none"}),
    ("blr", "mahmc", {"schedule": "sequences(00100:0.5, 0:0.5)"}),
    ("mdc", "naive", {"schedule": "iid(30, 0.9)"}),
    ("mdc", "mahmc", {"outer": "none"}),
    ("blr", "mahmc", {"outer": "none", "update": "metropolis"}),
    ("gmm", "mahmc", {"outer": "none", "update": "modified-gibbs"}),
    ("mdc", "hmc", {"outer": "none"}),
    ("mdc", "mahmc", {"update": "block", "outer": "metropolis"}),
    ("mdc", "m-hmc", {"visits": 7, "update": "gibbs"}),
    ("mdc", "m-hmc", {"visits": 25, "outer": "gibbs"}),
    ("gmm", "m-hmc", {"update": "neighbour"}),
    ("gmm", "m-hmc", {"update": "modified-gibbs", "outer": "metropolis"}),
    ("gmm", "mala-pn", {"keep": ("q", "component", "energy", "momentum", "slice")}),
    ("mdc", "mahmc", {"chains": 19, "thin": 3, "start": "exact"}),
]  # fmt: skip


def specs() -> list[RunSpec]:
    """Every sampler on every target with its defaults, and the general ones."""
    usual = [RunSpec.of(target, sampler, **SIZE) for target, sampler in pairs(EVERY_SAMPLER)]
    return usual + [RunSpec.of(target, sampler, **SIZE | chosen) for target, sampler, chosen in GENERAL]


def digest(run: Run) -> str:
    """The SHA-256 of all that was recorded: each quantity in the order of `keep`, warm-up first."""
    found = hashlib.sha256()
    for name in run.spec.keep:
        for draws in (run.warmup_draws[name], run.draws[name]):
            found.update(f"{name} {draws.shape} {draws.dtype.str}\n".encode())
            found.update(np.ascontiguousarray(draws).tobytes())
    return found.hexdigest()


def digests(texts: list[str]) -> list[str]:
    """The digests of runs, given the JSON of their specs, made in a process for a plain processor."""
    with tempfile.TemporaryDirectory() as cache:
        program = [sys.executable, "-m", "tests.support.draws", "--here"]
        done = subprocess.run(
            program, input="\n".join(texts), env=plain(cache), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
    return done.stdout.split()


def plain(cache: str) -> dict[str, str]:
    """The environment in which numba, NumPy, OpenBLAS and the C library use plain x86-64 instructions."""
    found = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    return os.environ | {
        "MAHMC_CACHE_DIR": cache,
        "NUMBA_CPU_NAME": "generic",
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2",
    }


def versions() -> dict[str, str]:
    """What else the bits depend on."""
    packages = {module.__name__: module.__version__ for module in (numba, llvmlite, np)}
    return packages | {"machine": platform.machine(), "libc": " ".join(platform.libc_ver())}


def write() -> None:
    """Make the file anew."""
    texts = [spec.to_json() for spec in specs()]
    rows = [{"spec": json.loads(text), "sha256": found} for text, found in zip(texts, digests(texts), strict=True)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(f'{{"versions": {json.dumps(versions())},\n"runs": [\n{lines}\n]}}\n')


def differences() -> list[str]:
    """The stored runs whose draws are others now, in words."""
    stored = json.loads(FILE.read_text())["runs"]
    found = digests([json.dumps(row["spec"]) for row in stored])
    pairs_of = zip(stored, found, strict=True)
    return [f"{row['spec']['target']} {row['spec']['sampler']}: {row['spec']}" for row, new in pairs_of
            if new != row["sha256"]]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the engine's draws with stored ones.")
    parser.add_argument("--write", action="store_true", help=f"make {FILE.name} anew")
    parser.add_argument("--here", action="store_true", help="print the digests of specs that are read, one a line")
    options = parser.parse_args()
    if options.here:
        for line in sys.stdin:
            print(digest(Run(RunSpec.from_json(line)).advance_all()), flush=True)
        return 0
    if options.write:
        write()
        print(f"wrote {FILE}")
        return 0
    others = differences()
    print("\n".join(others) or "All draws are the stored ones.")
    return len(others) > 0


if __name__ == "__main__":
    sys.exit(main())
