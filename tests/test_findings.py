"""A finding is made once: whoever comes later, in another thread too, does not replace it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from threading import Barrier, Thread

import pytest

import mahmc.checks
from dashboard.settings.checks import CheckSettings
from dashboard.work.checks import CheckResults
from mahmc.checks import CASES, Cell, Checking, Finding, Findings, Verdict, new_cell

pytestmark = pytest.mark.quick


def finding(draws: int) -> Finding:
    return Finding("a check", Verdict.RIGHT, 1.0, 1e-4, "", "", 1, draws, ())


def test_the_first_finding_stays() -> None:
    found = Findings()
    found.publish("one", finding(1), 0.5)
    found.publish("one", finding(2), 7.0)
    found.publish("two", finding(3), 0.25)
    assert [(name, made.draws) for name, made in found.items()] == [("one", 1), ("two", 3)]
    assert found.seconds == 0.75


def test_of_many_threads_one_publishes_and_all_see_the_same() -> None:
    threads, rounds = 8, 200
    for number in range(rounds):
        found, ready = Findings(), Barrier(threads)
        seen: list[int] = []

        def publish(mine: int, found: Findings = found, ready: Barrier = ready, seen: list[int] = seen) -> None:
            ready.wait()
            found.publish("one", finding(mine))
            seen.append(found["one"].draws)

        made = [Thread(target=publish, args=(number * threads + k,)) for k in range(threads)]
        for thread in made:
            thread.start()
        for thread in made:
            thread.join()
        assert len(set(seen)) == 1


def test_nothing_of_a_finding_or_a_cell_can_be_set() -> None:
    cell = new_cell(CASES["gmm"], "hmc")
    cell.findings.publish("gradient", finding(1))
    with pytest.raises(FrozenInstanceError):
        cell.findings = Findings()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        cell.findings["gradient"].verdict = Verdict.WRONG  # type: ignore[misc]
    with pytest.raises(TypeError):
        cell.findings["gradient"] = finding(2)  # type: ignore[index]


def test_a_snapshot_stays_as_it_is_and_can_be_read_while_others_publish() -> None:
    found = Findings({"one": finding(1)})
    then, names = found.snapshot(), iter(found)
    assert next(names) == "one"
    found.publish("two", finding(2))
    assert list(names) == []  # it goes over what was there when it began
    assert (list(then), list(found)) == (["one"], ["one", "two"])


class Late(Checking):
    """Checks that end only after another one has made all of them."""

    def _check(self, cell: Cell, name: str) -> Finding:
        made = super()._check(cell, name)
        if name not in cell.findings:
            Checking([cell], self.budget, seed=5).advance_all()
        return replace(made, draws=-1)


def test_a_check_that_ends_late_does_not_replace_what_was_found_meanwhile() -> None:
    cell = new_cell(CASES["gmm-overlapping"], "mala")
    Late([cell], budget=0.01).advance_all()
    assert set(cell.findings) == set(cell.checks)
    assert all(made.draws > 0 for made in cell.findings.values())


def test_results_of_a_tab_are_not_replaced_either() -> None:
    """Two lots of the same cells, as when checks are asked for again before the first ones noticed that they ended."""
    results, settings = CheckResults(), CheckSettings(budget=0.01)
    cells = [new_cell(CASES["gmm"], "hmc")]
    (first,), (second,) = results.stored(cells, settings), results.stored(cells, settings)
    second.findings.publish("gradient", finding(2))
    first.findings.publish("gradient", finding(1))
    (now,) = results.snapshot().values()
    assert now.findings["gradient"].draws == 2


EARLIER = {"Comparison": "ComparedStatistic", "Step": "CheckDone", "compare": "compare_samples"}


@pytest.mark.parametrize("old", EARLIER)
def test_earlier_names_of_checks_work_with_a_warning(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"mahmc.checks.{EARLIER[old]} now"):
        assert getattr(mahmc.checks, old) is getattr(mahmc.checks, EARLIER[old])
