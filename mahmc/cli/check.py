"""`mahmc check`: verdicts on samplers, as an exit code, text, JSON or HTML."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from mahmc.checks import CASES, CHOSEN_BY_CHECKS, LEVEL, Checking, Verdict, custom_cell, report
from mahmc.checks.resolution import KINDS, parsed_resolution
from mahmc.cli.exits import DONE, STOPPED, UNCLEAR, WRONG
from mahmc.cli.output import refuse_bad_path, table
from mahmc.cli.parser import add_json, add_quiet, decimal
from mahmc.cli.run_options import add_run, chosen_spec
from mahmc.parameters import InvalidInput
from mahmc.progress import progress
from mahmc.spec import RUN_PARAMETERS
from mahmc.targets import FAMILIES


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "check", help="check a sampler on a target; without a target, check all samplers on all cases",
        description=check.__doc__, usage="mahmc check [TARGET [SAMPLER]] [OPTION ...]",
    )  # fmt: skip
    add_run(parser, optional=True, hidden=CHOSEN_BY_CHECKS)
    add_strictness(parser)
    parser.set_defaults(command=check, parser=parser)


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """Add the options of strictness and output."""
    text = "factor of the usual number of draws (default: 1)"
    parser.add_argument("--budget", metavar="FLOAT", type=decimal, default=1.0, help=text)
    text = f"probability of a false alarm, for each verdict (default: {LEVEL:g})"
    parser.add_argument("--level", metavar="FLOAT", type=decimal, default=LEVEL, help=text)
    text = f"sizes of the errors that a verdict of right rules out, as in mean=0.1,flow=0.2; kinds: {', '.join(KINDS)}"
    parser.add_argument("--resolution", metavar="KIND=SIZE,…", help=text)
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a report to this HTML file")
    add_json(parser, "the verdicts")
    add_quiet(parser)


def check(options: argparse.Namespace) -> int:
    """Make all checks that apply to a sampler on a target. The verdict is right, wrong, or not enough draws to tell."""
    return verdicts(_checking(options), options)


def strictness(options: argparse.Namespace) -> dict[str, Any]:
    """Budget, level, seed and resolution, as checks take them."""
    seed = int(RUN_PARAMETERS["seed"].parse(options.seed)) if options.seed is not None else 0
    resolution = parsed_resolution(options.resolution) if options.resolution is not None else {}
    return {"budget": options.budget, "level": options.level, "seed": seed, "resolution": resolution}


def verdicts(checking: Checking, options: argparse.Namespace) -> int:
    """Make all checks, print what they find, and return the exit code."""
    refuse_bad_path(options.html, "--html")
    stopped = _advance(checking, options)
    found = [cell for cell in checking.cells.values() if cell.verdict is not None]
    if options.html:
        options.html.write_text(report.as_html(found), encoding="utf-8")
    if options.json:
        print(report.as_json(found))
    else:
        rows = [(cell.title, cell.case.title, str(cell.verdict), f"{cell.seconds:.1f}") for cell in found]
        print("\n" + table([("sampler", "target", "verdict", "seconds"), *rows]))
        if (agreed := checking.agreement()) is not None:
            print(f"\n{agreed}\nCompared: {agreed.compared}.")
    if stopped:
        print("mahmc: stopped; the verdicts use the checks that were done until then.", file=sys.stderr)
        return STOPPED
    said = {cell.verdict for cell in found}
    return WRONG if Verdict.WRONG in said else UNCLEAR if Verdict.UNCLEAR in said else DONE


def _advance(checking: Checking, options: argparse.Namespace) -> bool:
    """Check to the end, or to Ctrl-C, and print each finding; returns whether the checks were stopped."""
    with progress(checking.total, "checks", options.quiet) as bar:
        try:
            for step in checking:
                cell = step.cell
                bar.reach(step.done, "")
                if not options.json:
                    bar.say(f"{cell.sampler} on {cell.case.title}, {cell.findings[step.check]}")
        except KeyboardInterrupt:
            checking.stop()
            return True
    return False


def _checking(options: argparse.Namespace) -> Checking:
    """The checks that the options ask for: one sampler on one target, all samplers on one target, or everything."""
    common = strictness(options)
    for name in CHOSEN_BY_CHECKS:
        if getattr(options, name) is not None:
            raise InvalidInput(f"the checks choose --{name} themselves: use --budget for more or fewer draws.")
    if options.sampler is None:
        cases = None if options.target is None else [options.target]
        return Checking.of(None, cases, **common)
    if options.target in CASES and options.target not in FAMILIES:
        return Checking.of([options.sampler], [options.target], **common)
    spec = chosen_spec(options)
    return Checking([custom_cell(spec.build_target(), spec.sampler, spec.chosen)], **common)
