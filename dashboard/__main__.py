"""Serve the dashboard: `python -m dashboard [--targets FILE.py] [--samplers FILE.py[:NAME]] [Streamlit's options]`.

Like `streamlit run app.py`, with two differences. Packages that pages need are imported before the first visitor comes.
Custom targets and samplers are loaded from files: only the person who starts the server can name these files.
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
from mahmc.custom.samplers import load_samplers


def main(arguments: list[str]) -> int:
    """Load, and serve until stopped; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboard", add_help=False, allow_abbrev=False)
    parser.add_argument("--targets", action="append", default=[])
    parser.add_argument("--samplers", action="append", default=[])
    given, rest = parser.parse_known_args(arguments)
    print("Loading what the pages need …", flush=True)
    try:
        for file in given.targets:
            for family in load_targets(file):
                family.build()  # raises InvalidInput if the target is wrong
                print(f"{family.name}: {family.title}, from {file}", flush=True)
                compile_for(family.name)  # now, because its machine code is not kept on disk
        for where in given.samplers:
            print(f"On Checks: {', '.join(load_samplers(where))}, from {where}", flush=True)
    except InvalidInput as refusal:
        print(f"mahmc: {refusal}", file=sys.stderr)
        return 2
    preload().join()
    gc.collect()
    gc.freeze()  # imported objects stay, so Python need not look at them in each collection, which takes 0.2 s
    sys.argv = ["streamlit", "run", str(Path(__file__).parent.parent / "app.py"), *rest]
    exit_code: int = cli.main()
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
