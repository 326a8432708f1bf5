"""`mahmc list`: all targets, samplers and parameters."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from mahmc import schedules
from mahmc.cli.exits import DONE
from mahmc.cli.parser import add_json
from mahmc.parameters import Parameter
from mahmc.plain import as_json
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, Sampler
from mahmc.spec import ALTERNATE, RUN_PARAMETERS
from mahmc.targets import FAMILIES, TargetFamily


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "list", help="targets, samplers, parameters and their ranges", description=show.__doc__
    )
    add_json(parser, "everything")
    parser.set_defaults(command=show, parser=parser)


def show(options: argparse.Namespace) -> int:
    """Print every target, sampler and parameter, with ranges and defaults."""
    print(as_json(facts()) if options.json else "\n".join(_lines()))
    return DONE


def _schedulable() -> list[str]:
    return [name for name, sampler in EVERY_SAMPLER.items() if sampler.takes_schedule]


def _defaults(sampler: Sampler) -> dict[str, dict[str, Any]]:
    """The default values of a sampler, for each target that it can sample."""
    return {name: sampler.defaults(name) for name, family in FAMILIES.items() if sampler.takes(family.build())}


# ---------------------------------------------------------------------------------------------------- for programs


def facts() -> dict[str, Any]:
    """Everything that can be chosen, as plain values."""
    return {
        "targets": {name: _family(family) for name, family in FAMILIES.items()},
        "samplers": {
            name: {"about": sampler.about, "wrong_because": sampler.wrong or None, "defaults": _defaults(sampler)}
            for name, sampler in EVERY_SAMPLER.items()
        },
        "schedules": {"samplers": _schedulable(), "forms": schedules.FORMS, "default": ALTERNATE},
        "sampler_parameters": _parameters(PARAMETERS.values()),
        "run_parameters": _parameters(RUN_PARAMETERS.values()),
    }


def _family(family: TargetFamily) -> dict[str, Any]:
    built = family.build()
    return {
        "about": family.about,
        "parameters": _parameters(family.parameters),
        "updates": list(built.density.updates),
        "default_update": built.density.default_update,
    }


def _parameters(parameters: Iterable[Parameter]) -> dict[str, dict[str, Any]]:
    return {
        p.name: {
            "symbol": p.symbol, "title": p.title, "help": p.help, "kind": p.kind, "low": p.low, "high": p.high,
            "low_is_allowed": not p.low_open, "high_is_allowed": not p.high_open, "default": p.default,
        }
        for p in parameters
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------ for people


def _lines() -> Iterable[str]:
    yield "targets"
    for family in FAMILIES.values():
        yield f"  {family.name:8} {family.about}"
        for p in family.parameters:
            yield f"    {p.name:12} {p.title}, {p.range}; default {p.default}"
        built = family.build()
        if built.density.updates:
            yield f"    {'updates':12} {', '.join(built.density.updates)}; default {built.density.default_update}"
    yield "\nsamplers"
    for sampler in EVERY_SAMPLER.values():
        yield f"  {sampler.name:10} {'WRONG on purpose. ' if sampler.wrong else ''}{sampler.about}"
        for target, values in _defaults(sampler).items():
            yield f"    {target:12} {', '.join(f'{name} {value:g}' for name, value in values.items())}"
    able = ", ".join(_schedulable())
    yield f"\nschedules (of {able})\n  {schedules.FORMS}; default {ALTERNATE}, with L and n_u"
    yield "\nouter\n  the update of qᴼ after a trajectory, or none; default the first update (wrong samplers: none)"
    yield "\nparameters of samplers"
    for p in PARAMETERS.values():
        yield f"  {p.name:8} {p.symbol:4} {p.title}, {p.range}. {p.help}"
    yield "\nparameters of a run"
    for p in RUN_PARAMETERS.values():
        yield f"  {p.name:8} {p.title}, {p.range}; default {p.default}. {p.help}"
