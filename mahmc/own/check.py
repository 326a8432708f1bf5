"""Is a target that a person wrote what it says? Looked at when it is first built, before a chain runs.

- U and grad_U compile, are finite where chains start, read and write nothing but their rows, and grad_U is the gradient
  of U: finite differences at starts and around them, up to a hundred units away. Every coordinate is looked at by
  itself. Where these are too many for some seconds, blocks of coordinates that cover all are, and random directions.
- Each update reports ΔU = U after − U before, leaves q alone and `grad` right, keeps discrete values among those
  declared, and changes nothing in chains that did not accept: so many updates that single sites are visited too.
- Each update leaves exp(−U(q, ·)) alone, as far as that can be seen; see `laws`.
- `prior` and `simulate` give what the variables and the data fields are.

Random numbers are fixed, so a target passes always or never. If all is right, the probability that the whole check says
otherwise is about LEVEL at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mahmc.lanes import LANES
from mahmc.own.laws import laws
from mahmc.own.points import Block, Own, affordable

__all__ = ["Own", "check"]

LEVEL = 1e-6
SPREADS = (0.0, 0.0, 1.0, 10.0, 100.0)  # distance from a start
MOST_COORDINATES = 4096  # whose derivative is looked at one by one
BLOCKS, DIRECTIONS = 128, 16  # of coordinates that are looked at together, where there are more
UPDATES_EACH, MOST_UPDATES = 8, 1024  # from each start
VISITS = 4  # of each row, on average, by updates that visit one row at a time
STEP = 1e-4  # of finite differences


def check(own: Own) -> None:
    """InvalidInput, naming the function, the point and both values, if the target is not what it says."""
    block = Block(own, seed=1)
    _check_shapes(own)
    _check_model(own)
    for spread in SPREADS:
        block.start(spread)
        _check_energy(own, block, must_be_finite=spread == 0.0)
    wanted = min(max(UPDATES_EACH, VISITS * own.target.n_other // LANES), MOST_UPDATES)
    times = affordable(block, 4, fewest=UPDATES_EACH, most=wanted)
    for which, name in enumerate(own.updates):
        for spread in SPREADS[:3]:
            block.start(spread)
            for _ in range(times):
                _check_update(own, block, which, name)
    block.guarded = False
    for name, p_value, words in laws(own, block):
        if p_value * len(own.updates) < LEVEL:
            raise own.wrong(name, f"does not leave exp(−U) alone: {words} (p = {p_value:.1g})")


# ------------------------------------------------------------------------------------------------ shapes and names


def _check_shapes(own: Own) -> None:
    """What `start`, `exact`, `derived`, `truth` and `compared` give fits the variables."""
    target, rng = own.target, np.random.default_rng(0)
    _fits(own, "start", target.start(rng), ())
    scalars = [*target.names, *target.derived, "energy"]
    if target.exact is not None:
        draws = target.exact(rng, 3)
        _fits(own, "exact", draws, (3,))
    for function, names in (("truth", target.truths), ("watch", [target.paper_quantity])):
        for name in names:
            if name not in scalars:
                raise own.wrong(function, f"names {name!r}, which is none of {', '.join(scalars[:12])}")
    clash = {v.name for v in own.variables} & set(target.derived)
    if clash:
        raise own.wrong("derived", f"has {min(clash)!r}, which is the name of a variable")
    for function, table in (("derived", target.derived), ("compared", target.compared)):
        for name, derive in table.items():
            try:
                target.needs(derive)
            except Exception as error:
                raise own.wrong(function, f"[{name!r}] cannot be worked out from the draws: {error!r}") from error


def _fits(own: Own, function: str, draws: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    if set(draws) != {v.name for v in own.variables}:
        raise own.wrong(
            function, f"gives {', '.join(draws) or 'nothing'}; it must give {', '.join(v.name for v in own.variables)}"
        )
    for v in own.variables:
        wanted = shape if v.size is None else (*shape, v.size)
        found = np.asarray(draws[v.name])
        if found.shape != wanted:
            raise own.wrong(function, f"gives {v.name} of shape {found.shape}; it must be {wanted}")
        if v.values and not np.isin(found, v.values).all():
            raise own.wrong(function, f"gives {v.name} = {found.ravel()[:6].tolist()}; its values are {v.values}")


def _check_model(own: Own) -> None:
    """What `prior` and `simulate` give fits the variables and the data fields."""
    model = own.target.model
    if model is None:
        return
    rng = np.random.default_rng(0)
    parameters = {name: np.asarray(x) for name, x in model.prior(rng, 3).items()}
    _fits(own, "prior", parameters, (3,))
    model.with_data({name: x[0] for name, x in model.simulate(parameters, rng).items()})


# -------------------------------------------------------------------------------------------- U, grad_U, updates


def _check_energy(own: Own, block: Block, must_be_finite: bool) -> None:
    U, grad = block.U(), block.grad_U()
    if must_be_finite:
        _refuse_non_finite(own, block, U, grad)
    for names, analytic, numeric, doubt in _derivatives(block, U, grad):
        with np.errstate(invalid="ignore"):
            off = np.abs(analytic - numeric) > doubt + 1e-5 * (np.abs(analytic) + np.abs(numeric))
        off &= np.isfinite(analytic) & np.isfinite(numeric) & np.isfinite(doubt)
        if off.any():
            k, lane = (int(i) for i in np.argwhere(off)[0])
            raise own.wrong(
                "grad_U",
                f"is not the gradient of U: at {block.point(lane)} it gives {names[k]} = {analytic[k, lane]:.8g}, and "
                f"finite differences of U give {numeric[k, lane]:.8g}",
            )


def _refuse_non_finite(own: Own, block: Block, U: np.ndarray, grad: np.ndarray) -> None:
    if not np.isfinite(U).all():
        lane = int(np.flatnonzero(~np.isfinite(U))[0])
        raise own.wrong("U", f"is {U[lane]} at {block.point(lane)}, where a chain starts (or it reads beyond its rows)")
    if not np.isfinite(grad).all():
        row, lane = np.argwhere(~np.isfinite(grad))[0]
        raise own.wrong(
            "grad_U", f"leaves grad[{row}] = {grad[row, lane]} at {block.point(lane)}: is every row of grad set?"
        )


Derivatives = tuple[list[str], np.ndarray, np.ndarray, np.ndarray]  # names, by grad_U, by differences, and their doubt


def _derivatives(block: Block, U: np.ndarray, grad: np.ndarray) -> Iterator[Derivatives]:
    """Of every coordinate by itself; or, of very many, of blocks that cover them all, and along random directions."""
    size = len(block.q)
    if size <= MOST_COORDINATES and affordable(block, 4 * size, fewest=0, most=1):
        q = block.q.copy()
        h = STEP * np.maximum(1.0, np.abs(q))
        ends = block.energies("q", np.tile(np.arange(size), 4), np.concatenate([q + h, q - h, q + 2 * h, q - 2 * h]))
        yield [f"grad[{j}]" for j in range(size)], grad, *_slope(ends.reshape(4, size, -1), h, U)
        return
    for rows in [*np.array_split(block.rng.permutation(size), BLOCKS), *[np.arange(size)] * DIRECTIONS]:
        direction = np.zeros(size)
        direction[rows] = block.rng.standard_normal(rows.size)
        shown = ", ".join(f"grad[{j}]" for j in sorted(rows)[:3]) + (", …" if rows.size > 3 else "")
        yield [f"the derivative along a mix of {shown}"], (direction @ grad)[None], *_along(block, direction, U)


def _along(block: Block, direction: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slope of U along one direction, and its doubt: one row each."""
    q = block.q.copy()
    h = STEP * np.maximum(1.0, np.abs(direction @ q))[None]
    ends = []
    for size in (h, -h, 2 * h, -2 * h):
        block.q[:] = q + size * direction[:, None]
        ends.append(block.U()[None])
    block.q[:] = q
    return _slope(np.array(ends), h, U)


def _slope(ends: np.ndarray, h: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of U at +h, −h, +2h, −2h, and how far off they may be: rounding, and the next order."""
    with np.errstate(invalid="ignore", over="ignore"):
        near, far = (ends[0] - ends[1]) / (2 * h), (ends[2] - ends[3]) / (4 * h)
        return near, 100 * np.finfo(float).eps * np.abs(U) / h + np.abs(near - far) + 1e-10


def _check_update(own: Own, block: Block, which: int, name: str) -> None:
    before, other = block.U(), block.other.copy()
    block.grad_U()
    reported, accepted = block.update(which, name)
    left = block.grad.copy()
    after, grad = block.U(), block.grad_U()
    true = after - before
    with np.errstate(invalid="ignore"):
        room = 1e-8 * (1.0 + np.abs(before) + np.abs(after))
        unsound = np.abs(reported - true) > room
        stale = ~(np.abs(left - grad) <= 1e-8 * (1.0 + np.abs(left) + np.abs(grad))) & np.isfinite(grad)
    changed = ~accepted & (block.other != other).any(axis=0)
    text = ""
    if unsound.any():
        lane = int(np.flatnonzero(unsound)[0])
        text = f"reports ΔU = {reported[lane]:.8g} where U(after) − U(before) = {true[lane]:.8g}"
    elif changed.any():
        lane = int(np.flatnonzero(changed)[0])
        text = f"did not accept, but changed qᴼ: U before {before[lane]:.8g}, after {after[lane]:.8g}"
    elif stale.any():
        row, lane = (int(i) for i in np.argwhere(stale)[0])
        text = f"leaves grad[{row}] = {left[row, lane]:.8g} where grad_U gives {grad[row, lane]:.8g} at the new qᴼ"
    if text:
        raise own.wrong(name, f"{text}; that is at {block.point(lane)}")
    _refuse_stray_values(own, block, name)


def _refuse_stray_values(own: Own, block: Block, name: str) -> None:
    for v in own.variables:
        if not v.other:
            continue
        found = block.other[v.first : v.first + v.rows]
        right = np.isin(found, v.values) if v.values else (found >= v.low) & (found <= v.high)
        if not right.all():
            allowed = f"its values are {v.values}" if v.values else f"it lies between {v.low:g} and {v.high:g}"
            raise own.wrong(name, f"sets {v.name} to {found[~right][0]:g}; {allowed}")
