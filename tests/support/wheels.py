"""Building the wheel and the source archive, as whoever releases them does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(source: Path, folder: Path, *options: str) -> list[Path]:
    """What is built from a source tree into a folder: by default a source archive and a wheel; `-t wheel` for one."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(folder.iterdir())
