"""Is a target that a person wrote what it says? Looked at when it is first built, before a chain runs.

- U and grad_U compile, are finite where chains start, read and write nothing but their rows, and grad_U is the gradient
  of U: finite differences at starts and around them, up to a hundred units away.
- Each update reports ΔU = U after − U before, leaves q alone and `grad` right, keeps discrete values among those
  declared, and changes nothing in chains that did not accept.
- Each update leaves exp(−U(q, ·)) alone, as far as that can be seen: where q^O has at most MOST_STATES states these are
  all weighed, and states drawn from those weights are updated and counted (likelihood ratio). A full conditional is
  held to it from any state; where it has more states, by each site's conditional given the others; where it is real,
  by the integral along each coordinate. Otherwise, if the target has exact draws, these are updated and compared with
  others. An update that is none of this (many states or reals, no full conditional, no exact draws) has only its ΔU
  checked.

Random numbers are fixed, so a target passes always or never. If all is right, the probability that the whole check says
otherwise is about LEVEL at most.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahmc.checks import compare
from mahmc.compiled import kernel
from mahmc.lanes import LANES, rows, splat, store, where
from mahmc.own.tools import U, grad_U
from mahmc.own.variables import Variable
from mahmc.parameters import InvalidInput
from mahmc.streams import seeded
from mahmc.targets.base import Target, update

LEVEL = 1e-6
SPREADS = (0.0, 0.0, 1.0, 10.0, 100.0)  # distance from a start
MOST_COORDINATES = 64  # whose derivative is looked at one by one, and directions beyond
UPDATES_EACH = 8  # from each start
MOST_STATES = 1024
REPEATS = 4096  # updates of each of LANES points, where states are counted
FEWEST_EXPECTED = 10.0  # in a cell
SITES, SITE_REPEATS = {True: 16, False: 4}, {True: 1024, False: 128}  # discrete, real: one by one, and how often
GUARD = 64  # rows around each array that nobody may touch
STEP = 1e-4  # of finite differences


@dataclass(frozen=True)
class Own:
    """A target that a person wrote, with what its class declares."""

    target: Target
    variables: tuple[Variable, ...]
    updates: Mapping[str, Callable]
    cls: type

    def wrong(self, function: str, what: str) -> InvalidInput:
        return InvalidInput(f"{self.cls.__name__}.{function} {what}.")


@kernel
def _energy(target, q, other, out):
    store(out, 0, splat(U(target, rows(q), rows(other))))


@kernel
def _gradient(target, q, other, grad):
    grad_U(target, rows(q), rows(other), rows(grad))


@kernel
def _updated(target, which, q, other, grad, rng, out):
    delta_U, accepted = update(target, which, q, other, grad, rng)
    store(out, 0, delta_U)
    store(out, 1, where(accepted, 1.0, 0.0))


def check(own: Own) -> None:
    """InvalidInput, naming the function, the point and both values, if the target is not what it says."""
    block = Block(own, seed=1)
    _check_shapes(own)
    for spread in SPREADS:
        block.start(spread)
        _check_energy(own, block, must_be_finite=spread == 0.0)
    for which, name in enumerate(own.updates):
        for spread in SPREADS[:3]:
            block.start(spread)
            for _ in range(UPDATES_EACH):
                _check_update(own, block, which, name)
    block.guarded = False
    for name, p_values in _laws(own, block):
        worst, words = min(p_values, key=lambda pair: pair[0])
        if worst * len(p_values) * len(own.updates) < LEVEL:
            raise own.wrong(name, f"does not leave exp(−U) alone: {words} (p = {worst:.1g})")


class Block:
    """LANES points at once, in arrays with guard rows around them."""

    def __init__(self, own: Own, seed: int) -> None:
        self.own, self.data = own, own.target.data
        self.rng = np.random.default_rng(seed)
        self.words = seeded(seed, 0)
        self._whole = {name: np.full((2 * GUARD + size, LANES), np.nan) for name, size in
                       (("q", own.target.dim), ("other", own.target.n_other), ("grad", own.target.dim))}  # fmt: skip
        self.q, self.other, self.grad = (whole[GUARD : len(whole) - GUARD] for whole in self._whole.values())
        self._out = np.empty((2, LANES))
        self.guarded = True

    def start(self, spread: float = 0.0) -> None:
        """Go to where chains start, q^H as far from there as `spread` says."""
        starts = [self.own.target.start(self.rng) for _ in range(LANES)]
        q, other = self.own.target.pack({name: np.array([s[name] for s in starts]) for name in starts[0]})
        self.q[:], self.other[:] = q.T + spread * self.rng.standard_normal(self.q.shape), other.T
        self.grad[:] = np.nan

    def U(self) -> np.ndarray:
        self._call("U", _energy, self.data, self.q, self.other, self._out)
        return self._out[0].copy()

    def grad_U(self) -> np.ndarray:
        """The gradient, written over NaN, so that a row which is left out or only added to shows."""
        self.grad[:] = np.nan
        self._call("grad_U", _gradient, self.data, self.q, self.other, self.grad)
        return self.grad.copy()

    def update(self, which: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """ΔU as it is reported, and who accepted."""
        self._call(name, _updated, self.data, which, self.q, self.other, self.grad, self.words, self._out)
        return self._out[0].copy(), self._out[1] == 1.0

    def _call(self, function: str, compiled: Callable, *arguments: Any) -> None:
        if not self.guarded:
            compiled(*arguments)
            return
        q = self.q.copy()
        try:
            compiled(*arguments)
        except Exception as error:
            raise self.own.wrong(function, f"cannot be compiled: {_gist(error)}") from error
        if not np.array_equal(q, self.q, equal_nan=True):
            raise self.own.wrong(function, "changes q, which only leapfrogs may")
        for name, whole in self._whole.items():
            if not (np.isnan(whole[:GUARD]).all() and np.isnan(whole[-GUARD:]).all()):
                raise self.own.wrong(function, f"writes beyond the {len(whole) - 2 * GUARD} rows of {name}")

    def point(self, lane: int, q_only: bool = False) -> str:
        """Where a lane is, in words."""
        values = []
        for v in [v for v in self.own.variables if not (q_only and v.other)]:
            array = (self.other if v.other else self.q)[v.first : v.first + v.rows, lane]
            shown = ", ".join(f"{x:.6g}" for x in array[:4]) + (", …" if array.size > 4 else "")
            values.append(f"{v.name} = {shown}" if v.size is None else f"{v.name} = ({shown})")
        return "; ".join(values)


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


# -------------------------------------------------------------------------------------------- U, grad_U, updates


def _check_energy(own: Own, block: Block, must_be_finite: bool) -> None:
    U, grad = block.U(), block.grad_U()
    if must_be_finite:
        _refuse_non_finite(own, block, U, grad)
    size = own.target.dim
    directions = np.eye(size) if size <= MOST_COORDINATES else block.rng.standard_normal((MOST_COORDINATES, size))
    for j, direction in enumerate(directions):
        analytic = direction @ grad
        numeric, doubt = _derivative(block, direction, U)
        off = np.abs(analytic - numeric) > doubt + 1e-5 * (np.abs(analytic) + np.abs(numeric))
        off &= np.isfinite(analytic) & np.isfinite(numeric) & np.isfinite(doubt)
        if off.any():
            lane = int(np.flatnonzero(off)[0])
            what = f"grad[{j}]" if size <= MOST_COORDINATES else "a directional derivative"
            raise own.wrong(
                "grad_U",
                f"is not the gradient of U: at {block.point(lane)} it gives {what} = {analytic[lane]:.8g}, and finite "
                f"differences of U give {numeric[lane]:.8g}",
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


def _derivative(block: Block, direction: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Along a direction, by central differences, and how far off they may be: rounding, and the next order."""
    q = block.q.copy()
    h = STEP * np.maximum(1.0, np.abs(direction @ q))
    found = []
    for size in (h, 2 * h):
        ends = []
        for sign in (1.0, -1.0):
            block.q[:] = q + sign * size * direction[:, None]
            ends.append(block.U())
        found.append((ends[0] - ends[1]) / (2 * size))
    block.q[:] = q
    with np.errstate(invalid="ignore", over="ignore"):
        return found[0], 100 * np.finfo(float).eps * np.abs(U) / h + np.abs(found[0] - found[1]) + 1e-10


def _check_update(own: Own, block: Block, which: int, name: str) -> None:
    before, other = block.U(), block.other.copy()
    block.grad_U()
    reported, accepted = block.update(which, name)
    left = block.grad.copy()
    after, grad = block.U(), block.grad_U()
    true = after - before
    with np.errstate(invalid="ignore"):
        room = 1e-8 * (1.0 + np.abs(before) + np.abs(after))
        problems = {
            "reports ΔU = {:.8g} where U(after) − U(before) = {:.8g}": (reported, true, np.abs(reported - true) > room),
            "did not accept, but changed qᴼ: U before {:.8g}, after {:.8g}": (
                before, after, ~accepted & (block.other != other).any(axis=0),
            ),
        }  # fmt: skip
        for row in range(own.target.dim):
            room = 1e-8 * (1.0 + np.abs(left[row]) + np.abs(grad[row]))
            stale = ~(np.abs(left[row] - grad[row]) <= room) & np.isfinite(grad[row])
            text = f"leaves grad[{row}] = {{:.8g}} where grad_U gives {{:.8g}} at the new qᴼ"
            problems[text] = (left[row], grad[row], stale)
    for text, (one, two, bad) in problems.items():
        if bad.any():
            lane = int(np.flatnonzero(bad)[0])
            raise own.wrong(name, f"{text.format(one[lane], two[lane])}; that is at {block.point(lane)}")
    for v in own.variables:
        found = block.other[v.first : v.first + v.rows]
        if not v.other:
            continue
        right = np.isin(found, v.values) if v.values else (found >= v.low) & (found <= v.high)
        if not right.all():
            allowed = f"its values are {v.values}" if v.values else f"it lies between {v.low:g} and {v.high:g}"
            raise own.wrong(name, f"sets {v.name} to {found[~right][0]:g}; {allowed}")


# ------------------------------------------------------------------------------------------------ laws of updates

Found = list[tuple[float, str]]  # p-values, each with what it is about


def _laws(own: Own, block: Block) -> Iterator[tuple[str, Found]]:
    """For each update, p-values of whatever can be tested of it."""
    others = [v for v in own.variables if v.other]
    sites = [(v.first + i, v) for v in others for i in range(v.rows)]
    states = np.prod([float(len(v.values)) for _, v in sites]) if all(v.values for v in others) else np.inf
    for which, (name, function) in enumerate(own.updates.items()):
        full = function.full_conditional  # type: ignore[attr-defined]
        if states <= MOST_STATES:
            yield name, _counted(block, which, name, [v.values for _, v in sites], from_exact=not full)
        elif full:
            order = np.random.default_rng(2).permutation(len(sites))
            kinds = {kind: [sites[i] for i in order if bool(sites[i][1].values) == kind] for kind in (True, False)}
            chosen = [site for kind, found in kinds.items() for site in found[: SITES[kind]]]
            yield name, [_site(block, which, name, row, v) for row, v in chosen]
        elif own.target.exact is not None:
            yield name, _moved(own, block, which, name)


def _counted(block: Block, which: int, name: str, sites: list[tuple[int, ...]], from_exact: bool) -> Found:
    """Every state weighed by exp(−U), at LANES points q; states drawn by these weights (or any), updated, counted."""
    states = np.array(list(itertools.product(*sites)), float)
    block.start()
    U = np.empty((len(states), LANES))
    for k, state in enumerate(states):
        block.other[:] = state[:, None]
        U[k] = block.U()
    weights = np.exp(U.min(axis=0) - U)
    mass = weights / weights.sum(axis=0)
    steps = np.cumsum(mass, axis=0) if from_exact else np.linspace(0, 1, len(states) + 1)[1:, None]
    place = {state.tobytes(): k for k, state in enumerate(states)}
    counts = np.zeros((len(states), LANES))
    for _ in range(REPEATS):
        drawn = np.minimum((block.rng.random(LANES) * steps[-1] >= steps).sum(axis=0), len(states) - 1)
        block.other[:] = states[drawn].T
        block.grad_U()
        block.update(which, name)
        for lane, state in enumerate(block.other.T):
            counts[place[(state + 0.0).tobytes()], lane] += 1  # -0.0 is 0.0
    found = []
    for lane in range(LANES):
        expected = REPEATS * mass[:, lane]
        k = int(np.argmax((counts[:, lane] - expected) ** 2 / np.maximum(expected, FEWEST_EXPECTED)))
        words = (
            f"with {block.point(lane, q_only=True)}, qᴼ = {states[k].astype(int).tolist()} came up "
            f"{counts[k, lane]:.0f} times of {REPEATS}, and {expected[k]:.1f} were to be expected"
        )
        found.append((_same_counts(counts[:, lane], expected), words))
    return found


def _same_counts(seen: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of counts, by the likelihood ratio, whose tails are right far out; rare states are put together."""
    from scipy import stats

    order = np.argsort(expected)
    cells: list[list[float]] = [[0.0, 0.0]]
    for s, e in zip(seen[order], expected[order], strict=True):
        if cells[-1][1] >= FEWEST_EXPECTED:
            cells.append([0.0, 0.0])
        cells[-1][0] += s
        cells[-1][1] += e
    table = np.array(cells)
    if len(table) > 1 and table[-1, 1] < FEWEST_EXPECTED:
        table[-2] += table[-1]
        table = table[:-1]
    if len(table) == 1:
        return 1.0
    ratio = np.where(table[:, 0] > 0, table[:, 0] * np.log(np.maximum(table[:, 0], 1.0) / table[:, 1]), 0.0)
    return float(stats.chi2.sf(2.0 * ratio.sum(), len(table) - 1))


def _site(block: Block, which: int, name: str, row: int, v: Variable) -> tuple[float, str]:
    """One site after a full conditional, against exp(−U) along that site with the others as they came out.

    Where in its own distribution the site came to lie is then uniform, whatever the others are: a Kolmogorov-Smirnov
    test in each lane, and Fisher's combination of them.
    """
    from scipy import stats

    block.start()
    block.grad_U()
    places = []
    for _ in range(SITE_REPEATS[bool(v.values)]):
        block.update(which, name)
        drawn = block.other[row].copy()
        grid = np.tile(np.array(v.values, float)[:, None], LANES) if v.values else _grid(block, which, name, row, v)
        places.append(_place(block, row, grid, drawn, bool(v.values)))
    p_values = [max(stats.kstest(lane, "uniform").pvalue, 1e-300) for lane in np.transpose(places)]
    worst = int(np.argmin(p_values))
    words = f"with {block.point(worst, q_only=True)}, other[{row}] is not distributed as exp(−U) says, given the others"
    return float(stats.chi2.sf(-2.0 * np.sum(np.log(p_values)), 2 * LANES)), words


def _grid(block: Block, which: int, name: str, row: int, v: Variable, points: int = 400) -> np.ndarray:
    """Where a real site goes to in some more draws, and as far again on both sides, within its bounds."""
    state, grad = block.other.copy(), block.grad.copy()
    seen = []
    for _ in range(16):
        block.update(which, name)
        seen.append(block.other[row].copy())
    block.other[:], block.grad[:] = state, grad
    low, high = np.min([*seen, state[row]], axis=0), np.max([*seen, state[row]], axis=0)
    width = np.maximum(high - low, 1e-12)
    low, high = np.maximum(low - width, v.low), np.minimum(high + width, v.high)
    return low + np.linspace(0.0, 1.0, points)[:, None] * (high - low)


def _place(block: Block, row: int, grid: np.ndarray, drawn: np.ndarray, discrete: bool) -> np.ndarray:
    """F(drawn) of the law ∝ exp(−U) on the grid; for a discrete one, spread evenly over its step."""
    U = np.empty(grid.shape)
    for k, values in enumerate(grid):
        block.other[row] = values
        U[k] = block.U()
    block.other[row] = drawn
    U[~np.isfinite(U)] = np.inf
    weights = np.exp(U.min(axis=0) - U)
    if discrete:
        below = (weights * (grid < drawn)).sum(axis=0)
        at = (weights * (grid == drawn)).sum(axis=0)
        return (below + block.rng.random(LANES) * at) / weights.sum(axis=0)
    steps = np.vstack([np.zeros(LANES), np.cumsum((weights[1:] + weights[:-1]) / 2, axis=0)])
    return np.array([np.interp(drawn[c], grid[:, c], steps[:, c]) / steps[-1, c] for c in range(LANES)])


def _moved(own: Own, block: Block, which: int, name: str) -> Found:
    """Exact draws, updated, against other exact draws: every coordinate of q^O, the energy, and their products."""
    draws = REPEATS
    samples = []
    for moved in (False, True):
        q, other = own.target.pack(own.target.exact(block.rng, draws))  # type: ignore[misc]
        parts = []
        for begin in range(0, draws, LANES):
            block.q[:], block.other[:] = q[begin : begin + LANES].T, other[begin : begin + LANES].T
            if moved:
                block.grad_U()
                block.update(which, name)
            parts.append(np.vstack([block.other[:8], block.U()]))
        names = [*(f"other[{i}]" for i in range(min(own.target.n_other, 8))), "the energy"]
        table = np.concatenate(parts, axis=1)
        whole = [all(v.values for v in own.variables if v.other and v.first <= i < v.first + v.rows) for i in range(8)]
        samples.append({n: x.astype(int) if n != "the energy" and whole[i] else x
                        for i, (n, x) in enumerate(zip(names, table, strict=True))})  # fmt: skip
    return [(c.p_value, f"exact draws are others after it: {c.what}") for c in compare(*samples)]


def _gist(error: Exception) -> str:
    """The lines of a compiler's message that help: what it could not do, and where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    what = [line for line in lines if not line.startswith(("Failed in", "During", "There are", "- Of which", "File"))]
    calls = [line[4:] for line in lines if line.startswith(">>>")]
    places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    where = f" ({places[0][0].rpartition('/')[2]}, line {places[0][1]})" if places else ""
    shown = " ".join([what[0] if what else type(error).__name__, *calls[:1]])
    return shown[:300] + where
