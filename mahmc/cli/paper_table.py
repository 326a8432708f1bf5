"""`mahmc table`: the paper's Table 1, with intervals."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mahmc import tables
from mahmc.cli.exits import DONE, STOPPED
from mahmc.cli.parser import JSON, add_quiet, named, whole
from mahmc.cli.progress import progress
from mahmc.compare import COSTS, REPLICATES, Comparison
from mahmc.targets import FAMILIES
from mahmc.targets import family as family_of


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "table", help="the paper's Table 1, with intervals", description=table.__doc__,
        usage="mahmc table [OPTION ...]",
    )  # fmt: skip
    parser.add_argument("--targets", metavar="A,B", default="mdc,blr", help="on which targets (default: mdc,blr)")
    parser.add_argument("--format", choices=tables.FORMATS, default="text", help="how it is printed (default: text)")
    parser.add_argument(JSON, action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--cost", choices=tuple(COSTS), default="leapfrogs", help="what ESS is divided by")
    parser.add_argument(
        "--full", action="store_true", help="144 million leapfrogs a sampler on mdc, as the paper; some minutes"
    )
    parser.add_argument("--gradients", metavar="INT", type=whole, help="leapfrogs of a replicate, all chains together")
    text = f"independent repetitions, from which the intervals come (default: {REPLICATES})"
    parser.add_argument("--replicates", metavar="INT", type=whole, default=REPLICATES, help=text)
    parser.add_argument("--seed", metavar="INT", type=whole, default=0, help="same seed, same draws (default: 0)")
    add_quiet(parser)
    parser.set_defaults(command=table, parser=parser)


def table(options: argparse.Namespace) -> int:
    """Compare the five samplers at equal leapfrogs and print ESS per leapfrog beside the paper's, with intervals."""
    names = [family_of(named(name.strip())).name for name in options.targets.split(",")]
    comparisons = [
        Comparison(name, gradients=_budget(options, name), replicates=options.replicates, seed=options.seed)
        for name in names
    ]
    stopped = any(_advance(comparison, options.quiet) for comparison in comparisons)
    print(tables.table(comparisons, options.format, cost=options.cost))
    if options.format == "text":
        _print_headlines(comparisons, options.cost)
    if stopped:
        print("mahmc: stopped; the table has what was done until then.", file=sys.stderr)
    return STOPPED if stopped else DONE


def _advance(comparison: Comparison, quiet: bool) -> bool:
    """Compare to the end, or to Ctrl-C; returns whether the comparison was stopped."""
    with progress(comparison.total, "runs", quiet, comparison.target.name) as bar:
        try:
            for step in comparison:
                bar.reach(step.done, step.label)
        except KeyboardInterrupt:
            comparison.stop()
            return True
    return False


def _print_headlines(comparisons: list[Comparison], cost: str) -> None:
    for comparison in comparisons:
        lines = [tables.headline(comparison, "mahmc", other, cost=cost) for other in tables.AGAINST
                 if {"mahmc", other} <= comparison.done.keys()]  # fmt: skip
        print(f"\n{comparison.target.name}: ESS of {comparison.target.paper_quantity} per {cost}, "
              f"{comparison.budget:,} leapfrogs a replicate.", *lines)  # fmt: skip


def _budget(options: argparse.Namespace, target: str) -> int | None:
    return FAMILIES[target].build().full_budget // options.replicates if options.full else options.gradients
