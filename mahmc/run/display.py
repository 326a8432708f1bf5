"""A run as one line of text, and as HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahmc.notebook import facts_as_html
from mahmc.spec import ALTERNATE

if TYPE_CHECKING:
    from mahmc.run.results import Results


def in_one_line(run: Results) -> str:
    """The settings and the progress of a run. Nothing is computed, so debuggers may call this at any time."""
    spec = run.spec
    return (
        f"<Run of {spec.method.title} on {run.target.name} ({_settings(run)}, seed {spec.seed}): "
        f"{spec.chains:,} chains, {run.draws_done:,} of {spec.draws:,} draws, {_acceptance(run)}>"
    )


def as_html(run: Results) -> str:
    """The settings, the cost and the warnings of a run. This never takes long."""
    spec = run.spec
    facts = {
        "settings": f"{_settings(run)}, seed {spec.seed}",
        "draws": f"{run.draws_done:,} of {spec.draws:,} on each of {spec.chains:,} chains, after "
        f"{min(run.done, spec.warmup):,} of {spec.warmup:,} of warm-up",
        "tests of proposals": _acceptance(run),
        "cost": f"{run.gradients:,} gradients, {run.seconds:.3g} s",
        "quantities": ", ".join(spec.keep),
    }
    return facts_as_html(f"{spec.method.label} on {run.target.presentation.title}", facts, run.warnings)


def _settings(run: Results) -> str:
    """The sampler's parameters, and the schedule if it replaces some of them."""
    schedule = [run.spec.schedule] if run.spec.schedule not in ("", ALTERNATE) else []
    return ", ".join([f"{name} {value:g}" for name, value in run.spec.parameters] + schedule)


def _acceptance(run: Results) -> str:
    rate = run.acceptances["trajectory"].rate
    return "nothing tested yet" if rate is None else f"acceptance {rate:.3f}"
