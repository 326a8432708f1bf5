"""Cells of the matrix: a sampler on a case, with the findings of its checks so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mahmc.checks.steps import StepSubject
from mahmc.checks.subjects import Chains, EngineSubject, Subject
from mahmc.checks.verdicts import Finding, Verdict
from mahmc.notebook import facts_as_html
from mahmc.run import Run
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import Target


class Case(NamedTuple):
    """A target for checks: a column of the matrix. `values` are parameters for every sampler that has them."""

    name: str
    title: str
    target: str
    settings: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    update: str | None = None


OVERLAPPING = {"weights": (0.3, 0.4, 0.3), "means": (-1.0, 0.0, 1.5), "sds": (0.4, 1.0, 0.5)}
CASES = {
    case.name: case
    for case in (
        Case("mdc", "MDC", "mdc"),
        Case("blr-prior", "BLR, prior only", "blr", {"prior_only": True}),
        Case("blr", "BLR, posterior", "blr"),
        Case("gmm", "GMM, the paper's", "gmm"),
        Case(
            "gmm-overlapping", "GMM, overlapping", "gmm", OVERLAPPING,
            {"epsilon": 0.75, "L": 1, "n_u": 2, "alpha": 0.8, "delta": 0.02}, "metropolis",
        ),
    )
}  # fmt: skip


class Findings(Mapping[str, Finding]):
    """The findings by check, in the order in which the checks ended.

    A finding is published once, and is never replaced: if two threads make the same check, the first finding counts.
    Publishing is one atomic step, so other threads may read at any time without a lock.
    """

    def __init__(self, found: Mapping[str, Finding] | None = None) -> None:
        self._made = {name: (finding, 0.0) for name, finding in (found or {}).items()}

    def publish(self, check: str, finding: Finding, seconds: float = 0.0) -> None:
        """Store the finding of a check, if it has none yet."""
        self._made.setdefault(check, (finding, seconds))

    @property
    def seconds(self) -> float:
        """The seconds that all checks took."""
        return sum(seconds for _, seconds in list(self._made.values()))

    def snapshot(self) -> Findings:
        """A copy of the findings so far, which does not change later."""
        found = Findings()
        found._made = dict(self._made)
        return found

    def __getitem__(self, check: str) -> Finding:
        return self._made[check][0]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._made))

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, eq=False)
class Cell:
    """One sampler on one case, with the findings of its checks so far."""

    case: Case
    sampler: str
    chosen: Mapping[str, Any]
    target: Target
    checks: tuple[str, ...]
    findings: Findings = field(default_factory=Findings)
    steps: StepSubject | None = None  # a sampler that a user wrote

    def __repr__(self) -> str:
        wrong = ", ".join(name for name, finding in self.findings.items() if finding.wrong)
        return f"<Cell of {self.sampler} on {self.case.name}: {self._said}{f' by {wrong}' if wrong else ''}>"

    def _repr_html_(self) -> str:
        """The verdict and the words of each finding, for notebooks."""
        findings = {name: finding.words for name, finding in self.findings.items()}
        return facts_as_html(f"{self.title} on {self.case.title}: {self._said}", findings)

    @property
    def _said(self) -> str:
        return str(self.verdict or f"{len(self.findings)} of {len(self.checks)} checks are done")

    @property
    def subject(self) -> Subject:
        """The sampler on its target, as checks see it."""
        return self.steps or EngineSubject(self.target, self.sampler, self.chosen)

    @property
    def seconds(self) -> float:
        """The seconds that the finished checks took."""
        return self.findings.seconds

    @property
    def title(self) -> str:
        """The sampler's title, with a warning if the sampler is wrong on purpose."""
        return EVERY_SAMPLER[self.sampler].label if self.steps is None else self.steps.name

    @property
    def key(self) -> tuple[str, str]:
        return self.sampler, self.case.name

    @property
    def finished(self) -> bool:
        return len(self.findings) == len(self.checks)

    @property
    def verdict(self) -> Verdict | None:
        """Wrong if any check says so. When all are done, not enough draws to tell if any check says so, else right."""
        if any(finding.wrong for finding in self.findings.values()):
            return Verdict.WRONG
        if not self.finished:
            return None
        return Verdict.UNCLEAR if any(f.verdict is Verdict.UNCLEAR for f in self.findings.values()) else Verdict.RIGHT

    @property
    def run(self) -> Chains | Run | None:
        """The chains of the check of marginals, for charts."""
        exhibits = (finding.exhibit for finding in self.findings.values())
        return next((found for found in exhibits if isinstance(found, Chains | Run)), None)

    @property
    def words(self) -> str:
        return "\n".join(str(finding) for finding in self.findings.values())
