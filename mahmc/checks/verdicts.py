"""Verdicts: what a check says, how sure it is, and which errors it would have missed.

A check makes comparisons, each with a p-value, in families: single elements, spreads, products of pairs and so on. Each
family has an equal share of the level, and within a family each comparison has an equal share (Bonferroni). So a
thousand products of pairs do not weaken a test of ten elements. The smallest corrected p-value is compared with the
level by the sequential procedure of Gandy and Scott (2021, "Unit testing for MCMC and other Monte Carlo methods", their
Algo. 1): a verdict of *wrong* is false with at most a stated probability. The verdict is *right* only if the check
would have caught errors of a stated size; otherwise there are not enough draws to tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from mahmc.checks.resolution import DEFAULT, Resolution, checked_resolution
from mahmc.parameters import InvalidInput
from mahmc.run import Run

LEVEL = 1e-4  # the probability of a false alarm, for one sampler on one target
SMALLEST = 1e-300  # the smallest p-value that is printed as a number
POWER = 0.9  # the probability of catching an error of the stated size


def checked_level(level: float) -> float:
    """The level, if it is a probability that can be used."""
    if not 0.0 < level < 0.5:
        raise InvalidInput(f"level = {level:g} is not allowed: a probability of false alarms in (0, 0.5) is needed.")
    return level


def in_words(p_value: float) -> str:
    """A p-value as text. No p-value is zero: the smallest ones are only bounded."""
    return f"{p_value:.2g}" if p_value >= SMALLEST else f"below {SMALLEST:g}"


class Verdict(StrEnum):
    """What a check says of a sampler."""

    RIGHT = "right"
    WRONG = "wrong"
    UNCLEAR = "not enough draws to tell"


class Stopped(Exception):
    """A check was stopped before it had a verdict."""


class ComparedStatistic(NamedTuple):
    """One statistic compared with its true value: the p-value and, where there are such numbers, the estimate."""

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


def factors(comparisons: Iterable[ComparedStatistic]) -> dict[str, int]:
    """The factor that corrects a p-value of each family: the family's size times the number of families."""
    sizes = Counter(comparison.family for comparison in comparisons)
    return {family: size * len(sizes) for family, size in sizes.items()}


def corrected(comparisons: Iterable[ComparedStatistic]) -> float:
    """The smallest corrected p-value, at most one. Without comparisons it is one."""
    found = list(comparisons)
    factor = factors(found)
    return min((min(1.0, c.p_value * factor[c.family]) for c in found), default=1.0)


class Round(NamedTuple):
    """One round of a check: its comparisons, and the errors that it would have caught."""

    comparisons: tuple[ComparedStatistic, ...]
    draws: int
    catches: str  # the smallest error that the round would have caught, in words
    enough: bool = True  # whether this error is small enough for a verdict of right
    obstacle: str = ""  # what to do if it is not
    exhibit: Any = None  # the data of a chart
    unseen: str = ""  # what was not compared


@dataclass(frozen=True)
class Finding:
    """What a check found. If the sampler is right, the verdict is *wrong* with probability at most `level`."""

    check: str
    verdict: Verdict
    p_value: float  # the smallest corrected p-value, at most one
    level: float
    compared: str
    catches: str
    rounds: int
    draws: int
    comparisons: tuple[ComparedStatistic, ...]  # of the last round, smallest corrected p-value first
    obstacle: str = ""
    exhibit: Any = None
    unseen: str = ""
    said: str = ""  # the reason in the check's own words, where there is no p-value

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
        """The verdict and its reasons, in one or two sentences."""
        if self.said:
            return f"{self.verdict.capitalize()}: {self.said}"
        if not self.comparisons:
            return f"{self.verdict.capitalize()}: {self.obstacle}"
        worst, n = self.comparisons[0], len(self.comparisons)
        text = (
            f"{self.verdict.capitalize()}: the {f'smallest p-value of {n} comparisons' if n > 1 else 'p-value'} is "
            f"{in_words(worst.p_value)} ({worst.what}), or {in_words(self.p_value)} when corrected for the number of "
            f"comparisons; the level is {self.level:.2g}. "
        )
        if self.wrong:
            return text + f"Compared: {self.compared}."
        text += f"This check would have caught {self.catches}." + (f" {self.obstacle}" if self.obstacle else "")
        return text + (f" Not compared: {self.unseen}." if self.unseen else "")

    def __str__(self) -> str:
        return f"{self.check}: {self.words}"


def sequential(
    check: str, compared: str, make_round: Callable[[int], Round], level: float = LEVEL, rounds: int = 3
) -> Finding:
    """Make rounds 1, 2, … with more and more draws, until one of them decides.

    Each round compares its corrected p-value with β. A p-value of at most β is a failure, a p-value above γ + β is a
    pass, and any other p-value asks for a further round. With β = level/rounds in the first round, γ = β^(1/rounds) and
    β ← β/γ from round to round, a false alarm has probability at most `level`.
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
    """The finding of a check that has nothing to compare, with the reason."""
    return Finding(check, Verdict.UNCLEAR, 1.0, level, "", "nothing", 0, 0, (), reason)


class Workbench:
    """What checks share: the resolution that people set, and a way to stop chains.

    `stop` ends the current run at once, and `Stopped` is raised.
    """

    def __init__(self, resolution: Resolution = DEFAULT) -> None:
        self.resolution = checked_resolution(resolution)
        self._run: Run | None = None
        self._stopped = False

    def sizes(self, defaults: Resolution) -> dict[str, float]:
        """The sizes of errors that a check must rule out, by kind: the sizes that were set, or else its defaults."""
        return {kind: self.resolution.get(kind, size) for kind, size in defaults.items()}

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
        """Raise `Stopped` if `stop` was called."""
        if self._stopped:
            raise Stopped

    def advance(self, run: Run) -> Run:
        """Advance the run to its end, and return it."""
        self._run = run
        chunks = iter(run)  # from here on a stop reaches the kernels; the loop sees a stop that came before
        while not self._stopped and next(chunks, None):
            pass
        self._run = None
        if not run.finished:
            raise Stopped
        return run
