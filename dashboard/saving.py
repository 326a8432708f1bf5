"""Sharing and saving: the link, the program that makes the same run, and downloads."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.session import Session
from dashboard.uploads import TARGET, Upload
from mahmc import Run, RunSpec
from mahmc.run import memory_needed
from mahmc.targets import FAMILIES, Target

CSV_ROWS = 200_000  # beyond that Parquet, which is a tenth of the size


def panel(tab: Session, spec: RunSpec | None, busy: bool) -> None:
    """The link, the code, and downloads: those not while the page is busy.

    A refresh gives Streamlit's buttons new files to ask for and forgets the old ones, so a click in its midst fails.
    """
    if spec is None:
        return
    with st.expander("Share and download", icon=":material/share:", key="saving"):
        st.caption(
            "This link, seed included, brings back these controls; Run then gives the same draws, bit for bit."
            + (" Your data are not part of it." if spec.data else "")
        )
        st.code("?" + urlencode(controls.link(spec, tab.choices)), language=None, wrap_lines=True)
        st.caption("The same run in Python:")
        shown, target = (tab.job.spec, tab.job.target) if tab.job else (spec, tab.target(spec))
        st.code(snippet(shown, target, tab.uploads.get(shown.data)), language="python", wrap_lines=True)
        if tab.job is not None and tab.job.run is not None and not busy and tab.job.drawn:
            _downloads(tab.job.run)
        else:
            st.caption("Downloads appear here when a run has ended and its estimates are there.")


def snippet(spec: RunSpec, target: Target, upload: Upload | None = None) -> str:
    """The program that makes this run. Of a file only the name is told, not where it lies."""
    file = Path(FAMILIES[spec.target].file).name
    load = f"mahmc.load_targets({file!r})  # where this target is written\n" if file else ""
    imports = "import mahmc\n"
    if upload is not None:
        imports = "from pathlib import Path\n\nimport mahmc\nfrom mahmc import tabular\n"
        settings = "".join(f", {name}={value!r}" for name, value in spec.settings)
        load = (
            f"table = tabular.read(Path({upload.file!r}).read_bytes())  # your file\n"
            f"X, y, names = tabular.design(table, {upload.column!r})\n"
            f"target = mahmc.targets.{TARGET}(X, y{settings})\n"
        )
    shown = f"print(run.acceptance, run.ess({target.paper_quantity!r}))"
    return f"{imports}\n{load}{spec.to_python()}\n{shown}\n"


def _downloads(run: Run) -> None:
    stem = f"{run.spec.target}-{run.spec.sampler}-{run.spec.seed}"
    rows = run.spec.chains * (run.done - run.spec.warmup)
    kind = "csv" if rows <= CSV_ROWS else "parquet"
    long = f", {rows:,} rows" + (": Parquet, as CSV would be long" if kind == "parquet" else "")
    files: list[tuple[str, Callable[[], bytes], str, str]] = [
        ("NetCDF", lambda: netcdf(run), f"{stem}.nc", "All draws and the settings, for ArviZ"),
        (kind.capitalize() if kind == "parquet" else "CSV", lambda: table(run, kind), f"{stem}.{kind}",
         f"One row a draw{long}"),
        ("Figure's data", lambda: figure_data(run), f"{stem}-density.csv", "Histogram and true density"),
        ("Settings", lambda: run.spec.to_json().encode(), f"{stem}.json", "The run's settings as JSON"),
    ]  # fmt: skip
    with st.container(horizontal=True):
        for label, make, name, text in files:
            st.download_button(label, make, name, on_click="ignore", icon=":material/download:", help=text)
    st.caption(f"Draws take {memory_needed(run.spec, run.target) / 2**20:.1f} MiB in memory.")


def netcdf(run: Run) -> bytes:
    """The run as a NetCDF file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.nc"
        run.to_netcdf(path)
        return path.read_bytes()


def table(run: Run, kind: str) -> bytes:
    """One row a draw: chain, draw, and every recorded scalar."""
    drawn = run.done - run.spec.warmup
    columns: dict[str, np.ndarray] = {
        "chain": np.repeat(np.arange(run.spec.chains), drawn),
        "draw": np.tile(np.arange(drawn), run.spec.chains),
    }
    columns |= {name: run.get(name).ravel() for name in run.names if name not in run.target.derived}
    frame = pd.DataFrame(columns)
    if kind == "csv":
        return frame.to_csv(index=False).encode()
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def figure_data(run: Run) -> bytes:
    """The histogram of the paper's quantity beside the true density, as CSV."""
    name = run.target.paper_quantity
    x, truth = run.get(name), run.target.truth(name)
    low, high = truth.support if truth else np.quantile(x, [0.001, 0.999])
    edges = np.linspace(low, high, 61)
    seen, _ = np.histogram(x, edges)
    centres = (edges[1:] + edges[:-1]) / 2
    frame = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "density": seen / (x.size * np.diff(edges))})
    if truth:
        frame[truth.source] = truth.density(centres)
    return frame.to_csv(index=False).encode()
