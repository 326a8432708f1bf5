"""`mahmc compile`: compile every kernel ahead of time."""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from mahmc.checks.gradients import check_gradient
from mahmc.checks.subjects import engine_subject
from mahmc.cli.exits import DONE
from mahmc.run import Run, cores
from mahmc.samplers import SAMPLERS
from mahmc.spec import RunSpec
from mahmc.targets import FAMILIES


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "compile", help="compile every sampler for every target ahead of time", description=compile_all.__doc__
    )
    parser.set_defaults(command=compile_all, parser=parser)


def compile_all(options: argparse.Namespace) -> int:
    """Compile all kernels that are not in the cache, by a short run and a replay of each sampler on each target."""
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        list(pool.map(compile_for, FAMILIES))
    return DONE


def compile_for(target: str) -> None:
    """One short run of each sampler on this target with a replay, and the check that has kernels of its own."""
    built = FAMILIES[target].build()
    for sampler in (name for name, method in SAMPLERS.items() if method.takes(built)):
        begin = time.perf_counter()
        Run(RunSpec.of(target, sampler, draws=1, warmup=0, chains=1)).advance_all().replay(0, 0)
        print(f"{target} {sampler}: {time.perf_counter() - begin:.1f} s", flush=True)
    begin = time.perf_counter()
    check_gradient(engine_subject(built, "hmc", {}))
    print(f"{target} gradient: {time.perf_counter() - begin:.1f} s", flush=True)
