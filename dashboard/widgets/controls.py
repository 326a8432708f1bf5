"""One widget for each kind of entry.

A widget always shows the value in the settings, no matter what changed it, and keeps it when the page is left: see
`bound`. When a person changes a widget, its callback changes the entry.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from zlib import crc32

import streamlit as st

from dashboard.settings.entries import Entry, Number, OneOf, Settings, SomeOf
from dashboard.work.tab import Tab
from mahmc import InvalidInput, Parameter


@dataclass(frozen=True)
class Controls:
    """The widgets of one page."""

    tab: Tab
    page: str

    @property
    def settings(self) -> Any:
        return self.tab.settings[self.page]

    def entry(self, name: str) -> Entry:
        entry: Entry = self.settings.entries()[name]
        return entry

    def take(self, name: str, value: Any) -> None:
        """Handle the event of a widget: change the entry."""
        self.tab.change(self.page, name, value)

    def replace(self, settings: Settings) -> None:
        """Handle an event that changes several entries at once."""
        self.tab.replace(self.page, settings)

    def key(self, entry: Entry) -> str:
        """The key of a widget: a key for each place where an entry is kept, and for each list of options."""
        options = getattr(entry.kind, "options", ())
        mark = f".{crc32(repr(options).encode()):x}" if options else ""
        return f"{self.page}.{'.'.join(part for part in entry.at if part not in ('choices', 'chosen'))}{mark}"


class Bound(TypedDict):
    """The arguments that bind a widget to a value: its key and its callback."""

    key: str
    on_change: Callable[[], None]


def bound(key: str, value: Any, take: Callable[[Any], None]) -> Bound:
    """The key and the callback of a widget that shows `value`. The widget must get the same value as its default.

    A widget that has another value is not changed: a new widget with the next number in its key replaces it. The reason
    is that the browser sends the values of all widgets with each request, and may send the old value before the new
    value has arrived. Streamlit would then take the old value as an input of the user, and undo the change, for example
    the move of a slider beside a field. Events of a widget that was replaced are ignored.
    """
    numbers: dict[str, int] = st.session_state.setdefault("widget numbers", {})
    number = numbers.get(key, 0)
    if st.session_state.get(_numbered(key, number), value) != value:
        number = numbers[key] = number + 1

    def changed() -> None:
        if number == numbers.get(key, 0):
            take(st.session_state[_numbered(key, number)])

    return {"key": _numbered(key, number), "on_change": changed}


def _numbered(key: str, number: int) -> str:
    return f"{key}.{number}"


# ------------------------------------------------------------------------------------------------------ choices


def select(
    controls: Controls, name: str, label: str, titles: Callable[[str], str] = str, help: str | None = None
) -> str:
    """A list to choose one of the entry's options."""
    entry = controls.entry(name)
    key = controls.key(entry)
    options = _options(entry)
    value: str = entry.value
    st.selectbox(label, options, options.index(value), format_func=titles, help=help,
                 **bound(key, value, lambda chosen: controls.take(name, chosen)))  # fmt: skip
    return value


def segmented(
    controls: Controls,
    name: str,
    label: str,
    titles: Mapping[str, str] | None = None,
    *,
    help: str | None = None,
    options: tuple[str, ...] = (),
    hidden: bool = True,
) -> None:
    """Buttons side by side to choose one of the entry's options (or of `options`)."""
    entry = controls.entry(name)
    shown = options or tuple(_options(entry))
    key = f"{controls.key(entry)}.{crc32(repr(shown).encode()):x}"
    value = entry.value if entry.value in shown else shown[0]
    st.segmented_control(
        label, shown, default=value, required=True, help=help, label_visibility="collapsed" if hidden else "visible",
        format_func=titles.__getitem__ if titles else str.capitalize,
        **bound(key, value, lambda chosen: controls.take(name, chosen)),
    )  # fmt: skip


def multiselect(
    controls: Controls,
    name: str,
    label: str,
    titles: Callable[[str], str] = str,
    help: str | None = None,
    picked: Sequence[str] | None = None,
) -> None:
    """A list to choose several of the entry's options, in any order. `picked` may have more names than are in use."""
    entry = controls.entry(name)
    key = controls.key(entry)
    value = list(entry.value if picked is None else picked)
    st.multiselect(label, _options(entry), value, format_func=titles, help=help,
                   **bound(key, value, lambda chosen: controls.take(name, tuple(chosen))))  # fmt: skip


def toggle(controls: Controls, name: str, label: str, help: str) -> bool:
    """A switch."""
    entry = controls.entry(name)
    value: bool = entry.value
    st.toggle(label, value, help=help,
              **bound(controls.key(entry), value, lambda chosen: controls.take(name, chosen)))  # fmt: skip
    return value


def _options(entry: Entry) -> tuple[str, ...]:
    assert isinstance(entry.kind, OneOf | SomeOf)
    return tuple(entry.kind.options)


# ------------------------------------------------------------------------------------------------------ numbers


def number(controls: Controls, name: str) -> None:
    """A slider, and a field for exact input, of an entry that the registry describes."""
    entry = controls.entry(name)
    slider_and_field(_parameter(entry), entry.value, controls.key(entry), lambda value: controls.take(name, value))


def field(controls: Controls, name: str, disabled: bool = False) -> None:
    """A field without a slider. A value out of range is refused."""
    entry = controls.entry(name)
    parameter = _parameter(entry)
    _field(parameter, entry.value, controls.key(entry), lambda value: controls.take(name, value), visible=True,
           disabled=disabled)  # fmt: skip


def _parameter(entry: Entry) -> Parameter:
    assert isinstance(entry.kind, Number)
    return entry.kind.parameter


def slider_and_field(parameter: Parameter, value: Any, key: str, take: Callable[[Any], None]) -> None:
    """A slider and a field that both show `value` and pass a new value to `take`."""
    place = _nearest(parameter, value)
    left, right = st.columns([3, 2], vertical_alignment="bottom", wrap=False)
    moved = bound(f"{key}.slider", place, lambda chosen: take(_plain(parameter, chosen)))
    common: dict[str, Any] = {"value": place, "help": parameter.help, **moved}
    if options := _stops(parameter):
        left.select_slider(_label(parameter), options, format_func=short, **common)
    else:
        low, high = parameter.slider or (parameter.low, parameter.high)
        step = parameter.step or (1 if parameter.kind == "int" else (high - low) / 200)
        bounds: Any = [_plain(parameter, bound) for bound in (low, high)]
        left.slider(_label(parameter), *bounds, step=_plain(parameter, step),
                    format="%.5g" if parameter.kind == "float" else None, **common)  # fmt: skip
    with right:
        _field(parameter, value, f"{key}.exact", take)


def _field(
    parameter: Parameter, value: Any, key: str, take: Callable[[Any], None], *, visible: bool = False,
    disabled: bool = False,
) -> None:  # fmt: skip
    """A field for exact input."""

    def enter(typed: Any) -> None:
        """Take the typed value. If it is out of range, the field shows the previous value again."""
        try:
            take(parameter.check(typed))
        except InvalidInput as refusal:
            st.toast(str(refusal))

    st.number_input(
        _label(parameter) if visible else f"{_label(parameter)}, exact", value=value, disabled=disabled,
        label_visibility="visible" if visible else "collapsed", help=parameter.help if visible else None,
        format="%g" if parameter.kind == "float" else "%d", step=_step(parameter, value),
        min_value=_bound(parameter, parameter.low), max_value=_bound(parameter, parameter.high),
        **bound(key, value, enter),
    )  # fmt: skip


def seed(controls: Controls, name: str = "seed") -> None:
    """A field for the seed, with a button for a random seed."""
    left, right = st.columns([4, 1], vertical_alignment="bottom", wrap=False)
    with left:
        field(controls, name)
    right.button("", icon=":material/casino:", help="A new seed", key=f"{controls.page}.dice",
                 on_click=lambda: controls.take(name, secrets.randbelow(10**6)))  # fmt: skip


def _label(parameter: Parameter) -> str:
    return f"{parameter.symbol} {parameter.title}" if parameter.symbol else parameter.title


def _plain(parameter: Parameter, value: float) -> int | float:
    return int(value) if parameter.kind == "int" else float(value)


def _bound(parameter: Parameter, bound: float) -> int | float | None:
    """A bound as Streamlit takes it: None for infinity. The parameter's own check treats open bounds."""
    return _plain(parameter, bound) if abs(bound) < 2**53 else None


def _step(parameter: Parameter, value: float) -> int | float:
    """The step of + and −: one for integers, else a twentieth of the value."""
    if parameter.kind == "int":
        return 1
    return parameter.step or float(f"{max(abs(value), 1e-6) / 20:.1g}")


def _stops(parameter: Parameter) -> list[int | float]:
    """The stops of a slider on a log scale: round numbers, 16 in each factor of ten. Empty for a linear scale."""
    if not parameter.log or parameter.slider is None:
        return []
    low, high = parameter.slider
    mantissas = (1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9)
    found = {float(f"{m * 10.0**e:.3g}") for e in range(-9, 10) for m in mantissas}
    if parameter.kind == "int":
        found = {float(round(stop)) for stop in found}
    return [_plain(parameter, stop) for stop in sorted(found | {low, high}) if low <= stop <= high]


def _nearest(parameter: Parameter, value: float) -> int | float:
    """The position of the slider that is nearest to `value`, which may lie between stops or outside the slider."""
    if options := _stops(parameter):
        return min(options, key=lambda stop: abs(stop - value))
    low, high = parameter.slider or (parameter.low, parameter.high)
    return _plain(parameter, min(max(value, low), high))


def short(value: float) -> str:
    """A number as sliders show it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
