"""One widget for each kind of entry.

A widget shows what the settings say, whatever changed them, and nothing is lost when a page is left: see `bound`.
When a person moves a widget, its callback changes the entry.
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
        return self.settings.entries()[name]

    def take(self, name: str, value: Any) -> None:
        """A widget's event: the entry is changed."""
        self.tab.change(self.page, name, value)

    def replace(self, settings: Settings) -> None:
        """An event that changes several entries at once."""
        self.tab.replace(self.page, settings)

    def key(self, entry: Entry) -> str:
        """A widget's key: one for each place where an entry may be kept, and for each list of options."""
        options = getattr(entry.kind, "options", ())
        mark = f".{crc32(repr(options).encode()):x}" if options else ""
        return f"{self.page}.{'.'.join(part for part in entry.at if part not in ('choices', 'chosen'))}{mark}"


class Bound(TypedDict):
    """What a widget is given so that it shows a value and tells of changes."""

    key: str
    on_change: Callable[[], None]


def bound(key: str, value: Any, take: Callable[[Any], None]) -> Bound:
    """The key and the event of a widget that shows this value, which the widget must be given as its default.

    A widget that has another value is not set to this one, but makes room for a new widget, whose key has the next
    number. The browser sends the values of all widgets with each request, and it may have sent the old value before it
    hears of the new one. Streamlit would take the old value for an entry by the user, and undo what changed it: the
    move of a slider beside a field. What is said of a widget that is gone is not listened to.
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
    """One of the entry's options, in a list."""
    entry = controls.entry(name)
    key = controls.key(entry)
    options = _options(entry)
    st.selectbox(label, options, options.index(entry.value), format_func=titles, help=help,
                 **bound(key, entry.value, lambda value: controls.take(name, value)))  # fmt: skip
    return entry.value


def segmented(
    controls: Controls,
    name: str,
    label: str,
    titles: Mapping[str, str] | None = None,
    help: str | None = None,
    options: tuple[str, ...] = (),
    hidden: bool = True,
) -> None:
    """One of the entry's options (or of those given here), side by side."""
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
    """Some of the entry's options, in an order of their own; `picked` are those of them that may not all be in use."""
    entry = controls.entry(name)
    key = controls.key(entry)
    value = list(entry.value if picked is None else picked)
    st.multiselect(label, _options(entry), value, format_func=titles, help=help,
                   **bound(key, value, lambda chosen: controls.take(name, tuple(chosen))))  # fmt: skip


def toggle(controls: Controls, name: str, label: str, help: str) -> bool:
    """A switch."""
    entry = controls.entry(name)
    st.toggle(label, entry.value, help=help,
              **bound(controls.key(entry), entry.value, lambda value: controls.take(name, value)))  # fmt: skip
    return entry.value


def stops(controls: Controls, name: str, label: str, values: tuple[int, ...], help: str) -> None:
    """A slider over some whole numbers."""
    entry = controls.entry(name)
    st.select_slider(label, values, entry.value, format_func=short, help=help,
                     **bound(controls.key(entry), entry.value, lambda value: controls.take(name, value)))  # fmt: skip


def _options(entry: Entry) -> tuple[str, ...]:
    assert isinstance(entry.kind, OneOf | SomeOf)
    return tuple(entry.kind.options)


# ------------------------------------------------------------------------------------------------------ numbers


def number(controls: Controls, name: str) -> None:
    """A slider, and a field for exact entry, of an entry that the registry describes."""
    entry = controls.entry(name)
    slider_and_field(_parameter(entry), entry.value, controls.key(entry), lambda value: controls.take(name, value))


def field(controls: Controls, name: str, disabled: bool = False) -> None:
    """A field alone. What is out of range is refused when it is entered."""
    entry = controls.entry(name)
    parameter = _parameter(entry)
    _field(parameter, entry.value, controls.key(entry), lambda value: controls.take(name, value), visible=True,
           disabled=disabled)  # fmt: skip


def _parameter(entry: Entry) -> Parameter:
    assert isinstance(entry.kind, Number)
    return entry.kind.parameter


def slider_and_field(parameter: Parameter, value: Any, key: str, take: Callable[[Any], None]) -> None:
    """Both show the value, and hand what is chosen to `take`."""
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
    parameter: Parameter, value: Any, key: str, take: Callable[[Any], None], visible: bool = False,
    disabled: bool = False,
) -> None:  # fmt: skip
    """A field for exact entry."""

    def enter(typed: Any) -> None:
        """Take what was typed, unless it is out of range: then the field goes back to what it was."""
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
    """The seed, and dice beside it."""
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
    """A bound for Streamlit, which knows none at infinity; open ones are left to the check."""
    return _plain(parameter, bound) if abs(bound) < 2**53 else None


def _step(parameter: Parameter, value: float) -> int | float:
    """One press of + or −: a whole number, or a twentieth of the value's size."""
    if parameter.kind == "int":
        return 1
    return parameter.step or float(f"{max(abs(value), 1e-6) / 20:.1g}")


def _stops(parameter: Parameter) -> list[int | float]:
    """The stops of a slider on a log scale, about twenty a decade, round numbers all; none if the scale is linear."""
    if not parameter.log or parameter.slider is None:
        return []
    low, high = parameter.slider
    mantissas = (1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9)
    found = {float(f"{m * 10.0**e:.3g}") for e in range(-9, 10) for m in mantissas}
    if parameter.kind == "int":
        found = {float(round(stop)) for stop in found}
    return [_plain(parameter, stop) for stop in sorted(found | {low, high}) if low <= stop <= high]


def _nearest(parameter: Parameter, value: float) -> int | float:
    """Where the slider stands for a value that may lie between its stops, or beyond them."""
    if options := _stops(parameter):
        return min(options, key=lambda stop: abs(stop - value))
    low, high = parameter.slider or (parameter.low, parameter.high)
    return _plain(parameter, min(max(value, low), high))


def short(value: float) -> str:
    """A number as a slider shows it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
