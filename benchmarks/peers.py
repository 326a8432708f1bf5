"""Peers: the samplers of the paper in plain JAX, and NumPyro, on the paper's two targets.

These are the yardsticks for the engine's speed. Nothing is imported from ``mahmc``: models and data are
written out again, so a mistake in one place cannot hide in the other. Every peer returns a
:class:`PeerResult` with what it recorded, the leapfrog steps it took and the seconds they took, compilation
left out.

The models, with q^H moved by leapfrogs and q^O by Gibbs draws:

    mdc   u ~ N(0, 1),  v | u ~ N(u, 0.04²),  w_i | u ~ Bernoulli(1 / (1 + e^u)), i = 1 … 20;
          q^H = (u, v), q^O = w
    blr   tau ~ Gamma(1, scale 100),  beta | tau ~ N(0, I / tau),  y_i | beta ~ Bernoulli(sigmoid(x_i beta));
          q^H = beta, q^O = tau, leapfrog step size epsilon / sqrt(tau)

Import this module before JAX runs anything: it switches on float64 and asks for one CPU device a core.

Usage: ``python benchmarks/peers.py [--scale S] [--seed N]`` prints one table of short runs, S times as long.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.flatten_util import ravel_pytree
from numpyro.infer import HMC, MCMC, NUTS, HMCGibbs, MixedHMC, init_to_value

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", os.cpu_count() or 1)  # chains are shared out over the devices

DATA_FILE = Path(__file__).resolve().parents[1] / "mahmc" / "data" / "breast_cancer.csv"
N_W = 20
V_SD = 0.04
TAU_SHAPE, TAU_RATE = 1.0, 0.01
TAU_START = 150.0
BLOCK = 100  # random numbers are drawn for this many draws at once

PRESETS: dict[tuple[str, str], dict[str, float]] = {
    ("mdc", "hmc"): {"L": 40, "epsilon": 0.035},
    ("mdc", "mala-pn"): {"L": 10, "epsilon": 0.03, "alpha": 0.995, "delta": 0.01},
    ("mdc", "mahmc"): {"n_u": 10, "L": 10, "epsilon": 0.04},
    ("blr", "hmc"): {"L": 10, "epsilon": 0.09},
    ("blr", "mala-pn"): {"L": 5, "epsilon": 0.1, "alpha": 0.9, "delta": 0.015},
    ("blr", "mahmc"): {"n_u": 2, "L": 5, "epsilon": 0.1},
}


@dataclass(frozen=True)
class PeerResult:
    """One timed run. `leapfrogs` is the total over chains; `samples` holds arrays (chains, draws)."""

    name: str
    target: str
    sampler: str
    chains: int
    draws: int
    leapfrogs: int
    seconds: float
    compile_seconds: float
    samples: dict[str, np.ndarray]
    warmup_seconds: float = math.nan
    acceptance: float = math.nan


# ------------------------------------------------------------------------------------------------ the targets


class Model(NamedTuple):
    """U(q, o) = base(q) + tie(q, o): the part free of o = q^O is kept when o changes, gradient included."""

    rng: str
    start: Callable[[jax.Array], tuple[Any, jax.Array]]
    base: Callable[[Any], jax.Array]
    tie: Callable[[Any, jax.Array], jax.Array]
    gibbs_noise: Callable[[jax.Array, tuple[int, ...]], jax.Array]
    gibbs: Callable[[jax.Array, Any], jax.Array]
    step_scale: Callable[[jax.Array], jax.Array]
    record: Callable[[Any, jax.Array, jax.Array], dict[str, jax.Array]]


@jax.custom_jvp
def softplus(x: jax.Array) -> jax.Array:
    """log(1 + e^x), with a single sigmoid as derivative; that of jax.nn.softplus needs the value as well."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


softplus.defjvps(lambda tangent, value, x: tangent * jax.nn.sigmoid(x))


def mdc_model(dtype: jnp.dtype) -> Model:
    """MDC; of w only the number of ones matters to U: sum_i -log P(w_i | u) = 20 softplus(-u) + ones · u."""

    def start(key):
        u, noise = jax.random.normal(key, (2,), dtype)
        return (u, u + V_SD * noise), jnp.asarray(N_W / 2, dtype)

    def base(q):
        u, v = q
        return u**2 / 2 + (v - u) ** 2 / (2 * V_SD**2) + N_W * softplus(-u)

    return Model(
        rng="rbg",
        start=start,
        base=base,
        tie=lambda q, ones: ones * q[0],
        gibbs_noise=lambda key, shape: jax.random.uniform(key, (*shape, N_W), dtype),
        gibbs=lambda noise, q: jnp.sum(noise < jax.nn.sigmoid(-q[0]), dtype=dtype),
        step_scale=jnp.ones_like,
        record=lambda q, base, ones: {"u": q[0]},
    )


def blr_data() -> tuple[np.ndarray, np.ndarray]:
    """Return the design matrix (standardised features, then ones) and the labels."""
    table = np.loadtxt(DATA_FILE, delimiter=",", skiprows=1)
    features, labels = table[:, :-1], table[:, -1]
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([standard, np.ones(len(labels))]), labels


def blr_model(dtype: jnp.dtype) -> Model:
    """BLR; rows carry the sign of their label: minus the log-likelihood is sum_i softplus(-s_i x_i beta)."""
    X, y = blr_data()
    signed = jnp.asarray(X * (2 * y - 1)[:, None], dtype)
    dim = signed.shape[1]

    def start(key):
        return jax.random.normal(key, (dim,), dtype) / math.sqrt(TAU_START), jnp.asarray(TAU_START, dtype)

    def base(beta):
        return jnp.sum(softplus(-(signed @ beta)))

    def tie(beta, tau):
        return tau * (TAU_RATE + jnp.sum(beta**2) / 2) - (dim / 2 + TAU_SHAPE - 1) * jnp.log(tau)

    return Model(
        rng="threefry2x32",
        start=start,
        base=base,
        tie=tie,
        gibbs_noise=lambda key, shape: jax.random.gamma(key, TAU_SHAPE + dim / 2, shape, dtype),
        gibbs=lambda noise, beta: noise / (TAU_RATE + jnp.sum(beta**2) / 2),
        step_scale=lambda tau: 1 / jnp.sqrt(tau),
        record=lambda beta, base, tau: {"energy": base + tie(beta, tau), "log_tau": jnp.log(tau)},
    )


MODELS = {"mdc": mdc_model, "blr": blr_model}


# ----------------------------------------------------------------------------------------------- the samplers


class State(NamedTuple):
    """A chain: q^H, base(q) and its gradient, q^O; p and v of MALA-PN (else None); number of acceptances."""

    q: Any
    base: jax.Array
    grad: Any
    other: jax.Array
    p: Any
    v: Any
    accepted: jax.Array


def kinetic(p: Any) -> jax.Array:
    """K(p) = |p|² / 2."""
    return jnp.asarray(sum(jnp.sum(x**2) for x in jax.tree.leaves(p)) / 2)


def add(x: Any, scale: jax.Array | float, y: Any) -> Any:
    """x + scale · y, leaf by leaf."""
    return jax.tree.map(lambda a, b: a + scale * b, x, y)


def select(condition: jax.Array, x: Any, y: Any) -> Any:
    """x where the condition holds, else y, leaf by leaf."""
    return jax.tree.map(partial(jnp.where, condition), x, y)


def leapfrog(model: Model, q: Any, p: Any, grad: Any, other: jax.Array, step: jax.Array) -> tuple[Any, ...]:
    """One leapfrog under U(·, q^O) with one new gradient of the base; returns q, p, base(q), its gradient."""
    tie_grad = jax.grad(model.tie)
    p = add(p, -step / 2, add(grad, 1, tie_grad(q, other)))
    q = add(q, step, p)
    base, grad = jax.value_and_grad(model.base)(q)
    p = add(p, -step / 2, add(grad, 1, tie_grad(q, other)))
    return q, p, base, grad


def leapfrogs(model: Model, q: Any, p: Any, grad: Any, other: jax.Array, L: int, epsilon: float) -> tuple[Any, ...]:
    """L leapfrogs; base(q) is dropped, hence not computed, in all but the last."""
    step = epsilon * model.step_scale(other)

    def body(_, carry):
        q, p, _, grad = leapfrog(model, *carry, other, step)
        return q, p, grad

    q, p, grad = jax.lax.fori_loop(0, L - 1, body, (q, p, grad))
    return leapfrog(model, q, p, grad, other, step)


def mahmc_draw(model: Model, state: State, noise: dict[str, Any], *, L: int, epsilon: float, n_u: int = 1) -> State:
    """MAHMC within Gibbs: n_u segments of L leapfrogs, Gibbs draws between and after. n_u = 1 is HMC."""
    q, p, grad, other = state.q, noise["p"], state.grad, state.other
    delta_E: Any = 0.0
    E_0 = state.base + model.tie(q, other) + kinetic(p)
    for j in range(n_u):
        if j:
            new = model.gibbs(noise["gibbs"][j], q)
            delta_E += model.tie(q, new) - model.tie(q, other)
            other = new
        q, p, base, grad = leapfrogs(model, q, p, grad, other, L, epsilon)
    E = base + model.tie(q, other) + kinetic(p)
    accept = jnp.log(noise["uniform"]) <= E_0 - E + delta_E
    q, base, grad = select(accept, (q, base, grad), (state.q, state.base, state.grad))
    return State(q, base, grad, model.gibbs(noise["gibbs"][0], q), None, None, state.accepted + accept)


def mala_pn_draw(
    model: Model, state: State, noise: dict[str, Any], *, L: int, epsilon: float, alpha: float, delta: float
) -> State:
    """L updates of MALA-PN, then a Gibbs draw of q^O; momentum and v persist."""
    other, step = state.other, epsilon * model.step_scale(state.other)

    def update(carry, normal):
        q_0, base_0, grad_0, p, v, accepted = carry
        p_0 = jax.tree.map(lambda p, n: alpha * p + math.sqrt(1 - alpha**2) * n, p, normal)
        q, p, base, grad = leapfrog(model, q_0, p_0, grad_0, other, step)
        E_0 = base_0 + model.tie(q_0, other) + kinetic(p_0)
        ratio = jnp.exp(E_0 - base - model.tie(q, other) - kinetic(p))
        accept = jnp.abs(v) <= ratio
        kept = (q_0, base_0, grad_0, jax.tree.map(jnp.negative, p_0), v)
        q, base, grad, p, v = select(accept, (q, base, grad, p, v / ratio), kept)
        return (q, base, grad, p, jnp.where(v + delta > 1, v + delta - 2, v + delta), accepted + accept), None

    carry = (state.q, state.base, state.grad, state.p, state.v, state.accepted)
    (q, base, grad, p, v, accepted), _ = jax.lax.scan(update, carry, noise["p"])
    return State(q, base, grad, model.gibbs(noise["gibbs"], q), p, v, accepted)


def draw_noise(model: Model, sampler: str, par: dict[str, Any], q: Any, draws: int, key: jax.Array) -> dict[str, Any]:
    """All random numbers of some draws of one chain, in a few calls; momenta have the form of q."""
    like, unravel = ravel_pytree(q)
    key_p, key_uniform, key_gibbs = jax.random.split(key, 3)
    if sampler == "mala-pn":
        normal = jax.random.normal(key_p, (draws, par["L"], like.size), like.dtype)
        return {"p": jax.vmap(jax.vmap(unravel))(normal), "gibbs": model.gibbs_noise(key_gibbs, (draws,))}
    return {
        "p": jax.vmap(unravel)(jax.random.normal(key_p, (draws, like.size), like.dtype)),
        "uniform": jax.random.uniform(key_uniform, (draws,), like.dtype),
        "gibbs": model.gibbs_noise(key_gibbs, (draws, par.get("n_u", 1))),
    }


def start_chain(model: Model, sampler: str, key: jax.Array) -> State:
    """The first state of a chain."""
    key_q, key_p, key_v = jax.random.split(key, 3)
    q, other = model.start(key_q)
    base, grad = jax.value_and_grad(model.base)(q)
    p = v = None
    if sampler == "mala-pn":
        flat, unravel = ravel_pytree(q)
        p = unravel(jax.random.normal(key_p, flat.shape, flat.dtype))
        v = jax.random.uniform(key_v, (), flat.dtype, -1, 1)
    return State(q, base, grad, other, p, v, jnp.zeros((), jnp.int64))


def run_chain(
    model: Model, sampler: str, par: dict[str, Any], draws: int, key: jax.Array, state: State
) -> tuple[Any, ...]:
    """Advance one chain; returns its last state and the recorded quantities, each of shape (draws,)."""
    step = mala_pn_draw if sampler == "mala-pn" else mahmc_draw

    def one_draw(state, noise):
        state = step(model, state, noise, **par)
        return state, model.record(state.q, state.base, state.other)

    def block(size, state, key):
        return jax.lax.scan(one_draw, state, draw_noise(model, sampler, par, state.q, size, key))

    full, rest = divmod(draws, BLOCK)
    key, last_key = jax.random.split(key)
    state = state._replace(accepted=jnp.zeros_like(state.accepted))
    state, record = jax.lax.scan(partial(block, BLOCK), state, jax.random.split(key, full))
    record = jax.tree.map(jnp.ravel, record)
    if rest:
        state, tail = block(rest, state, last_key)
        record = jax.tree.map(lambda *parts: jnp.concatenate(parts), record, tail)
    return state, record


def device_count(chains: int) -> int:
    """The largest number of devices that share the chains evenly."""
    return max(d for d in range(1, jax.local_device_count() + 1) if chains % d == 0)


def jax_sampler(
    target: str,
    sampler: str,
    draws: int,
    chains: int = 16,
    warmup: int = 1000,
    seed: int = 0,
    dtype: str = "float64",
    **overrides: float,
) -> PeerResult:
    """Run `hmc`, `mahmc` or `mala-pn` within Gibbs on `mdc` (records u) or `blr` (energy, log_tau).

    Parameters are the paper's best; `overrides` are L, epsilon, n_u, alpha, delta. A pmap over cores, a vmap
    over chains, a scan over draws, a loop over leapfrogs; a leapfrog takes one new gradient (value_and_grad).

    Variants tried; the first of each line is the one here:
    - random numbers for BLOCK draws at once, or at each draw: up to 1.5 times the speed;
    - generator "rbg" on MDC and "threefry2x32" on BLR, or the other way: 1.5 and 2 times the random numbers a
      second (jax.random.gamma is the slow one under "rbg"); "unsafe_rbg" is not faster;
    - `softplus` above, or jax.nn.softplus: 3 times the speed on BLR, up to 1.5 on MDC;
    - q of MDC as a tuple of scalars, or as one array of two: 1.4 times the speed of MALA-PN;
    - leapfrog loop rolled, or unrolled by 3, 10, 40: the same at best, 10 to 20 times slower in full;
    - segments of MAHMC as a Python loop, or as a scan: the same within 10 %;
    - one device a core, or one for all: between 1 (MALA-PN on MDC) and 1.7 times the speed on two idle cores;
    - float64, or float32 on MDC (`dtype`): float32 is between 0.9 and 1.6 times as fast;
    - default XLA flags, or prefer_vector_width=512, one Eigen thread, fast math: -6 to +20 %, as the noise.
    """
    par = PRESETS[target, sampler] | overrides
    model = MODELS[target](jnp.dtype(dtype))
    devices = device_count(chains)

    def keys(number):
        key = jax.random.fold_in(jax.random.key(seed, impl=model.rng), number)
        return jax.random.split(key, (devices, chains // devices))

    def program(draws):
        return jax.pmap(jax.vmap(partial(run_chain, model, sampler, par, draws)))

    state = jax.pmap(jax.vmap(partial(start_chain, model, sampler)))(keys(0))
    _, warmup_seconds, (state, _) = compile_and_time(program(warmup), keys(1), state)
    compile_seconds, seconds, (state, record) = compile_and_time(program(draws), keys(2), state)
    tests = chains * draws * (par["L"] if sampler == "mala-pn" else 1)
    return PeerResult(
        name=f"jax {dtype}",
        target=target,
        sampler=sampler,
        chains=chains,
        draws=draws,
        leapfrogs=chains * draws * int(par["L"] * par.get("n_u", 1)),
        seconds=seconds,
        compile_seconds=compile_seconds,
        samples={name: np.asarray(x).reshape(chains, draws) for name, x in record.items()},
        warmup_seconds=warmup_seconds,
        acceptance=int(state.accepted.sum()) / tests,
    )


def compile_and_time(program: Any, *args: Any) -> tuple[float, float, Any]:
    """Compile a jitted function and call it; returns the seconds of both and the result, its arrays ready."""
    began = time.perf_counter()
    compiled = program.lower(*args).compile()
    ready = time.perf_counter()
    result = jax.block_until_ready(compiled(*args))
    return ready - began, time.perf_counter() - ready, result


# ---------------------------------------------------------------------------------------------------- NumPyro


def mdc_program() -> None:
    """MDC as a NumPyro model."""
    u = numpyro.sample("u", dist.Normal(0, 1))
    numpyro.sample("v", dist.Normal(u, V_SD))
    numpyro.sample("w", dist.Bernoulli(logits=-u).expand([N_W]).to_event(1))


def draw_w(rng_key: jax.Array, gibbs_sites: dict[str, Any], hmc_sites: dict[str, Any]) -> dict[str, jax.Array]:
    """w given u."""
    return {"w": dist.Bernoulli(logits=-hmc_sites["u"]).expand([N_W]).sample(rng_key)}


def gmm_program(weights: Sequence[float], means: Sequence[float], sds: Sequence[float]) -> None:
    """GMM as a NumPyro model."""
    component = numpyro.sample("component", dist.Categorical(jnp.array(weights)))
    numpyro.sample("q", dist.Normal(jnp.array(means)[component], jnp.array(sds)[component]))


def mdc_plate_program() -> None:
    """MDC with w as separate variables, which MixedHMC updates one by one."""
    u = numpyro.sample("u", dist.Normal(0, 1))
    numpyro.sample("v", dist.Normal(u, V_SD))
    with numpyro.plate("i", N_W):
        numpyro.sample("w", dist.Bernoulli(logits=-u))


def blr_program(X: jax.Array, y: jax.Array, centred: bool, tuned: bool) -> None:
    """BLR as a NumPyro model: beta itself, or beta = z / sqrt(tau) with z standard normal."""
    tau = numpyro.sample("tau", dist.Gamma(TAU_SHAPE, TAU_RATE))
    sd = 1 / jnp.sqrt(tau)
    if centred:
        beta = numpyro.sample("beta", dist.Normal(0, sd).expand([X.shape[1]]).to_event(1))
    else:
        beta = sd * numpyro.sample("z", dist.Normal(0, 1).expand([X.shape[1]]).to_event(1))
    if tuned:
        numpyro.factor("y", -jnp.sum(softplus((1 - 2 * y) * (X @ beta))))
    else:
        numpyro.sample("y", dist.Bernoulli(logits=X @ beta).to_event(1), obs=y)


class NumPyroRun(NamedTuple):
    """Draws by site and by extra field, each (chains, draws, …), and what the parts took."""

    sites: dict[str, np.ndarray]
    fields: dict[str, np.ndarray]
    seconds: float
    compile_seconds: float
    warmup_seconds: float

    def result(
        self, name: str, target: str, sampler: str, leapfrogs: int, samples: dict[str, np.ndarray], accepts: str
    ) -> PeerResult:
        """What was timed; `accepts` is the field with the probabilities of acceptance."""
        probabilities = self.fields[accepts]
        chains, draws = probabilities.shape
        return PeerResult(
            name,
            target,
            sampler,
            chains,
            draws,
            leapfrogs,
            self.seconds,
            self.compile_seconds,
            samples,
            self.warmup_seconds,
            float(probabilities.mean()),
        )


def run_numpyro(
    kernel: Callable[[], Any],
    fields: tuple[str, ...],
    batch: Callable[..., Any],
    draws: int,
    warmup: int,
    chains: int,
    seed: int,
) -> NumPyroRun:
    """Warm up and sample with NumPyro's MCMC, compiled beforehand; `batch` runs the chains of one device."""
    devices = device_count(chains)

    def mcmc():
        return MCMC(kernel(), num_warmup=warmup, num_samples=draws, progress_bar=False)

    def warm(key):
        run = mcmc()
        run.warmup(key)
        return run.post_warmup_state

    def sample(state):
        run = mcmc()
        run.post_warmup_state = state
        run.run(state.rng_key, extra_fields=fields)
        return run.get_samples(), run.get_extra_fields()

    keys = jax.random.split(jax.random.key(seed), (devices, chains // devices))
    _, warmup_seconds, state = compile_and_time(jax.pmap(batch(warm)), keys)
    compile_seconds, seconds, result = compile_and_time(jax.pmap(batch(sample)), state)
    sites, extra = jax.tree.map(lambda x: np.asarray(x).reshape(chains, *x.shape[2:]), result)
    return NumPyroRun(sites, extra, seconds, compile_seconds, warmup_seconds)


def in_turn(function: Callable[..., Any]) -> Callable[..., Any]:
    """Map over the leading axis one element after another: no chain waits for another's longer tree."""
    return partial(jax.lax.map, function)


def numpyro_hmc_gibbs(
    draws: int, chains: int = 16, warmup: int = 1000, seed: int = 0, L: int = 40, epsilon: float = 0.035
) -> PeerResult:
    """NumPyro's HMCGibbs on MDC: HMC with L leapfrogs of fixed size epsilon, then w given u.

    Chains by vmap on each device. HMCGibbs refuses chain_method="vectorized", and takes chain_method=jax.vmap. One
    chain after another took 2 to 4 times as long. All chains start at u = v = 0: NumPyro's default start has |v - u|
    of about 25 standard deviations, and HMC with L = 40 forgets v - u slowly (a draw flips its sign and takes 2 % off).
    """

    def kernel():
        hmc = HMC(
            mdc_program,
            step_size=epsilon,
            num_steps=L,
            trajectory_length=None,
            adapt_step_size=False,
            adapt_mass_matrix=False,
            init_strategy=init_to_value(values={"u": 0.0, "v": 0.0}),
        )
        return HMCGibbs(hmc, gibbs_fn=draw_w, gibbs_sites=["w"])

    fields = ("hmc_state.accept_prob", "~z.v", "~z.w")
    run = run_numpyro(kernel, fields, jax.vmap, draws, warmup, chains, seed)
    return run.result(
        name="numpyro HMCGibbs",
        target="mdc",
        sampler="hmc",
        leapfrogs=chains * draws * L,
        samples={"u": run.sites["u"]},
        accepts="hmc_state.accept_prob",
    )


def numpyro_mixed_hmc(
    program: Callable[[], None],
    draws: int,
    chains: int = 16,
    warmup: int = 500,
    seed: int = 0,
    *,
    epsilon: float,
    T: float,
    visits: int,
) -> PeerResult:
    """NumPyro's MixedHMC with modified Gibbs proposals, nothing adapted; `leapfrogs` are its own count."""

    def kernel():
        hmc = HMC(program, step_size=epsilon, trajectory_length=T, adapt_step_size=False, adapt_mass_matrix=False)
        return MixedHMC(hmc, num_discrete_updates=visits, modified=True)

    run = run_numpyro(kernel, ("accept_prob", "hmc_state.num_steps"), jax.vmap, draws, warmup, chains, seed)
    return run.result(
        name="numpyro MixedHMC",
        target="",
        sampler="m-hmc",
        leapfrogs=int(run.fields["hmc_state.num_steps"].sum()),
        samples=run.sites,
        accepts="accept_prob",
    )


def numpyro_nuts_blr(
    draws: int, chains: int = 16, warmup: int = 500, seed: int = 0, centred: bool = False, tuned: bool = False
) -> PeerResult:
    """NumPyro's NUTS, adapting by default, on the BLR posterior; records energy, log_tau, beta[0] … beta[30].

    The non-centred form (the default) gives about twice the ESS of log tau a leapfrog of the centred one, and
    1.3 times that of the worst beta. Chains run in turn on each device: with 16 chains as fast as by vmap,
    with 4 faster. `tuned` is for a user who writes the likelihood with `softplus` above; vmap is faster then.
    """
    X, y = blr_data()
    kernel = partial(NUTS, partial(blr_program, jnp.asarray(X), jnp.asarray(y), centred, tuned))
    batch = jax.vmap if tuned else in_turn
    run = run_numpyro(kernel, ("num_steps", "accept_prob"), batch, draws, warmup, chains, seed)
    tau = run.sites["tau"]
    beta = run.sites["beta"] if centred else run.sites["z"] / np.sqrt(tau)[..., None]
    samples = {"energy": blr_energy(X, y, beta, tau), "log_tau": np.log(tau)}
    return run.result(
        name="numpyro NUTS" + " centred" * centred + " tuned" * tuned,
        target="blr",
        sampler="nuts",
        leapfrogs=int(run.fields["num_steps"].sum()),
        samples=samples | {f"beta[{j}]": beta[..., j] for j in range(X.shape[1])},
        accepts="accept_prob",
    )


def blr_energy(X: np.ndarray, y: np.ndarray, beta: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """U(tau, beta) of each draw, constants left out."""
    z = beta @ X.T
    prior = tau * (TAU_RATE + (beta**2).sum(axis=-1) / 2) - (X.shape[1] / 2 + TAU_SHAPE - 1) * np.log(tau)
    return np.logaddexp(0, z).sum(axis=-1) - z @ y + prior


# -------------------------------------------------------------------------------------------------- the table

REFERENCE = {  # ESS of u or energy per draw and leapfrog, acceptance rate: long runs of other implementations
    ("mdc", "hmc"): (4.57e-3, 0.996),
    ("mdc", "mala-pn"): (7.40e-3, 0.905),
    ("mdc", "mahmc"): (1.80e-2, 0.954),
    ("blr", "hmc"): (7.68e-3, 0.882),
    ("blr", "mala-pn"): (9.12e-3, 0.865),
    ("blr", "mahmc"): (8.96e-3, 0.834),
}
COLUMNS = {  # heading: format of the figures below it
    "leapfrogs/s": "11.3g",
    "ESS/s": "9.0f",
    "log tau": "9.0f",
    "worst beta": "10.0f",
    "ESS/leapfrog": "12.2e",
    "expected": "9.2e",
    "accepted": "8.3f",
    "(expected)": "10.3f",
    "run s": "6.2f",
    "warm-up s": "9.2f",
    "compile s": "9.1f",
}


def bulk_ess(result: PeerResult, prefix: str) -> float:
    """The smallest bulk ESS among the quantities whose names start with the prefix; NaN if there is none."""
    chosen = [x for name, x in result.samples.items() if name.startswith(prefix)]
    return min((float(az.ess(x)) for x in chosen), default=math.nan)


def table_header() -> str:
    """The headings, right-aligned over their figures."""
    names = (f"{name:>{form.split('.')[0]}}" for name, form in COLUMNS.items())
    return " ".join([f"{'peer':18} {'target':6} {'sampler':8}", *names])


def table_row(result: PeerResult) -> str:
    """One line of the table; the first ESS/s and ESS/leapfrog are those of u or of the energy."""
    ess = bulk_ess(result, "u" if result.target == "mdc" else "energy")
    expected_ess, expected_acceptance = REFERENCE.get((result.target, result.sampler), (math.nan, math.nan))
    figures = (
        result.leapfrogs / result.seconds,
        ess / result.seconds,
        bulk_ess(result, "log_tau") / result.seconds,
        bulk_ess(result, "beta") / result.seconds,
        ess / result.leapfrogs,
        expected_ess,
        result.acceptance,
        expected_acceptance,
        result.seconds,
        result.warmup_seconds,
        result.compile_seconds,
    )
    cells = (f"{x:{form}}" for x, form in zip(figures, COLUMNS.values(), strict=True))
    return " ".join([f"{result.name:18} {result.target:6} {result.sampler:8}", *cells])


def main() -> None:
    """Run every peer briefly and print the table."""
    parser = argparse.ArgumentParser(description="Short runs of the peers on MDC and BLR.")
    parser.add_argument("--scale", type=int, default=1, help="multiply the number of draws")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    length = {"mdc": 20_000 * options.scale, "blr": 3_000 * options.scale}
    print(table_header())
    for target, sampler in PRESETS:
        print(table_row(jax_sampler(target, sampler, length[target], seed=options.seed)), flush=True)
    for sampler in ("hmc", "mala-pn", "mahmc"):
        row = jax_sampler("mdc", sampler, length["mdc"], seed=options.seed, dtype="float32")
        print(table_row(row), flush=True)
    print(table_row(numpyro_hmc_gibbs(length["mdc"] // 2, seed=options.seed)), flush=True)
    for tuned in (False, True):
        print(table_row(numpyro_nuts_blr(500 * options.scale, seed=options.seed, tuned=tuned)), flush=True)


if __name__ == "__main__":
    main()
