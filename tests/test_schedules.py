"""P^D: what schedules say of themselves, what the kernel makes of them, and which cannot be."""

from __future__ import annotations

import doctest
import importlib
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

import mahmc
from mahmc import InvalidInput, Run, RunSpec, schedules, targets
from mahmc.compiled import OPTIONS
from mahmc.kernels import Plan
from mahmc.kernels.plan import BACKWARD, FORWARD, KEPT, USES, draw_pair, most_rows
from mahmc.schedules import IID, Schedule, alternate, iid, parse, sequences
from mahmc.schedules.plans import rows_of
from mahmc.streams import Purpose, seeded
from tests.support.parts import with_parts
from tests.support.refusals import refusal_of
from tests.support.stops import stopped_often

SCHEDULES = {
    "alternate(10, 4)": alternate(10, 4),
    "iid(100, 0.9)": iid(100),
    "iid(7, 1.0)": iid(7, 1),
    "iid(100, 0.8, 0.1, 0.1)": iid(100, 0.8, [0.1, 0.1]),
    "iid(9, 0.9, 0.1)": iid(9, 0.9, (0.1,)),
    "iid(9, 0.30000000000000004)": iid(9, 0.1 + 0.2),
    "sequences(0001000)": sequences(["3x0 1 3x0"]),
    "sequences(10x0 1 10x0)": sequences(["0000000000 1 10x0"]),
    "sequences(00102:0.7, 20100:0.3)": sequences(["2x0 1 0 2", (2, 0, 1, 0, 0)], [0.7, 0.3]),
    "sequences(010:0.5, 0:0.5)": sequences(["0 1 0", "0"]),
}


@pytest.mark.quick
@pytest.mark.parametrize(("module", "fewest"), [("constructors", 6), ("laws", 2), ("steps", 3), ("text", 2)])
def test_examples_in_docstrings_run(module: str, fewest: int) -> None:
    part = importlib.import_module(f"mahmc.schedules.{module}")
    found = doctest.testmod(part, extraglobs={"mahmc": mahmc, "schedules": schedules})
    assert found.failed == 0
    assert found.attempted >= fewest


@pytest.mark.parametrize("text", SCHEDULES)
def test_text_and_value_are_the_same(text: str) -> None:
    schedule = SCHEDULES[text]
    assert str(schedule) == text
    assert parse(text) == schedule
    assert hash(parse(text)) == hash(schedule)
    assert parse(f" {text.replace(', ', ',')} ") == schedule


def test_what_they_know_of_themselves() -> None:
    assert (alternate(10, 4).leapfrogs, alternate(10, 4).updates, alternate(10, 4).random) == (40, (3,), False)
    assert alternate(2, 2).log_ratio((0, 0, 1, 0, 0)) == 0.0
    assert alternate(2, 2).log_probability((0, 1, 0)) == -math.inf
    assert iid(100, 0.9).leapfrogs == pytest.approx(90)
    assert iid(100, 0.8, (0.15, 0.05)).updates == pytest.approx((15, 5))
    assert iid(3, 0.5, (0.3, 0.2)).log_probability((0, 2, 1)) == pytest.approx(math.log(0.5 * 0.3 * 0.2))
    assert iid(3, 0.5, (0.3, 0.2)).log_ratio((0, 2, 1)) == 0.0
    mirrored = sequences(["0012", "2100", "010"], [0.4, 0.1, 0.5])
    assert mirrored.leapfrogs == pytest.approx(2.0)
    assert mirrored.updates == pytest.approx((1.0, 0.5))
    assert mirrored.log_ratio((0, 0, 1, 2)) == pytest.approx(math.log(0.1 / 0.4))
    assert mirrored.log_ratio((2, 1, 0, 0)) == pytest.approx(math.log(0.4 / 0.1))
    assert mirrored.random
    assert not sequences(["001", "100"]).random


@pytest.mark.parametrize("text", SCHEDULES)
def test_examples_are_drawn_from_it_and_come_back_with_their_seed(text: str) -> None:
    """4000 of them: leapfrogs and updates have the means it says, within five errors of a mean."""
    schedule = SCHEDULES[text]
    drawn = schedule.examples(4000, seed=3)
    assert drawn[:5] == schedule.examples(5, seed=3)
    assert not schedule.random or drawn[:50] != schedule.examples(50, seed=4)
    assert all(schedule.log_probability(D) > -math.inf for D in drawn[:50])
    for kind, mean in enumerate((schedule.leapfrogs, *schedule.updates)):
        made = np.array([D.count(kind) for D in drawn])
        assert abs(made.mean() - mean) <= 5 * made.std() / math.sqrt(len(drawn)) + 1e-12


def test_an_iid_schedule_of_the_same_mean() -> None:
    for schedule in (alternate(10, 10), alternate(3, 2), alternate(7, 1), iid(50, 0.8, (0.15, 0.05))):
        same = schedules.same_mean(schedule)
        assert same.leapfrogs == pytest.approx(schedule.leapfrogs)
        assert sum(same.updates) == pytest.approx(sum(schedule.updates))
    assert str(schedules.same_mean(alternate(10, 10))) == f"iid(109, {100 / 109!r})"
    assert str(schedules.same_mean(alternate(7, 1))) == "iid(7, 1.0)"
    assert schedules.same_mean(sequences(["0012", "2100"])).updates == pytest.approx((1.0, 1.0))


def test_mirror_images_are_added_where_they_are_missing() -> None:
    assert schedules.mirrored(["001", "010"], [0.6, 0.4]) == sequences(["001", "100", "010"], [0.3, 0.3, 0.4])
    assert schedules.mirrored(["001", "100"]) == sequences(["001", "100"])
    with pytest.raises(InvalidInput, match="cannot be read"):
        schedules.mirrored(["0a1"])


def of_one_direction(rows: np.ndarray, waiting: int) -> list[int]:
    """The steps of a lane that waits while the group `waiting` makes steps."""
    return [int(op) for op, count, lane_group in rows for _ in range(count) if lane_group != waiting]


@pytest.mark.parametrize("cost", [0, 2, 100])
def test_side_by_side_each_direction_makes_its_own_sequence(cost: int) -> None:
    """500 random sequences: forward lanes make D, and backward lanes D⁻¹; of a palindrome all lanes make all steps."""
    rng, target = (
        np.random.default_rng(cost),
        with_parts(targets.gmm(), density={"cost_in_leapfrogs": dict.fromkeys(targets.gmm().density.updates, cost)}),
    )
    for _ in range(500):
        D = rng.choice(3, rng.integers(1, 14), p=[0.6, 0.3, 0.1]).tolist()
        D = D + D[::-1] if rng.random() < 0.2 else D
        rows = rows_of(tuple(D), target, target.density.updates[:2])
        assert of_one_direction(rows, BACKWARD) == D
        assert of_one_direction(rows, FORWARD) == D[::-1]
        assert (D[::-1] == D) == (not rows[:, 2].any())
        assert np.all(rows[rows[:, 0] > 0, 1] == 1)
        if cost == 0:
            assert not rows[rows[:, 0] == 0, 2].any(), "all leapfrogs are made together"


drawn: Callable[..., Any] = numba.njit(**OPTIONS)(lambda plan, rng, iteration: draw_pair(plan, rng, iteration))


def plan_of(schedule: Schedule, *updates: str) -> Plan:
    """The plan of one block."""
    plan = schedule.plan(targets.gmm(), updates).for_a_block()
    assert isinstance(plan, Plan)
    return plan


def pair_in(schedule: Schedule, plan: Plan, k: int) -> tuple[int, ...]:
    """A plan's pair k by the smaller of its two, and right in its share and factor."""
    kinds = {0: 0, targets.gmm().density.number("neighbour"): 1, targets.gmm().density.number("gibbs"): 2}
    D = tuple(kinds[step] for step in of_one_direction(plan.rows[plan.begins[k] : plan.ends[k]], BACKWARD))
    assert plan.forward[k] == pytest.approx(1.0 / (1.0 + math.exp(schedule.log_ratio(D))) if D[::-1] != D else 1.0)
    assert plan.log_ratio[k] == pytest.approx(schedule.log_ratio(D))
    return min(D, D[::-1])


def refuse_unless_by_probability(schedule: Schedule, seen: dict[tuple[int, ...], int]) -> None:
    """Chi-squared of pairs against P(D) + P(D⁻¹), level 1e-6."""
    n = sum(seen.values())
    expected = {D: n * sum(math.exp(schedule.log_probability(one)) for one in {D, D[::-1]}) for D in seen}
    assert sum(expected.values()) == pytest.approx(n, rel=1e-3)  # nothing that can be drawn is missing
    common = [D for D in seen if expected[D] > 5]
    observed, wanted = (np.array([table[D] for D in common]) for table in (seen, expected))
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-6


@pytest.mark.parametrize(
    "schedule",
    [SCHEDULES["sequences(010:0.5, 0:0.5)"],
     sequences(["001", "100", "0102", "2010", "0"], [0.4, 0.2, 0.05, 0.15, 0.2])],
    ids=str,
)  # fmt: skip
def test_the_kernel_draws_pairs_by_their_probability(schedule: Schedule) -> None:
    plan, rng = plan_of(schedule, "neighbour", "gibbs"), seeded(5, 0, Purpose.SHARED)
    begins = [drawn(plan, rng, iteration)[0] for iteration in range(20_000)]
    times = np.bincount(np.searchsorted(plan.begins, begins), minlength=plan.begins.size).tolist()
    refuse_unless_by_probability(schedule, {pair_in(schedule, plan, k): n for k, n in enumerate(times)})


@pytest.mark.parametrize("schedule", [iid(3, 0.5, (0.3, 0.2)), iid(4, 0.9), iid(2, 0.05, (0.9, 0.05))], ids=str)
def test_steps_are_drawn_by_their_probability_and_used_for_a_while(schedule: IID) -> None:
    """Chi-squared, level 1e-6 each: what 40 blocks draw against P^D, and what iterations take of it against chance."""
    iterations, new, taken, replaced = KEPT + KEPT * USES, [], [], 0
    for block in range(40):
        plan, rng = plan_of(schedule, "neighbour", "gibbs"), seeded(5, block, Purpose.SHARED)
        for iteration in range(iterations):
            before = plan.rows.copy(), plan.ends.copy()
            place = np.searchsorted(plan.begins, drawn(plan, rng, iteration)[0])
            assert place <= iteration
            changed = np.flatnonzero((plan.rows != before[0]).any(axis=1))
            since = iteration - KEPT
            if since < 0 or since % USES == 0:
                k = iteration if since < 0 else since // USES
                assert np.isin(changed // most_rows(schedule.steps), k).all()
                new.append(pair_in(schedule, plan, k))
                replaced += since >= 0 and changed.size > 0
            else:
                assert changed.size == 0
                assert np.array_equal(plan.ends, before[1])
                taken.append(place)
    assert len(new) == 40 * 2 * KEPT
    assert replaced > 0.1 * 40 * KEPT  # mostly by a pair like the one before, where few are likely
    refuse_unless_by_probability(schedule, Counter(new))
    assert stats.chisquare(np.bincount(taken, minlength=KEPT)).pvalue > 1e-6


def test_long_sequences_are_kept_one_at_a_time() -> None:
    """Room for many would be gigabytes."""
    plan = plan_of(iid(schedules.MOST_STEPS, 0.5), "gibbs")
    assert plan.rows.nbytes < 3e6
    begin, end, _, _ = drawn(plan, seeded(5, 0, Purpose.SHARED), 0)
    steps = sum(count for _, count, lane_group in plan.rows[begin:end] if lane_group != BACKWARD)
    assert steps == schedules.MOST_STEPS


@pytest.mark.parametrize("leapfrog", [1e-300, 1 - 2**-53])
def test_steps_of_extreme_probabilities_can_be_drawn(leapfrog: float) -> None:
    run = mahmc.sample("gmm", "mahmc", schedule=iid(6, leapfrog), draws=200, warmup=0, chains=8)
    assert run.leapfrogs == pytest.approx(1600 * 6 * leapfrog, rel=0.1)


def test_counts_are_of_what_was_made() -> None:
    """Leapfrogs and updates are counted by chain; what they cost is what was made, not what was to be expected."""
    shared: dict[str, Any] = {"chains": 19, "draws": 300, "warmup": 40, "seed": 2}
    two = mahmc.sample("mdc", "mahmc", schedule="iid(30, 0.8, 0.15, 0.05)", update="gibbs,metropolis", **shared)
    assert two.leapfrogs != 19 * 340 * 24
    assert two.leapfrogs == pytest.approx(19 * 340 * 24, rel=0.02)
    inner, kinds = two.acceptances["inner"], two.update_acceptances
    assert list(kinds) == ["gibbs", "metropolis"]
    assert np.array_equal(inner.made, kinds["gibbs"].made + kinds["metropolis"].made)
    assert np.array_equal(inner.accepted, kinds["gibbs"].accepted + kinds["metropolis"].accepted)
    assert kinds["gibbs"].rate == 1.0
    assert 0.2 < (kinds["metropolis"].rate or 0) < 0.99
    assert two.drawing["leapfrogs"] + inner.made.sum() == 19 * 300 * 30  # each step of each draw is one of the two
    assert two.drawing["updates"] == inner.made.sum() + 19 * 300
    assert two.ess_per_gradient("u") == pytest.approx(two.ess("u") / two.drawing["leapfrogs"])
    mirrored = mahmc.sample("mdc", "mahmc", schedule="sequences(2x0 1 8x0:0.7, 8x0 1 2x0:0.3)", **shared)
    assert mirrored.leapfrogs == 19 * 340 * 10
    assert mirrored.acceptances["inner"].made.tolist() == [300] * 19
    fixed = mahmc.sample("mdc", "mahmc", L=3, n_u=4, **shared)
    assert fixed.drawing == {"leapfrogs": 19 * 300 * 12, "updates": 19 * 300 * 4}
    assert mahmc.sample("mdc", "mahmc", L=3, n_u=4, outer="none", **shared).drawing["updates"] == 19 * 300 * 3


@pytest.mark.parametrize("schedule", ["iid(40, 0.8)", "sequences(2x0 1 40x0:0.7, 40x0 1 2x0:0.3)"])
def test_a_stop_takes_back_the_schedule_as_well(schedule: str) -> None:
    """Long enough that pairs which are kept are replaced (KEPT + KEPT·USES iterations)."""
    spec = RunSpec.of("mdc", "mahmc", schedule=schedule, chains=16, draws=600, warmup=10, seed=5)
    run, whole = stopped_often(spec), Run(spec, threads=1).advance_all()
    assert all(np.array_equal(run.draws[name], whole.draws[name]) for name in run.draws)
    assert run.leapfrogs == whole.leapfrogs
    assert np.array_equal(run.acceptances["inner"].made, whole.acceptances["inner"].made)
    few = mahmc.sample("mdc", "mahmc", schedule=schedule, chains=3, draws=600, warmup=10, seed=5)
    assert np.array_equal(few.draws["u"], whole.draws["u"][:3])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Write it as one of: alternate"),
        ("alternating", "cannot be read"),
        ("iid", "cannot be read"),
        ("iid(100, 0.9", "cannot be read"),
        ("iid()", "cannot be read"),
        ("iid(a, b)", "cannot be read"),
        ("eval(1)", "cannot be read"),
        ("iid(0, 0.9)", "steps = 0"),
        ("iid(2.5, 0.9)", "steps = 2.5"),
        ("iid(100001, 0.9)", "at most 100000"),
        ("iid(1e400, 0.9)", "steps = inf"),
        ("iid(100, 0)", "leapfrog = 0"),
        ("iid(100, 1.5)", "leapfrog = 1.5"),
        ("iid(100, nan)", "leapfrog = nan"),
        ("iid(100, 0.9, 0.2)", "sum to 1.1, not to one"),
        ("iid(100, 0.9, -0.1, 0.2)", "updates = -0.1"),
        ("iid(100, 0.9" + ", 0.01" * 10 + ")", "at most 9"),
        ("alternate(0, 3)", "L = 0"),
        ("sequences()", "is empty"),
        ("sequences(0 a 0)", "cannot be read. Write a digit for each step"),
        ("sequences(10x01)", "cannot be read"),
        ("sequences(99999x0 1 99999x0)", "too long"),
        ("sequences(60000x0:0.5, 60000x0 1 0:0.5)", "at most 100000"),
        ("sequences(001)", "Algorithm 3's factor P(D⁻¹)/P(D) is zero"),
        ("sequences(001:0.7, 010:0.3)", "Add the mirror image"),
        ("sequences(001:0.7, 100:0.2)", "sum to 0.9, not to one"),
        ("sequences(001:1, 100:0)", "weights = 0"),
        ("sequences(010:0.5, 010:0.5)", "twice"),
        ("sequences(010:0.5, 0)", "has no weight"),
        ("sequences(111)", "never move"),
    ],
)
def test_what_cannot_be_is_refused_in_words(text: str, words: str) -> None:
    message = refusal_of(parse, text)
    assert words in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("target", "sampler", "chosen", "words"),
    [
        ("mdc", "mahmc", {"schedule": "iid(100, 0.9)", "L": 10}, "L cannot be given with schedule"),
        ("mdc", "mahmc", {"schedule": "iid(100, 0.9)", "n_u": 10}, "Leave n_u out, or take schedule = alternate"),
        ("mdc", "mahmc", {"schedule": "alternate(3, 4)", "L": 10}, "give one of the two"),
        ("mdc", "mahmc", {"schedule": "iid(100, 0.8, 0.1, 0.1)"}, "update = gibbs names 1"),
        ("mdc", "mahmc", {"schedule": "iid(100, 0.9)", "update": "gibbs,block"}, "has 1 kinds of update"),
        ("mdc", "mahmc", {"update": "gibbs,block"}, "schedule = alternate has 1 kinds"),
        ("mdc", "hmc", {"update": "gibbs,block"}, "hmc has 1 kinds"),
        ("mdc", "mahmc", {"update": "gibbs,gibbs"}, "names an update twice"),
        ("mdc", "mahmc", {"update": "gibbs,neighbour"}, "update 'neighbour' is unknown"),
        ("mdc", "mahmc", {"update": ""}, "update '' is unknown"),
        ("mdc", "mahmc", {"outer": "gibs"}, "Did you mean 'gibbs'?"),
        ("mdc", "hmc", {"schedule": "iid(100, 0.9)"}, "hmc takes no schedule"),
        ("mdc", "mahmc", {"schedule": "iid(100"}, "schedule 'iid(100' cannot be read"),
        ("mdc", "mahmc", {"schedule": 7}, "schedule '7' cannot be read"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(
    target: str, sampler: str, chosen: dict[str, Any], words: str
) -> None:
    message = refusal_of(RunSpec.of, target, sampler, **chosen)
    assert words in message
    assert len(message) < 400


@pytest.mark.parametrize(
    "chosen",
    [
        {"schedule": "iid(100, 0.9)"},
        {"schedule": iid(100, 0.8, (0.1, 0.1)), "update": ("block", "gibbs"), "outer": "metropolis"},
        {"schedule": "sequences(0012:0.7, 2100:0.3)", "update": "gibbs, metropolis"},
        {"outer": "none"},
    ],
    ids=str,
)
def test_specs_keep_schedule_updates_and_outer(chosen: dict[str, Any]) -> None:
    spec = RunSpec.of("mdc", "mahmc", **chosen)
    assert spec.schedule == str(chosen.get("schedule", "alternate"))
    assert RunSpec.from_query(spec.to_query()) == spec
    assert RunSpec.from_json(spec.to_json()) == spec
    assert RunSpec.from_python(spec.to_python()) == spec
    assert hash(RunSpec.from_dict(spec.to_dict())) == hash(spec)
    assert all(isinstance(value, str | int | float | bool | tuple) for value in spec.to_dict().values())


def test_defaults_and_changes_of_a_spec() -> None:
    assert RunSpec.of("mdc", "mahmc").outer == "gibbs"
    assert RunSpec.of("mdc", "naive").outer == "none"
    assert RunSpec.of("gmm", "hmc", update="neighbour").outer == "neighbour"
    spec = RunSpec.of("mdc", "mahmc", schedule="alternate(3, 5)")
    assert (spec.schedule, spec.values["L"], spec.values["n_u"]) == ("alternate", 3, 5)
    random = spec.with_(schedule="iid(20, 0.9)")
    assert random.values == {"epsilon": 0.04}
    assert random.leapfrogs_per_draw == pytest.approx(18)
    assert random.with_(sampler="hmc").values == {"epsilon": 0.035, "L": 40}
    assert random.with_(schedule="alternate").values["n_u"] == 10
    assert spec.with_(update="block").outer == "block"
    assert spec.with_(outer="none", update="block").outer == "none"
    assert spec.with_(outer="none").with_(draws=7).outer == "none"
    old = RunSpec.from_query("target=gmm&sampler=mahmc&update=gibbs&L=2&n_u=3")
    assert (old.outer, old.schedule, old.values["L"]) == ("gibbs", "alternate", 2)


def test_random_schedules_are_compared_by_what_they_cost() -> None:
    samplers = {"fixed": {"sampler": "hmc"}, "drawn": {"sampler": "mahmc", "schedule": "iid(50, 0.9)"}}
    found = mahmc.compare("mdc", samplers, gradients=64_000, replicates=2, chains=4)
    assert set(found.entries["fixed"].cost["leapfrogs"]) == {found.budget}
    costs = found.entries["drawn"].cost["leapfrogs"]
    assert costs[0] != costs[1]
    assert costs == pytest.approx([found.budget] * 2, rel=0.02)
    assert found.figure("drawn").value == pytest.approx(
        np.mean(np.array(found.entries["drawn"].ess["u"]) / np.array(costs))
    )
