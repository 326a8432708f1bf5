"""Every sampler leaves every target alone: exact draws in, a few iterations, exact draws out.

False alarms: each of the cases has its share of 1e-5, so the whole file has at most 1e-5; seeds are fixed.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from mahmc import targets
from mahmc.checks import Cell, Checking, Finding, Verdict, independence, invariance, own_cell
from mahmc.samplers import SAMPLERS
from mahmc.spec import RunSpec
from mahmc.targets import Target
from tests.conftest import HARD, hard_case, pairs

PAPERS = ("mdc", "blr", "gmm")


def updates_of(target: str) -> tuple[str, ...]:
    """Of the paper's targets two; the others are in GENERAL."""
    return ("gibbs", "metropolis") if target in PAPERS else targets.build(target).updates or ("none",)


CASES = [(t, s, u) for t, s in pairs(SAMPLERS) for u in updates_of(t)]
# Algorithm 3 beyond the paper's schedule, and M-HMC, by name: a target and what is chosen. No update after the
# trajectory, unless it is said: it would mend much of what goes wrong inside.
STEPS = {"gmm": 0.75, "mdc": 0.3, "blr": 0.8}
GENERAL: dict[str, tuple[str, dict[str, Any]]] = {
    "iid": ("gmm", {"schedule": "iid(4, 0.5)", "update": "metropolis"}),
    "iid with two kinds of update": ("mdc", {"schedule": "iid(6, 0.5, 0.3, 0.2)", "update": "block,metropolis"}),
    "iid on blr": ("blr", {"schedule": "iid(5, 0.6, 0.2, 0.2)", "update": "metropolis,gibbs"}),
    "mirrored": ("gmm", {"schedule": "sequences(001:0.7, 100:0.3)", "update": "gibbs"}),
    "mirrored with two kinds": (
        "gmm", {"schedule": "sequences(0102:0.35, 2010:0.25, 00120:0.25, 02100:0.15)", "update": "gibbs,neighbour"},
    ),
    "mirrored and within Gibbs": (
        "mdc", {"schedule": "sequences(2x0 1 5x0:0.7, 5x0 1 2x0:0.3)", "update": "metropolis", "outer": "metropolis"},
    ),
    "pure mahmc": ("gmm", {"L": 1, "n_u": 3, "update": "metropolis"}),
    "pure mahmc on mdc": ("mdc", {"L": 2, "n_u": 4, "update": "metropolis"}),
    "neighbour": ("gmm", {"L": 1, "n_u": 3, "update": "neighbour"}),
    "modified gibbs": ("gmm", {"L": 1, "n_u": 3, "update": "modified-gibbs"}),
    "block": ("mdc", {"L": 2, "n_u": 4, "update": "block"}),
    "one after another": ("mdc", {"L": 2, "n_u": 3, "update": "block", "outer": "metropolis"}),
    "m-hmc, modified gibbs": ("gmm", {"sampler": "m-hmc", "T": 2.0, "visits": 3, "update": "modified-gibbs"}),
    "m-hmc, neighbour": ("gmm", {"sampler": "m-hmc", "T": 2.0, "visits": 3, "update": "neighbour"}),
    "m-hmc, many visits": ("gmm", {"sampler": "m-hmc", "T": 1.5, "visits": 12, "update": "metropolis"}),
    "m-hmc on mdc, once round and a bit": ("mdc", {"sampler": "m-hmc", "T": 1.5, "visits": 7, "update": "metropolis"}),
}  # fmt: skip
LEVEL = 1e-5 / (len(CASES) + len(GENERAL))


def verdict(target: str, sampler: str, update: str) -> Finding:
    built, values = hard_case(target, sampler)
    draws = 65536 if target in PAPERS else 16384  # examples at full size in test_at_the_papers_settings
    return invariance(built, sampler, update=update, draws=draws, iterations=20, level=LEVEL, seed=20, **values)


def until_wrong(target: Target, sampler: str, **chosen: Any) -> Cell:
    """As a person checks a sampler, with a fifth of the usual draws; no further once a check has said wrong."""
    cell = own_cell(target, sampler, RunSpec.of(target, sampler, **chosen).chosen)
    for _ in Checking([cell], budget=0.2, seed=22):
        if cell.verdict is Verdict.WRONG:
            break
    return cell


def all_checks(target: str, sampler: str, update: str) -> Cell:
    built, values = hard_case(target, sampler)
    return until_wrong(built, sampler, update=update, **values)


def general_case(name: str) -> tuple[Target, dict[str, Any]]:
    target, chosen = GENERAL[name]
    return HARD[target][0](), {"sampler": "mahmc", "epsilon": STEPS[target], "outer": "none"} | chosen


def general_verdict(name: str) -> Finding:
    target, wanted = general_case(name)
    return invariance(target, draws=65536, iterations=20, level=LEVEL, seed=22, **wanted)


def general_checks(name: str) -> Cell:
    target, wanted = general_case(name)
    return until_wrong(target, **wanted)


SHARED = ("sequences(001:0.5, 100:0.5)", "iid(3, 0.67)")


def independence_verdict(schedule: str) -> Finding:
    """With a pair of which either sequence by itself moves 12 % of the mass between components, each the other way."""
    chosen = {"schedule": schedule, "update": "gibbs", "outer": "none", "epsilon": 0.95}
    return independence(HARD["gmm"][0](), "mahmc", draws=65536, level=1e-6, seed=23, **chosen)


@pytest.mark.parametrize(("target", "sampler", "update"), CASES)
def test_sampler_leaves_target_invariant(target: str, sampler: str, update: str) -> None:
    result = verdict(target, sampler, update)
    assert result.right, str(result)


@pytest.mark.parametrize("name", GENERAL)
def test_algorithm_3_in_general_leaves_targets_invariant(name: str) -> None:
    result = general_verdict(name)
    assert result.right, str(result)


@pytest.mark.parametrize("schedule", SHARED)
def test_chains_of_a_block_are_independent_though_they_share_a_random_schedule(schedule: str) -> None:
    """False alarms at most 1e-6 each. A block that shared D itself is caught: see test_mutants."""
    result = independence_verdict(schedule)
    assert result.right, str(result)


@pytest.mark.long
@pytest.mark.parametrize(("target", "sampler", "update"), CASES)
def test_at_the_papers_settings(target: str, sampler: str, update: str) -> None:
    """The same at the paper's targets and step sizes (those that examples bring), with many more draws."""
    settings = {"prior_only": True} if target == "blr" else {}
    result = invariance(target, sampler, update=update, draws=524288, iterations=2, level=LEVEL, seed=21, **settings)
    assert result.right, str(result)


if __name__ == "__main__":  # for test_mutants: the verdicts on whatever engine is on the path
    match sys.argv[1:]:
        case [target, sampler, update]:
            print(verdict(target, sampler, update))
            cell = all_checks(target, sampler, update)
        case ["independence", schedule]:
            print(independence_verdict(schedule))
            sys.exit()
        case [name]:
            print(general_verdict(name))
            cell = general_checks(name)
    print(f"all checks: {cell.verdict}\n{cell.words}")
