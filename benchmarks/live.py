"""How much of the bare engine's speed is left under a live page, on the same machine, the browser included.

    python benchmarks/live.py [--rounds 3]

Each round runs the same spec bare in a process of its own, and then through the dashboard in headless Chromium, whose
status line says how long sampling took. Prints the ratio of leapfrogs per second, updates per second, and the size of
the messages that an update sends.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from mahmc import RunSpec

ROOT = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SPECS = {
    "MDC, mahmc": RunSpec.of("mdc", "mahmc", draws=200_000, warmup=20_000),
    "BLR, mahmc": RunSpec.of("blr", "mahmc", draws=15_000, warmup=1_500),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    port = _free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait(port)
        print("| run | view | bare, leapfrogs/s | live | ratio | updates/s | kB an update, at most |")
        print("|---|---|---|---|---|---|---|")
        for name, spec in SPECS.items():
            for view in ("simple", "full"):
                rows = [(bare(spec), *live(spec, view, port)) for _ in range(rounds)]
                ratio = statistics.median(row[1] / row[0] for row in rows)
                a, b, updates, size = (statistics.median(row[i] for row in rows) for i in range(4))
                print(
                    f"| {name} | {view} | {a:.2g} | {b:.2g} | **{ratio:.2f}** | {updates:.1f} | {size / 1e3:.0f} |",
                    flush=True,
                )
    finally:
        server.kill()
        server.wait()


def bare(spec: RunSpec) -> float:
    """Leapfrogs a second of the engine alone, in a process of its own."""
    program = (
        "import mahmc, sys\nspec = mahmc.RunSpec.from_json(sys.argv[1])\n"
        "mahmc.Run(spec.with_(draws=1, warmup=0)).advance_all()\n"
        "print(mahmc.Run(spec).advance_all().progress.leapfrogs_per_second)"
    )
    command = [sys.executable, "-c", program, spec.to_json()]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def live(spec: RunSpec, view: str, port: int) -> tuple[float, float, float]:
    """Leapfrogs a second under the page, updates a second, and the largest update in bytes."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS
        )
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        sizes: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
        page.goto(f"http://localhost:{port}/explore?{spec.to_query()}&view={view}")
        result = _run_once(page, spec, sizes)
        browser.close()
    return result


def _run_once(page: Page, spec: RunSpec, sizes: list[int]) -> tuple[float, float, float]:
    run = page.get_by_test_id("stSidebarUserContent").get_by_role("button", name="Run")
    run.wait_for(timeout=60_000)
    sizes.clear()
    run.click()
    status: Any = page.get_by_text(re.compile("Finished: .* in "))
    status.wait_for(timeout=600_000)
    seconds = float(re.search(r"in ([\d.]+) (s|min)", status.inner_text()).group(1))  # type: ignore[union-attr]
    updates = sum(size > 10_000 for size in sizes) / (2 if "simple" in page.url else 5)
    leapfrogs = spec.slots * spec.chains * spec.leapfrogs_per_draw
    return leapfrogs / seconds, updates / seconds, max(sizes)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            with urlopen(f"http://localhost:{port}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the dashboard did not start")


if __name__ == "__main__":
    main()
