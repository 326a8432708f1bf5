"""The pictures in README.md: the pages of the dashboard, and Explore as a moving picture.

    python -m benchmarks.pictures [explore] [compare] [checks]

Writes docs/explore.webp, docs/compare.png and docs/checks.png, or only the pictures that are named. Explore shows a
real run: a frame is taken whenever the page reports more draws. The picture plays faster than the run was.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize

from benchmarks.served import ROOT, chromium, dashboard
from mahmc import RunSpec

DOCS = ROOT / "docs"
# So few draws kept of so many iterations that the run takes half a minute and the histogram grows visibly.
EXPLORE = RunSpec.of("gmm", "mahmc", chains=4, draws=500, warmup=15, thin=80_000)
SIZE, STILL_SIZE = ViewportSize(width=1240, height=778), ViewportSize(width=1400, height=1000)  # of the window
WIDTH = 900  # of the moving picture
FRAMES = 48  # of the run, at most; the last frame is shown longer
MILLISECONDS, LAST_MILLISECONDS = 120, 2_000
COLOURS = 192  # of the pictures that stand still
STATUS = "document.querySelector('.live-status-text')?.textContent ?? ''"


def main() -> None:
    """Serve the dashboard, and take the pictures."""
    pictures: dict[str, Callable[[Browser, str], Path]] = {"explore": explore, "compare": compare, "checks": checks}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", metavar="picture", help=f"some of {', '.join(pictures)}")
    chosen = parser.parse_args().pictures or list(pictures)
    with dashboard() as address, chromium() as browser:
        for name in chosen:
            path = pictures[name](browser, address)
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


def explore(browser: Browser, address: str) -> Path:
    """Explore while MAHMC runs on a Gaussian mixture."""
    page = _opened(browser, f"{address}/explore?{EXPLORE.to_query()}", "Run", SIZE)
    page.wait_for_function(f"({STATUS}).startsWith('Drawing')", timeout=120_000)
    before, frames = page.evaluate(STATUS), [_frame(page)]
    while not before.startswith("Finished"):
        page.wait_for_function(f"before => ({STATUS}) !== before", arg=before, timeout=120_000)
        page.wait_for_timeout(150)  # until the charts have the draws that the status line reports
        before = page.evaluate(STATUS)
        frames.append(_frame(page))
    page.wait_for_timeout(1_000)
    frames.append(_frame(page))
    page.close()
    return _moving(frames, DOCS / "explore.webp")


def compare(browser: Browser, address: str) -> Path:
    """Compare with the paper's five samplers on MDC."""
    page = _opened(browser, f"{address}/compare", "Run", STILL_SIZE)
    return _still(page, DOCS / "compare.png")


def checks(browser: Browser, address: str) -> Path:
    """The whole matrix of Checks."""
    page = _opened(browser, f"{address}/checks", "Run all", STILL_SIZE)
    return _still(page, DOCS / "checks.png")


def _opened(browser: Browser, address: str, button: str, size: ViewportSize) -> Page:
    """A page whose work has just begun."""
    page = browser.new_page(viewport=size, color_scheme="light")
    page.goto(address)
    page.wait_for_timeout(5_000)  # until everything that loads in the background is there
    page.get_by_test_id("stMain").get_by_role("button", name=button, exact=True).click(timeout=60_000)
    page.mouse.move(size["width"] - 10, size["height"] // 2)
    page.evaluate("document.activeElement?.blur()")
    return page


def _still(page: Page, path: Path) -> Path:
    """A picture of a page whose work is done."""
    page.get_by_text(re.compile("^Finished: ")).wait_for(timeout=1_800_000)
    page.wait_for_timeout(2_000)
    picture = _shot(page).quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
    page.close()
    return path


def _shot(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _frame(page: Page) -> Image.Image:
    return _shot(page).resize((WIDTH, SIZE["height"] * WIDTH // SIZE["width"]), Image.Resampling.LANCZOS)


def _moving(frames: list[Image.Image], path: Path) -> Path:
    """An animated picture of some of these frames, and the last."""
    *running, last = frames
    count = min(FRAMES, len(running))
    first, *rest = [*(running[i * len(running) // count] for i in range(count)), last]
    duration = [MILLISECONDS] * len(rest) + [LAST_MILLISECONDS]
    first.save(path, save_all=True, append_images=rest, duration=duration, loop=0, quality=85, method=6)
    return path


if __name__ == "__main__":
    main()
