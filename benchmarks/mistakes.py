"""Which target of the battery catches which classic mistake, and with how many draws: the table in docs/any-sampler.md.

For each mistake and each target where the mistake can be made, the smallest budget at which `mahmc.check_sampler` says
*wrong* with every seed. At a budget of one there are 256 long chains of 2000 iterations, and 16 384 exact draws that
are moved three times. Of a mistake that is not seen at the largest budget, the table has the verdict
and the smallest error in a probability that would have been caught.

Usage, from the repository's folder: `python -m benchmarks.mistakes [--seeds 5] [--mistakes A,B] [--targets gmm,mdc]`
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from typing import NamedTuple

from mahmc.checks import Cell, Checking, Verdict
from mahmc.checks.matrix import case_of, step_cell
from mahmc.parameters import InvalidInput
from tests.support.classic_mistakes import MISTAKES, PROBLEMS, Mistake, Problem

BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class Entry(NamedTuple):
    """One cell of the table."""

    text: str
    seconds: float


def checked(mistake: Mistake, problem: Problem, budget: float, seed: int, right: bool = False) -> Cell:
    """All checks of a mistake (or of its right version), until one says wrong."""
    case, target = case_of(problem.name, problem.settings)
    cell = step_cell((mistake.right if right else mistake.wrong)(problem), case, target, mistake.name)
    for _ in Checking([cell], budget, seed=seed):
        if cell.verdict is Verdict.WRONG:
            break
    return cell


def smallest_budget(mistake: Mistake, problem: Problem, seeds: int) -> Entry:
    """The smallest budget at which every seed says wrong, in words."""
    begin = time.perf_counter()
    for budget in BUDGETS:
        cells = []
        for seed in range(seeds):
            try:
                cells.append(checked(mistake, problem, budget, seed))
            except InvalidInput:  # the first try has seen it already
                return Entry("refused", time.perf_counter() - begin)
            if cells[-1].verdict is not Verdict.WRONG:
                break
        else:
            return Entry(f"{budget:g}", time.perf_counter() - begin)
    said = cells[-1]
    if any(cell.verdict is Verdict.WRONG for cell in cells):
        return Entry(f"sometimes at {BUDGETS[-1]:g}", time.perf_counter() - begin)
    caught = re.search(r"([\d.e-]+) in a probability", said.findings["marginals"].catches)
    size = f", {caught[1]}" if caught else ""
    return Entry(f"not seen at {BUDGETS[-1]:g} ({said.verdict}{size})", time.perf_counter() - begin)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown, a line at a time."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--mistakes", default=",".join(MISTAKES))
    parser.add_argument("--targets", default=",".join(PROBLEMS))
    options = parser.parse_args(arguments)
    names = options.targets.split(",")
    problems = {name: PROBLEMS[name]() for name in names}
    print(f"| mistake | {' | '.join(names)} |\n|---|{'---|' * len(names)}", flush=True)
    for name in options.mistakes.split(","):
        mistake, cells = MISTAKES[name], []
        for problem in problems.values():
            entry = smallest_budget(mistake, problem, options.seeds) if mistake.applies(problem) else Entry("–", 0.0)
            cells.append(entry.text)
            print(f"  {name} on {problem.name}: {entry.text} ({entry.seconds:.0f} s)", flush=True)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
