"""What charts are of: the names of their files, and their settings in words, which a printed figure contains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dashboard.settings.checks import CONTESTS, STRICTNESS, CheckSettings, sampler_title
from dashboard.views.view import Source
from dashboard.work.job import Snapshot
from dashboard.work.runs import RunResult
from mahmc import Comparison, RunSpec
from mahmc.checks import CASES, Cell
from mahmc.samplers import EVERY_SAMPLER
from mahmc.version import __version__

OF_QUANTITY = ("trace", "density", "mean", "autocorrelation", "ranks", "histogram", "ecdf")  # of the chosen quantity
MADE = f"mahmc {__version__}"


# ------------------------------------------------------------------------------------------------------- by page
# Each function gives the source of the chart at a place of the page.


def explore(
    spec: RunSpec | None, drawn: int, quantity: str, pins: Sequence[tuple[str, Snapshot[RunResult]]]
) -> Callable[[str], Source]:  # fmt: skip
    """Explore: charts of a run of which so many draws of each chain are done, and of pinned runs."""

    def source(place: str) -> Source:
        assert spec is not None
        if place == "pins":
            return of_pins((name, pin.result.spec) for name, pin in pins)
        return of_run(spec, drawn).of(quantity) if place in OF_QUANTITY else of_run(spec, drawn)

    return source


def compare(found: Comparison | None, quantity: str | None, cost: str) -> Callable[[str], Source]:
    """Compare: bars of a quantity by cost, and charts of the main quantity."""

    def source(place: str) -> Source:
        assert found is not None
        main = found.target.presentation.main_quantity
        about = f"{quantity or found.quantities[0]}-per-{cost}" if place == "bars" else main
        return of_comparison(found).of(about)

    return source


def checks(cell: Cell, settings: CheckSettings, quantity: Callable[[], str]) -> Callable[[str], Source]:
    """Checks: charts of a cell of the matrix."""
    found = of_cell(cell, settings)
    return lambda place: found.of(quantity()) if place in OF_QUANTITY else found


def contest(settings: CheckSettings) -> Callable[[str], Source]:
    """Checks: charts of a correct and a wrong sampler. A place contains the quantity and the sampler."""
    case, samplers = CONTESTS[settings.exhibit]
    titles = " and ".join(EVERY_SAMPLER[name].title for name in samplers)
    about = f"{titles} on {CASES[case].title} · {settings.draws:,} draws of each chain"
    found = Source(f"{case}-seed{settings.seed}", (about, f"{_strictness(settings)} · {MADE}"))
    return lambda _: found


# ------------------------------------------------------------------------------------------------------- by kind


def of_run(spec: RunSpec, drawn: int) -> Source:
    """The source of the charts of a run, of which so many draws of each chain are done."""
    target = ", ".join(f"{name} {_short(value)}" for name, value in spec.settings)
    return Source(
        f"{spec.target}-{spec.sampler}-seed{spec.seed}",
        (
            f"{spec.target.upper()} · {_of_sampler(spec)} · seed {spec.seed}",
            f"{spec.chains} chains × {drawn:,} draws after {spec.warmup:,} of warm-up"
            + (f", every {spec.thin}th iteration" if spec.thin > 1 else "")
            + (f" · {target}" if target else "") + (" · uploaded data" if spec.data else "") + f" · {MADE}",
        ),
    )  # fmt: skip


def of_pins(specs: Iterable[tuple[str, RunSpec]]) -> Source:
    """The source of a chart of pinned runs, by name."""
    found = [f"{name}: {spec.target.upper()} · {_of_sampler(spec)} · seed {spec.seed}" for name, spec in specs]
    return Source("pinned-runs", (*found, MADE))


def of_comparison(found: Comparison) -> Source:
    """The source of the charts of a comparison."""
    size = f"{found.budget:,} leapfrogs in each of {found.replicates} replicates · seed {found.seed} · {MADE}"
    samplers = "; ".join(f"{label}: {entry.spec.summary}" for label, entry in found.entries.items())
    return Source(f"{found.target.name}-seed{found.seed}", (f"{found.target.name.upper()} · {samplers}", size))


def of_cell(cell: Cell, settings: CheckSettings) -> Source:
    """The source of the charts of a cell of the matrix."""
    chosen = ", ".join(f"{name} {_short(value)}" for name, value in {**cell.case.settings, **cell.chosen}.items())
    return Source(
        f"{cell.case.name}-{cell.sampler}-seed{settings.seed}",
        (f"{cell.title} on {cell.case.title} · {chosen}" if chosen else f"{cell.title} on {cell.case.title}",
         f"{_strictness(settings)} · {MADE}"),
    )  # fmt: skip


def _of_sampler(spec: RunSpec) -> str:
    return f"{sampler_title(spec.sampler)} ({spec.summary})" if spec.summary else sampler_title(spec.sampler)


def _strictness(settings: CheckSettings) -> str:
    values = settings.strictness
    return " · ".join(f"{parameter.title.lower()} {_short(values[name])}" for name, parameter in STRICTNESS.items())


def _short(value: object) -> str:
    """A value of a parameter in few letters."""
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_short, value))})"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
