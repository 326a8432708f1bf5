"""Widgets for a target and a sampler, generated from the engine's registries."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.settings.choices import Choices
from dashboard.widgets import controls
from dashboard.widgets.controls import Controls
from dashboard.widgets.markup import unmarked
from mahmc import InvalidInput
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS
from mahmc.spec import ALTERNATE, OF_ALTERNATE
from mahmc.targets import FAMILIES

TABLE_COLUMN = 72  # pixels: three columns fit the sidebar
MIXTURE = ("weights", "means", "sds")  # lists of equal length that are edited as one table
Mixture = dict[str, tuple[float, ...]]


class _Editor(NamedTuple):
    """A table in the browser: its number, its first mixture, and the last mixture that was taken from it."""

    number: int
    began: Mixture
    taken: Mixture


def target_title(name: str) -> str:
    """The title of a target in the list. A custom target has the name of its file behind it."""
    family = FAMILIES[name]
    return f"{family.title} · your own, {Path(family.file).name}" if family.file else family.title


def choose_target(page: Controls, name: str = "target") -> None:
    """A list of targets, with a sentence on the chosen target.

    If the sampler cannot sample the new target, another sampler is chosen, with a message.
    """
    before = st.session_state.get(f"{page.page}.sampler.before")
    controls.select(page, name, "Target", target_title)
    choices: Choices = page.settings.choices
    if before not in (None, choices.sampler) and before not in choices.samplers():
        was, now = EVERY_SAMPLER[before].title, EVERY_SAMPLER[choices.sampler].title
        st.toast(f"{was} needs discrete variables, and this target has none. The sampler is now {now}.")
    st.session_state[f"{page.page}.sampler.before"] = choices.sampler
    st.caption(f"{unmarked(_about(page))} {unmarked(choices.notation)}.")


def _about(page: Controls) -> str:
    """A sentence on the target, on the data in use."""
    choices: Choices = page.settings.choices
    with suppress(InvalidInput):  # the page says what is wrong
        return choices.built(page.tab.uploads).presentation.about
    return FAMILIES[choices.target].about


def choose_target_and_sampler(page: Controls, prefix: str = "") -> None:
    """Lists of targets and of the samplers that can sample the target, each with a sentence on the choice."""
    choose_target(page, f"{prefix}target")
    choices: Choices = page.settings.choices
    controls.select(page, f"{prefix}sampler", "Sampler", lambda name: EVERY_SAMPLER[name].label)
    st.caption(f"**{choices.sampler_name}.** {EVERY_SAMPLER[choices.sampler].about}")


def choose_parameters(page: Controls) -> None:
    """A slider for each parameter of the sampler."""
    choices: Choices = page.settings.choices
    replaced = OF_ALTERNATE if choices.schedule() != ALTERNATE else ()
    for name in choices.values():
        if name not in replaced:
            parameter, more = PARAMETERS[name], f" {choices.notation}."
            explained = replace(parameter, help=parameter.help + (more if "qᴼ" in parameter.help else ""))
            controls.number(page, page.settings.named(choices.target, choices.sampler, name), explained)


def offer_defaults(page: Controls) -> None:
    """A button that restores the default values, if other values were chosen."""
    choices: Choices = page.settings.choices
    method = EVERY_SAMPLER[choices.sampler]
    of_sampler = f"{page.page}.{choices.target}.{choices.sampler}."
    refused = [field for field in page.settings.refused if field.startswith(of_sampler)]
    if choices.best() == choices and not refused:
        return
    in_paper = choices.target in method.presets
    which = "best values of the paper" if in_paper and method.paper_ess else "default values"
    st.button(
        "Paper's best values" if in_paper else "Default values", icon=":material/menu_book:", width="stretch",
        key=f"{page.page}.defaults", help=f"Restore the {which} for this target and sampler.",
        on_click=lambda: page.replace(replace(page.settings.mended(*refused), choices=choices.best())),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- the target's settings


def target_settings(page: Controls, expanded: bool = False) -> DeltaGenerator:
    """The parameters of the target in an expander, which is returned so that more can be added."""
    choices: Choices = page.settings.choices
    parameters = FAMILIES[choices.target].parameters
    with st.expander("Parameters of the target", expanded=expanded, key=f"{page.page}.target.settings") as expander:
        for parameter in parameters:
            name = page.settings.named(choices.target, parameter.name)
            if parameter.kind == "bool":
                controls.toggle(page, name, parameter.title, parameter.help)
            elif parameter.kind != "floats":
                controls.number(page, name)
        if {p.name for p in parameters} >= set(MIXTURE):
            _mixture_table(page)
    return expander


def _mixture_table(page: Controls) -> None:
    """Components as an editable table. If they are not a mixture, the page says why and keeps the last valid one."""
    choices: Choices = page.settings.choices
    parameters = {p.name: p for p in FAMILIES[choices.target].parameters}
    used = {name: page.entry(page.settings.named(choices.target, name)).value for name in MIXTURE}
    state = f"{page.page}.mixture"
    editor: _Editor = st.session_state.get(state) or _Editor(0, {}, {})
    if editor.taken != used or f"{state}.{editor.number}" not in st.session_state:  # changed elsewhere, or page left
        editor = st.session_state[state] = _Editor(editor.number + 1, used, used)
    config = {name: st.column_config.NumberColumn(name.removesuffix("s"), help=parameters[name].help, required=True,
                                                   width=TABLE_COLUMN)
              for name in MIXTURE}  # fmt: skip
    key = f"{state}.{editor.number}"
    frame = st.data_editor(
        pd.DataFrame(editor.began), num_rows="dynamic", hide_index=True, column_config=config, key=key,
        alt="Weight, mean and standard deviation of each component", on_change=_edit, args=(page, state, key),
    )  # fmt: skip
    _show_problem(page, _mixture(frame), state)


def _show_problem(page: Controls, edited: Mixture, state: str) -> None:
    try:
        FAMILIES[page.settings.choices.target].build(**edited)
    except InvalidInput as refusal:
        st.warning(f"Not used yet: {refusal}", icon=":material/edit:")
    total = sum(edited["weights"])
    if total > 0 and abs(total - 1.0) > 1e-6:
        scaled = edited | {"weights": tuple(weight / total for weight in edited["weights"])}
        st.button("Make the weights sum to one", on_click=_take_mixture, args=(page, scaled), width="stretch",
                  key=f"{state}.normalise")  # fmt: skip


def _edit(page: Controls, state: str, key: str) -> None:
    """Take the edited components, if they are a mixture."""
    editor: _Editor = st.session_state[state]
    if key != f"{state}.{editor.number}":
        return  # the event of a table that was replaced; see `bound`
    edited = _mixture(_applied(pd.DataFrame(editor.began), st.session_state[key]))
    try:
        FAMILIES[page.settings.choices.target].build(**edited)
    except InvalidInput:
        return  # the page says what is wrong
    st.session_state[state] = editor._replace(taken=edited)
    _take_mixture(page, edited)


def _applied(frame: pd.DataFrame, changes: Mapping[str, Any]) -> pd.DataFrame:
    """The table after rows were edited, added and deleted."""
    rows = frame.to_dict("records")
    for number, cells in changes["edited_rows"].items():
        rows[int(number)] |= cells
    kept = [row for i, row in enumerate(rows) if i not in changes["deleted_rows"]]
    return pd.DataFrame([*kept, *changes["added_rows"]], columns=list(frame.columns))


def _mixture(frame: pd.DataFrame) -> Mixture:
    """The mixture of the complete rows."""
    whole = frame.dropna(how="any")
    return {name: tuple(float(value) for value in whole[name]) for name in MIXTURE}


def _take_mixture(page: Controls, mixture: Mixture) -> None:
    for name, values in mixture.items():
        page.take(page.settings.named(page.settings.choices.target, name), values)
