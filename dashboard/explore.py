"""The parts of the Explore page: controls at the side, live tiles and charts, and what comes after a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls, feed, figures, session, trajectory, uploading
from dashboard.estimates import Estimates, estimates
from dashboard.figures import Chart
from dashboard.gallery import Wanted
from dashboard.jobs import Job, Status
from dashboard.live_chart import LiveChart
from dashboard.live_status import Tile, live_status, said
from dashboard.session import Session
from dashboard.uploads import TARGET
from dashboard.warnings import warnings
from mahmc import Run, RunSpec, diagnostics, targets
from mahmc.targets import Target

UPDATE_SECONDS = 0.4
SOON_SECONDS = 0.1  # between looks until chains have begun
FIRST_SECONDS = 0.25  # that the page waits for the first draws, rather than for the next update
ROUGH = " While chains run it is scaled up from the last {:,} draws of each; at the end it is of all."
FADED = 0.3  # of what belongs to former settings
LIVE_PARTS = ("status", "remarks", "quantity", "charts")


# --------------------------------------------------------------------------------------------------- the sidebar


def sidebar(tab: Session) -> RunSpec | None:
    """All controls; returns the spec they make, or None with the reason shown."""
    choices = tab.choices
    with st.sidebar:
        controls.choose_view(choices)
        controls.choose_target_and_sampler(choices)
        trajectory.choose(choices)
        if choices.view == "full":
            with controls.target_settings(choices):
                uploading.choose(tab)
            with st.expander("Run: chains, draws, seed"):
                controls.choose_run(choices)
        spec, problem = session.chosen_spec(tab)
        _buttons(tab, spec)
        controls.choose_follow(choices)
        if problem:
            st.error(problem)
    return spec


def heading(tab: Session, spec: RunSpec | None) -> None:
    """The title, and the one button that matters now: on a phone the sidebar is out of sight."""
    alive = tab.job is not None and tab.job.alive
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title("Explore", width="content")
        if alive:
            st.button("Stop", key="main.stop", icon=":material/stop:", on_click=tab.stop)
        else:
            st.button("Run", key="main.run", icon=":material/play_arrow:", on_click=tab.start, args=(spec,),
                      type="primary", disabled=spec is None)  # fmt: skip
    if spec is not None and spec.data:
        st.caption(f"{TARGET.upper()} on your data: {uploading.described(tab.uploads[spec.data])}.")


def _buttons(tab: Session, spec: RunSpec | None) -> None:
    job = tab.job
    alive = job is not None and job.alive
    resumable = job is not None and not alive and job.status == Status.STOPPED
    buttons: list[tuple[str, str, bool, Callable[..., None], tuple, str]] = [
        ("Run", "play_arrow", spec is not None, tab.start, (spec,), "Start chains with these settings"),
        ("Stop", "stop", alive, tab.stop, (), "Stop at once; what was drawn stays"),
        ("Continue", "resume", resumable, tab.resume, (), "Go on exactly where it was stopped"),
        ("Reset", "restart_alt", job is not None, tab.reset, (), "Stop, and forget what was drawn"),
    ]
    columns = st.columns(2, wrap=False)
    for i, (label, icon, enabled, action, arguments, text) in enumerate(buttons):
        columns[i % 2].button(
            label, icon=f":material/{icon}:", type="primary" if label == "Run" else "secondary", width="stretch",
            disabled=not enabled, on_click=action, args=arguments, help=text,
        )  # fmt: skip


# ------------------------------------------------------------------------------------------------ the live part


def live(tab: Session, spec: RunSpec | None) -> bool:
    """Status, tiles, warnings and charts. They follow the tab's feed until nothing more is to come.

    Returns whether something is: once it is there, the page is refreshed by itself, and then not again.
    """
    run = tab.job.run if tab.job else None
    busy = _busy(tab, _quantity(run) if run else "")
    st.fragment(_live)(tab, spec, busy)
    return busy


def _busy(tab: Session, name: str) -> bool:
    """Whether chains run, or the last estimates of this quantity are still being worked out."""
    job = tab.job
    if job is None or job.run is None or job.alive:
        return job is not None and job.alive
    return tab.estimator is not None and tab.estimator.behind(name)


def _live(tab: Session, spec: RunSpec | None, was_busy: bool) -> None:
    """Containers come first and always, whatever is in them: a chart keeps its node only if its place stays."""
    status, remarks, quantity, pictures = (st.container(key=f"live.{part}") for part in LIVE_PARTS)
    job, name = tab.job, ""
    if job is not None and job.alive:
        job.wait_for_first(FIRST_SECONDS)
    shown, _ = tab.shown()
    if job is None and spec is not None:
        with pictures:
            _outlook(tab, spec)
    if shown is not None and shown.run is not None:
        with quantity:
            name = _choose_quantity(tab, shown.run)
    look = Look.of(tab, spec, name)
    if look.run is not None:
        with pictures:
            _charts(tab, look)
    tab.feed.tell = partial(_news, tab, spec, look)
    with status:
        if job is None:
            st.info("Choose a target and a sampler at the side, and press **Run**.", icon=":material/play_circle:")
        elif job.status == Status.FAILED:
            st.error(session.status_line(job), icon=":material/error:")
        else:
            pause = UPDATE_SECONDS if look.run else SOON_SECONDS
            source = {"address": tab.feed.address, "seconds": pause, "since": tab.gallery.last}
            live_status(*_standing(tab, look), "live.tiles", source if look.busy else None)
    with remarks:
        if look.stale:
            st.caption(":orange[The controls have changed since: this run is of the former settings. Press Run.]")
        for text in look.warnings:
            st.warning(text, icon=":material/warning:")
    if was_busy and not look.busy:
        st.rerun()


class Look(NamedTuple):
    """What a page looks like, but for what its feed brings: where that changes, the page has to be refreshed."""

    job: Job | None  # the one shown
    run: Run | None
    name: str  # of the quantity
    alive: bool
    busy: bool
    former: bool  # shown until the one under way has begun
    stale: bool
    warnings: tuple[str, ...]

    @staticmethod
    def of(tab: Session, spec: RunSpec | None, name: str) -> Look:
        job, former = tab.shown()
        stale = tab.stale(spec)
        run, alive = (job.run, job.alive) if job else (None, False)
        found: tuple[str, ...] = ()
        if job is not None and name and not former and not stale:
            found = tuple(warnings(job, tab.estimates(name), name))
        return Look(job, run, name, alive, _busy(tab, name), former, stale, found)


def _standing(tab: Session, look: Look) -> tuple[str, float, list[Tile]]:
    """How the run stands: in words, the share that is done, and tiles."""
    run = tab.job.run if tab.job else None
    share = run.progress.share if run else 0.0
    return session.status_line(tab.job), share, _tiles(tab, look) if look.run else []


def _news(tab: Session, spec: RunSpec | None, before: Look, since: int) -> bytes | None:
    """How the run stands and the charts made after number `since`; None if the page does not look as before.

    Asked for between refreshes of the page, and not by Streamlit: no `st` in here.
    """
    if Look.of(tab, spec, before.name) != before:
        return None
    if before.run is not None:
        tab.gallery.show(_wanted(tab, before), before.alive)
    last = tab.gallery.last
    charts = {key: picture.message for key, picture in tab.gallery.since(since).items()}
    return feed.news(charts, last=last, **said(*_standing(tab, before)))


def _choose_quantity(tab: Session, run: Run) -> str:
    """Which quantity tiles and charts are about; the paper's own to begin with."""
    names = [name for name in run.names if name != "slice"]
    first = run.target.paper_quantity
    return st.selectbox(
        "Quantity", names, index=names.index(first), key=_quantity_key(run), format_func=_labels(tab, run).__getitem__,
        help="The quantity that tiles, trace, histogram and running mean show.",
    )  # fmt: skip


def _labels(tab: Session, run: Run) -> dict[str, str]:
    """Quantities in words; a coefficient of a person's own data with the column it belongs to."""
    upload = tab.uploads.get(run.spec.data)
    columns = {name: upload.named(name) for name in run.names} if upload else {}
    return {name: figures.plain(name) + (f" ({columns[name]})" if columns.get(name) else "") for name in run.names}


def _quantity_key(run: Run) -> str:
    return f"quantity.{run.target.name}.{run.target.dim}.{run.spec.data}"


def _quantity(run: Run) -> str:
    """The quantity chosen last for such a run."""
    return st.session_state.get(_quantity_key(run), run.target.paper_quantity)


def _tiles(tab: Session, look: Look) -> list[Tile]:
    job, run = look.job, look.run
    assert job is not None
    assert run is not None
    found = None if look.former else tab.estimates(look.name)
    return [tile for tile in _tile_values(job, run, found, look.name) if tab.choices.view == "full" or tile.simple]


def _tile_values(job: Job, run: Run, found: Estimates | None, name: str) -> Iterator[Tile]:
    rates, shown = run.acceptances, figures.plain(name)
    yield Tile("Acceptance", _share(rates["trajectory"].rate), "Accepted tests of qᴴ, of the whole trajectory.", True)
    if rates["inner"].made.sum():
        yield Tile("Inner updates", _share(rates["inner"].rate), "Accepted updates of qᴼ inside trajectories.")
    if rates["outer"].made.sum():
        yield Tile("Outer updates", _share(rates["outer"].rate), "Accepted updates of qᴼ after trajectories.")
    bulk, tail, rhat = (found.ess_bulk, found.ess_tail, found.rhat) if found else (None, None, None)
    about, rough = ("≈ ", ROUGH.format(found.used)) if found and found.rough else ("", "")
    text = f"Effective sample size of {shown}, for its mean: ArviZ's bulk ESS."
    yield Tile("ESS, bulk", about + _count(bulk), text + rough, True)
    text = f"Effective sample size of {shown}, for its 5 % and 95 % quantiles."
    yield Tile("ESS, tail", about + _count(tail), text + rough)
    agreement = "–" if rhat is None else "undefined" if math.isnan(rhat) else f"{rhat:.4f}"
    yield Tile("R-hat", agreement, f"Agreement of the chains on {shown}; below 1.01 is good.")
    yield _per_gradient(job, found, name)
    yield Tile("Gradients", _large(run.gradients), "Gradients evaluated so far, the warm-up's included.")
    yield Tile("Leapfrogs/s", _large(run.progress.leapfrogs_per_second), "Leapfrogs a second, of all chains together.")
    yield Tile("Non-finite", f"{run.non_finite:,}", "Proposals rejected for an energy that is not finite.")


def _per_gradient(job: Job, found: Estimates | None, name: str) -> Tile:
    """The paper's figure; beside it what the paper has, where it has one."""
    spec = job.spec
    paper = spec.method.paper_ess.get(spec.target) if name == job.target.paper_quantity else None
    text = "Relative bulk ESS divided by the leapfrogs of one draw: the figure of the paper's Table 1."
    if paper:
        at_best = spec.values == spec.method.defaults(spec.target)
        text += " The paper's is at its best settings" + (", which these are." if at_best else ", which these are not.")
    value = "–"
    if found is not None:
        figure = found.ess_bulk / (found.draws * spec.chains * spec.leapfrogs_per_draw)
        value = "undefined" if math.isnan(figure) else f"{figure:.3g}"
    return Tile("ESS / gradient", value, text, True, f"paper {paper:.3g}" if paper else "")


def _large(value: float) -> str:
    """With a unit rather than zeros: 35.2 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def _share(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.3f}"


def _count(value: float | None) -> str:
    if value is None:
        return "–"
    return "undefined" if math.isnan(value) else f"{value:,.0f}"


# ---------------------------------------------------------------------------------------------------- charts


def _charts(tab: Session, look: Look) -> None:
    """Trace and distribution; in the full view the discrete part, running mean and running acceptance as well."""
    wanted = _wanted(tab, look)
    pictures = tab.gallery.show(wanted, look.alive)
    for i in range(0, len(pictures), 2):
        for column, place, picture in zip(st.columns(2), wanted[i : i + 2], pictures[i : i + 2], strict=False):
            with column:
                picture.show(f"chart.{place.key}")


def _wanted(tab: Session, look: Look) -> list[Wanted[LiveChart]]:
    job, run, faded = look.job, look.run, look.former or look.stale
    assert job is not None
    assert run is not None
    about = (job.number, look.name, faded, look.alive, tuple((pin.name, pin.job.number) for pin in tab.pins))
    return [
        Wanted(key, about, run.done, partial(_picture, key, title, make, faded))
        for key, title, make in _makers(tab, run, look.name, look.alive)
    ]


def _picture(key: str, title: str, make: Callable[[], Chart], faded: bool) -> LiveChart:
    chart = make()
    if faded:
        chart.figure.update_traces(opacity=FADED)
    return LiveChart.of(chart.figure, alt=chart.alt, title=title, caption=chart.caption, place=key)


def _outlook(tab: Session, spec: RunSpec) -> None:
    """Before the first run: what there is to find. It also has the browser load what the live charts need."""
    target = tab.target(spec) if spec.data else _target(spec.target, spec.settings)
    name = target.paper_quantity
    truth = target.truth(name)
    nothing = np.empty((0, 0))
    charts = {"trace": ("Trace by chain", figures.trace(nothing, name, spec.sampler)),
              "density": (_distribution_title(target, name), figures.density([], truth, name))}  # fmt: skip
    for column, (key, (title, chart)) in zip(st.columns(2), charts.items(), strict=True):
        with column:
            LiveChart.of(chart.figure, alt=chart.alt, title=title, caption=chart.caption).show(f"chart.{key}")


@st.cache_resource(max_entries=8, show_spinner=False)
def _target(name: str, settings: tuple[tuple[str, Any], ...]) -> Target:
    """A target that was not run yet, built once for all that look at it."""
    return targets.build(name, **dict(settings))


def _makers(tab: Session, run: Run, name: str, alive: bool) -> Iterator[tuple[str, str, Callable[[], Chart]]]:
    """Place, title and maker of each chart."""
    x, sampler = run.get(name), run.spec.sampler
    points = figures.MOST_POINTS_LIVE if alive else figures.MOST_POINTS
    yield "trace", "Trace by chain", lambda: figures.trace(x, name, sampler, run.get(name, warmup=True), points)
    yield "density", _distribution_title(run.target, name), lambda: _distribution(tab, run, name)
    if tab.choices.view == "full":
        view = run.target.shown
        if view.discrete and view.discrete != name and view.discrete in run.names:
            title = f"Discrete part: {figures.plain(view.discrete_title)}"
            yield "mass", title, lambda: _distribution(tab, run, view.discrete)
        truth = run.target.truth(name)
        yield "mean", "Running mean", lambda: figures.running_mean(x, truth, name, sampler)
        yield "rates", "Running acceptance", lambda: figures.running_acceptance(*run.acceptance_history, sampler)


def _distribution_title(target: Target, name: str) -> str:
    return "Distribution against the truth" if target.truth(name) else "Distribution; no truth is known"


def _distribution(tab: Session, run: Run, name: str) -> Chart:
    """The run shown first, pinned runs of the same quantity over it."""
    runs = [("this run", run.spec.sampler, run.get(name))]
    for pin in tab.pins:
        other = pin.job.run
        if other is not None and other is not run and _same_target(other, run) and name in other.names:
            runs.append((pin.name, other.spec.sampler, other.get(name)))
    truth = run.target.truth(name)
    discrete = truth.discrete if truth else np.issubdtype(runs[0][2].dtype, np.integer)
    return (figures.mass if discrete else figures.density)(runs, truth, name)


def _same_target(one: Run, other: Run) -> bool:
    return (one.target.name, one.target.fingerprint) == (other.target.name, other.target.fingerprint)


# ------------------------------------------------------------------------------------------------ after the run


def after(tab: Session) -> None:
    """Diagnostics that need a run at rest, in tabs."""
    job = tab.job
    if (
        tab.choices.view != "full"
        or job is None
        or job.run is None
        or job.alive
        or job.drawn < diagnostics.FEWEST_DRAWS
    ):
        return
    run, sampler = job.run, job.spec.sampler
    st.subheader("Diagnostics")
    name = _quantity(run)
    view = run.target.shown
    one, two = view.pair
    colour = run.get(view.colour) if view.colour else None
    makers: dict[str, Callable[[], Chart]] = {
        "Autocorrelation": lambda: figures.autocorrelation(run.get(name), name, sampler),
        "Ranks": lambda: figures.ranks(run.get(name), name, sampler),
        "Joint scatter": lambda: figures.scatter(run.get(one), run.get(two), (one, two), sampler, colour, view.colour),
        "Energy": lambda: figures.energy(run.get("energy"), sampler),
    }
    *tabs, table = st.tabs([*makers, "All quantities"])
    for place, (title, make) in zip(tabs, makers.items(), strict=True):
        with place:
            chart = make()
            st.plotly_chart(chart.figure, key=f"after.{title}", alt=chart.alt, config={"displaylogo": False})
            st.caption(chart.caption)
    with table:
        _table(run, _labels(tab, run))


@st.cache_data(show_spinner="Working out diagnostics of all quantities …", max_entries=8)
def _summary(_run: Run, spec: RunSpec, drawn: int) -> pd.DataFrame:
    """All quantities: mean, sd, MCSE, ESS, R-hat, truth and z-score."""
    rows = {}
    for name in _run.names:
        e, truth = estimates(np.asarray(_run.get(name), float)), _run.target.truth(name)
        error = math.hypot(e.mcse, truth.mean_se) if truth else math.nan
        z = (e.mean - truth.mean) / error if truth and error > 0 and math.isfinite(truth.mean) else math.nan
        rows[name] = {
            "mean": e.mean, "sd": e.sd, "MCSE": e.mcse, "ESS bulk": e.ess_bulk, "ESS tail": e.ess_tail,
            "R-hat": e.rhat, "truth": truth.mean if truth else math.nan, "z-score": z,
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")


def _table(run: Run, labels: dict[str, str]) -> None:
    frame = _summary(run, run.spec, run.done).rename(index=labels)
    whole = st.column_config.NumberColumn(format="%.0f")
    st.dataframe(frame, column_config={"ESS bulk": whole, "ESS tail": whole,
                                       "R-hat": st.column_config.NumberColumn(format="%.4f"),
                                       "z-score": st.column_config.NumberColumn(format="%.2f")})  # fmt: skip
    source = next((truth.source for truth in run.target.truths.values()), "none known")
    st.caption(
        f"Truth: {source}. The z-score is the distance of the mean from it in Monte Carlo errors; beyond 3 in absolute "
        "value is suspicious. An empty cell is undefined: the quantity never changed, or its truth is not known."
    )
