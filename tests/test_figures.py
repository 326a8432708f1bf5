"""Charts: what they draw is what the draws say, in little enough data, and they survive what a run can hand them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from dashboard import figures
from dashboard.figures import CAPTIONS, SAMPLER_COLOURS, Chart, batches, chains, distributions, look, verdicts
from dashboard.figures.look import WITHOUT_TRUTH
from mahmc.samplers import SAMPLERS
from mahmc.targets import Truth, gmm, mdc

pytestmark = pytest.mark.filterwarnings("error")

U = mdc().truth.scalars["u"]
COMPONENT = gmm().truth.scalars["component"]


def share_below(truth: Truth, x: np.ndarray) -> np.ndarray:
    """The true distribution function at x."""
    assert truth.cdf is not None
    return truth.cdf(x)


def charts(x: np.ndarray, sampler: str = "mahmc") -> dict[str, Chart]:
    """Every chart of draws x (chains, draws)."""
    whole = np.clip(np.round(x), 0, 3).astype(np.int8)
    p_values = [0.5**n for n in range(1, min(13, x.shape[1]) + 1)]
    done = np.arange(1, x.shape[1] + 1)
    return {
        "trace": figures.trace(x, "u", sampler, warmup=x[:, : x.shape[1] // 4]),
        "density": figures.density([("first", sampler, x), ("pinned", sampler, x[:, ::2])], U, "u"),
        "mass": figures.mass([("first", sampler, whole), ("pinned", sampler, whole[:, ::2])], COMPONENT, "component"),
        "running_mean": figures.running_mean(x, U, "u", sampler),
        "running_acceptance": figures.running_acceptance(done, {"trajectory": 1.0 / done}, sampler),
        "autocorrelation": figures.autocorrelation(x, "u", sampler),
        "ranks": figures.ranks(x, "u", sampler),
        "scatter": figures.scatter(x, 2.0 * x, ("u", "v"), sampler),
        "energy": figures.energy(x, sampler),
        "means_against_reference": figures.means_against_reference(
            {"a": (sampler, np.array([0.1, -0.2]), np.array([0.1, 0.1]))}, 8
        ),
        "beads": figures.beads([("0.7", [0, 0, 1, 0, 2]), ("0.3", [2, 0, 1, 0, 0])], ["gibbs", "flip"]),
        "ess_bars": figures.ess_bars([("a", sampler, 2.0, 1.0, 3.0), ("b", sampler, None, None, None)], {"a": 2.5}),
        "ecdf_difference": figures.ecdf_difference(x, U, "u", sampler),
        "z_bars": figures.z_bars([(f"mean {i}", z) for i, z in enumerate([*x[:, :9].ravel(), np.nan])], 4.0, sampler),
        "flows": figures.flows(["0", "1", "2"], flow_table(x), sampler),
        "rank_histogram": figures.rank_histogram({"u": (whole.ravel() + 5) % 32, "v": whole.ravel()}, 31, 16, sampler),
        "p_value_path": figures.p_value_path([("a", sampler, range(1, len(p_values) + 1), p_values)], 1e-4, 16),
    }


def flow_table(x: np.ndarray) -> np.ndarray:
    """A table of passages between three states."""
    state = np.digitize(x, [-0.5, 0.5])
    counts = np.zeros((3, 3), int)
    np.add.at(counts, (state[:, :-1], state[:, 1:]), 1)
    return counts


def without_truth(x: np.ndarray) -> dict[str, Chart]:
    """The charts that can do without a truth, and the scatter with groups."""
    whole = np.round(x).astype(np.int8)
    return {
        "trace": figures.trace(x, "u", "hmc"),
        "density": figures.density([("first", "hmc", x)], None, "u"),
        "mass": figures.mass([("first", "hmc", whole)], None, "component"),
        "running_mean": figures.running_mean(x, None, "u", "hmc"),
        "scatter": figures.scatter(x, x, ("u", "v"), "hmc", whole),
    }


def normal(chains: int, draws: int, phi: float = 0.0, seed: int = 0) -> np.ndarray:
    """Stationary chains x_t = φ·x_{t−1} + √(1 − φ²)·z_t with standard normal draws."""
    z = np.random.default_rng(seed).standard_normal((chains, draws))
    z[:, 1:] *= np.sqrt(1.0 - phi**2)
    chains_of_x: np.ndarray = lfilter([1.0], [1.0, -phi], z, axis=1)
    return chains_of_x


def named(chart: Chart, name: str) -> Any:
    """The trace of that name."""
    return next(trace for trace in chart.figure.data if trace.name == name)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a figure, arrays as they are."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple) for item in value):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


def contents(chart: Chart) -> Iterator[tuple[str, Any]]:
    """Everything in a chart's figure. Not by `to_dict`, which packs arrays into text."""
    return leaves([part.to_plotly_json() for part in (*chart.figure.data, chart.figure.layout)])


EDGES = {
    "nothing, one chain": np.zeros((1, 0)),
    "nothing, many chains": np.zeros((16, 0)),
    "one draw": normal(1, 1),
    "one draw of each": normal(4, 1),
    "two draws": normal(1, 2),
    "three draws of two": normal(2, 3),
    "seven draws": normal(1, 7),
    "many short chains": normal(64, 9),
    "constant": np.full((4, 100), 1.25),
    "constant, one chain": np.full((1, 5), -0.5),
    "different constants": np.repeat(np.linspace(-1, 1, 16)[:, None], 50, axis=1),
    "one chain stands still": np.concatenate([normal(3, 200), np.zeros((1, 200))]),
    "whole numbers": np.round(normal(4, 100)).astype(np.int8),
    "far out": 1e6 + 1e-3 * normal(2, 50),
    "usual": normal(4, 500),
}


@pytest.mark.parametrize("x", EDGES.values(), ids=EDGES)
def test_every_chart_survives_and_says_what_it_shows(x: np.ndarray) -> None:
    """A caption from the table, words made from the data, finite numbers, no warnings (see above)."""
    with_truth, without = charts(x), without_truth(np.clip(x, -50, 50))
    for kind, chart in itertools.chain(with_truth.items(), without.items()):
        if "stuck" in chart.caption:
            assert kind in ("trace", "density", "mass")
            assert any(batches.stuck(y).any() for y in (x, np.clip(x, -50, 50), np.clip(np.round(x), 0, 3)))
        else:
            assert chart.caption == (CAPTIONS if chart is with_truth.get(kind) else CAPTIONS | WITHOUT_TRUTH)[kind]
        assert chart.caption.endswith(".")
        assert chart.alt.endswith(".")
        assert "nan" not in chart.alt, kind
        assert chart.figure.to_json()
        for path, value in contents(chart):
            if isinstance(value, np.ndarray) and ".error_x" not in path:
                assert np.isfinite(value).all(), f"{kind}{path}"


@pytest.mark.parametrize("shape", [(1, 0), (16, 0)])
def test_without_draws_a_chart_says_so(shape: tuple[int, int]) -> None:
    for kind, chart in (charts(np.zeros(shape)) | without_truth(np.zeros(shape))).items():
        if kind not in ("beads", "ess_bars", "means_against_reference", "z_bars", "flows"):
            assert [note.text for note in chart.figure.layout.annotations] == ["no draws yet"], kind
            assert "o draws yet" in chart.alt
    assert figures.ess_bars([], {}).figure.layout.annotations[0].text == "no runs yet"
    assert figures.z_bars([("mean", np.nan)], 4.0, "hmc").figure.layout.annotations[0].text == "nothing to compare"
    assert figures.flows(["0", "1"], np.eye(2, dtype=int), "hmc").figure.layout.annotations[0].text == "no moves"


def test_every_chart_has_a_caption_and_the_common_look() -> None:
    drawn = charts(normal(4, 500))
    assert set(drawn) == set(CAPTIONS)
    for kind, chart in drawn.items():
        layout = chart.figure.layout
        assert layout.uirevision == "keep"
        assert (layout.paper_bgcolor, layout.plot_bgcolor) == ("rgba(0,0,0,0)", "rgba(0,0,0,0)")
        assert layout.title.text is None
        assert layout.xaxis.title.text
        for trace in chart.figure.data:
            assert trace.hoverinfo == "skip" or trace.hovertemplate or trace.x[0] is None, kind


@pytest.mark.parametrize("chains_and_draws", [(16, 40_000), (64, 3_000), (1, 100_000)])
def test_a_chart_is_small(chains_and_draws: tuple[int, int]) -> None:
    """Below 200 kB, arrays as float32 and at most 2000 points a trace (4000 in a cloud)."""
    x = normal(*chains_and_draws)
    for kind, chart in (charts(x) | {f"{k}, bare": c for k, c in without_truth(x).items()}).items():
        assert len(chart.figure.to_json()) < 200_000, kind
        for path, value in contents(chart):
            if isinstance(value, np.ndarray):
                assert value.dtype == np.float32, f"{kind}{path}"
                assert value.size <= (4000 if "scatter" in kind else 2000), f"{kind}{path}"
            elif isinstance(value, list | tuple):
                assert len(value) <= 2 or all(isinstance(item, str) for item in value), f"{kind}{path} is a list"


# ------------------------------------------------------------------------------------------------------ colours


def test_a_sampler_has_one_colour_in_every_chart() -> None:
    """Each sampler's own colour, or a shade of it, and never another one's."""
    assert set(SAMPLERS) <= set(SAMPLER_COLOURS)
    assert len(set(SAMPLER_COLOURS.values())) == len(SAMPLER_COLOURS)
    for sampler, own in SAMPLER_COLOURS.items():
        allowed = {own, *look.shades(own, 4), look.NEUTRAL, "#FFFFFF"}
        greys = (look.NEUTRAL, "#808080", "#000000")
        faded = {look.faded(colour, 1)[:-3] for colour in (own, *greys)}  # up to alpha
        for kind, chart in charts(normal(4, 50), sampler).items():
            if kind == "beads":  # its colours are those of kinds of update
                continue
            for path, value in contents(chart):
                for colour in np.atleast_1d(np.asarray(value, object)):
                    if isinstance(colour, str) and colour.startswith("#"):
                        assert colour in allowed, f"{kind}{path}"
                    if isinstance(colour, str) and colour.startswith("rgba"):
                        assert colour[: colour.rindex(",")] in faded, f"{kind}{path}"


def linear(colour: str) -> np.ndarray:
    """Linear light of an sRGB colour."""
    part = np.array(look.rgb(colour)) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("page", ["#FFFFFF", "#0E1117"])
def test_colours_are_seen_on_light_and_dark_pages(page: str) -> None:
    """Contrast by WCAG: 3 for samplers and the truth, 2.2 for the palest shade of a chain."""

    def contrast(colour: str) -> float:
        low, high = sorted(linear(c) @ [0.2126, 0.7152, 0.0722] for c in (colour, page))
        return float((high + 0.05) / (low + 0.05))

    for colour in (*SAMPLER_COLOURS.values(), look.NEUTRAL):
        assert contrast(colour) >= 3.0
        for shade in look.shades(colour, 16):
            assert contrast(shade) >= 2.2


# Machado, Oliveira and Fernandes (2009), severity 1, on linear light.
EYES = {
    "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "without blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    "with all": np.eye(3),
}


TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, eyes: str = "with all") -> np.ndarray:
    """A colour in CIELAB, as these eyes see it."""
    xyz = TO_XYZ @ np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eyes", EYES)
def test_colours_are_told_apart_by_all_eyes(eyes: str) -> None:
    """At least 12 apart in CIELAB, where 2 to 3 is just noticed."""
    for one, two in itertools.combinations([*SAMPLER_COLOURS.values(), look.NEUTRAL], 2):
        assert np.linalg.norm(lab(one, eyes) - lab(two, eyes)) > 12.0, (one, two)


# -------------------------------------------------------------------------------------------- what densities say


@pytest.mark.parametrize("truth", [U, None])
def test_a_histogram_integrates_to_the_share_inside(truth: Truth | None) -> None:
    """Also when draws lie outside, which the words count."""
    x = 2.5 * normal(4, 5000)
    chart = figures.density([("first", "hmc", x), ("pinned", "mala", x[:2])], truth, "u")
    low, high = chart.figure.layout.xaxis.range
    for label, draws in (("first", x), ("pinned", x[:2])):
        drawn = named(chart, label)
        inside = (draws >= low) & (draws < high)
        assert drawn.y.sum() * np.diff(drawn.x)[0] == pytest.approx(inside.mean(), rel=1e-5)
        assert f"{look.count(int((~inside).sum()))} outside" in chart.alt
    heights, edges = np.histogram(x, bins=named(chart, "first").y.size - 2, range=(low, high))
    np.testing.assert_allclose(named(chart, "first").y[1:-1], heights / (x.size * np.diff(edges)), rtol=1e-5)


@pytest.mark.parametrize("phi", [0.0, 0.9, -0.5])
@pytest.mark.parametrize("shape", [(1, 8000), (4, 2000), (16, 1000)])
def test_the_band_holds_95_of_100_bins_of_right_chains(shape: tuple[int, int], phi: float) -> None:
    """However much memory they have. 40 runs of 50 or so bins that hang together: 0.03 is some four standard errors."""
    covered = []
    for seed in range(40):
        chart = figures.density([("first", "hmc", normal(shape[0], shape[1], phi, seed))], U, "u")
        low, high = (trace.y for trace in chart.figure.data[:2])
        height = named(chart, "first").y[1:-1]
        usual = np.abs(named(chart, "first").x[1:-1]) < 2.0  # further out counts are small and far from normal
        covered.append(((low <= height) & (height <= high))[usual].mean())
    assert 0.92 < np.mean(covered) < 0.98


def test_the_band_finds_a_wrong_chain() -> None:
    """A standard deviation 5 % too large cannot be seen by eye, but leaves the band, and the words say where."""
    chart = figures.density([("wrong", "naive", 1.05 * normal(16, 10_000))], U, "u")
    low, high = (trace.y for trace in chart.figure.data[:2])
    height = named(chart, "wrong").y[1:-1]
    assert np.mean((low <= height) & (height <= high)) < 0.6
    assert float(chart.alt.split("largest deviation ")[1].split()[0]) > 5


def test_the_band_grows_where_chains_disagree() -> None:
    """Chains that stay where they began: the band comes from their differences, not from their many draws."""
    stuck = normal(16, 1) + 0.01 * normal(16, 4000, seed=1)
    found = batches.shares(stuck, batches.Bins(-4, 4, 40))
    mass = np.diff(share_below(U, np.linspace(-4, 4, 41)))
    independent = np.sqrt(mass * (1 - mass) / stuck.size)
    assert np.median(batches.share_errors(found, mass) / independent) > 20


def test_a_reference_adds_its_own_error_and_its_name() -> None:
    step = Truth(0, 1, U.density, U.support, source="reference: x", density_se=lambda x: np.full_like(x, 0.05))
    x = normal(16, 5000)
    exact, reference = (figures.density([("first", "hmc", x)], truth, "u") for truth in (U, step))
    assert named(reference, "reference").line.dash == named(exact, "exact").line.dash == "dash"
    middle = exact.figure.data[0].y.size // 2
    half_width = [(c.figure.data[1].y - c.figure.data[0].y)[middle] / 2 for c in (exact, reference)]
    assert half_width[1] == pytest.approx(np.hypot(half_width[0], 1.96 * 0.05), rel=1e-3)


def test_bins_are_few_many_or_by_freedman_and_diaconis() -> None:
    assert distributions.choose_bins([normal(1, 5)], (-4, 4)) == (-4, 4, 30)
    assert distributions.choose_bins([normal(16, 5000)], (-4, 4)) == (-4, 4, 80)
    assert distributions.choose_bins([normal(1, 5000)], (-4, 4)).n == pytest.approx(8 * 5000 ** (1 / 3) / 2.7, abs=2)
    low, high, _ = distributions.choose_bins([np.append(normal(1, 20_000), [[1e9]], axis=1)], None)
    assert -4 < low < high < 4


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_error_bars_of_masses_hold_95_of_100(phi: float) -> None:
    """Whole-valued chains with the exact masses of the paper's mixture; tolerance as above."""
    covered = []
    for seed in range(80):
        uniform = share_below(U, normal(4, 2000, phi, seed))
        x = np.searchsorted(share_below(COMPONENT, np.arange(3)), uniform).astype(np.int8)
        chart = figures.mass([("first", "hmc", x)], COMPONENT, "component")
        truth, bars = named(chart, "exact"), named(chart, "first")
        covered.append(np.abs(bars.y - truth.y) <= truth.error_y.array)
        assert bars.y.sum() == pytest.approx(1.0)
    assert 0.90 < np.mean(covered) < 0.99


def test_a_scatter_shows_draws_of_both_quantities_in_pairs() -> None:
    x = normal(8, 3000)
    group = (x > 0).astype(np.int8)
    chart = figures.scatter(x, 3.0 * x, ("q", "energy"), "mahmc", group)
    assert sum(trace.x.size for trace in chart.figure.data) == 4000
    for trace, sign in zip(chart.figure.data, (-1, 1), strict=True):
        assert (np.sign(trace.x) == sign).all()
        np.testing.assert_allclose(trace.y, 3.0 * trace.x, rtol=1e-6)
    assert chart.figure.data[0].marker.color != chart.figure.data[1].marker.color
    assert chart.figure.data[0].marker.symbol != chart.figure.data[1].marker.symbol


def test_changes_of_energy_are_put_into_words() -> None:
    """√2 for independent draws, √(2(1 − φ)) for a slow walk; both densities integrate to one."""
    for phi, expected in ((0.0, np.sqrt(2.0)), (0.98, np.sqrt(0.04))):
        chart = figures.energy(100.0 + normal(4, 50_000, phi), "hmc")
        assert float(chart.alt.split("draws are ")[1].split()[0]) == pytest.approx(expected, rel=0.05)
        for trace in chart.figure.data:
            assert trace.y.sum() * np.diff(trace.x)[0] == pytest.approx(1.0, abs=0.005)


# ------------------------------------------------------------------------------------------------ what chains say


def arviz_autocorrelation(x: np.ndarray) -> np.ndarray:
    """ArviZ's: a function up to 0.x, a method of arviz-stats from 1.0 on."""
    import arviz

    if hasattr(arviz, "autocorr"):
        return np.asarray(arviz.autocorr(x))
    from arviz_stats.base import array_stats

    return np.asarray(array_stats.autocorr(x))


@pytest.mark.filterwarnings("default")  # ArviZ's own
@pytest.mark.parametrize(("draws", "max_lag"), [(1000, 999), (1000, 40), (37, 36), (2, 1)])
def test_autocorrelations_are_those_of_arviz(draws: int, max_lag: int) -> None:
    x = 5.0 + normal(3, draws, 0.7)
    ours = figures.autocorrelation_function(x, max_lag)
    np.testing.assert_allclose(ours, arviz_autocorrelation(x)[:, : max_lag + 1], rtol=0, atol=1e-10)


def test_a_chain_that_never_moved_has_no_autocorrelation() -> None:
    x = np.concatenate([normal(2, 500, 0.5), np.full((1, 500), 0.1)])
    assert np.isnan(figures.autocorrelation_function(x, 5)[2]).all()
    chart = figures.autocorrelation(x, "u", "hmc", 5)
    expected = arviz_autocorrelation(x[:2])[:, :6].mean(axis=0)
    np.testing.assert_allclose(named(chart, "mean of chains").y, expected, atol=1e-6)
    assert "Left out: 1 chain" in chart.alt
    assert "undefined" in figures.autocorrelation(x[2:], "u", "hmc", 5).figure.layout.annotations[0].text


def test_a_trace_keeps_a_single_spike_and_numbers_draws() -> None:
    """One draw of 300 000 that went astray must be seen; warm-up draws are numbered up to zero."""
    x = normal(16, 300_000)
    x[3, 123_456] = 40.0
    chart = figures.trace(x, "u", "hmc", warmup=x[:, :1000])
    drawn = named(chart, "chain 4")
    assert drawn.x[drawn.y.argmax()] == 123_457
    assert drawn.y.max() == 40.0
    assert chart.figure.data[0].x[0] == -999
    shaded = chart.figure.layout.shapes[0]
    assert (shaded.x0, shaded.x1) == (-999.5, 0.5)
    short = figures.trace(x[:, :500], "u", "hmc").figure.data[0]
    assert (short.x, short.x0, short.dx, short.y.size) == (None, 1, 1, 500)


def test_a_closer_trace_has_every_draw_of_its_range_and_says_so() -> None:
    x, warmup = normal(4, 50_000), normal(4, 1000)
    chart = figures.trace(x, "u", "hmc", warmup, between=(-40.5, 60.2))
    for line, before, after in zip(chart.figure.data, warmup, x, strict=True):
        assert (line.x0, line.dx) == (-41, 1)
        np.testing.assert_array_equal(line.y, np.concatenate([before, after])[1000 - 42 : 1000 + 61].astype("f4"))
    assert "Every draw of this range is shown." in chart.caption
    assert "only the peaks" in figures.trace(x, "u", "hmc", warmup).caption
    assert "only the peaks" in figures.trace(x, "u", "hmc", warmup, between=(1, 40_000)).caption
    short = figures.trace(x[:, :500], "u", "hmc").caption
    assert "peaks" not in short
    assert "Every draw" not in short


@pytest.mark.parametrize("between", [(-1e9, -1e8), (1e8, 1e9), (3.2, 3.4), (-1e300, 1e300)])
def test_a_closer_trace_of_any_range_is_drawn(between: tuple[float, float]) -> None:
    for x, warmup in ((normal(2, 100), None), (normal(2, 100), normal(2, 10)), (np.empty((2, 0)), normal(2, 10))):
        chart = figures.trace(x, "u", "hmc", warmup, between=between)
        assert all(len(line.y) >= 1 for line in chart.figure.data)


def test_while_chains_warm_up_their_trace_is_shown() -> None:
    chart = figures.trace(np.empty((4, 0)), "u", "hmc", warmup=normal(4, 100))
    assert len(chart.figure.data) == 4
    assert tuple(chart.figure.layout.xaxis.range) == (-99.5, 0.5)
    assert "0 draws after 100 of warm-up" in chart.alt


def test_chains_that_never_moved_have_no_error_and_no_ranks() -> None:
    """They would look perfect: a mean without error, ranks that are even."""
    still = np.full((4, 1000), 0.1)
    assert np.isnan(batches.running_means(still, 100).error).all()
    assert "error undefined" in figures.running_mean(still, U, "u", "hmc").alt
    assert "undefined" in figures.ranks(still, "u", "hmc").alt
    assert "no chain moved" in figures.density([("first", "hmc", still)], U, "u").alt


@pytest.mark.parametrize("discrete", [False, True])
def test_where_all_chains_are_stuck_there_is_no_band(discrete: bool) -> None:
    """A band from their differences would grow until it includes any histogram."""
    x = np.repeat(normal(16, 1), 2000, axis=1)
    runs = [("first", "hmc", np.round(x).astype(np.int8).clip(0, 3) if discrete else x)]
    chart = figures.mass(runs, COMPONENT, "component") if discrete else figures.density(runs, U, "u")
    assert chart.caption == look.ALL_STUCK
    assert not any("95 %" in (trace.name or "") or trace.error_y.array is not None for trace in chart.figure.data)
    assert "no chain moved" in chart.alt
    assert np.isnan(batches.running_means(x, 100).error).all()


def test_where_all_chains_are_stuck_the_band_of_a_reference_is_its_own() -> None:
    step = Truth(0, 1, U.density, U.support, source="reference: x", density_se=lambda x: np.full_like(x, 0.05))
    chart = figures.density([("first", "hmc", np.repeat(normal(16, 1), 2000, axis=1))], step, "u")
    low, high = (trace.y for trace in chart.figure.data[:2])
    assert np.max(high - low) == pytest.approx(2 * batches.REACH * 0.05, rel=1e-4)
    assert chart.figure.data[1].name == "95 % of the reference"


def test_a_chain_that_is_stuck_does_not_widen_the_band_that_should_show_it() -> None:
    x = normal(16, 2000)
    before = batches.running_means(x[:15], 100).error[-1]
    x[15] = 2.5
    chart = figures.density([("first", "hmc", x)], U, "u")
    high, line = chart.figure.data[1].y, named(chart, "first")
    near = np.abs(line.x - 2.5) < 0.2
    assert line.y[near].max() > 3 * high[near[1:-1]].max()
    assert chart.caption.endswith("1 of 16 chains are stuck. Errors are those of the other chains.")
    assert batches.running_means(x, 100).error[-1] == pytest.approx(before, rel=0.5)


def test_chains_in_a_trace_are_told_apart_and_stuck_chains_named() -> None:
    x = normal(16, 500)
    x[5] = 0.5
    few = figures.trace(x, "u", "hmc", focus=figures.Focus(4, 100)).figure
    assert len(few.data) == 4
    names = [note.text.split("> ")[-1] for note in few.layout.annotations]
    assert names == ["chain 1", "chain 6: stuck", "chain 11", "chain 16"]
    heights = np.sort([note.y for note in few.layout.annotations])
    low, high = few.layout.yaxis.range
    assert np.diff(heights).min() > 0.069 * (high - low)
    widths = [line.line.width for line in few.data]
    assert widths[1] >= 2 * max(widths[0], *widths[2:])
    assert tuple(few.layout.xaxis.range) == (400.5, 500.5)
    assert all(line.y.size == 100 for line in few.data)
    every = figures.trace(x, "u", "hmc")
    assert len(every.figure.data) == 16
    assert [note.text.split("> ")[-1] for note in every.figure.layout.annotations] == ["chain 6: stuck"]
    assert "stuck" in every.caption
    x[4:] = x[4:, :1]
    words = figures.trace(x, "u", "hmc").figure.layout.annotations[0].text
    assert words == "12 of the 16 chains drawn are stuck"
    assert "stuck" not in figures.trace(x[:, :40], "u", "hmc", focus=figures.Focus(4)).caption


@pytest.mark.parametrize("sampler", SAMPLER_COLOURS)
def test_the_shades_of_four_chains_differ(sampler: str) -> None:
    """At least 12 apart in CIELAB."""
    for one, two in itertools.combinations(look.shades(SAMPLER_COLOURS[sampler], 4), 2):
        assert np.linalg.norm(lab(one) - lab(two)) > 12.0, (one, two)


def test_a_window_marks_what_was_accepted() -> None:
    """By a quantity that changes with each acceptance, also where the quantity of the trace changes on its own."""
    q, u = np.array([[0.0, 0.0, 1.0, 1.0, 2.0]]), np.array([[5.0, 6.0, 7.0, 8.0, 9.0]])
    warmup = np.array([[3.0, 0.0]])
    for window, first in ((100, [True, True]), (6, [True]), (5, [])):
        chart = figures.trace(u, "u", "hmc", warmup, focus=figures.Focus(4, window, figures.Draws(q, warmup)))
        accepted = [symbol == "circle" for symbol in chart.figure.data[0].marker.symbol]
        assert accepted == [*first, False, False, True, False, True]
        assert "Crosses are rejected" in chart.caption
    assert "Crosses" not in figures.trace(u, "u", "hmc").caption


def test_few_draws_are_not_held_against_the_truth() -> None:
    """With less than five draws expected in every bin, a deviation in errors would mean nothing."""
    assert "too few" in figures.density([("first", "hmc", normal(1, 9))], U, "u").alt
    assert "largest deviation" in figures.density([("first", "hmc", normal(1, 900))], U, "u").alt


def test_of_many_chains_some_are_drawn_and_the_words_say_so() -> None:
    chart = figures.trace(normal(64, 100), "u", "hmc")
    assert len(chart.figure.data) == look.MOST_CHAINS
    assert "16 chains are drawn" in chart.alt


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_a_running_mean_has_an_honest_error(phi: float) -> None:
    """The band at the end holds the truth in about 95 of 100 runs (99.99 % of the time in 88 to 100 %)."""
    held = 0
    for seed in range(200):
        x = normal(4, 2000, phi, seed)
        run = batches.running_means(x, 100)
        held += abs(run.mean[-1]) < batches.REACH * run.error[-1]
    assert run.mean[-1] == pytest.approx(x.mean())
    assert run.mean[9] == pytest.approx(x[:, : run.at[9]].mean())
    assert 176 <= held <= 200


def test_a_running_mean_shows_the_truth() -> None:
    x = normal(4, 2000)
    chart = figures.running_mean(x, U, "u", "hmc")
    assert chart.figure.layout.shapes[0].y0 == U.mean
    assert chart.figure.layout.shapes[0].line.dash == "dash"
    assert "exact value 0" in chart.alt
    endless = Truth(np.inf, np.inf, U.density, U.support)
    assert "not finite" in figures.running_mean(x, endless, "u", "hmc").alt


def test_acceptance_leaves_out_what_was_never_tested_and_keeps_the_last_rate() -> None:
    done = np.arange(1, 9000)
    rates = {"trajectory": np.linspace(1, 0.5, done.size), "inner updates": np.full(done.size, np.nan)}
    chart = figures.running_acceptance(done, rates, "hmc")
    (line,) = chart.figure.data
    assert (line.name, line.x[-1], line.y[-1]) == ("trajectory", 8999, 0.5)
    assert line.x.size == 2000


# ---------------------------------------------------------------------------------------------------------- ranks


def test_ranks_of_equal_chains_are_even() -> None:
    """The same draws in every chain: every chain has every rank equally often."""
    frequency, error = chains.rank_frequencies(np.tile(normal(1, 4000), (8, 1)))
    assert np.abs(frequency - 1).max() < 1.96 * error
    assert frequency.mean() == pytest.approx(1)


@pytest.mark.parametrize("phi", [0.0, 0.9])
@pytest.mark.parametrize("whole", [False, True], ids=["real", "whole"])
def test_ranks_of_chains_that_agree_lie_in_the_band(phi: float, whole: bool) -> None:
    """95 of 100 bins, with or without memory, and with ties; 30 runs of 80 bins, tolerance some four errors."""
    inside = []
    for seed in range(30):
        x = normal(4, 4000, phi, seed)
        frequency, error = chains.rank_frequencies(np.round(x).astype(np.int8) if whole else x)
        inside.append(np.abs(frequency - 1) < 1.96 * error)
    assert np.mean(inside) > 0.92


def test_ranks_find_the_chain_that_differs() -> None:
    x = normal(8, 4000)
    x[5] += 0.3
    chart = figures.ranks(x, "u", "hmc")
    frequency, error = chains.rank_frequencies(x)
    assert np.abs(frequency[5] - 1).max() > 5 * error
    assert chart.alt.endswith("in chain 6.")


def test_a_single_chain_is_ranked_by_quarters() -> None:
    drift = normal(1, 4000) + np.linspace(0, 2, 4000)
    chart = figures.ranks(drift, "u", "hmc")
    assert [trace.name for trace in chart.figure.data[2:]] == [f"quarter {i}" for i in (1, 2, 3, 4)]
    assert float(chart.alt.split("largest deviation ")[1].split()[0]) > 5


# ----------------------------------------------------------------------------------------------------------- bars


def test_bars_have_intervals_the_papers_value_and_undefined_where_there_is_none() -> None:
    rows = [
        ("MALA", "mala", None, None, None),
        ("HMC", "hmc", 4.5e-3, 4.0e-3, 5.5e-3),
        ("new", "mahmc", 0.02, None, None),
    ]
    chart = figures.ess_bars(rows, {"MALA": 1e-4, "HMC": 4.62e-3, "new": None})
    bars, paper, words = chart.figure.data
    np.testing.assert_allclose(bars.x, [0, 4.5e-3, 0.02], rtol=1e-6)
    np.testing.assert_allclose(bars.error_x.array[1], 1e-3, rtol=1e-5)
    np.testing.assert_allclose(bars.error_x.arrayminus[1], 5e-4, rtol=1e-5)
    assert np.isnan(bars.error_x.array[[0, 2]]).all()
    assert bars.marker.color == tuple(SAMPLER_COLOURS[row[1]] for row in rows)
    assert (paper.marker.symbol, paper.x.size, chart.figure.layout.showlegend) == ("diamond", 2, True)
    assert words.text == ("undefined", "0.0045", "0.02")
    assert words.x.max() < chart.figure.layout.xaxis.range[1]  # beyond it, nothing would be drawn
    assert "MALA: undefined, paper 0.0001" in chart.alt
    assert "HMC: 0.0045 (0.004 to 0.0055)" in chart.alt


# ---------------------------------------------------------------------------------------------------------- speed


def test_sixteen_million_draws_take_a_moment() -> None:
    """Below 0.3 s a chart where this was written; three times that is allowed, in processor time, best of three."""
    x = np.random.default_rng(0).standard_normal((16, 1_000_000, 1))[..., 0]
    first = [("first", "mahmc", x)]
    whole = [("first", "mahmc", np.clip(np.round(x), 0, 3).astype(np.int8))]
    jobs: dict[str, Callable[[], Chart]] = {
        "trace": lambda: figures.trace(x, "u", "mahmc", x[:, :100_000]),
        "density": lambda: figures.density(first, U, "u"),
        "mass": lambda: figures.mass(whole, COMPONENT, "component"),
        "running_mean": lambda: figures.running_mean(x, U, "u", "mahmc"),
        "autocorrelation": lambda: figures.autocorrelation(x, "u", "mahmc"),
        "ranks": lambda: figures.ranks(x, "u", "mahmc"),
        "scatter": lambda: figures.scatter(x, x, ("u", "v"), "mahmc", x > 0),
        "energy": lambda: figures.energy(x, "mahmc"),
    }
    for kind, job in jobs.items():
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            job()
            seconds.append(time.process_time() - begin)
        assert min(seconds) < 0.9, kind


def test_a_live_trace_has_fewer_points_and_keeps_the_extremes() -> None:
    x = np.random.default_rng(3).standard_normal((16, 20_000))
    live, whole = (
        figures.trace(x, "u", "hmc", points=n).figure for n in (figures.MOST_POINTS_LIVE, figures.MOST_POINTS)
    )
    for few, many, chain in zip(live.data, whole.data, x, strict=True):
        assert len(few.y) <= figures.MOST_POINTS_LIVE // 16 < len(many.y)
        assert (few.y.min(), few.y.max()) == (np.float32(chain.min()), np.float32(chain.max()))


def test_the_verdict_on_means_counts_all_of_them_at_once() -> None:
    """62 distances of 8 replicates: beyond Student's t at 0.01 over all, 7 degrees of freedom, is disagreement."""
    off, error = np.zeros(31), np.ones(31)
    off[4] = 6.0
    near = {"hmc": ("hmc", off, error), "mahmc": ("mahmc", np.zeros(31), error)}
    verdict = figures.means_against_reference(near, 8).alt
    assert "All 62 means agree" in verdict
    assert "6 errors (β[4] by hmc)" in verdict
    off[4] = 9.0
    assert "Not all 62 means agree" in figures.means_against_reference(near, 8).alt


def test_beads_lie_where_the_steps_are() -> None:
    chart = figures.beads([("D", [0, 1, 0, 0, 2]), ("D⁻¹", [2, 0, 0, 1, 0])], ["gibbs", "flip"])
    assert [(x, y) for x, y in zip(named(chart, "1 gibbs").x, named(chart, "1 gibbs").y, strict=True)] == [
        (2, 0),
        (4, 1),
    ]
    assert len(named(chart, "0 leapfrog").x) == 6
    assert chart.alt == "D: 5 steps, 3 leapfrog, 1 gibbs, 1 flip; D⁻¹: 5 steps, 3 leapfrog, 1 gibbs, 1 flip."
    long = figures.beads([("", ([0] * 500 + [1]) * 200)], ["gibbs"])  # here leapfrogs are the string itself
    assert named(long, "1 gibbs").x.tolist() == [501, 1002, 1503]
    assert named(long, "0 leapfrog").mode == "lines"
    assert "100,200 steps" in long.alt
    assert long.figure.layout.separators == ".,"  # hover texts have numbers as captions have them


# ------------------------------------------------------------------------------------------------ what checks say


@pytest.mark.parametrize("n", [20, 500])
def test_the_band_of_a_distribution_function_is_simultaneous(n: int) -> None:
    """Right draws leave it anywhere in 5 of 100 runs; 4000 runs, four standard errors are 1.4 of 100."""
    rng = np.random.default_rng(2)
    low, high = (trace.y[0] for trace in figures.ecdf_difference(rng.standard_normal(n), U, "u", "hmc").figure.data[:2])
    below = np.sort(share_below(U, rng.standard_normal((4000, n))), axis=1)
    lowest = (np.arange(n) / n - below).min(axis=1)
    highest = (np.arange(1, n + 1) / n - below).max(axis=1)
    assert 0.036 < ((lowest < low) | (highest > high)).mean() < 0.064


def test_a_distribution_function_is_drawn_as_it_is() -> None:
    """The line jumps at each draw, from i/n − F to (i + 1)/n − F; the words have Kolmogorov's statistic and p-value."""
    x = np.random.default_rng(1).standard_normal((4, 50)) + 0.3
    chart = figures.ecdf_difference(x, U, "u", "hmc")
    place = np.sort(x.ravel())
    expected = np.stack([np.arange(200) / 200, np.arange(1, 201) / 200], axis=1) - share_below(U, place)[:, None]
    np.testing.assert_allclose(named(chart, "draws").y, expected.ravel(), atol=1e-6)
    np.testing.assert_allclose(named(chart, "draws").x, np.repeat(place, 2), rtol=1e-6)
    test = stats.kstest(x.ravel(), "norm")
    assert f"at most {look.digits(test.statistic, 2)} apart" in chart.alt
    assert f"p = {look.digits(test.pvalue, 2)}" in chart.alt


def test_differences_are_sorted_marked_and_counted() -> None:
    rows = [(f"mean {i}", z) for i, z in enumerate(np.linspace(-6, 3, 40))] + [("distribution", np.nan)]
    chart = figures.z_bars(rows, 4.5, "naive")
    bars = chart.figure.data[0]
    assert bars.x.size == len(chart.figure.layout.yaxis.ticktext) == 16
    assert (np.diff(np.abs(bars.x)) <= 1e-6).all()
    assert bars.x[0] == -6
    assert {float(trace.x[0]) for trace in chart.figure.data[1:]} == {-4.5, -2.0, 2.0, 4.5}
    assert "40 differences" in chart.alt
    assert "23 beyond 2, 7 beyond the critical 4.5" in chart.alt
    assert np.abs(figures.z_bars([("mean", np.inf)], 4.5, "hmc").figure.data[0].x[0]) < np.inf


def test_flows_are_drawn_each_way_with_the_error_of_a_fair_coin() -> None:
    counts = np.array([[50, 100, 0], [60, 9, 3], [0, 5, 7]])
    chart = figures.flows(["component 0", "component 1", "component 2"], counts, "naive")
    forth, back = named(chart, "forth"), named(chart, "back")
    assert (forth.y.tolist(), back.y.tolist()) == ([100, 3], [60, 5])
    np.testing.assert_allclose(forth.error_y.array, 1.96 * np.sqrt([160, 8]) / 2, rtol=1e-5)
    assert chart.figure.layout.xaxis.ticktext == ("0 ⇄ 1", "1 ⇄ 2")
    assert "100 forth and 60 back, 3.2 errors" in chart.alt


def test_the_band_of_ranks_holds_95_of_100_bins() -> None:
    """Uniform ranks, 200 runs of 3 × 16 bins; binomial counts are whole, so a little more than 95 of 100 may be in."""
    inside = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        chart = figures.rank_histogram({name: rng.integers(0, 32, 4096) for name in "abc"}, 31, 16, "hmc")
        low, high = (trace.y[0] for trace in chart.figure.data[:2])
        for name in "abc":
            y = named(chart, name).y[1:-1]
            assert y.mean() == pytest.approx(1.0)
            inside.append(((low - 1e-6 <= y) & (y <= high + 1e-6)).mean())
    assert 0.94 < np.mean(inside) < 0.97


def test_a_path_of_p_values_says_from_when_the_test_can_tell() -> None:
    draws, level = [1, 2, 4, 8, 16], 1e-4
    paths = [("right", "mahmc", draws, [1, 0.3, 1, 0.2, 0.9]), ("wrong", "naive", draws, [1, 0.5, 1e-5, 1e-9, 0.0])]
    chart = figures.p_value_path(paths, level, 4)
    assert "right is never below; wrong is below from 4 draws on" in chart.alt
    assert named(chart, "wrong").y.min() == np.float32(verdicts.SMALLEST_P)
    assert named(chart, "level 0.0001").y.tolist() == [np.float32(level)] * 2
    assert named(chart, "shown").x.tolist() == [4, 4]
    assert chart.figure.layout.yaxis.type == chart.figure.layout.xaxis.type == "log"


def test_p_values_are_never_zero() -> None:
    assert figures.p_is(0.02) == "p = 0.02"
    assert figures.p_is(3e-7) == "p = 3e−07"
    assert figures.p_is(0.0) == "p < 1e−300"
