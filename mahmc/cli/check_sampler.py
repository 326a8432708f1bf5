"""`mahmc check-sampler`: check a sampler that a user wrote."""

from __future__ import annotations

import argparse
from typing import Any

from mahmc.checks import CASES, Checking
from mahmc.checks.matrix import case_of, step_cell
from mahmc.cli.check import add_strictness, strictness, verdicts
from mahmc.cli.parser import named
from mahmc.custom.samplers import find_sampler


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "check-sampler", help="check a sampler that you wrote", description=check_sampler.__doc__,
        usage="mahmc check-sampler FILE.py[:NAME] [OPTION ...]",
    )  # fmt: skip
    text = "a function step(states, rng), or an object with step; leave the name out if the file has only one"
    parser.add_argument("sampler", metavar="FILE.py[:NAME]", help=text)
    text = f"a case ({', '.join(CASES)}), a target by name, or a custom one: file.py, or file.py:Class"
    parser.add_argument("--target", default="gmm-overlapping", help=f"{text} (default: gmm-overlapping)")
    parser.add_argument("--seed", metavar="INT", help="same seed, same verdict (default: 0)")
    add_strictness(parser)
    parser.set_defaults(command=check_sampler, parser=parser)


def check_sampler(options: argparse.Namespace) -> int:
    """Check a sampler that you wrote on a target with exact draws. The file is executed: it must be one you trust."""
    name, sampler = find_sampler(options.sampler)
    case, target = case_of(named(options.target), {})
    return verdicts(Checking([step_cell(sampler, case, target, name)], **strictness(options)), options)
