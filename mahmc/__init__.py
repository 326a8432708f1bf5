"""Samplers that mix Hamiltonian moves with other Metropolis updates (Zhou, AABI 2022).

    >>> import mahmc
    >>> run = mahmc.sample("mdc", "mahmc", draws=20_000, seed=7)
    >>> run.acceptance, run.ess_per_gradient("u")

Notation. The names in the code are the symbols of the paper:

| name    | paper | meaning |
|---------|-------|---------|
| q       | q^H   | the continuous variables that leapfrogs move |
| other   | q^O   | the other variables, which have updates of their own |
| p       | p^H   | momentum of q^H |
| U, grad | U, ∇U | potential energy, −log π up to a constant, and its gradient in q^H |
| K       | K     | kinetic energy, p²/2 |
| E       | E     | U + K |
| epsilon | ε     | step size of the leapfrog |
| L       | L, N^L| leapfrogs between two updates of q^O; for hmc in the whole trajectory |
| n_u     | N^U   | segments of L leapfrogs in one MAHMC trajectory |
| alpha   | α     | share of the momentum that is kept (MALA-P, MALA-PN) |
| delta   | δ     | drift of the persistent uniform (MALA-PN) |
| v       | v     | that uniform, on (−1, 1); recorded as "slice" |
| delta_E | ΔE    | change of U by updates of q^O inside a trajectory |
| D       | D     | the sequence of steps in a trajectory: 0 a leapfrog, i the i-th update of q^O |
| law     | P^D   | the probability of each D: `schedules` |
| update  | Q_i   | the updates of q^O inside a trajectory, by name |
| outer   |       | the update of q^O after a trajectory (within Gibbs), or none |
| k       | k^D   | kinetic energy of a discrete variable in M-HMC; a change of the variable may cost at most k |
| T       |       | travel time of an M-HMC trajectory, Σ of its step sizes |
| visits  |       | visits to discrete variables in an M-HMC trajectory |

Imports go one way: parameters, compiled → lanes, precision → streams → targets → kernels → schedules, samplers → spec →
recorder → run → compare → checks → custom → examples.
"""

from mahmc import diagnostics, schedules, tables, targets
from mahmc.checks import Checking, check, check_sampler
from mahmc.compare import Comparison, compare
from mahmc.custom import load_targets, target
from mahmc.parameters import InvalidInput, Parameter
from mahmc.recorder import Trajectory
from mahmc.run import Progress, Run, SamplingWarning, load, sample
from mahmc.samplers import SAMPLERS
from mahmc.spec import RunSpec
from mahmc.targets import Target
from mahmc.trajectory import trajectory
from mahmc.version import __version__

from mahmc import examples  # isort: skip  # they are written as a person would, with mahmc.target

__all__ = [
    "SAMPLERS", "Checking", "Comparison", "InvalidInput", "Parameter", "Progress", "Run", "RunSpec",
    "SamplingWarning", "Target", "Trajectory", "__version__", "check", "check_sampler", "compare", "diagnostics",
    "examples", "load", "load_targets", "sample", "schedules", "tables", "target", "targets", "trajectory",
]  # fmt: skip
