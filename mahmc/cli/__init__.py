"""The command line: `mahmc COMMAND`, one file for each command. Options come from the registries.

`exits` lists the exit codes; `mahmc --help` prints them.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from mahmc.cli import app, check, check_sampler, compiling, listing, paper_table, sample
from mahmc.cli.exits import CLOSED, FAILED, IN_WORDS, REFUSED, STOPPED
from mahmc.cli.parser import Parser, with_named_target
from mahmc.parameters import InvalidInput, choose
from mahmc.version import __version__

COMMANDS = {
    "sample": sample.add,
    "check": check.add,
    "check-sampler": check_sampler.add,
    "table": paper_table.add,
    "list": listing.add,
    "compile": compiling.add,
    "app": app.add,
}
OF_A_RUN = ("sample", "check")  # commands whose first word is a target


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments
        The words after `mahmc`; by default those of the command line.

    Returns
    -------
    int
        The exit code; `mahmc.cli.exits` lists all codes.

    Examples
    --------
    >>> mahmc.cli.main(["sample", "gmm", "hmc", "--draws", "100", "--quiet"])
    """
    try:
        try:
            return _run(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()  # so that a closed pipe is noticed here
    except InvalidInput as refusal:
        print(f"mahmc: {refusal}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("mahmc: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python prints an error when it empties its buffer at the end
        return CLOSED
    except Exception:
        traceback.print_exc()
        print("mahmc: this looks like a fault in mahmc. Please report it, with the lines above.", file=sys.stderr)
        return FAILED


def _run(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        choose(arguments[0], COMMANDS, "command")
        if arguments[0] in OF_A_RUN:
            arguments = with_named_target(arguments)
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    options.parser.refuse_unknown(rest)
    if options.command is None:
        parser.print_help(sys.stderr)
        return REFUSED
    return int(options.command(options))


def _parser() -> Parser:
    parser = Parser(
        prog="mahmc", description="Samplers that mix Hamiltonian moves with other Metropolis updates.", epilog=IN_WORDS
    )
    parser.add_argument("--version", action="version", version=f"mahmc {__version__}")
    parser.set_defaults(command=None, parser=parser)
    commands = parser.add_subparsers(metavar="COMMAND")
    for add in COMMANDS.values():
        add(commands)
    return parser
