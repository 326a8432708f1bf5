"""The registry of checks: where each check applies, and how it is made. All users of checks iterate over `CHECKS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

from mahmc.checks import flows, gradients, joint, margins, moved
from mahmc.checks.flows import detailed_balance
from mahmc.checks.joint import calibration, joint_distribution, what_to_add
from mahmc.checks.steps import StepSubject
from mahmc.checks.subjects import EngineSubject, Subject
from mahmc.checks.verdicts import LEVEL, Finding, Workbench
from mahmc.parameters import InvalidInput


@dataclass(frozen=True)
class Check:
    """A check of a sampler on a target: its name, its purpose, where it applies, and how it is made."""

    name: str
    help: str
    applies: Callable[[Subject], bool]
    make: Callable[..., Finding]  # (subject, budget, level=…, seed=…, workbench=…)
    suffices: bool = True  # for a verdict, if no other check applies: the check compares draws with a truth

    def run(self, subject: Subject, budget: float = 1.0, *, level: float = LEVEL, seed: int = 0,
            workbench: Workbench | None = None) -> Finding:  # fmt: skip
        """Make the check, and return its finding."""
        return self.make(subject, budget, level=level, seed=seed, workbench=workbench)


def _count(draws: int, budget: float) -> int:
    return max(64, round(draws * budget / 8) * 8)


def _without_exact(subject: Subject) -> TypeGuard[EngineSubject]:
    """Whether the subject is a sampler of mahmc on a target without exact draws, which allow sharper checks."""
    return isinstance(subject, EngineSubject) and subject.exact is None


def _with_target(check: Callable[..., Finding], draws: int) -> Callable[..., Finding]:
    """A check of a target, a sampler and parameters, turned into a check of a subject."""

    def make(subject: EngineSubject, budget: float, **common: Any) -> Finding:
        return check(subject.target, subject.sampler, draws=_count(draws, budget), **common, **subject.chosen)

    return make


CHECKS = {
    check.name: check
    for check in (
        Check(
            margins.CHECK,
            "long chains against exact distributions and exact draws, and whether every element moves",
            lambda subject: bool(subject.truths) or subject.exact is not None,
            lambda subject, budget, **common: margins.check_marginals(subject, subject.size(budget), **common),
        ),
        Check(
            moved.CHECK,
            "exact draws stay exact",
            lambda subject: subject.exact is not None,
            lambda subject, budget, **common: moved.check_invariance(
                subject, draws=_count(moved.DRAWS, budget), **common
            ),
        ),
        Check(
            moved.INDEPENDENCE,
            "chains that move in one call do not influence each other",
            lambda subject: isinstance(subject, StepSubject),  # the test suite covers the samplers of mahmc
            lambda subject, budget, **common: moved.check_independence(
                subject, draws=_count(moved.DRAWS, budget), **common
            ),
        ),
        Check(
            "detailed balance",
            "flows between discrete states balance",
            lambda subject: isinstance(subject, EngineSubject) and flows.applies(subject.target, subject.updates),
            _with_target(detailed_balance, 65536),
        ),
        Check(
            gradients.CHECK,
            "the gradient is that of the energy, in every coordinate, and stays so after every update",
            lambda subject: isinstance(subject, EngineSubject),
            lambda subject, budget, **common: gradients.check_gradient(subject, **common),
            suffices=False,
        ),
        Check(
            "joint distribution",
            "parameters and simulated data keep their joint distribution",
            lambda subject: _without_exact(subject) and joint.applies(subject.target),
            _with_target(joint_distribution, joint.DRAWS[joint.JOINT]),
        ),
        Check(
            "calibration",
            "true parameters rank anywhere among draws",
            lambda subject: _without_exact(subject) and joint.applies(subject.target),
            _with_target(calibration, joint.DRAWS[joint.CALIBRATION]),
        ),
    )
}


def applicable(subject: Subject) -> tuple[str, ...]:
    """The checks that apply to a subject; InvalidInput if none of them compares draws with a truth."""
    names = tuple(name for name, check in CHECKS.items() if check.applies(subject))
    if not any(CHECKS[name].suffices for name in names):
        raise InvalidInput(what_to_add(subject.target))  # type: ignore[attr-defined]  # other subjects have exact draws
    return names
