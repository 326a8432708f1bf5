"""The parts of the Compare page: what is compared, bars and ratios as they come, and a closer look afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls, figures, trajectory, uploading
from dashboard.figures import Chart
from dashboard.live_chart import LiveChart
from dashboard.live_status import Tile, live_status
from dashboard.markup import unmarked
from dashboard.session import Session
from dashboard.uploads import TARGET, Upload
from mahmc import Comparison, InvalidInput, RunSpec, schedules, tables
from mahmc.compare import COSTS, REPLICATES, WORST, Interval, accuracy
from mahmc.samplers import PAPER_SAMPLERS, PARAMETERS, SAMPLERS, Sampler
from mahmc.spec import ALTERNATE, NONE, OF_ALTERNATE, usual_outer
from mahmc.targets import FAMILIES, Target, Truth

UPDATE_SECONDS = 0.5
SECOND = "mahmc, Nᵁ 4"
SAME_MEAN = "mahmc, i.i.d."
CHOICES = ("schedule", "update", "outer")  # of a sampler, beside its parameters
TRACE_LEAPFROGS = 20_000  # of one chain, that traces show
MOST_BUDGET = 10**9


@dataclass(frozen=True)
class Wish:
    """What the controls ask for."""

    target: Target
    samplers: Mapping[str, Mapping[str, Any]]
    gradients: int
    replicates: int
    seed: int

    def comparison(self) -> Comparison:
        return Comparison(self.target, self.samplers, self.gradients, self.replicates, self.seed)


# --------------------------------------------------------------------------------------------------- controls


def sidebar(tab: Session) -> tuple[Wish | None, str]:
    """All controls; the wish they make, or what is wrong with it."""
    problem = _read_link(tab)
    try:
        wish = _controls(tab)
        wish.comparison()
        return wish, problem
    except InvalidInput as refusal:
        return None, f"This cannot be compared: {unmarked(str(refusal))}"
    finally:
        _write_link(tab)


def _controls(tab: Session) -> Wish:
    with st.sidebar:
        name = st.selectbox("Target", list(FAMILIES), key="compare.target", format_func=controls.target_title)
        data = uploading.choose_known(tab.uploads, "compare.data") if name == TARGET else ""
        target = tab.uploads[data].target({}) if data else FAMILIES[name].build()
        chosen = st.multiselect("Samplers", list(SAMPLERS), list(PAPER_SAMPLERS), key="compare.samplers",
                                format_func=lambda name: SAMPLERS[name].title)  # fmt: skip
        able = [sampler for sampler in chosen if SAMPLERS[sampler].takes(target)]
        if left_out := [SAMPLERS[sampler].title for sampler in chosen if sampler not in able]:
            st.caption(f"Left out: {', '.join(left_out)}, as this target has no discrete variables to visit.")
        same_mean = bool(target.updates) and st.toggle(
            "MAHMC: Nᵁ against an i.i.d. schedule of the same mean", key="compare.iid",
            help="Also MAHMC with each step drawn on its own, a leapfrog or an update, as many of both on average.",
        )  # fmt: skip
        second = name == "mdc" and st.toggle(
            "Also MAHMC at Nᵁ = 4, ε = 0.035", key="compare.second",
            help="The paper's second figure for MAHMC on MDC, 6.08e-3.",
        )  # fmt: skip
        samplers: dict[str, Mapping[str, Any]] = {
            sampler: {"sampler": sampler} | _values(target, sampler) for sampler in able
        }  # fmt: skip
        gradients = st.number_input(
            "Leapfrogs of a replicate", 1, MOST_BUDGET, target.budget, step=target.budget // 4,
            key=f"compare.budget.{name}",
            help="All chains together. Every sampler gets exactly as many, so it is rounded to what divides evenly.",
        )  # fmt: skip
        replicates = st.number_input("Replicates", 2, 100, REPLICATES, key="compare.replicates",
                                     help="Independent repetitions, which the intervals come from.")  # fmt: skip
        seed = st.number_input("Seed", 0, 2**53 - 1, 0, key="compare.seed",
                               help="The same seed and settings give the same table.")  # fmt: skip
    if same_mean:
        samplers[SAME_MEAN] = _of_the_same_mean(target, samplers.get("mahmc", {"sampler": "mahmc"}))
    if second:
        samplers[SECOND] = dict(tables.SECOND_MDC)
    return Wish(target, samplers, int(gradients), int(replicates), int(seed))


def _of_the_same_mean(target: Target, mahmc: Mapping[str, Any]) -> dict[str, Any]:
    """MAHMC as it is, but with each step of its trajectory drawn on its own."""
    law = RunSpec.of(target, **mahmc).law
    kept = {name: value for name, value in mahmc.items() if name not in OF_ALTERNATE}
    return kept | {"schedule": str(schedules.same_mean(law))}


def _read_link(tab: Session) -> str:
    """Once a visit: put what the link says into the controls. Returns what of it cannot be used, in words of ours."""
    if "compare.read" in st.session_state:
        return ""
    st.session_state["compare.read"] = True
    refused, unknown = [], 0
    for key, text in st.query_params.to_dict().items():
        try:
            st.session_state[key] = _parsed(key, text, tab.uploads)
        except KeyError:
            unknown += not key.startswith("embed")
        except ValueError:
            refused.append(key)
    parts = refused[:5] + ([f"{len(refused) - 5} more"] if len(refused) > 5 else [])
    parts += [f"{unknown} that this page does not know"] if unknown else []
    no_data = " Data of one's own are in no link: upload them again, on Explore." if "compare.data" in refused else ""
    return f"Not used of this link: {', '.join(parts)}.{no_data}" if parts else ""


def _parsed(key: str, text: str, uploads: Mapping[str, Upload]) -> Any:
    """The value of one control; raises ValueError or KeyError where there is none such."""
    match key.split("."):
        case ["compare", "target"]:
            return _one_of(text, FAMILIES)
        case ["compare", "data"]:
            return _one_of(text, {"": None, **uploads})
        case ["compare", "cost"]:
            return _one_of(text, COSTS)
        case ["compare", "samplers"]:
            return [_one_of(name, SAMPLERS) for name in text.split(",") if name]
        case ["compare", "second" | "iid"]:
            return text == "1"
        case ["compare", "budget", target] if target in FAMILIES:
            return _within(int(text), 1, MOST_BUDGET)
        case ["compare", "replicates"]:
            return _within(int(text), 2, 100)
        case ["compare", "seed"]:
            return _within(int(text), 0, 2**53 - 1)
        case ["compare", target, sampler, name] if target in FAMILIES and name in SAMPLERS[sampler].parameters:
            return PARAMETERS[name].check(PARAMETERS[name].parse(text))
        case ["compare", target, sampler, name] if target in FAMILIES and sampler in SAMPLERS and name in CHOICES:
            return _parsed_choice(FAMILIES[target].build(), SAMPLERS[sampler], name, text)
    raise KeyError(key)


def _parsed_choice(target: Target, method: Sampler, name: str, text: str) -> Any:
    if name == "schedule":
        if text != ALTERNATE:
            schedules.parse(text)
        return text
    if name == "outer":
        return _one_of(text, dict.fromkeys(("", *target.updates, NONE)))
    return [_one_of(update, dict.fromkeys(method.updates(target))) for update in text.split(",") if update]


def _one_of(text: str, known: Mapping[str, Any]) -> str:
    if text not in known:
        raise ValueError(text)
    return text


def _within(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise ValueError(value)
    return value


def _write_link(tab: Session) -> None:
    """What the controls say goes into the address."""
    for key, value in st.session_state.items():
        name = str(key)
        try:
            text = ",".join(value) if isinstance(value, list) else str(int(value) if isinstance(value, bool) else value)
            _parsed(name, text, tab.uploads)
        except (ValueError, KeyError, TypeError):
            continue
        if st.query_params.get(name) != text:
            st.query_params[name] = text


def _values(target: Target, sampler: str) -> dict[str, Any]:
    """A sampler's settings, the paper's to begin with."""
    method, place = SAMPLERS[sampler], f"compare.{target.name}.{sampler}"
    values: dict[str, Any] = {}
    with st.expander(method.title):
        if method.takes_schedule and target.updates:
            values["schedule"] = _schedule(f"{place}.schedule")
        replaced = OF_ALTERNATE if values.get("schedule", ALTERNATE) != ALTERNATE else ()
        for name, best in method.defaults(target.name).items():
            parameter = PARAMETERS[name]
            whole = parameter.kind == "int"
            value = st.number_input(
                f"{parameter.symbol} {parameter.title}", value=int(best) if whole else float(best),
                step=1 if whole else 0.005, format=None if whole else "%g", help=parameter.help,
                key=f"{place}.{name}", disabled=name in replaced,
            )  # fmt: skip
            if name not in replaced:
                values[name] = value
        if target.updates:
            values |= _updates(target, method, place)
    return values


def _schedule(key: str) -> str:
    """A schedule as text; what is none is said, and the comparison waits."""
    text = st.text_input(
        "Schedule", ALTERNATE, key=key,
        help=f"{trajectory.SCHEDULE_HELP} Write it as one of: {schedules.FORMS}",
    ) or ALTERNATE  # fmt: skip
    return text.strip()


def _updates(target: Target, method: Sampler, place: str) -> dict[str, Any]:
    """The updates inside a trajectory, and the one after it."""
    able = method.updates(target)
    picked = st.multiselect("Updates of qᴼ", able, able[:1], key=f"{place}.update", help=trajectory.UPDATE_HELP)
    usual = usual_outer(picked or able, method)
    outer = st.selectbox(
        "After the trajectory", ("", *target.updates, NONE), key=f"{place}.outer",
        format_func=lambda name: name or f"as usual: {usual}", help=trajectory.OUTER_HELP,
    )  # fmt: skip
    return {"update": ",".join(picked) or None, "outer": outer or None}


def heading(tab: Session, wish: Wish | None) -> None:
    """The title, and the one button that matters now."""
    job = tab.comparing
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title("Compare", width="content")
        if job is not None and job.alive:
            st.button("Stop", icon=":material/stop:", on_click=job.stop, help="Replicates that are done stay")
        else:
            st.button("Run", icon=":material/play_arrow:", type="primary", disabled=wish is None,
                      on_click=_start, args=(tab, wish))  # fmt: skip
    left, right = st.columns(2)
    left.selectbox("Cost", list(COSTS), key="compare.cost", format_func=COSTS.__getitem__,
                   help="What effective sample size is divided by.")  # fmt: skip
    names = job.comparison.quantities if job else ()
    right.selectbox("Quantity", names or ("",), key=f"compare.quantity.{job.number if job else 0}", disabled=not names,
                    format_func=_quantity_words, help="Whose effective sample size is compared.")  # fmt: skip


def _start(tab: Session, wish: Wish) -> None:
    tab.compare(wish.comparison())


def _quantity_words(name: str) -> str:
    return "the worst of all" if name == WORST else figures.plain(name)


def _by_sampler(found: Comparison) -> list[Tile]:
    """How far each sampler is."""
    text = "Replicates that are done, of all. Intervals begin with the second."
    return [Tile(label, f"{entry.replicates} / {found.replicates}", text) for label, entry in found.entries.items()]


def _chosen(tab: Session) -> dict[str, str]:
    """Quantity and cost, as the comparison takes them."""
    job = tab.comparing
    quantity = st.session_state.get(f"compare.quantity.{job.number if job else 0}") or ""
    about = {"cost": st.session_state.get("compare.cost") or "leapfrogs"}
    return about | ({"quantity": quantity} if job and quantity in job.comparison.quantities else {})


# ------------------------------------------------------------------------------------------------- as it runs


def live(tab: Session, wish: Wish | None) -> None:
    """Progress, bars, ratios in words and the table, refreshed by themselves while replicates come in."""
    alive = tab.comparing is not None and tab.comparing.alive
    st.fragment(_live, run_every=UPDATE_SECONDS if alive else None)(tab, wish, alive)


def _live(tab: Session, wish: Wish | None, was_alive: bool) -> None:
    status, words, chart, table = (st.container(key=f"compare.{part}") for part in ("status", "words", "bars", "table"))
    job, about = tab.comparing, _chosen(tab)
    with status:
        if job is None:
            st.info("All samplers get the same number of leapfrogs, several times over. Press **Run**.",
                    icon=":material/play_circle:")  # fmt: skip
        elif job.problem:
            st.error(job.problem, icon=":material/error:")
        else:
            tiles = _by_sampler(job.comparison) if job.alive else []
            live_status(_status_line(tab), job.comparison.share, tiles, "compare.progress")
    if job is not None and job.comparison.done:
        found = job.comparison
        with words:
            for line in _headlines(found, about):
                st.markdown(line)
        with chart:
            _bars(found, about)
        with table:
            _table(found, about)
    if was_alive and not (job is not None and job.alive):
        st.rerun()


def _status_line(tab: Session) -> str:
    job = tab.comparing
    assert job is not None
    found, step = job.comparison, job.step
    size = f"{found.budget:,} leapfrogs a replicate"
    if found.finished:
        return f"Finished: {found.replicates} replicates of {len(found.entries)} samplers, {size}."
    if not job.alive:
        return f"Stopped after {step.done if step else 0} of {found.total} runs; what is done is below."
    if step is None:
        return f"Beginning: {found.total} runs, {size}."
    return f"{step.done} of {found.total} runs, {step.label} last; about {step.seconds_left:.0f} s left."


def _headlines(found: Comparison, about: dict[str, str]) -> list[str]:
    done = found.done
    wanted = [("mahmc", SAME_MEAN), *((label, other) for label in (SECOND, "mahmc") for other in tables.AGAINST)]
    pairs = [pair for pair in wanted if set(pair) <= done.keys()]
    lines = [tables.headline(found, label, other, **about) for label, other in pairs]
    return [f"**{lines[0]}**", *lines[1:]] if lines else []


def _bars(found: Comparison, about: dict[str, str]) -> None:
    rows, paper = [], {}
    for row in tables.rows(found, **about):
        label, ours = str(row["sampler"]), row["ours"]
        assert isinstance(ours, Interval)
        rows.append((label, found.entries[label].spec.sampler, ours.value, ours.low, ours.high))
        paper[label] = row["paper"] if isinstance(row["paper"], float) else None
    unit = {"leapfrogs": "leapfrog", "gradients": "gradient", "updates": "gradient or update", "seconds": "second"}
    chart = figures.ess_bars(rows, paper, f"ESS per {unit[about['cost']]}")
    height = 90 + 38 * max(len(rows), 3)
    LiveChart.of(chart.figure, alt=chart.alt, height=height, caption=chart.caption).show("chart.bars")
    st.caption(
        "Bars are means over replicates, intervals 95 % by the bootstrap over "
        "replicates (below six by Student's t), ratios in pairs."
    )


def _table(found: Comparison, about: dict[str, str]) -> None:
    frame = pd.DataFrame([{name: _shown(value) for name, value in row.items()} for row in tables.rows(found, **about)])
    st.dataframe(frame.drop(columns="target"), hide_index=True)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# ------------------------------------------------------------------------------------------------ a closer look


def after(tab: Session) -> None:
    """When it is at rest: open in Explore, downloads, histograms and traces side by side, and BLR's agreement."""
    job = tab.comparing
    if job is None or job.alive or not job.comparison.done:
        return
    found, about = job.comparison, _chosen(tab)
    _buttons(tab, found)
    _downloads(found, about)
    if found.target.name == TARGET:
        _agreement(found)
    _multiples(found)


def _buttons(tab: Session, found: Comparison) -> None:
    st.subheader("Open in Explore")
    with st.container(horizontal=True):
        for label, entry in found.done.items():
            if st.button(label, key=f"compare.open.{label}", icon=":material/tune:"):
                tab.open((entry.run.spec if entry.run else entry.spec).on(found.target, keep=None))
                st.switch_page("pages/explore.py")


def _downloads(found: Comparison, about: dict[str, str]) -> None:
    kinds = {"CSV": ("csv", "csv"), "Markdown": ("markdown", "md"), "LaTeX": ("latex", "tex")}
    with st.expander("Share and download", icon=":material/share:"):
        st.caption("This link brings back these controls; Run then gives the same table.")
        st.code("?" + urlencode(st.query_params.to_dict()), language=None, wrap_lines=True)
        with st.container(horizontal=True):
            for label, (form, ending) in kinds.items():
                st.download_button(label, tables.table([found], form, **about), f"{found.target.name}.{ending}",
                                   on_click="ignore", icon=":material/download:")  # fmt: skip


def _multiples(found: Comparison) -> None:
    """One histogram and one trace a sampler, on the same axes."""
    name = found.target.paper_quantity
    truth = found.target.truth(name)
    runs = {label: entry.run for label, entry in found.done.items() if entry.run is not None}
    st.subheader(f"Histograms of {figures.plain(name)}, first replicate of each")
    charts = {
        label: figures.density([(label, run.spec.sampler, run.get(name))], truth, name) for label, run in runs.items()
    }
    tallest = max(float(np.nanmax(np.asarray(trace.y))) for chart in charts.values() for trace in chart.figure.data)
    for chart in charts.values():
        chart.figure.update_yaxes(range=[0, 1.05 * tallest])
        chart.figure.update_layout(showlegend=False)
    _grid(charts, "histogram")
    st.subheader(f"Traces over the same {TRACE_LEAPFROGS:,} leapfrogs of four chains")
    traces = {}
    for label, run in runs.items():
        seen = max(2, int(TRACE_LEAPFROGS / run.spec.leapfrogs_per_draw))
        traces[label] = figures.trace(run.get(name)[:4, :seen], name, run.spec.sampler)
    if truth is not None:
        for chart in traces.values():
            chart.figure.update_yaxes(range=list(truth.support))
    _grid(traces, "trace")


def _grid(charts: Mapping[str, Chart], kind: str) -> None:
    items = list(charts.items())
    for i in range(0, len(items), 3):
        for column, (label, chart) in zip(st.columns(3), items[i : i + 3], strict=False):
            with column:
                LiveChart.of(chart.figure, alt=chart.alt, title=label, height=240).show(f"chart.{kind}.{label}")
    st.caption(items[0][1].caption)


def _agreement(found: Comparison) -> None:
    """BLR: posterior means against the reference where there is one, and the accuracy of each."""
    names = [name for name in next(iter(found.done.values())).means[0] if name.startswith("beta[")]
    truths = [truth for name in names if (truth := found.target.truth(name))]
    if truths:
        st.subheader("Posterior means against the reference")
        rows: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
        for label, entry in found.done.items():
            means = np.array([[replicate[name] for name in names] for replicate in entry.means])
            error = means.std(axis=0, ddof=1) / math.sqrt(len(means))
            rows[label] = (entry.spec.sampler, *distances(means.mean(axis=0), error, truths))
        chart = figures.means_against_reference(rows, min(entry.replicates for entry in found.done.values()))
        st.markdown(f"**{chart.alt}**")
        LiveChart.of(chart.figure, alt=chart.alt, caption=chart.caption, height=340).show("chart.agreement")
    shares = ", ".join(f"{label} {accuracy(entry.run):.2%}" for label, entry in found.done.items() if entry.run)
    paper = "" if found.target.fingerprint else " The paper has 98.77 %."
    st.markdown(f"Points classified right by a vote of the draws: {shares}.{paper}")


def distances(means: np.ndarray, errors: np.ndarray, truths: Sequence[Truth]) -> tuple[np.ndarray, np.ndarray]:
    """How far means lie from the truth, and the standard errors of that, in standard deviations of each quantity."""
    mean, sd, own = np.array([(truth.mean, truth.sd, truth.mean_se) for truth in truths]).T
    return (means - mean) / sd, np.hypot(errors, own) / sd
