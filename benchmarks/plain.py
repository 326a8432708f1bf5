"""The straightforward versions: what a user of JAX or NumPyro writes first, without tuning for speed.

    python benchmarks/plain.py mdc hmc 5000        a line of JSON: leapfrogs, seconds without compiling, ESS

`jit` over the whole run, `vmap` over chains, `scan` over draws, `fori_loop` over leapfrogs, float64, keys split as the
documentation does, the potential as its formula says, its gradient by `jax.grad`. peers.py has the same samplers tuned
as far as we could. `numpyro parallel`, `numpyro sequential` and `numpyro vmap` are NumPyro's HMCGibbs run by MCMC,
as its documentation shows.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

CHAINS = 16
N_W, SD = 20, 0.04
PARAMETERS: dict[tuple[str, str], dict[str, Any]] = {
    ("mdc", "hmc"): {"epsilon": 0.035, "L": 40, "n_u": 1},
    ("mdc", "mahmc"): {"epsilon": 0.04, "L": 10, "n_u": 10},
    ("mdc", "mala"): {"epsilon": 0.03, "L": 10, "alpha": 0.0},
    ("mdc", "mala-p"): {"epsilon": 0.03, "L": 10, "alpha": 0.995},
    ("mdc", "mala-pn"): {"epsilon": 0.03, "L": 10, "alpha": 0.995, "delta": 0.01},
    ("blr", "hmc"): {"epsilon": 0.09, "L": 10, "n_u": 1},
    ("blr", "mahmc"): {"epsilon": 0.1, "L": 5, "n_u": 2},
    ("blr", "mala-pn"): {"epsilon": 0.1, "L": 5, "alpha": 0.9, "delta": 0.015},
}


def mdc() -> tuple[Any, ...]:
    """Potential, Gibbs update, scale of the step, start, and what is recorded."""

    def U(q, w):
        u, v = q
        w_terms = jnp.where(w == 1, jax.nn.softplus(u), jax.nn.softplus(-u))
        return u**2 / 2 + (v - u) ** 2 / (2 * SD**2) + w_terms.sum()

    def gibbs(key, q, w):
        return jax.random.bernoulli(key, jax.nn.sigmoid(-q[0]), (N_W,)).astype(float)

    def start(key):
        u = jax.random.normal(key)
        return jnp.array([u, u]), jnp.zeros(N_W)

    return U, gibbs, lambda w: 1.0, start, lambda q, w, U_now: q[0]


def blr() -> tuple[Any, ...]:
    """BLR on the breast cancer data."""
    table = np.loadtxt(Path(__file__).parents[1] / "mahmc/data/breast_cancer.csv", delimiter=",", skiprows=1)
    features = (table[:, :-1] - table[:, :-1].mean(0)) / table[:, :-1].std(0)
    X, y = jnp.asarray(np.column_stack([features, np.ones(len(table))])), jnp.asarray(table[:, -1])
    d = X.shape[1]

    def U(q, tau):
        z = X @ q
        likelihood = jnp.sum(jax.nn.softplus(z) - y * z)
        return likelihood + tau * jnp.sum(q**2) / 2 - d / 2 * jnp.log(tau) + 0.01 * tau

    def gibbs(key, q, tau):
        return jax.random.gamma(key, 1 + d / 2) / (0.01 + jnp.sum(q**2) / 2)

    def start(key):
        return jax.random.normal(key, (d,)) / jnp.sqrt(150.0), 150.0

    return U, gibbs, lambda tau: 1 / jnp.sqrt(tau), start, lambda q, tau, U_now: U_now


def leapfrog(U, q, p, other, step):
    """One leapfrog."""
    p = p - step / 2 * jax.grad(U)(q, other)
    q = q + step * p
    return q, p - step / 2 * jax.grad(U)(q, other)


def mahmc_draw(model, epsilon, L, n_u, carry, key):
    """One trajectory of n_u segments with Gibbs updates between, the test, and a Gibbs update. n_u = 1 is HMC."""
    U, gibbs, scale, _, record = model
    q0, other0, _, _ = carry
    k_p, k_u, k_g, key = jax.random.split(key, 4)
    p0 = jax.random.normal(k_p, q0.shape)
    q, p, other, delta_E = q0, p0, other0, 0.0
    for segment in range(n_u):
        if segment > 0:
            key, k = jax.random.split(key)
            new = gibbs(k, q, other)
            delta_E += U(q, new) - U(q, other)
            other = new
        step = epsilon * scale(other)
        q, p = jax.lax.fori_loop(0, L, lambda _, s, o=other, e=step: leapfrog(U, *s, o, e), (q, p))
    E0, E = U(q0, other0) + jnp.sum(p0**2) / 2, U(q, other) + jnp.sum(p**2) / 2
    accept = jax.random.uniform(k_u) < jnp.exp(E0 + delta_E - E)
    q, other = jnp.where(accept, q, q0), jnp.where(accept, other, other0)
    other = gibbs(k_g, q, other)
    return (q, other, carry[2], carry[3]), (record(q, other, U(q, other)), accept)


def mala_pn_draw(model, epsilon, L, alpha, delta, carry, key):
    """One iteration of MALA-PN."""
    U, gibbs, scale, _, record = model
    q, other, p, v = carry
    k_g, *keys = jax.random.split(key, L + 1)
    step = epsilon * scale(other)

    def one(state, k):
        q0, p0, v = state
        p0 = alpha * p0 + jnp.sqrt(1 - alpha**2) * jax.random.normal(k, q0.shape)
        q, p = leapfrog(U, q0, p0, other, step)
        ratio = jnp.exp(U(q0, other) + jnp.sum(p0**2) / 2 - U(q, other) - jnp.sum(p**2) / 2)
        accept = jnp.abs(v) < ratio
        v = jnp.where(accept, v / ratio, v)
        v = (v + 1 + delta) % 2 - 1
        return (jnp.where(accept, q, q0), jnp.where(accept, p, -p0), v), accept

    (q, p, v), accepted = jax.lax.scan(one, (q, p, v), jnp.stack(keys))
    other = gibbs(k_g, q, other)
    return (q, other, p, v), (record(q, other, U(q, other)), accepted.mean())


def mala_p_draw(model, epsilon, L, alpha, carry, key):
    """L updates of MALA-P, a Gibbs update; MALA at alpha = 0."""
    U, gibbs, scale, _, record = model
    q, other, p, v = carry
    k_g, *keys = jax.random.split(key, L + 1)
    step = epsilon * scale(other)

    def one(state, k):
        q0, p0 = state
        k_p, k_u = jax.random.split(k)
        p0 = alpha * p0 + jnp.sqrt(1 - alpha**2) * jax.random.normal(k_p, q0.shape)
        q, p = leapfrog(U, q0, p0, other, step)
        ratio = jnp.exp(U(q0, other) + jnp.sum(p0**2) / 2 - U(q, other) - jnp.sum(p**2) / 2)
        accept = jax.random.uniform(k_u) < ratio
        return (jnp.where(accept, q, q0), jnp.where(accept, p, -p0)), accept

    (q, p), accepted = jax.lax.scan(one, (q, p), jnp.stack(keys))
    other = gibbs(k_g, q, other)
    return (q, other, p, v), (record(q, other, U(q, other)), accepted.mean())


DRAWS: dict[str, Any] = {
    "mala": mala_p_draw,
    "mala-p": mala_p_draw,
    "mala-pn": mala_pn_draw,
    "hmc": mahmc_draw,
    "mahmc": mahmc_draw,
}


def jax_run(target: str, sampler: str, draws: int, seed: int) -> dict[str, float]:
    """A run, with its time and its effective sample sizes."""
    model = {"mdc": mdc, "blr": blr}[target]()
    values = PARAMETERS[target, sampler]
    draw = partial(DRAWS[sampler], model, *values.values())

    def chain(key):
        k_start, k_p, k_v, key = jax.random.split(key, 4)
        q, other = model[3](k_start)
        carry = (q, jnp.asarray(other), jax.random.normal(k_p, q.shape), jax.random.uniform(k_v, minval=-1.0))
        _, recorded = jax.lax.scan(draw, carry, jax.random.split(key, draws))
        return recorded

    program = jax.jit(jax.vmap(chain))
    keys = jax.random.split(jax.random.key(seed), CHAINS)
    compiled = program.lower(keys).compile()
    begin = time.perf_counter()
    x, accepted = jax.block_until_ready(compiled(keys))
    seconds = time.perf_counter() - begin
    leapfrogs = CHAINS * draws * values["L"] * values.get("n_u", 1)
    kept = np.asarray(x)[:, draws // 10 :]
    return {
        "leapfrogs": leapfrogs, "seconds": seconds, "ess_per_second": float(az.ess(kept)) / (0.9 * seconds),
        "acceptance": float(np.mean(accepted)), "mean": float(kept.mean()), "sd": float(kept.std()),
    }  # fmt: skip


def numpyro_run(way: str, draws: int) -> dict[str, float]:
    """HMCGibbs on MDC by MCMC, 16 chains.

    `parallel` on as many host devices, one after another (`sequential`), or side by side by `chain_method=jax.vmap`
    (`vmap`).

    The object is run twice and the second run timed: NumPyro compiles in every run all the same. A run of ten times
    the draws, less this one, is the speed without that.
    """
    import numpyro
    import numpyro.distributions as dist

    numpyro.set_host_device_count(CHAINS if way == "parallel" else 1)
    from numpyro.infer import HMC, MCMC, HMCGibbs

    def program():
        u = numpyro.sample("u", dist.Normal(0, 1))
        numpyro.sample("v", dist.Normal(u, SD))
        numpyro.sample("w", dist.Bernoulli(logits=-u).expand([N_W]).to_event(1))

    def gibbs(rng_key, gibbs_sites, hmc_sites):
        return {"w": dist.Bernoulli(logits=-hmc_sites["u"]).expand([N_W]).sample(rng_key)}

    hmc = HMC(program, step_size=0.035, trajectory_length=0.035 * 40, adapt_step_size=False, adapt_mass_matrix=False)
    kernel = HMCGibbs(hmc, gibbs_fn=gibbs, gibbs_sites=["w"])

    def seconds(draws: int, runs: int) -> tuple[float, np.ndarray]:
        method = jax.vmap if way == "vmap" else way
        mcmc = MCMC(kernel, num_warmup=0, num_samples=draws, num_chains=CHAINS, chain_method=method, progress_bar=False)
        for i in range(runs):
            begin = time.perf_counter()
            mcmc.run(jax.random.key(i))
            u = np.asarray(mcmc.get_samples(group_by_chain=True)["u"])
            took = time.perf_counter() - begin
        return took, u

    second, u = seconds(draws, 2)
    long = seconds(10 * draws, 1)[0] if way == "parallel" else float("nan")
    leapfrogs = CHAINS * draws * 40
    return {"leapfrogs": leapfrogs, "seconds": second, "more": 9 * leapfrogs, "more_seconds": long - second,
            "mean": float(u.mean()), "sd": float(u.std())}  # fmt: skip


if __name__ == "__main__":
    first, second, draws = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    print(json.dumps(numpyro_run(second, draws) if first == "numpyro" else jax_run(first, second, draws, seed)))
