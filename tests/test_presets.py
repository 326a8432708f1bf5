"""What the cards of the overview claim is what their runs show, with the seeds that the cards have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from benchmarks import moving
from dashboard.settings import link, presets
from dashboard.settings.explore import ExploreSettings
from dashboard.settings.presets import PRESETS, Preset
from dashboard.views import overview
from mahmc import Run, diagnostics
from tests.support.pages import opened

pytestmark = pytest.mark.usefixtures("pages_of_one_test")


@cache
def runs(title: str) -> Mapping[int, Run]:
    """The finished runs of a card, by number."""
    (preset,) = [preset for preset in PRESETS if preset.title == title]
    settings, _ = link.read(ExploreSettings(), preset.query)
    return {number: Run(spec).advance_all() for number, spec in settings.specs({}).items()}


def per_leapfrog(run: Run, name: str) -> float:
    x = run.get(name)
    return diagnostics.ess(x) / x.size / run.spec.leapfrogs_per_draw


def test_mahmc_gets_about_four_times_as_much_from_a_leapfrog_as_hmc() -> None:
    mahmc, hmc = runs("Why MAHMC beats HMC").values()
    assert 3.5 < per_leapfrog(mahmc, "u") / per_leapfrog(hmc, "u") < 4.5
    assert mahmc.acceptance > 0.9


def test_a_step_too_large_moves_no_chain_and_a_smaller_one_does() -> None:
    below, above = runs("A step too large").values()
    limit = above.target.density.stable_epsilon
    assert limit is not None
    assert below.spec.values["epsilon"] < 0.056 < limit < above.spec.values["epsilon"]
    assert below.acceptance > 0.5
    assert above.acceptance < 1e-3
    assert np.ptp(above.get("u"), axis=1).max() == 0.0


def test_each_kind_of_persistence_gets_more_from_a_leapfrog() -> None:
    mala, mala_p, mala_pn = (per_leapfrog(run, "u") for run in runs("Random walk against persistence").values())
    assert mala_p > 5 * mala
    assert mala_pn > 3 * mala_p


def test_the_naive_sampler_looks_healthy_and_its_bars_are_plainly_wrong() -> None:
    right, wrong = runs("A sampler that is wrong").values()
    weights = dict(right.spec.settings)["weights"]
    off = {run: [abs((run.get("component") == k).mean() - weight) for k, weight in enumerate(weights)]
           for run in (right, wrong)}  # fmt: skip
    assert max(off[right]) < 0.01
    assert min(off[wrong]) > 0.05
    assert (wrong.get("component") == 1).mean() > weights[1] + 0.1
    assert diagnostics.rhat(wrong.get("q")) < 1.01
    assert wrong.acceptance > 0.5


def test_mahmc_jumps_between_modes_and_hmc_stays() -> None:
    mahmc, hmc = runs("Jumping between modes").values()
    jumps = [int((np.diff(run.get("component")) != 0).sum()) for run in (mahmc, hmc)]
    assert jumps[0] > 10 * jumps[1]
    assert per_leapfrog(mahmc, "q") > 10 * per_leapfrog(hmc, "q")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_a_card_says_on_explore_what_to_look_for_until_its_settings_change(preset: Preset) -> None:
    page = opened(preset.page, **preset.query)
    assert len(preset.look_for) == 3
    assert all(sentence in page.words for sentence in preset.look_for)
    page.set("Depth", "simple" if preset.query.get("view") else "full")
    assert preset.look_for[0] in page.words
    page.set("ε Step size, exact", 0.02)
    assert preset.look_for[0] not in page.words


def test_every_card_is_told_from_the_others_and_from_the_defaults() -> None:
    assert [presets.found(preset.page, preset.query) for preset in PRESETS] == list(PRESETS)
    assert presets.found("explore", {}) is None


def test_the_moving_picture_is_made_of_the_engines_draws() -> None:
    stored = json.loads(overview.FILE.read_text(encoding="utf-8"))
    assert json.loads(json.dumps(moving.picture())) == stored
    assert overview.FILE.stat().st_size < 50_000
    hmc, mahmc = stored["runs"]
    assert len(hmc["q"]) * hmc["leapfrogs"] == len(mahmc["q"]) * mahmc["leapfrogs"]
    assert overview.moving()["alt"].endswith(
        "HMC jumps once in 22,500 leapfrogs; MAHMC jumps 12 times in 22,500 leapfrogs."
    )
