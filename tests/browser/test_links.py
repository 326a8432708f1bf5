"""Links: foreign entries, links of the version before, and the short form that the address bar shows."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import APP, TITLES, WAIT, address, enter, open_page, until_controls, until_query

MIXTURE = (
    "weights=0.15%2C0.3%2C0.3%2C0.25&{0}means=-2.0%2C0.0%2C2.0%2C4.0&{0}sds=0.31622776601683794"
    "%2C0.31622776601683794%2C0.31622776601683794%2C0.31622776601683794"
)
OLD_LINKS = {  # as the version before wrote them into the address bar
    "explore": (
        "target=gmm&sampler=hmc&chains=16&draws=3000&warmup=200&thin=1&seed=0&update=metropolis&outer=metropolis"
        f"&start=default&keep=q%2Ccomponent%2Cenergy&epsilon=0.2&L=15&{MIXTURE.format('')}&view=full",
        {"target": "gmm", "sampler": "hmc", "epsilon": "0.2", "draws": "3000", "warmup": "200", "view": "full"},
    ),
    "compare": (
        "compare.target=gmm&compare.replicates=2&compare.budget.gmm=48000&compare.samplers=hmc%2Cmahmc"
        "&compare.gmm.mahmc.L=1&compare.gmm.mahmc.n_u=15&compare.seed=0&compare.gmm.hmc.outer="
        "&compare.gmm.hmc.update=metropolis&compare.gmm.mahmc.epsilon=0.3&compare.gmm.mahmc.schedule=alternate"
        "&compare.gmm.mahmc.outer=&compare.gmm.hmc.epsilon=0.3&compare.gmm.mahmc.update=metropolis"
        "&compare.gmm.hmc.L=12&compare.iid=0&compare.cost=leapfrogs&compare.budget.mdc=4800000",
        {"target": "gmm", "samplers": "hmc,mahmc", "hmc.L": "12", "budget": "48000", "replicates": "2"},
    ),
    "checks": (
        "budget=0.02&level=0.0001&seed=0&cell=mala.gmm&check=marginals&exhibit=naive&draws=1024&own=1&own.target=gmm"
        f"&own.sampler=mahmc&own.{MIXTURE.format('own.')}",
        {"budget": "0.02", "cell": "mala.gmm", "draws": "1024", "view": "matrix", "own": "1"},
    ),
}


@pytest.mark.parametrize("name", TITLES)
def test_foreign_entries_are_ignored_with_a_word(page: Page, serve: Servers, name: str) -> None:
    """As those that mail programs add to a link; what embedding needs stays, without a word."""
    seed = {"explore": "9", "compare": "9", "checks": "9"}[name]
    open_page(
        page, address(serve, name, {"seed": seed, "utm_source": "<b>x", "embed_options": "light_theme"}), TITLES[name]
    )
    expect(page.get_by_text("Ignored in this link: 1 parameter that this page does not know.")).to_be_visible(
        timeout=WAIT
    )
    until_query(page, seed=seed, embed_options="light_theme")


@pytest.mark.parametrize("name", TITLES)
def test_links_of_the_version_before_open(page: Page, serve: Servers, name: str) -> None:
    """Without a word; controls are set, and the address becomes the short form."""
    old, new = OLD_LINKS[name]
    open_page(page, f"{address(serve, name)}?{old}", TITLES[name])
    until_query(page, **new)
    expect(page.get_by_text("Ignored in this link")).to_have_count(0)
    shown = page.get_by_label("Link to these settings").input_value()
    assert shown.startswith(f"{address(serve, name)}?")
    assert dict(parse_qsl(urlparse(shown).query)) == new
    if name == "compare":
        until_controls(page, "Leapfrogs of a replicate: 48000", "Replicates: 2", "L Leapfrogs: 12")


def test_the_address_says_what_differs_from_the_defaults(page: Page, serve: Servers) -> None:
    open_page(page, f"{serve(APP)}/compare?compare.target=mdc&compare.replicates=8", "Compare")
    until_query(page)
    enter(page, "Replicates", "3")
    until_query(page, replicates="3")
    enter(page, "Seed", "11")
    until_query(page, replicates="3", seed="11")
    assert len(page.evaluate("() => location.href")) < 200
    enter(page, "Replicates", "8")
    until_query(page, seed="11")
    until_controls(page, "Replicates: 8", "Seed: 11")
