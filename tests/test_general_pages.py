"""Schedules, several updates, M-HMC, examples and data of one's own on all pages, through AppTest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import comparing, session
from dashboard.controls import NO_DATA, Choices, read_link
from dashboard.ledger import Asked
from dashboard.saving import snippet
from dashboard.uploads import MOST_UPLOADS, Upload
from mahmc import InvalidInput, Run, RunSpec, schedules, tabular
from mahmc.samplers import EVERY_SAMPLER
from tests import test_checks_page as checks_page
from tests import test_compare_page as compare_page
from tests.test_app import SMALL, button, choices, finished, number, opened, run_until, selectbox, slider

LINK = r"(?<!\\)\]\("  # of Markdown
OWN_CASE = {"own": "1", "own.target": "gmm", "own.weights": "0.5,0.5", "own.means": "-1,1", "own.sds": "0.5,1"}


@pytest.fixture(autouse=True)
def pages_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_claimed", True)


def group(app: AppTest, label: str) -> Any:
    return next(g for g in app.button_group if g.label == label)


def labels(app: AppTest) -> set[str]:
    kinds = (app.button_group, app.slider, app.select_slider, app.multiselect, app.text_area, app.selectbox)
    return {widget.label for kind in kinds for widget in kind}


def has_drawing(app: AppTest) -> bool:
    return "chart.beads" in str([part.proto.id for part in app.get("bidi_component")])


def drawing(app: AppTest) -> bytes:
    """What is sent of the drawing."""
    return next(p.proto.bytes for p in app.get("bidi_component") if "chart.beads" in p.proto.id)


def query(app: AppTest) -> dict[str, str]:
    return {name: text[0] if isinstance(text, list) else text for name, text in app.query_params.items()}


def ran(app: AppTest) -> Run:
    button(app, "Run").click().run()
    run_until(app, finished)
    app.run()
    assert not app.exception, app.exception[0].message
    assert not app.error
    return app.session_state["session"].job.run


def warned(app: AppTest) -> str:
    return " ".join(str(element.value) for kind in (app.warning, app.error) for element in kind)


# ------------------------------------------------------------------------------------------ Explore: schedules


def test_alternate_is_drawn_and_the_drawing_follows_the_sliders() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full")
    assert group(app, "Schedule").value == "alternate"
    assert "100 leapfrogs and 9 updates of qᴼ in a trajectory:" in [c.value for c in app.caption]
    before = drawing(app)
    number(app, "Nᵁ Segments, exact").set_value(3).run()
    assert drawing(app) != before
    assert "30 leapfrogs and 2 updates of qᴼ in a trajectory:" in [c.value for c in app.caption]
    number(app, "L Leapfrogs, exact").set_value(10_000).run()
    number(app, "Nᵁ Segments, exact").set_value(1000).run()
    assert not has_drawing(app)  # ten million steps are told, not drawn


def test_iid_begins_with_the_same_mean_and_its_controls_make_the_schedule() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full", **SMALL)
    group(app, "Schedule").set_value("iid").run()
    assert choices(app).spec().schedule == str(schedules.same_mean(schedules.alternate(10, 10)))
    assert not {"L Leapfrogs", "Nᵁ Segments"} & labels(app)
    number(app, "Steps, exact").set_value(40).run()
    number(app, "P(leapfrog), exact").set_value(0.75).run()
    assert query(app)["schedule"] == choices(app).spec().schedule == "iid(40, 0.75)"
    before = drawing(app)
    slider(app, "P(leapfrog)").set_value(0.5).run()
    assert choices(app).spec().schedule == "iid(40, 0.5)"
    assert drawing(app) != before
    run = ran(app)
    assert run.spec.schedule == "iid(40, 0.5)"
    assert run.acceptances["inner"].made.sum() > 0
    group(app, "Schedule").set_value("alternate").run()
    assert choices(app).spec().values["L"] == 10
    group(app, "Schedule").set_value("iid").run()
    assert choices(app).spec().schedule == "iid(40, 0.5)"
    button(app, "Paper's best values").click().run()
    assert choices(app).spec() == RunSpec.of("mdc", "mahmc", **{name: int(text) for name, text in SMALL.items()})


def test_several_updates_share_the_steps_in_their_order_and_all_of_it_is_in_the_link() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full", schedule="iid(50, 0.8)", **SMALL)
    app.multiselect[0].set_value(["metropolis", "gibbs"]).run()
    assert choices(app).spec().law.updates == pytest.approx((5.0, 5.0))
    number(app, "Q₁ share of metropolis, exact").set_value(1.0).run()
    number(app, "Q₂ share of gibbs, exact").set_value(0.25).run()
    group(app, "After the trajectory").set_value("none").run()
    spec = choices(app).spec()
    assert spec.law.updates == pytest.approx((8.0, 2.0))
    assert (spec.update, spec.outer) == ("metropolis,gibbs", "none")
    again = opened(**query(app))
    assert choices(again).spec() == spec
    assert query(again) == query(app)
    assert ran(again).spec == spec
    app.multiselect[0].set_value([]).run()
    assert choices(app).spec().update == "metropolis"
    assert app.multiselect[0].value == ["metropolis"]
    assert choices(app).spec().schedule == "iid(50, 0.8)"


BAD_SEQUENCES = {
    "0001": "P(D⁻¹)/P(D) is zero",
    "0a1": "cannot be read",
    "0 1 0 : 0.5\n0": "has no weight",
    "010 : 0.5\n0 : 0.4": "sum to 0.9, not to one",
    "02 0 20": "no more than 1 is chosen above",
    "0 4 0": "this target has no more than 3",
    "1": "no sequence has a leapfrog",
    "": "0 sequences",
    "0 : nan": "probability",
    "0" * 100_001: "too long",
    "<b>[x](http://e.org)</b>": "cannot be read",
}


def test_bad_sequences_are_told_and_the_last_good_one_stays_in_use() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full", schedule="sequences(3x0 1 3x0)")
    good = choices(app).spec()
    assert app.text_area[0].value == "0001000"
    for text, words in BAD_SEQUENCES.items():
        app.text_area[0].set_value(text).run()
        assert not app.exception, text[:40]
        assert words in app.warning[0].value, text[:40]
        assert not re.search(LINK, app.warning[0].value)
        assert choices(app).spec() == good
    app.text_area[0].set_value("0 1 0 : 0.5\n0 : 0.5").run()
    assert not app.warning
    assert choices(app).spec().schedule == "sequences(010:0.5, 0:0.5)"


def test_mirror_images_and_weights_are_mended_by_a_button() -> None:
    app = opened(target="gmm", sampler="mahmc", view="full", schedule="sequences(010)", **SMALL)
    app.text_area[0].set_value("0001 : 2\n010 : 2").run()
    button(app, "Add mirror images").click().run()
    assert app.text_area[0].value == "0001 : 0.25\n1000 : 0.25\n010 : 0.5"
    assert choices(app).spec().schedule == "sequences(0001:0.25, 1000:0.25, 010:0.5)"
    app.text_area[0].set_value("010 : 1\n0 : 3").run()
    button(app, "Make the weights sum to one").click().run()
    assert choices(app).spec().schedule == "sequences(010:0.25, 0:0.75)"
    assert ran(app).finished


def test_what_was_typed_waits_while_another_kind_or_sampler_is_looked_at() -> None:
    app = opened(target="mdc", sampler="mahmc", view="full", schedule="sequences(010)")
    app.text_area[0].set_value("0001").run()
    group(app, "Schedule").set_value("alternate").run()
    assert not app.text_area
    group(app, "Schedule").set_value("sequences").run()
    assert app.text_area[0].value == "0001"
    assert choices(app).spec().schedule == "sequences(010)"
    selectbox(app, "Sampler").select("naive").run()
    assert group(app, "Schedule").value == "alternate"


def test_in_the_simple_view_a_schedule_is_named() -> None:
    app = opened(target="mdc", sampler="mahmc", schedule="iid(50, 0.8)")
    assert "L Leapfrogs" not in labels(app)
    assert any("iid(50, 0.8)" in caption.value for caption in app.caption)
    assert ran(opened(target="mdc", sampler="mahmc", schedule="iid(50, 0.8)", **SMALL)).finished


def test_pins_tell_what_is_not_as_usual() -> None:
    app = opened(target="gmm", sampler="mahmc", view="full", schedule="iid(20, 0.8)", outer="none", **SMALL)
    ran(app)
    button(app, "Pin this run").click().run()
    tab = app.session_state["session"]
    assert tab.pins[0].name == "MAHMC (epsilon 0.3, iid(20, 0.8), outer none)"
    group(app, "Schedule").set_value("alternate").run()
    button(app, "Reopen").click().run()
    assert choices(app).spec() == tab.pins[0].job.spec


@pytest.mark.parametrize(
    "link",
    [
        {"schedule": "iid(9, 2)"}, {"schedule": "sequences(001)"}, {"schedule": "x" * 10_000},
        {"update": "<b>evil</b>"}, {"outer": "evil"}, {"update": "gibbs,metropolis"},
        {"schedule": "iid(9, 0.9)", "L": "3"},
        {"sampler": "hmc", "schedule": "iid(9, 0.9)"}, {"target": "blr", "sampler": "m-hmc"},
        {"target": "neals-funnel", "update": "gibbs"}, {"target": "neals-funnel", "schedule": "iid(9, 0.9)"},
    ],
    ids=lambda link: str(link)[:40],
)  # fmt: skip
def test_bad_schedules_and_updates_in_links_give_a_message_and_the_defaults(link: dict[str, str]) -> None:
    found, problem = read_link({"target": "mdc", "sampler": "mahmc", **link})
    assert problem.startswith("This link cannot be used as it is")
    assert found == Choices()
    for word in ("evil", "xxxx"):
        assert word not in problem


def test_m_hmc_is_offered_where_it_can_be_done() -> None:
    app = opened(target="mdc", sampler="m-hmc", view="full")
    assert {"T Travel time", "V Visits", "After the trajectory"} <= labels(app)
    assert "Schedule" not in labels(app)
    assert (
        set(group(app, "Update of qᴼ").options) == {"metropolis", "gibbs"}
        or len(group(app, "Update of qᴼ").options) == 2
    )
    number(app, "ε Step size, exact").set_value(1e-6).run()
    assert "Take a shorter T" in warned(app)
    selectbox(app, "Target").select("blr").run()
    assert "m-hmc" not in choices(app).samplers()
    assert choices(app).sampler == "mahmc"
    assert "MAHMC is taken instead" in app.toast[0].value
    assert not app.exception


def test_a_target_without_other_variables_has_no_controls_for_them() -> None:
    app = opened(target="neals-funnel", sampler="mahmc", view="full")
    assert not {"Schedule", "Update of qᴼ", "After the trajectory"} & labels(app)
    assert not has_drawing(app)


def test_updates_of_every_sampler_can_be_chosen() -> None:
    for sampler in Choices("ising").samplers():
        app = opened(target="ising", sampler=sampler, view="full")
        group(app, "Update of qᴼ").set_value("flip").run()
        assert not app.exception
        spec = choices(app).spec()
        assert spec.update == "flip"
        assert spec.outer == ("flip" if EVERY_SAMPLER[sampler].outer else "none")
        assert ("After the trajectory" in labels(app)) == EVERY_SAMPLER[sampler].inside


# --------------------------------------------------------------------------------------------------- own data


def table(rows: int = 60, seed: int = 0, **more: list[Any]) -> bytes:
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {
        "age": rng.normal(50, 9, rows).round(2).tolist(), "dose_$": rng.normal(0, 1, rows).round(3).tolist(),
        "cured": [i % 2 for i in range(rows)],
    } | more  # fmt: skip
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines).encode()


def uploaded(app: AppTest, data: bytes, name: str = "a_[b](http://e.org)`.csv") -> AppTest:
    app.file_uploader[0].set_value((name, data, "text/csv")).run()
    assert not app.exception, app.exception[0].message
    return app


def with_data(**more: str) -> AppTest:
    app = uploaded(opened(target="blr", sampler="mahmc", view="full", **SMALL, **more), table())
    button(app, "Use these data").click().run()
    assert not app.exception, app.exception[0].message
    return app


def test_a_table_is_uploaded_previewed_used_and_run() -> None:
    app = uploaded(opened(target="blr", sampler="mahmc", view="full", **SMALL), table())
    assert list(app.dataframe[0].value.columns) == ["age", "dose_$", "cured"]
    assert len(app.dataframe[0].value) == tabular.PREVIEW
    assert selectbox(app, "Column to explain, of zeros and ones").value == "cured"
    assert choices(app).data is None  # not before it is said
    button(app, "Use these data").click().run()
    spec = choices(app).spec()
    assert len(spec.data) == 12
    caption = next(c.value for c in app.caption if "your data" in c.value)
    assert "60 × 2" in caption
    assert spec.data in caption
    assert "](http" not in caption.replace("`a_[b](http://e.org)·.csv`", "")
    run = ran(app)
    assert run.target.dim == 3
    quantity = selectbox(app, "Quantity")
    assert {"β[0] (age)", "β[1] (dose_$)", "β[2] ((intercept))"} <= set(quantity.options)
    assert query(app)["data"] == spec.data
    assert "Distribution; no truth is known" in str([p.proto.bytes for p in app.get("bidi_component")])
    button(app, "Back to the breast cancer data").click().run()
    assert choices(app).spec().data == ""
    assert app.session_state["session"].stale(choices(app).spec())


def test_the_program_on_own_data_gives_the_same_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = with_data(schedule="iid(6, 0.7)", shape="2.0", seed="5")
    run = ran(app)
    tab = app.session_state["session"]
    program = snippet(run.spec, run.target, tab.uploads[run.spec.data])
    assert program.strip() in [code.value.strip() for code in app.code]
    (tmp_path / "a_[b](http://e.org)`.csv".replace("/", "_")).write_bytes(table())
    program = program.replace("a_[b](http://e.org)`.csv", "a_[b](http:__e.org)`.csv")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(program, found)
    assert found["run"].spec == run.spec
    for name, draws in run.draws.items():
        assert np.array_equal(found["run"].draws[name], draws)


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "binary": (b"\x89PNG\0\0", "this is no CSV file"),
    "text": (table(sex=["m", "f"] * 30), "holds text"),
    "missing": (table(gap=["", 1.0] * 30), "has no value in row 1"),
    "constant": (table(same=[3] * 60), "in every row, which tells nothing"),
    "rows": (table(rows=5001), "more than 5000 rows"),
    "columns": (table(**{f"x{i}": [i] * 60 for i in range(200)}), "203 columns; at most 200"),
    "empty": (b"", "the file is empty"),
    "markdown": (table(**{"![x](http://e.org/x.png)": ["a"] * 60}), "holds text"),
}


def test_each_wrong_file_has_its_message_and_nothing_that_was_chosen_is_lost() -> None:
    app = with_data()
    before = choices(app).spec()
    for name, (data, words) in BAD_FILES.items():
        uploaded(app, data)
        assert words in app.error[0].value, name
        assert not re.search(LINK, app.error[0].value), name
        assert not [b for b in app.button if b.label == "Use these data"], name
        assert choices(app).spec() == before, name
    uploaded(app, table(seed=1))
    selectbox(app, "Column to explain, of zeros and ones").select("age").run()
    assert "not of zeros and ones" in app.error[0].value
    assert choices(app).spec() == before


def test_a_link_to_a_run_on_own_data_says_that_it_must_be_uploaded_again() -> None:
    """All else that it says is kept."""
    link = query(with_data()) | {"seed": "123", "draws": "777"}
    app = opened(**link)
    assert app.warning[0].value == NO_DATA
    spec = choices(app).spec()
    assert (spec.data, spec.target, spec.seed, spec.draws) == ("", "blr", 123, 777)
    assert opened(**(link | {"data": "<script>"})).warning[0].value == NO_DATA


def test_a_pin_on_own_data_is_reopened_with_them() -> None:
    app = with_data()
    ran(app)
    button(app, "Pin this run").click().run()
    button(app, "Back to the breast cancer data").click().run()
    button(app, "Reopen").click().run()
    assert not app.exception
    assert choices(app).spec() == app.session_state["session"].pins[0].job.spec


def test_a_tab_keeps_the_last_data_only() -> None:
    tab = session.Session(Choices("blr"))
    for seed in range(MOST_UPLOADS + 2):
        tab.use(Upload.of("f.csv", tabular.read(table(seed=seed)), "cured"))
    assert len(tab.uploads) == MOST_UPLOADS
    assert tab.choices.data is list(tab.uploads.values())[-1]
    with pytest.raises(InvalidInput, match="data of its own"):
        tab.choices.spec().build_target()


# ----------------------------------------------------------------------------------------------------- Compare


def compare_link(**values: str) -> AppTest:
    app = AppTest.from_file(compare_page.PAGE, default_timeout=60)
    app.query_params.update({f"compare.{name}": text for name, text in values.items()})
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def test_the_preset_adds_an_iid_schedule_of_the_same_mean() -> None:
    app = compare_link(target="mdc", samplers="mahmc", iid="1", replicates="2",
                       **{"budget.mdc": "64000", "mdc.mahmc.n_u": "4"})  # fmt: skip
    compare_page.ended(compare_page.press(app, "Run"))
    entries = app.session_state["session"].comparing.comparison.entries
    assert set(entries) == {"mahmc", comparing.SAME_MEAN}
    ours, iid = entries["mahmc"].spec, entries[comparing.SAME_MEAN].spec
    assert iid.law.leapfrogs == pytest.approx(ours.law.leapfrogs)
    assert iid.law.updates == pytest.approx(ours.law.updates)
    assert iid.schedule.startswith("iid(43, ")
    assert iid.values["epsilon"] == ours.values["epsilon"]
    assert "MAHMC, I.I.D." in compare_page.words(app)
    assert "iid(43" in str(app.dataframe[0].value["settings"].tolist())


def test_every_editor_has_schedule_updates_and_outer_and_the_link_brings_them_back() -> None:
    link = {"target": "ising", "samplers": "hmc,mahmc,m-hmc", "replicates": "2", "budget.ising": "96000",
            "ising.mahmc.schedule": "iid(12, 0.5, 0.25, 0.25)", "ising.mahmc.update": "flip,gibbs",
            "ising.mahmc.outer": "none", "ising.hmc.update": "flip"}  # fmt: skip
    app = compare_link(**{name: text for name, text in link.items() if "m-hmc" not in text})
    assert not app.warning
    app = compare_link(**link)
    assert "Left out: M-HMC" in compare_page.words(app)
    compare_page.ended(compare_page.press(app, "Run"))
    entries = app.session_state["session"].comparing.comparison.entries
    assert (entries["mahmc"].spec.schedule, entries["mahmc"].spec.outer) == ("iid(12, 0.5, 0.25, 0.25)", "none")
    assert entries["mahmc"].spec.update == "flip,gibbs"
    assert (entries["hmc"].spec.update, entries["hmc"].spec.outer) == ("flip", "flip")
    written = query(app)
    assert {name: written[f"compare.{name}"] for name in link} == link
    again = compare_link(**{name.removeprefix("compare."): text for name, text in written.items()})
    assert not again.warning
    assert query(again) == written


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mdc.mahmc.schedule": "sequences(001)"}, "P(D⁻¹)/P(D) is zero"),
        ({"mdc.mahmc.schedule": "<b>iid"}, "cannot be read"),
        ({"mdc.mahmc.update": ["gibbs", "metropolis"]}, "name as many"),
    ],
)
def test_a_schedule_that_is_none_is_told_and_nothing_is_lost(values: dict[str, Any], words: str) -> None:
    app = compare_link(target="mdc", samplers="hmc,mahmc", iid="1", seed="77", **{"budget.mdc": "64000"})
    for name, value in values.items():
        fields = (*app.text_input, *app.multiselect)
        next(w for w in fields if w.key == f"compare.{name}").set_value(value).run()
    assert words in app.warning[0].value
    assert next(b for b in app.button if b.label == "Run").disabled
    kept = {w.key: w.value for w in app.number_input}
    assert (kept["compare.seed"], kept["compare.budget.mdc"]) == (77, 64_000)


def test_bad_links_to_compare_are_refused() -> None:
    app = compare_link(**{"mdc.mahmc.schedule": "evil", "mdc.mahmc.outer": "evil", "mdc.hmc.update": "evil",
                          "mdc.evil.outer": "none", "data": "0123456789ab"})  # fmt: skip
    assert "Not used of this link" in app.warning[0].value
    assert "1 that this page does not know" in app.warning[0].value
    assert "evil" not in app.warning[0].value
    assert "upload them again" in app.warning[0].value
    assert not next(b for b in app.button if b.label == "Run").disabled


def test_m_hmc_is_compared_where_it_can_be_done() -> None:
    app = compare_link(target="gmm", samplers="mahmc,m-hmc", replicates="2", **{"budget.gmm": "48000"})
    compare_page.ended(compare_page.press(app, "Run"))
    found = app.session_state["session"].comparing.comparison
    assert set(found.done) == {"mahmc", "m-hmc"}
    assert len(app.dataframe[0].value) == 2


def test_own_data_are_compared() -> None:
    app = compare_link(target="blr", samplers="hmc,mahmc", replicates="2", **{"budget.blr": "16000"})
    assert "uploaded on Explore" in compare_page.words(app)
    app.session_state["session"].use(Upload.of("mine.csv", tabular.read(table()), "cured"))
    app.run()
    mark = next(iter(app.session_state["session"].uploads))
    next(w for w in app.selectbox if w.key == "compare.data").set_value(mark).run()
    compare_page.ended(compare_page.press(app, "Run"))
    found = app.session_state["session"].comparing.comparison
    assert found.target.fingerprint == mark
    assert found.finished
    text = compare_page.words(app)
    assert "Points classified right" in text
    assert "98.77" not in text
    assert "against the reference" not in text
    assert query(app)["compare.data"] == mark
    opened_spec = found.entries["mahmc"].spec.on(found.target, keep=None)
    app.session_state["session"].adopt(opened_spec)
    assert app.session_state["session"].choices.spec() == opened_spec


# ------------------------------------------------------------------------------------------------------ Checks


@pytest.mark.parametrize(
    ("more", "sampler"),
    [
        ({"own.mahmc.schedule": "iid(6, 0.5, 0.3, 0.2)", "own.update": "gibbs,metropolis"}, "mahmc"),
        ({"own.mahmc.schedule": "sequences(010)", "own.mahmc.outer": "none"}, "mahmc"),
        ({}, "m-hmc"),
        ({"own.target": "ising", "own.n": "3"}, "m-hmc"),
        ({"own.target": "ising", "own.n": "3", "own.update": "flip"}, "mahmc"),
        ({"own.target": "spike-slab", "own.d": "3"}, "mahmc"),
        ({"own.target": "neals-funnel", "own.dim": "3"}, "hmc"),
    ],
    ids=str,
)
def test_own_cases_of_all_kinds_are_checked(more: dict[str, str], sampler: str) -> None:
    link = (OWN_CASE if "own.target" not in more else {"own": "1"}) | more | {"own.sampler": sampler}
    if sampler == "m-hmc" and more:
        asked, problem = Asked.of(link)
        assert "own.sampler" in problem
        assert asked.own.sampler == "mahmc"
        return
    app = checks_page.opened(**link)
    assert not app.warning, app.warning[0].value
    checks_page.ended(checks_page.press(app, "Check it"))
    assert not app.error
    assert checks_page.states(app)[sampler, "own"] in ("right", "unclear")
    book = checks_page.ledger(app)
    assert Asked.of(book.asked.link())[0].cells()[0][-1].chosen == book.asked.cells()[0][-1].chosen
    for name, text in link.items():
        assert book.asked.link()[name] in (text, text.replace("-1,1", "-1.0,1.0").replace("0.5,1", "0.5,1.0")), name
    assert checks_page.charts(app) >= 1


def test_own_data_have_the_joint_tests_and_no_marginals() -> None:
    app = checks_page.opened(**{"own": "1", "own.target": "blr", "own.sampler": "mahmc"})
    assert "uploaded on Explore" in checks_page.words(app)
    tab = app.session_state["session"]
    tab.use(Upload.of("mine.csv", tabular.read(table()), "cured"))
    app.run()
    selectbox(app, "Data").set_value(next(iter(tab.uploads))).run()
    assert "no truth is known" in checks_page.words(app)
    cell = next(cell for cell in tab.ledger.asked.cells()[0] if cell.key == ("mahmc", "own"))
    assert cell.checks == ("joint distribution", "calibration")
    assert cell.case.title == "BLR, your data"
    checks_page.ended(checks_page.press(app, "Check it"))
    assert checks_page.states(app)["mahmc", "own"] in ("right", "unclear")
    asked, problem = Asked.of(query(app))
    assert "upload them again" in problem
    assert asked.own.data is None


BAD_OWN = [
    {"own.mahmc.schedule": "evil"}, {"own.mahmc.schedule": "sequences(001)"}, {"own.hmc.schedule": "iid(9, 0.9)"},
    {"own.mahmc.outer": "evil"}, {"own.evil.outer": "none"}, {"own.update": "gibbs,evil"}, {"own.data": "evil"},
    {"own.mahmc.schedule": "iid(9, 0.5, 0.25, 0.25)"}, {"own.m-hmc.T": "9999", "own.m-hmc.epsilon": "1e-9"},
]  # fmt: skip


@pytest.mark.parametrize("more", BAD_OWN, ids=str)
def test_bad_schedules_in_links_to_checks_are_refused(more: dict[str, str]) -> None:
    asked, problem = Asked.of(OWN_CASE | more)
    assert problem.startswith("Not used of this link")
    assert "evil" not in problem
    assert asked.link()
    cells, refusal = asked.cells()
    assert not refusal
    assert cells
