"""The cells of the matrix of verdicts and their findings, as the page shows them."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.views.view import Line
from mahmc.checks import Cell, Finding, Verdict

SYMBOLS = {Verdict.RIGHT: "✓", Verdict.WRONG: "✕", Verdict.UNCLEAR: "?"}
WORDS = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "not enough"}
STATES = {Verdict.RIGHT: "right", Verdict.WRONG: "wrong", Verdict.UNCLEAR: "unclear"}
TONES = {Verdict.RIGHT: "good", Verdict.WRONG: "bad", Verdict.UNCLEAR: "unclear"}


class Square(NamedTuple):
    """A cell as the matrix shows it: state (its colour), symbol, word, and the check that runs or decided."""

    state: str  # "right", "wrong", "unclear", "running", "waiting", "open", or "none" if impossible
    symbol: str
    word: str
    detail: str = ""
    help: str = ""


OTHER_STATES = Square("none", "", "no", "other quantities", "This sampler does not take the states of this target.")
NO_DISCRETE = Square("none", "", "no", "discrete part", "This sampler needs discrete variables; this target has none.")


def of(found: Cell | None, running: str, planned: bool) -> Square:
    """A cell with its findings so far, the check that runs now, and whether it is going to be checked."""
    if found is not None and (verdict := found.verdict) is not None:
        decided_by = next((name for name, finding in found.findings.items() if finding.wrong), "")
        help = {Verdict.WRONG: f"Found by {decided_by}.", Verdict.RIGHT: "No check found an error.",
                Verdict.UNCLEAR: "Errors that matter could be missed: raise the budget."}[verdict]  # fmt: skip
        return Square(STATES[verdict], SYMBOLS[verdict], WORDS[verdict], running or decided_by, help)
    if running:
        return Square("running", "◌", "running", running)
    if planned:
        return Square("waiting", "·", "waiting")
    if found is not None and found.findings:
        return Square("open", "–", "stopped", f"{len(found.findings)} of {len(found.checks)} checks")
    return Square("open", "–", "not run")


def sentence(finding: Finding) -> Line:
    """A finding in words."""
    verdict = finding.verdict
    return Line(finding.words, tone=TONES[verdict], lead=f"{SYMBOLS[verdict]} {finding.check.capitalize()}")
