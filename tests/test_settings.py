"""Settings of the three pages, and the links that carry them: written, read back, refused in words, and old ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any
from urllib.parse import urlencode

import pytest

from dashboard.settings import link
from dashboard.settings.checks import CONTEST_DRAWS, CUSTOM, CellName, CheckSettings, DrawsShown
from dashboard.settings.choices import Choices
from dashboard.settings.compare import SAME_MEAN, CompareSettings
from dashboard.settings.entries import Fingerprint, Flag, Kind, Name, Number, OneOf, ScheduleText, Settings, SomeOf
from dashboard.settings.explore import ExploreSettings
from mahmc import Comparison, InvalidInput, RunSpec, targets
from mahmc.checks import CASES
from mahmc.samplers import EVERY_SAMPLER

pytestmark = pytest.mark.quick
PAGES: list[Any] = [ExploreSettings(), CompareSettings(), CheckSettings()]
SEEDS = range(34)
EVIL = ("<script>alert(1)</script>", "[x](http://example.org)", "![x](http://example.org/x.png)", "x" * 10_000)
SCHEDULES = ("alternate", "iid(9, 0.9)", "iid(12, 0.5, 0.25, 0.25)", "sequences(0010:0.5, 0100:0.5)", "sequences(0)")
MIXTURE = {"weights": (0.25, 0.75), "means": (-1.0, 2.5), "sds": (0.5, 1.0)}


def by_page(value: object) -> str:
    """Names of tests: the page of settings, anything else as it is."""
    return type(value).__name__ if isinstance(value, Settings) else str(value)[:40]


def problem(start: Settings, **query: str) -> str:
    return link.read(start, query)[1]


# ----------------------------------------------------------------------------------------------- written and read


@pytest.mark.parametrize("settings", PAGES, ids=by_page)
def test_defaults_make_an_empty_link(settings: Settings) -> None:
    assert link.write(settings) == {}
    assert link.text(settings) == ""
    assert link.read(settings, {}) == (settings, "")


def test_a_link_says_only_what_differs_from_the_defaults_in_the_order_of_entries() -> None:
    settings = ExploreSettings().with_("view", "full").with_("seed", 7).with_("epsilon", 0.03).with_("target", "gmm")
    assert list(link.write(settings).items()) == [("target", "gmm"), ("seed", "7"), ("view", "full")]
    assert link.text(settings.with_("target", "mdc")) == "epsilon=0.03&seed=7&view=full"


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [(PAGES[0], "epsilon", 0.03), (PAGES[0], "chains", 4), (PAGES[1], "hmc.L", 7), (PAGES[1], "budget", 96_000),
     (PAGES[1], "samplers", ("mahmc", "hmc")), (PAGES[2], "level", 0.001), (PAGES[2], "cell", ("hmc", "mdc"))],
    ids=by_page,
)  # fmt: skip
def test_going_back_to_a_default_leaves_no_trace(settings: Settings, name: str, value: object) -> None:
    changed = settings.with_(name, value)
    assert changed != settings
    assert list(link.write(changed)) == [name]
    assert changed.with_(name, settings.entries()[name].default) == settings


def test_settings_cannot_be_changed_in_place() -> None:
    settings = ExploreSettings()
    with pytest.raises(FrozenInstanceError):
        settings.seed = 5  # type: ignore[misc]
    settings.with_("seed", 5)
    assert settings == ExploreSettings()


def random_value(kind: Kind, name: str, dice: random.Random) -> Any:  # noqa: C901, PLR0911, PLR0912 (a case a kind)
    """A value that this kind allows; None for those that a link cannot bring."""
    match kind:
        case Number(parameter) if parameter.kind == "bool":
            return not parameter.default
        case Number(parameter) if parameter.kind == "floats":
            return MIXTURE[name.rpartition(".")[2]]
        case Number(parameter):
            low, high = parameter.slider or (max(parameter.low, 0), min(parameter.high, 10**6))
            return dice.randint(int(low), int(high)) if parameter.kind == "int" else dice.uniform(low, high)
        case OneOf(options):
            return dice.choice(options)
        case SomeOf(options):
            return tuple(dice.sample(options, dice.randint(1, len(options))))
        case ScheduleText():
            return dice.choice(SCHEDULES)
        case Name():
            return dice.choice(["u", "beta[3]", "tau", "component"])
        case Flag():
            return dice.random() < 0.5
        case CellName():
            return dice.choice(list(EVERY_SAMPLER)), dice.choice([*CASES, CUSTOM])
        case DrawsShown():
            return dice.choice(CONTEST_DRAWS)
        case Fingerprint():
            return None
    raise AssertionError(f"no values are known of {kind}")


def random_settings(start: Any, seed: int) -> Any:
    """Any target, and half of all other entries changed, in their order; again where values do not go together."""
    dice = random.Random(seed)
    while True:
        settings, seen, mixture = start, set(), dice.random() < 0.5
        while name := next((n for n in settings.entries() if n not in seen), ""):
            seen.add(name)
            entry = settings.entries()[name]
            wanted = mixture if name.rpartition(".")[2] in MIXTURE else name == "target" or dice.random() < 0.5
            value = random_value(entry.kind, name, dice)
            if wanted and value is not None:
                settings = settings.with_(name, value)
        try:
            settings.check()
        except InvalidInput:
            continue
        return settings


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("start", PAGES, ids=by_page)
def test_what_is_written_is_read_back_exactly(start: Settings, seed: int) -> None:
    settings = random_settings(start, seed)
    written = link.write(settings)
    assert list(written) == [name for name in settings.entries() if name in written]
    assert link.read(start, link.split(link.text(settings))) == (settings, "")
    mixed = random.Random(seed).sample(list(written.items()), len(written))
    assert link.read(start, dict(mixed)) == (settings, "")


def test_random_settings_reach_every_target_and_most_entries() -> None:
    """Else the round trips would say little."""
    found = [random_settings(start, seed) for start in PAGES for seed in SEEDS]
    assert {settings.choices.target for settings in found} == set(targets.FAMILIES)
    names = {name.rpartition(".")[2] for settings in found for name in link.write(settings)}
    assert {"weights", "schedule", "outer", "update", "epsilon", "L", "T", "prior_only", "budget", "cell", "own",
            "samplers", "iid", "view", "quantity", "cost", "draws"} <= names  # fmt: skip


def test_numbers_keep_all_their_digits() -> None:
    settings = ExploreSettings().with_("epsilon", 0.1 + 0.2).with_("seed", 2**53 - 1)
    assert link.write(settings) == {"epsilon": "0.30000000000000004", "seed": "9007199254740991"}
    assert link.read(ExploreSettings(), link.write(settings))[0] == settings


@pytest.mark.parametrize(
    ("start", "query", "name", "value"),
    [
        (PAGES[0], "sampler=hmc", "L", 40),
        (PAGES[0], "epsilon=0.02", "epsilon", 0.02),
        (PAGES[0], "target=gmm", "sampler", "mahmc"),
        (PAGES[0], "?view=full", "view", "full"),
        (PAGES[1], "target=ising&hmc.L=9", "hmc.L", 9),
        (PAGES[1], "samplers=", "samplers", ()),
        (PAGES[0], "draws=1e3", "draws", 1000),
        (PAGES[1], "budget=96000", "budget", 96_000),
        (PAGES[1], "budget=96_000", "budget", 96_000),
        (PAGES[2], "own=1", "own.target", "gmm"),
        (PAGES[2], "own=1&own.target=mdc", "own.sd", 0.04),
        (PAGES[2], "cell=hmc.mdc", "cell", ("hmc", "mdc")),
    ],
    ids=by_page,
)
def test_a_link_may_say_little(start: Settings, query: str, name: str, value: object) -> None:
    settings, said = link.read(start, link.split(query))
    assert said == ""
    assert settings.entries()[name].value == value


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize("start", PAGES, ids=by_page)
def test_what_others_put_into_links_is_ignored(start: Settings) -> None:
    one = problem(start, utm_source="mail", seed="5")
    assert one == "Ignored in this link: 1 parameter that this page does not know. Everything else is used."
    assert "2 parameters that this page does not know" in problem(start, utm_source="mail", fbclid="1")
    assert link.read(start, {"embed": "true", "embed_options": "dark_theme", "seed": "5"}) == (
        start.with_("seed", 5),
        "",
    )


SAMPLERS = "one of mala, hmc, mala-p, mala-pn, mahmc, m-hmc, naive, asymmetric"
REFUSED: list[tuple[Any, dict[str, str], str]] = [
    (PAGES[0], {"target": "nope"}, "target (must be one of mdc, blr, gmm, neals-funnel, ising, spike-slab)"),
    (PAGES[0], {"sampler": EVIL[0]}, f"sampler (must be {SAMPLERS})"),
    (PAGES[0], {"epsilon": "nan"}, "epsilon (must be in (0, 100])"),
    (PAGES[0], {"epsilon": "1e9"}, "epsilon (must be in (0, 100])"),
    (PAGES[0], {"L": EVIL[3]}, "L (must be a whole number in [1, 10000])"),
    (PAGES[0], {"seed": "-1"}, "seed (must be a whole number in [0, 9007199254740991])"),
    (PAGES[0], {"draws": "1e400"}, "draws (must be a whole number in [1, 1e+09])"),
    (PAGES[0], {"schedule": "iid(9, 2)"}, "schedule (must be a schedule that can be read"),
    (PAGES[0], {"schedule": "sequences(001)"}, "with each sequence's mirror image"),
    (PAGES[0], {"schedule": EVIL[3]}, "schedule (must be a schedule"),
    (PAGES[0], {"update": EVIL[0]}, "update (must be some of gibbs, metropolis, block)"),
    (PAGES[0], {"outer": "nope"}, "outer (must be one of gibbs, metropolis, block, none)"),
    (PAGES[0], {"view": "nope"}, "view (must be one of simple, full)"),
    (PAGES[0], {"follow": "yes"}, "follow (must be 0 or 1)"),
    (PAGES[0], {"quantity": EVIL[1]}, "quantity (must be the name of a quantity)"),
    (PAGES[0], {"target": "blr", "prior_only": "perhaps"}, "prior_only (must be true or false)"),
    (PAGES[0], {"target": "gmm", "means": "nan,1,1,1"}, "means (must be numbers, each in ["),
    (PAGES[0], {"target": "blr", "sampler": "m-hmc"}, "sampler (must be one of"),
    (PAGES[1], {"target": "nope"}, "target (must be one of mdc"),
    (PAGES[1], {"samplers": "hmc,nope"}, "samplers (must be some of mala, hmc, mala-p, mala-pn, mahmc, m-hmc)"),
    (PAGES[1], {"hmc.epsilon": "0"}, "hmc.epsilon (must be in (0, 100])"),
    (PAGES[1], {"mahmc.schedule": "nope"}, "mahmc.schedule (must be a schedule"),
    (PAGES[1], {"mahmc.outer": "nope"}, "mahmc.outer (must be one of"),
    (PAGES[1], {"hmc.update": "nope"}, "hmc.update (must be some of"),
    (PAGES[1], {"budget": "0"}, "budget (must be a whole number in [1, 1e+09])"),
    (PAGES[1], {"replicates": "1"}, "replicates (must be a whole number in [2, 100])"),
    (PAGES[1], {"cost": "nope"}, "cost (must be one of leapfrogs, gradients, updates, seconds)"),
    (PAGES[1], {"iid": "yes"}, "iid (must be 0 or 1)"),
    (PAGES[2], {"budget": "nan"}, "budget (must be in ["),
    (PAGES[2], {"budget": "1e9"}, "budget (must be in ["),
    (PAGES[2], {"level": "0"}, "level (must be in [1e-09, 0.1])"),
    (PAGES[2], {"seed": "1e400"}, "seed (must be a whole number"),
    (PAGES[2], {"cell": EVIL[0]}, "cell (must be a sampler and a case of the matrix, as naive.gmm)"),
    (PAGES[2], {"cell": "mahmc.nope"}, "cell (must be a sampler and a case"),
    (PAGES[2], {"check": "nope"}, "check (must be one of marginals, invariance"),
    (PAGES[2], {"exhibit": "nope"}, "exhibit (must be one of naive, asymmetric)"),
    (PAGES[2], {"draws": "3"}, "draws (must be a power of two up to 4096)"),
    (PAGES[2], {"own": "yes"}, "own (must be 0 or 1)"),
    (PAGES[2], {"own": "1", "own.target": "nope"}, "own.target (must be one of mdc"),
    (PAGES[2], {"own": "1", "own.target": "blr", "own.sampler": "m-hmc"}, "own.sampler (must be one of"),
    (PAGES[2], {"own": "1", "own.update": "gibbs,nope"}, "own.update (must be some of"),
    (PAGES[2], {"own": "1", "own.mahmc.schedule": "sequences(001)"}, "own.mahmc.schedule (must be a schedule"),
    (PAGES[2], {"own": "1", "own.mahmc.outer": "nope"}, "own.mahmc.outer (must be one of"),
    (PAGES[2], {"own": "1", "own.weights": "1", "own.means": "nan", "own.sds": "-1"}, "own.means (must be numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "query", "words"), REFUSED, ids=by_page)
def test_each_value_that_cannot_be_used_is_named_with_what_is_allowed(
    start: Settings, query: dict[str, str], words: str
) -> None:
    settings, said = link.read(start, query | {"seed": "5"} if "seed" not in query else query)
    assert said.startswith("Ignored in this link: ")
    assert said.endswith(". Everything else is used.")
    assert words in said
    for word in (*EVIL, "script", "example.org", "xxxx", "nope", "1e400", "nan", "yes", "perhaps"):
        assert word not in said
    assert "seed" in query or settings.entries()["seed"].value == 5  # the rest is used
    settings.check()


DO_NOT_GO_TOGETHER: list[tuple[Any, dict[str, str]]] = [
    (PAGES[0], {"target": "gmm", "weights": "0.5,0.6", "means": "0,1", "sds": "1,1"}),
    (PAGES[0], {"target": "gmm", "weights": "0.5,0.5"}),
    (PAGES[0], {"update": "gibbs,metropolis"}),
    (PAGES[0], {"schedule": "iid(12, 0.5, 0.25, 0.25)"}),
    (PAGES[1], {"mahmc.update": "gibbs,metropolis"}),
    (PAGES[1], {"mahmc.schedule": "iid(12, 0.5, 0.25, 0.25)"}),
    (PAGES[2], {"own": "1", "own.weights": "0.5,0.6", "own.means": "0,1", "own.sds": "1,1"}),
    (PAGES[2], {"own": "1", "own.mahmc.schedule": "iid(9, 0.5, 0.25, 0.25)"}),
    (PAGES[2], {"own": "1", "own.m-hmc.T": "9999", "own.m-hmc.epsilon": "1e-9"}),
]


@pytest.mark.parametrize(("start", "query"), DO_NOT_GO_TOGETHER, ids=by_page)
def test_values_that_do_not_go_together_are_left_out(start: Settings, query: dict[str, str]) -> None:
    settings, said = link.read(start, query | {"seed": "5"})
    assert said == "Ignored in this link: values that do not fit together. Everything else is used."
    kept = {name: text for name, text in query.items() if name in ("target", "own")}
    assert link.write(settings) == kept | {"seed": "5"}


@pytest.mark.parametrize(
    ("start", "query"),
    [
        (PAGES[0], {"schedule": "iid(9, 0.9)", "L": "3"}),  # the schedule takes the place of L
        (PAGES[0], {"sampler": "hmc", "schedule": "iid(9, 0.9)"}),
        (PAGES[0], {"target": "neals-funnel", "update": "gibbs"}),
        (PAGES[0], {"target": "neals-funnel", "schedule": "iid(9, 0.9)"}),
        (PAGES[0], {EVIL[2]: "1"}),
        (PAGES[1], {"evil.outer": "none"}),
        (PAGES[1], {"naive.L": "3"}),
        (PAGES[2], {"own.target": "mdc"}),  # without own=1
        (PAGES[2], {"own": "1", "own.evil.epsilon": "1"}),
        (PAGES[2], {"own": "1", "own.mahmc.evil": "1"}),
        (PAGES[2], {"own": "1", "own.hmc.schedule": "iid(9, 0.9)"}),
    ],
    ids=by_page,
)
def test_a_name_that_means_nothing_here_is_counted(start: Settings, query: dict[str, str]) -> None:
    settings, said = link.read(start, query)
    assert said == "Ignored in this link: 1 parameter that this page does not know. Everything else is used."
    assert len(link.write(settings)) == len(query) - 1


def test_of_many_refused_values_the_first_are_named() -> None:
    said = problem(ExploreSettings(), epsilon="x", L="x", n_u="x", chains="x", draws="x", warmup="x", seed="x")
    assert said.count("must be") == 5
    assert "; 2 more such values." in said


# ---------------------------------------------------------------------------------------------------- uploaded data


@pytest.mark.parametrize(
    ("start", "query", "name"),
    [
        (PAGES[0], {"target": "blr"}, "data"),
        (PAGES[1], {"target": "blr"}, "data"),
        (PAGES[2], {"own": "1", "own.target": "blr"}, "own.data"),
    ],
    ids=["explore", "compare", "checks"],
)
def test_a_link_to_uploaded_data_asks_for_them(start: Settings, query: dict[str, str], name: str) -> None:
    settings, said = link.read(start, query | {name: "0123456789ab"})
    assert said == link.NO_DATA
    assert "upload the same file again" in said
    assert settings == link.read(start, query)[0]
    evil = problem(start, **query, **{name: EVIL[0]})
    assert evil == link.NO_DATA
    settings, said = link.read(start, query | {name: "0123456789ab"}, uploads=["0123456789ab"])
    assert said == ""
    assert settings.choices.data == "0123456789ab"  # type: ignore[attr-defined]
    assert link.write(settings)[name] == "0123456789ab"


def test_data_and_a_refused_value_are_both_told() -> None:
    said = problem(ExploreSettings(), target="blr", data="0123456789ab", seed="x")
    assert said.startswith("Ignored in this link: seed (")
    assert said.endswith(f"Everything else is used. {link.NO_DATA}")


# --------------------------------------------------------------------------- links of the version before this one
# Made with its own code: Explore by RunSpec.to_query and the view, Compare and Checks by their pages.

EXPLORE_LINKS = {
    "defaults": "target=mdc&sampler=mahmc&chains=16&draws=20000&warmup=2000&thin=1&seed=0&update=gibbs&outer=gibbs&"
    "start=default&keep=u%2Cv%2Cw%2Cenergy&schedule=alternate&epsilon=0.04&L=10&n_u=10&n_w=20&sd=0.04&view=simple",
    "two updates": "target=mdc&sampler=mahmc&chains=16&draws=2000&warmup=200&thin=1&seed=77&update=metropolis%2Cgibbs&"
    "outer=none&start=default&keep=u%2Cv%2Cw%2Cenergy&schedule=iid%2850%2C+0.8%2C+0.15999999999999998%2C+"
    "0.039999999999999994%29&epsilon=0.04&n_w=20&sd=0.04&view=full",
    "mixture": "target=gmm&sampler=mala-pn&chains=16&draws=2000&warmup=200&thin=1&seed=0&update=metropolis&"
    "outer=metropolis&start=default&keep=q%2Ccomponent%2Cenergy&epsilon=0.3&L=5&alpha=0.9&delta=0.01&"
    "weights=0.5%2C0.5&means=-1.0%2C1.0&sds=1.0%2C0.5&view=full&follow=1",
    "sequences": "target=gmm&sampler=mahmc&chains=16&draws=2000&warmup=200&thin=1&seed=0&update=gibbs%2Cneighbour&"
    "outer=none&start=default&keep=q%2Ccomponent%2Cenergy&schedule=sequences%280102%3A0.35%2C+2010%3A0.25%2C+"
    "00120%3A0.25%2C+02100%3A0.15%29&epsilon=0.3&weights=0.15%2C0.3%2C0.3%2C0.25&means=-2.0%2C0.0%2C2.0%2C4.0&"
    "sds=0.31622776601683794%2C0.31622776601683794%2C0.31622776601683794%2C0.31622776601683794&view=full",
    "example": "target=ising&sampler=hmc&chains=7&draws=500&warmup=3&thin=2&seed=0&update=flip&outer=flip&"
    "start=default&keep=x%2Cs%2Cenergy&epsilon=0.7&L=2&n=4&coupling=0.4&field=0.1&mu=1.0&sd=0.7&view=simple",
}
OF_VIEW = ("view", "follow")


@pytest.mark.parametrize("query", EXPLORE_LINKS.values(), ids=EXPLORE_LINKS.keys())
def test_links_to_explore_of_the_version_before_give_the_same_run(query: str) -> None:
    names = link.split(query)
    settings, said = link.read(ExploreSettings(), names)
    assert said == ""
    assert settings.spec({}) == RunSpec.from_query({name: v for name, v in names.items() if name not in OF_VIEW})
    assert (settings.view, settings.follow) == (names["view"], names.get("follow") == "1")


def test_the_link_of_the_version_before_to_a_run_on_uploaded_data() -> None:
    """All but the data is kept."""
    query = (
        "target=blr&sampler=mahmc&chains=4&draws=777&warmup=30&thin=1&seed=123&update=gibbs&outer=gibbs&start=default&"
        "keep=beta%2Ctau%2Cenergy&schedule=alternate&data=3686027e5aa7&epsilon=0.1&L=5&n_u=2&shape=2.0&scale=100.0&"
        "prior_only=false&walk=0.6&view=full"
    )
    settings, said = link.read(ExploreSettings(), link.split(query))
    assert said == link.NO_DATA
    names = {name: v for name, v in link.split(query).items() if name not in (*OF_VIEW, "data")}
    assert settings.spec({}) == RunSpec.from_query(names)
    assert settings.view == "full"


def of_mdc(**others: str) -> dict[str, str]:
    """What the version before wrote of MDC, whatever was chosen later: a value for each control it had shown."""
    found = {
        "mala.epsilon": "0.03", "mala.L": "10", "mala.update": "gibbs", "mala.outer": "",
        "hmc.epsilon": "0.035", "hmc.L": "40", "hmc.update": "gibbs", "hmc.outer": "",
        "mala-p.epsilon": "0.03", "mala-p.L": "10", "mala-p.alpha": "0.995", "mala-p.update": "gibbs",
        "mala-p.outer": "", "mala-pn.epsilon": "0.03", "mala-pn.L": "10", "mala-pn.alpha": "0.995",
        "mala-pn.delta": "0.01", "mala-pn.update": "gibbs", "mala-pn.outer": "", "mahmc.schedule": "alternate",
        "mahmc.epsilon": "0.04", "mahmc.L": "10", "mahmc.n_u": "10", "mahmc.update": "gibbs", "mahmc.outer": "",
    } | others  # fmt: skip
    return {f"compare.mdc.{name}": text for name, text in found.items()} | {"compare.budget.mdc": "4800000"}


COMPARE_LINKS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "defaults": (
        of_mdc() | {"compare.target": "mdc", "compare.samplers": "mala,hmc,mala-p,mala-pn,mahmc", "compare.iid": "0",
                    "compare.second": "0", "compare.replicates": "8", "compare.seed": "0", "compare.cost": "leapfrogs"},
        {"target": "mdc", "samplers": ["mala", "hmc", "mala-p", "mala-pn", "mahmc"]},
    ),
    "edited": (
        of_mdc(**{"hmc.L": "20", "mahmc.epsilon": "0.03", "mahmc.outer": "none"})
        | {"compare.target": "mdc", "compare.samplers": "hmc,mahmc", "compare.second": "1", "compare.iid": "0",
           "compare.budget.mdc": "160000", "compare.replicates": "3", "compare.seed": "0", "compare.cost": "seconds"},
        {"target": "mdc", "gradients": 160_000, "replicates": 3, "samplers": {
            "hmc": {"sampler": "hmc", "L": 20}, "mahmc": {"sampler": "mahmc", "epsilon": 0.03, "outer": "none"},
            "mahmc, Nᵁ 4": {"sampler": "mahmc", "epsilon": 0.035, "n_u": 4}}},
    ),
    "another target, with a schedule": (
        {
            "compare.target": "ising", "compare.samplers": "hmc,mahmc,m-hmc", "compare.iid": "1", "compare.second": "0",
            "compare.budget.ising": "96000", "compare.replicates": "8", "compare.seed": "5",
            "compare.cost": "leapfrogs", "compare.ising.mahmc.schedule": "iid(12, 0.5, 0.25, 0.25)",
            "compare.ising.mahmc.update": "flip,gibbs", "compare.ising.mahmc.outer": "",
            "compare.ising.mahmc.epsilon": "0.7", "compare.ising.mahmc.L": "1", "compare.ising.mahmc.n_u": "4",
            "compare.ising.hmc.epsilon": "0.7", "compare.ising.hmc.L": "2", "compare.ising.hmc.update": "flip",
            "compare.ising.hmc.outer": "", "compare.ising.mala.epsilon": "0.7", "compare.ising.mala.L": "1"} | of_mdc(),
        {"target": "ising", "gradients": 96_000, "seed": 5, "samplers": {
            "hmc": {"sampler": "hmc", "update": "flip"},
            **{label: {"sampler": "mahmc", "schedule": "iid(12, 0.5, 0.25, 0.25)", "update": "flip,gibbs"}
               for label in ("mahmc", SAME_MEAN)}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("query", "asked"), COMPARE_LINKS.values(), ids=COMPARE_LINKS.keys())
def test_links_to_compare_of_the_version_before_give_the_same_comparison(
    query: dict[str, str], asked: Mapping[str, Any]
) -> None:
    settings, said = link.read(CompareSettings(), link.split(urlencode(query)))
    assert said == ""
    ours, theirs = settings.comparison({}), Comparison(**asked)
    assert {label: entry.spec for label, entry in ours.entries.items()} == {
        label: entry.spec for label, entry in theirs.entries.items()
    }
    assert (ours.budget, ours.replicates, ours.seed) == (theirs.budget, theirs.replicates, theirs.seed)
    assert settings.cost == query["compare.cost"]
    assert not any(name.startswith("compare.") for name in link.write(settings))


def test_the_link_of_the_version_before_to_a_comparison_on_uploaded_data() -> None:
    blr = {"compare.target": "blr", "compare.samplers": "hmc", "compare.budget.blr": "16000",
           "compare.data": "3686027e5aa7", "compare.blr.hmc.L": "9"}  # fmt: skip
    settings, said = link.read(CompareSettings(), of_mdc() | blr)
    assert said == link.NO_DATA
    assert link.write(settings) == {"target": "blr", "samplers": "hmc", "hmc.L": "9", "budget": "16000"}


def test_a_bad_link_to_compare_of_the_version_before_is_refused_in_words() -> None:
    query = {"compare.mdc.mahmc.schedule": "evil", "compare.mdc.mahmc.outer": "evil", "compare.mdc.hmc.update": "evil",
             "compare.mdc.evil.outer": "none"}  # fmt: skip
    said = problem(CompareSettings(), **query)
    assert all(name in said for name in ("mahmc.schedule (", "mahmc.outer (", "hmc.update ("))
    assert "1 parameter that this page does not know" in said
    assert "evil" not in said


USUAL = "budget=1.0&level=0.0001&seed=0&cell=naive.gmm&check=marginals&exhibit=naive&draws=1024&own=1"
CHECK_LINKS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "mixture": (
        "budget=0.3&level=0.001&seed=7&cell=hmc.own&check=invariance&exhibit=asymmetric&draws=64&own=1&own.target=gmm&"
        "own.sampler=hmc&own.update=gibbs&own.hmc.L=7&own.mahmc.epsilon=0.4&own.weights=0.5%2C0.5&"
        "own.means=-1.0%2C1.0&own.sds=0.5%2C1.0",
        {"target": "gmm", "weights": (0.5, 0.5), "means": (-1.0, 1.0), "sds": (0.5, 1.0)},
        "gibbs",
        {"hmc": {"L": 7}, "mahmc": {"epsilon": 0.4}},
    ),
    "schedule": (
        f"{USUAL}&own.target=gmm&own.sampler=mahmc&own.update=gibbs%2Cmetropolis&"
        "own.mahmc.schedule=iid%286%2C+0.5%2C+0.3%2C+0.2%29&own.mahmc.outer=none&own.weights=0.15%2C0.3%2C0.3%2C0.25&"
        "own.means=-2.0%2C0.0%2C2.0%2C4.0&own.sds=0.31622776601683794%2C0.31622776601683794%2C0.31622776601683794%2C"
        "0.31622776601683794",
        {"target": "gmm"},
        "gibbs",
        {"mahmc": {"schedule": "iid(6, 0.5, 0.3, 0.2)", "update": "gibbs,metropolis", "outer": "none"}},
    ),
    "example": (
        f"{USUAL}&own.target=ising&own.sampler=mahmc&own.update=flip&own.n=3&own.coupling=0.4&own.field=0.1&"
        "own.mu=1.0&own.sd=0.7",
        {"target": "ising", "n": 3},
        "flip",
        {},
    ),
}


@pytest.mark.parametrize(("query", "of_target", "update", "chosen"), CHECK_LINKS.values(), ids=CHECK_LINKS.keys())
def test_links_to_checks_of_the_version_before_give_the_same_cells(
    query: str, of_target: dict[str, Any], update: str, chosen: dict[str, dict[str, Any]]
) -> None:
    settings, said = link.read(CheckSettings(), link.split(query))
    cells, refusal = settings.cells({})
    assert (said, refusal) == ("", "")
    target = targets.build(**{"name": of_target["target"]} | {k: v for k, v in of_target.items() if k != "target"})
    able = Choices(target.name).samplers()
    expected = {s: RunSpec.of(target, s, **{"update": update} | chosen.get(s, {})).chosen for s in able}
    custom = {cell.sampler: cell for cell in cells if cell.case.name == CUSTOM}
    assert {sampler: cell.chosen for sampler, cell in custom.items()} == expected
    assert all(cell.target.settings == target.settings for cell in custom.values())
    said_by_link = link.split(query)
    assert settings.strictness == {"budget": float(said_by_link["budget"]), "level": float(said_by_link["level"]),
                                   "seed": int(said_by_link["seed"])}  # fmt: skip
    for name in ("cell", "check", "exhibit", "draws", "own.sampler"):
        entry = settings.entries()[name]
        assert entry.kind.text(entry.value) == said_by_link[name]
    assert settings.view == ("contest" if said_by_link["exhibit"] == "asymmetric" else "matrix")  # where it was chosen


def test_the_link_of_the_version_before_to_checks_on_uploaded_data() -> None:
    query = f"{USUAL}&own.target=blr&own.sampler=mahmc&own.shape=1.0&own.scale=100.0&own.prior_only=false&own.walk=0.6"
    settings, said = link.read(CheckSettings(), link.split(f"{query}&own.data=3686027e5aa7"))
    assert said == link.NO_DATA
    assert link.write(settings) == {"draws": "1024", "view": "matrix", "own": "1", "own.target": "blr"}
