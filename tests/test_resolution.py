"""How large an error must be ruled out before *right* is said: a size for each kind of quantity, to set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mahmc
from mahmc import cli
from mahmc.checks import Verdict, agreement, calibration, detailed_balance
from mahmc.checks.resolution import KINDS, checked_resolution, parsed_resolution
from mahmc.checks.verdicts import Workbench
from mahmc.parameters import InvalidInput


@pytest.mark.quick
def test_sizes_are_read_from_text() -> None:
    assert parsed_resolution("mean=0.1, probability=2e-2") == {"mean": 0.1, "probability": 0.02}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "words"),
    [("means=0.1", "mean"), ("mean", "KIND=SIZE"), ("mean=", "KIND=SIZE"), ("mean=0", r"\(0, 1\]"),
     ("flow=nan", r"\(0, 1\]"), ("flow=1.5", r"\(0, 1\]"), ("", "KIND=SIZE")],
)  # fmt: skip
def test_what_is_no_size_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        parsed_resolution(text)


@pytest.mark.quick
@pytest.mark.parametrize("size", [True, "0.1", None, -0.1])
def test_a_size_is_a_number(size: Any) -> None:
    with pytest.raises(InvalidInput, match="mean"):
        checked_resolution({"mean": size})


@pytest.mark.quick
def test_a_check_keeps_its_own_sizes_of_other_kinds() -> None:
    assert Workbench({"mean": 0.01}).sizes({"mean": 0.1, "product": 0.2}) == {"mean": 0.01, "product": 0.2}


@pytest.mark.parametrize("kind", ["mean", "variance", "probability", "product", "flow"])
def test_right_is_not_said_where_a_smaller_error_must_be_ruled_out(kind: str) -> None:
    """Every kind counts; the verdict is not *wrong* for that, and the words say which size was asked for."""
    assert kind in KINDS
    cell = mahmc.check("gmm", "mahmc", budget=0.1, seed=3, resolution={kind: 1e-4})
    unclear = [finding for finding in cell.findings.values() if finding.verdict is Verdict.UNCLEAR]
    assert cell.verdict is Verdict.UNCLEAR
    assert any("0.0001" in finding.obstacle or kind in ("variance", "flow") for finding in unclear)


def test_right_is_said_where_larger_errors_may_be_there() -> None:
    """A tenth of the draws is not enough for the usual sizes, and is enough for these."""
    wide = {"mean": 0.9, "variance": 0.9, "probability": 0.5, "product": 0.9, "flow": 0.9}
    assert mahmc.check("gmm", "mahmc", budget=0.1, seed=3).verdict is Verdict.UNCLEAR
    assert mahmc.check("gmm", "mahmc", budget=0.1, seed=3, resolution=wide).verdict is Verdict.RIGHT


def test_other_checks_take_a_resolution_by_their_workbench() -> None:
    fine = Workbench({"mean": 1e-4, "probability": 1e-4, "flow": 1e-4})
    mixture = mahmc.targets.gmm(weights=[0.3, 0.4, 0.3], means=[-1, 0, 1.5], sds=[0.4, 1, 0.5])
    runs = {name: mahmc.sample(mixture, name, chains=64, draws=2000, seed=1) for name in ("hmc", "mahmc")}
    assert agreement(runs).verdict is Verdict.RIGHT
    assert agreement(runs, workbench=fine).verdict is Verdict.UNCLEAR
    assert detailed_balance("gmm", "mahmc", workbench=fine).verdict is Verdict.UNCLEAR

    def fit(y: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"mu": rng.normal(y.sum() / 6.0, 6.0**-0.5, 31)}

    three: dict[str, Any] = {
        "prior": lambda rng, n: {"mu": rng.normal(0.0, 1.0, n)},
        "simulate": lambda parameters, rng: rng.normal(parameters["mu"], 1.0, 5),
        "fit": fit,
    }
    assert calibration(**three).verdict is Verdict.RIGHT
    assert calibration(**three, workbench=fine).verdict is Verdict.UNCLEAR


def test_the_command_takes_a_resolution(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", "gmm", "hmc", "--budget", "0.05", "--quiet"]
    assert cli.main([*command, "--resolution", "probability=0.0002"]) == 3
    assert "0.0002" in capsys.readouterr().out
    assert cli.main([*command, "--resolution", "size=1"]) == 2
    assert "resolution" in capsys.readouterr().err
