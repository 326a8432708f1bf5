"""Files that no refresh can lose: a hundred clicks in the midst of a page's run, and each gives the whole file.

Forty clicks on Explore, forty on Compare and twenty on Checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import ElementHandle, Page

from dashboard.settings import link
from dashboard.settings.compare import CompareSettings
from dashboard.settings.explore import ExploreSettings
from mahmc import Run, tables
from tests.support.browser import Servers
from tests.support.browser_pages import (
    FINISHED,
    SMALL,
    address,
    cell,
    cell_is,
    choose,
    file,
    frames,
    open_files,
    open_page,
    press,
    query,
    says,
    settled,
    until,
)


def click(
    page: Page, link: ElementHandle, received: list[int], turn: Callable[[int], object], i: int
) -> tuple[str, bytes]:
    """Have the page run again by `turn`, and click on this very node after one, two or three messages of that run.

    Gives the name and the content of the file.
    """
    received.clear()
    turn(i)
    until(page, lambda: len(received) > i % 3, True)
    with page.expect_download() as found:
        link.evaluate("link => { if (!link.isConnected) throw 'the link was replaced'; link.click() }")
    return found.value.suggested_filename, Path(found.value.path()).read_bytes()


def test_on_explore_each_click_gives_the_whole_file(page: Page, serve: Servers) -> None:
    """While Simple and Full take turns."""
    received = frames(page)
    open_page(page, address(serve, "explore", {"target": "gmm", **SMALL}))
    press(page, "Run")
    says(page, FINISHED)
    settled(page)
    open_files(page)
    labels = ("Settings", "CSV")
    links = {label: file(page, label).element_handle() for label in labels}
    expected = files_of_run(query(page))
    turn = """i => [...document.querySelectorAll("[role=radio]")]
        .find((node) => node.innerText.trim() === ["Full", "Simple"][i % 2]).click()"""
    for i in range(40):
        label = labels[i // 2 % 2]  # each in both views
        _, content = click(page, links[label], received, lambda i: page.evaluate(turn, i), i)
        assert content == expected[label], f"click {i} gave another {label}"


def files_of_run(query: dict[str, str]) -> dict[str, bytes]:
    """What the files of this run must be, by label: the run is made here once more."""
    settings, _ = link.read(ExploreSettings(), query)
    spec = settings.spec({})
    run = Run(spec).advance_all()
    columns = {
        "chain": np.repeat(np.arange(spec.chains), spec.draws),
        "draw": np.tile(np.arange(spec.draws), spec.chains),
    }
    columns |= {name: run.get(name).ravel() for name in run.names if name not in run.target.presentation.derived}
    return {"Settings": spec.to_json().encode(), "CSV": pd.DataFrame(columns).to_csv(index=False).encode()}


def test_on_compare_each_click_gives_the_table_of_its_cost(page: Page, serve: Servers) -> None:
    """While two costs take turns. The file's name says whose cost it has."""
    received = frames(page)
    where = {"target": "gmm", "samplers": "hmc,mahmc", "budget": 48_000, "replicates": 2}
    open_page(page, address(serve, "compare", where), "Compare")
    press(page, "Run")
    says(page, "Finished: ")
    settled(page)
    open_files(page)
    node = file(page, "CSV").element_handle()
    settings, _ = link.read(CompareSettings(), query(page))
    found = settings.comparison({}).advance_all()
    expected = {f"gmm-q-per-{cost}-seed0.csv": tables.table([found], "csv", cost=cost).encode()
                for cost in ("leapfrogs", "gradients")}  # fmt: skip
    costs = ("gradients really evaluated", "leapfrogs, the paper's measure")
    seen = set()
    for i in range(40):
        name, content = click(page, node, received, lambda i: choose(page, "Cost", costs[i % 2]), i)
        assert content == expected[name]
        seen.add(name)
    assert seen == set(expected)


def test_on_checks_each_click_gives_the_whole_report(page: Page, serve: Servers) -> None:
    """While two cells are chosen by turns. Reports differ in the link, which has the cell, and in the time."""
    received = frames(page)
    open_page(page, address(serve, "checks", {"budget": 0.02}), "Checks")
    page.get_by_role("button", name="Check this cell").click()
    cell_is(page, "naive", "gmm", "wrong")
    says(page, "Finished: ")
    settled(page)
    open_files(page)
    node = file(page, "Report").element_handle()
    _, content = click_at_rest(page, node)
    expected = without_link_and_time(content)
    assert expected.count("<details>") == 1
    assert "✕ wrong" in expected
    assert expected.rstrip().endswith("</html>")
    assert cell(page, "mala", "gmm").count() == 1
    turn = """i => document.querySelector(`[data-cell='["${["mala", "naive"][i % 2]}","gmm"]']`).click()"""
    cells = set()
    for i in range(20):
        _, content = click(page, node, received, lambda i: page.evaluate(turn, i), i)
        assert without_link_and_time(content) == expected
        cells.add(b"cell=mala.gmm" in content)
    assert cells == {True, False}


def click_at_rest(page: Page, node: ElementHandle) -> tuple[str, bytes]:
    with page.expect_download() as found:
        node.click()
    return found.value.suggested_filename, Path(found.value.path()).read_bytes()


def without_link_and_time(report: bytes) -> str:
    return re.sub(r"<tr><th>(Link|Made)</th>.*?</tr>", "", report.decode())
