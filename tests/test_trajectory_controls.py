"""Explore's controls of a trajectory: its schedule, its updates of qᴼ, and what is drawn of them."""

from __future__ import annotations

import pytest

from mahmc import RunSpec, schedules
from mahmc.samplers import EVERY_SAMPLER
from tests.support.pages import SMALL, Page, has_markdown_link, opened

pytestmark = pytest.mark.usefixtures("pages_of_one_test")


def drawing(page: Page) -> str:
    """What is drawn of the schedule, in words; "" if nothing is."""
    found = [request for request in page.view.charts if request.place == "beads"]
    assert ("beads" in page.places) == bool(found)
    return found[0].make().alt if found else ""


def captions(page: Page) -> list[str]:
    return [caption.value for caption in page.app.caption]


def type_in(page: Page, text: str) -> Page:
    page.app.text_area[0].set_value(text)
    return page.run()


# ---------------------------------------------------------------------------------------------------- the schedule


def test_alternate_is_drawn_and_the_drawing_follows_the_sliders() -> None:
    page = opened(view="full")
    assert page.widget("Schedule").value == "alternate"
    assert "100 leapfrogs and 9 updates of qᴼ in a trajectory:" in captions(page)
    assert drawing(page) == "109 steps, 100 leapfrog, 9 gibbs."
    page.set("Nᵁ Segments, exact", 3)
    assert drawing(page) == "32 steps, 30 leapfrog, 2 gibbs."
    assert "30 leapfrogs and 2 updates of qᴼ in a trajectory:" in captions(page)
    page.set("L Leapfrogs, exact", 10_000).set("Nᵁ Segments, exact", 1000)
    assert drawing(page) == ""  # ten million steps are told, not drawn
    assert "1e+07 leapfrogs and 999 updates of qᴼ in a trajectory:" in captions(page)


def test_iid_begins_with_the_same_mean_and_its_controls_make_the_schedule() -> None:
    page = opened(view="full", **SMALL).set("Schedule", "iid")
    assert page.spec.schedule == str(schedules.same_mean(schedules.alternate(10, 10)))
    assert not {"L Leapfrogs", "Nᵁ Segments"} & page.labels()
    page.set("Steps, exact", 40).set("P(leapfrog), exact", 0.75)
    assert page.link["schedule"] == page.spec.schedule == "iid(40, 0.75)"
    before = drawing(page)
    page.set("P(leapfrog)", 0.5)
    assert page.spec.schedule == "iid(40, 0.5)"
    assert drawing(page) != before
    page.press("Run").ended()
    assert page.job.work.spec.schedule == "iid(40, 0.5)"
    assert page.job.work.run.acceptances["inner"].made.sum() > 0
    page.everything()
    page.set("Schedule", "alternate")
    assert page.spec.values["L"] == 10
    page.set("Schedule", "iid")
    assert page.spec.schedule == "iid(40, 0.5)"  # as it was left
    page.press("Paper's best values")
    assert page.spec == RunSpec.of("mdc", "mahmc", **{name: int(text) for name, text in SMALL.items()})


def test_several_updates_share_the_steps_in_their_order_and_all_of_it_is_in_the_link() -> None:
    page = opened(view="full", schedule="iid(50, 0.8)", **SMALL)
    updates = "Updates Q₁, Q₂, … of qᴼ"
    page.set(updates, ["metropolis", "gibbs"])
    assert page.spec.law.updates == pytest.approx((5.0, 5.0))
    page.set("Q₁ share of metropolis, exact", 1.0).set("Q₂ share of gibbs, exact", 0.25)
    page.set("After the trajectory", "none")
    found = page.spec
    assert found.law.updates == pytest.approx((8.0, 2.0))
    assert (found.update, found.outer) == ("metropolis,gibbs", "none")
    assert page.widget("Q₁ share of metropolis, exact").value == 1.0  # as it was typed
    again = opened(**page.link)
    assert (again.spec, again.link) == (found, page.link)
    assert again.press("Run").ended().job.work.spec == found
    page.set(updates, [])
    assert page.widget(updates).value == ["metropolis"]
    assert (page.spec.update, page.spec.schedule) == ("metropolis", "iid(50, 0.8)")


BAD_SEQUENCES = {
    "0001": "P(D⁻¹)/P(D) is zero",
    "0a1": "cannot be read",
    "0 1 0 : 0.5\n0": "has no weight",
    "010 : 0.5\n0 : 0.4": "sum to 0.9, not to one",
    "02 0 20": "choose 2 updates above",
    "0 4 0": "this target has only 3",
    "1": "no sequence has a leapfrog",
    "": "0 sequences",
    "0 : nan": "probability",
    "0" * 100_001: "too long",
    "<b>[x](http://e.org)</b>": "cannot be read",
}


def test_bad_sequences_are_told_and_the_last_good_one_stays_in_use() -> None:
    page = opened(view="full", schedule="sequences(3x0 1 3x0)")
    good = page.spec
    assert page.app.text_area[0].value == "0001000"
    for text, words in BAD_SEQUENCES.items():
        type_in(page, text)
        assert page.warned.startswith("Not used yet: "), text[:40]
        assert words in page.warned, text[:40]
        assert not has_markdown_link(page.warned)
        assert page.spec == good
    type_in(page, "0 1 0 : 0.5\n0 : 0.5")
    assert page.warned == ""
    assert page.spec.schedule == "sequences(010:0.5, 0:0.5)"


def test_mirror_images_and_weights_are_mended_by_a_button() -> None:
    page = opened(target="gmm", view="full", schedule="sequences(010)", **SMALL)
    type_in(page, "0001 : 2\n010 : 2").press("Add mirror images")
    assert page.app.text_area[0].value == "0001 : 0.25\n1000 : 0.25\n010 : 0.5"
    assert page.spec.schedule == "sequences(0001:0.25, 1000:0.25, 010:0.5)"
    type_in(page, "010 : 1\n0 : 3").press("Make the weights sum to one")
    assert page.spec.schedule == "sequences(010:0.25, 0:0.75)"
    page.press("Run").ended().everything()
    assert page.job.work.finished


def test_what_was_typed_waits_while_another_kind_or_sampler_is_looked_at() -> None:
    page = type_in(opened(view="full", schedule="sequences(010)"), "0001").set("Schedule", "alternate")
    assert not page.app.text_area
    page.set("Schedule", "sequences")
    assert page.app.text_area[0].value == "0001"
    assert page.spec.schedule == "sequences(010)"
    page.set("Sampler", "naive")
    assert page.widget("Schedule").value == "alternate"
    page.set("Sampler", "mahmc")
    assert page.app.text_area[0].value == "0001"


def test_the_schedule_of_a_link_waits_while_another_kind_is_looked_at() -> None:
    page = opened(view="full", schedule="iid(50, 0.8)").set("Schedule", "alternate")
    assert page.link == {"view": "full"}
    assert page.set("Schedule", "iid").spec.schedule == "iid(50, 0.8)"


def test_in_the_simple_view_a_schedule_is_named() -> None:
    page = opened(schedule="iid(50, 0.8)", **SMALL)
    assert "L Leapfrogs" not in page.labels()
    assert "Schedule: `iid(50, 0.8)`" in captions(page)
    assert page.press("Run").ended().job.work.finished


# ----------------------------------------------------------------------------------------------------- the updates


def test_m_hmc_has_its_own_controls_where_it_can_be_done() -> None:
    page = opened(sampler="m-hmc", view="full")
    assert {"T Travel time", "V Visits", "After the trajectory"} <= page.labels()
    assert "Schedule" not in page.labels()
    assert page.widget("Update of qᴼ").options == ["Metropolis", "Gibbs"]
    assert "m-hmc" not in opened(target="blr").choices.samplers()


def test_a_target_without_other_variables_has_no_controls_for_them() -> None:
    page = opened(target="neals-funnel", view="full")
    assert not {"Schedule", "Update of qᴼ", "After the trajectory"} & page.labels()
    assert drawing(page) == ""


@pytest.mark.parametrize("sampler", ["mala", "hmc", "mala-p", "mala-pn", "mahmc", "naive", "asymmetric"])
def test_the_update_of_every_sampler_can_be_chosen(sampler: str) -> None:
    page = opened(target="ising", sampler=sampler, view="full").set("Update of qᴼ", "flip")
    assert page.spec.update == "flip"
    assert page.spec.outer == ("flip" if EVERY_SAMPLER[sampler].outer else "none")
    assert ("After the trajectory" in page.labels()) == EVERY_SAMPLER[sampler].inside
    assert page.link["update"] == "flip"


def test_the_update_after_the_trajectory_can_be_chosen_and_taken_back() -> None:
    page = opened(view="full").set("After the trajectory", "metropolis")
    assert (page.spec.update, page.spec.outer) == ("gibbs", "metropolis")
    page.set("After the trajectory", "gibbs")
    assert page.link == {"view": "full"}
