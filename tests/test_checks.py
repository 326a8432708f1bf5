"""The checks check: their own false alarms, what they see, what they say when they cannot see, and how they stop."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mahmc
from mahmc import InvalidInput, Run, RunSpec, targets
from mahmc.checks import (
    CASES,
    Checking,
    Size,
    Verdict,
    agreement,
    check,
    compare_samples,
    detailed_balance,
    independence,
    invariance,
    marginals,
    new_cell,
)
from mahmc.checks.flows import enumerate_states
from mahmc.checks.moved import alone_in_blocks
from mahmc.checks.scalars import Statistic, quantile, statistics_of, thinned, whole_distribution
from mahmc.checks.two_samples import mean_ranks
from mahmc.checks.verdicts import ComparedStatistic, Round, Stopped, Workbench, corrected, factors, sequential
from mahmc.run import Block
from mahmc.samplers import SAMPLERS, WRONG_SAMPLERS
from tests.support.cases import pairs
from tests.support.parts import with_parts
from tests.support.verdicts import PAPERS

OVERLAPPING = {"weights": [0.3, 0.4, 0.3], "means": [-1, 0, 1.5], "sds": [0.4, 1, 0.5]}
HARD: dict[str, Any] = {"epsilon": 0.75, "L": 1, "n_u": 2, "update": "metropolis"}


def overlapping() -> targets.Target:
    return targets.gmm(**OVERLAPPING)


def rate_bound(level: float, n: int) -> float:
    """What a rate of `level` stays below among n, up to four standard errors."""
    return level + 4.0 * np.sqrt(level * (1.0 - level) / n)


# ------------------------------------------------------------------------------------------------- two samples


def two_samples(seed: int, n: int, shift: float = 0.0, correlation: float = 0.0) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    samples = []
    for s, r in ((0.0, 0.0), (shift, correlation)):
        x, noise = rng.standard_cauchy(n) + s, rng.standard_cauchy(n)
        samples.append({"x": x, "y": r * x + noise, "k": rng.integers(0, 4, n)})
    return samples


def test_mean_ranks_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    for x in (rng.standard_normal(1000), rng.integers(0, 5, 1000), np.ones(7), np.array([3.0])):
        assert np.array_equal(mean_ranks(x), stats.rankdata(x))


def test_p_values_are_not_too_small_under_equality() -> None:
    """Corrected p-values below 5 % in at most 5 % of 400 repetitions, up to four standard errors."""
    found = [corrected(compare_samples(*two_samples(seed, 500))) for seed in range(400)]
    assert np.mean(np.array(found) < 0.05) < rate_bound(0.05, 400)


def test_differences_are_seen() -> None:
    assert corrected(compare_samples(*two_samples(1, 20_000, shift=0.2))) < 1e-8
    found = {c.what: c.p_value for c in compare_samples(*two_samples(1, 20_000, correlation=0.3))}
    assert found["product of x and y"] < 1e-6


# ------------------------------------------------------------------------------- marginals of autocorrelated draws


def autoregressive(rng: np.random.Generator, rho: float, chains: int = 64, draws: int = 200) -> np.ndarray:
    """Chains of order one with standard normal marginals, from exact starts."""
    x = np.empty((chains, draws))
    x[:, 0] = rng.standard_normal(chains)
    noise = np.sqrt(1.0 - rho**2) * rng.standard_normal((chains, draws))
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    return x


def switching(rng: np.random.Generator, stay: float, chains: int = 64, draws: int = 200) -> np.ndarray:
    """Chains on 0, 1, 2 with masses .15, .3, .55 that are drawn anew only now and then."""
    drawn = rng.choice(3, size=(chains, draws), p=[0.15, 0.3, 0.55])
    anew = rng.random((chains, draws)) > stay
    anew[:, 0] = True
    last = np.maximum.accumulate(np.where(anew, np.arange(draws), 0), axis=1)
    return np.take_along_axis(drawn, last, axis=1)


NORMAL = targets.mdc().truth.scalars["u"]
MASSES = targets.gmm(weights=[0.15, 0.3, 0.55], means=[0, 1, 2], sds=[1, 1, 1]).truth.scalars["component"]


@pytest.mark.parametrize("rho", [-0.5, 0.9, 0.995])
def test_false_alarms_of_marginals_keep_their_rate(rho: float) -> None:
    """Of 200 right samples each p-value is below 2 % at most that often, up to four standard errors.

    From antithetic draws to chains that hardly move within their length: the rule of thinning, and the chain as unit.
    """
    found: dict[str, list[float]] = {}
    for seed in range(200):
        x = autoregressive(np.random.default_rng((seed, 1)), rho)
        comparisons = [s.compare() for s in statistics_of("u", x, NORMAL)]
        whole = whole_distribution("u", x, NORMAL)
        assert whole is not None
        for comparison in (*comparisons, whole):
            found.setdefault(comparison.what, []).append(comparison.p_value)
    assert len(found) == 5
    for what, p_values in found.items():
        assert np.mean(np.array(p_values) < 0.02) <= rate_bound(0.02, 200), what


@pytest.mark.parametrize("stay", [0.0, 0.9, 0.995])
def test_false_alarms_of_masses_keep_their_rate(stay: float) -> None:
    found: dict[str, list[float]] = {}
    for seed in range(200):
        x = switching(np.random.default_rng((seed, 2)), stay)
        whole = whole_distribution("component", x, MASSES)
        assert whole is not None
        for comparison in (*(s.compare() for s in statistics_of("component", x, MASSES)), whole):
            found.setdefault(comparison.what, []).append(comparison.p_value)
    assert len(found) == 4
    for what, p_values in found.items():
        assert np.mean(np.array(p_values) < 0.02) <= rate_bound(0.02, 200), what


@pytest.mark.parametrize(("chains", "visits"), [(256, 5), (256, 20), (256, 100), (64, 40), (16, 20)])
def test_false_alarms_of_rare_events_keep_their_rate(chains: int, visits: int) -> None:
    """An event of probability 0.02, in visits of random length. By the spread alone, up to a tenth were below 0.001."""
    rng, p_values = np.random.default_rng(7), []
    for times in rng.poisson(visits, 3000):
        lengths = np.bincount(rng.integers(0, chains, times), rng.exponential(size=times), chains)
        means = lengths * 0.02 * chains / visits
        p_values.append(Statistic("x", "probability", means, 0.02, 1.0).compare().p_value)
        common = Statistic("x", "probability", 1.0 - means, 0.98, 1.0).compare().p_value
        assert common == pytest.approx(p_values[-1])
    for level in (0.01, 0.001):
        assert np.mean(np.array(p_values) < level) <= rate_bound(level, 3000)


def test_false_alarms_of_variances_keep_their_rate() -> None:
    """Chains that never move: with the spread alone, 1 % were below 0.1 %."""
    squares = np.random.default_rng(8).chisquare(1, (3000, 64))
    found = np.array([Statistic("x", "variance", x, 1.0, 1.0).compare().p_value for x in squares])
    assert np.mean(found < 0.001) <= rate_bound(0.001, 3000)


def test_products_of_rare_events_have_the_error_of_independent_draws_at_least() -> None:
    """Two coins that are rarely one, and never together in these chains: no evidence against independence."""
    rng = np.random.default_rng(9)
    exact = lambda rng, n: {"k": (rng.random((n, 2)) < 0.02).astype(int)}  # noqa: E731
    k = (rng.random((64, 100, 2)) < 0.02).astype(int)
    k[k.all(axis=2)] = 0
    found = marginals({"k": k}, exact, from_exact=True, level=0.01)
    product = next(c for c in found.comparisons if c.what == "product of k[0] and k[1]")
    assert product.p_value > 0.05


def test_without_thinning_the_rate_would_be_wrong() -> None:
    """So that the simulation above means something: a Kolmogorov-Smirnov test of all draws cries wolf."""
    from scipy import stats

    drawn = [autoregressive(np.random.default_rng((seed, 1)), 0.9) for seed in range(40)]
    assert np.mean([stats.kstest(x.ravel(), "norm").pvalue < 0.02 for x in drawn]) > 0.3


def test_thinning_keeps_a_draw_of_each_chain_at_least() -> None:
    rng = np.random.default_rng(3)
    assert thinned(autoregressive(rng, 0.9999)).size == 64
    assert thinned(rng.standard_normal((64, 400))).size > 64 * 25
    assert thinned(np.repeat(rng.standard_normal((64, 1)), 200, axis=1)).size == 64


def test_an_error_of_the_stated_size_is_caught_as_often_as_stated() -> None:
    """`reach` claims nine in ten; 400 repetitions, four standard errors."""
    rng, level = np.random.default_rng(4), 1e-3
    caught = []
    for _ in range(400):
        means = rng.standard_normal(64) / 5.0
        reach = Statistic("x", "mean", means, 0.0, 1.0).reach(level)
        caught.append(Statistic("x", "mean", means + reach, 0.0, 1.0).compare().p_value < level)
    assert abs(np.mean(caught) - 0.9) < 4.0 * np.sqrt(0.09 / 400)


def test_quantiles_by_bisection() -> None:
    assert quantile(NORMAL, 0.1) == pytest.approx(-1.2815515655446)
    tau = targets.blr(prior_only=True).truth.scalars["tau"]
    assert quantile(tau, 0.9) == pytest.approx(100 * np.log(10))
    assert quantile(tau, 1e-6) == pytest.approx(1e-4, rel=1e-5)


def test_infinite_moments_are_not_compared() -> None:
    """β of the prior has Student's t with two degrees of freedom: a mean without an error, no variance."""
    truths = targets.blr(prior_only=True).truth.scalars
    x = np.random.default_rng(5).standard_normal((8, 50))
    assert {s.kind for s in statistics_of("beta[0]", x, truths["beta[0]"])} == {"probability"}
    assert {s.kind for s in statistics_of("tau", x, truths["tau"])} == {"mean", "variance", "probability"}


# ------------------------------------------------------------------------------------------------ the sequence


def finding_of(p_values: list[float], level: float = 1e-3, rounds: int = 3) -> Any:
    rounds_made = [Round((ComparedStatistic("x", p),), 10, "something") for p in p_values]
    return sequential("test", "nothing", lambda number: rounds_made[number - 1], level, rounds)


def test_sequence_decides_or_goes_on() -> None:
    assert finding_of([0.5]).verdict is Verdict.RIGHT
    assert finding_of([1e-6]).verdict is Verdict.WRONG
    later = finding_of([0.01, 0.9])
    assert (later.verdict, later.rounds) == (Verdict.RIGHT, 2)
    assert finding_of([0.01, 1e-4]).verdict is Verdict.WRONG


def test_false_alarms_of_the_sequence() -> None:
    """With uniform p-values, at a level of 5 %, in at most 5 % of 4000 sequences, up to four standard errors."""
    rng = np.random.default_rng(6)
    wrong = [finding_of(list(rng.random(3)), 0.05).wrong for _ in range(4000)]
    assert 0.0 < np.mean(wrong) <= rate_bound(0.05, 4000)


def test_right_is_not_said_by_a_check_that_could_not_see() -> None:
    blind = Round((ComparedStatistic("x", 0.5),), 10, "nothing", enough=False, obstacle="Draw more.")
    found = sequential("test", "nothing", lambda number: blind)
    assert found.verdict is Verdict.UNCLEAR
    assert "Draw more." in found.words


# ------------------------------------------------------------------------------------------- what each check sees


def test_invariance_says_what_was_done() -> None:
    found = invariance("gmm", "mahmc", seed=1)
    assert found.right
    assert found.corrected[0] == min(found.corrected) == found.p_value
    assert "the level is 0.0001" in str(found)
    assert "would have caught changes of" in str(found)


@pytest.mark.parametrize("sampler", WRONG_SAMPLERS)
def test_wrong_samplers_are_called_wrong_where_they_are_shown(sampler: str) -> None:
    """At a fifth of the draws; naive on the paper's GMM, asymmetric on overlapping components."""
    case = {"naive": "gmm", "asymmetric": "gmm-overlapping"}[sampler]
    found = Checking.of([sampler], [case], budget=0.2, seed=0).advance_all()
    assert found.cells[sampler, case].verdict is Verdict.WRONG, found.cells[sampler, case].words


@pytest.mark.parametrize(
    ("case", "sampler"),
    [("mdc", "m-hmc"), ("blr-prior", "mala-pn"), ("blr", "mahmc"), ("gmm", "mala"), ("gmm-overlapping", "hmc")],
)
def test_few_draws_are_not_enough_to_call_a_right_sampler_right(case: str, sampler: str) -> None:
    """False alarms: 1e-4 a cell. The gradient needs no draws."""
    (cell,) = Checking.of([sampler], [case], budget=0.02, seed=1).advance_all().cells.values()
    assert cell.finished
    assert cell.verdict is Verdict.UNCLEAR, cell.words
    assert cell.findings["gradient"].right


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_right_samplers_are_called_wrong_in_none_of_twenty_seeds(sampler: str, case: str) -> None:
    """At the default budget. 28 cells × 20 seeds at 1e-4 each: one is called wrong with probability 0.05."""
    for seed in range(20):
        for cell in Checking.of([sampler], [case], seed=seed).advance_all().cells.values():
            assert cell.verdict is not Verdict.WRONG, cell.words


@pytest.mark.long
@pytest.mark.parametrize(("example", "sampler"), [(t, s) for t, s in pairs(SAMPLERS) if t not in PAPERS])
def test_right_samplers_are_called_wrong_on_no_example_in_twenty_seeds(example: str, sampler: str) -> None:
    """At the default budget, with each update. 22 cells × 20 seeds at 1e-4 each: one with probability 0.04."""
    target = targets.build(example)
    for update in target.density.updates or ("none",):
        values: dict[str, Any] = {"update": update} if target.density.updates else {}
        for seed in range(20):
            cell = mahmc.check(target, sampler, seed=seed, **values)
            assert cell.verdict is not Verdict.WRONG, cell.words


@pytest.mark.parametrize("sampler", ["mahmc", "mala-pn"])
def test_right_samplers_are_called_right(sampler: str) -> None:
    found = Checking.of([sampler], ["gmm-overlapping"], seed=1).advance_all()
    assert found.cells[sampler, "gmm-overlapping"].verdict is Verdict.RIGHT, found.cells[
        sampler, "gmm-overlapping"
    ].words


def test_detailed_balance_sees_naive_flows() -> None:
    right = detailed_balance(overlapping(), "mahmc", seed=2, **HARD | {"n_u": 4})
    wrong = detailed_balance(overlapping(), "naive", seed=2, **HARD | {"n_u": 4})
    assert right.verdict is Verdict.RIGHT, right
    assert wrong.verdict is Verdict.WRONG, wrong
    assert wrong.exhibit.counts.sum() == wrong.draws
    assert "flow from component" in wrong.comparisons[0].what


def test_states_are_enumerated() -> None:
    states = enumerate_states(targets.mdc(n_w=3))
    assert states["w"].shape == (8, 3)
    assert len({tuple(row) for row in states["w"].tolist()}) == 8


def test_agreement_sees_a_sampler_that_is_off() -> None:
    size: dict[str, Any] = {"chains": 32, "draws": 1600, "warmup": 300}
    runs = {name: mahmc.sample("blr", name, seed=9, **size) for name in ("hmc", "mahmc")}
    found = agreement(runs)
    assert found.verdict is Verdict.RIGHT, found
    assert set(found.exhibit.accuracies.values()) == {562 / 569}
    assert "98.77%" in found.compared
    off = mahmc.sample(targets.blr(scale=0.05), "mahmc", seed=9, **size)  # another prior, another posterior
    assert agreement(runs | {"mahmc": off}).verdict is Verdict.WRONG
    assert agreement({"hmc": runs["hmc"]}).verdict is Verdict.UNCLEAR


# ------------------------------------------------------------------------------------------- when it cannot see


def test_too_few_draws_are_not_enough_to_tell() -> None:
    found = check("gmm", "mahmc", budget=0.01)
    assert found.verdict is Verdict.UNCLEAR
    assert "draw more" in found.findings["marginals"].words


def test_chains_that_stand_still_are_not_right() -> None:
    """Nothing moves, so nothing is left that could be seen to change."""
    found = check(overlapping(), "hmc", budget=0.05, epsilon=90.0, L=1, update="metropolis")
    assert found.findings["invariance"].verdict is Verdict.UNCLEAR
    assert "moved" in found.findings["invariance"].words


def test_chains_that_have_not_arrived_are_not_wrong() -> None:
    """BLR's posterior from the usual starts: with a step so small that they hardly leave, and with no warm-up."""
    for size, epsilon in ((Size(32, 60, 10), 0.002), (Size(32, 400, 0), 0.05)):
        found = marginals("blr", "hmc", size, epsilon=epsilon, L=2)
        assert found.verdict is Verdict.UNCLEAR
        assert "chains may still depend on their start" in found.words


def test_a_target_without_truth_cannot_be_checked_for_marginals() -> None:
    assert marginals(targets.blr(scale=7.0), "hmc", Size(8, 8)).verdict is Verdict.UNCLEAR
    assert invariance("blr", "hmc").verdict is Verdict.UNCLEAR
    assert detailed_balance("blr", "hmc").verdict is Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"budget": 0.0}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"level": 0.0}, "level"),
        ({"level": 2.0}, "level"),
    ],
)
def test_bad_wishes_are_refused(wish: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Checking.of(["hmc"], ["gmm"], **wish)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'gmm'"):
        Checking.of(["hmc"], ["gmmm"])
    with pytest.raises(InvalidInput, match="Did you mean 'naive'"):
        Checking.of(["naiv"], ["gmm"])
    with pytest.raises(InvalidInput, match="sum to"):
        check("gmm", "hmc", weights=[0.5, 0.1], means=[0, 1], sds=[1, 1])
    with pytest.raises(InvalidInput, match="epsilon"):
        new_cell(CASES["gmm"], "hmc", epsilon=-1.0)


# ---------------------------------------------------------------------------------------------- stop and go on


def test_stop_keeps_what_is_done_and_goes_on() -> None:
    checking = Checking.of(["hmc", "mahmc"], ["gmm-overlapping"], budget=0.05)
    steps = iter(checking)
    first = next(steps)
    checking.stop()
    assert next(steps, None) is None
    kept = dict(first.cell.findings)
    assert checking.done == 1
    checking.advance_all()
    assert checking.finished
    assert checking.cells["hmc", "gmm-overlapping"].findings["marginals"] is kept["marginals"]


def test_stop_takes_effect_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the midst of a chunk: no block makes an iteration after it, and the check is not counted."""
    checking = Checking.of(["mala"], ["mdc"], budget=100.0)
    advance_block, calls, after = Run._advance_block, count(1), []

    def stopped_at_the_fifth(run: Run, block: Block, goal: int) -> None:
        if next(calls) == 5:
            checking.stop()
        stopped, before = run.stopped, block.done
        advance_block(run, block, goal)
        if stopped:
            after.append(block.done - before)

    monkeypatch.setattr(Run, "_advance_block", stopped_at_the_fifth)
    checking.advance_all()
    assert checking.done == 0
    assert len(after) >= 1
    assert set(after) == {0}


def test_a_stopped_bench_stops() -> None:
    bench = Workbench()
    bench.stop()
    with pytest.raises(Stopped):
        bench.advance(Run(RunSpec.of("gmm", "hmc", draws=10, warmup=0)))
    assert bench.ready().advance(Run(RunSpec.of("gmm", "hmc", draws=10, warmup=0))).finished


def test_same_seed_same_findings() -> None:
    one, two = (check(overlapping(), "mala-pn", budget=0.02, seed=5) for _ in range(2))
    assert one.words == two.words
    assert [f.comparisons for f in one.findings.values()] == [f.comparisons for f in two.findings.values()]
    assert check(overlapping(), "mala-pn", budget=0.02, seed=6).words != one.words


def test_a_p_value_too_small_for_a_number_is_not_called_zero() -> None:
    found = sequential("a check", "nothing", lambda _: Round((ComparedStatistic("it", 0.0),), 1, "much"))
    assert "p-value is below 1e-300 (it), or below 1e-300 when corrected" in found.words


def test_a_target_by_name_takes_its_settings() -> None:
    """As `mahmc.sample` does, in each check; and of one that is built already they are refused."""
    mixture: dict[str, Any] = {"weights": (0.5, 0.5), "means": (-1.0, 1.0), "sds": (1.0, 1.0)}
    assert invariance("blr", "hmc", prior_only=True, draws=256, rounds=1).rounds == 1
    assert marginals("gmm", "mahmc", Size(8, 200, 0), **mixture).comparisons
    assert detailed_balance("gmm", "mahmc", draws=16384, **mixture).comparisons
    assert independence("gmm", "mahmc", draws=256, **mixture).comparisons
    assert check("gmm", "mala", budget=0.02, **mixture).findings
    for one in (invariance, detailed_balance, independence):
        with pytest.raises(InvalidInput, match="means is a setting of gmm, which is already built"):
            one(targets.gmm(), "mala", means=(0.0,))


@pytest.mark.parametrize("name", ["draws", "chains", "warmup", "thin", "start", "keep"])
def test_what_checks_choose_themselves_is_refused(name: str) -> None:
    chosen: dict[str, Any] = {name: 100}
    with pytest.raises(InvalidInput, match=f"the checks choose {name} themselves: use budget"):
        mahmc.check("gmm", "hmc", **chosen)


# ------------------------------------------------------------------------------------------- mistakes that hide


def vectors(seed: int, n: int, d: int, off: str = "", discrete: bool = False) -> list[dict[str, np.ndarray]]:
    """Two samples of a vector with a mistake in one element of the second, or in how two elements go together."""
    rng = np.random.default_rng((seed, 30))
    samples = []
    for wrong in ("", off):
        x = rng.standard_normal((n, d))
        k = 1 + seed % (d - 2)
        if wrong == "element":
            x[:, k] += 0.3
        elif wrong == "pair":
            x[:, k] = 0.5 * x[:, k + 1] + np.sqrt(0.75) * x[:, k]
        elif wrong == "sign":  # each element and each pair is right, three together are not
            x[:, 0] = np.abs(x[:, 0]) * np.sign(x[:, 1] * x[:, 2])
        samples.append({"x": (x > 0).astype(np.int8) if discrete else x})
    return samples


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("off", ["element", "pair"])
@pytest.mark.parametrize("d", [5, 100])
def test_a_mistake_in_one_element_or_pair_is_seen_wherever_it_is(d: int, off: str, discrete: bool) -> None:
    for seed in (3, 44, 97):
        assert corrected(compare_samples(*vectors(seed, 4096, d, off, discrete))) < 1e-6


@pytest.mark.parametrize("d", [5, 130])
def test_false_alarms_of_long_vectors_keep_their_rate(d: int) -> None:
    """Elements, pairs, projections, sums and sorted blocks together: below 5 % at most that often, of 100."""
    found = [corrected(compare_samples(*vectors(seed, 200, d, discrete=seed % 2 == 0))) for seed in range(100)]
    assert np.mean(np.array(found) < 0.05) <= rate_bound(0.05, 100)


def test_what_is_not_looked_at_is_said() -> None:
    from mahmc.checks import functions
    from mahmc.checks.two_samples import unseen

    assert unseen({"x": np.zeros((4, 200))}) == ""
    assert "of 44850 products of pairs" in unseen({"x": np.zeros((4, 300))})
    assert "the distributions of 904 elements, except at 5 points each" in unseen({"x": np.zeros((2, 5000))})
    table = functions.columns({"u": np.zeros(4), "x": np.zeros((4, 3))})
    assert table.names == ("u", "x[0]", "x[1]", "x[2]")
    assert table.vectors == {"x": range(1, 4)}


def test_false_alarms_of_very_long_vectors_keep_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    from mahmc.checks import functions

    monkeypatch.setattr(functions, "MOST_ELEMENTS", 10)
    found = [corrected(compare_samples(*vectors(seed, 200, 60, discrete=seed % 2 == 0))) for seed in range(200)]
    assert np.mean(np.array(found) < 0.05) <= rate_bound(0.05, 200)


def test_known_distributions_without_draws_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no draws of u, whose distribution is known\. There are draws of x"):
        marginals({"x": np.zeros((8, 9))}, {"u": NORMAL})


@pytest.mark.parametrize(("n", "level"), [(500, 1e-3), (4000, 1e-6)])
def test_a_change_of_the_stated_size_is_caught_as_often_as_stated(n: int, level: float) -> None:
    """`smallest_change` claims nine in ten: 300 new samples, four standard errors and the simulation's own error."""
    from mahmc.checks.power import smallest_change
    from mahmc.checks.two_samples import same_distribution

    rng, share, caught = np.random.default_rng(31), smallest_change(n, level), []
    for _ in range(300):
        x, y, point = rng.random(n), rng.random(n), rng.uniform(0.25, 0.75)
        y = np.where((y > point - share) & (y < point), y + share, y)
        caught.append(same_distribution(np.concatenate([x, y]), n) < level)
    assert abs(np.mean(caught) - 0.9) < 4.0 * np.sqrt(0.09 / 300 + 0.09 / 400)


def test_a_mass_of_the_stated_size_is_caught_as_often_as_stated() -> None:
    from mahmc.checks.power import smallest_mass
    from mahmc.checks.two_samples import same_masses

    rng, p, n, level = np.random.default_rng(32), np.array([0.4, 0.35, 0.25]), 2000, 1e-4
    share = smallest_mass(p, n, level)
    q = p + np.array([-share, share, 0.0])
    caught = [same_masses(rng.choice(3, n, p=p), rng.choice(3, n, p=q)) < level for _ in range(300)]
    assert abs(np.mean(caught) - 0.9) < 4.0 * np.sqrt(0.09 / 300 + 0.09 / 400)


def test_a_product_of_the_stated_size_is_caught_as_often_as_stated() -> None:
    """The formula of `moved.reach` against planted errors: two scalars that go together a little, 300 new samples."""
    from mahmc.checks.moved import reach

    rng, n, level = np.random.default_rng(34), 2000, 1e-3
    fresh = rng.random((n, 2))
    stated = reach({"x": fresh[:, 0], "y": fresh[:, 1]}, compare_samples({"x": fresh}, {"x": fresh}), level)["product"]
    caught = []
    for _ in range(300):
        a, b = ({"x": part} for part in rng.random((2, n, 2)))
        together = rng.random(n) < stated  # the mean of a product of standardised ranks is their correlation
        b["x"][together, 1] = b["x"][together, 0]
        found = compare_samples(a, b)
        product = next(c for c in found if c.family == "products")
        caught.append(product.p_value * factors(found)["products"] < level)
    assert abs(np.mean(caught) - 0.9) < 4.0 * np.sqrt(0.09 / 300)


def chi_squared_by_hand(x: np.ndarray, y: np.ndarray) -> float:
    """The p-value, where each value came up at least 40 times."""
    values = np.unique(np.concatenate([x, y]))
    table = np.array([[(part == value).sum() for value in values] for part in (x, y)])
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(stats.chi2.sf(((table - expected) ** 2 / expected).sum(), values.size - 1))


def test_chi_squared_p_values_are_those_of_the_formula() -> None:
    from mahmc.checks.two_samples import same_masses

    rng = np.random.default_rng(33)
    for k, n, m in ((2, 1000, 1000), (2, 400, 3000), (5, 2000, 500)):
        x, y = (
            rng.choice(k, n, p=np.full(k, 1 / k)),
            rng.choice(k, m, p=np.linspace(1, 2, k) / np.linspace(1, 2, k).sum()),
        )
        assert same_masses(x, y) == pytest.approx(chi_squared_by_hand(x, y), rel=1e-9)
    assert same_masses(np.zeros(50), np.zeros(60)) == 1.0
    assert same_masses(np.array([0] * 99 + [1]), np.zeros(100)) == 1.0  # the one is too rare to be looked at


def test_p_values_of_counts_are_those_of_the_likelihood_ratio() -> None:
    """States that were never seen count as well; rare ones are put together."""
    from mahmc.custom.laws import _same_counts

    seen, expected = np.array([30.0, 0.0, 50.0, 20.0]), np.array([25.0, 15.0, 45.0, 15.0])
    ratio = 2.0 * sum(s * np.log(s / e) for s, e in zip(seen, expected, strict=True) if s > 0)
    assert _same_counts(seen, expected) == pytest.approx(float(stats.chi2.sf(ratio, 3)), rel=1e-9)
    together = _same_counts(np.append(seen, [1.0, 0.0]), np.append(expected, [0.5, 0.5]))
    assert together != _same_counts(seen, expected)
    assert _same_counts(np.array([3.0, 1.0]), np.array([2.0, 2.0])) == 1.0  # too few to be looked at apart


def test_planted_errors_agree_with_the_formula_for_chains() -> None:
    statistic = Statistic("x", "mean", np.random.default_rng(33).standard_normal(256), 0.0, 1.0, truth_error=0.02)
    assert statistic.planted_reach(1e-5) == pytest.approx(statistic.reach(1e-5), rel=0.15)


def frozen(states: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Of a vector of independent normals all are drawn anew but the last, which is never touched."""
    return {"x": np.column_stack([rng.standard_normal((len(states["x"]), 9)), states["x"][:, 9:]])}


def test_an_element_that_never_changes_is_wrong() -> None:
    """Exact draws stay exact, so only long chains can tell."""

    def exact(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        return {"x": rng.standard_normal((n, 10))}

    assert invariance(step=frozen, exact=exact).right
    rng = np.random.default_rng(34)
    states, draws = exact(rng, 128), []
    for _ in range(200):
        states = frozen(states, rng)
        draws.append(states["x"])
    found = marginals({"x": np.stack(draws, axis=1)}, exact, from_exact=True)
    assert found.wrong
    assert found.comparisons[0].what == "x[9] never changes in any chain"


def test_a_value_that_is_never_reached_is_wrong() -> None:
    """Chains that start at 2 stay there, others never go there: the mass is right, and no chain mixes."""
    rng = np.random.default_rng(35)
    k = rng.integers(0, 2, (256, 400))
    k[rng.random(256) < 0.2] = 2
    exact = lambda rng, n: {"k": rng.choice(3, n, p=[0.4, 0.4, 0.2])}  # noqa: E731
    found = marginals({"k": k}, exact, from_exact=True)
    assert found.wrong
    assert found.comparisons[0].what == "k never becomes 2 in any chain"


def test_little_power_is_not_enough_to_tell() -> None:
    """The naive sampler with exact draws alone: wrong at the default budget, and never right with few draws."""
    bare = with_parts(targets.gmm(), truth={"make_scalars": dict})  # exact draws, no densities
    assert check(bare, "naive").verdict is Verdict.WRONG
    few = check(bare, "naive", budget=0.01)
    assert few.verdict is not Verdict.RIGHT
    assert few.findings["invariance"].verdict is Verdict.UNCLEAR
    assert "this check must catch changes of 0.05 in a probability" in few.findings["invariance"].words


@pytest.mark.parametrize("sampler", ["hmc", "mala-pn"])
def test_the_gradient_check_sees_every_coordinate(sampler: str) -> None:
    from mahmc.checks.gradients import check_gradient
    from mahmc.checks.subjects import EngineSubject

    target = targets.blr(prior_only=True)
    assert check_gradient(EngineSubject(target, sampler)).right
    data = target.density.data._replace(X=np.ones((1, 31)), X_transposed=np.zeros((31, 1)), y=np.ones(1))
    other = with_parts(target, density={"data": data, "n_scratch": 1})  # U has a term that ∇U has not
    found = check_gradient(EngineSubject(other, sampler))
    assert found.wrong
    assert "the gradient of beta[0] is" in found.words


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.integers(0, 3, n),
        lambda rng, n: (rng.random(n) < 0.1).astype(int),
    ],
    ids=["normal", "three values", "a rare one"],
)
def test_false_alarms_of_independence_keep_their_rate(draw: Any) -> None:
    """Few blocks, whose sum of products is skewed: 3000 p-values, four standard errors.

    With an error estimated from the blocks, 0.7 % of them were below 0.001.
    """
    rng, n = np.random.default_rng(5), 816
    ranks = [(mean_ranks(draw(rng, n)) - 0.5) / n - 0.5 for _ in range(1500)]
    found = np.array([alone_in_blocks(f(x)) for x in ranks for f in (np.asarray, np.square)])
    for level in (0.05, 0.01, 0.001):
        assert (found < level).mean() <= rate_bound(level, found.size)


@pytest.mark.parametrize("together", [1.0, -1.0])
def test_independence_sees_one_chain_in_eight_that_follows_its_neighbour(together: float) -> None:
    x = np.random.default_rng(6).standard_normal((2048, 8))  # as many as by default
    x[:, 1] = together * x[:, 0]
    ranks = (mean_ranks(x.ravel()) - 0.5) / x.size - 0.5
    assert alone_in_blocks(ranks) < 1e-4


@pytest.mark.long
def test_the_level_of_ten_thousand_small_checks() -> None:
    """Invariance of a right sampler at a level of 1 %: 10 000 checks, at most four standard errors above it."""
    exact = lambda rng, n: {"x": rng.standard_normal((n, 6)), "k": rng.integers(0, 3, (n, 4))}  # noqa: E731

    def step(states: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
        x = states["x"] + 0.5 * rng.standard_normal(states["x"].shape)
        ratio = np.exp(0.5 * (states["x"] ** 2 - x**2))
        return {"x": np.where(rng.random(x.shape) < ratio, x, states["x"]), "k": rng.integers(0, 3, states["k"].shape)}

    wrong = [invariance(step=step, exact=exact, draws=256, level=0.01, seed=seed).wrong for seed in range(10_000)]
    assert 0.0 < np.mean(wrong) <= rate_bound(0.01, 10_000)
