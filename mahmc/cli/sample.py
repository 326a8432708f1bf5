"""`mahmc sample`: draw chains, print a summary, and write the draws."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mahmc.cli.exits import DONE, REFUSED, STOPPED
from mahmc.cli.output import number, refuse_bad_path, table
from mahmc.cli.parser import add_json, add_quiet
from mahmc.cli.run_options import add_run, chosen_spec
from mahmc.plain import as_json
from mahmc.progress import progress
from mahmc.run import Run
from mahmc.run.summaries import Statistics, statistics
from mahmc.spec import ALTERNATE
from mahmc.targets import elements
from mahmc.version import __version__


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "sample", help="draw chains and print a summary", description=sample.__doc__,
        usage="mahmc sample TARGET SAMPLER [OPTION ...]",
    )  # fmt: skip
    add_run(parser)
    parser.add_argument("--out", metavar="FILE.nc", type=Path, help="write the draws to this file, as NetCDF for ArviZ")
    add_json(parser, "the summary")
    add_quiet(parser)
    parser.set_defaults(command=sample, parser=parser)


def sample(options: argparse.Namespace) -> int:
    """Draw chains and print a summary. With --out, write the draws to a file."""
    spec = chosen_spec(options)
    refuse_bad_path(options.out)
    run = Run(spec)
    stopped = _advance(run, options.quiet)
    if run.done <= spec.warmup:
        print("mahmc: stopped before the end of the warm-up; there are no draws.", file=sys.stderr)
        return STOPPED
    print(as_json(facts(run)) if options.json else summary(run))
    written = _write(run, options.out) if options.out else True
    return STOPPED if stopped else DONE if written else REFUSED


def _advance(run: Run, quiet: bool) -> bool:
    """Run to the end, or to Ctrl-C; returns whether it was stopped."""
    with progress(run.spec.slots, "draws", quiet) as bar:
        try:
            for step in run:
                bar.reach(step.done, f"{step.leapfrogs_per_second:.2g} leapfrogs/s")
        except KeyboardInterrupt:
            run.stop()
            return True
    return False


def _write(run: Run, path: Path) -> bool:
    """Write the draws. If that fails, for example on a full disk, write them to a temporary file."""
    try:
        run.to_netcdf(path)
        print(f"mahmc: wrote {path}", file=sys.stderr)
        return True
    except OSError as reason:
        rescued = Path(tempfile.mkdtemp(prefix="mahmc-")) / path.name
        run.to_netcdf(rescued)
        print(f"mahmc: {path} could not be written ({reason}). The draws are in {rescued}.", file=sys.stderr)
        return False


# ------------------------------------------------------------------------------------------------------ the summary


def facts(run: Run) -> dict[str, Any]:
    """The spec, cost, acceptance and scalar quantities of a run, for programs."""
    name = run.target.presentation.main_quantity
    return {
        "mahmc": __version__,
        "spec": run.spec.to_dict(),
        "draws": run.draws_done,
        "finished": run.finished,
        "seconds": run.seconds,
        "leapfrogs": run.leapfrogs,
        "gradients": run.gradients,
        "acceptance": _rates(run),
        "non_finite": run.non_finite,
        "warnings": run.warnings,
        "ess_per_leapfrog": {name: float(run.ess_per_gradient(name))} if name in run.names else {},
        "quantities": {n: found._asdict() for n, found in zip(run.names, statistics(run, run.names), strict=True)},
    }


def summary(run: Run) -> str:
    """The summary of a run as text: settings, cost, acceptance, and a row for each quantity."""
    spec = run.spec
    settings = ", ".join(f"{name} {value:g}" for name, value in spec.values.items())
    settings += f"; schedule {spec.schedule}" if spec.schedule not in ("", ALTERNATE) else ""
    updates = f"update {spec.update}, outer {spec.outer}; " if run.target.density.updates else ""
    lines = [
        f"{run.target.presentation.title} by {spec.method.label} ({settings}; {updates}seed {spec.seed})",
        f"{spec.chains} chains x {run.draws_done} draws after {spec.warmup} of warm-up, {run.seconds:.2f} s, "
        f"{run.leapfrogs:.3g} leapfrogs, {run.progress.leapfrogs_per_second:.3g} a second",
        "acceptance: " + ", ".join(f"{kind} {rate:.4f}" for kind, rate in _rates(run).items())
        + (f"; {run.non_finite} rejections for a non-finite energy" if run.non_finite else ""),
        "",
        table([("quantity", "mean", "sd", "mcse", "ess bulk", "ess tail", "r-hat", "truth"), *_rows(run)]),
    ]  # fmt: skip
    name = run.target.presentation.main_quantity
    if name in run.names:
        figure = f"\nESS of {name} per draw and leapfrog: {number(float(run.ess_per_gradient(name)))}"
        lines.append(figure + (f" (the paper: {spec.paper_ess:.3g})" if spec.paper_ess else ""))
    return "\n".join([*lines, *(f"warning: {text}" for text in run.warnings)])


def _rates(run: Run) -> dict[str, float]:
    """The acceptance rate of each kind of test, and of each update where there are several updates."""
    kinds = run.acceptances | (run.update_acceptances if len(run.spec.updates) > 1 else {})
    return {kind: found.rate for kind, found in kinds.items() if found.rate is not None}


def _rows(run: Run) -> list[tuple[str, ...]]:
    """A row for each scalar, and for each vector a row for the element with the smallest ESS."""
    vectors = {q.name: elements(q) for q in run.target.density.quantities if q.vector and q.name in run.spec.keep}
    members = {element for names in vectors.values() for element in names}
    worst = {}
    for vector, names in vectors.items():
        i = int(np.argmin(np.nan_to_num(np.asarray(run.ess(vector)), nan=np.inf)))
        worst[f"{vector}[{i}]"] = f"{vector}[{i}] (least ESS of {len(names)})"
    labels = {name: name for name in run.names if name not in members} | worst
    return [_row(label, found) for label, found in zip(labels.values(), statistics(run, list(labels)), strict=True)]


def _row(label: str, estimates: Statistics) -> tuple[str, ...]:
    *found, truth = estimates
    return (label, *(number(value) for value in found), "-" if truth is None else number(truth))
