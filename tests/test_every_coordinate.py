"""Long vectors and pairs of elements: each element and each pair is looked at, and draws are matched by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from mahmc import InvalidInput, checks
from mahmc.checks import Verdict, functions

States = Mapping[str, np.ndarray]


def normals(size: int) -> Callable[[np.random.Generator, int], States]:
    return lambda rng, n: {"x": rng.standard_normal((n, size))}


def coins(rng: np.random.Generator, n: int) -> States:
    return {"z": rng.integers(0, 2, (n, 100))}


def test_every_pair_of_a_hundred_is_looked_at() -> None:
    assert len(functions.pairs(100)) == 4950
    assert functions.not_looked_at(functions.columns({"z": np.zeros((4, 100))})) == ""


@pytest.mark.parametrize(("a", "b"), [(18, 46), (34, 64), (0, 99), (42, 0)])
def test_one_coin_that_copies_another_is_called_wrong(a: int, b: int) -> None:
    def copying(states: States, rng: np.random.Generator) -> States:
        z = coins(rng, len(states["z"]))["z"]
        z[:, b] = z[:, a]
        return {"z": z}

    assert checks.invariance(step=copying, exact=coins, draws=4096).wrong
    drawn = coins(np.random.default_rng(1), 64 * 500)["z"].reshape(64, 500, 100)
    drawn[:, :, b] = drawn[:, :, a]
    assert checks.marginals({"z": drawn}, coins).wrong


def test_of_one_scalar_no_products_are_claimed() -> None:
    found = checks.invariance(step=lambda s, rng: {"x": rng.standard_normal(s["x"].shape)}, exact=one)
    assert found.right
    assert "product" not in found.words


def one(rng: np.random.Generator, n: int) -> States:
    return {"x": rng.standard_normal(n)}


def test_a_truth_value_of_a_half_is_refused() -> None:
    exact = lambda rng, n: {"b": rng.random(n) < 0.5}  # noqa: E731
    with pytest.raises(InvalidInput, match="gave b a value that is not a whole number"):
        checks.invariance(step=lambda s, rng: {"b": rng.choice([0.0, 0.5], len(s["b"]))}, exact=exact)


@pytest.mark.parametrize("element", [0, functions.MOST_ELEMENTS - 1, functions.MOST_ELEMENTS, 4199])
def test_one_element_of_thousands_that_is_too_wide_is_called_wrong(element: int) -> None:
    def wide(states: States, rng: np.random.Generator) -> States:
        x = rng.standard_normal(states["x"].shape)
        x[:, element] *= 5.0
        return {"x": x}

    found = checks.invariance(step=wide, exact=normals(4200), draws=1024, rounds=1)
    assert found.wrong
    assert f"x[{element}]" in found.comparisons[0].what


def test_thousands_of_right_elements_are_not_called_wrong_and_what_was_not_seen_is_said() -> None:
    """One false alarm in 10 000; the seed is fixed."""

    def fresh(states: States, rng: np.random.Generator) -> States:
        return {"x": rng.standard_normal(states["x"].shape)}

    found = checks.invariance(step=fresh, exact=normals(4200), draws=1024, rounds=1)
    assert not found.wrong
    assert "104 elements, except at 5 points each" in found.unseen
    assert "products of pairs" in found.unseen


def test_elements_of_a_matrix_beyond_the_first_are_looked_at_in_long_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MOST_ELEMENTS", 4)
    x = np.random.default_rng(5).standard_normal((64, 100, 8))
    right = checks.marginals({"x": x}, normals(8), from_exact=True)
    x[..., 6] *= 1.5
    found = checks.marginals({"x": x}, normals(8), from_exact=True)
    assert found.wrong
    assert not right.wrong
    assert found.comparisons[0].what.startswith("P(x[6] up to its quantile")


@pytest.mark.parametrize("size", [8, 20, 128, 1000, 4200])
def test_sorted_blocks_reach_the_end_of_a_long_vector(size: int) -> None:
    found = functions.together(np.zeros((2, size)), {"x": range(size)})
    ends = [int(name.partition("…")[2].partition("]")[0]) for name in found if name.startswith("sorted")]
    assert len(ends) <= 3 * functions.MOST_BLOCKS
    assert max(ends) >= size - max(functions.BLOCK, size // functions.MOST_BLOCKS + 1)


def test_products_are_the_same_by_matrices_and_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, chosen = np.random.default_rng(0).standard_normal((3, 50, 20)), functions.pairs(20)
    by_matrix = functions.products(x, chosen)
    monkeypatch.setattr(functions, "MOST_PAIRED", 10)
    np.testing.assert_allclose(functions.products(x, chosen), by_matrix, atol=1e-12)


# ---------------------------------------------------------------------------------------- draws are matched by name


def two(rng: np.random.Generator, n: int) -> States:
    return {"a": rng.standard_normal(n), "b": 9.0 + rng.standard_normal(n)}


def drawn(**parts: np.ndarray) -> dict[str, np.ndarray]:
    return {name: x.reshape(64, 500) for name, x in parts.items()}


def test_draws_in_another_order_are_the_same_draws() -> None:
    x = two(np.random.default_rng(3), 64 * 500)
    found = checks.marginals(drawn(b=x["b"], a=x["a"]), two)
    assert found.verdict is checks.marginals(drawn(**x), two).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: {**x, "y": x["a"] + 99}, "there are draws of y, but exact does not give it"),
        (lambda x: {"a": x["a"]}, "exact gives b, but there are no draws of it"),
        (lambda x: {"a": x["a"], "y": x["b"]}, "exact gives b, but there are no draws of it"),
        (lambda x: {**x, "a": np.stack([x["a"], x["a"] + 50], axis=-1)}, r"a has the shape \(2,\) in a draw and \(\)"),
    ],
)
def test_draws_that_do_not_match_exact_ones_are_refused(change: Any, message: str) -> None:
    x = drawn(**two(np.random.default_rng(3), 64 * 500))
    with pytest.raises(InvalidInput, match=message):
        checks.marginals(change(x), two)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"level": 2}, "level = 2 is not allowed"), ({"draws": 0}, "draws = 0 is not allowed"),
     ({"rounds": 0}, "rounds = 0"), ({"seed": -1}, "seed = -1"), ({"iterations": 1.5}, "iterations = 1.5")],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checks.invariance(step=lambda states, rng: two(rng, len(states["a"])), exact=two, **wrong)


def test_no_seed_is_a_new_one() -> None:
    assert not checks.invariance(step=lambda s, rng: two(rng, len(s["a"])), exact=two, draws=256, seed=None).wrong
