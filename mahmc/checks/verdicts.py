"""Verdicts: what a check says, how sure it is, and what it could not have seen.

A check makes comparisons, each with a p-value, in families: single elements, spreads, products of pairs and so on. Each
family has an equal share of the level, and within a family each comparison has an equal share (Bonferroni). So a
thousand products of pairs do not make a test of ten elements blunt. The smallest corrected p-value is held against the
level in the sequential way of Gandy and Scott (2021, "Unit testing for MCMC and other Monte Carlo methods", their
Algo. 1): a verdict of *wrong* is false with at most a stated probability. *Right* is said only if errors of a stated
size would have been caught; otherwise there are not enough draws to tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from mahmc.parameters import InvalidInput
from mahmc.run import Run

LEVEL = 1e-4  # of false alarms, of one sampler on one target
SMALLEST = 1e-300  # p-value that is told from zero
POWER = 0.9  # with which an error of the size that is stated would have been caught


def checked_level(level: float) -> float:
    """The level, if it is one."""
    if not 0.0 < level < 0.5:
        raise InvalidInput(f"level = {level:g} is not allowed: a probability of false alarms in (0, 0.5) is needed.")
    return level


def in_words(p_value: float) -> str:
    """A p-value; it is never zero, only too small for a number."""
    return f"{p_value:.2g}" if p_value >= SMALLEST else f"below {SMALLEST:g}"


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    UNCLEAR = "not enough draws to tell"


class Stopped(Exception):
    """A check was stopped before it had anything to say."""


class Comparison(NamedTuple):
    """One statistic against what it should be; an estimate, its truth and its error where there are such numbers."""

    what: str
    p_value: float
    estimate: float = math.nan
    truth: float = math.nan
    error: float = math.nan
    family: str = ""

    @property
    def z(self) -> float:
        """Distance from the truth in standard errors."""
        return (self.estimate - self.truth) / self.error if self.error > 0 else math.nan


def factors(comparisons: Iterable[Comparison]) -> dict[str, int]:
    """What a p-value of each family is multiplied with: the family's size times the number of families."""
    sizes = Counter(comparison.family for comparison in comparisons)
    return {family: size * len(sizes) for family, size in sizes.items()}


def corrected(comparisons: Iterable[Comparison]) -> float:
    """The smallest p-value after its correction; at most one. Without comparisons it is one."""
    found = list(comparisons)
    factor = factors(found)
    return min((min(1.0, c.p_value * factor[c.family]) for c in found), default=1.0)


class Round(NamedTuple):
    """One round of a check: its comparisons, and what it would have caught."""

    comparisons: tuple[Comparison, ...]
    draws: int
    catches: str  # the smallest error that it would have caught, in words
    enough: bool = True  # whether that is small enough to say right
    obstacle: str = ""  # what to do, if not
    exhibit: Any = None  # what a picture needs
    unseen: str = ""  # what was not looked at


@dataclass(frozen=True)
class Finding:
    """What a check found. If the sampler is right, `wrong` is said with probability at most `level`."""

    check: str
    verdict: Verdict
    p_value: float  # the smallest, corrected for the number of comparisons; at most one
    level: float
    compared: str
    catches: str
    rounds: int
    draws: int
    comparisons: tuple[Comparison, ...]  # of the last round, smallest corrected p-value first
    obstacle: str = ""
    exhibit: Any = None
    unseen: str = ""
    said: str = ""  # the grounds in the check's own words, where there is no p-value

    @property
    def right(self) -> bool:
        return self.verdict is Verdict.RIGHT

    @property
    def wrong(self) -> bool:
        return self.verdict is Verdict.WRONG

    @property
    def corrected(self) -> tuple[float, ...]:
        """The p-value of each comparison, corrected for their number."""
        factor = factors(self.comparisons)
        return tuple(min(1.0, c.p_value * factor[c.family]) for c in self.comparisons)

    @property
    def words(self) -> str:
        """The verdict and its grounds, in one or two sentences."""
        if self.said:
            return f"{self.verdict.capitalize()}: {self.said}"
        if not self.comparisons:
            return f"{self.verdict.capitalize()}: {self.obstacle}"
        worst, n = self.comparisons[0], len(self.comparisons)
        text = (
            f"{self.verdict.capitalize()}: {f'of {n} comparisons the smallest' if n > 1 else 'the one'} p-value is "
            f"{in_words(worst.p_value)} ({worst.what}), {in_words(self.p_value)} when corrected for their number; "
            f"level {self.level:.2g}. "
        )
        if self.wrong:
            return text + f"Compared: {self.compared}."
        text += f"This check would have caught {self.catches}." + (f" {self.obstacle}" if self.obstacle else "")
        return text + (f" Not looked at: {self.unseen}." if self.unseen else "")

    def __str__(self) -> str:
        return f"{self.check}: {self.words}"


def sequential(
    check: str, compared: str, make_round: Callable[[int], Round], level: float = LEVEL, rounds: int = 3
) -> Finding:
    """Hold rounds 1, 2, … of ever more draws against the level, until one of them decides.

    In each round the corrected p-value is held against β: at most β is a failure, above γ + β a pass, and anything
    between asks for a further round. With β = level/rounds at first, γ = β^(1/rounds) and β ← β/γ from round to round,
    false alarms have probability at most `level`.
    """
    beta = level / rounds
    gamma = beta ** (1.0 / rounds)
    for number in range(1, rounds + 1):
        found = make_round(number)
        p_value = corrected(found.comparisons)
        if p_value <= beta or p_value > gamma + beta or number == rounds:
            break
        beta /= gamma
    factor = factors(found.comparisons)
    comparisons = tuple(sorted(found.comparisons, key=lambda c: (c.p_value * factor[c.family], c.p_value)))
    if comparisons and p_value <= beta:
        verdict = Verdict.WRONG
    else:
        verdict = Verdict.RIGHT if found.enough and comparisons else Verdict.UNCLEAR
    obstacle = "" if verdict is not Verdict.UNCLEAR else found.obstacle
    return Finding(
        check, verdict, p_value, level, compared, found.catches, number, found.draws, comparisons, obstacle,
        found.exhibit, found.unseen,
    )  # fmt: skip


def unclear(check: str, reason: str, level: float = LEVEL) -> Finding:
    """A check that has nothing to look at."""
    return Finding(check, Verdict.UNCLEAR, 1.0, level, "", "nothing", 0, 0, (), reason)


class Workbench:
    """Runs chains for checks, and can be told to stop: then the run under way ends at once, and `Stopped` is raised."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._stopped = False

    def stop(self) -> None:
        """Stop now, from any thread."""
        self._stopped = True
        if self._run is not None:
            self._run.stop()

    def ready(self) -> Workbench:
        """Take back an earlier stop."""
        self._stopped = False
        return self

    def go_on(self) -> None:
        """Raise `Stopped` if a stop was asked for."""
        if self._stopped:
            raise Stopped

    def advance(self, run: Run) -> Run:
        """The run, at its end."""
        self._run = run
        chunks = iter(run)  # from here on a stop reaches the kernels; one that came before is seen below
        while not self._stopped and next(chunks, None):
            pass
        self._run = None
        if not run.finished:
            raise Stopped
        return run
