"""`mahmc table`: the paper's Table 1, with intervals."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mahmc import tables
from mahmc.cli.exits import DONE, STOPPED
from mahmc.cli.parser import JSON, add_quiet, named, whole
from mahmc.compare import COSTS, REPLICATES, Comparison
from mahmc.progress import progress
from mahmc.samplers import PAPER_SAMPLERS
from mahmc.targets import FAMILIES
from mahmc.targets import family as family_of


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "table", help="the paper's Table 1, with intervals", description=table.__doc__,
        usage="mahmc table [OPTION ...]",
    )  # fmt: skip
    reported = ",".join(PAPER_SAMPLERS["mahmc"].paper_ess)
    parser.add_argument("--targets", metavar="A,B", default=reported, help=f"the targets (default: {reported})")
    parser.add_argument("--format", choices=tables.FORMATS, default="text", help="format of the table (default: text)")
    parser.add_argument(JSON, action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument(
        "--cost", choices=tuple(COSTS), default="leapfrogs", help="the cost that ESS is divided by (default: leapfrogs)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="the paper's budget: 144 million leapfrogs for each sampler on mdc; takes some minutes",
    )
    parser.add_argument(
        "--gradients", metavar="INT", type=whole, help="leapfrogs of each replicate, all chains together"
    )
    text = f"independent replicates, whose spread gives the intervals (default: {REPLICATES})"
    parser.add_argument("--replicates", metavar="INT", type=whole, default=REPLICATES, help=text)
    parser.add_argument("--seed", metavar="INT", type=whole, default=0, help="same seed, same draws (default: 0)")
    add_quiet(parser)
    parser.set_defaults(command=table, parser=parser)


def table(options: argparse.Namespace) -> int:
    """Compare five samplers at equal leapfrogs. Print ESS per leapfrog with intervals, beside the paper's values."""
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
        print("mahmc: stopped; the table has the replicates that were done until then.", file=sys.stderr)
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
        print(f"\n{comparison.target.name}: ESS of {comparison.target.presentation.main_quantity} per {cost}, "
              f"{comparison.budget:,} leapfrogs a replicate.", *lines)  # fmt: skip


def _budget(options: argparse.Namespace, target: str) -> int | None:
    """Leapfrogs of a replicate: the paper's budget or the chosen number. None means the default of the target."""
    chosen: int | None = options.gradients
    return FAMILIES[target].build().presentation.full_budget // options.replicates if options.full else chosen
