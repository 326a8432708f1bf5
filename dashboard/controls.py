"""Widgets, generated from the engine's registries, and the RunSpec they make. Nothing is described here again.

What a person chose is kept in `Choices`, a plain object in the session: widgets come and go with target and sampler,
and Streamlit forgets those it does not show. A widget is filled from the choices and writes back when it is moved.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import streamlit as st

from mahmc import InvalidInput, Parameter, RunSpec
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS
from mahmc.spec import ALL_PARAMETERS, RUN_PARAMETERS
from mahmc.targets import FAMILIES

VIEWS = ("simple", "full")
DRAWS = 20_000  # a dashboard's default: seconds on any target
TABLE_COLUMN = 72  # pixels: three columns fit the sidebar
_TABLE = ("weights", "means", "sds")


@dataclass
class Choices:
    """Everything that was chosen, by the place it belongs to, so that going back finds it again."""

    target: str = "mdc"
    sampler: str = "mahmc"
    view: str = "simple"
    follow: bool = False  # restart when a control moves
    of_run: dict[str, Any] = field(default_factory=dict)
    of_target: dict[str, dict[str, Any]] = field(default_factory=dict)  # by target
    of_sampler: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # by target and sampler
    update: dict[str, str] = field(default_factory=dict)  # by target
    edition: int = 0  # goes up when choices are changed other than by their widgets

    @classmethod
    def of(cls, spec: RunSpec, view: str = "simple", follow: bool = False) -> Choices:
        """The choices that make this spec."""
        choices = cls(spec.target, spec.sampler, view, follow)
        choices.of_run = {name: getattr(spec, name) for name in RUN_PARAMETERS}
        choices.of_target[spec.target] = dict(spec.settings)
        choices.of_sampler[spec.target, spec.sampler] = spec.values
        choices.update[spec.target] = spec.update
        return choices

    def spec(self) -> RunSpec:
        """The spec that these choices make; InvalidInput if they make none."""
        return RunSpec.of(
            self.target,
            self.sampler,
            update=self.chosen_update(),
            **({"draws": DRAWS, "warmup": DRAWS // 10} | self.of_run),
            **self.of_target.get(self.target, {}),
            **self.of_sampler.get((self.target, self.sampler), {}),
        )

    def updates(self) -> tuple[str, ...]:
        """The updates of qᴼ that the sampler can make on the target."""
        return EVERY_SAMPLER[self.sampler].updates(FAMILIES[self.target].build())

    def chosen_update(self) -> str | None:
        """The update that was chosen, if this sampler can make it, else that which it makes by default."""
        return self.update[self.target] if self.update.get(self.target) in self.updates() else None

    def values(self) -> dict[str, Any]:
        """The sampler's parameters, where nothing was chosen its best values."""
        best = EVERY_SAMPLER[self.sampler].defaults(self.target)
        return best | self.of_sampler.get((self.target, self.sampler), {})


# ------------------------------------------------------------------------------------------------- links


def read_link(query: Mapping[str, str]) -> tuple[Choices, str]:
    """Choices from a URL's query, and what is wrong with it in words of ours: nothing of the link is ever shown."""
    query = {name: text for name, text in query.items() if not name.startswith("embed")}
    view = query.pop("view", "simple")
    follow = query.pop("follow", "0") == "1"
    view = view if view in VIEWS else "simple"
    if not query:
        return Choices(view=view, follow=follow), ""
    try:
        return Choices.of(RunSpec.from_query(query), view, follow), ""
    except InvalidInput:
        return Choices(view=view, follow=follow), _what_is_wrong(query)


def _what_is_wrong(query: Mapping[str, str]) -> str:
    problems = []
    for name, allowed in (("target", FAMILIES), ("sampler", EVERY_SAMPLER)):
        if query.get(name) not in allowed:
            problems.append(f"its {name} is none of {', '.join(allowed)}")
    for name, text in query.items():
        if name in ALL_PARAMETERS:
            try:
                ALL_PARAMETERS[name].parse(text)
            except InvalidInput:
                parameter = ALL_PARAMETERS[name]
                problems.append(f"{name} ({parameter.title.lower()}) must be {parameter.range}")
    return "This link cannot be used as it is, so you see the defaults: " + (
        "; ".join(problems) or "its parameters do not go together"
    )


def link(spec: RunSpec, choices: Choices) -> dict[str, str]:
    """The query that brings these choices back."""
    extra = {"view": choices.view} | ({"follow": "1"} if choices.follow else {})
    return dict(parse_qsl(spec.to_query())) | extra


def write_link(spec: RunSpec, choices: Choices) -> None:
    """Keep the address bar at what the controls say."""
    wanted = link(spec, choices)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


# --------------------------------------------------------------------------------------------------- one number


def number(parameter: Parameter, place: dict[str, Any], value: Any, key: str) -> None:
    """A slider and a field for exact entry, both showing place[parameter.name] and writing to it."""
    label = f"{parameter.symbol} {parameter.title}" if parameter.symbol else parameter.title
    slider_key, field_key = f"{key}.slider", f"{key}.exact"
    place.setdefault(parameter.name, value)
    _fill(slider_key, _nearest(parameter, place[parameter.name]))
    _fill(field_key, place[parameter.name])
    left, right = st.columns([3, 2], vertical_alignment="bottom", wrap=False)
    moved: dict[str, Any] = {"on_change": _moved, "args": (parameter, place, slider_key, field_key)}
    if options := _options(parameter):
        left.select_slider(label, options, key=slider_key, help=parameter.help, format_func=_short, **moved)
    else:
        low, high = parameter.slider or (parameter.low, parameter.high)
        step = parameter.step or (1 if parameter.kind == "int" else (high - low) / 200)
        bounds: Any = [_plain(parameter, bound) for bound in (low, high)]
        left.slider(label, *bounds, step=_plain(parameter, step), key=slider_key, help=parameter.help,
                    format="%g" if parameter.kind == "float" else None, **moved)  # fmt: skip
    right.number_input(
        f"{label}, exact", key=field_key, label_visibility="collapsed",
        format="%g" if parameter.kind == "float" else "%d",
        step=_step(parameter, place[parameter.name]), min_value=_bound(parameter, parameter.low),
        max_value=_bound(parameter, parameter.high), on_change=_entered,
        args=(parameter, place, slider_key, field_key),
    )  # fmt: skip


def _fill(key: str, value: Any) -> None:
    if key not in st.session_state:
        st.session_state[key] = value


def _moved(parameter: Parameter, place: dict[str, Any], slider_key: str, field_key: str) -> None:
    place[parameter.name] = st.session_state[field_key] = _plain(parameter, st.session_state[slider_key])


def _entered(parameter: Parameter, place: dict[str, Any], slider_key: str, field_key: str) -> None:
    """Take what was typed, unless it is out of range: then the field goes back to what it was."""
    try:
        place[parameter.name] = parameter.check(st.session_state[field_key])
    except InvalidInput as refusal:
        st.session_state[field_key] = place[parameter.name]
        st.toast(str(refusal))
    st.session_state[slider_key] = _nearest(parameter, place[parameter.name])


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


def _options(parameter: Parameter) -> list[int | float]:
    """The stops of a slider on a log scale, about twenty a decade, round numbers all; none if the scale is linear."""
    if not parameter.log or parameter.slider is None:
        return []
    low, high = parameter.slider
    mantissas = (1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9)
    stops = {float(f"{m * 10.0**e:.3g}") for e in range(-9, 10) for m in mantissas}
    if parameter.kind == "int":
        stops = {float(round(stop)) for stop in stops}
    return [_plain(parameter, stop) for stop in sorted(stops | {low, high}) if low <= stop <= high]


def _nearest(parameter: Parameter, value: float) -> int | float:
    """Where the slider stands for a value that may lie between its stops, or beyond them."""
    if options := _options(parameter):
        return min(options, key=lambda stop: abs(stop - value))
    low, high = parameter.slider or (parameter.low, parameter.high)
    return _plain(parameter, min(max(value, low), high))


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


# -------------------------------------------------------------------------------------------------- the sidebar


def choose_view(choices: Choices) -> None:
    """Simple or full."""
    key = f"view.{choices.edition}"
    _fill(key, choices.view)
    st.segmented_control(
        "Depth", VIEWS, key=key, required=True, format_func=str.capitalize, label_visibility="collapsed",
        help="Simple: the essentials. Full: every control and diagnostic.", on_change=_take,
        args=(choices, "view", key),
    )  # fmt: skip


def choose_target_and_sampler(choices: Choices) -> None:
    titles: dict[str, dict[str, tuple[str, str]]] = {
        "target": {name: (family.title, family.about) for name, family in FAMILIES.items()},
        "sampler": {name: (sampler.label, sampler.about) for name, sampler in EVERY_SAMPLER.items()},
    }
    for name, table in titles.items():
        key = f"{name}.{choices.edition}"
        _fill(key, getattr(choices, name))
        titled = {item: title for item, (title, _) in table.items()}
        st.selectbox(
            name.capitalize(), tuple(table), key=key, format_func=titled.__getitem__, on_change=_take,
            args=(choices, name, key),
        )  # fmt: skip
        st.caption(table[getattr(choices, name)][1])


def _take(choices: Choices, name: str, key: str) -> None:
    setattr(choices, name, st.session_state[key])


def choose_parameters(choices: Choices) -> None:
    """A slider for each parameter the sampler has; in the simple view those that every sampler has."""
    place = choices.of_sampler.setdefault((choices.target, choices.sampler), {})
    for name, value in choices.values().items():
        if choices.view == "full" or name in ("epsilon", "L"):
            number(PARAMETERS[name], place, value, f"{choices.target}.{choices.sampler}.{name}.{choices.edition}")
    if place != EVERY_SAMPLER[choices.sampler].defaults(choices.target):
        st.button(
            "Paper's best values", on_click=_best, args=(choices,), icon=":material/menu_book:", width="stretch",
            help="Go back to the values that the paper found best for this target and sampler.",
        )  # fmt: skip


def _best(choices: Choices) -> None:
    choices.of_sampler.pop((choices.target, choices.sampler), None)
    choices.edition += 1


def choose_target_settings(choices: Choices) -> None:
    """The target's own parameters, in an expander."""
    place = choices.of_target.setdefault(choices.target, {})
    with st.expander("Target's own parameters"):
        for parameter in FAMILIES[choices.target].parameters:
            key = f"{choices.target}.{parameter.name}.{choices.edition}"
            if parameter.kind == "bool":
                _fill(key, place.get(parameter.name, parameter.default))
                st.toggle(
                    parameter.title, key=key, help=parameter.help, on_change=_keep, args=(place, parameter.name, key)
                )
            elif parameter.kind != "floats":
                number(parameter, place, parameter.default, key)
        if choices.target == "gmm":
            _mixture_table(choices, place)


def _keep(place: dict[str, Any], name: str, key: str) -> None:
    place[name] = st.session_state[key]


def _mixture_table(choices: Choices, place: dict[str, Any]) -> None:
    """Components as an editable table. What makes no mixture is said, and the last good one stays in use."""
    parameters = {p.name: p for p in FAMILIES["gmm"].parameters}
    base_key = f"mixture.{choices.edition}"
    if base_key not in st.session_state:
        columns = {name: list(place.get(name, parameters[name].default)) for name in _TABLE}
        st.session_state[base_key] = pd.DataFrame(columns)
    config = {name: st.column_config.NumberColumn(parameters[name].title, help=parameters[name].help, required=True,
                                                   width=TABLE_COLUMN)
              for name in _TABLE}  # fmt: skip
    table = st.data_editor(
        st.session_state[base_key], num_rows="dynamic", hide_index=True, column_config=config,
        key=f"{base_key}.editor", alt="Weight, mean and standard deviation of each component",
    ).dropna(how="any")  # fmt: skip
    edited = {name: tuple(float(value) for value in table[name]) for name in _TABLE}
    try:
        FAMILIES["gmm"].build(**edited)
        place.update(edited)
    except InvalidInput as refusal:
        st.warning(f"Not used yet: {refusal}", icon=":material/edit:")
    total = sum(edited["weights"])
    if total > 0 and abs(total - 1.0) > 1e-6:
        st.button("Make the weights sum to one", on_click=_normalise, args=(choices, place, edited), width="stretch")


def _normalise(choices: Choices, place: dict[str, Any], edited: dict[str, tuple[float, ...]]) -> None:
    total = sum(edited["weights"])
    place.update(edited | {"weights": tuple(weight / total for weight in edited["weights"])})
    choices.edition += 1


def choose_run(choices: Choices) -> None:
    """Chains, draws, warm-up, thinning, seed, and how qᴼ is updated."""
    if updates := choices.updates():
        key = f"{choices.target}.update.{','.join(updates)}.{choices.edition}"
        _fill(key, choices.chosen_update() or updates[0])
        st.segmented_control(
            "Update of qᴼ", updates, key=key, required=True, format_func=str.capitalize,
            help="Gibbs draws qᴼ from its full conditional. Metropolis proposes a change that can be rejected.",
            on_change=_keep, args=(choices.update, choices.target, key),
        )  # fmt: skip
    defaults = {name: p.default for name, p in RUN_PARAMETERS.items()} | {"draws": DRAWS, "warmup": DRAWS // 10}
    for name, parameter in RUN_PARAMETERS.items():
        if name != "seed":
            number(parameter, choices.of_run, defaults[name], f"run.{name}.{choices.edition}")
    seed_key = f"run.seed.{choices.edition}"
    _fill(seed_key, choices.of_run.setdefault("seed", defaults["seed"]))
    left, right = st.columns([4, 1], vertical_alignment="bottom", wrap=False)
    left.number_input(
        "Seed", 0, int(RUN_PARAMETERS["seed"].high), key=seed_key, help=RUN_PARAMETERS["seed"].help, on_change=_keep,
        args=(choices.of_run, "seed", seed_key),
    )  # fmt: skip
    right.button("", icon=":material/casino:", help="A new seed", on_click=_dice, args=(choices, seed_key))


def _dice(choices: Choices, seed_key: str) -> None:
    choices.of_run["seed"] = st.session_state[seed_key] = secrets.randbelow(10**6)


def choose_follow(choices: Choices) -> None:
    key = f"follow.{choices.edition}"
    _fill(key, choices.follow)
    st.toggle(
        "Restart when I move a slider", key=key, on_change=_take, args=(choices, "follow", key),
        help="On: every change of a control starts the chains anew at once. Off: press Run when you are ready.",
    )  # fmt: skip
