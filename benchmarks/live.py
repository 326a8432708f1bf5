"""How much of the bare engine's speed is left under a live page.

    python -m benchmarks.live [--rounds 3]

Each round runs the same spec three times: bare, in a process of its own; under the page, refreshed twice a second but
shown nowhere, as if the browser were on another machine; and under the page in headless Chromium on the same cores,
where drawing competes with sampling. Prints ratios of leapfrogs per second, updates per second, and the largest message
that an update sends.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from typing import Any

from playwright.sync_api import Page, Response

from benchmarks.served import ROOT, chromium, dashboard
from dashboard.views.view import SECONDS
from mahmc import RunSpec

SETTLE = 4  # seconds after opening, for what a server loads in the background when it is new
# How often the line changes that says how far the run is.
COUNT_UPDATES = """
    window.updates = 0; let before = "";
    setInterval(() => {
        const text = document.querySelector(".live-status-text")?.textContent ?? "";
        if (text !== before && text.startsWith("Drawing")) window.updates++;
        before = text;
    }, 50);
"""
# In milliseconds: until the page has its heading, and from a press of the button to the frame that has the first point.
# Playwright itself looks only every half a second.
TIME_WHAT_A_PERSON_SEES = """
    const seen = (isThere, since) => new Promise((resolve) => {
        const look = () => isThere() ? resolve(performance.now() - since) : requestAnimationFrame(look);
        look();
    });
    window.untilHeading = seen(() => document.querySelector("h1")?.textContent.includes("Explore"), 0);
    const point = () => document.querySelector(".live-chart").querySelector(".trace path");
    window.untilPoint = new Promise((resolve) => addEventListener("pointerdown", (press) => resolve(
        seen(() => point()?.getBoundingClientRect().width > 0, press.timeStamp)
    ), {capture: true, once: true}));
"""
SPECS = {
    "MDC, mahmc": RunSpec.of("mdc", "mahmc", draws=200_000, warmup=20_000, thin=15),
    "BLR, mahmc": RunSpec.of("blr", "mahmc", draws=15_000, warmup=1_500, thin=10),
}


def main() -> None:
    """Measure several rounds, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with dashboard() as address:
        print(feel(address), "\n")
        titles = ("run", "view", "bare, leapfrogs/s", "live, browser elsewhere", "browser here", "updates/s",
                  "largest update, kB")  # fmt: skip
        print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
        for name, spec in SPECS.items():
            for view in ("simple", "full"):
                rows = [(bare(spec), refreshed(spec, view), *live(spec, view, address)) for _ in range(rounds)]
                elsewhere, here = (statistics.median(row[i] / row[0] for row in rows) for i in (1, 2))
                speed, updates, size = (statistics.median(row[i] for row in rows) for i in (0, 3, 4))
                print(
                    f"| {name} | {view} | {speed:.2g} | **{elsewhere:.2f}** | {here:.2f} | {updates:.1f} | "
                    f"{size / 1e3:.0f} |",
                    flush=True,
                )


def feel(server: str) -> str:
    """How long a person waits: for a page of a server just started, for the next, and from Run to the first point."""
    address = f"{server}/explore?{RunSpec.of('mdc', 'mahmc', draws=200_000).to_query()}"
    with chromium() as browser:
        paints, ready, points = [], [], []
        for _ in range(3):
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.add_init_script(TIME_WHAT_A_PERSON_SEES)
            begin = time.monotonic()
            page.goto(address)
            paints.append(page.evaluate("window.untilHeading") / 1000)
            run = page.get_by_test_id("stSidebarUserContent").get_by_role("button", name="Run")
            run.wait_for(timeout=60_000)
            ready.append(time.monotonic() - begin)
            page.wait_for_timeout(1000 * SETTLE)
            run.click()
            points.append(page.evaluate("window.untilPoint") / 1000)
            page.close()
    first, *later = paints
    return (
        f"First paint {first:.2f} s on a server just started, {_listed(later)} s later on; "
        f"all controls after {ready[0]:.1f}, then {min(ready[1:]):.1f} to {max(ready[1:]):.1f} s; "
        f"from Run to the first live point {_listed(points)} s."
    )


def _listed(seconds: list[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in seconds)


def bare(spec: RunSpec) -> float:
    """Leapfrogs a second of the engine alone, in a process of its own."""
    program = (
        "import mahmc, sys\nspec = mahmc.RunSpec.from_json(sys.argv[1])\n"
        "mahmc.Run(spec.with_(draws=1, warmup=0)).advance_all()\n"
        "print(mahmc.Run(spec).advance_all().progress.leapfrogs_per_second)"
    )
    command = [sys.executable, "-c", program, spec.to_json()]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def refreshed(spec: RunSpec, view: str) -> float:
    """Leapfrogs a second while the page's changes are requested as often as by a browser, and not drawn."""
    program = f"""
import json, sys, time
from urllib.parse import parse_qsl
from streamlit.testing.v1 import AppTest
from dashboard.pages import page
page.navigation_called.set()
app = AppTest.from_file({str(ROOT / "pages" / "explore.py")!r}, default_timeout=60)
for name, value in parse_qsl(sys.argv[1]):
    app.query_params[name] = value
app.run()
time.sleep({SETTLE})
next(button for button in app.button if button.label == "Run").click().run()
screen, last = app.session_state["screen"], 0
job, mark = screen.tab.jobs["explore"], screen.view("explore").mark
while job.alive:
    begin = time.monotonic()
    view = screen.view("explore")
    if view.mark != mark:
        app.run()
        mark = view.mark
    changes = screen.cache("explore").changes(view, last)
    last = json.loads(changes[4 : 4 + int.from_bytes(changes[:4], "little")])["last"]
    time.sleep(max(0.0, {SECONDS} - time.monotonic() + begin))
print(job.work.run.progress.leapfrogs_per_second)
"""
    command = [sys.executable, "-c", program, f"{spec.to_query()}&view={view}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return float(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout)


def live(spec: RunSpec, view: str, server: str) -> tuple[float, float, float]:
    """Leapfrogs a second under the page, updates a second, and the largest update in bytes."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        sizes: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
        page.on("response", lambda response: sizes.append(_sent(response)))
        page.goto(f"{server}/explore?{spec.to_query()}&view={view}")
        page.wait_for_timeout(1000 * SETTLE)
        return _run_once(page, spec, sizes)


def _sent(response: Response) -> int:
    """Bytes of the page's changes. Files that are loaded once, such as Plotly, do not count."""
    return int(response.headers.get("content-length", 0)) if "/live/" in response.url else 0


def _run_once(page: Page, spec: RunSpec, sizes: list[int]) -> tuple[float, float, float]:
    run = page.get_by_test_id("stSidebarUserContent").get_by_role("button", name="Run")
    run.wait_for(timeout=60_000)
    sizes.clear()
    page.evaluate(COUNT_UPDATES)
    run.click()
    status: Any = page.get_by_text(re.compile("Finished: .* in "))
    status.wait_for(timeout=600_000)
    found = re.search(r"in ([\d.]+) (s|min)", status.inner_text())
    assert found, status.inner_text()
    seconds = float(found[1]) * (60 if found[2] == "min" else 1)
    updates = page.evaluate("window.updates")
    leapfrogs = spec.slots * spec.chains * spec.leapfrogs_per_draw
    return leapfrogs / seconds, updates / seconds, max(sizes)


if __name__ == "__main__":
    main()
