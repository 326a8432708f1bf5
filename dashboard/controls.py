"""Widgets, generated from the engine's registries, and the RunSpec they make. Nothing is described here again.

What a person chose is kept in `Choices`, a plain object in the session: widgets come and go with target and sampler,
and Streamlit forgets those it does not show. A widget is filled from the choices and writes back when it is moved.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.uploads import TARGET, Upload
from mahmc import InvalidInput, Parameter, RunSpec, schedules
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS
from mahmc.schedules import Schedule
from mahmc.spec import ALTERNATE, NONE, OF_ALTERNATE, RUN_PARAMETERS, described, usual_outer
from mahmc.targets import FAMILIES, Target

VIEWS = ("simple", "full")
DRAWS = 20_000  # a dashboard's default: seconds on any target
TABLE_COLUMN = 72  # pixels: three columns fit the sidebar
_TABLE = ("weights", "means", "sds")
NO_DATA = (
    "This link is of a run on somebody's own data, which no link carries: these are its settings on the data that come "
    "with BLR. To get that run, upload the same file again under the target's own parameters."
)


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
    of_trajectory: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)  # schedule, outer: likewise
    of_iid: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # what makes an i.i.d. schedule
    drafts: dict[tuple[str, str, str], str] = field(default_factory=dict)  # schedules by target, sampler and kind
    update: dict[str, str] = field(default_factory=dict)  # by target: Q₁, Q₂, …, separated by commas
    data: Upload | None = None  # a person's own, in place of those that BLR brings
    edition: int = 0  # goes up when choices are changed other than by their widgets
    page: str = "explore"

    @property
    def mark(self) -> str:
        """What keys of widgets end with, so that pages and editions have widgets of their own."""
        return f"{self.page}.{self.edition}"

    @classmethod
    def of(cls, spec: RunSpec, view: str = "simple", follow: bool = False) -> Choices:
        """The choices that make this spec."""
        choices = cls(spec.target, spec.sampler, view, follow)
        choices.of_run = {name: getattr(spec, name) for name in RUN_PARAMETERS}
        choices.of_target[spec.target] = dict(spec.settings)
        choices.of_sampler[spec.target, spec.sampler] = spec.values
        choices.update[spec.target] = spec.update
        path = {"schedule": spec.schedule if spec.schedule != ALTERNATE else "",
                "outer": spec.outer if spec.outer != usual_outer(spec.updates, spec.method) else ""}  # fmt: skip
        choices.of_trajectory[spec.target, spec.sampler] = {name: text for name, text in path.items() if text}
        return choices

    def spec(self) -> RunSpec:
        """The spec that these choices make; InvalidInput if they make none."""
        run = {"draws": DRAWS, "warmup": DRAWS // 10} | self.of_run
        return RunSpec.of(self.built(), self.sampler, **run, **self.of_method(self.sampler))

    def built(self) -> Target:
        """The target with what was chosen of it."""
        settings = self.of_target.get(self.target, {})
        if self.data is not None and self.target == TARGET:
            return self.data.target(settings)
        return FAMILIES[self.target].build(**settings)

    def family(self) -> Target:
        """The target as it comes, for what all of its kind have in common."""
        return FAMILIES[self.target].build()

    def of_method(self, sampler: str) -> dict[str, Any]:
        """What was chosen of a sampler on the target, as RunSpec takes it."""
        place = (self.target, sampler)
        chosen: dict[str, Any] = self.of_sampler.get(place, {}) | self.of_trajectory.get(place, {})
        left_out = OF_ALTERNATE if "schedule" in chosen else ()
        kept = {name: value for name, value in chosen.items() if name not in left_out}
        kinds = len(schedules.parse(chosen["schedule"]).updates) if "schedule" in chosen else 1
        return kept | {"update": ",".join(self.picked(sampler)[: max(1, kinds)]) or None}

    def samplers(self) -> tuple[str, ...]:
        """The samplers that can sample the target."""
        return tuple(name for name, sampler in EVERY_SAMPLER.items() if sampler.takes(self.family()))

    def able(self) -> tuple[str, ...]:
        """The updates of qᴼ that the sampler can make on the target, that which it makes by default first."""
        return EVERY_SAMPLER[self.sampler].updates(self.family())

    def picked(self, sampler: str | None = None) -> list[str]:
        """The updates Q₁, Q₂, … that were chosen, as far as the sampler can make them; at first its own."""
        able = EVERY_SAMPLER[sampler or self.sampler].updates(self.family())
        chosen = [name for name in self.update.get(self.target, "").split(",") if name in able]
        return chosen or list(able[:1])

    def values(self) -> dict[str, Any]:
        """The sampler's parameters, where nothing was chosen its best values."""
        best = EVERY_SAMPLER[self.sampler].defaults(self.target)
        return best | self.of_sampler.get((self.target, self.sampler), {})

    @property
    def schedule(self) -> str:
        """The schedule that was chosen, "alternate" where none was."""
        return self.of_trajectory.get((self.target, self.sampler), {}).get("schedule", ALTERNATE)

    def law(self) -> Schedule:
        """P^D as it was chosen."""
        own = self.schedule != ALTERNATE
        return schedules.parse(self.schedule) if own else EVERY_SAMPLER[self.sampler].law(self.values())

    def choose(self, name: str, value: str) -> None:
        """Take a schedule or an outer update; nothing is as usual."""
        place = self.of_trajectory.setdefault((self.target, self.sampler), {})
        place[name] = value
        if not value:
            del place[name]


# ------------------------------------------------------------------------------------------------- links


def read_link(query: Mapping[str, str]) -> tuple[Choices, str]:
    """Choices from a URL's query, and what is wrong with it in words of ours: nothing of the link is ever shown."""
    query = {name: text for name, text in query.items() if not name.startswith("embed")}
    view = query.pop("view", "simple")
    follow = query.pop("follow", "0") == "1"
    view = view if view in VIEWS else "simple"
    if not query:
        return Choices(view=view, follow=follow), ""
    elsewhere = bool(query.pop("data", ""))
    try:
        spec = RunSpec.from_query(query)
        return Choices.of(spec, "full" if elsewhere else view, follow), NO_DATA if elsewhere else ""
    except InvalidInput:
        return Choices(view=view, follow=follow), _what_is_wrong(query)


def _what_is_wrong(query: Mapping[str, str]) -> str:
    problems = []
    for name, allowed in (("target", FAMILIES), ("sampler", EVERY_SAMPLER)):
        if query.get(name) not in allowed:
            problems.append(f"its {name} is none of {', '.join(allowed)}")
    problems += _wrong_choices(query)
    parameters = described(query.get("target", ""))
    for name, text in query.items():
        if name in parameters:
            try:
                parameters[name].parse(text)
            except InvalidInput:
                parameter = parameters[name]
                problems.append(f"{name} ({parameter.title.lower()}) must be {parameter.range}")
    return "This link cannot be used as it is, so you see the defaults: " + (
        "; ".join(problems) or "its parameters do not go together"
    )


def _wrong_choices(query: Mapping[str, str]) -> list[str]:
    """What is wrong with schedule and updates, each on its own."""
    problems = []
    if (text := query.get("schedule", ALTERNATE)) not in ("", ALTERNATE):
        try:
            schedules.parse(text)
        except InvalidInput:
            problems.append(
                f"its schedule is none, or one whose mirror image is never drawn; it is one of {schedules.FORMS}"
            )
    if query.get("target") in FAMILIES:
        known = FAMILIES[query["target"]].build().updates
        for name in ("update", "outer"):
            if not set(query.get(name, NONE).split(",")) <= {*known, NONE, ""}:
                problems.append(f"{name} is none of {', '.join((*known, NONE))}")
    return problems


def link(spec: RunSpec, choices: Choices) -> dict[str, str]:
    """The query that brings these choices back."""
    extra = {"view": choices.view} | ({"follow": "1"} if choices.follow else {})
    return dict(parse_qsl(spec.to_query())) | extra


def write_link(wanted: dict[str, str]) -> None:
    """Keep the address bar at what the controls say."""
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


# --------------------------------------------------------------------------------------------------- one number


def number(parameter: Parameter, place: dict[str, Any], value: Any, key: str) -> None:
    """A slider and a field for exact entry, both showing place[parameter.name] and writing to it."""
    label = f"{parameter.symbol} {parameter.title}" if parameter.symbol else parameter.title
    slider_key, field_key = f"{key}.slider", f"{key}.exact"
    place.setdefault(parameter.name, value)
    fill(slider_key, _nearest(parameter, place[parameter.name]))
    fill(field_key, place[parameter.name])
    left, right = st.columns([3, 2], vertical_alignment="bottom", wrap=False)
    moved: dict[str, Any] = {"on_change": _moved, "args": (parameter, place, slider_key, field_key)}
    if options := _options(parameter):
        left.select_slider(label, options, key=slider_key, help=parameter.help, format_func=_short, **moved)
    else:
        low, high = parameter.slider or (parameter.low, parameter.high)
        step = parameter.step or (1 if parameter.kind == "int" else (high - low) / 200)
        bounds: Any = [_plain(parameter, bound) for bound in (low, high)]
        left.slider(label, *bounds, step=_plain(parameter, step), key=slider_key, help=parameter.help,
                    format="%.5g" if parameter.kind == "float" else None, **moved)  # fmt: skip
    right.number_input(
        f"{label}, exact", key=field_key, label_visibility="collapsed",
        format="%g" if parameter.kind == "float" else "%d",
        step=_step(parameter, place[parameter.name]), min_value=_bound(parameter, parameter.low),
        max_value=_bound(parameter, parameter.high), on_change=_entered,
        args=(parameter, place, slider_key, field_key),
    )  # fmt: skip


def fill(key: str, value: Any) -> None:
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
    key = f"view.{choices.mark}"
    fill(key, choices.view)
    st.segmented_control(
        "Depth", VIEWS, key=key, required=True, format_func=str.capitalize, label_visibility="collapsed",
        help="Simple: the essentials. Full: every control and diagnostic.", on_change=_take,
        args=(choices, "view", key),
    )  # fmt: skip


def target_title(name: str) -> str:
    """A target as people choose it; one from a person's own file with that file's name."""
    family = FAMILIES[name]
    return f"{family.title} · your own, {Path(family.file).name}" if family.file else family.title


def choose_target_and_sampler(choices: Choices) -> None:
    """The target, and of the samplers one that can sample it."""
    key = f"target.{choices.mark}"
    fill(key, choices.target)
    st.selectbox("Target", tuple(FAMILIES), key=key, format_func=target_title, on_change=_take_target,
                 args=(choices, key))  # fmt: skip
    st.caption(FAMILIES[choices.target].about)
    able = choices.samplers()
    key = f"sampler.{len(able)}.{choices.mark}"
    fill(key, choices.sampler)
    st.selectbox("Sampler", able, key=key, format_func=lambda name: EVERY_SAMPLER[name].label, on_change=_take,
                 args=(choices, "sampler", key))  # fmt: skip
    st.caption(EVERY_SAMPLER[choices.sampler].about)


def _take(place: Any, name: str, key: str) -> None:
    setattr(place, name, st.session_state[key])


def _take_target(choices: Choices, key: str) -> None:
    """Take it, with another sampler if the one that was chosen cannot sample it."""
    _take(choices, "target", key)
    if choices.sampler not in choices.samplers():
        was, choices.sampler = EVERY_SAMPLER[choices.sampler].title, Choices.sampler
        now = EVERY_SAMPLER[choices.sampler].title
        st.toast(f"{was} visits discrete variables one by one, and this target has none: {now} is taken instead.")


def choose_parameters(choices: Choices) -> None:
    """A slider for each parameter the sampler has; in the simple view those that every sampler has."""
    place = choices.of_sampler.setdefault((choices.target, choices.sampler), {})
    replaced = OF_ALTERNATE if choices.schedule != ALTERNATE else ()
    for name, value in choices.values().items():
        if name not in replaced and (choices.view == "full" or name in ("epsilon", "L")):
            number(PARAMETERS[name], place, value, f"{choices.target}.{choices.sampler}.{name}.{choices.mark}")


def choose_defaults(choices: Choices) -> None:
    """A way back to the values to begin with, where others were chosen."""
    method = EVERY_SAMPLER[choices.sampler]
    if choices.values() != method.defaults(choices.target) or choices.schedule != ALTERNATE:
        in_paper = choices.target in method.presets
        whose = "that the paper found best" if in_paper and method.paper_ess else "to begin with"
        st.button(
            "Paper's best values" if in_paper else "Default values", on_click=_best, args=(choices,),
            icon=":material/menu_book:", width="stretch",
            help=f"Go back to the values {whose} for this target and sampler.",
        )  # fmt: skip


def _best(choices: Choices) -> None:
    for table in (choices.of_sampler, choices.of_trajectory, choices.of_iid):
        table.pop((choices.target, choices.sampler), None)
    choices.edition += 1


def target_settings(choices: Choices, expanded: bool = False) -> DeltaGenerator:
    """The target's own parameters, in an expander, which is returned for more."""
    place = choices.of_target.setdefault(choices.target, {})
    with st.expander("Target's own parameters", expanded=expanded) as expander:
        for parameter in FAMILIES[choices.target].parameters:
            key = f"{choices.target}.{parameter.name}.{choices.mark}"
            if parameter.kind == "bool":
                fill(key, place.get(parameter.name, parameter.default))
                st.toggle(
                    parameter.title, key=key, help=parameter.help, on_change=keep, args=(place, parameter.name, key)
                )
            elif parameter.kind != "floats":
                number(parameter, place, parameter.default, key)
        if choices.target == "gmm":
            _mixture_table(choices, place)
    return expander


def keep(place: dict[str, Any], name: str, key: str) -> None:
    place[name] = st.session_state[key]


def _mixture_table(choices: Choices, place: dict[str, Any]) -> None:
    """Components as an editable table. What makes no mixture is said, and the last good one stays in use."""
    parameters = {p.name: p for p in FAMILIES["gmm"].parameters}
    base_key = f"mixture.{choices.mark}"
    if f"{base_key}.editor" not in st.session_state:  # at first, and after another page: edits are in `place` alone
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
    """Chains, draws, warm-up, thinning and seed."""
    defaults = {name: p.default for name, p in RUN_PARAMETERS.items()} | {"draws": DRAWS, "warmup": DRAWS // 10}
    for name, parameter in RUN_PARAMETERS.items():
        if name != "seed":
            number(parameter, choices.of_run, defaults[name], f"run.{name}.{choices.mark}")
    choose_seed(choices.of_run, f"run.seed.{choices.mark}")


def choose_seed(place: dict[str, Any], key: str) -> None:
    """The seed, place["seed"], and dice beside it."""
    parameter = RUN_PARAMETERS["seed"]
    fill(key, place.setdefault("seed", parameter.default))
    left, right = st.columns([4, 1], vertical_alignment="bottom", wrap=False)
    left.number_input(
        "Seed", 0, int(parameter.high), key=key, help=parameter.help, on_change=keep, args=(place, "seed", key)
    )
    right.button("", icon=":material/casino:", help="A new seed", on_click=_dice, args=(place, key))


def _dice(place: dict[str, Any], key: str) -> None:
    place["seed"] = st.session_state[key] = secrets.randbelow(10**6)


def choose_follow(choices: Choices) -> None:
    toggle(
        "Restart when I move a slider", choices, "follow", f"follow.{choices.mark}",
        help="On: every change of a control starts the chains anew at once. Off: press Run when you are ready.",
    )  # fmt: skip


def toggle(label: str, place: Any, name: str, key: str, help: str) -> None:
    """A switch that shows place.name and writes to it."""
    fill(key, getattr(place, name))
    st.toggle(label, key=key, on_change=_take, args=(place, name, key), help=help)


def segmented(
    label: str, options: Sequence[str], place: Any, name: str, key: str, titles: Mapping[str, str] | None = None
) -> str:
    """One of some options, place.name if it is among them; writes to it, and returns what is shown."""
    fill(key, getattr(place, name) if getattr(place, name) in options else options[0])
    st.segmented_control(
        label, options, key=key, required=True, label_visibility="collapsed", on_change=_take, args=(place, name, key),
        format_func=titles.__getitem__ if titles else str.capitalize,
    )  # fmt: skip
    return st.session_state[key]


def choose_stop(label: str, stops: Sequence[int], place: Any, name: str, key: str, help: str) -> int:
    """A slider over whole numbers, that shows place.name and writes to it; returns it."""
    fill(key, getattr(place, name))
    st.select_slider(label, stops, key=key, format_func=_short, on_change=_take, args=(place, name, key), help=help)
    return st.session_state[key]
