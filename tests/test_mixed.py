"""M-HMC: whom it visits and when, what it counts, and that a stop takes it back."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import mahmc
from mahmc import Run, RunSpec, targets
from mahmc.checks import independence
from mahmc.compiled import OPTIONS
from mahmc.kernels import Chunk, MixedParameters, Output, Record, mixed, new_counts, new_state
from mahmc.kernels.mixed import Timetable, draw_gaps
from mahmc.lanes import LANES
from mahmc.schedules import arrivals
from mahmc.streams import Purpose, Seeds, seeded
from tests.support.cases import HARD
from tests.support.stops import stopped_often


@numba.njit(**OPTIONS)
def drawn(timetable: Timetable, rng: np.ndarray) -> None:
    draw_gaps(timetable, rng)


def timetable(sites: int, visits: int, T: float = 3.0) -> Timetable:
    return arrivals(T, visits, 0.1, sites).plan(targets.mdc(), ("metropolis",))


@pytest.mark.parametrize("visits", [1, 5, 10, 13])
def test_gaps_come_over_and_over_and_the_first_and_last_are_parts_of_one(visits: int) -> None:
    table, rng = timetable(5, visits), seeded(1, 0, Purpose.SHARED)
    for _ in range(20):
        drawn(table, rng)
        gaps = table.gaps
        assert gaps.sum() == pytest.approx(3.0)
        assert np.all(gaps > 0)
        assert np.allclose(gaps[1 : visits - 5], gaps[6:visits])
        if visits % 5 == 0 and visits > 5:
            assert gaps[0] + gaps[-1] == pytest.approx(gaps[5])


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_each_variable_is_visited_once_a_round(rounds: int) -> None:
    """At u = 0 a flip of w costs nothing and is always accepted; without time to go anywhere only w changes."""
    target = targets.mdc(n_w=6)
    w = np.arange(6)[None, :] < np.arange(LANES)[:, None]
    q, other = target.density.pack({"u": np.zeros(LANES), "v": np.zeros(LANES), "w": w})
    state, counts = new_state(target, q, other, Seeds(1), 0), new_counts(target)[0]
    table = arrivals(1e-9, 6 * rounds, 1e-9, 6).plan(target, ("metropolis",))
    nothing = Record(np.zeros((LANES, 1, 0)), np.zeros(0, int), np.zeros((LANES, 1, 0), np.int8), np.zeros(0, int), 1)
    parameters, chunk = MixedParameters(1e-9, True, 0), Chunk(0, 1, np.zeros(1, np.uint8))
    mixed(target.density.data, state, table, parameters, Output(nothing, counts), chunk)
    assert np.array_equal(state.other[:6].T == 1.0, w ^ bool(rounds % 2))
    assert sorted(table.order[:, 3].tolist()) == list(range(6))
    assert len({tuple(column) for column in table.order.T}) > 1  # lanes have orders of their own


@pytest.mark.parametrize(("target", "visits"), [("mdc", 7), ("mdc", 40), ("gmm", 1), ("gmm", 12)])
def test_leapfrogs_are_those_made_and_near_the_mean(target: str, visits: int) -> None:
    run = mahmc.sample(target, "m-hmc", visits=visits, chains=19, draws=3_000, warmup=10, seed=4)
    assert run.drawing["leapfrogs"] / (19 * 3_000) == pytest.approx(run.spec.leapfrogs_per_draw, rel=0.02)
    assert run.acceptances["inner"].made.tolist() == [3_000 * visits] * 19
    assert run.acceptances["outer"].rate is None
    assert mahmc.sample(target, "m-hmc", outer="gibbs", draws=20).acceptances["outer"].rate == 1.0


def test_a_stop_takes_back_the_visits_as_well() -> None:
    spec = RunSpec.of("mdc", "m-hmc", T=2.0, visits=20, chains=16, draws=100, warmup=10, seed=5)
    run, whole = stopped_often(spec), Run(spec, threads=1).advance_all()
    assert all(np.array_equal(run.draws[name], whole.draws[name]) for name in run.draws)
    assert (run.leapfrogs, run.drawing) == (whole.leapfrogs, whole.drawing)


def test_chains_of_a_block_are_independent_though_they_share_gaps() -> None:
    """False alarms at most 1e-6."""
    chosen: dict[str, Any] = {"epsilon": 0.75, "T": 2.0, "visits": 3, "update": "modified-gibbs"}
    result = independence(HARD["gmm"][0](), "m-hmc", draws=65536, level=1e-6, seed=3, **chosen)
    assert result.right, str(result)
