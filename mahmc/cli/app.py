"""`mahmc app`: serve the dashboard."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from mahmc.cli.exits import STOPPED
from mahmc.custom import load_targets
from mahmc.custom.samplers import load_samplers
from mahmc.parameters import InvalidInput, Parameter

ENGINE = Path(__file__).parents[1]
PORT = Parameter("port", "", "Port", "Where the dashboard listens.", kind="int", low=1, high=65535, default=8501)


def add(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "app", help="serve the dashboard", description=serve.__doc__, usage="mahmc app [OPTION ...]"
    )
    text = "also offer the custom targets of this file"
    parser.add_argument("--targets", metavar="FILE.py", type=Path, action="append", default=[], help=text)
    text = "also offer these samplers on the page Checks"
    parser.add_argument("--samplers", metavar="FILE.py[:NAME]", action="append", default=[], help=text)
    parser.add_argument("--port", metavar="INT", help=f"the port of the dashboard (default: {PORT.default})")
    parser.set_defaults(command=serve, parser=parser)


def serve(options: argparse.Namespace) -> int:
    """Serve the dashboard. Custom targets and samplers are loaded only from the files named here."""
    port = PORT.default if options.port is None else PORT.parse(options.port)
    for path in options.targets:
        load_targets(path)  # so that mistakes are reported at once
    for where in options.samplers:
        load_samplers(where)
    files = [part for path in options.targets for part in ("--targets", str(path))]
    files += [part for where in options.samplers for part in ("--samplers", where)]
    dashboard = _dashboard()
    before = signal.signal(signal.SIGINT, _stop)
    try:
        return int(dashboard([*files, "--server.port", str(port)]))
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(*_: object) -> NoReturn:
    """Exit after Ctrl-C, when the server has shut down. A KeyboardInterrupt would end with Streamlit's exit code 1."""
    raise SystemExit(STOPPED)


def folder() -> Path:
    """The folder with app.py: in a wheel a folder of the engine, otherwise the top of a checkout."""
    installed = ENGINE / "app"
    return installed if installed.is_dir() else ENGINE.parent


def _dashboard() -> Any:
    """The function that serves the dashboard, imported in this process so that a signal reaches the server."""
    sys.path.insert(0, str(folder()))
    try:
        return import_module("dashboard.__main__").main
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name in ("mahmc", "dashboard", ""):
            raise
        raise InvalidInput(
            f'the dashboard needs {name}, which is not installed: run {sys.executable} -m pip install "mahmc[app]"'
        ) from None
