"""The words of samplers and results, each explained once: for the registry, the command line and the dashboard.

`TERMS` has a short and a long text by name. `PANELS` say of each sampler why it works. A target says this of itself, in
its own file. Sections and algorithms are those of the paper (Zhou, AABI 2022).
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """A word: its short text, as a title, and its long text, as help."""

    short: str
    long: str


class Panel(NamedTuple):
    """Why a sampler or a target is worth a look."""

    name: str = ""  # spelled out
    equation: str = ""  # LaTeX
    good: str = ""  # when it is good, or what it shows
    paper: str = ""  # where the paper has it


SYMBOLS = {
    "tau": "τ", "log_tau": "log τ", "beta": "β", "beta_norm": "|β|", "energy": "energy U", "ones": "Σw",
    "slice": "slice v",
}  # fmt: skip

TERMS = {
    # parameters of samplers
    "epsilon": Term(
        "Step size",
        "The step size of the leapfrog. If it is too small, gradients are wasted. If it is too large, most moves are "
        "rejected; above about twice the smallest scale of the target, or even less, the leapfrog is unstable. For BLR "
        "the step size is multiplied by 1/√τ.",
    ),
    "L": Term(
        "Leapfrogs",
        "The number of leapfrog steps between two updates of qᴼ. For HMC this is the length of the whole trajectory. "
        "For the other samplers the paper calls this number Nᴸ.",
    ),
    "n_u": Term(
        "Segments",
        "The number of segments in one MAHMC trajectory. Each segment has L leapfrogs, and there is an update of qᴼ "
        "between two segments. MAHMC with one segment is HMC.",
    ),
    "alpha": Term(
        "Persistence of momentum",
        "The share of the momentum that each step keeps. At 0 each step draws a new momentum (MALA). Close to 1 the "
        "chain moves in the same direction for about 1/(1 − α) steps.",
    ),
    "delta": Term(
        "Drift of the uniform",
        "How far the persistent uniform v moves in each step. With small values, rejections come in clusters, with "
        "long runs of accepted steps between the clusters.",
    ),
    "T": Term(
        "Travel time",
        "The length of an M-HMC trajectory: the sum of all its step sizes. A trajectory has about T/ε leapfrogs, and "
        "more if there are many visits, because a leapfrog ends at each visit.",
    ),
    "visits": Term(
        "Visits",
        "The number of visits in an M-HMC trajectory. Each visit may change one discrete variable; the variables are "
        "visited in random order.",
    ),
    # size of a run
    "chains": Term("Chains", "Independent chains, run side by side in blocks of eight."),
    "draws": Term("Draws", "Draws that each chain records after its warm-up."),
    "warmup": Term("Warm-up", "Draws at the beginning that are stored apart. No estimate uses them."),
    "thin": Term("Thinning", "Keep every n-th iteration. Thinning saves memory and does not improve accuracy."),
    "seed": Term("Seed", "Same settings and same seed: the same draws, bit for bit."),
    # trajectories
    "q_h": Term("qᴴ", "The continuous variables that leapfrogs move, with the gradient of U."),
    "q_o": Term("qᴼ", "The other variables. They have Metropolis updates of their own, and need no gradient."),
    "leapfrog": Term(
        "Leapfrog",
        "A step of the integrator: half a step of the momentum, a step of qᴴ, and half a step of the momentum.",
    ),
    "trajectory": Term(
        "Trajectory", "Leapfrogs, and for some samplers updates of qᴼ, that are accepted or rejected together."
    ),
    "within_gibbs": Term("Within Gibbs", "A sampler moves qᴴ, then an update changes qᴼ, and so on in turns."),
    "schedule": Term(
        "Schedule",
        "The order of leapfrogs and updates in a trajectory. Alternate: L leapfrogs, an update, L leapfrogs, and so "
        "on. I.i.d.: each step is drawn independently. Sequences: one of the sequences that you write, drawn by "
        "weight.",
    ),
    "update": Term(
        "Update of qᴼ",
        "Gibbs draws qᴼ from its full conditional. Metropolis proposes a change that can be rejected.",
    ),
    "outer": Term(
        "After the trajectory",
        "The update of qᴼ after each trajectory (within Gibbs). None: all updates are inside (pure MAHMC).",
    ),
    # results
    "acceptance": Term("Acceptance", "Share of accepted trajectories."),
    "inner": Term("Inner updates", "Share of accepted updates inside trajectories."),
    "outer_updates": Term("Outer updates", "Share of accepted updates after trajectories."),
    "ess_bulk": Term(
        "ESS, bulk",
        "Effective sample size for the mean (ArviZ's bulk ESS): so many independent draws would give the mean with "
        "the same error. It is above the number of draws if successive draws are antithetic, that is negatively "
        "correlated.",
    ),
    "ess_tail": Term("ESS, tail", "Effective sample size for the 5 % and 95 % quantiles (ArviZ's tail ESS)."),
    "ess_per_leapfrog": Term(
        "ESS / leapfrog",
        "Bulk ESS divided by the number of leapfrogs: the measure of the paper's Table 1. A leapfrog needs one "
        "gradient.",
    ),
    "antithetic": Term(
        "Antithetic draws",
        "successive draws are negatively correlated. Their errors cancel, so a mean is more exact than that of as "
        "many independent draws. This holds for the one quantity; for others, as its square, the ESS may be small.",
    ),
    "rhat": Term("R-hat", "Agreement of the chains. Below 1.01 is good."),
    "gradients": Term("Gradients", "Gradients evaluated so far, warm-up included."),
    "speed": Term("Leapfrogs/s", "Leapfrogs per second, all chains together."),
    "non_finite": Term("Non-finite", "Proposals rejected because their energy is not finite."),
}

_ENERGY = r"E = U(q) + \tfrac12 |p|^2"
_FRESH = r"p_0 \sim N(0, I)"
_TEST = r"P(\text{accept}) = \min\{1,\, e^{E_0 - E}\}"
_PARTIAL = r"p_0 \leftarrow \alpha\, p_0 + \sqrt{1 - \alpha^2}\; n"
_NOISE = r"n \sim N(0, I)"
_ONE_STEP = r"(q, p) = \mathrm{leapfrog}(q_0, p_0, \epsilon)"
_RATIO = r"r = e^{E_0 - E + \Delta E}\; \frac{P^D(D^{-1})}{P^D(D)}"


def _lines(*lines: str) -> str:
    """Equations below each other, each short enough for a phone."""
    return r"\begin{aligned}" + r" \\ ".join(f"& {line}" for line in lines) + r"\end{aligned}"


PANELS = {
    "mala": Panel(
        "Metropolis-adjusted Langevin algorithm",
        _lines(_FRESH, _ONE_STEP, _TEST, _ENERGY),
        "Good as a baseline. A new momentum in each step makes a random walk, which is slow on a narrow target.",
        "Sec. 2.2; Algorithm 2 with L = 1",
    ),
    "hmc": Panel(
        "Hamiltonian Monte Carlo",
        _lines(_FRESH, r"L \text{ leapfrogs: } (q_0, p_0) \to (q, p)", _TEST, _ENERGY),
        "Good where long moves are enough. While a trajectory lasts, qᴼ does not change: long trajectories mean rare "
        "updates of qᴼ.",
        "Sec. 2.1; Algorithm 2, HMC",
    ),
    "mala-p": Panel(
        "MALA with partial momentum refreshment",
        _lines(_PARTIAL, _NOISE, _ONE_STEP, _TEST, r"\text{accepted: } p \text{ goes on}",
               r"\text{rejected: } {-p_0} \text{ goes on}"),
        "Good where qᴼ must change often and steps are rarely rejected: each rejection turns the chain around.",
        "Sec. 2.2; Algorithm 2, MALA-P",
    ),
    "mala-pn": Panel(
        "MALA with partial momentum refreshment and non-reversible acceptance",
        _lines(_PARTIAL, _NOISE, _ONE_STEP, r"\text{accept if } |v| \le e^{E_0 - E}",
               r"\text{then } v \leftarrow v\, e^{E - E_0}", r"v \leftarrow (v + 1 + \delta) \bmod 2 - 1"),
        "Good where qᴼ must change often: rejections come together, with long runs in one direction between them. Both "
        "α and δ need tuning.",
        "Sec. 2.2; Algorithm 2, MALA-PN",
    ),
    "mahmc": Panel(
        "Metropolis augmented Hamiltonian Monte Carlo",
        _lines(r"D \sim P^D \text{: the order of steps}", r"\text{leapfrogs of } q^H, \text{ updates of } q^O",
               r"\Delta E \leftarrow \Delta E + U(q^H, \tilde q^O)", r"\qquad\qquad {} - U(q^H, q^O)",
               r"P(\text{accept}) = \min\{1,\, r\}", _RATIO),
        "Good where long moves and frequent updates of qᴼ are both needed: a trajectory has both. As with HMC, only "
        "the step size and the numbers of steps need tuning.",
        "Sec. 3.1; Algorithm 3. Proof in Sec. 3.3",
    ),
    "m-hmc": Panel(
        "mixed Hamiltonian Monte Carlo",
        _lines(r"k_i \sim \mathrm{Exponential}(1)", r"\text{accept a visit if } k_i > \Delta E_i",
               r"\text{then } k_i \leftarrow k_i - \Delta E_i",
               r"P(\text{accept}) = \min\{1,\, e^{E_0 - E + \Delta U}\}"),
        "Good for discrete variables that can be visited one at a time, each with a kinetic energy k. It is a relative "
        "of MAHMC, with a random schedule.",
        "Sec. 2.4 and 3.2; Zhou 2020, arXiv 1909.04852, with its erratum",
    ),
    "naive": Panel(
        "MAHMC without its correction",
        _lines(_TEST, r"\text{right: } \min\{1,\, e^{E_0 - E + \Delta E}\}"),
        "Good for one thing: to see that the correction ΔE is needed.",
        "Sec. 3.1; Algorithm 3 without its blue terms",
    ),
    "asymmetric": Panel(
        "MAHMC with a sequence that is not a palindrome",
        _lines(r"D \ne D^{-1} \;\Rightarrow\; P^D(D^{-1}) = 0", r"\text{right: } \min\{1,\, r\} = 0", _RATIO),
        "Good for one thing: to see that a fixed sequence must be its own mirror image.",
        "Sec. 3.1; Algorithm 3, the last test",
    ),
}  # fmt: skip
