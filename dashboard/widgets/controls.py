"""One widget for each kind of entry.

A widget always shows the value in the settings, no matter what changed it, and keeps it when the page is left: see
`bound`. When a person changes a widget, its callback changes the entry.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict
from zlib import crc32

import streamlit as st

from dashboard.settings.entries import Entry, Number, OneOf, Refused, Settings, SomeOf
from dashboard.widgets import numbers
from dashboard.widgets.markup import unmarked
from dashboard.work.tab import Tab
from mahmc import InvalidInput, Parameter
from mahmc.numerals import exact

BESIDE = 108  # pixels of a field beside a slider: all of it is for digits, as + and − need 120


@dataclass(frozen=True)
class Controls:
    """The widgets of one page."""

    tab: Tab
    page: str
    fields: set[str] = field(default_factory=set, kw_only=True)  # the number fields of this run of the page, by key

    @property
    def settings(self) -> Any:
        return self.tab.settings[self.page]

    def entry(self, name: str) -> Entry:
        entry: Entry = self.settings.entries()[name]
        return entry

    def take(self, name: str, value: Any) -> None:
        """Handle the event of a widget: change the entry. A refused number in its field goes."""
        self.replace(self.settings.with_(name, value).mended(self.key(self.entry(name))))

    def replace(self, settings: Settings) -> None:
        """Handle an event that changes several entries at once."""
        self.tab.replace(self.page, settings)

    def mend(self, *fields: str) -> None:
        """Forget the refused numbers of these fields."""
        if self.settings.refused.keys() & {*fields}:
            self.replace(self.settings.mended(*fields))

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


def number(controls: Controls, name: str, parameter: Parameter | None = None) -> None:
    """A slider, and a field for exact input, of an entry that the registry describes."""
    entry = controls.entry(name)
    parameter = parameter or _parameter(entry)
    slider_and_field(controls, parameter, entry.value, controls.key(entry), lambda value: controls.take(name, value))


def only_field(controls: Controls, name: str) -> None:
    """A field without a slider."""
    entry = controls.entry(name)
    parameter, key = _parameter(entry), controls.key(entry)
    _field(controls, parameter, entry.value, key, lambda value: controls.take(name, value), visible=True)
    if refused := controls.settings.refused.get(key):
        _say_refused(controls, parameter, entry.value, key, refused)


def _parameter(entry: Entry) -> Parameter:
    assert isinstance(entry.kind, Number)
    return entry.kind.parameter


def slider_and_field(
    controls: Controls, parameter: Parameter, value: Any, key: str, take: Callable[[Any], None]
) -> None:  # fmt: skip
    """A slider and a field that both show `value` and pass a new value to `take`.

    While the field has a number that is not allowed, the reason stands in place of the slider.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", wrap=False)
    with row.container():
        if refused := controls.settings.refused.get(key):
            st.markdown(f":small[{numbers.label(parameter)}]", help=parameter.help)
            _say_refused(controls, parameter, value, key, refused)
        else:
            _slider(parameter, value, f"{key}.slider", take)
    with row:
        _field(controls, parameter, value, key, take)


def _slider(parameter: Parameter, value: Any, key: str, take: Callable[[Any], None]) -> None:
    """A slider that shows `value` exactly.

    A value between or beyond the usual stops becomes one more stop. It stays for as long as the tab is open: stops that
    went would move the handle while a person drags it.
    """
    more: set[int | float] = st.session_state.setdefault("stops", {}).setdefault(key, set())
    more.add(value)
    common: dict[str, Any] = {"value": value, "help": parameter.help}
    common |= bound(key, value, lambda chosen: take(numbers.cleaned(parameter, chosen)))
    if options := numbers.stops_of(parameter):
        st.select_slider(numbers.label(parameter), sorted({*options, *more}), format_func=numbers.short, **common)
        return
    low, high = parameter.slider or (parameter.low, parameter.high)
    step = parameter.step or (1 if parameter.kind == "int" else (high - low) / 200)
    bounds = [numbers.plain(parameter, bound) for bound in (min(low, *more), max(high, *more))]
    st.slider(numbers.label(parameter), *bounds, step=numbers.plain(parameter, step),
              format="%.12g" if parameter.kind == "float" else None, **common)  # fmt: skip


def _field(
    controls: Controls, parameter: Parameter, value: Any, key: str, take: Callable[[Any], None], visible: bool = False
) -> None:  # fmt: skip
    """A field for exact input. The browser sends every number, so that a refused number is known here.

    With bounds or as whole numbers, Streamlit's field would keep some numbers to itself and show them all the same.
    """
    controls.fields.add(key)
    refused = controls.settings.refused.get(key)
    shown = float(refused.typed if refused else value)

    def enter(typed: float) -> None:
        """Take the typed number. If it is not allowed, it stays in the field with the reason, and nothing runs."""
        try:
            checked = parameter.check(typed)
        except InvalidInput:
            controls.replace(controls.settings.refusing(key, Refused(typed, _refusal(parameter, typed))))
        else:
            take(checked)
            controls.mend(key)

    st.number_input(
        numbers.label(parameter) if visible else f"{numbers.label(parameter)}, exact", value=shown, format="%g",
        label_visibility="visible" if visible else "collapsed", help=parameter.help if visible else None,
        width="stretch" if visible else BESIDE, step=numbers.step_of(parameter, shown), **bound(key, shown, enter),
    )  # fmt: skip


def _refusal(parameter: Parameter, typed: float) -> str:
    return f"{numbers.label(parameter)} = {exact(typed)} is not allowed: {_demand(parameter)}"


def _demand(parameter: Parameter) -> str:
    return f"enter {'' if parameter.kind == 'int' else 'a number '}{parameter.range}."


def _say_refused(controls: Controls, parameter: Parameter, value: Any, key: str, refused: Refused) -> None:
    """Say beside a field why its number is not allowed, and offer the value before."""
    text = unmarked(f"{exact(refused.typed)} is not allowed: {_demand(parameter)}")
    st.markdown(f":red[:small[{text}]]")
    st.button(f"Back to {numbers.short(value)}", key=f"{key}.back", type="tertiary", icon=":material/undo:",
              on_click=controls.mend, args=(key,))  # fmt: skip


def seed(controls: Controls, name: str = "seed") -> None:
    """A field for the seed, with a button for a random seed."""
    row = st.container(horizontal=True, vertical_alignment="bottom", wrap=False)
    with row.container():
        only_field(controls, name)
    row.button("", icon=":material/casino:", help="A new seed", key=f"{controls.page}.dice",
               on_click=lambda: controls.take(name, new_seed()))  # fmt: skip


def new_seed() -> int:
    """A random seed that is short enough to read and type."""
    return secrets.randbelow(10**6)
