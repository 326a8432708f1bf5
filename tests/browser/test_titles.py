"""The browser's tab and history name what a page shows, and an unknown address says so."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.support.browser import Servers
from tests.support.browser_pages import APP, WAIT, address, choose, go_to, open_page


def test_titles_of_the_tab_name_page_target_and_sampler(page: Page, serve: Servers) -> None:
    open_page(page, address(serve, "explore", {"target": "gmm", "sampler": "mala-pn"}))
    expect(page).to_have_title("MALA-PN on GMM · Explore · mahmc", timeout=WAIT)
    choose(page, "Target", "BLR: Bayesian logistic regression")
    expect(page).to_have_title("MALA-PN on BLR · Explore · mahmc", timeout=WAIT)
    go_to(page, "Checks")
    expect(page).to_have_title(re.compile(r"^Naive MH within HMC on GMM.* · Checks · mahmc$"), timeout=WAIT)
    go_to(page, "Compare")
    expect(page).to_have_title("MALA, HMC, MALA-P, MALA-PN, MAHMC on BLR · Compare · mahmc", timeout=WAIT)


def test_an_unknown_address_says_so_above_the_overview_with_its_ways_on(
    new_tab: Callable[[], Page], serve: Servers
) -> None:
    """Streamlit says so in the console too, as an error."""
    page = new_tab()
    page.goto(f"{serve(APP)}/nonsense?sampler=hmc")
    expect(page.get_by_role("dialog")).to_contain_text("Page not found", timeout=WAIT)
    expect(page).to_have_title("Overview · mahmc", timeout=WAIT)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(4, timeout=WAIT)
