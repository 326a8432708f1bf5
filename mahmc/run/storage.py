"""A run as arrays with names, and as a file: an NPZ archive with the spec as JSON. Nothing in it can be executed."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mahmc.lanes import LANES
from mahmc.parameters import InvalidInput
from mahmc.run.archives import BrokenArchive, read_archive
from mahmc.run.blocks import Block, Rows, Setup
from mahmc.run.checkpoints import Checkpoint, Checkpoints, rows_in_checkpoint
from mahmc.run.measures import Moment
from mahmc.run.recording import Recording
from mahmc.spec import RunSpec
from mahmc.targets import FAMILIES, Target
from mahmc.version import __version__

if TYPE_CHECKING:
    from mahmc.run.advancing import Run

KIND, FORMAT = "mahmc run", 1
ABOUT = "about"  # the array that has the JSON
RECORDED = ("reals", "discretes")
STARTS = ("start.q", "start.other")  # only if the run began at given values
CHECKPOINTS = ("checkpoint.block", "checkpoint.iteration", "checkpoint.rows")  # a row for each checkpoint of each block
OPTIONAL = {*STARTS, *CHECKPOINTS}  # files of earlier versions have none of them
HISTORY = tuple(f"history.{name}" for name in Moment._fields)
CLOSE = 1e-6  # relative: a larger difference between two energies of one state means two targets


# ------------------------------------------------------------------------------------------------ a run as arrays


class Contents(NamedTuple):
    """The parts of a run. What changes in them as the run advances is stored; the rest is made anew."""

    setup: Setup
    blocks: list[Block]
    checkpoints: list[Checkpoints]  # of each block
    recording: Recording
    history: list[Moment]


def arrays_of(run: Contents) -> dict[str, np.ndarray]:
    """All that changes as a run advances; arrays of blocks are stacked, (blocks, …)."""
    done = np.array([block.done for block in run.blocks], np.int64)  # some blocks may be ahead
    reals, discretes = run.recording.first(_recorded(run.setup.spec, done))
    found = {"reals": reals, "discretes": discretes, "done": done}
    blocks = [dict(_of_a_block(run, block)) for block in run.blocks]
    found |= {name: np.stack([block[name] for block in blocks]) for name in blocks[0]}
    history = run.history
    kinds = run.blocks[0].counts.shape[1]
    found["history.done"] = np.array([moment.done for moment in history], np.int64)
    found["history.iterations"] = np.array([moment.iterations for moment in history], np.int64)
    found["history.counts"] = np.array([moment.counts for moment in history], np.int64).reshape(-1, kinds)
    if run.setup.starts is not None:
        found |= dict(zip(STARTS, run.setup.starts, strict=True))
    return found | _checkpoints(run)


def _checkpoints(run: Contents) -> dict[str, np.ndarray]:
    kept = [(number, *c) for number, checkpoints in enumerate(run.checkpoints) for c in checkpoints.kept]
    shape = rows_in_checkpoint(run.blocks[0].state)
    return {
        "checkpoint.block": np.array([number for number, _, _ in kept], np.int64),
        "checkpoint.iteration": np.array([iteration for _, iteration, _ in kept], np.int64),
        "checkpoint.rows": np.array([rows for _, _, rows in kept], np.uint64).reshape(-1, *shape),
    }


def _recorded(spec: RunSpec, done: np.ndarray) -> int:
    """The draws of the longest chain."""
    return int(done.max()) // spec.thin


def places(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The positions of chains as rows of q and other, from stacked arrays (blocks, rows, lanes)."""
    q, other = (np.concatenate([*arrays[name]], axis=1).T for name in ("state.q", "state.other"))
    return q, other


def put_back(run: Contents, arrays: Mapping[str, np.ndarray]) -> None:
    """Fill a run of the same spec with such arrays. Blocks keep their arrays, which are views of shared memory."""
    run.recording.fill(arrays["reals"], arrays["discretes"])
    for number, block in enumerate(run.blocks):
        block.done = int(arrays["done"][number])
        for name, array in _of_a_block(run, block):
            array[...] = arrays[name][number]
    for checkpoints in run.checkpoints:
        checkpoints.kept = []
    for number, iteration, rows in zip(*(arrays.get(name, ()) for name in CHECKPOINTS), strict=True):
        run.checkpoints[number].kept.append(Checkpoint(int(iteration), rows))
    moments = (arrays[name] for name in HISTORY)
    run.history[:] = [Moment(int(done), int(n), counts) for done, n, counts in zip(*moments, strict=True)]


def starts_in(arrays: Mapping[str, np.ndarray]) -> Rows | None:
    """The given values at which the run began, if there were any."""
    q, other = (arrays.get(name) for name in STARTS)
    return None if q is None or other is None else (q, other)


def _of_a_block(run: Contents, block: Block) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays that only one block has, with their names."""
    shared = {id(array) for _, array in _named(run.setup.plan, "")}
    yield "counts", block.counts
    yield from _named(block.state, "state")
    yield from ((name, array) for name, array in _named(block.plan, "plan") if id(array) not in shared)


def _named(node: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of nested NamedTuples, each with its path."""
    if isinstance(node, np.ndarray):
        yield name, node
    elif isinstance(node, tuple):
        for field, part in node._asdict().items():  # type: ignore[attr-defined]
            yield from _named(part, f"{name}.{field}")


# ------------------------------------------------------------------------------------------------- a run as a file


def write(path: str | os.PathLike[str], spec: RunSpec, arrays: dict[str, np.ndarray], others: dict[str, float]) -> None:
    """Write the file under another name, and rename it when it is complete."""
    place = Path(path).resolve()
    family = FAMILIES.get(spec.target)
    about = {
        "kind": KIND, "format": FORMAT, "mahmc": __version__, "spec": spec.to_dict(),
        "target file": family.file if family else "", "others": others,
    }  # fmt: skip
    arrays = {ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays}
    if place.is_dir():
        raise InvalidInput(f"{path} is a folder: give the name of a file in it.")
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        file = beside.open("xb")
    except OSError as reason:
        raise InvalidInput(f"{path} cannot be written ({reason.strerror}): choose another place.") from None
    try:
        with file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # NumPy before 2.2 takes allow_pickle for an array
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description of the run in a file, and its arrays."""
    try:
        about, arrays = read_archive(Path(path), ABOUT)
    except OSError as reason:
        if isinstance(reason, FileNotFoundError | IsADirectoryError | PermissionError):
            raise InvalidInput(f"{path} cannot be read ({reason.strerror}).") from None
        raise _foreign(path) from None
    except BrokenArchive:
        raise _foreign(path) from None
    if about.get("kind") != KIND or not _is_complete(about):
        raise _foreign(path)
    if about["format"] != FORMAT:
        raise InvalidInput(
            f"{path} was saved by mahmc {about['mahmc']}, in format {about['format']}; this is mahmc {__version__}, "
            f"which reads format {FORMAT}. Load the file with that version, and write its draws with run.to_netcdf."
        )
    return about, arrays


def _is_complete(about: Mapping[str, Any]) -> bool:
    """Whether the description has all that it must have, of the right types."""
    kinds = {"format": int, "mahmc": str, "spec": dict, "target file": str, "others": dict}
    if not all(isinstance(about.get(name), kind) for name, kind in kinds.items()):
        return False
    if about["format"] != FORMAT:  # another format has other contents
        return True
    names, others = (about["spec"].get(name) for name in ("target", "sampler")), about["others"]
    seconds, chunk = others.get("seconds"), others.get("chunk")
    return (
        all(isinstance(name, str) for name in names)
        and isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
        and isinstance(chunk, int) and chunk >= 1
    )  # fmt: skip


def _foreign(path: str | os.PathLike[str]) -> InvalidInput:
    return InvalidInput(f"{path} is damaged, or is not a file that run.save wrote.")


def target_of(path: str | os.PathLike[str], about: Mapping[str, Any], given: Target | None) -> tuple[RunSpec, Target]:
    """The spec in a file, and its target: the given target, or a new one."""
    said = dict(about["spec"])
    name, data = said["target"], said.get("data", "")
    if given is None and data:
        raise InvalidInput(
            f"the run in {path} used {name} with a user's data (fingerprint {data}), which are not in the file: build "
            "the target with the same data, and give it as mahmc.load(path, target)."
        )
    if given is None and name not in FAMILIES:
        file = about["target file"]
        how = f"mahmc.load_targets({file!r})" if Path(file).is_file() else "define its class with @mahmc.target"
        raise InvalidInput(
            f"the run in {path} used the custom target {name}, which is unknown here: first {how}, and then load the "
            "run again."
        )
    if given is None:
        spec = RunSpec.from_dict(said)
        return spec, spec.build_target()
    if given.name != name:
        raise InvalidInput(f"the run in {path} used the target {name}, but the given target is {given.name}.")
    if given.fingerprint != data:
        raise InvalidInput(
            f"the given target has other data than the run in {path}: their fingerprint is "
            f"{given.fingerprint or 'that of the usual data'}, but {data or 'that of the usual data'} is needed."
        )
    rest = {n: v for n, v in said.items() if n not in ("target", "sampler", "data", *given.settings)}
    spec = RunSpec.of(given, said["sampler"], **rest)
    for setting, value in json.loads(json.dumps(spec.to_dict())).items():
        if said.get(setting) != value:
            raise InvalidInput(
                f"the run in {path} has {setting} = {said.get(setting)!r:.40}, but the given target has {value!r:.40}: "
                "build the target with the same settings."
            )
    return spec, given


def refuse_unlike(path: str | os.PathLike[str], run: Run, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse arrays that do not fit a run of this spec. `run` is a new run with the positions of the file."""
    needed, end = run.arrays(), run.spec.slots * run.spec.thin
    missing = needed.keys() - arrays.keys()
    fits = arrays.keys() <= needed.keys() and missing in (set(), {*STARTS}, OPTIONAL)
    fits = fits and all(_alike(name, array, needed[name]) for name, array in arrays.items())
    if not fits or arrays["done"].min() < 0 or arrays["done"].max() > end:
        raise unfit(path)
    possible = (_counts_are_possible(arrays), _plans_are_possible(run, arrays), _checkpoints_are_possible(arrays))
    if not all(possible) or not _values_are_known(run, arrays):
        raise unfit(path)
    draws, moments = ({arrays[name].shape[axis] for name in names} for names, axis in ((RECORDED, 1), (HISTORY, 0)))
    if draws != {_recorded(run.spec, arrays["done"])} or len(moments) > 1:
        raise unfit(path)
    if not np.allclose(needed["state.U"], arrays["state.U"], rtol=CLOSE, atol=CLOSE):
        raise InvalidInput(
            f"{run.target.name} has other energies than when {path} was saved: its code or its data changed."
        )


def _counts_are_possible(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether no counter is negative, and the history goes forward."""
    history = [arrays[name] for name in HISTORY]
    return min(arrays["counts"].min(), *(x.min(initial=0) for x in history)) >= 0 and all(
        (np.diff(x, axis=0) >= 0).all() for x in history
    )


def _plans_are_possible(run: Run, arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the pairs {D, D⁻¹} that blocks keep are inside their arrays: kernels do not look at that."""
    plan = run.arrays()
    if "plan.ends" not in plan:
        return True
    begins, ends = plan["plan.begins"], arrays["plan.ends"]
    most = plan["plan.rows"].shape[1] // begins.shape[1]
    if not ((arrays["plan.begins"] == begins).all() and (begins <= ends).all() and (ends < begins + most).all()):
        return False
    at = np.arange(plan["plan.rows"].shape[1])
    used = ((at >= begins[:, :, None]) & (at < ends[:, :, None])).any(axis=1)
    op, count, group = arrays["plan.rows"][used].T
    steps = (most - 1) // 2
    updates = len(run.target.density.updates)
    limits = ((op, updates), (count, steps), (group, 2))
    return all(((x >= 0) & (x <= most_allowed)).all() for x, most_allowed in limits)


def _checkpoints_are_possible(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether each checkpoint belongs to a block, and to an iteration that the block has made."""
    if CHECKPOINTS[0] not in arrays:
        return True
    block, iteration, rows = (arrays[name] for name in CHECKPOINTS)
    if not len(block) == len(iteration) == len(rows) or not ((block >= 0) & (block < len(arrays["done"]))).all():
        return False
    return bool(((iteration > 0) & (iteration <= arrays["done"][block])).all())


def _values_are_known(run: Run, arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether discrete variables have values that the target knows: kernels look things up by them."""
    density = run.target.density
    states = [arrays["state.other"]]
    if CHECKPOINTS[0] in arrays:
        states.append(arrays[CHECKPOINTS[2]].view(np.float64)[:, density.dim : density.dim + density.n_other])
    if STARTS[0] in arrays:
        states.append(arrays[STARTS[1]][:, :, None])
    discrete = [q for q in density.quantities if q.values and q.source == "other"]
    rows = ((other[:, q.first : q.first + q.size], q.values) for q in discrete for other in states)
    return all(bool(np.isin(found, values).all()) for found, values in rows)


def refuse_other_places(path: str | os.PathLike[str], spec: RunSpec, target: Target, arrays: dict[str, Any]) -> None:
    """Refuse a file whose chains do not fit the spec and the target."""
    blocks = -(-spec.chains // LANES)
    for name, rows in (("state.q", target.density.dim), ("state.other", target.density.n_other)):
        if name not in arrays or arrays[name].shape != (blocks, rows, LANES):
            raise unfit(path)


def unfit(path: str | os.PathLike[str]) -> InvalidInput:
    """The refusal of a file whose arrays do not fit."""
    return InvalidInput(
        f"the state of the chains in {path} does not fit mahmc {__version__}: load the file with the version that "
        "saved it."
    )


def _alike(name: str, found: np.ndarray, needed: np.ndarray) -> bool:
    """Whether an array can replace another. Some arrays may have another length."""
    if found.dtype != needed.dtype or found.ndim != needed.ndim:
        return False
    along = 1 if name in RECORDED else 0 if name in (*HISTORY, *CHECKPOINTS) else None
    return all(a == b for axis, (a, b) in enumerate(zip(found.shape, needed.shape, strict=True)) if axis != along)
