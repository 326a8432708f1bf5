"""A target of one's own: what it may look like, what is refused and with which words, and that it is never stale."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

import mahmc
from dashboard import __main__ as serving
from mahmc import InvalidInput, RunSpec, cli
from mahmc.compiled import OPTIONS
from mahmc.custom import (
    Truth,
    absolute,
    discrete,
    exp,
    floor,
    grad_U,
    log,
    maximum,
    minimum,
    normal,
    real,
    setting,
    sigmoid,
    softplus,
    sqrt,
    uniform,
    update,
    where,
)  # fmt: skip
from mahmc.custom import load as own_load
from mahmc.lanes import LANES, load, rows, store
from mahmc.streams import seeded
from mahmc.targets import FAMILIES
from tests.support.custom import registered
from tests.support.refusals import refusal_of

pytestmark = pytest.mark.usefixtures("families_as_before")
ROOT = Path(__file__).parent.parent
FUNNEL = """
import mahmc
from mahmc.custom import exp, real

@mahmc.target
class Funnel:
    \"\"\"Mine.\"\"\"

    dim: int = 4
    scale: float = 1.0

    def variables(self):
        return real("v"), real("x", self.dim - 1)

    def U(self, q):
        v, squares = q[0], 0.0
        for i in range(1, self.dim):
            squares += q[i] ** 2
        return v**2 / (2 * self.scale**2) + exp(-v) * squares / 2 + (self.dim - 1) * v / 2

    def grad_U(self, q, grad):
        v, squares = q[0], 0.0
        for i in range(1, self.dim):
            squares += q[i] ** 2
            grad[i] = exp(-v) * q[i]
        grad[0] = v / self.scale**2 - exp(-v) * squares / 2 + (self.dim - 1) / 2
"""


@pytest.fixture(scope="module")
def funnel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "my_targets.py"
    path.write_text(FUNNEL)
    return path


class Pair:
    """A right one, to be made wrong: x is normal around a coin, which has a Gibbs update and a flip."""

    p: float = 0.3
    shift: float = 2.0

    def variables(self) -> Any:
        return real("x"), discrete("coin")

    def U(self, q, other):
        return (q[0] - self.shift * other[0]) ** 2 / 2 - other[0] * np.log(self.p / (1 - self.p))

    def grad_U(self, q, other, grad):
        grad[0] = q[0] - self.shift * other[0]

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
        new = where(uniform(rng) < sigmoid(-cost), 1.0, 0.0)
        delta_U = (new - other[0]) * cost
        other[0] = new
        grad[0] = q[0] - self.shift * new
        return delta_U

    @update
    def flip(self, q, other, grad, rng):
        cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
        delta_U = (1 - 2 * other[0]) * cost
        accepted = uniform(rng) < exp(-delta_U)
        other[0] = where(accepted, 1 - other[0], other[0])
        grad_U(self, q, other, grad)
        return where(accepted, delta_U, 0.0), accepted


# ------------------------------------------------------------------------------------------------- that it works


def test_a_right_one_is_built_sampled_compared_and_round_trips() -> None:
    pair = registered(Pair)
    target = pair(p=0.4)
    assert target.names == ("x", "coin")
    assert target.density.updates == ("gibbs", "flip")
    assert pair(0.4) is target  # built and checked once
    for which in target.density.updates:
        run = mahmc.sample(pair(), "mahmc", epsilon=0.8, L=2, n_u=3, draws=8000, update=which, seed=1)
        assert abs(run.get("coin").mean() - 0.3) < 5 * float(run.mcse("coin"))
        assert abs(run.get("x").mean() - 0.6) < 5 * float(run.mcse("x"))
    spec = RunSpec.of("pair", "hmc", p=0.4, draws=10)
    assert RunSpec.from_json(spec.to_json()) == RunSpec.from_query(spec.to_query()) == spec
    assert RunSpec.from_python(spec.to_python()) == spec
    found = mahmc.compare("pair", ["hmc", "mahmc"], gradients=16_000, replicates=2, chains=4)
    assert found.quantities == ("x", "coin", "energy", "worst")
    assert target.shown.pair == ("x", "energy")
    assert target.shown.discrete == "coin"


def test_without_other_variables_mahmc_is_hmc_bit_for_bit(funnel_file: Path) -> None:
    """There is nothing to update between segments: n_u segments of L leapfrogs are one of n_u·L."""
    mahmc.load_targets(funnel_file)
    shared: dict[str, Any] = {"epsilon": 0.3, "chains": 8, "draws": 50, "seed": 2}
    one = mahmc.sample("funnel", "mahmc", L=3, n_u=4, **shared)
    two = mahmc.sample("funnel", "hmc", L=12, **shared)
    assert np.array_equal(one.draws["x"], two.draws["x"])
    assert one.spec.update == "none"
    assert one.acceptances["inner"].rate is one.acceptances["outer"].rate is None
    assert set(one.acceptance_history[1]) == {"trajectory"}
    assert one.gradients == two.gradients
    for sampler in ("mala", "mala-p", "mala-pn", "naive", "asymmetric"):
        assert mahmc.sample("funnel", sampler, **shared).acceptance > 0
    with pytest.raises(InvalidInput, match="has no updates of qᴼ"):
        mahmc.sample("funnel", "hmc", update="gibbs")


def test_the_command_line_knows_it(funnel_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{funnel_file}:Funnel"
    assert cli.main(["sample", name, "mahmc", "--dim", "3", "--scale", "2", "--draws", "50"]) == 0
    assert "x[" in capsys.readouterr().out
    assert cli.main(["sample", name, "hmc", "--dim", "2.5"]) == 2
    assert "whole number" in capsys.readouterr().err
    assert cli.main(["list"]) == 0
    assert "funnel" in capsys.readouterr().out
    assert cli.main(["table", "--targets", name, "--gradients", "64000", "--replicates", "2", "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("funnel,") == 5


def test_app_hands_the_files_on(
    funnel_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []

    def start(command: list[str]) -> int:
        started.append(command)
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(serving, "main", start)
        assert cli.main(["app", "--targets", str(funnel_file), "--port", "8765"]) == 0
    assert started == [["--targets", str(funnel_file), "--server.port", "8765"]]
    assert cli.main(["app", "--targets", "nothing.py"]) == 2
    assert "there is no file" in capsys.readouterr().err
    monkeypatch.setattr("dashboard.__main__.cli.main", lambda: 0)
    assert serving.main(["--targets", str(funnel_file), "--server.port", "8765"]) == 0
    assert sys.argv[1:] == ["run", str(ROOT / "app.py"), "--server.port", "8765"]
    assert serving.main(["--targets", "nothing.py"]) == 2


def test_settings_are_described_for_controls() -> None:
    words = setting(3, 1, 9, "Size", "How large.", symbol="k")
    family = registered(Pair, size=words, annotations={"size": int})
    parameters = {p.name: p for p in FAMILIES[family.name].parameters}
    assert (parameters["size"].kind, parameters["size"].low, parameters["size"].slider) == ("int", 1, (1.0, 9.0))
    assert (parameters["p"].kind, parameters["p"].slider) == ("float", (0.03, 3.0))


def test_tools_take_lanes_and_numbers() -> None:
    @numba.njit(**OPTIONS)
    def both(x, out, rng):
        r, o = rows(x), rows(out)
        o[0] = exp(r[0]) + exp(1.0)
        o[1] = log(absolute(r[0])) + sqrt(absolute(r[0])) + log(2.0) + sqrt(2.0)
        o[2] = softplus(r[0]) + softplus(1.0) + sigmoid(r[0]) + sigmoid(1.0)
        o[3] = maximum(r[0], 0.0) + minimum(r[0], 0.0) + floor(2.5)
        o[4] = r[-1] ** 3 + r[0] ** -2 + r[0] ** 0
        total = 0
        for i in range(len(r)):
            total += r[i]
        o[5] = total
        o[6] = 7
        o[7] = normal(rng)

    x, out = np.random.default_rng(1).standard_normal((2, LANES)), np.empty((8, LANES))
    rng = seeded(1, 0)
    both(x, out, rng)
    a = x[0]
    assert np.allclose(out[0], np.exp(a) + np.e)
    assert np.allclose(out[1], np.log(abs(a)) + np.sqrt(abs(a)) + np.log(2) + np.sqrt(2))
    assert np.allclose(out[2], np.logaddexp(0, a) + np.logaddexp(0, 1) + 1 / (1 + np.exp(-a)) + 1 / (1 + np.exp(-1)))
    assert np.allclose(out[3], a + 2)
    assert np.allclose(out[4], x[1] ** 3 + a**-2.0 + 1)
    assert np.allclose(out[5], x.sum(axis=0))
    assert np.all(out[6] == 7)
    draws = []
    for _ in range(500):
        both(x, out, rng)
        draws.append(out[7].copy())
    assert stats.kstest(np.ravel(draws), "norm").pvalue > 1e-6
    assert exp(1.0) == pytest.approx(np.e)


def test_rows_and_arrays_are_one_memory() -> None:
    @numba.njit(**OPTIONS)
    def through(a):
        rows(a)[1] = load(a, 0) + 1
        store(a, 2, rows(a)[1] + 1)

    a = np.zeros((4, LANES))
    through(a)
    assert a[:, 0].tolist() == [0, 1, 2, 0]


# ----------------------------------------------------------------------------------------- refused as it is written


def no_other(self: Any) -> Any:
    return real("x")


def costing(leapfrogs: Any) -> Any:
    return update(lambda self, q, other, grad, rng: 0.0, cost_in_leapfrogs=leapfrogs)


def two_arguments(self, q):
    return q[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"U": None}, "Pair: the class needs a function U(self, q, other)."),
        ({"grad_U": None, "grad_u": Pair.grad_U}, "grad_U(self, q, other, grad); there is 'grad_u'"),
        ({"U": two_arguments}, "U(self, q) must have the arguments U(self, q, other)"),
        ({"gibbs": None, "flip": None}, "(there is no update of qᴼ, so no other)"),
        ({"variables": None}, "the class needs a function variables(self)"),
        ({"name": "No Good"}, "name = 'No Good' must be made of small letters"),
        ({"name": "mdc"}, "there is a target 'mdc' already, which comes with mahmc"),
        ({"__init__": lambda self: None}, "a target has no __init__"),
        ({"epsilon": 0.1, "annotations": {"epsilon": float}}, "a setting cannot be called 'epsilon'"),
        ({"n_u": 3, "annotations": {"n_u": int}}, "a setting cannot be called 'n_u'"),
        ({"chains": 3, "annotations": {"chains": int}}, "a setting cannot be called 'chains'"),
        ({"p": "half"}, "p = 'half': a setting is a number"),
        ({"p": setting(0.5, 1.0, 2.0)}, "p = 0.5 is not allowed"),
        ({"exact": lambda self, rng: {}}, "exact(self, rng) must have the arguments exact(self, rng, n)"),
        ({"presets": {"hcm": {}}}, "Did you mean 'hmc'?"),
        ({"presets": {"hmc": {"alpha": 0.5}}}, "parameter 'alpha' is unknown"),
        ({"presets": {"hmc": {"epsilon": -1.0}}}, "epsilon = -1.0"),
        ({"flip": None, "Flip": update(lambda self, q, other, grad, rng: 0.0)}, "an update cannot be called 'Flip'"),
        ({"flip": costing(-1)}, "flip has cost_in_leapfrogs = -1: it must"),
        ({"flip": costing(2.5)}, "flip has cost_in_leapfrogs = 2.5"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
)
@pytest.mark.quick
def test_refused_when_it_is_declared(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        registered(Pair, **changes)
    assert words in str(refusal.value)


@pytest.mark.quick
class Base:
    sd: float = 1.0
    y: float

    def data(self) -> dict[str, Any]:
        return {"y": 1.0}

    @update
    def gibbs(self, q, other, grad, rng):
        return 0.0


class Derived(Base):
    size: int = 2
    sd = 3.0

    def variables(self) -> Any:
        return real("x"), discrete("coin")

    def U(self, q, other):
        return self.y * q[0] ** 2

    def grad_U(self, q, other, grad):
        grad[0] = 2 * self.y * q[0]


@pytest.mark.quick
def test_fields_and_updates_of_base_classes_belong_to_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahmc.custom.declare.check", lambda custom: None)  # which would compile U
    target = mahmc.target(Derived)()
    assert target.density.data._asdict() == {"sd": 3.0, "size": 2, "y": 1.0}
    assert target.density.updates == ("gibbs",)


def test_the_former_name_of_an_updates_cost_still_works() -> None:
    with pytest.warns(DeprecationWarning, match=r"write @update\(cost_in_leapfrogs=…\)") as warned:
        former = update(lambda self: 0.0, patience=12)
    assert former.cost_in_leapfrogs == update(lambda self: 0.0, cost_in_leapfrogs=12).cost_in_leapfrogs == 12
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variables": lambda self: (real("x"), discrete("x"))}, "variable 'x' is declared twice"),
        ({"variables": lambda self: (real("x"), discrete("energy"))}, "'energy' is recorded for every target"),
        ({"variables": lambda self: (real("x"), discrete("a b"))}, "cannot be called 'a b'"),
        ({"variables": lambda self: (real("x", 0), discrete("c"))}, "variable 'x' has size 0"),
        ({"variables": lambda self: (real("x"), discrete("c", values=(0, 0)))}, "two or more whole numbers"),
        ({"variables": lambda self: (real("x"), discrete("c", values=(0, 2**31)))}, "from -2147483648 to 2147483647"),
        ({"variables": lambda self: ("x", "coin")}, "make each by real(name, size)"),
        ({"variables": lambda self: discrete("coin")}, "leapfrogs have nothing to move"),
        ({"variables": no_other}, "there is an update, gibbs, but no variable of qᴼ"),
        ({"variables": lambda self: (real("x"), real("tau", other=True))}, "write start(self, rng)"),
        ({"variables": lambda self: (real("x", low=0.0), discrete("c"))}, "only a real variable of qᴼ can have bounds"),
        ({"annotations": {"Y": int}, "data": lambda self: {"Z": 1}}, "Y is missing; Z is not declared"),
        ({"annotations": {"Y": int}, "data": lambda self: {"Y": "text"}}, "data 'Y' must be numbers"),
        ({"annotations": {"Y": int}, "data": lambda self: {"Y": [1.0, np.nan]}}, "data 'Y' has values that are not"),
        ({"start": lambda self, rng: {"x": 0.0}}, "Pair.start gives x; it must give x, coin"),
        ({"start": lambda self, rng: {"x": [0.0, 1.0], "coin": 0}}, "gives x of shape (2,); it must be ()"),
        ({"start": lambda self, rng: {"x": 0.0, "coin": 2}}, "gives coin = [2]; its values are (0, 1)"),
        ({"exact": lambda self, rng, n: {"x": np.zeros(n), "coin": np.zeros((n, 1))}}, "gives coin of shape (3, 1)"),
        ({"truth": lambda self: {"z": Truth(0, 1, np.exp, (0, 1))}}, "truth names 'z', which is not one of x, coin"),
        ({"watch": "z"}, "Pair.watch names 'z'"),
        ({"truth": lambda self: 1 / 0}, "Pair: ZeroDivisionError, line"),
        ({"variables": lambda self: real("x", self.size)}, "Pair: AttributeError, line"),
        ({"derived": lambda self: {"x": lambda draws: draws["x"]}}, "which is the name of a variable"),
        ({"derived": lambda self: {"y": lambda draws: draws["z"]}}, "['y'] cannot be computed from the draws"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
)  # fmt: skip
@pytest.mark.quick
def test_refused_when_it_is_built(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        registered(Pair, **changes)()
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 300


# ------------------------------------------------------------------------------------- refused for what it computes


def half_the_gradient(self, q, other, grad):
    grad[0] = 0.5 * (q[0] - self.shift * other[0])


def gradient_added_to(self, q, other, grad):
    grad[0] += q[0] - self.shift * other[0]


def gradient_of_two_rows(self, q, other, grad):
    grad[0] = q[0] - self.shift * other[0]
    grad[1] = 0.0


def root(self, q, other):
    return sqrt(q[0])


def text(self, q, other):
    return q[0] + "1"


def moves_q(self, q, other):
    q[0] = q[0] + 1
    return q[0] ** 2 / 2


def wrong_delta(self, q, other, grad, rng):
    new = where(uniform(rng) < self.p, 1.0, 0.0)
    delta_U = (new - other[0]) * (self.shift * (self.shift / 2 - q[0]))  # without the coin's own weight
    other[0] = new
    grad[0] = q[0] - self.shift * new
    return delta_U


def stale_gradient(self, q, other, grad, rng):
    cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
    new = where(uniform(rng) < sigmoid(-cost), 1.0, 0.0)
    delta_U = (new - other[0]) * cost
    other[0] = new
    return delta_U


def refused_but_changed(self, q, other, grad, rng):
    cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
    delta_U = (1 - 2 * other[0]) * cost
    other[0] = 1 - other[0]
    grad[0] = q[0] - self.shift * other[0]
    return delta_U, uniform(rng) < 0.5


def stray_value(self, q, other, grad, rng):
    delta_U = (q[0] - 2 * self.shift) ** 2 / 2 - 2 * np.log(self.p / (1 - self.p))
    delta_U -= (q[0] - self.shift * other[0]) ** 2 / 2 - other[0] * np.log(self.p / (1 - self.p))
    other[0] = 2.0
    grad[0] = q[0] - self.shift * 2
    return delta_U


def wrong_law(self, q, other, grad, rng):
    cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
    new = where(uniform(rng) < sigmoid(-0.8 * cost), 1.0, 0.0)
    delta_U = (new - other[0]) * cost
    other[0] = new
    grad[0] = q[0] - self.shift * new
    return delta_U


def wrong_test(self, q, other, grad, rng):
    cost = self.shift * (self.shift / 2 - q[0]) - np.log(self.p / (1 - self.p))
    delta_U = (1 - 2 * other[0]) * cost
    accepted = uniform(rng) < exp(-0.8 * delta_U)
    other[0] = where(accepted, 1 - other[0], other[0])
    grad[0] = q[0] - self.shift * other[0]
    return where(accepted, delta_U, 0.0), accepted


def copied(function: Any) -> Any:
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grad_U": half_the_gradient}, ["Pair.grad_U is not the gradient of U: at x = ", "coin = ", "grad[0] = "]),
        ({"grad_U": gradient_added_to}, ["Pair.grad_U leaves grad[0] = nan", "is every row of grad set?"]),
        ({"grad_U": gradient_of_two_rows}, ["Pair.grad_U writes beyond the 1 rows of grad"]),
        ({"U": root}, ["Pair.U is nan at x = -", "where a chain starts"]),
        ({"U": text}, ["Pair.U cannot be compiled", "test_custom.py, line"]),
        ({"U": moves_q}, ["Pair.U cannot be compiled", "`q[0] = q[0] + 1`. This changes q, which only leapfrogs may"]),
        ({"gibbs": update(wrong_delta)}, ["Pair.gibbs reports ΔU = ", "where U(after) − U(before) = ", "x = "]),
        ({"gibbs": update(stale_gradient)}, ["Pair.gibbs leaves grad[0] = ", "at the new qᴼ"]),
        ({"gibbs": update(refused_but_changed)}, ["Pair.gibbs did not accept, but changed qᴼ"]),
        ({"gibbs": update(stray_value)}, ["Pair.gibbs sets coin to 2; its values are (0, 1)"]),
        ({"gibbs": update(wrong_law)}, ["Pair.gibbs does not leave exp(−U) invariant", "coin (other[0])", "of 4096"]),
        ({"flip": update(wrong_test)}, ["Pair.flip does not leave exp(−U) invariant", "coin (other[0])", "of 4096"]),
        ({"flip": update(full_conditional=True)(copied(Pair.flip))}, ["Pair.flip does not leave exp(−U) invariant"]),
    ],
    ids=lambda value: value[0][:40] if isinstance(value, list) else "",
)
def test_refused_for_what_it_computes(changes: dict[str, Any], words: list[str]) -> None:
    """The error names the function, the point and both values. Each of these is a mutant of a target that passes."""
    with pytest.raises(InvalidInput) as refusal:
        registered(Pair, **changes)()
    for word in words:
        assert word in str(refusal.value)


class Rates:
    """q^O that cannot be counted: a real rate with its full conditional, and forty coins that depend on the rate."""

    rate: float = 1.0  # what `gibbs` multiplies the rate by; another number is a mistake
    odds: float = 1.0  # likewise, of the coins

    def variables(self) -> Any:
        return real("x", 3), real("tau", other=True, low=0.0), discrete("w", 40)

    def start(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.standard_normal(3), "tau": rng.exponential(), "w": rng.integers(0, 2, 40)}

    def U(self, q, other):
        """tau ~ Exponential(1 + |x|²/2), w_i ~ Bernoulli(sigmoid(x_0)), x ~ N(0, I)."""
        square, ones = q[0] ** 2 + q[1] ** 2 + q[2] ** 2, 0.0
        for i in range(40):
            ones += other[1 + i]
        rate = 1 + square / 2
        return square / 2 + rate * other[0] - log(rate) - ones * q[0] + 40 * softplus(q[0])

    def grad_U(self, q, other, grad):
        rate, ones = 1 + (q[0] ** 2 + q[1] ** 2 + q[2] ** 2) / 2, 0.0
        for i in range(40):
            ones += other[1 + i]
        for j in range(3):
            grad[j] = q[j] * (1 + other[0] - 1 / rate)
        grad[0] += 40 * sigmoid(q[0]) - ones

    @update(full_conditional=True)
    def gibbs(self, q, other, grad, rng):
        rate = 1 + (q[0] ** 2 + q[1] ** 2 + q[2] ** 2) / 2
        new = -log(1 - uniform(rng)) / (self.rate * rate)
        delta_U = rate * (new - other[0])
        other[0] = new
        for i in range(40):
            w = where(uniform(rng) < sigmoid(self.odds * q[0]), 1.0, 0.0)
            delta_U -= (w - other[1 + i]) * q[0]
            other[1 + i] = w
        grad_U(self, q, other, grad)
        return delta_U


def test_full_conditionals_of_reals_and_of_many_states_are_checked() -> None:
    """Site by site, given the others; the right one passes, two wrong ones are caught."""
    family = registered(Rates)
    family()
    for mistake, site in (({"rate": 0.6}, "tau (other[0])"), ({"odds": 0.7}, "w[")):
        message = refusal_of(family, **mistake)
        assert "does not leave exp" in message
        assert site in message


# -------------------------------------------------------------------------------------------------- files, and caches


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nowhere.py", None, "there is no file"),
        ("notes.txt", "hello", "is not a Python file"),
        ("broken.py", "def f(:\n", "broken.py, line 1 cannot be loaded: SyntaxError"),
        ("fails.py", "import mahmc\n\n1 / 0\n", "fails.py, line 3 cannot be loaded: ZeroDivisionError"),
        ("missing.py", "import no_such_module_here\n", "ModuleNotFoundError"),
        ("empty.py", "x = 1\n", "empty.py has no targets: decorate a class with @mahmc.target"),
        ("bad.py", "import mahmc\n@mahmc.target\nclass A: ...\n", "bad.py: A: the class needs a function U(self, q)"),
    ],
)
@pytest.mark.quick
def test_files_that_cannot_be_used(name: str, content: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(InvalidInput) as refusal:
        mahmc.load_targets(path)
    assert words in str(refusal.value)


@pytest.mark.quick
def test_a_class_that_is_not_there_and_a_name_that_is_taken(funnel_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"Did you mean 'Funnel'\?"):
        mahmc.custom.find(f"{funnel_file}:Funel")
    mahmc.load_targets(funnel_file)
    mahmc.load_targets(funnel_file)  # again: the same file may define it anew
    other = tmp_path / "other.py"
    other.write_text(FUNNEL)
    with pytest.raises(InvalidInput, match=r"there is a target 'funnel' already, in .*my_targets\.py"):
        mahmc.load_targets(other)


@pytest.mark.quick
def test_where_the_file_is_not_known_the_message_says_what_to_do() -> None:
    for read in (
        lambda: RunSpec.from_json('{"target": "funnel", "sampler": "hmc", "dim": 3}'),
        lambda: RunSpec.from_query("target=funnel&sampler=hmc&dim=3"),
        lambda: mahmc.sample("funnel", "hmc"),
    ):
        with pytest.raises(InvalidInput, match=r"'funnel' is unknown.*mahmc\.load_targets"):
            read()


PROGRAM = """
import sys
import numpy as np
from numba.core import event
import mahmc
from mahmc.kernels import energies
for path in sys.argv[1:]:
    family, = mahmc.load_targets(path)
    with event.install_recorder("numba:compile") as compiled:
        U = energies(family(), np.zeros((1, 1)), np.zeros((1, 0)))[0]
    print(U, len(compiled.buffer))
"""
NORMAL = """
import mahmc
from mahmc.custom import real
from centre import CENTRE

@mahmc.target
class Normal:
    name = "{name}"
    sd: float = 1.0

    def variables(self):
        return real("x")

    def U(self, q):
        return (q[0] - CENTRE - {shift}) ** 2 / (2 * self.sd**2)

    def grad_U(self, q, grad):
        grad[0] = (q[0] - CENTRE - {shift}) / self.sd**2
"""


def test_an_edited_file_is_never_served_old_machine_code(tmp_path: Path) -> None:
    """Neither after an edit of the file, nor of what it imports, nor for another class of the same name and fields. But
    a file that did not change compiles nothing in a second process.
    """
    cache = tmp_path / "cache"

    def energies_at_zero(*files: Path) -> list[tuple[float, int]]:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "MAHMC_CACHE_DIR": str(cache)}
        command = [sys.executable, "-c", PROGRAM, *map(str, files)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        words = done.stdout.split()
        return [(float(U), int(compiled)) for U, compiled in zip(words[::2], words[1::2], strict=True)]

    one, two, centre = tmp_path / "one.py", tmp_path / "two.py", tmp_path / "centre.py"
    centre.write_text("CENTRE = 0.0\n")
    one.write_text(NORMAL.format(name="one", shift=1.0))
    two.write_text(NORMAL.format(name="two", shift=4.0))
    first = energies_at_zero(one, two)
    assert [U for U, _ in first] == [1.0 / 2, 16.0 / 2]
    assert all(compiled > 0 for _, compiled in first)
    assert energies_at_zero(one, two) == [(1.0 / 2, 0), (16.0 / 2, 0)]
    elsewhere = tmp_path / "elsewhere" / "one.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text(one.read_text())
    (elsewhere.parent / "centre.py").write_text(centre.read_text())
    one.rename(tmp_path / "away.py")
    assert [U for U, _ in energies_at_zero(elsewhere)] == [1.0 / 2], "a copy asks for the module of the original"
    (tmp_path / "away.py").rename(one)
    centre.write_text("CENTRE = 10.0\n")
    (U, compiled), *_ = energies_at_zero(one)
    assert U == 121.0 / 2, "the imported constant's old value was served"
    assert compiled > 0
    one.write_text(NORMAL.format(name="one", shift=2.0))
    assert energies_at_zero(one)[0][0] == 144.0 / 2, "the file's old code was served"


USER = """
import numpy as np
import mahmc
from mahmc.custom import exp, real
import centre
from centre import FAR

SCALE = 2.0
TABLE = np.array([1.0, 2.0])

def inner(x, shift=1.0):
    return (x - shift) ** 2

def outer(x):
    return inner(x) + 1.0

def made(scale):
    def scaled(x):
        return x * scale
    return scaled

third = made(3.0)
again = inner

def keyed(x, *, low=1.0, high):
    return x * low

@mahmc.target
class User:
    sd: float = 1.0

    def variables(self):
        return real("x")

    def half(self, x):
        return x / 2

    def quarter(self, x):
        return x / 4

    same = half

    def U(self, q):
        x = SCALE * outer(q[0]) + TABLE[0] + centre.CENTRE + centre.moved(q[0]) + FAR + third(q[0]) + self.half(q[0])
        return x + self.quarter(x) + self.same(x) + again(x) + keyed(x, low=1.0, high=1.0)

    def grad_U(self, q, grad):
        grad[0] = exp(q[0])
"""
CENTRE = "CENTRE = 1.0\nFAR = 3.0\nUNUSED = 1.0\ndef moved(x):\n    return x + 1.0\n"


def key_of(path: Path) -> str:
    """The end of the name under which machine code of the file's target would be kept."""
    for name in ("centre", *(name for name in sys.modules if name.startswith("mahmc_custom_user"))):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    FAMILIES.pop("user", None)
    own_load._loaded.clear()
    (family,) = mahmc.load_targets(path)
    return family.build.__self__.data_class.__name__  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("user.py", "SCALE = 2.0", "SCALE = 2.5"),
        ("user.py", "SCALE = 2.0", "SCALE = 2"),
        ("user.py", "np.array([1.0, 2.0])", "np.array([1.0, 2.5])"),
        ("user.py", "np.array([1.0, 2.0])", "np.array([1.0, 2.0], np.float32)"),
        ("user.py", "(x - shift) ** 2", "(x + shift) ** 2"),
        ("user.py", "shift=1.0", "shift=1.5"),
        ("user.py", "inner(x) + 1.0", "inner(x) + 2.0"),
        ("user.py", "made(3.0)", "made(4.0)"),
        ("user.py", "return x / 2", "return x / 3"),
        ("user.py", "same = half", "same = quarter"),
        ("user.py", "again = inner", "again = outer"),
        ("user.py", "*, low=1.0, high", "*, low, high=1.0"),
        ("user.py", "grad[0] = exp(q[0])", "grad[0] = exp(-q[0])"),
        ("user.py", "from mahmc.custom import exp, real", "from mahmc.custom import expm1 as exp, real"),
        ("user.py", "sd: float = 1.0", "sd: float = 1.0\n    more: float = 2.0"),
        ("centre.py", "CENTRE = 1.0", "CENTRE = 2.0"),
        ("centre.py", "FAR = 3.0", "FAR = 4.0"),
        ("centre.py", "x + 1.0", "x + 2.0"),
    ],
    ids=lambda value: str(value)[:30].replace(" ", ""),
)
@pytest.mark.quick
def test_whatever_machine_code_depends_on_is_in_its_key(
    file: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of any of these is another key; an edit that changes no code is the same."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    user, centre = tmp_path / "user.py", tmp_path / "centre.py"
    user.write_text(USER)
    centre.write_text(CENTRE)
    before = key_of(user)
    assert "unkept" not in before
    user.write_text(f"# a comment\n{USER}\nUNUSED = 3\n")
    centre.write_text(CENTRE.replace("UNUSED = 1.0", "UNUSED = 2.0"))
    assert key_of(user) == before
    user.write_text(USER)
    centre.write_text(CENTRE)
    edited = tmp_path / file
    assert edited.read_text().count(old) == 1
    edited.write_text(edited.read_text().replace(old, new))
    assert key_of(user) != before


@pytest.mark.quick
def test_the_earlier_name_of_the_package_works_with_a_warning() -> None:
    program = "import warnings; warnings.simplefilter('error'); import mahmc.own"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "DeprecationWarning: mahmc.own is mahmc.custom now." in found.stderr
    program = "from mahmc.own import discrete, real, target, update, where; import mahmc; print(target is mahmc.target)"
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "True\n"
