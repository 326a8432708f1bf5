"""Serve the dashboard: `python -m dashboard [--targets FILE.py] [--samplers FILE.py[:NAME]] [Streamlit's options]`.

Like `streamlit run app.py`, but what pages need is imported before the first visitor comes, not while they wait, and
custom targets and samplers are loaded: from files that are named here, by whoever starts the server, and never by a
visitor.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from streamlit.web import cli

import dashboard.pages.checks
import dashboard.pages.compare
import dashboard.pages.explore
import dashboard.pages.overview  # noqa: F401
from dashboard.work.estimates import preload
from mahmc import InvalidInput, load_targets
from mahmc.cli.compiling import compile_for
from mahmc.own.samplers import load_samplers


def main(arguments: list[str]) -> int:
    """Load, and serve until stopped; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboard", add_help=False, allow_abbrev=False)
    parser.add_argument("--targets", action="append", default=[])
    parser.add_argument("--samplers", action="append", default=[])
    own, rest = parser.parse_known_args(arguments)
    print("Loading what the pages need …", flush=True)
    try:
        for file in own.targets:
            for family in load_targets(file):
                family.build()  # which checks it
                print(f"{family.name}: {family.title}, from {file}", flush=True)
                compile_for(family.name)  # nothing of it is kept on disk
        for where in own.samplers:
            print(f"On Checks: {', '.join(load_samplers(where))}, from {where}", flush=True)
    except InvalidInput as refusal:
        print(f"mahmc: {refusal}", file=sys.stderr)
        return 2
    preload().join()
    gc.collect()
    gc.freeze()  # what was imported stays: Python need not go through it again, which holds everybody up for 0.2 s
    sys.argv = ["streamlit", "run", str(Path(__file__).parent.parent / "app.py"), *rest]
    return cli.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
