"""The check of a custom target, when the target is first built and before a chain runs.

- U and grad_U compile, are finite where chains start, and read and write only their rows. grad_U is the gradient of U:
  finite differences are compared with grad_U at starts and up to a hundred units away. Each coordinate is checked
  separately. If there are too many coordinates for some seconds, blocks that cover all coordinates and random
  directions are checked.
- Each update reports ΔU = U after − U before, does not change q, sets `grad` to the gradient at the new point, sets
  discrete variables only to declared values, and changes nothing in chains that do not accept. Enough updates are made
  to visit single sites too.
- Each update leaves exp(−U(q, ·)) invariant, as far as a test can see; see `mahmc.custom.laws`.
- `prior` and `simulate` return the declared variables and data fields.

Random numbers are fixed, so a target passes always or never. If a target is right, the probability that the whole check
refuses the target is at most about FALSE_ALARMS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mahmc.custom.laws import tested_updates
from mahmc.custom.points import CustomTarget, PointBlock, affordable
from mahmc.lanes import LANES

__all__ = ["CustomTarget", "check"]

FALSE_ALARMS = 1e-6  # the probability that a right target is refused
SPREADS = (0.0, 0.0, 1.0, 10.0, 100.0)  # distances from a start
MOST_COORDINATES = 4096  # up to this number each partial derivative is checked separately
COORDINATE_BLOCKS, DIRECTIONS = 128, 16  # with more coordinates: blocks of coordinates, and random directions
FEWEST_UPDATES, MOST_UPDATES = 8, 1024  # of each kind, from each start
VISITS_OF_EACH_ROW = 4  # on average, by updates that visit one row at a time
STEP = 1e-4  # the step of finite differences


def check(custom: CustomTarget) -> None:
    """Check a custom target.

    Parameters
    ----------
    custom
        The target and what its class declares.

    Raises
    ------
    InvalidInput
        If a function of the class is wrong. The message gives the function, the point, and both values.
    """
    block = PointBlock(custom, seed=1)
    _check_shapes(custom)
    _check_model(custom)
    for spread in SPREADS:
        block.start(spread)
        _check_energy(custom, block, must_be_finite=spread == 0.0)
    if hasattr(custom.cls, "step_scale"):
        _check_step_scale(custom, block)
    enough = min(max(FEWEST_UPDATES, VISITS_OF_EACH_ROW * custom.target.density.n_other // LANES), MOST_UPDATES)
    times = affordable(block, 4, fewest=FEWEST_UPDATES, most=enough)
    for index, name in enumerate(custom.updates):
        for spread in SPREADS[:3]:
            block.start(spread)
            for _ in range(times):
                _check_update(custom, block, index, name)
    block.guarded = False
    for name, p_value, words in tested_updates(custom, block):
        if p_value * len(custom.updates) < FALSE_ALARMS:
            raise custom.wrong(name, f"does not leave exp(−U) invariant: {words} (p = {p_value:.1g})")


# ------------------------------------------------------------------------------------------------ shapes and names


def _check_shapes(custom: CustomTarget) -> None:
    """Refuse results of `start`, `exact`, `derived` and `truth` that do not fit the variables."""
    target, rng = custom.target, np.random.default_rng(0)
    _fits(custom, "start", target.density.start(rng), ())
    scalars = [*target.names, *target.presentation.derived, "energy"]
    if target.truth.exact is not None:
        draws = target.truth.exact(rng, 3)
        _fits(custom, "exact", draws, (3,))
    for function, names in (("truth", target.truth.scalars), ("watch", [target.presentation.main_quantity])):
        for name in names:
            if name not in scalars:
                raise custom.wrong(function, f"names {name!r}, which is not one of {', '.join(scalars[:12])}")
    clash = {v.name for v in custom.variables} & set(target.presentation.derived)
    if clash:
        raise custom.wrong("derived", f"has {min(clash)!r}, which is the name of a variable")


def _fits(custom: CustomTarget, function: str, draws: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    if set(draws) != {v.name for v in custom.variables}:
        needed = ", ".join(v.name for v in custom.variables)
        raise custom.wrong(function, f"gives {', '.join(draws) or 'nothing'}; it must give {needed}")
    for v in custom.variables:
        wanted = shape if v.size is None else (*shape, v.size)
        found = np.asarray(draws[v.name])
        if found.shape != wanted:
            raise custom.wrong(function, f"gives {v.name} of shape {found.shape}; it must be {wanted}")
        if v.values and not np.isin(found, v.values).all():
            raise custom.wrong(function, f"gives {v.name} = {found.ravel()[:6].tolist()}; its values are {v.values}")


def _check_model(custom: CustomTarget) -> None:
    """Refuse results of `prior` and `simulate` that do not fit the variables and the data fields."""
    model = custom.target.truth.model
    if model is None:
        return
    rng = np.random.default_rng(0)
    parameters = {name: np.asarray(x) for name, x in model.prior(rng, 3).items()}
    _fits(custom, "prior", parameters, (3,))
    model.with_data({name: x[0] for name, x in model.simulate(parameters, rng).items()})


# -------------------------------------------------------------------------------------------- U, grad_U, updates


def _check_energy(custom: CustomTarget, block: PointBlock, must_be_finite: bool) -> None:
    U, grad = block.U(), block.grad_U()
    if must_be_finite:
        _refuse_non_finite(custom, block, U, grad)
    for names, analytic, numeric, error in _derivatives(block, U, grad):
        with np.errstate(invalid="ignore"):
            differs = np.abs(analytic - numeric) > error + 1e-5 * (np.abs(analytic) + np.abs(numeric))
        differs &= np.isfinite(analytic) & np.isfinite(numeric) & np.isfinite(error)
        if differs.any():
            k, lane = (int(i) for i in np.argwhere(differs)[0])
            raise custom.wrong(
                "grad_U",
                f"is not the gradient of U: at {block.point(lane)} it gives {names[k]} = {analytic[k, lane]:.8g}, and "
                f"finite differences of U give {numeric[k, lane]:.8g}",
            )


def _refuse_non_finite(custom: CustomTarget, block: PointBlock, U: np.ndarray, grad: np.ndarray) -> None:
    if not np.isfinite(U).all():
        lane = int(np.flatnonzero(~np.isfinite(U))[0])
        raise custom.wrong(
            "U",
            f"is {U[lane]} at {block.point(lane)}, where a chain starts (or U reads beyond "
            "its rows). Write start(self, rng), which returns a point where U is finite, by variable",
        )
    if not np.isfinite(grad).all():
        row, lane = np.argwhere(~np.isfinite(grad))[0]
        raise custom.wrong(
            "grad_U", f"leaves grad[{row}] = {grad[row, lane]} at {block.point(lane)}: is every row of grad set?"
        )


# Names of derivatives, their values by grad_U and by finite differences, and the possible error of the differences.
Derivatives = tuple[list[str], np.ndarray, np.ndarray, np.ndarray]


def _derivatives(block: PointBlock, U: np.ndarray, grad: np.ndarray) -> Iterator[Derivatives]:
    """Derivatives in each coordinate; or, with many coordinates, along directions in blocks that cover all of them."""
    size = len(block.q)
    if size <= MOST_COORDINATES and affordable(block, 4 * size, fewest=0, most=1):
        q = block.q.copy()
        h = STEP * np.maximum(1.0, np.abs(q))
        ends = block.energies("q", np.tile(np.arange(size), 4), np.concatenate([q + h, q - h, q + 2 * h, q - 2 * h]))
        yield [f"grad[{j}]" for j in range(size)], grad, *_slope(ends.reshape(4, size, -1), h, U)
        return
    for rows in [*np.array_split(block.rng.permutation(size), COORDINATE_BLOCKS), *[np.arange(size)] * DIRECTIONS]:
        direction = np.zeros(size)
        direction[rows] = block.rng.standard_normal(rows.size)
        shown = ", ".join(f"grad[{j}]" for j in sorted(rows)[:3]) + (", …" if rows.size > 3 else "")
        yield [f"the derivative along a mix of {shown}"], (direction @ grad)[None], *_along(block, direction, U)


def _along(block: PointBlock, direction: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slope of U along one direction, and its possible error: one row each."""
    q = block.q.copy()
    h = STEP * np.maximum(1.0, np.abs(direction @ q))[None]
    ends = []
    for size in (h, -h, 2 * h, -2 * h):
        block.q[:] = q + size * direction[:, None]
        ends.append(block.U()[None])
    block.q[:] = q
    return _slope(np.array(ends), h, U)


def _slope(ends: np.ndarray, h: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences from U at +h, −h, +2h, −2h, and their possible error: rounding, and the next order."""
    with np.errstate(invalid="ignore", over="ignore"):
        near, far = (ends[0] - ends[1]) / (2 * h), (ends[2] - ends[3]) / (4 * h)
        return near, 100 * np.finfo(float).eps * np.abs(U) / h + np.abs(near - far) + 1e-10


def _check_step_scale(custom: CustomTarget, block: PointBlock) -> None:
    block.start()
    scale = block.step_scale()
    if not (np.isfinite(scale) & (scale > 0)).all():
        lane = int(np.flatnonzero(~(np.isfinite(scale) & (scale > 0)))[0])
        raise custom.wrong("step_scale", f"is {scale[lane]:g} at {block.point(lane)}: it must be finite and above 0")


def _check_update(custom: CustomTarget, block: PointBlock, index: int, name: str) -> None:
    before, other = block.U(), block.other.copy()
    block.grad_U()
    reported, accepted = block.update(index, name)
    written = block.grad.copy()
    after, grad = block.U(), block.grad_U()
    true = after - before
    with np.errstate(invalid="ignore"):
        rounding = 1e-8 * (1.0 + np.abs(before) + np.abs(after))
        wrong_difference = np.abs(reported - true) > rounding
        stale = ~(np.abs(written - grad) <= 1e-8 * (1.0 + np.abs(written) + np.abs(grad))) & np.isfinite(grad)
    changed = ~accepted & (block.other != other).any(axis=0)
    text = ""
    if wrong_difference.any():
        lane = int(np.flatnonzero(wrong_difference)[0])
        text = f"reports ΔU = {reported[lane]:.8g} where U(after) − U(before) = {true[lane]:.8g}"
    elif changed.any():
        lane = int(np.flatnonzero(changed)[0])
        text = f"did not accept, but changed qᴼ: U before {before[lane]:.8g}, after {after[lane]:.8g}"
    elif stale.any():
        row, lane = (int(i) for i in np.argwhere(stale)[0])
        text = f"leaves grad[{row}] = {written[row, lane]:.8g} where grad_U gives {grad[row, lane]:.8g} at the new qᴼ"
    if text:
        raise custom.wrong(name, f"{text}; the point is {block.point(lane)}")
    _refuse_stray_values(custom, block, name)


def _refuse_stray_values(custom: CustomTarget, block: PointBlock, name: str) -> None:
    for v in custom.variables:
        if not v.other:
            continue
        found = block.other[v.first : v.first + v.rows]
        allowed = np.isin(found, v.values) if v.values else (found >= v.low) & (found <= v.high)
        if not allowed.all():
            rule = f"its values are {v.values}" if v.values else f"it must lie between {v.low:g} and {v.high:g}"
            raise custom.wrong(name, f"sets {v.name} to {found[~allowed][0]:g}; {rule}")
