"""Controls of what a trajectory is made of: its schedule P^D, its updates of q^O, and a drawing of both."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import controls, figures
from dashboard.controls import Choices
from dashboard.figures.beads import MOST_SHOWN, MOST_STRINGS
from dashboard.live_chart import LiveChart
from dashboard.markup import unmarked, verbatim
from mahmc import InvalidInput, Parameter, schedules
from mahmc.samplers import EVERY_SAMPLER
from mahmc.schedules import IID, MOST_STEPS, Schedule, Sequences
from mahmc.spec import ALTERNATE, NONE, usual_outer

KINDS = {ALTERNATE: "Alternate", "iid": "I.i.d.", "sequences": "Sequences"}
MOST_TYPED = 1000  # steps of a sequence that is offered to be edited
EXAMPLES = 3  # that are drawn of an i.i.d. schedule
STEPS = Parameter(
    "steps", "", "Steps", "How many steps a trajectory has; each of them is a leapfrog or an update, drawn on its own.",
    kind="int", low=1, high=MOST_STEPS, slider=(1, 1000), log=True, default=100,
)  # fmt: skip
LEAPFROG = Parameter(
    "leapfrog", "", "P(leapfrog)", "The probability that a step is a leapfrog; otherwise it is an update of qᴼ.",
    low=0.0, high=1.0, low_open=True, slider=(0.05, 1.0), step=0.01, default=0.9,
)  # fmt: skip
SCHEDULE_HELP = (
    "The order of leapfrogs and updates in a trajectory. Alternate: L leapfrogs, an update, L leapfrogs, and so on. "
    "I.i.d.: each step is drawn on its own. Sequences: one of those that you write down, by their weights."
)
SEQUENCES_HELP = (
    "A digit for each step: 0 a leapfrog, 1 the update Q₁, 2 the update Q₂. Runs may be shortened: 10x0 1 10x0. A "
    "weight comes after a colon, 0010 : 0.7; without weights all are as probable."
)
OUTER_HELP = "An update of qᴼ follows each trajectory (within Gibbs). None: all updates are inside (pure MAHMC)."
UPDATE_HELP = "Gibbs draws qᴼ from its full conditional. Metropolis proposes a change that can be rejected."


def choose(choices: Choices) -> None:
    """Everything of the sampler. In the simple view a schedule of one's own is only named."""
    kind = choices.schedule.partition("(")[0]
    able = choices.able()
    with_schedule = EVERY_SAMPLER[choices.sampler].takes_schedule and bool(able)
    full = choices.view == "full"
    if full and with_schedule:
        _choose_kind(choices, kind)
    controls.choose_parameters(choices)
    if not full:
        if kind != ALTERNATE:
            st.caption(f"Schedule: {verbatim(choices.schedule)}")
    elif able:
        _choose_updates(choices, several=kind != ALTERNATE)
        if kind == "iid":
            _choose_iid(choices)
        elif kind == "sequences":
            _choose_sequences(choices)
        _choose_outer(choices)
        _draw(choices)
    controls.choose_defaults(choices)


# ------------------------------------------------------------------------------------------------- the schedule


def _choose_kind(choices: Choices, kind: str) -> None:
    key = f"schedule.{choices.target}.{choices.sampler}.{choices.mark}"
    controls.fill(key, kind)
    st.segmented_control("Schedule", tuple(KINDS), key=key, required=True, format_func=KINDS.__getitem__,
                         help=SCHEDULE_HELP, on_change=_switch, args=(choices, key))  # fmt: skip


def _switch(choices: Choices, key: str) -> None:
    """Another kind: as it was left, or at first with as many leapfrogs and updates as the one that alternates."""
    kind = st.session_state[key]
    mine = (choices.target, choices.sampler)
    if kind == ALTERNATE:
        choices.choose("schedule", "")
    else:
        usual = EVERY_SAMPLER[choices.sampler].law(choices.values())
        choices.choose("schedule", choices.drafts.get((*mine, kind)) or _first(kind, usual))


def _first(kind: str, law: Schedule) -> str:
    if kind == "iid":
        return str(schedules.same_mean(law))
    kept = law.leapfrogs + sum(law.updates) <= MOST_TYPED
    return str(schedules.sequences(law.examples(1) if kept else ["10x0 1 10x0"]))


def _take(choices: Choices, law: Schedule) -> None:
    """Use this schedule, and find it again."""
    text = str(law)
    choices.choose("schedule", text)
    choices.drafts[choices.target, choices.sampler, text.partition("(")[0]] = text


def _choose_iid(choices: Choices) -> None:
    """Steps, the probability of a leapfrog, and how the updates share the rest."""
    law, names = choices.law(), choices.picked()
    assert isinstance(law, IID)
    place = choices.of_iid.setdefault((choices.target, choices.sampler), {})
    now: dict[str, Any] = {"steps": law.steps, "leapfrog": law.leapfrog}
    parts = [STEPS, LEAPFROG]
    if len(names) > 1:
        before = law.shares if len(law.shares) == len(names) else [1.0] * len(names)
        parts += (of_updates := [_share(i, name) for i, name in enumerate(names, start=1)])
        now |= {part.name: round(share / sum(before), 9) for part, share in zip(of_updates, before, strict=True)}
    for part in parts:
        key = f"iid.{part.name}.{choices.target}.{choices.sampler}.{choices.mark}"
        controls.number(part, place, now[part.name], key)
    steps, leapfrog, *weights = (place[part.name] for part in parts)
    kinds = len(law.shares) if law.leapfrog < 1.0 else len(names)
    if [steps, leapfrog, *weights] != [now[part.name] for part in parts] or kinds != len(names):
        shares = [(1.0 - leapfrog) * weight / sum(weights) for weight in weights]
        _take(choices, schedules.iid(steps, leapfrog, shares if weights and leapfrog < 1.0 else None))


def _share(i: int, name: str) -> Parameter:
    title = f"share of {name}"
    return Parameter(
        title, "Q" + chr(ord("₀") + i), title, "Of the updates; what counts are the shares' proportions.",
        low=0.0, high=1.0, low_open=True, slider=(0.01, 1.0), step=0.01,
    )  # fmt: skip


def _choose_sequences(choices: Choices) -> None:
    """A text, one sequence a line. What is no schedule is said, and the last good one stays in use."""
    mine = (choices.target, choices.sampler, "typed")
    key = f"sequences.{choices.target}.{choices.sampler}.{choices.mark}"
    controls.fill(key, choices.drafts.get(mine) or _lines(choices.law()))
    text = st.text_area("Sequences, one a line", key=key, help=SEQUENCES_HELP, height=120) or ""
    choices.drafts[mine] = text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    try:
        law = schedules.sequences(*schedules.weighted(lines))
        _refuse_unnamed(law, choices)
        _take(choices, law)
    except InvalidInput as refusal:
        st.warning(f"Not used yet: {unmarked(str(refusal))}", icon=":material/edit:")
        _offer_repair(choices, mine, lines)


def _refuse_unnamed(law: Schedule, choices: Choices) -> None:
    used, named, able = len(law.updates), len(choices.picked()), len(choices.able())
    if used > able:
        raise InvalidInput(f"a sequence has an update {used}, and this target has no more than {able}.")
    if used > named:
        raise InvalidInput(f"a sequence has an update {used}, and no more than {named} is chosen above: add it there.")


def _lines(law: Schedule) -> str:
    return str(law).removeprefix("sequences(").removesuffix(")").replace(", ", "\n").replace(":", " : ")


def _offer_repair(choices: Choices, mine: tuple[str, str, str], lines: list[str]) -> None:
    """A button that makes the text a schedule, if weights or mirror images are all that is wrong."""
    try:
        texts, weights = schedules.weighted(lines)
    except InvalidInput:
        return
    shares = [weight / sum(weights) for weight in weights] if weights and sum(weights) > 0 else None
    repairs = {"Make the weights sum to one": schedules.sequences, "Add mirror images": schedules.mirrored}
    for label, repair in repairs.items():
        try:
            law = repair(texts, shares)
            _refuse_unnamed(law, choices)
        except InvalidInput:
            continue
        st.button(label, on_click=_retype, args=(choices, mine, _lines(law)), width="stretch")
        return


def _retype(choices: Choices, mine: tuple[str, str, str], text: str) -> None:
    choices.drafts[mine] = text
    choices.edition += 1


# -------------------------------------------------------------------------------------------------- the updates


def _choose_updates(choices: Choices, several: bool) -> None:
    """How qᴼ is updated: by one of the target's updates, or by several where the schedule may have several kinds."""
    able = choices.able()
    key = f"{choices.target}.update.{several}.{','.join(able)}.{choices.mark}"
    if several and len(able) > 1:
        controls.fill(key, choices.picked())
        st.multiselect(
            "Updates Q₁, Q₂, … of qᴼ", able, key=key, on_change=_pick, args=(choices, key),
            help=f"{UPDATE_HELP} Their order is that of the kinds of update in the schedule.",
        )  # fmt: skip
    else:
        controls.fill(key, choices.picked()[0])
        st.segmented_control("Update of qᴼ", able, key=key, required=True, format_func=str.capitalize,
                             help=UPDATE_HELP, on_change=_pick, args=(choices, key))  # fmt: skip


def _pick(choices: Choices, key: str) -> None:
    """Take the updates; one there must be."""
    chosen = st.session_state[key] or choices.picked()[:1]
    st.session_state[key] = chosen
    choices.update[choices.target] = chosen if isinstance(chosen, str) else ",".join(chosen)


def _choose_outer(choices: Choices) -> None:
    """What follows a trajectory. Samplers without updates inside have no more than that: it is chosen above."""
    method, updates = EVERY_SAMPLER[choices.sampler], choices.picked()
    chosen = choices.of_trajectory.get((choices.target, choices.sampler), {}).get("outer")
    if not method.inside and not chosen:
        return
    usual = usual_outer(updates, method)
    options = (*sorted(choices.family().updates, key=lambda name: name != usual), NONE)
    key = f"{choices.target}.{choices.sampler}.outer.{usual}.{choices.mark}"
    controls.fill(key, chosen or usual)
    st.segmented_control(
        "After the trajectory", options, key=key, required=True, format_func=str.capitalize,
        help=OUTER_HELP,
        on_change=_take_outer, args=(choices, usual, key),
    )  # fmt: skip


def _take_outer(choices: Choices, usual: str, key: str) -> None:
    chosen = st.session_state[key]
    choices.choose("outer", chosen if chosen != usual else "")


# -------------------------------------------------------------------------------------------------- the drawing


def _draw(choices: Choices) -> None:
    """Trajectories as beads on a string."""
    method, names = EVERY_SAMPLER[choices.sampler], choices.picked()
    if method.by_site or not method.inside:
        return
    law = choices.law()
    if len(law.updates) > len(names):
        return
    st.caption(_short(law))
    if law.leapfrogs + sum(law.updates) > MOST_STEPS:
        return
    chart = figures.beads(_strings(law, choices.of_run.get("seed", 0)), names[: len(law.updates)])
    height = chart.figure.layout.height
    LiveChart.of(chart.figure, alt=chart.alt, height=height).show(f"chart.beads.{choices.page}")


def _strings(law: Schedule, seed: int) -> list[tuple[str, tuple[int, ...]]]:
    """What is drawn: the sequences there are, with their weights, or some that were drawn."""
    if isinstance(law, Sequences):
        return [(f"{weight:.2g}", D) for D, weight in zip(law.choices, law.weights, strict=True)][:MOST_STRINGS]
    if isinstance(law, IID):
        return [(f"{i}.", D) for i, D in enumerate(law.examples(EXAMPLES, seed), start=1)]
    return [("", law.examples(1)[0])]


def _short(law: Schedule) -> str:
    """A schedule in words, and what is drawn of it."""
    made = f"{_many(law.leapfrogs, 'leapfrog')} and {_many(sum(law.updates), 'update')} of qᴼ in a trajectory"
    words = f"{'On average ' if law.random else ''}{made}"
    if isinstance(law, IID):
        words += f"; {EXAMPLES} that were drawn"
    elif isinstance(law, Sequences) and len(law.choices) > 1:
        words += f"; {len(law.choices)} sequences with their weights"
        words += f", the first {MOST_STRINGS} of them" if len(law.choices) > MOST_STRINGS else ""
    steps = law.leapfrogs + sum(law.updates)
    return words + (f". The first {MOST_SHOWN:,} steps:" if MOST_SHOWN < steps <= MOST_STEPS else ":")


def _many(number: float, what: str) -> str:
    return f"{number:,.6g} {what}{'' if number == 1 else 's'}"
