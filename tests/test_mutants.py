"""Checks can fail: one-line mistakes in a copy of the engine are caught, by the invariance test and by `mahmc.check`.

Each mutant is the package with one line changed, in a folder of its own, run in a process of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
# For make test: one in each kernel. The others are in make check-long.
ONE_OF_EACH_KIND = {
    "no delta_E",
    "v not divided by the ratio on acceptance",
    "k not reduced by what a visit costs",
}


class Mutant(NamedTuple):
    name: str
    file: str
    right: str
    wrong: str
    case: tuple[str, ...]  # target, sampler, update; or the name of a general one


TRAJECTORY, PERSISTENT, MIXED = "kernels/trajectory.py", "kernels/persistent.py", "kernels/mixed.py"
LAWS = "schedules/laws.py"
MUTANTS = [
    Mutant("no delta_E", TRAJECTORY, "delta_E += delta_U", "delta_E += 0.0 * delta_U", ("gmm", "mahmc", "metropolis")),
    Mutant(
        "delta_E with the wrong sign", TRAJECTORY, "delta_E += delta_U", "delta_E -= delta_U",
        ("gmm", "mahmc", "gibbs"),
    ),
    Mutant(
        "K(q) for K(p)", TRAJECTORY, "E = U + kinetic(state.p)", "E = U + kinetic(state.q)", ("gmm", "hmc", "gibbs")
    ),
    Mutant(
        "an asymmetric sequence of updates", LAWS,
        "deterministic([(0, self.L)] + [(1, 1), (0, self.L)] * (self.n_u - 1))",
        "np.array([(0, self.L), (1, 1)] * self.n_u)",
        ("gmm", "mahmc", "metropolis"),
    ),
    Mutant(
        "the step size of the whole trajectory from its first tau", "kernels/moves.py",
        "step_scale(target, other)", "step_scale(target, state.before.other)", ("blr", "mahmc", "gibbs"),
    ),
    Mutant(
        "a Gibbs draw with the wrong rate", "targets/blr.py",
        "new = load(other, 0) / rate", "new = load(other, 0) / (rate + 0.05 * square)", ("blr", "hmc", "gibbs"),
    ),
    Mutant(
        "v not divided by the ratio on acceptance", PERSISTENT, "where(accepted, v / ratio, v)", "v",
        ("gmm", "mala-pn", "gibbs"),
    ),
    Mutant(
        "no turning round on rejection", PERSISTENT, "-load(before.p, i)))", "load(before.p, i)))",
        ("mdc", "mala-p", "gibbs"),
    ),
    Mutant(
        "partial refreshment that loses variance", "kernels/moves.py", "math.sqrt(1.0 - alpha * alpha)", "1.0 - alpha",
        ("gmm", "mala-p", "gibbs"),
    ),
    Mutant(
        "q^O kept from a rejected trajectory", "kernels/moves.py",
        "    restore(accepted, state.other, before.other)\n", "", ("mdc", "mahmc", "metropolis"),
    ),
    Mutant(
        "a stale gradient after an update of q^O", "targets/gmm.py",
        "    store(grad, 0, (x - load(other, 1)) * load(other, 2))\n", "", ("gmm", "mahmc", "metropolis"),
    ),
    Mutant(
        "a whole kick for half a one", "kernels/moves.py",
        "    kick_and_drift(q, p, grad, half, scaled)", "    kick_and_drift(q, p, grad, scaled, scaled)",
        ("gmm", "mala", "gibbs"),
    ),
    Mutant(
        "log tau without its Jacobian", "targets/blr.py", "exp(target.walk * step - delta_U)", "exp(-delta_U)",
        ("blr", "hmc", "metropolis"),
    ),
    Mutant(
        "a flip of w accepted the wrong way round", "targets/mdc.py", "(1.0 - 2.0 * now) * u", "(2.0 * now - 1.0) * u",
        ("mdc", "hmc", "metropolis"),
    ),
    Mutant(
        "no factor of the mirror image", LAWS, "[self.log_ratio(D) for D in pairs]", "[0.0 for D in pairs]",
        ("mirrored",),
    ),
    Mutant(
        "the factor upside down", TRAJECTORY,
        "where(forward, forward_log_ratio, -forward_log_ratio)",
        "where(forward, -forward_log_ratio, forward_log_ratio)",
        ("mirrored and within Gibbs",),
    ),
    Mutant(
        "no delta_E of updates at random places", TRAJECTORY, "delta_E += delta_U", "delta_E += 0.0 * delta_U", ("iid",)
    ),
    Mutant(
        "leapfrogs in lanes that wait", TRAJECTORY,
        "leapfrogs(target, state, size, count)", "leapfrogs(target, state, splat(epsilon), count)",
        ("mirrored with two kinds",),
    ),
    Mutant(
        "q^O updated in lanes that wait", "kernels/moves.py",
        "        restore(selected.mask, point.other, backup.other)\n", "", ("iid on blr",),
    ),
    Mutant(
        "no delta_E, and no update afterwards", TRAJECTORY, "delta_E += delta_U", "delta_E += 0.0 * delta_U",
        ("pure mahmc on mdc",),
    ),
    Mutant(
        "neighbours without their proposal's ratio", "targets/gmm.py", "delta_U - log_ratio", "delta_U", ("neighbour",)
    ),
    Mutant(
        "Liu's proposal without its ratio", "targets/gmm.py",
        "cost = log(_total_mass(target, x, highest, proposed)) - log(_total_mass(target, x, highest, now))",
        "cost = splat(0.0)", ("modified gibbs",),
    ),
    Mutant(
        "delta_E with updates that are undone in lanes that wait", "kernels/moves.py",
        "delta_U = where(selected.mask, delta_U, 0.0)", "delta_U = where(selected.mask, delta_U, delta_U)",
        ("iid on blr",),
    ),
    Mutant(
        "a block of w redrawn the wrong way round", "targets/mdc.py",
        "< size, w, load(other, i))", "< size, 1.0 - w, load(other, i))", ("block",),
    ),
    Mutant(
        "k not reduced by what a visit costs", MIXED, "load(k, i) - cost", "load(k, i) - 0.0 * cost",
        ("m-hmc, many visits",),
    ),
    Mutant(
        "the erratum's mistake, what k lost for what U gained", MIXED, "delta_E += delta_U", "delta_E += cost",
        ("m-hmc, modified gibbs",),
    ),
    Mutant(
        "the same with a random walk that has ends", MIXED, "delta_E += delta_U", "delta_E += cost",
        ("m-hmc, neighbour",),
    ),
    Mutant(
        "M-HMC that forgets what visits did to U", MIXED, "delta_E += delta_U", "delta_E += 0.0 * delta_U",
        ("m-hmc on mdc, once round and a bit",),
    ),
    Mutant(
        "a block of chains that shares D itself", TRAJECTORY,
        "forward = uniform(state.rng) < share", "forward = splat(float(state.block_rng[3, 0]) * 2.0**-64) < share",
        ("independence", "sequences(001:0.5, 100:0.5)"),
    ),
    Mutant(
        "drawn steps that all lanes take forwards", "kernels/plan.py",
        "palindrome else 0.5", "palindrome else 1.0 - 1e-9",
        ("independence", "iid(3, 0.67)"),
    ),
    Mutant(
        "a funnel whose x are one too few", "examples/funnel.py", "(self.dim - 1) * v / 2", "(self.dim - 2) * v / 2",
        ("neals-funnel", "hmc", "none"),
    ),
    Mutant(
        "a spin from half its pull", "examples/ising.py", "sigmoid(2 * pull)", "sigmoid(pull)",
        ("ising", "mala-pn", "gibbs"),
    ),
    Mutant(
        "a column flipped at four fifths of its cost", "examples/spike_slab.py",
        "accepted = uniform(rng) < exp(-flipping)", "accepted = uniform(rng) < exp(-0.8 * flipping)",
        ("spike-slab", "mahmc", "flip"),
    ),
]  # fmt: skip


def verdict_on(package_root: Path, case: tuple[str, ...], cache: Path) -> subprocess.CompletedProcess[str]:
    """What the invariance test and all checks together say, with the engine found in `package_root`."""
    environment = os.environ | {"PYTHONPATH": f"{package_root}{os.pathsep}{ROOT}", "MAHMC_CACHE_DIR": str(cache)}
    environment["NUMBA_OPT"] = "1"  # each compiles anew, which then takes less long
    command = [sys.executable, "-m", "tests.support.mutated", *case]
    return subprocess.run(
        command, env=environment, cwd=package_root, capture_output=True, text=True, timeout=600, check=False
    )


def parameter(mutant: Mutant) -> Any:
    return pytest.param(mutant, marks=() if mutant.name in ONE_OF_EACH_KIND else pytest.mark.long, id=mutant.name)


@pytest.mark.parametrize("mutant", [parameter(mutant) for mutant in MUTANTS])
def test_checks_catch(mutant: Mutant, tmp_path: Path) -> None:
    copy = tmp_path / "mahmc"
    shutil.copytree(ROOT / "mahmc", copy, ignore=shutil.ignore_patterns("__pycache__"))
    source = (copy / mutant.file).read_text()
    assert source.count(mutant.right) == 1, "the line to be mutated has changed: adapt the mutant"
    (copy / mutant.file).write_text(source.replace(mutant.right, mutant.wrong))
    result = verdict_on(tmp_path, mutant.case, tmp_path / "cache")
    test = "independence" if mutant.case[0] == "independence" else "invariance"
    assert f"{test}: Wrong" in result.stdout, f"not caught: {result.stdout}{result.stderr}"
    if test == "invariance":
        assert "all checks: wrong" in result.stdout, f"not caught: {result.stdout}{result.stderr}"


def test_the_engine_itself_is_passed_by_the_same_procedure(tmp_path: Path) -> None:
    """The copy without a change is not called wrong, so what catches mutants is not the procedure.

    With a fifth of the draws, as mutants are looked at, no more can be said; test_checks has the engine called right.
    """
    shutil.copytree(ROOT / "mahmc", tmp_path / "mahmc", ignore=shutil.ignore_patterns("__pycache__"))
    result = verdict_on(tmp_path, ("gmm", "mahmc", "metropolis"), tmp_path / "cache")
    assert "invariance: Right" in result.stdout, result.stdout + result.stderr
    assert "all checks: not enough draws to tell" in result.stdout, result.stdout + result.stderr
