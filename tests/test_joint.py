"""Parameters and data together: Geweke's test and calibration, of custom models too; agreement; detailed balance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mahmc
from mahmc import InvalidInput, targets
from mahmc.checks import Verdict
from mahmc.checks.agree import _reach, _spread, _welch, agreement
from mahmc.checks.flows import Flows, applies, detailed_balance, enumerable, enumerate_states
from mahmc.checks.flows import judge as judge_flows
from mahmc.checks.joint import calibration, joint_distribution, paired
from mahmc.checks.ranks import Ranks, rank, smallest_rank_change
from mahmc.checks.simulated import Simulated, version, what_to_add
from mahmc.custom import discrete, real, sigmoid, softplus, uniform, update, where
from mahmc.targets import FAMILIES, TargetFamily
from tests.support.custom import registered

pytestmark = pytest.mark.usefixtures("families_as_before")
CHECKS = [joint_distribution, calibration]
VALUES: dict[str, dict[str, Any]] = {"hmc": {"epsilon": 0.9, "L": 2}, "mahmc": {"epsilon": 0.9, "L": 1, "n_u": 3}}


class Counts:
    """x_j ~ N(0, 1), side ~ Bernoulli(0.4), y_j ~ Binomial(4, sigmoid(x_j + side)); no exact draws."""

    trials: float = 4.0  # in U alone: another number is a mistake
    last: float = 4.0  # likewise, of the last y
    y: np.ndarray

    def data(self) -> dict[str, Any]:
        return {"y": np.array([1, 3])}

    def variables(self) -> Any:
        return real("x", 2), discrete("side")

    def U(self, q, other):
        total = -other[0] * np.log(0.4 / 0.6)
        for j in range(2):
            n = self.trials if j == 0 else self.last
            total += q[j] ** 2 / 2 + n * softplus(q[j] + other[0]) - self.y[j] * (q[j] + other[0])
        return total

    def grad_U(self, q, other, grad):
        for j in range(2):
            n = self.trials if j == 0 else self.last
            grad[j] = q[j] + n * sigmoid(q[j] + other[0]) - self.y[j]

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        cost, old = -np.log(0.4 / 0.6), other[0]
        for j in range(2):
            n = self.trials if j == 0 else self.last
            cost += n * (softplus(q[j] + 1) - softplus(q[j])) - self.y[j]
        other[0] = where(uniform(rng) < sigmoid(-cost), 1.0, 0.0)
        for j in range(2):
            n = self.trials if j == 0 else self.last
            grad[j] += n * (sigmoid(q[j] + other[0]) - sigmoid(q[j] + old))
        return (other[0] - old) * cost

    def prior(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        return {"x": rng.standard_normal((n, 2)), "side": rng.random(n) < 0.4}

    def simulate(self, parameters: dict[str, Any], rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"y": rng.binomial(4, 1 / (1 + np.exp(-parameters["x"] - parameters["side"])))}


@pytest.fixture(scope="module")
def counts() -> TargetFamily:
    family = registered(Counts)
    FAMILIES.pop("counts")
    return family


# -------------------------------------------------------------------------------------------------- custom models


@pytest.mark.parametrize("judge_by", CHECKS)
@pytest.mark.parametrize("sampler", ["mahmc", pytest.param("hmc", marks=pytest.mark.long)])
def test_a_custom_model_is_checked_without_exact_draws(
    counts: TargetFamily, judge_by: Callable[..., Any], sampler: str
) -> None:
    """Right where U is that of the simulated data; wrong where U has other trials, in all y or in the last alone."""
    target = counts()
    assert target.truth.exact is None
    right = judge_by(target, sampler, seed=1, **VALUES[sampler])
    assert right.verdict is Verdict.RIGHT, right
    for mistake in ({"trials": 5.0, "last": 5.0}, {"last": 5.0}):
        wrong = judge_by(counts(**mistake), sampler, seed=1, **VALUES[sampler])
        assert wrong.verdict is Verdict.WRONG, wrong
    assert min(c.p_value for c in wrong.comparisons if "x[1]" in c.what) < 1e-10


@pytest.mark.parametrize("judge_by", CHECKS)
def test_few_data_sets_are_not_enough_to_tell(counts: TargetFamily, judge_by: Callable[..., Any]) -> None:
    found = judge_by(counts(), "hmc", draws=512, **VALUES["hmc"])
    assert found.verdict is Verdict.UNCLEAR
    assert "For a verdict of right, this check must catch" in found.words


def test_equal_data_sets_share_a_run(counts: TargetFamily) -> None:
    drawn = Simulated.draw(counts(), 2000, np.random.default_rng(1))
    assert len(drawn.groups) == 25
    assert sorted(np.concatenate(drawn.groups)) == list(range(2000))
    for rows, posterior in drawn.posteriors():
        assert (drawn.data["y"][rows] == posterior.density.data.y).all()
        assert posterior.fingerprint == "simulated"
    some = drawn.groups[3]
    packed = counts().density.pack({name: x[some] for name, x in drawn.parameters.items()})
    one = next(posterior for rows, posterior in drawn.posteriors() if rows is some)
    assert np.allclose(drawn.energies()[some], mahmc.kernels.energies(one, *packed))


class Normal:
    """Data that are never equal: mu ~ N(0, 1), y_j ~ N(mu, 1), of which there are twenty."""

    spread: float = 1.0  # in U alone
    y: np.ndarray

    def data(self) -> dict[str, Any]:
        return {"y": np.linspace(-1.0, 1.0, 20)}

    def variables(self) -> Any:
        return real("mu")

    def U(self, q):
        total = q[0] ** 2 / 2
        for j in range(20):
            total += (self.y[j] - q[0]) ** 2 / (2 * self.spread**2)
        return total

    def grad_U(self, q, grad):
        grad[0] = q[0]
        for j in range(20):
            grad[0] -= (self.y[j] - q[0]) / self.spread**2

    def prior(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        return {"mu": rng.standard_normal(n)}

    def simulate(self, parameters: dict[str, Any], rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"y": rng.normal(parameters["mu"], 1.0, 20)}


def test_false_alarms_of_differences_keep_their_rate() -> None:
    """Stationary steps of x and of a coin, beside data: 400 samples at 1 %, up to four standard errors."""
    p_values = []
    for seed in range(400):
        rng = np.random.default_rng((seed, 7))
        y, x, coin = rng.standard_normal((300, 2)), rng.standard_cauchy(300), rng.integers(0, 2, 300)
        again = rng.random(300) < 0.5
        after = {
            "x": np.where(again, rng.standard_cauchy(300), x),
            "coin": np.where(again, rng.integers(0, 2, 300), coin),
        }
        found = paired({"x": x, "coin": coin, "y": y}, {**after, "y": y})
        assert not any(c.what.startswith("y[") for c in found)  # which never changes
        p_values += [c.p_value for c in found if c.what.startswith(("x ", "spread of x", "product of x and y[1]"))]
    assert len(p_values) == 1200
    assert np.mean(np.array(p_values) < 0.01) <= 0.01 + 4.0 * np.sqrt(0.01 * 0.99 / 1200)


def test_data_sets_that_differ_have_runs_of_their_own() -> None:
    normal = registered(Normal)
    values: dict[str, Any] = {"epsilon": 0.2, "L": 3, "seed": 2}
    for judge_by in CHECKS:
        assert not judge_by(normal(), "hmc", draws=400, **values).wrong
        assert judge_by(normal(spread=1.6), "hmc", draws=400, **values).wrong


def test_a_parameter_that_never_moves_is_not_right(counts: TargetFamily) -> None:
    """It keeps its distribution for ever."""
    for judge_by in CHECKS:
        found = judge_by(counts(), "hmc", seed=1, outer="none", **VALUES["hmc"])
        assert found.verdict is Verdict.UNCLEAR, found
        assert "No chain moved side" in found.words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"simulate": None}, "prior is of no use without simulate(self, parameters, rng)"),
        ({"prior": None}, "simulate is of no use without prior(self, rng, n)"),
        ({"simulate": lambda self, rng: {}}, "must have the arguments simulate(self, parameters, rng)"),
        ({"prior": lambda self, rng, n: {"x": np.zeros((n, 2))}}, "Counts.prior gives x; it must give x, side"),
        ({"prior": lambda self, rng, n: {"x": np.zeros(n), "side": np.zeros(n)}}, "prior gives x of shape (3,)"),
        ({"simulate": lambda self, p, rng: {"z": 1.0}}, "simulate: data field 'z' is unknown"),
        (
            {"simulate": lambda self, p, rng: {"y": np.zeros(3, int)}},
            "simulate gives y of shape (3,); data(self) makes",
        ),
        ({"simulate": lambda self, p, rng: {"y": np.array([0.5, 1.0])}}, "data(self) makes whole numbers"),
        ({"simulate": lambda self, p, rng: {"y": np.array([np.nan, 1.0])}}, "data 'y' has values that are not finite"),
        ({"simulate": lambda self, p, rng: None}, "return a mapping with the random data fields"),
        ({"small": lambda self: {"size": 3}}, "Counts.small: setting 'size' is unknown"),
        ({"small": lambda self: {"trials": "x"}}, "trials = 'x' is not allowed"),
        ({"small_values": {"epsilom": 3}}, "Did you mean 'epsilon'?"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_model_that_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        registered(Counts, **changes)()
    assert words in str(refusal.value)


def test_what_is_missing_is_said_with_an_example(counts: TargetFamily) -> None:
    bare = registered(Counts, prior=None, simulate=None, name="bare")()
    assert version(bare) is None
    for text in (what_to_add(bare), joint_distribution(bare, "hmc").words, calibration(bare, "hmc").words):
        assert "def prior(self, rng, n): return" in text
        assert "def simulate(self, parameters, rng): return" in text
    assert version(counts()) is counts()


# ------------------------------------------------------------------------------------------- logistic regression


@pytest.mark.parametrize("judge_by", CHECKS)
def test_logistic_regression_uses_the_same_hooks(judge_by: Callable[..., Any]) -> None:
    values: dict[str, Any] = {"L": 2, "n_u": 3}
    right = judge_by("blr", "mahmc", seed=3, **values)
    assert right.verdict is Verdict.RIGHT, right
    assert "a small version of blr" in right.compared
    assert judge_by("blr", "naive", draws=2048, seed=3, **values).verdict is Verdict.WRONG
    values = {"schedule": "iid(8, 0.75)"}  # which says itself how many leapfrogs there are
    assert not judge_by("blr", "mahmc", draws=1024, seed=3, **values).wrong
    assert judge_by("blr", "naive", draws=1024, seed=3, **values).verdict is Verdict.WRONG


def test_a_small_version_of_logistic_regression_is_one() -> None:
    small = version(targets.blr(walk=0.3))
    assert small is not None
    assert small.density.dim == 2
    assert small.settings["walk"] == 0.3
    assert version(targets.blr(prior_only=True)) is None


# ------------------------------------------------------------------------------------------------ ranks and power


def conjugate(draws: int = 31, shift: float = 0.0, spread: float = 1.0) -> dict[str, Any]:
    """mu ~ N(0, 1), two means, y ~ N(mu, 1): the posterior is N(y/2, 1/2). k is a coin that nothing is known of."""
    return {
        "prior": lambda rng, n: {"mu": rng.standard_normal((n, 2)), "k": rng.integers(0, 2, n)},
        "simulate": lambda parameters, rng: parameters["mu"] + rng.standard_normal(2),
        "fit": lambda y, rng: {
            "mu": y / 2 + np.array([0, shift]) + spread * np.sqrt(0.5) * rng.standard_normal((draws, 2)),
            "k": rng.integers(0, 2, draws),
        },
    }


def test_calibration_of_anybodys_inference() -> None:
    found = calibration(**conjugate(), draws=8192)
    assert found.verdict is Verdict.RIGHT, found
    assert set(found.exhibit.ranks) == {"mu[0]", "mu[1]", "k"}
    for wrong in (conjugate(shift=0.25), conjugate(spread=0.7)):
        found = calibration(**wrong, draws=2048)
        assert found.verdict is Verdict.WRONG, found
        assert "ranks of mu[" in found.comparisons[0].what
    assert calibration(**conjugate(100), draws=400, ranked=20).verdict is Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fit": None}, "fit is missing: prior, simulate and fit are needed together"),
        ({"fit": 3}, "fit = '3' is not a function"),
        ({"target": "blr"}, "target cannot be given together with prior, simulate and fit"),
        ({"epsilon": 0.1}, "epsilon cannot be given together with prior, simulate and fit"),
        ({"prior": lambda rng, n: {"mu": np.zeros((3, 2))}}, "prior: mu has the shape (3, 2); its length must be 40"),
        ({"prior": lambda rng, n: np.zeros(n)}, "prior(rng, n) must return a mapping"),
        ({"fit": lambda y, rng: {"mu": np.zeros((31, 2))}}, "fit gives draws of mu, and prior gives mu, k"),
        (
            {"fit": lambda y, rng: {"mu": np.zeros((31, 3)), "k": np.zeros(31)}},
            "fit: mu has the shape (31, 3); it must",
        ),
        (
            {"fit": lambda y, rng: {"mu": np.zeros((9, 2)), "k": np.zeros(9)}},
            "fit gives 9 draws of mu: at least ranked",
        ),
        ({"fit": lambda y, rng: {"mu": np.zeros((32, 2)), "k": np.zeros(31)}}, "different numbers of draws"),
        ({"fit": lambda y, rng: {"mu": np.full((31, 2), np.nan), "k": np.zeros(31)}}, "fit: mu has 62 values that are"),
        ({"fit": lambda y, rng: {"mu": "many", "k": np.zeros(31)}}, "fit: mu is not an array of numbers"),
        ({"fit": lambda y, rng: np.zeros(31)}, "fit(data, rng) returned ndarray; a mapping"),
        ({"draws": 3}, "draws = 3 is not allowed"),
        ({"ranked": 0}, "ranked = 0 is not allowed"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
@pytest.mark.quick
def test_bad_input_of_calibration_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        calibration(**{**conjugate(), "draws": 40, **changes})
    assert words in str(refusal.value)


@pytest.mark.quick
def test_calibration_needs_something_to_calibrate() -> None:
    with pytest.raises(InvalidInput, match="give a target and a sampler, or the functions prior, simulate and fit"):
        calibration("blr")


@pytest.mark.quick
def test_ranks_of_equal_values_are_drawn() -> None:
    """All values equal: any rank is as probable. 8000 ranks, chi-squared, false alarms 1e-6."""
    ranks = rank(np.zeros((8000, 1)), np.zeros((8000, 7, 1)), np.random.default_rng(1))
    assert stats.chisquare(np.bincount(ranks[:, 0], minlength=8)).pvalue > 1e-6


@pytest.mark.parametrize(("n", "ranked", "bins"), [(64, 31, 3), (400, 31, 16), (4000, 20, 16)])
def test_false_alarms_of_calibration_keep_their_rate(n: int, ranked: int, bins: int) -> None:
    """Uniform ranks, also in bins that do not divide them evenly: 2500 tests at 1 %, up to four standard errors."""
    rng = np.random.default_rng(2)
    names = [str(i) for i in range(2500)]
    drawn = Ranks(dict(zip(names, rng.integers(0, ranked + 1, (2500, n)), strict=True)), ranked, bins)
    p_values = np.array([comparison.p_value for comparison in drawn.compare()])
    assert np.mean(p_values < 0.01) <= 0.01 + 4.0 * np.sqrt(0.01 * 0.99 / 2500)


def test_an_error_in_ranks_of_the_stated_size_is_caught_as_often_as_stated() -> None:
    """Nine in ten, of 2000 tests, up to four standard errors; and a smaller one is not."""
    n, bins, level = 2048, 16, 1e-5
    reach = smallest_rank_change(n, bins, level)
    rng = np.random.default_rng(3)
    caught = []
    for change in (reach, 0.7 * reach):
        mass = np.full(bins, 1.0 / bins) + np.tile([change, -change], bins // 2) * 2 / bins
        counts = rng.multinomial(n, mass, 2000)
        drawn = Ranks({str(i): np.repeat(np.arange(bins), row) for i, row in enumerate(counts)}, bins - 1, bins)
        caught.append(np.mean([comparison.p_value < level for comparison in drawn.compare()]))
    assert abs(caught[0] - 0.9) < 4.0 * np.sqrt(0.09 / 2000) + 0.02
    assert caught[1] < 0.6


# ----------------------------------------------------------------------------------------------------- agreement


def test_agreement_is_of_any_quantity_of_any_target() -> None:
    size: dict[str, Any] = {"chains": 32, "draws": 1500, "warmup": 100, "epsilon": 0.75, "L": 2, "seed": 4}
    mixture = targets.gmm(weights=(0.4, 0.6), means=(-1.0, 1.0), sds=(0.6, 0.9))
    other = targets.gmm(weights=(0.4, 0.6), means=(-1.0, 1.0), sds=(0.6, 1.3))  # the same weights and means
    runs = {name: mahmc.sample(mixture, name, **size) for name in ("hmc", "mahmc")}
    found = agreement(runs)
    assert found.verdict is Verdict.RIGHT, found
    assert found.exhibit.names == ("q", "component", "energy")
    assert found.exhibit.means["hmc"].shape == found.exhibit.errors["mahmc"].shape == (3,)
    assert not found.exhibit.accuracies
    off = agreement(runs | {"mahmc": mahmc.sample(other, "mahmc", **size)})
    assert off.verdict is Verdict.WRONG, off
    still = agreement({name: mahmc.sample(mixture, name, **size, outer="none") for name in ("hmc", "mala")})
    assert still.unseen == "component, which changed in no chain"
    assert still.exhibit.names == ("q", "energy")
    assert agreement({"hmc": runs["hmc"]}).verdict is Verdict.UNCLEAR


def test_agreement_of_short_chains_is_not_enough_to_tell() -> None:
    size: dict[str, Any] = {"chains": 8, "draws": 20, "warmup": 100, "seed": 4}
    found = agreement({name: mahmc.sample("mdc", name, **size) for name in ("hmc", "mahmc")})
    assert found.verdict is Verdict.UNCLEAR
    assert "even for " in found.catches


@pytest.mark.parametrize("k", [2, 5])
def test_an_error_of_the_stated_size_is_seen_by_agreement(k: int) -> None:
    """Planted in one sampler of k with 32 chains each: nine in ten of 1000, up to four errors and what t is off by."""
    rng, level, n = np.random.default_rng(5), 1e-4, np.full((k, 1), 32)
    chains = rng.standard_normal((k, 32, 1000))
    errors = chains.std(axis=1, ddof=1) / np.sqrt(32)
    assert np.mean(_welch(list(chains)) < 0.01) < 0.01 + 4 * np.sqrt(0.01 / 1000)
    chains[0] += np.mean(_reach(errors, n, level))
    assert 0.85 < np.mean(_welch(list(chains)) < level) <= 1.0


def welch_by_hand(m: np.ndarray, e: np.ndarray, n: np.ndarray) -> np.ndarray:
    """p-values of equal expectations, column by column, of k means m with errors e from n values each (Welch 1951)."""
    k, w = len(m), 1.0 / e**2
    pooled = (w * m).sum(axis=0) / w.sum(axis=0)
    spread = (np.square(1.0 - w / w.sum(axis=0)) / (n - 1)).sum(axis=0)
    F = (w * (m - pooled) ** 2).sum(axis=0) / (k - 1) / (1.0 + 2.0 * (k - 2) / (k**2 - 1) * spread)
    return stats.f.sf(F, k - 1, (k**2 - 1) / (3.0 * spread))


def test_agreement_gives_the_p_values_of_welchs_formula() -> None:
    """Of samplers with different numbers of chains and spreads, one of which stands still in one quantity."""
    rng = np.random.default_rng(8)
    samples = [rng.normal(0.1 * i, 1.0 + i, (8 * (i + 1), 40)) for i in range(3)]
    samples[1][:, 7] = 0.25
    spread = [_spread(x, np.full(40, 1e-9)) for x in samples]
    m = np.array([x.mean(axis=0) for x in samples])
    e = np.maximum([x.std(axis=0, ddof=1) / np.sqrt(len(x)) for x in samples], 1e-9)
    n = np.array([[len(x)] for x in samples])
    found = _welch(spread)
    assert found == pytest.approx(welch_by_hand(m, e, n), rel=1e-6)
    assert found.min() < 0.05 < found.max()


# ----------------------------------------------------------------------------------------------- detailed balance


def test_flows_that_are_looked_at_would_show() -> None:
    """Pairs with little flow are counted and left out; of those looked at, the worst shows 25 % nine times in ten."""
    rng = np.random.default_rng(6)
    flows = np.array([[0, 4000, 30], [4000, 0, 2500], [30, 2500, 0]])
    found = judge_flows(Flows(("a", "b", "c"), flows), 20_000, 1e-4)
    assert len(found.comparisons) == 2
    assert found.unseen == "flows between 1 of 3 pairs of states, which were too small"
    assert found.enough
    reach = float(found.catches.partition("by ")[2].partition("%")[0]) / 100
    share = (1 + reach) / (2 + reach)
    caught = []
    for forth in rng.binomial(5000, share, 1000):
        counts = flows.copy()
        counts[1, 2], counts[2, 1] = forth, 5000 - forth
        caught.append(min(c.p_value for c in judge_flows(Flows(("a", "b", "c"), counts), 1, 1e-4).comparisons) < 5e-5)
    assert abs(np.mean(caught) - 0.9) < 0.05
    nothing = judge_flows(Flows(("a", "b"), np.array([[9, 40], [40, 9]])), 98, 1e-4)
    assert not nothing.enough
    assert not nothing.comparisons


class Coin:
    """x is normal around a coin of sides −1 and 1, n of them; no truths, but exact draws."""

    n: int = 20
    bias: float = 0.0  # of the acceptance, a mistake

    def variables(self) -> Any:
        return real("x", self.n), discrete("s", self.n, values=(-1, 1))

    def U(self, q, other):
        total = 0.0
        for i in range(self.n):
            total += (q[i] - 0.5 * other[i]) ** 2 / 2
        return total

    def grad_U(self, q, other, grad):
        for i in range(self.n):
            grad[i] = q[i] - 0.5 * other[i]

    @update(reversible=True)
    def flip(self, q, other, grad, rng):
        site, u, delta_U = uniform(rng) * self.n, uniform(rng), 0.0 * q[0]
        for i in range(self.n):
            mine = (site >= i) & (site < i + 1)
            turned = mine & (u < where(other[i] > 0, 1.0 - self.bias, 1.0) * sigmoid(-q[i] * other[i]))
            delta_U += where(turned, q[i] * other[i], 0.0)
            grad[i] += where(turned, other[i], 0.0)
            other[i] = where(turned, -other[i], other[i])
        return delta_U

    @update
    def sweep(self, q, other, grad, rng):
        delta_U = 0.0
        for i in range(self.n):
            s = where(uniform(rng) < sigmoid(q[i]), 1.0, -1.0)
            delta_U += (other[i] - s) * q[i] / 2
            grad[i] += 0.5 * (other[i] - s)
            other[i] = s
        return delta_U

    def exact(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        s = rng.choice([-1, 1], (n, self.n))
        return {"x": 0.5 * s + rng.standard_normal((n, self.n)), "s": s}

    def small(self) -> dict[str, Any]:
        return {"n": 2}


def test_detailed_balance_of_a_custom_target_that_gives_a_small_version() -> None:
    target = registered(Coin)()
    small = enumerable(target)
    assert small is not None
    assert small.density.dim == 2
    assert enumerate_states(small)["s"].tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    values: dict[str, Any] = {"epsilon": 0.5, "L": 2, "n_u": 2}
    found = detailed_balance(target, "mahmc", seed=1, **values)
    assert found.verdict is Verdict.RIGHT, found
    assert "-1,1" in " ".join(comparison.what for comparison in found.comparisons)
    assert applies(target)
    assert not applies(target, ("sweep",))
    swept = detailed_balance(target, "mahmc", update="sweep", **values)
    assert swept.verdict is Verdict.UNCLEAR
    assert "mark it with @update(reversible=True)" in swept.words
    assert not applies(targets.blr())


def test_detailed_balance_sees_a_custom_update_that_does_not_balance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahmc.custom.declare.check", lambda own: None)  # registration would refuse it
    wrong = detailed_balance(registered(Coin)(bias=0.4), "mahmc", seed=1, epsilon=0.5, L=2, n_u=2)
    assert wrong.verdict is Verdict.WRONG, wrong
