"""What the guides say works: their code blocks are run, in order, as one program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mahmc.targets import FAMILIES

DOCS = Path(__file__).parent.parent / "docs"


GUIDES = [path for path in sorted(DOCS.glob("*.md")) if "```python" in path.read_text()]


def test_the_guide_is_among_them() -> None:
    assert "own-target.md" in [path.name for path in GUIDES]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_code_blocks_run(guide: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = dict(FAMILIES)
    text = guide.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {"__name__": guide.stem}
    try:
        for number, block in enumerate(blocks):
            path = tmp_path / f"block_{number}.py"
            path.write_text(block)
            exec(compile(block, str(path), "exec"), names)
    finally:
        FAMILIES.clear()
        FAMILIES.update(before)
    assert "Right" in capsys.readouterr().out


def test_the_guide_is_short_and_its_first_target_thirty_lines() -> None:
    text = (DOCS / "own-target.md").read_text()
    assert len(text.splitlines()) <= 120
    first = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    assert len(first.splitlines()) <= 30
