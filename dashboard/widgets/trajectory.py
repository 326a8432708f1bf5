"""Widgets for the steps of a trajectory: its schedule P^D and its updates of q^O."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.settings.choices import Choices
from dashboard.widgets import controls, sampling
from dashboard.widgets.controls import Controls, bound
from dashboard.widgets.markup import unmarked, verbatim
from mahmc import InvalidInput, Parameter, schedules
from mahmc.glossary import TERMS
from mahmc.samplers import EVERY_SAMPLER
from mahmc.schedules import IID, MOST_STEPS, Schedule
from mahmc.spec import ALTERNATE, NONE

KINDS = {ALTERNATE: "Alternate", "iid": "I.i.d.", "sequences": "Sequences"}
MOST_TYPED = 1000  # longest sequence, in steps, that is offered for editing
STEPS = Parameter(
    "steps", "", "Steps", "Steps of a trajectory. Each step is a leapfrog or an update, drawn independently.",
    kind="int", low=1, high=MOST_STEPS, slider=(1, 1000), log=True, default=100,
)  # fmt: skip
LEAPFROG = Parameter(
    "leapfrog", "", "P(leapfrog)", "The probability that a step is a leapfrog. Otherwise the step is an update of qᴼ.",
    low=0.0, high=1.0, low_open=True, slider=(0.05, 1.0), step=0.01, default=0.9,
)  # fmt: skip
SCHEDULE_HELP = TERMS["schedule"].long
SEQUENCES_HELP = (
    "Write a digit for each step: 0 is a leapfrog, 1 the update Q₁, 2 the update Q₂. 10x0 means ten leapfrogs: "
    "10x0 1 10x0. A weight comes after a colon: 0010 : 0.7. Without weights all sequences are equally probable."
)
OUTER_HELP = TERMS["outer"].long
UPDATE_HELP = TERMS["update"].long


def choose(page: Controls, full: bool) -> None:
    """All widgets of the sampler. The simple view only names a schedule other than the usual one."""
    choices: Choices = page.settings.choices
    kind = choices.schedule().partition("(")[0]
    able = choices.updates()
    if full and EVERY_SAMPLER[choices.sampler].takes_schedule and able:
        _choose_kind(page, kind)
    sampling.choose_parameters(page)
    if not full:
        if kind != ALTERNATE:
            st.caption(f"Schedule: {verbatim(choices.schedule())}")
    elif able:
        _choose_updates(page, several=kind != ALTERNATE)
        if kind == "iid":
            _choose_iid(page)
        elif kind == "sequences":
            _choose_sequences(page)
        _choose_outer(page)


def _change(page: Controls, choices: Choices) -> None:
    page.replace(replace(page.settings, choices=choices))


def _place(choices: Choices, *more: str) -> tuple[str, ...]:
    return (choices.target, choices.sampler, *more)


# ------------------------------------------------------------------------------------------------- the schedule


def _choose_kind(page: Controls, kind: str) -> None:
    choices: Choices = page.settings.choices
    key = f"{page.page}.schedule.{choices.target}.{choices.sampler}"
    st.segmented_control("Schedule", tuple(KINDS), default=kind, required=True, format_func=KINDS.__getitem__,
                         help=SCHEDULE_HELP, **bound(key, kind, partial(_switch, page)))  # fmt: skip


def _switch(page: Controls, kind: str) -> None:
    """Choose a kind of schedule: the last schedule of that kind, or one with the means of the usual schedule."""
    choices: Choices = page.settings.choices
    text = choices.schedule()
    if text != ALTERNATE:
        choices = choices.drafted(_place(choices, text.partition("(")[0]), text)
    if kind == ALTERNATE:
        return _change(page, choices.put(_place(choices, "schedule"), None))
    usual = EVERY_SAMPLER[choices.sampler].law(choices.values())
    text = choices.drafts.get(_place(choices, kind)) or _first(kind, usual)
    return _change(page, choices.put(_place(choices, "schedule"), text))


def _first(kind: str, law: Schedule) -> str:
    if kind == "iid":
        return str(schedules.same_mean(law))
    kept = law.leapfrogs + sum(law.updates) <= MOST_TYPED
    return str(schedules.sequences(law.examples(1) if kept else ["10x0 1 10x0"]))


def _with_schedule(choices: Choices, law: Schedule) -> Choices:
    """The choices with this schedule, also kept as the last one of its kind."""
    text = str(law)
    kept = choices.drafted(_place(choices, text.partition("(")[0]), text)
    return kept.put(_place(choices, "schedule"), text)


def _choose_iid(page: Controls) -> None:
    """The number of steps, the probability of a leapfrog, and the shares of the updates."""
    choices: Choices = page.settings.choices
    law, names = choices.law(), choices.picked()
    assert isinstance(law, IID)
    values: dict[str, float] = {STEPS.name: law.steps, LEAPFROG.name: law.leapfrog}
    parts = [STEPS, LEAPFROG]
    if len(names) > 1:
        shares = law.shares if len(law.shares) == len(names) else [1.0] * len(names)
        of_updates = [_share(i, name) for i, name in enumerate(names, start=1)]
        weights = _weights(choices, [part.name for part in of_updates], [s / sum(shares) for s in shares])
        values |= dict(zip((part.name for part in of_updates), weights, strict=True))
        parts += of_updates
    for part in parts:
        key = f"{page.page}.iid.{part.name}.{choices.target}.{choices.sampler}"
        take = _taker(page, values, part.name)
        controls.slider_and_field(page, part, values[part.name], key, take)


def _weights(choices: Choices, names: list[str], shares: list[float]) -> list[float]:
    """The typed weights, if they still have these proportions; else the shares."""
    typed = [float(choices.drafts.get(_place(choices, name), "nan")) for name in names]
    total = sum(typed)
    same = total > 0 and all(abs(w / total - s) < 1e-9 for w, s in zip(typed, shares, strict=True))
    return typed if same else [round(share, 9) for share in shares]


def _taker(page: Controls, values: dict[str, float], name: str) -> Callable[[float], None]:
    """A function that takes a new value of one part of an i.i.d. schedule."""

    def take(value: float) -> None:
        choices: Choices = page.settings.choices
        steps, leapfrog, *weights = (values | {name: value}).values()
        shares = [(1.0 - leapfrog) * weight / sum(weights) for weight in weights]
        law = schedules.iid(int(steps), leapfrog, shares if weights and leapfrog < 1.0 else None)
        for part, weight in zip(list(values)[2:], weights, strict=True):
            choices = choices.drafted(_place(choices, part), repr(weight))
        _change(page, _with_schedule(choices, law))

    return take


def _share(i: int, name: str) -> Parameter:
    title = f"share of {name}"
    return Parameter(
        title, "Q" + chr(ord("₀") + i), title, "The share of this update among all updates. Only proportions matter.",
        low=0.0, high=1.0, low_open=True, slider=(0.01, 1.0), step=0.01,
    )  # fmt: skip


def _choose_sequences(page: Controls) -> None:
    """A text with one sequence in each line. If it is not a schedule, the page says why and keeps the last one."""
    choices: Choices = page.settings.choices
    draft = _place(choices, "typed")
    key = f"{page.page}.sequences.{choices.target}.{choices.sampler}"
    shown = choices.drafts[draft] if draft in choices.drafts else _lines(choices.law())
    text = st.text_area("Sequences, one in each line", shown, help=SEQUENCES_HELP, height=120,
                        **bound(key, shown, partial(_typed, page, draft))) or ""  # fmt: skip
    try:
        _parsed(text, choices)
    except InvalidInput as refusal:
        st.warning(f"Not used yet: {unmarked(str(refusal))}", icon=":material/edit:")
        _offer_repair(page, draft, text)


def _typed(page: Controls, draft: tuple[str, ...], text: str) -> None:
    """Keep the typed text, and use it if it is a schedule."""
    choices: Choices = page.settings.choices.drafted(draft, text)
    with suppress(InvalidInput):  # the page says what is wrong and keeps the last valid schedule
        choices = _with_schedule(choices, _parsed(text, choices))
    _change(page, choices)


def _parsed(text: str, choices: Choices) -> Schedule:
    """The schedule of a text; InvalidInput if the text is not a schedule."""
    law = schedules.sequences(*schedules.weighted(_stripped(text)))
    _refuse_unnamed(law, choices)
    return law


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _refuse_unnamed(law: Schedule, choices: Choices) -> None:
    used, named, able = len(law.updates), len(choices.picked()), len(choices.updates())
    if used > able:
        raise InvalidInput(f"a sequence uses update {used}, but this target has only {able} kinds of update.")
    if used > named:
        raise InvalidInput(f"a sequence uses update {used}: choose {used} updates above.")


def _lines(law: Schedule) -> str:
    return str(law).removeprefix("sequences(").removesuffix(")").replace(", ", "\n").replace(":", " : ")


def _offer_repair(page: Controls, draft: tuple[str, ...], text: str) -> None:
    """A button that repairs the text, if only the weights or the mirror images are wrong."""
    try:
        texts, weights = schedules.weighted(_stripped(text))
    except InvalidInput:
        return
    shares = [weight / sum(weights) for weight in weights] if weights and sum(weights) > 0 else None
    repairs = {"Make the weights sum to one": schedules.sequences, "Add mirror images": schedules.mirrored}
    for label, repair in repairs.items():
        try:
            law = repair(texts, shares)
            _refuse_unnamed(law, page.settings.choices)
        except InvalidInput:
            continue
        st.button(label, on_click=_retype, args=(page, draft, law), width="stretch", key=f"{page.page}.repair")
        return


def _retype(page: Controls, draft: tuple[str, ...], law: Schedule) -> None:
    choices: Choices = page.settings.choices
    _change(page, _with_schedule(choices.drafted(draft, _lines(law)), law))


# -------------------------------------------------------------------------------------------------- the updates


def _choose_updates(page: Controls, several: bool) -> None:
    """The update of qᴼ, or several updates where the schedule may have several kinds."""
    choices: Choices = page.settings.choices
    able, picked = choices.updates(), choices.picked()
    key = f"{page.page}.{choices.target}.update.{several}.{','.join(able)}"
    if several and len(able) > 1:
        st.multiselect(
            "Updates Q₁, Q₂, … of qᴼ", able, list(picked), **bound(key, list(picked), partial(_pick, page)),
            help=f"{UPDATE_HELP} The first is update 1 of the schedule, the second is update 2.",
        )  # fmt: skip
    else:
        st.segmented_control("Update of qᴼ", able, default=picked[0], required=True, format_func=str.capitalize,
                             help=UPDATE_HELP, **bound(key, picked[0], partial(_pick, page)))  # fmt: skip


def _pick(page: Controls, chosen: str | list[str]) -> None:
    """Take the picked updates. If nothing is picked, the first update of before stays."""
    choices: Choices = page.settings.choices
    names = tuple(chosen) if isinstance(chosen, list) else (chosen,)
    names = names or choices.picked()[:1]
    usual = names == choices.updates()[:1]
    law = choices.law() if choices.schedule().startswith("iid(") else None
    choices = choices.put((choices.target, "update"), None if usual else names)
    if isinstance(law, IID) and law.leapfrog < 1.0 and len(law.shares) != len(names):  # they get even shares
        even = [(1.0 - law.leapfrog) / len(names)] * len(names)
        choices = _with_schedule(choices, schedules.iid(law.steps, law.leapfrog, even if len(names) > 1 else None))
    _change(page, choices)


def _choose_outer(page: Controls) -> None:
    """The update after the trajectory. Visible if updates are also inside, or if the choice is not the usual one."""
    choices: Choices = page.settings.choices
    chosen, usual = choices.outer()
    if not EVERY_SAMPLER[choices.sampler].inside and chosen == usual:
        return
    options = (*sorted(choices.family().density.updates, key=lambda name: name != usual), NONE)
    key = f"{page.page}.{choices.target}.{choices.sampler}.outer.{usual}"
    st.segmented_control(
        "After the trajectory", options, default=chosen, required=True, format_func=str.capitalize, help=OUTER_HELP,
        **bound(key, chosen, partial(_take_outer, page, usual)),
    )  # fmt: skip


def _take_outer(page: Controls, usual: str, chosen: str) -> None:
    choices: Choices = page.settings.choices
    _change(page, choices.put(_place(choices, "outer"), None if chosen == usual else chosen))
