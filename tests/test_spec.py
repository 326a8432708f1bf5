"""RunSpec: defaults, round trips, and a clear refusal of whatever cannot be used."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import SAMPLERS, InvalidInput, RunSpec, targets
from mahmc.samplers import PARAMETERS
from mahmc.spec import RUN_PARAMETERS
from tests.support.cases import pairs
from tests.support.refusals import refusal_of

pytestmark = pytest.mark.quick
SPECS = [RunSpec.of(t, s) for t, s in pairs(SAMPLERS)] + [
    RunSpec.of("gmm", "mahmc", weights=[0.3, 0.4, 0.3], means=[-1, 0, 1.5], sds=[0.4, 1 / 3, 0.5], update="gibbs"),
    RunSpec.of("blr", "mala-pn", prior_only=True, keep=("tau", "slice"), start="exact", thin=3, seed=2**53 - 1),
    RunSpec.of("mdc", "hmc", epsilon=0.1 + 0.2, n_w=3),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: f"{s.target}-{s.sampler}")
def test_round_trips(spec: RunSpec) -> None:
    assert RunSpec.from_json(spec.to_json()) == spec
    assert RunSpec.from_query(spec.to_query()) == spec
    assert RunSpec.from_query("?" + spec.to_query()) == spec
    assert RunSpec.from_python(spec.to_python()) == spec
    assert RunSpec.from_dict(spec.to_dict()) == spec
    assert hash(RunSpec.from_json(spec.to_json())) == hash(spec)


def test_frozen_and_flat() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPECS[0].draws = 3  # type: ignore[misc]
    for value in SPECS[0].to_dict().values():
        assert isinstance(value, str | int | float | bool | tuple)


def test_what_is_left_out_takes_the_papers_best_value() -> None:
    assert RunSpec.of("mdc", "mahmc").values == {"epsilon": 0.04, "L": 10, "n_u": 10}
    assert RunSpec.of("blr", "mala-pn").values == {"epsilon": 0.1, "L": 5, "alpha": 0.9, "delta": 0.015}
    assert RunSpec.of("mdc", "hmc", L=3).values == {"epsilon": 0.035, "L": 3}
    assert RunSpec.of("mdc", "hmc", L=None).values["L"] == 40
    assert RunSpec.of("gmm", "mahmc").update == "metropolis"
    assert RunSpec.of("mdc", "mahmc").update == "gibbs"


def test_a_change_of_sampler_or_target_brings_new_defaults() -> None:
    spec = RunSpec.of("mdc", "mahmc", seed=4, n_w=7)
    assert spec.with_(sampler="hmc").values == {"epsilon": 0.035, "L": 40}
    assert dict(spec.with_(sampler="hmc").settings)["n_w"] == 7
    assert spec.with_(target="blr").keep == ("beta", "tau", "energy")
    assert spec.with_(draws=5).seed == 4


def test_every_registered_parameter_is_described() -> None:
    for parameter in PARAMETERS.values():
        assert parameter.help.endswith(".")
        assert parameter.symbol
        assert parameter.title
        assert parameter.check(parameter.default) == parameter.default
        assert parameter.slider is not None
    for target, sampler in pairs(SAMPLERS):
        for name, value in SAMPLERS[sampler].defaults(target).items():
            parameter = PARAMETERS[name]
            assert parameter.slider is not None
            assert parameter.slider[0] <= value <= parameter.slider[1]


def test_own_data_cannot_be_put_into_a_link() -> None:
    spec = RunSpec.of(targets.blr(np.eye(4), [0, 1, 0, 1]), "hmc")
    assert spec.data
    with pytest.raises(InvalidInput, match="a user's data"):
        RunSpec.from_query(spec.to_query())
    with pytest.raises(InvalidInput, match="a user's data"):
        spec.build_target()


def test_the_program_of_a_run_on_own_data_takes_a_target_that_was_built_before() -> None:
    target = targets.blr(np.eye(4), [0, 1, 0, 1], shape=2.0)
    spec = RunSpec.of(target, "hmc", draws=10, chains=2, seed=5)
    found: dict[str, Any] = {"mahmc": mahmc, "target": target}
    exec(spec.to_python(), found)
    assert found["run"].spec == spec
    assert spec.on(target) == spec
    assert spec.on(target, seed=6).seed == 6


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "epsilon 0.04, L 10, n_u 10"),
        ({"outer": "none", "update": "metropolis"}, "epsilon 0.04, L 10, n_u 10, update metropolis, outer none"),
        ({"schedule": "iid(20, 0.9)"}, "epsilon 0.04, iid(20, 0.9)"),
        ({"schedule": f"iid(109, {100 / 109!r})"}, "epsilon 0.04, iid(109, 0.917)"),
        ({"schedule": f"sequences({'01' * 50 + '0'})"}, f"epsilon 0.04, sequences({'01' * 24}0…"),
    ],
)
def test_what_was_chosen_in_few_words(chosen: dict[str, Any], words: str) -> None:
    assert RunSpec.of("mdc", "mahmc", **chosen).summary == words


@pytest.mark.parametrize(
    ("target", "sampler", "chosen", "words"),
    [
        ("mcd", "hmc", {}, "Did you mean 'mdc'?"),
        ("mdc", "mamc", {}, "Did you mean 'mahmc'?"),
        ("mdc", "zzzz", {}, "Choose from: mala, hmc"),
        ("mdc", "hmc", {"epsilom": 0.1}, "Did you mean 'epsilon'?"),
        ("mdc", "hmc", {"n_u": 3}, "n_u is not a parameter of hmc"),
        ("mdc", "hmc", {"weights": [1.0]}, "weights is not a parameter of hmc on mdc"),
        ("mdc", "hmc", {"epsilon": 0}, "epsilon = 0 is not allowed: step size must be in (0, 100]"),
        ("mdc", "hmc", {"epsilon": -0.1}, "epsilon = -0.1"),
        ("mdc", "hmc", {"epsilon": float("nan")}, "epsilon = nan"),
        ("mdc", "hmc", {"epsilon": float("inf")}, "epsilon = inf"),
        ("mdc", "hmc", {"epsilon": "fast"}, "epsilon = 'fast'"),
        ("mdc", "hmc", {"epsilon": "x" * 10_000}, "..."),
        ("mdc", "hmc", {"L": 0}, "L = 0"),
        ("mdc", "hmc", {"L": 2.5}, "whole number"),
        ("mdc", "mahmc", {"n_u": 0}, "n_u = 0"),
        ("mdc", "mala-p", {"alpha": 1.0}, "alpha = 1.0 is not allowed: persistence of momentum must be in [0, 1)"),
        ("mdc", "mala-p", {"alpha": -0.1}, "alpha = -0.1"),
        ("mdc", "mala-pn", {"delta": -0.01}, "delta = -0.01"),
        ("mdc", "mala-pn", {"delta": 1.5}, "delta = 1.5"),
        ("mdc", "hmc", {"chains": 0}, "chains = 0"),
        ("mdc", "hmc", {"draws": 0}, "draws = 0"),
        ("mdc", "hmc", {"warmup": -1}, "warmup = -1"),
        ("mdc", "hmc", {"thin": 0}, "thin = 0"),
        ("mdc", "hmc", {"seed": -1}, "seed = -1"),
        ("mdc", "hmc", {"seed": "lucky"}, "seed = 'lucky'"),
        ("mdc", "hmc", {"update": "gibs"}, "Did you mean 'gibbs'?"),
        ("mdc", "hmc", {"keep": ("u", "x")}, "quantity in keep 'x'"),
        ("mdc", "hmc", {"keep": ()}, "keep is empty"),
        ("blr", "hmc", {"start": "exact"}, "no exact sampler"),
        ("blr", "m-hmc", {}, "m-hmc cannot sample blr: it visits discrete variables one by one"),
        ("mdc", "m-hmc", {"update": "block"}, "Choose from: metropolis, gibbs"),
        ("mdc", "m-hmc", {"T": 0}, "T = 0"),
        ("mdc", "m-hmc", {"visits": 0}, "visits = 0"),
        ("mdc", "m-hmc", {"T": 10_000, "epsilon": 1e-3}, "Take a shorter T or a larger epsilon"),
        ("mdc", "m-hmc", {"L": 10}, "m-hmc has epsilon, T, visits"),
        (
            "mdc",
            "m-hmc",
            {"schedule": "iid(9, 0.9)"},
            "m-hmc takes no schedule: leave it out, or take one of the samplers mahmc",
        ),
    ],
)
def test_bad_input_names_field_value_range_and_what_to_do(
    target: str, sampler: str, chosen: dict[str, Any], words: str
) -> None:
    message = refusal_of(RunSpec.of, target, sampler, **chosen)
    assert words in message
    assert len(message) < 400


@pytest.mark.parametrize(
    "query",
    [
        "target=mdc", "sampler=hmc", "", "target=mdc&sampler=hmc&epsilon=nan", "target=mdc&sampler=hmc&L=1e400",
        "target=mdc&sampler=hmc&L=<script>alert(1)</script>", "target=mdc&sampler=hmc&" + "x" * 10_000 + "=1",
        "target=gmm&sampler=hmc&weights=1,b", "target=blr&sampler=hmc&prior_only=maybe", "target=mdc&sampler=hmc&seed=",
    ],
)  # fmt: skip
def test_bad_queries_are_refused(query: str) -> None:
    with pytest.raises(InvalidInput):
        RunSpec.from_query(query)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000000", 10**6), ("1_000_000", 10**6), ("1e6", 10**6), ("1E+6", 10**6), ("2.5e3", 2500), (" 7 ", 7),
        ("8.0", 8),
    ],
)  # fmt: skip
def test_whole_numbers_are_read_as_people_write_them(text: str, value: int) -> None:
    read = RUN_PARAMETERS["draws"].parse(text)
    assert (read, type(read)) == (value, int)
    assert RunSpec.from_query({"target": "gmm", "sampler": "hmc", "draws": text}).draws == value


def test_large_whole_numbers_keep_all_their_digits() -> None:
    assert RUN_PARAMETERS["seed"].parse("9007199254740991") == 2**53 - 1
    assert RUN_PARAMETERS["seed"].parse("9_007_199_254_740_991") == 2**53 - 1


@pytest.mark.parametrize("text", ["", "1.5", "1e-1", "1e400", "nan", "inf", "-1e3", "1,000", "1__0", "1e6.5", "0x10"])
def test_other_texts_are_no_whole_numbers(text: str) -> None:
    with pytest.raises(InvalidInput, match="draws must be a whole number"):
        RUN_PARAMETERS["draws"].parse(text)


@pytest.mark.parametrize(
    "line", ["", "import os", "mahmc.sample('mdc')", "mahmc.sample('mdc', 'hmc', L=__import__('os'))"]
)
def test_bad_lines_of_python_are_refused_and_never_run(line: str) -> None:
    with pytest.raises(InvalidInput):
        RunSpec.from_python(line)


def test_no_seed_is_a_new_one_each_time_that_the_spec_keeps() -> None:
    seeds = {RunSpec.of("mdc", "hmc", seed=None).seed for _ in range(5)}
    assert len(seeds) == 5
    assert len({mahmc.Comparison("mdc", seed=None).seed for _ in range(3)}) == 3
    assert len({mahmc.Checking([], seed=None).seed for _ in range(3)}) == 3
    assert RunSpec.of("mdc", "hmc").seed == 0


@pytest.mark.quick
@pytest.mark.parametrize(
    ("target", "sampler", "chosen", "figure"),
    [
        ("mdc", "mahmc", {}, 1.78e-2),
        ("blr", "hmc", {}, 7.94e-3),
        ("mdc", "mahmc", {"epsilon": 0.03}, None),
        ("mdc", "mahmc", {"n_w": 3}, None),
        ("mdc", "mahmc", {"update": "metropolis"}, None),
        ("mdc", "mahmc", {"thin": 2}, None),
        ("blr", "hmc", {"prior_only": True}, None),
        ("blr", "hmc", {"shape": 2.0}, None),
        ("gmm", "mahmc", {}, None),
        ("ising", "mahmc", {}, None),
    ],
)
def test_the_papers_figure_goes_with_the_papers_settings_alone(
    target: str, sampler: str, chosen: dict[str, Any], figure: float | None
) -> None:
    assert RunSpec.of(target, sampler, **chosen).paper_ess == figure


@pytest.mark.quick
def test_the_papers_figure_does_not_go_with_other_data() -> None:
    other = targets.blr(np.ones((4, 1)), np.array([0.0, 1.0, 1.0, 0.0]))
    assert RunSpec.of(other, "hmc").paper_ess is None
    assert np.isnan(other.presentation.score.paper)  # type: ignore[union-attr]
    assert np.isnan(targets.blr(shape=5.0).presentation.score.paper)  # type: ignore[union-attr]
