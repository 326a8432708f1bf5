"""The command line: `mahmc sample`, `table`, `check`, `check-sampler`, `list`, `compile`, `app`.

Options come from the registries.

Wherever a target is named, file.py:Class is one of your own.

Exit codes: 0 done; 1 a check called a sampler wrong; 2 something given cannot be used (the message says what to do);
3 a check had not enough draws to tell; 130 stopped by Ctrl-C, with what was done until then kept.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from mahmc import schedules, tables
from mahmc.checks import CASES, CHOSEN_BY_CHECKS, LEVEL, Checking, Verdict, own_cell, report
from mahmc.checks.gradients import check_gradient
from mahmc.checks.matrix import case_of, step_cell
from mahmc.checks.subjects import engine_subject
from mahmc.compare import COSTS, REPLICATES, Comparison
from mahmc.own import find, load_targets
from mahmc.own.samplers import find_sampler, load_samplers
from mahmc.parameters import InvalidInput, Parameter
from mahmc.run import Run, cores
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, SAMPLERS, WRONG_SAMPLERS
from mahmc.spec import ALTERNATE, RUN_PARAMETERS, STARTS, RunSpec, described
from mahmc.targets import FAMILIES, elements
from mahmc.targets import family as family_of
from mahmc.version import __version__

WRONG, UNCLEAR, STOPPED = 1, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        known = _with_own(sys.argv[1:] if arguments is None else arguments)
        options = _parser().parse_args(known)
        return options.command(options)
    except InvalidInput as error:
        print(f"mahmc: {error}", file=sys.stderr)
        return 2


def _with_own(arguments: Sequence[str]) -> list[str]:
    """The arguments, with the name of a target for each file.py:Class, loaded here: its settings are options too."""

    def named(part: str) -> str:
        return find(part).name if re.fullmatch(r"[^-].*\.py:\w+", part) else part

    if arguments and arguments[0] in ("check-sampler", "app"):  # there such a name may be that of a sampler
        return list(arguments)
    return [",".join(named(part) for part in argument.split(",")) for argument in arguments]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mahmc", description="Samplers that mix Hamiltonian moves with other Metropolis updates."
    )
    parser.add_argument("--version", action="version", version=f"mahmc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sample = commands.add_parser("sample", help="draw chains and print a summary", description=_sample.__doc__)
    _add_spec(sample)
    sample.add_argument("--out", metavar="FILE.nc", type=Path, help="write the draws there, as NetCDF for ArviZ")
    sample.set_defaults(command=_sample)
    check = commands.add_parser(
        "check", help="is it right? verdicts with p-values; without a target, of all samplers on all cases",
        description=_check.__doc__,
    )  # fmt: skip
    _add_spec(check, optional=True)
    check.add_argument("--budget", metavar="FLOAT", type=float, default=1.0, help="times the usual draws (default: 1)")
    check.add_argument("--level", metavar="FLOAT", type=float, default=LEVEL,
                       help=f"probability of a false alarm, for each verdict (default: {LEVEL:g})")  # fmt: skip
    check.set_defaults(command=_check)
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    check.add_argument("--html", metavar="FILE", type=Path, help="write a report there, as one HTML file")
    _add_check_sampler(commands)
    commands.add_parser("list", help="targets, samplers, parameters and their ranges").set_defaults(command=_list)
    table = commands.add_parser("table", help="the paper's Table 1, with intervals", description=_table1.__doc__)
    table.add_argument("--targets", metavar="A,B", default="mdc,blr", help="on which targets (default: mdc,blr)")
    table.add_argument("--format", choices=tables.FORMATS, default="text", help="how it is printed (default: text)")
    table.add_argument("--cost", choices=tuple(COSTS), default="leapfrogs", help="what ESS is divided by")
    table.add_argument(
        "--full", action="store_true", help="144 million leapfrogs a sampler on mdc, as the paper; some minutes"
    )
    table.add_argument("--gradients", metavar="INT", type=int, help="leapfrogs of a replicate, all chains together")
    table.add_argument("--replicates", metavar="INT", type=int, default=REPLICATES, help=f"default: {REPLICATES}")
    table.add_argument("--seed", metavar="INT", type=int, default=0, help="default: 0")
    table.set_defaults(command=_table1)
    compile_ = commands.add_parser("compile", help="compile every sampler for every target, and keep the result")
    compile_.set_defaults(command=_compile)
    app = commands.add_parser("app", help="serve the dashboard", description=_app.__doc__)
    app.add_argument("--targets", metavar="FILE.py", type=Path, action="append", default=[], help="with these targets")
    text = "with rows on Checks for these samplers"
    app.add_argument("--samplers", metavar="FILE.py[:NAME]", action="append", default=[], help=text)
    app.add_argument("--port", metavar="INT", type=int, default=8501, help="default: 8501")
    app.set_defaults(command=_app)
    return parser


def _add_check_sampler(commands: Any) -> None:
    """The command that checks anybody's sampler."""
    other = commands.add_parser(
        "check-sampler", help="is your own sampler right? verdicts as of check", description=_check_sampler.__doc__
    )
    other.add_argument("sampler", metavar="FILE.py:NAME", help="a function step(states, rng), or an object with step")
    text = f"a case ({', '.join(CASES)}), a target by name, or your own: file.py:Class (default: gmm-overlapping)"
    other.add_argument("--target", default="gmm-overlapping", help=text)
    other.add_argument("--budget", metavar="FLOAT", type=float, default=1.0, help="times the usual draws (default: 1)")
    other.add_argument("--level", metavar="FLOAT", type=float, default=LEVEL,
                       help=f"probability of a false alarm (default: {LEVEL:g})")  # fmt: skip
    other.add_argument("--seed", metavar="INT", default=None, help="default: 0")
    other.add_argument("--json", action="store_true", help="print the verdict as JSON")
    other.add_argument("--html", metavar="FILE", type=Path, help="write a report there, as one HTML file")
    other.set_defaults(command=_check_sampler)


def _add_spec(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """A target, a sampler, and whatever can be chosen of either."""
    count = "?" if optional else None
    text = f"one of {', '.join(FAMILIES)}, or your own: file.py:Class"
    parser.add_argument("target", metavar="TARGET", nargs=count, help=text)
    parser.add_argument(
        "sampler", metavar="SAMPLER", nargs=count,
        help=f"one of {', '.join(EVERY_SAMPLER)}; wrong on purpose: {', '.join(WRONG_SAMPLERS)}",
    )  # fmt: skip
    options: dict[str, argparse.Action] = {}
    for title, group in (
        ("of the sampler (left out: the paper's best values)", PARAMETERS.values()),
        ("of the run", RUN_PARAMETERS.values()),
        *((f"of {known.name}", known.parameters) for known in FAMILIES.values()),
    ):
        _add_options(parser.add_argument_group(f"parameters {title}"), group, options)
    parser.add_argument("--update", metavar="A,B", help=f"how qᴼ is updated: {_updates_in_words()}")
    parser.add_argument("--outer", help="the update of qᴼ after a trajectory, or none (default: the first of --update)")
    able = ", ".join(name for name, sampler in EVERY_SAMPLER.items() if sampler.takes_schedule)
    parser.add_argument("--schedule", help=f"the law of D, of {able}: {schedules.FORMS} (default: alternate)")
    parser.add_argument("--start", help=f"where chains start: {' or '.join(STARTS)} draws", default=None)
    parser.add_argument("--keep", metavar="A,B", help="quantities to record, separated by commas")
    parser._negative_number_matcher = re.compile(r"^-[\d.]")  # so that --means -1,1 is a value, not an option


def _add_options(group: Any, parameters: Iterable[Parameter], options: dict[str, argparse.Action]) -> None:
    """An option for each parameter; where targets share a name they share the option, which has the words of all."""
    for parameter in parameters:
        flag = f"--{parameter.name.replace('_', '-')}"
        text = f"{parameter.title}, {parameter.range}. {parameter.help}".replace("%", "%%")
        metavar = "A,B,…" if parameter.kind == "floats" else parameter.kind.upper()
        if shared := options.get(parameter.name):
            shared.help = f"{shared.help} {group.title.capitalize()}: {text}"
        else:
            options[parameter.name] = group.add_argument(flag, metavar=metavar, dest=parameter.name, help=text)


def _sample(options: argparse.Namespace) -> int:
    """Draw chains, with a progress bar, print a summary table, and write the draws if asked to."""
    spec = _spec(options)
    _refuse_bad_path(options.out)
    run = Run(spec)
    stopped = _advance_with_bar(run)
    if run.done <= spec.warmup:
        print("mahmc: stopped before the warm-up was over; nothing was drawn.", file=sys.stderr)
        return STOPPED
    print(summary(run))
    written = _write(run, options.out) if options.out else True
    return STOPPED if stopped else 0 if written else 2


def _updates_in_words() -> str:
    return "; ".join(f"{name} has {', '.join(family.build().updates)}" for name, family in FAMILIES.items())


def _spec(options: argparse.Namespace) -> RunSpec:
    known = described(options.target)
    texts = {name: getattr(options, name) for name in known if getattr(options, name) is not None}
    chosen: dict[str, Any] = {name: known[name].parse(text) for name, text in texts.items()}
    words = ("update", "outer", "schedule", "start", "keep")
    chosen |= {name: getattr(options, name) for name in words if getattr(options, name)}
    return RunSpec.of(options.target, options.sampler, **chosen)


def _refuse_bad_path(path: Path | None, option: str = "--out") -> None:
    """Before the run rather than after it."""
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {folder}; make it first.")
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder; give the name of a file in it.")
    known = path.exists()
    try:
        path.open("ab").close()
        if not known:
            path.unlink()
    except OSError as reason:
        raise InvalidInput(f"{option} {path} cannot be written ({reason.strerror}): choose another place.") from None


def _write(run: Run, path: Path) -> bool:
    """Write the draws; where that fails after all, as on a full disk, to a temporary file, so that none are lost."""
    try:
        run.to_netcdf(path)
        print(f"\nwrote {path}")
        return True
    except OSError as reason:
        rescued = Path(tempfile.mkdtemp(prefix="mahmc-")) / path.name
        run.to_netcdf(rescued)
        print(f"mahmc: {path} could not be written ({reason}). The draws are in {rescued}.", file=sys.stderr)
        return False


def _advance_with_bar(run: Run) -> bool:
    """Run to the end, or to Ctrl-C; returns whether it was stopped."""
    from tqdm import tqdm

    with tqdm(total=run.spec.slots, unit=" draws", unit_scale=True, disable=None, leave=False) as bar:
        try:
            for progress in run:
                bar.update(progress.done - bar.n)
                bar.set_postfix_str(f"{progress.leapfrogs_per_second:.2g} leapfrogs/s")
        except KeyboardInterrupt:
            run.stop()
            return True
    return False


def summary(run: Run) -> str:
    """What a person wants to know of a run, as text: settings, cost, acceptance, and a row for each quantity."""
    spec, drawn = run.spec, max(run.done - run.spec.warmup, 0)
    settings = ", ".join(f"{name} {value:g}" for name, value in spec.values.items())
    settings += f"; schedule {spec.schedule}" if spec.schedule not in ("", ALTERNATE) else ""
    updates = f"update {spec.update}, outer {spec.outer}; " if run.target.updates else ""
    kinds = run.acceptances | (run.update_acceptances if len(spec.updates) > 1 else {})
    rates = {kind: a.rate for kind, a in kinds.items() if a.rate is not None}
    lines = [
        f"{run.target.title} by {spec.method.label} ({settings}; {updates}seed {spec.seed})",
        f"{spec.chains} chains x {drawn} draws after {spec.warmup} of warm-up, {run.seconds:.2f} s, "
        f"{run.leapfrogs:.3g} leapfrogs, {run.progress.leapfrogs_per_second:.3g} a second",
        "acceptance: " + ", ".join(f"{kind} {rate:.4f}" for kind, rate in rates.items())
        + (f"; {run.non_finite} rejections for a non-finite energy" if run.non_finite else ""),
        "",
        _table([("quantity", "mean", "sd", "mcse", "ess bulk", "ess tail", "r-hat", "truth"), *_rows(run)]),
    ]  # fmt: skip
    name = run.target.paper_quantity
    if name in run.names:
        figure = f"\nESS of {name} per draw and leapfrog: {_number(float(run.ess_per_gradient(name)))}"
        paper = spec.method.paper_ess.get(spec.target)
        lines.append(figure + (f" (the paper, at its best settings: {paper:.3g})" if paper else ""))
    return "\n".join(lines)


def _rows(run: Run) -> list[tuple[str, ...]]:
    """A row for each scalar, and of a vector the element with the smallest ESS."""
    vectors = {q.name: elements(q) for q in run.target.quantities if q.vector and q.name in run.spec.keep}
    members = {element for names in vectors.values() for element in names}
    rows = []
    for vector in vectors:
        ess = np.nan_to_num(np.asarray(run.ess(vector)), nan=np.inf)
        worst = int(np.argmin(ess))
        rows.append(_row(run, f"{vector}[{worst}]", f"{vector}[{worst}] (least ESS of {len(vectors[vector])})"))
    return [_row(run, name, name) for name in run.names if name not in members] + rows


def _row(run: Run, name: str, label: str) -> tuple[str, ...]:
    x, truth = run.get(name), run.target.truth(name)
    values = (x.mean(), x.std(), run.mcse(name), run.ess(name), run.ess(name, "tail"), run.rhat(name))
    return (label, *(_number(float(v)) for v in values), _number(truth.mean) if truth else "-")


def _number(value: float) -> str:
    if np.isnan(value):
        return "undefined"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows]  # fmt: skip
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _table1(options: argparse.Namespace) -> int:
    """Compare the five samplers at equal leapfrogs and print ESS per leapfrog beside the paper's, with intervals."""
    from tqdm import tqdm

    names = [family_of(name.strip()).name for name in options.targets.split(",")]
    comparisons = [
        Comparison(name, gradients=_budget(options, name), replicates=options.replicates, seed=options.seed)
        for name in names
    ]
    stopped = False
    for comparison in comparisons:
        with tqdm(total=comparison.total, desc=comparison.target.name, unit=" runs", disable=None, leave=False) as bar:
            try:
                for step in comparison:
                    bar.update()
                    bar.set_postfix_str(step.label)
            except KeyboardInterrupt:
                comparison.stop()
                stopped = True
                break
    print(tables.table(comparisons, options.format, cost=options.cost))
    if options.format == "text":
        for comparison in comparisons:
            lines = [tables.headline(comparison, "mahmc", other, cost=options.cost) for other in tables.AGAINST
                     if {"mahmc", other} <= comparison.done.keys()]  # fmt: skip
            print(f"\n{comparison.target.name}: ESS of {comparison.target.paper_quantity} per {options.cost}, "
                  f"{comparison.budget:,} leapfrogs a replicate.", *lines)  # fmt: skip
    if stopped:
        print("mahmc: stopped; the table has what was done until then.", file=sys.stderr)
    return STOPPED if stopped else 0


def _budget(options: argparse.Namespace, target: str) -> int | None:
    return FAMILIES[target].build().full_budget // options.replicates if options.full else options.gradients


def _check(options: argparse.Namespace) -> int:
    """Check a sampler on a target in every way that applies, and say right, wrong, or not enough draws to tell."""
    return _checked(_checking(options), options)


def _check_sampler(options: argparse.Namespace) -> int:
    """Check your own sampler on a target with exact draws. The file is run: only name one that you trust."""
    name, sampler = find_sampler(options.sampler)
    (chosen,) = _with_own([options.target])
    case, target = case_of(chosen, {})
    return _checked(Checking([step_cell(sampler, case, target, name)], **_strictness(options)), options)


def _strictness(options: argparse.Namespace) -> dict[str, Any]:
    seed = int(RUN_PARAMETERS["seed"].parse(options.seed)) if options.seed is not None else 0
    return {"budget": options.budget, "level": options.level, "seed": seed}


def _checked(checking: Checking, options: argparse.Namespace) -> int:
    """Make all checks, print what they find, and return the exit code."""
    from tqdm import tqdm

    _refuse_bad_path(options.html, "--html")
    stopped = False
    with tqdm(total=checking.total, unit=" checks", disable=None, leave=False) as bar:
        try:
            for step in checking:
                bar.update()
                cell = step.cell
                if not options.json:
                    bar.write(f"{cell.sampler} on {cell.case.title}, {cell.findings[step.check]}")
        except KeyboardInterrupt:
            checking.stop()
            stopped = True
    found = [cell for cell in checking.cells.values() if cell.verdict is not None]
    if options.html:
        options.html.write_text(report.as_html(found), encoding="utf-8")
    if options.json:
        print(report.as_json(found))
    else:
        rows = [(cell.title, cell.case.title, str(cell.verdict), f"{cell.seconds:.1f}") for cell in found]
        print("\n" + _table([("sampler", "target", "verdict", "seconds"), *rows]))
        if (agreed := checking.agreement()) is not None:
            print(f"\n{agreed}\nCompared: {agreed.compared}.")
    if stopped:
        print("mahmc: stopped; the verdicts are of what was done until then.", file=sys.stderr)
        return STOPPED
    verdicts = {cell.verdict for cell in found}
    return WRONG if Verdict.WRONG in verdicts else UNCLEAR if Verdict.UNCLEAR in verdicts else 0


def _checking(options: argparse.Namespace) -> Checking:
    """What is to be checked: one sampler on one target, one target or case with all samplers, or everything."""
    common = _strictness(options)
    for name in CHOSEN_BY_CHECKS:
        if getattr(options, name) is not None:
            raise InvalidInput(f"--{name} is chosen by the checks themselves: use --budget for more or fewer draws.")
    if options.sampler is None:
        cases = None if options.target is None else [options.target]
        return Checking.of(None, cases, **common)
    if options.target in CASES and options.target not in FAMILIES:
        return Checking.of([options.sampler], [options.target], **common)
    spec = _spec(options)
    return Checking([own_cell(spec.build_target(), spec.sampler, spec.chosen)], **common)


def _list(options: argparse.Namespace) -> int:
    """Everything that can be chosen."""
    print("targets")
    for family in FAMILIES.values():
        print(f"  {family.name:8} {family.about}")
        for p in family.parameters:
            print(f"    {p.name:12} {p.title}, {p.range}; default {p.default}")
        built = family.build()
        print(f"    {'updates':12} {', '.join(built.updates)}; default {built.default_update}")
    print("\nsamplers")
    for sampler in EVERY_SAMPLER.values():
        print(f"  {sampler.name:10} {'WRONG on purpose. ' if sampler.wrong else ''}{sampler.about}")
        for target in (name for name, family in FAMILIES.items() if sampler.takes(family.build())):
            values = ", ".join(f"{name} {value:g}" for name, value in sampler.defaults(target).items())
            print(f"    {target:12} {values}")
    able = ", ".join(name for name, sampler in EVERY_SAMPLER.items() if sampler.takes_schedule)
    print(f"\nschedules (of {able})\n  {schedules.FORMS}; default {ALTERNATE}, with L and n_u")
    print("\nouter\n  the update of qᴼ after a trajectory, or none; default the first of update (wrong samplers: none)")
    print("\nparameters of samplers")
    for p in PARAMETERS.values():
        print(f"  {p.name:8} {p.symbol:4} {p.title}, {p.range}. {p.help}")
    print("\nparameters of a run")
    for p in RUN_PARAMETERS.values():
        print(f"  {p.name:8} {p.title}, {p.range}; default {p.default}. {p.help}")
    return 0


def _compile(options: argparse.Namespace) -> int:
    """A short run of each sampler on each target, and one check, on all cores: what is not in the cache is compiled."""
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        list(pool.map(compile_for, FAMILIES))
    return 0


def compile_for(target: str) -> None:
    """One short run of each sampler on this target, and the check that has kernels of its own."""
    built = FAMILIES[target].build()
    for sampler in (name for name, method in SAMPLERS.items() if method.takes(built)):
        begin = time.perf_counter()
        Run(RunSpec.of(target, sampler, draws=1, warmup=0, chains=1)).advance_all()
        print(f"{target} {sampler}: {time.perf_counter() - begin:.1f} s", flush=True)
    begin = time.perf_counter()
    check_gradient(engine_subject(built, "hmc", {}))
    print(f"{target} gradient: {time.perf_counter() - begin:.1f} s", flush=True)


def _app(options: argparse.Namespace) -> int:
    """Serve the dashboard. Targets of your own are loaded from the files named here, and from nowhere else."""
    root = Path(__file__).parent.parent
    if not (root / "dashboard").is_dir():
        raise InvalidInput(f"there is no dashboard beside the library, in {root}: run this from a copy of the project.")
    for path in options.targets:
        load_targets(path)  # so that what is wrong is said at once
    files = [part for path in options.targets for part in ("--targets", str(path.resolve()))]
    for where in options.samplers:
        load_samplers(where)
        path, colon, name = where.rpartition(":")
        path, name = (path, colon + name) if path.endswith(".py") else (where, "")
        files += ["--samplers", f"{Path(path).resolve()}{name}"]
    command = [sys.executable, "-m", "dashboard", *files, "--server.port", str(options.port)]
    try:
        return subprocess.call(command, cwd=root)
    except KeyboardInterrupt:
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
