"""One widget for each kind of entry.

Before a widget is drawn its state is set to what the settings say, where that differs: so a widget never shows anything
else than the settings, whatever changed them, and nothing is lost when a page is left. When a person moves a widget,
its callback changes the entry.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from zlib import crc32

import streamlit as st

from dashboard.settings.entries import Entry, Number, OneOf, Settings, SomeOf
from dashboard.work.tab import Tab
from mahmc import InvalidInput, Parameter

T = TypeVar("T")


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


def sync(key: str, value: T) -> T:
    """Have a widget show this value; returns it, to be given to the widget as its default as well.

    Streamlit tells the browser once when a widget's state is set. If the page runs again in that moment, the message
    may never arrive: then a widget that the browser draws for the first time shows its default, and sends that back.
    """
    if key in st.session_state and st.session_state[key] != value:
        st.session_state[key] = value
    return value


def _took(controls: Controls, name: str, key: str, read: Callable[[Any], Any] = lambda value: value) -> None:
    controls.take(name, read(st.session_state[key]))


# ------------------------------------------------------------------------------------------------------ choices


def select(
    controls: Controls, name: str, label: str, titles: Callable[[str], str] = str, help: str | None = None
) -> str:
    """One of the entry's options, in a list."""
    entry = controls.entry(name)
    key = controls.key(entry)
    options = _options(entry)
    st.selectbox(label, options, options.index(sync(key, entry.value)), key=key, format_func=titles, help=help,
                 on_change=_took, args=(controls, name, key))  # fmt: skip
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
    value = sync(key, entry.value if entry.value in shown else shown[0])
    st.segmented_control(
        label, shown, default=value, key=key, required=True, on_change=_took, args=(controls, name, key), help=help,
        label_visibility="collapsed" if hidden else "visible",
        format_func=titles.__getitem__ if titles else str.capitalize,
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
    value = sync(key, list(entry.value if picked is None else picked))
    st.multiselect(label, _options(entry), value, key=key, format_func=titles, help=help,
                   on_change=_took, args=(controls, name, key, tuple))  # fmt: skip


def toggle(controls: Controls, name: str, label: str, help: str) -> bool:
    """A switch."""
    entry = controls.entry(name)
    key = controls.key(entry)
    st.toggle(label, sync(key, entry.value), key=key, help=help, on_change=_took, args=(controls, name, key))
    return entry.value


def stops(controls: Controls, name: str, label: str, values: tuple[int, ...], help: str) -> None:
    """A slider over some whole numbers."""
    entry = controls.entry(name)
    key = controls.key(entry)
    st.select_slider(label, values, sync(key, entry.value), key=key, format_func=short, help=help, on_change=_took,
                     args=(controls, name, key))  # fmt: skip


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
    slider_key = f"{key}.slider"
    place = sync(slider_key, _nearest(parameter, value))
    left, right = st.columns([3, 2], vertical_alignment="bottom", wrap=False)

    def moved() -> None:
        take(_plain(parameter, st.session_state[slider_key]))

    common: dict[str, Any] = {"value": place, "key": slider_key, "help": parameter.help, "on_change": moved}
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
    shown = sync(key, value)

    def entered() -> None:
        """Take what was typed, unless it is out of range: then the field goes back to what it was."""
        try:
            take(parameter.check(st.session_state[key]))
        except InvalidInput as refusal:
            st.toast(str(refusal))

    st.number_input(
        _label(parameter) if visible else f"{_label(parameter)}, exact", value=shown, key=key, disabled=disabled,
        label_visibility="visible" if visible else "collapsed", help=parameter.help if visible else None,
        format="%g" if parameter.kind == "float" else "%d", step=_step(parameter, value),
        min_value=_bound(parameter, parameter.low), max_value=_bound(parameter, parameter.high), on_change=entered,
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
