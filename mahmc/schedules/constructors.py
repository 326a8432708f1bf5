"""Schedules from numbers and texts that people give. Each value is checked here; messages say what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from mahmc.numerals import exact, rounded_up
from mahmc.parameters import InvalidInput
from mahmc.schedules.laws import IID, Alternate, Arrivals, Schedule, Sequences, remainder
from mahmc.schedules.steps import MOST_KINDS, MOST_STEPS, Steps, read_steps

MOST_SEQUENCES = 1_000
ROUNDING = 1e-6  # the largest allowed difference between a sum of probabilities and one


def alternate(L: int, n_u: int) -> Alternate:
    """n_u segments of L leapfrogs, with one update of q^O between two segments, as in Sec. 4 of the paper.

    Parameters
    ----------
    L
        Leapfrogs of a segment, at least 1.
    n_u
        Segments, at least 1.

    Returns
    -------
    Alternate
        The schedule.

    Raises
    ------
    InvalidInput
        If L or n_u is not a whole number of at least 1.

    Examples
    --------
    >>> schedules.alternate(L=2, n_u=3).examples(1)
    [(0, 0, 1, 0, 0, 1, 0, 0)]
    """
    return Alternate(_whole(L, "L"), _whole(n_u, "n_u"))


def iid(steps: int, leapfrog: float = 0.9, updates: Sequence[float] | None = None) -> IID:
    """Draw each step independently: a leapfrog with probability `leapfrog`, update i with probability updates[i − 1].

    The sequence of each iteration has exactly its probability. To save time, a block of chains keeps a few drawn
    sequences and uses each sequence in several iterations; `mahmc.schedules` says why this is right.

    Parameters
    ----------
    steps
        Steps of a trajectory, 1 to `MOST_STEPS`.
    leapfrog
        Probability of a leapfrog, in (0, 1].
    updates
        Probabilities of the kinds of update; by default there is one kind, with probability 1 − leapfrog.

    Returns
    -------
    IID
        The schedule.

    Raises
    ------
    InvalidInput
        If a value is not allowed, or the probabilities do not sum to one.

    Examples
    --------
    >>> schedules.iid(100, 0.8, updates=(0.1, 0.1)).updates
    (10.0, 10.0)
    """
    steps, leapfrog = _whole(steps, "steps"), _probability(leapfrog, "leapfrog")
    shares = remainder(leapfrog) if updates is None else tuple(_probability(share, "updates") for share in updates)
    if len(shares) > MOST_KINDS:
        raise InvalidInput(f"iid has {len(shares)} kinds of update: at most {MOST_KINDS} have a digit.")
    if steps > MOST_STEPS:
        raise InvalidInput(f"iid has {steps} steps: a trajectory may have at most {MOST_STEPS}.")
    _refuse_unless_one((leapfrog, *shares), "iid")
    return IID(steps, leapfrog, shares)


def sequences(choices: Sequence[str | Sequence[int]], weights: Sequence[float] | None = None) -> Sequences:
    """Draw one of a few sequences, by weight.

    Parameters
    ----------
    choices
        The sequences, each as text ("0001000", "3x0 1 3x0") or as digits.
    weights
        The probabilities of the sequences; by default all are equal.

    Returns
    -------
    Sequences
        The schedule.

    Raises
    ------
    InvalidInput
        If a sequence can be drawn but its mirror image cannot, or a value is not allowed.

    Examples
    --------
    >>> str(schedules.sequences(["3x0 1 0", "0 1 3x0"], weights=[0.7, 0.3]))
    'sequences(00010:0.7, 01000:0.3)'
    """
    if isinstance(choices, str):
        raise InvalidInput(f"sequences takes a list: sequences([{choices[:40]!r}]).")
    found = [read_steps(D) for D in choices]
    shares = _equal(len(found)) if weights is None else [_probability(w, "weights") for w in weights]
    if not 1 <= len(found) <= MOST_SEQUENCES:
        raise InvalidInput(f"{len(found)} sequences: there must be 1 to {MOST_SEQUENCES}.")
    if len(shares) != len(found):
        raise InvalidInput(f"{len(shares)} weights for {len(found)} sequences: give each sequence one weight.")
    if sum(map(len, found)) > MOST_STEPS:
        raise InvalidInput(f"the sequences have {sum(map(len, found))} steps in all: at most {MOST_STEPS} are allowed.")
    if len(set(found)) < len(found):
        raise InvalidInput("a sequence is given twice: give it once, and add its weights.")
    _refuse_unless_one(shares, "sequences")
    for D in found:
        if D[::-1] not in set(found):
            _refuse_mirror(D)
    if not any(0 in D for D in found):
        raise InvalidInput("no sequence has a leapfrog (a 0): q^H would never move.")
    return Sequences(tuple(found), tuple(shares))


def same_mean(schedule: Schedule) -> IID:
    """The i.i.d. schedule with the same mean numbers of leapfrogs and updates.

    Parameters
    ----------
    schedule
        Any schedule of leapfrogs and updates.

    Returns
    -------
    IID
        The schedule. Its means are exactly the same if they sum to a whole number, and nearly the same otherwise.

    Examples
    --------
    >>> str(schedules.same_mean(schedules.alternate(3, 2)))
    'iid(7, 0.8571428571428571)'
    """
    made = [schedule.leapfrogs, *schedule.updates]
    while made[-1] == 0:  # an update that is never made
        made.pop()
    shares = [number / math.fsum(made) for number in made]
    return iid(max(1, round(math.fsum(made))), shares[0], shares[1:] if len(shares) > 2 else None)


def mirrored(choices: Sequence[str], weights: Sequence[float] | None = None) -> Sequences:
    """`sequences`, with missing mirror images added.

    Parameters
    ----------
    choices, weights
        As for `sequences`. An added mirror image takes half the weight of its sequence.

    Returns
    -------
    Sequences
        The schedule.

    Raises
    ------
    InvalidInput
        As for `sequences`, but not for a missing mirror image.

    Examples
    --------
    >>> str(schedules.mirrored(["001"]))
    'sequences(001:0.5, 100:0.5)'
    """
    found = [read_steps(D) for D in choices]
    shares = weights or _equal(len(found))
    both: dict[Steps, float] = {}
    for D, share in zip(found, shares, strict=True):
        parts = [D] if D[::-1] in found else [D, D[::-1]]
        for part in parts:
            both[part] = both.get(part, 0.0) + share / len(parts)
    return sequences(list(both), list(both.values()))


def arrivals(T: float, visits: int, epsilon: float, sites: int) -> Arrivals:
    """M-HMC's schedule: `visits` visits at random times in a trajectory.

    Parameters
    ----------
    T
        Travel time of a trajectory.
    visits
        Visits in a trajectory, each to one discrete variable.
    epsilon
        The longest leapfrog.
    sites
        Discrete variables of the target.

    Returns
    -------
    Arrivals
        The schedule.

    Raises
    ------
    InvalidInput
        If a trajectory would have more than `MOST_STEPS` leapfrogs.

    Examples
    --------
    >>> schedules.arrivals(T=4.0, visits=100, epsilon=0.04, sites=20).updates
    (100,)
    """
    if T / epsilon > MOST_STEPS:
        raise InvalidInput(
            f"T = {exact(T)} takes {rounded_up(T / epsilon)} leapfrogs of ε = {exact(epsilon)}: at most {MOST_STEPS} "
            "are allowed. Take a "
            "shorter T or a larger epsilon."
        )
    return Arrivals(T, visits, epsilon, sites)


def _refuse_mirror(D: Steps) -> NoReturn:
    text = "".join(map(str, D[:40])) + ("…" if len(D) > 40 else "")
    raise InvalidInput(
        f"the sequence {text} can be drawn, but its mirror image cannot: Algorithm 3's factor P(D⁻¹)/P(D) is zero, and "
        "every such trajectory would have to be rejected. Add the mirror image, with its own weight, or make the "
        "sequence a palindrome."
    )


def _whole(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} = {value!r:.40} is not allowed: it must be a whole number of at least 1.")
    return value


def _probability(value: object, name: str) -> float:
    if not isinstance(value, int | float) or not 0.0 < value <= 1.0:
        raise InvalidInput(f"{name} = {value!r:.40} is not allowed: a probability here is in (0, 1].")
    return float(value)


def _equal(n: int) -> list[float]:
    return [1.0 / n for _ in range(n)]


def _refuse_unless_one(shares: Sequence[float], what: str) -> None:
    total = round(sum(shares), 12)  # 0.7 + 0.2 is 0.9, not 0.8999999999999999
    if abs(total - 1.0) > ROUNDING:
        raise InvalidInput(f"the probabilities of {what} sum to {exact(total)}, not to one: divide each by their sum.")
