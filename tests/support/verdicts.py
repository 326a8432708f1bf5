"""Verdicts on samplers, for test_invariance.py on the engine and for test_mutants.py on engines with a mistake.

The cases of CASES and GENERAL share a false-alarm rate of 1e-5; seeds are fixed.
"""

from __future__ import annotations

from typing import Any

from mahmc import targets
from mahmc.checks import Cell, Checking, Finding, Verdict, custom_cell, independence, invariance
from mahmc.checks.moved import ROUNDS
from mahmc.samplers import SAMPLERS
from mahmc.spec import RunSpec
from mahmc.targets import Target
from tests.support.cases import HARD, hard_case, pairs

PAPERS = ("mdc", "blr", "gmm")
DRAWS = 65536  # eight times as many in test_at_the_papers_settings


def updates_of(target: str) -> tuple[str, ...]:
    """Two updates of each of the paper's targets, whose other updates are in GENERAL; all updates of the examples."""
    return ("gibbs", "metropolis") if target in PAPERS else targets.build(target).density.updates or ("none",)


CASES = [(t, s, u) for t, s in pairs(SAMPLERS) for u in updates_of(t)]
# Algorithm 3 beyond the paper's schedule, and M-HMC, by name: a target and what is chosen. By default no update follows
# the trajectory: it would hide much of what goes wrong inside.
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


def case_of(names: tuple[str, ...]) -> tuple[Target, dict[str, Any], int, int]:
    """A case of CASES by target, sampler and update, or of GENERAL by its name: target, choices, draws and seed."""
    if len(names) == 1:
        target, chosen = GENERAL[names[0]]
        return HARD[target][0](), {"sampler": "mahmc", "epsilon": STEPS[target], "outer": "none"} | chosen, DRAWS, 22
    target, sampler, update = names
    built, values = hard_case(target, sampler)
    draws = DRAWS if target in PAPERS else 16384  # examples at full size in test_at_the_papers_settings
    return built, {"sampler": sampler, "update": update, **values}, draws, 20


def verdict(*names: str, part: int = 1, rounds: int = ROUNDS) -> Finding:
    """Whether exact draws stay exact; `part` = 8 takes an eighth of the draws."""
    target, chosen, draws, seed = case_of(names)
    return invariance(target, draws=draws // part, iterations=20, rounds=rounds, level=LEVEL, seed=seed, **chosen)


def until_wrong(*names: str, budget: float = 0.2) -> Cell:
    """As a person checks a sampler, with a share of the usual draws; no further once a check has said wrong."""
    target, chosen, _, _ = case_of(names)
    sampler = chosen.pop("sampler")
    cell = custom_cell(target, sampler, RunSpec.of(target, sampler, **chosen).chosen)
    for _ in Checking([cell], budget=budget, seed=22):
        if cell.verdict is Verdict.WRONG:
            break
    return cell


SHARED = ("sequences(001:0.5, 100:0.5)", "iid(3, 0.67)")


def independence_verdict(schedule: str, part: int = 1) -> Finding:
    """Either sequence alone moves 12 % of the mass between components, the two in opposite directions."""
    chosen: dict[str, Any] = {"schedule": schedule, "update": "gibbs", "outer": "none", "epsilon": 0.95}
    return independence(HARD["gmm"][0](), "mahmc", draws=65536 // part, level=1e-6, seed=23, **chosen)


def print_verdicts(names: tuple[str, ...]) -> None:
    """What the invariance test and all checks together say of a case, or the test of independence of a schedule.

    On few draws first: a mistake that a smaller test of the same level catches, the whole test would catch as well.
    """
    if names[0] == "independence":
        early = independence_verdict(names[1], part=8)
        print(early if early.wrong else independence_verdict(names[1]))
        return
    early = verdict(*names, part=8, rounds=1)
    print(early if early.wrong else verdict(*names))
    cell = until_wrong(*names, budget=0.02)
    cell = cell if cell.verdict is Verdict.WRONG else until_wrong(*names)
    print(f"all checks: {cell.verdict}\n{cell.words}")
