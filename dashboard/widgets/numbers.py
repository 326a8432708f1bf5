"""Parameters as number widgets show them: labels, steps, stops and texts."""

from __future__ import annotations

from mahmc import Parameter
from mahmc.numerals import exact


def label(parameter: Parameter) -> str:
    """Symbol and title."""
    return f"{parameter.symbol} {parameter.title}" if parameter.symbol else parameter.title


def plain(parameter: Parameter, value: float) -> int | float:
    """The number as a whole number if the parameter is one."""
    return int(value) if parameter.kind == "int" else float(value)


def cleaned(parameter: Parameter, value: float) -> int | float:
    """The value of a slider without the error of the browser's sums: 0.3 instead of 0.30000000000000004."""
    return plain(parameter, float(f"{value:.12g}"))


def step_of(parameter: Parameter, value: float) -> float:
    """The step of + and −: one for integers, else a twentieth of the value."""
    if parameter.kind == "int":
        return 1.0
    return parameter.step or float(f"{max(abs(value), 1e-6) / 20:.1g}")


def stops_of(parameter: Parameter) -> list[int | float]:
    """The stops of a slider on a log scale: round numbers, 16 in each factor of ten. Empty for a linear scale."""
    if not parameter.log or parameter.slider is None:
        return []
    low, high = parameter.slider
    mantissas = (1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9)
    found = {float(f"{m * 10.0**e:.3g}") for e in range(-9, 10) for m in mantissas}
    if parameter.kind == "int":
        found = {float(round(stop)) for stop in found}
    return [plain(parameter, stop) for stop in sorted(found | {low, high}) if low <= stop <= high]


def short(value: float) -> str:
    """A number as sliders show it: exactly."""
    return f"{value:,}" if isinstance(value, int) else exact(value)
