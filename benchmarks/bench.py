"""Speed, as ratios to peers in the same run on the same machine. Prints Markdown; `--write FILE` keeps it too.

    make bench            # everything, more than a quarter of an hour on 2 cores
    make bench ARGS="--only peers,limit"

Ours and a peer take turns, a few rounds, and a ratio is the median over rounds: machines are noisy, ratios less so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mahmc
from mahmc import Run, RunSpec, diagnostics
from mahmc.compiled import implements, kernel
from mahmc.kernels import new_state
from mahmc.kernels.moves import leapfrogs
from mahmc.lanes import LANES, exp, load, splat, store
from mahmc.run import cores
from mahmc.samplers import PAPER_SAMPLERS
from mahmc.streams import Seeds
from mahmc.targets import Target
from mahmc.targets.base import potential, step_scale, update

ROUNDS = 3
CPU_ROUNDS = 41
CHAINS = 16
LEAPFROGS = {"mdc": 4e7, "gmm": 4e7, "blr": 6e5}  # of ours in one timing
KEEP = {"mdc": ("u",), "gmm": ("q",), "blr": ("tau", "energy")}  # what peers record too
QUANTITY = {"mdc": "u", "gmm": "q", "blr": "energy"}
BARS = {("mdc", "hmc"): 10, ("mdc", "mahmc"): 10, ("mdc", "mala-pn"): 10, ("blr", "mahmc"): 4}
OWN_ROUNDS, OWN_DRAWS = 25, 15_000  # many and short: a tenth of a second each
LIMIT_PER_CORE = 1.6e8  # the MDC leapfrog alone, as measured when the engine was designed


def main() -> None:
    """Run the parts that are named as arguments, and print their tables."""
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "peers": against_jax, "gibbs": against_hmc_gibbs, "nuts": against_nuts, "all": all_samplers, "limit": limit,
        "growth": growth, "start": start, "table": table_1, "own": own_target, "schedules": schedules_cost,
        "mixed": against_mixed_hmc, "checkpoints": checkpoints_cost,
    }  # fmt: skip
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help=f"some of {','.join(parts)}", default=",".join(parts))
    options.add_argument("--write", type=Path, help="also write the text to this file")
    chosen = options.parse_args()
    lines = []
    for line in (
        line for part in ["machine", *chosen.only.split(",")] for line in (parts | {"machine": machine})[part]()
    ):
        print(line, flush=True)
        lines.append(line)
    if chosen.write:
        chosen.write.write_text("\n".join(lines) + "\n")


def machine() -> Iterator[str]:
    """The machine, the date and the versions, in words."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    names = ("numpy", "numba", "arviz", "jax", "numpyro")
    versions = ", ".join(f"{name} {version(name)}" for name in names if _installed(name))
    yield f"Measured on {date.today()}: {model}, {cores()} cores, Python {platform.python_version()}, {versions}."


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except ImportError:
        return False


# -------------------------------------------------------------------------------------------------------- ours


def ours(target: str, sampler: str, draws: int | None = None, **chosen: Any) -> Run:
    """A finished run of ours; compiled beforehand, so that its `seconds` are sampling alone."""
    values: dict[str, Any] = {"chains": CHAINS, "keep": KEEP[target], "seed": 1} | chosen
    per_draw = RunSpec.of(target, sampler, **values).leapfrogs_per_draw
    draws = draws or max(100, int(LEAPFROGS[target] / per_draw / values["chains"]))
    mahmc.sample(target, sampler, draws=1, warmup=0, **values)
    return mahmc.sample(target, sampler, draws=draws, warmup=draws // 10, **values)


def rate(run: Run) -> float:
    """Leapfrogs per second."""
    return run.leapfrogs / run.seconds


def ess_rate(run: Run, name: str) -> float:
    """ESS of what was drawn per second of drawing, the warm-up's time left out as with peers."""
    share = run.spec.draws / run.spec.slots
    return float(run.ess(name)) / (run.seconds * share)


# ------------------------------------------------------------------------------------------------------- peers


def against_jax() -> Iterator[str]:
    """Mahmc against two versions in JAX."""
    yield "\n### Against JAX, float64, 16 chains\n"
    yield "*Plain* is the straightforward version (plain.py: jit, vmap, scan); *tuned* is the fastest we could make of"
    yield "it (peers.py: gradients carried over, a cheaper softplus, random numbers in blocks, a device a core).\n"
    titles = ("target", "sampler", "leapfrogs/s, ours", "JAX, plain", "ratio", "bar", "JAX, tuned", "ratio",
              "ESS/s, ours", "plain", "ratio")  # fmt: skip
    yield f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"
    for target in ("mdc", "blr"):
        for sampler in ("hmc", "mahmc", "mala-pn"):
            rows = [_with_jax(target, sampler, seed) for seed in range(ROUNDS)]
            bar = BARS.get((target, sampler))
            yield (
                f"| {target} | {sampler} | {_median(rows, 0):.2g} | {_median(rows, 1):.2g} | "
                f"**{_ratio(rows, 0, 1):.3g}** | {f'≥ {bar}' if bar else ''} | "
                f"{_median(rows, 2):.2g} | {_ratio(rows, 0, 2):.3g} | "
                f"{_median(rows, 3):.2g} | {_median(rows, 4):.2g} | {_ratio(rows, 3, 4):.3g} |"
            )


def _with_jax(target: str, sampler: str, seed: int) -> tuple[float, float, float, float, float]:
    """Leapfrogs a second of ours, plain and tuned JAX, and ESS a second of ours and plain, one after the other."""
    from peers import jax_sampler

    run = ours(target, sampler, seed=seed)
    plain = _plain(target, sampler, max(500, run.spec.draws // 20), seed)
    tuned = jax_sampler(target, sampler, draws=max(500, run.spec.draws // 5), chains=CHAINS, seed=seed)
    return (
        rate(run), plain["leapfrogs"] / plain["seconds"], tuned.leapfrogs / tuned.seconds,
        ess_rate(run, QUANTITY[target]), plain["ess_per_second"],
    )  # fmt: skip


def _plain(*arguments: object) -> dict[str, float]:
    """A run of plain.py, in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("plain.py")), *map(str, arguments)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(printed.splitlines()[-1])


def table_1() -> Iterator[str]:
    """The sampling that `mahmc.compare("mdc")` does, by us and by plain JAX, compiled beforehand on both sides."""
    found = mahmc.Comparison("mdc")
    ours("mdc", "hmc", draws=100)
    begin = time.perf_counter()
    found.advance_all()
    whole = time.perf_counter() - begin
    rows = []
    for label, entry in found.entries.items():
        spec = entry.spec
        share = spec.slots / spec.draws  # the warm-up's leapfrogs are made as well
        leapfrogs = found.replicates * found.budget * share
        plain = _plain("mdc", label, 2000)
        rows.append((label, sum(entry.cost["seconds"]) * share, leapfrogs * plain["seconds"] / plain["leapfrogs"]))
    mine, peer = sum(row[1] for row in rows), sum(row[2] for row in rows)
    yield "\n### The paper's Table 1 on MDC at the default budget: five samplers, 8 replicates\n"
    yield "JAX's time is for the same number of leapfrogs, from its speed over 2000 draws. With all of ArviZ's ESS, "
    yield f"`mahmc.compare` takes {whole:.1f} s.\n"
    yield "| sampler | sampling, ours (s) | plain JAX (s) | ratio | bar |\n|---|---|---|---|---|"
    for label, a, b in rows:
        yield f"| {label} | {a:.2f} | {b:.1f} | {b / a:.3g} | |"
    yield f"| all | {mine:.2f} | {peer:.1f} | **{peer / mine:.3g}** | ≥ 10 |"


def against_hmc_gibbs() -> Iterator[str]:
    """Both by their public interface, 16 chains of 20 000 draws, the second run in a process timed as a whole."""
    from peers import numpyro_hmc_gibbs

    draws, rows = 20_000, []
    for i in range(ROUNDS):
        whole = _second_call(draws, seed=i)
        net = rate(ours("mdc", "hmc", seed=i))
        parallel = _plain("numpyro", "parallel", draws)
        by_hand = numpyro_hmc_gibbs(draws=2000, chains=CHAINS, seed=i)
        rows.append((
            whole, net, parallel["leapfrogs"] / parallel["seconds"], parallel["more"] / parallel["more_seconds"],
            by_hand.leapfrogs / by_hand.seconds,
        ))  # fmt: skip
    sequential, vmap = (_plain("numpyro", way, draws) for way in ("sequential", "vmap"))
    serial, side_by_side = (run["leapfrogs"] / run["seconds"] for run in (sequential, vmap))
    yield "\n### Against NumPyro's HMCGibbs on MDC, HMC with 40 leapfrogs, 16 chains of 20 000 draws\n"
    yield "A second run in the same process, timed from call to draws, on both sides. NumPyro compiles in that run too:"
    yield "MCMC offers no way to compile beforehand.\n"
    yield "| NumPyro | leapfrogs/s | ours | ratio | bar |\n|---|---|---|---|---|"
    whole, words = _median(rows, 0), "MCMC, one chain after another (its default)"
    yield f"| {words} | {serial:.2g} | {whole:.2g} | {whole / serial:.3g} | |"
    words = "MCMC, chains side by side by chain_method=jax.vmap"
    yield f"| {words} | {side_by_side:.2g} | {whole:.2g} | {whole / side_by_side:.3g} | |"
    words = "MCMC, chains in parallel on 16 host devices"
    yield f"| {words} | {_median(rows, 2):.2g} | {whole:.2g} | **{_ratio(rows, 0, 2):.3g}** | ≥ 100 |"
    words = "the same without compiling: ten times the draws, less this"
    yield f"| {words} | {_median(rows, 3):.2g} | {_median(rows, 1):.2g} | {_ratio(rows, 1, 3):.3g} | |"
    words = "past MCMC, by hand: compiled beforehand, vmap and pmap (peers.py)"
    yield f"| {words} | {_median(rows, 4):.2g} | {_median(rows, 1):.2g} | {_ratio(rows, 1, 4):.3g} | |"


def _second_call(draws: int, seed: int) -> float:
    """Leapfrogs a second of `mahmc.sample` from call to draws, when the process has sampled before."""
    mahmc.sample("mdc", "hmc", chains=CHAINS, draws=draws, warmup=0, keep=("u",), seed=seed)
    begin = time.perf_counter()
    run = mahmc.sample("mdc", "hmc", chains=CHAINS, draws=draws, warmup=0, keep=("u",), seed=seed + 1, warn=False)
    return run.leapfrogs / (time.perf_counter() - begin)


def against_nuts() -> Iterator[str]:
    """MAHMC against NUTS of NumPyro on BLR."""
    from peers import numpyro_nuts_blr

    peer = numpyro_nuts_blr(draws=1000, chains=4)
    yield "\n### BLR posterior: what a user would pick instead, NumPyro's NUTS\n"
    yield "ESS per second of sampling, warm-up and compiling left out on both sides.\n"
    yield "| | ESS/s of log τ | ESS/s of the worst β |\n|---|---|---|"
    ess = {name: diagnostics.ess(np.asarray(x)) / peer.seconds for name, x in peer.samples.items()}
    worst = min(value for name, value in ess.items() if name.startswith("beta["))
    yield f"| NumPyro NUTS, 4 chains | {ess['log_tau']:.3g} | {worst:.3g} |"
    for sampler in PAPER_SAMPLERS:
        run = ours("blr", sampler, draws=4000, keep=("beta", "tau"))
        share = run.seconds * run.spec.draws / run.spec.slots
        yield f"| ours, {sampler}, 16 chains | {ess_rate(run, 'log_tau'):.3g} | {np.min(run.ess('beta')) / share:.3g} |"


def _median(rows: Sequence[tuple[float, ...]], column: int) -> float:
    return statistics.median(row[column] for row in rows)


def _ratio(rows: Sequence[tuple[float, ...]], top: int, bottom: int) -> float:
    return statistics.median(row[top] / row[bottom] for row in rows)


# -------------------------------------------------------------------------------------------------- by ourselves


def all_samplers() -> Iterator[str]:
    """All samplers on all targets: leapfrogs and effective draws per second."""
    yield "\n### All samplers on all targets, 16 chains, everything recorded\n"
    yield "| target | sampler | leapfrogs/s | ESS/s | of |\n|---|---|---|---|---|"
    for target in KEEP:
        for sampler in (name for name, s in mahmc.SAMPLERS.items() if s.takes(mahmc.targets.build(target))):
            run = ours(target, sampler, keep=None)
            name = QUANTITY[target]
            yield f"| {target} | {sampler} | {rate(run):.2g} | {ess_rate(run, name):.2g} | {name} |"


def schedules_cost() -> Iterator[str]:
    """The same numbers of leapfrogs and updates in one iteration, alternating, mirrored, and drawn step by step."""
    segments = [f"{n}x0" for n in range(1, 20, 2)]  # ten that grow from 1 to 19 leapfrogs: 100
    there, back = " 1 ".join(segments), " 1 ".join(reversed(segments))
    mirrored = {"schedule": f"sequences({there}:0.7, {back}:0.3)"}
    yield "\n### What a general schedule costs: mahmc with the same numbers of leapfrogs and updates of qᴼ\n"
    yield "One block of 8 chains; time of the processor for a whole run, from its spec to its last draw; medians and"
    yield "quartiles of rounds in turns. Short runs have 1000 draws a chain and long ones 20 000, on BLR 100 and 1000;"
    yield "a round has as many short runs as make up the long one. Of schedules that are drawn the numbers are means."
    yield "Chains of a block share a sequence with its mirror image, so that some wait while others make an update (see"
    yield "mahmc.schedules).\n"
    yield "| target | update | schedule | µs an iteration | ratio in a short run | in a long one | bar |"
    yield "|---|---|---|---|---|---|---|"
    for target in (*KEEP, "ising", "spike-slab"):
        built, own = mahmc.targets.build(target), mahmc.SAMPLERS["mahmc"].defaults(target)
        lengths = (100, 1_000) if target == "blr" else (1_000, 20_000)
        for L, n_u in dict.fromkeys([(10, 10), (int(own["L"]), int(own["n_u"]))]):
            fixed = mahmc.schedules.alternate(L, n_u)
            drawn = mahmc.schedules.same_mean(fixed)
            for kind in built.density.updates:
                cases: dict[str, dict[str, Any]] = {str(fixed): {"L": L, "n_u": n_u}}
                if (L, n_u) == (10, 10):
                    cases["mirrored, 1 to 19 leapfrogs between updates"] = mirrored
                cases[f"iid({drawn.steps}, {L * n_u}/{drawn.steps})"] = {"schedule": drawn}
                rounds = [
                    [[_whole_runs(target, chosen | {"update": kind}, n, lengths[-1] // n) for n in lengths]
                     for chosen in cases.values()]
                    for _ in range(CPU_ROUNDS // 3)
                ]  # fmt: skip
                for i, name in enumerate(cases):
                    ratios = [_quartiles([row[i][j] / row[0][j] for row in rounds]) for j in range(len(lengths))]
                    micros = statistics.median(row[i][-1] for row in rounds) / lengths[-1] * 1e6
                    shown = " | ".join(ratios) + " | ≤ 1.3" if i else "1 | 1 | "
                    yield f"| {target} | {kind} | {name} | {micros:.2f} | {shown} |"


def _quartiles(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"**{middle:.2f}** ({low:.2f} to {high:.2f})"


def _whole_runs(target: str, chosen: dict[str, Any], draws: int, times: int) -> float:
    """Seconds of one core's time that so many runs of one block take, compiled before."""
    spec = RunSpec.of(target, "mahmc", chains=LANES, draws=draws, warmup=0, keep=KEEP.get(target), **chosen)
    Run(spec.with_(draws=1), threads=1).advance_all()
    begin = time.process_time()
    for _ in range(times):
        Run(spec, threads=1).advance_all()
    return time.process_time() - begin


def against_mixed_hmc() -> Iterator[str]:
    """M-HMC of ours and NumPyro's, at the same step size, travel time, visits and proposal (Liu's modified Gibbs)."""
    from peers import gmm_program, mdc_plate_program, numpyro_mixed_hmc

    def mixture(target: mahmc.Target) -> Callable[[], None]:
        return partial(gmm_program, **target.settings)

    overlapping = mahmc.targets.gmm([0.3, 0.4, 0.3], [-1.0, 0.0, 1.5], [0.4, 1.0, 0.5])
    cases: list[tuple[str, mahmc.Target, Callable[[], None], dict[str, Any], str]] = [
        ("GMM", mahmc.targets.gmm(), mixture(mahmc.targets.gmm()), {"epsilon": 0.3, "T": 4.5, "visits": 15}, "q"),
        ("GMM, overlapping", overlapping, mixture(overlapping), {"epsilon": 0.75, "T": 2.0, "visits": 3}, "q"),
        ("MDC", mahmc.targets.mdc(), mdc_plate_program, {"epsilon": 0.04, "T": 4.0, "visits": 100}, "u"),
    ]
    yield "\n### M-HMC against NumPyro's MixedHMC, 16 chains\n"
    yield "Same ε, T, visits and proposals. z is (mean − truth)/standard error: beyond 4 is wrong.\n"
    yield "| target | quantity | truth | ours | z | NumPyro | z |\n|---|---|---|---|---|---|---|"
    figures: list[tuple[Any, ...]] = []
    for name, target, program, values, quantity in cases:
        draws = 20_000 if target.name == "gmm" else 4_000
        mahmc.sample(target, "m-hmc", draws=1, warmup=0, **values)
        run = mahmc.sample(target, "m-hmc", draws=20 * draws, warmup=500, start="exact", chains=CHAINS, **values)
        peer = numpyro_mixed_hmc(program, draws, CHAINS, **values)
        for what, truth, a, b in _moments(target, run, peer.samples):
            z = [(x.mean() - truth) / diagnostics.mcse(x) for x in (a, b)]
            yield f"| {name} | {what} | {truth:.4f} | {a.mean():.4f} | {z[0]:+.1f} | {b.mean():.4f} | {z[1]:+.1f} |"
        per_draw, per_leapfrog = run.drawing["leapfrogs"] / run.spec.draws / CHAINS, run.ess_per_gradient(quantity)
        mine = (run.acceptance, per_draw, float(per_leapfrog), rate(run), ess_rate(run, quantity))
        ess = diagnostics.ess(np.asarray(peer.samples[quantity]))
        theirs = (peer.acceptance, peer.leapfrogs / draws / CHAINS, ess / peer.leapfrogs, peer.leapfrogs / peer.seconds,
                  ess / peer.seconds)  # fmt: skip
        figures += [(name, quantity, "ours", *mine), (name, quantity, "NumPyro", *theirs)]
    titles = ("target", "ESS of", "", "acceptance", "leapfrogs a draw", "ESS/leapfrog", "leapfrogs/s", "ESS/s")
    yield f"\n| {' | '.join(titles)} |\n|{'---|' * len(titles)}"
    for name, quantity, whose, *numbers in figures:
        yield f"| {name} | {quantity} | {whose} | {' | '.join(f'{number:.3g}' for number in numbers)} |"


def _moments(
    target: mahmc.Target, run: Run, peer: dict[str, np.ndarray]
) -> Iterator[tuple[str, float, np.ndarray, np.ndarray]]:
    """What is compared, its true mean, and draws of it by us and by the peer."""
    if target.name == "mdc":
        ones = target.truth.scalars["ones"]
        yield "u", 0.0, run.get("u"), peer["u"]
        yield "u²", 1.0, run.get("u") ** 2, peer["u"] ** 2
        yield "ones", ones.mean, run.get("ones").astype(float), peer["w"].sum(axis=-1).astype(float)
        return
    yield "q", target.truth.scalars["q"].mean, run.get("q"), peer["q"]
    for k, weight in enumerate(target.settings["weights"]):
        a, b = ((np.asarray(x) == k).astype(float) for x in (run.get("component"), peer["component"]))
        yield f"component = {k}", weight, a, b


@kernel
def bare_leapfrogs(target, state, epsilon, n, repeats):
    """Nothing but leapfrogs: what any sampler could at most reach."""
    for _ in range(repeats):
        store(state.U, 0, leapfrogs(target, state, epsilon, n))


def limit() -> Iterator[str]:
    """HMC on MDC against a bare loop of leapfrogs."""
    rows = [(_bare_rate(cores()), _bare_rate(1), rate(ours("mdc", "hmc"))) for _ in range(ROUNDS)]
    hmc, bare, single = _median(rows, 2), _median(rows, 0), _median(rows, 1)
    yield "\n### How near the limit: the MDC leapfrog alone\n"
    yield f"The bare leapfrog runs at {single:.2g} a second on one core and {bare:.2g} on {cores()}; "
    yield f"hmc, with momenta, tests, updates of w and recording, at {hmc:.2g}: {hmc / bare:.0%} of the bare leapfrog, "
    yield f"and {hmc / (LIMIT_PER_CORE * cores()):.0%} of the {LIMIT_PER_CORE:.1e} a second and core that was aimed at."


def _bare_rate(threads: int, repeats: int = 20_000) -> float:
    target = mahmc.targets.mdc()
    rng = np.random.default_rng(0)
    assert target.truth.exact is not None
    starts = [target.density.pack(target.truth.exact(rng, LANES)) for _ in range(threads)]
    states = [new_state(target, *start, Seeds(0, threads), b) for b, start in enumerate(starts)]
    bare_leapfrogs(target.density.data, states[0], 0.035, 40, 1)
    begin = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda state: bare_leapfrogs(target.density.data, state, 0.035, 40, repeats), states))
    return threads * LANES * 40 * repeats / (time.perf_counter() - begin)


class PlainFunnel(NamedTuple):
    """Neal's funnel by hand, as targets in mahmc/targets are written."""

    dim: int
    precision: float


@implements(potential, PlainFunnel)
def _funnel_potential(target, q, other, grad, scratch):
    v, squares = load(q, 0), splat(0.0)
    precision = exp(-v)
    for i in range(1, target.dim):
        x = load(q, i)
        squares += x * x
        store(grad, i, precision * x)
    store(grad, 0, v * target.precision - 0.5 * precision * squares + 0.5 * (target.dim - 1))
    return 0.5 * (v * v * target.precision + precision * squares + (target.dim - 1) * v)


@implements(update, PlainFunnel)
def _funnel_update(target, index, point):
    return splat(0.0), load(point.q, 0) == load(point.q, 0)


@implements(step_scale, PlainFunnel)
def _funnel_step_scale(target, other):
    return splat(1.0)


def own_target() -> Iterator[str]:
    """The same funnel as a person writes his own target, and by hand, in turns."""
    own: Target = mahmc.targets.build("neals-funnel")
    by_hand = replace(own, density=replace(own.density, data=PlainFunnel(10, 1.0 / 9.0)))
    yield "\n### A target of one's own: Neal's funnel as people write it, against the same by hand\n"
    yield "| sampler | leapfrogs/s, own | by hand | ratio | bar |\n|---|---|---|---|---|"
    for sampler in ("hmc", "mala-pn"):
        rows = []
        for seed in range(OWN_ROUNDS):
            rates = {}
            for target in (own, by_hand) if seed % 2 else (by_hand, own):
                size: dict[str, Any] = {"chains": CHAINS, "keep": ("v",), "seed": seed, "epsilon": 0.1, "L": 40}
                mahmc.sample(target, sampler, draws=1, warmup=0, **size)
                rates[target is own] = rate(mahmc.sample(target, sampler, draws=OWN_DRAWS, warmup=0, **size))
            rows.append((rates[True], rates[False]))
        ratio = _ratio(rows, 0, 1)
        yield f"| {sampler} | {_median(rows, 0):.2g} | {_median(rows, 1):.2g} | **{ratio:.3g}** | ≥ 0.9 |"


def checkpoints_cost() -> Iterator[str]:
    """Runs with the checkpoints from which draws are replayed, and the same runs without checkpoints, in turns."""
    yield "\n### What checkpoints cost\n"
    yield "16 chains; time of the processor, medians and quartiles of rounds in turns. A replay is one draw at a random"
    yield "place, recorded step by step.\n"
    yield "| target | sampler | checkpoints | KB | ratio of times, with to without | bar | ms a replay |"
    yield "|---|---|---|---|---|---|---|"
    for target, sampler in (("gmm", "hmc"), ("mdc", "hmc"), ("mdc", "mahmc"), ("blr", "mahmc")):
        spec = RunSpec.of(target, sampler, chains=CHAINS, warmup=0)
        spec = spec.with_(draws=int(LEAPFROGS[target] / spec.leapfrogs_per_draw / CHAINS))
        Run(spec.with_(draws=1)).advance_all().replay(0, 0)
        ratios = []
        for i in range(CPU_ROUNDS):
            times = {kept: _run_with(spec, kept) for kept in ((True, False) if i % 2 else (False, True))}
            ratios.append(times[True][0] / times[False][0])
        run = times[True][1]
        kept = [c for checkpoints in run._checkpoints for c in checkpoints.kept]
        places = np.random.default_rng(0).integers(spec.draws, size=20)
        begin = time.perf_counter()
        for place in places:
            run.replay(int(place) % CHAINS, int(place))
        replay = (time.perf_counter() - begin) / len(places) * 1e3
        size = sum(c.rows.nbytes for c in kept) / 1000
        yield f"| {target} | {sampler} | {len(kept)} | {size:.0f} | {_quartiles(ratios)} | ≤ 1.01 | {replay:.1f} |"


def _run_with(spec: RunSpec, checkpoints: bool) -> tuple[float, Run]:
    """Seconds of the processor that a run on one thread takes, and the run."""
    run = Run(spec, threads=1)
    if not checkpoints:
        run._most_checkpoints = 0
    begin = time.process_time()
    run.advance_all()
    return time.process_time() - begin, run


def growth() -> Iterator[str]:
    """Time and memory against the numbers of chains and draws."""
    yield "\n### Cost grows linearly\n"
    yield "MDC, mahmc, u and energy recorded; memory is that of the process at its peak above an empty run.\n"
    yield "| chains | draws | seconds | µs a draw of 8 chains | MiB |\n|---|---|---|---|---|"
    empty = _in_new_process(8, 1)[1]
    for chains, draws in ((16, 1_000), (16, 10_000), (16, 100_000), (16, 1_000_000), (64, 100_000), (256, 25_000)):
        seconds, memory = _in_new_process(chains, draws)
        per_draw = seconds / draws / (chains / LANES) * cores() * 1e6
        yield f"| {chains} | {draws} | {seconds:.3g} | {per_draw:.3g} | {(memory - empty) / 2**20:.0f} |"


def _in_new_process(chains: int, draws: int) -> tuple[float, int]:
    """Seconds of sampling, and bytes at the peak, of a run in a process of its own."""
    program = (
        "import mahmc, re\n"
        "mahmc.sample('mdc', 'mahmc', draws=1, warmup=0)\n"
        f"run = mahmc.sample('mdc', 'mahmc', chains={chains}, draws={draws}, warmup=0, keep=('u', 'energy'))\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()).group(1)\n"
        "print(run.seconds, int(peak) * 1024)"
    )
    seconds, memory = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    return float(seconds), int(memory)


def start() -> Iterator[str]:
    """The time of an import and a first run, without and with a cache."""
    program = (
        "import time; a = time.perf_counter()\n"
        "import mahmc; b = time.perf_counter()\n"
        "run = mahmc.Run(mahmc.RunSpec.of('mdc', 'mahmc')); run.advance()\n"
        "print(b - a, time.perf_counter() - b)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"MAHMC_CACHE_DIR": folder}
        times = []
        for _ in range(4):
            result = subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
            )
            times.append([float(word) for word in result.stdout.split()])
    yield "\n### Starting\n"
    yield f"Cold, with an empty cache, mahmc on MDC compiles and does its first chunk in {times[0][1]:.1f} s. "
    warm = statistics.median(t[1] for t in times[1:])
    yield f"A later process does its first chunk {warm:.2f} s after the import, which takes "
    yield f"{statistics.median(t[0] for t in times[1:]):.1f} s."


if __name__ == "__main__":
    main()
