"""The options of a run, made from the registries of targets and samplers, and the spec that they define."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from typing import Any

from mahmc import schedules
from mahmc.parameters import Parameter
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, WRONG_SAMPLERS
from mahmc.spec import RUN_PARAMETERS, STARTS, RunSpec, described
from mahmc.targets import FAMILIES

_WORDS = ("update", "outer", "schedule", "start", "keep")


def add_run(parser: argparse.ArgumentParser, optional: bool = False, hidden: Collection[str] = ()) -> None:
    """Add a target, a sampler, and the options of both. The help leaves out the hidden options."""
    count = "?" if optional else None
    text = f"one of {', '.join(FAMILIES)}, or a custom one: file.py, or file.py:Class"
    parser.add_argument("target", metavar="TARGET", nargs=count, help=text)
    right = ", ".join(name for name in EVERY_SAMPLER if name not in WRONG_SAMPLERS)
    text = f"one of {right}; wrong on purpose: {', '.join(WRONG_SAMPLERS)}"
    parser.add_argument("sampler", metavar="SAMPLER", nargs=count, help=text)
    options: dict[str, argparse.Action] = {}
    for title, group in (
        ("of the sampler (default: the paper's best values)", PARAMETERS.values()),
        ("of the run", RUN_PARAMETERS.values()),
        *((f"of {known.name}", known.parameters) for known in FAMILIES.values()),
    ):
        _add_parameters(parser.add_argument_group(f"parameters {title}"), group, options)
    parser.add_argument("--update", metavar="A,B", help=f"the updates of qᴼ inside trajectories: {_updates_in_words()}")
    parser.add_argument("--outer", help="the update of qᴼ after a trajectory, or none (default: the first of --update)")
    able = ", ".join(name for name, sampler in EVERY_SAMPLER.items() if sampler.takes_schedule)
    parser.add_argument(
        "--schedule", help=f"the law of the steps of a trajectory, for {able}: {schedules.FORMS} (default: alternate)"
    )
    text = f"where chains start: {' or '.join(STARTS)}; exact starts from exact draws (default: {STARTS[0]})"
    options["start"] = parser.add_argument("--start", help=text)
    text = "quantities to record (default: all of the target and the energy)"
    options["keep"] = parser.add_argument("--keep", metavar="A,B", help=text)
    for name in hidden:
        options[name].help = argparse.SUPPRESS


def _add_parameters(group: Any, parameters: Iterable[Parameter], options: dict[str, argparse.Action]) -> None:
    """Add an option for each parameter. Targets that share a name share the option, with the help texts of all."""
    for parameter in parameters:
        flag = f"--{parameter.name.replace('_', '-')}"
        text = f"{parameter.title}, {parameter.range}. {parameter.help}".replace("%", "%%")
        metavar = "A,B,…" if parameter.kind == "floats" else parameter.kind.upper()
        if shared := options.get(parameter.name):
            shared.help = f"{shared.help} {group.title.capitalize()}: {text}"
        else:
            options[parameter.name] = group.add_argument(flag, metavar=metavar, dest=parameter.name, help=text)


def _updates_in_words() -> str:
    found = ((name, family.build().density.updates) for name, family in FAMILIES.items())
    return "; ".join(f"{name} has {', '.join(updates)}" for name, updates in found if updates)


def chosen_spec(options: argparse.Namespace) -> RunSpec:
    """The spec of the run that the options define."""
    known = described(options.target)
    texts = {name: getattr(options, name) for name in known if getattr(options, name) is not None}
    chosen: dict[str, Any] = {name: known[name].parse(text) for name, text in texts.items()}
    chosen |= {name: getattr(options, name) for name in _WORDS if getattr(options, name)}
    return RunSpec.of(options.target, options.sampler, **chosen)
