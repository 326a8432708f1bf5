"""Where a result comes from, in words: its sampler, its target with its settings, its size and its seed.

Headlines, charts and tables show these words, so that no number is taken for a result of other settings.
"""

from __future__ import annotations

from typing import Any

from dashboard.settings.choices import family, in_symbols
from mahmc import Comparison, RunSpec
from mahmc.targets import Target

MOST_LETTERS = 60  # of one setting


def of_target(target: Target) -> str:
    """The target with the settings that differ from the defaults: "MDC (n_w 3)". A user's data have a fingerprint."""
    usual = family(target.name).settings
    words = [f"{name} {_value(value)}" for name, value in target.settings.items() if value != usual.get(name)]
    words += [f"your data {target.fingerprint}"] if target.fingerprint else []
    title = target.presentation.title.partition(":")[0]
    return f"{title} ({'; '.join(words)})" if words else title


def of_run(spec: RunSpec, target: Target) -> str:
    """A run: "HMC on MDC · ε 0.035, L 40 · 16 chains × 20,000 draws · seed 0"."""
    thinned = f", thinned by {spec.thin:,}" if spec.thin > 1 else ""
    size = f"{spec.chains:,} chains × {spec.draws:,} draws{thinned}"
    return f"{spec.method.title} on {of_target(target)} · {in_symbols(spec)} · {size} · seed {spec.seed}"


def of_comparison(found: Comparison) -> str:
    """A comparison: "MDC · 8 replicates of 4,800,000 leapfrogs · seed 0"."""
    size = f"{found.replicates} replicates of {found.budget:,} leapfrogs"
    return f"{of_target(found.target)} · {size} · seed {found.seed}"


def of_entry(found: Comparison, label: str) -> str:
    """The first replicate of one sampler of a comparison."""
    summary = in_symbols(found.entries[label].spec)
    return f"{of_target(found.target)} · {summary} · {found.budget:,} leapfrogs · seed {found.seed}"


def _value(value: Any) -> str:
    """A setting's value: "0.4", "0.5, 0.5"; a long list is cut."""
    if isinstance(value, tuple):
        text = ", ".join(f"{item:g}" for item in value)
        return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
    return str(value) if isinstance(value, bool) else f"{value:g}"
