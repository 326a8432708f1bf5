"""What the guides say works: their code blocks are run, in order, as one program."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

import mahmc

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = (*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md")))
GUIDES = [path for path in PAGES if "```python" in path.read_text()]


def test_readme_and_guide_are_among_them() -> None:
    assert {"README.md", "custom-target.md"} <= {path.name for path in GUIDES}


@pytest.mark.usefixtures("families_as_before")
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_code_blocks_run(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand, but that comparisons and checks without a budget of their own take a small one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mahmc, "compare", partial(mahmc.compare, gradients=160_000, replicates=2))
    monkeypatch.setattr(mahmc, "check", partial(mahmc.check, budget=0.05))
    monkeypatch.setattr(mahmc, "check_sampler", partial(mahmc.check_sampler, budget=0.05))
    names: dict[str, object] = {"__name__": guide.stem}
    for number, block in enumerate(blocks(guide)):
        path = tmp_path / f"block_{number}.py"
        path.write_text(block)
        exec(compile(block, str(path), "exec"), names)


def blocks(guide: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.MULTILINE | re.DOTALL)


def test_readme_has_at_most_1500_words() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1500


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    assert [link for link in links if not link.startswith("http") and not (page.parent / link).is_file()] == []


def test_the_guide_is_short_and_its_first_target_thirty_lines() -> None:
    text = (DOCS / "custom-target.md").read_text()
    assert len(text.splitlines()) <= 120
    first = blocks(DOCS / "custom-target.md")[0]
    assert len(first.splitlines()) <= 30
