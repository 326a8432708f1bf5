"""Right against wrong, side by side from one seed: after how many draws can the eye tell, and when can the test?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import controls, figures
from dashboard.figures import Chart
from dashboard.jobs import LOOKS, Contest
from dashboard.ledger import EXHIBITS, Asked
from dashboard.live_chart import LiveChart
from dashboard.live_status import live_status
from dashboard.session import Session
from mahmc.checks import CASES
from mahmc.checks.margins import CHAINS
from mahmc.checks.verdicts import Round
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Truth

UPDATE_SECONDS = 0.5
QUANTITIES = ("q", "component")
SEEN = 0.25  # of the highest bar: lower ones the eye passes over


def right_against_wrong(tab: Session, asked: Asked) -> bool:
    """Two samplers on one mixture, and a slider for the number of draws. Returns whether they run."""
    st.subheader("Right against wrong", anchor=False)
    exhibit = controls.segmented("Exhibit", tuple(EXHIBITS), asked, "exhibit", "checks.exhibit", titles=_titles())
    case, (_, wrong) = EXHIBITS[exhibit]
    st.markdown(f"Both start from the same exact draws of *{CASES[case].title}*. {EVERY_SAMPLER[wrong].wrong}")
    contest = tab.contests.get((exhibit, asked.settings["seed"]))
    alive = contest is not None and contest.alive
    st.fragment(_live, run_every=UPDATE_SECONDS if alive else None)(tab, asked, exhibit, alive)
    return alive


def _titles() -> dict[str, str]:
    return {
        name: f"{EVERY_SAMPLER[right].title} and {EVERY_SAMPLER[wrong].title}"
        for name, (_, (right, wrong)) in EXHIBITS.items()
    }


def _start(tab: Session, exhibit: str, seed: int) -> None:
    case, samplers = EXHIBITS[exhibit]
    tab.contest(exhibit, Contest(CASES[case], samplers, seed))


def _live(tab: Session, asked: Asked, exhibit: str, was_alive: bool) -> None:
    above, below = st.container(key="contest.status"), st.container(key="contest.charts")
    contest = tab.contests.get((exhibit, asked.settings["seed"]))
    looks = _looks(contest)
    with above:
        if contest is None or not (contest.alive or contest.over):
            st.button("Run both", icon=":material/play_arrow:", key="contest.run", on_click=_start,
                      args=(tab, exhibit, asked.settings["seed"]),
                      help=f"{CHAINS} chains of {LOOKS[-1]:,} draws each, some seconds")  # fmt: skip
        elif contest.problem:
            st.error(contest.problem, icon=":material/error:")
        elif contest.alive:
            live_status(f"Tested after {looks[-1] if looks else 0:,} of {LOOKS[-1]:,} draws of each chain.",
                        contest.share, [], "contest.progress")  # fmt: skip
            st.button("Stop", icon=":material/stop:", key="contest.stop", on_click=contest.stop,
                      help="What was tested until then stays; Run both begins anew.")  # fmt: skip
    if contest is not None and looks:
        with below:
            _shown(asked, contest, looks)
    if was_alive != (contest is not None and contest.alive):
        st.rerun()


def _looks(contest: Contest | None) -> list[int]:
    """After how many draws both have been tested."""
    return [n for n in LOOKS if contest and all(n in rounds for rounds in contest.rounds.values())]


def _shown(asked: Asked, contest: Contest, looks: list[int]) -> None:
    n = controls.choose_stop(
        "Draws of each chain", LOOKS, asked, "draws", "contest.draws",
        help=f"How many draws of each of the {CHAINS} chains the pictures and the test get.",
    )  # fmt: skip
    tested = max((look for look in looks if look <= n), default=looks[0])
    level = asked.settings["level"]
    for column, sampler in zip(st.columns(2), contest.cells, strict=True):
        with column:
            st.markdown(_words(contest, sampler, tested, level))
    for name in QUANTITIES:
        charts = [_histogram(contest, sampler, name, n) for sampler in contest.cells]
        tallest = max(float(np.max(trace.y)) for chart in charts for trace in chart.figure.data)
        for column, sampler, chart in zip(st.columns(2), contest.cells, charts, strict=True):
            chart.figure.update_yaxes(range=[0, 1.08 * tallest])
            with column:
                title = f"{EVERY_SAMPLER[sampler].title}: {figures.plain(name)}"
                LiveChart.of(chart.figure, alt=chart.alt, title=title, height=260).show(
                    f"contest.{name}.{sampler}"
                )  # fmt: skip
        st.caption(charts[0].caption)
    chart = path(contest, level, n)
    LiveChart.of(chart.figure, alt=chart.alt, title="p-value against draws", caption=chart.caption).show("contest.path")
    controls.write_link(asked.link())


def _histogram(contest: Contest, sampler: str, name: str, draws: int) -> Chart:
    run = contest.runs[sampler]
    truth = run.target.truths[name]
    draw = figures.mass if truth.discrete else figures.density
    return draw([(EVERY_SAMPLER[sampler].title, sampler, run.get(name)[:, :draws])], truth, name)


def path(contest: Contest, level: float, now: int) -> Chart:
    """The test's p-values of both, as far as they are known."""
    looks = _looks(contest)
    paths = [
        (EVERY_SAMPLER[sampler].title, sampler, looks, [corrected(rounds[n]) for n in looks])
        for sampler, rounds in contest.rounds.items()
    ]
    return figures.p_value_path(paths, level, now)


def corrected(found: Round) -> float:
    """The smallest p-value, times the number of comparisons."""
    return min(1.0, min(c.p_value for c in found.comparisons) * len(found.comparisons))


def by_eye(x: np.ndarray, truth: Truth) -> float:
    """The largest deviation of a bar from its true height, relative to that, among bars that are not low."""
    values = np.arange(int(truth.support[0]), int(truth.support[1]) + 1)
    true = np.asarray(truth.density(values), float)
    seen = true >= SEEN * true.max()
    share = np.array([(x == k).mean() for k in values])
    return float((np.abs(share - true) / true)[seen].max())


def _words(contest: Contest, sampler: str, n: int, level: float) -> str:
    run = contest.runs[sampler]
    off = by_eye(run.get("component")[:, :n], run.target.truths["component"])
    p_value = corrected(contest.rounds[sampler][n])
    verdict = ":red[**✕ wrong**]" if p_value < level else "no objection"
    return (
        f"**{EVERY_SAMPLER[sampler].title}** after {n:,} draws. By eye: the largest deviation of a component is "
        f"{off:.1%} of its bar's height. The test: {figures.p_is(p_value)}, {verdict} at level "
        f"{figures.digits(level, 2)}."
    )
