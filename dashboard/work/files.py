"""Results as files, made on request and sent in pieces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.work.runs import RunResult
from mahmc import Run, RunSpec

CSV_ROWS = 200_000  # longer tables are Parquet, which has a tenth of the size
ROWS_AT_ONCE = 20_000
BYTES_AT_ONCE = 2**18


class File(NamedTuple):
    """A file for download. `make` gives its bytes in pieces."""

    name: str
    label: str
    help: str
    make: Callable[[], Iterator[bytes]]
    media: str = "application/octet-stream"


def stem(spec: RunSpec, quantity: str = "") -> str:
    """The beginning of the names of a run's files: "mdc-hmc-seed0", or "mdc-hmc-seed0-u" for one quantity."""
    return "-".join(filter(None, [spec.target, spec.sampler, f"seed{spec.seed}", quantity]))


def of_run(result: RunResult) -> list[File]:
    """The files of a run: all draws in two forms, the data of its histogram, and its settings."""
    run, spec = result.run, result.spec
    if run is None or not result.drawn:
        return []
    name = stem(spec)
    rows = spec.chains * result.drawn
    one_row = f"One row for each draw, {rows:,} rows"
    table = (
        File(f"{name}.csv", "CSV", one_row, lambda: csv(result), "text/csv")
        if rows <= CSV_ROWS
        else File(f"{name}.parquet", "Parquet", f"{one_row}. A CSV file would be large.", lambda: parquet(result))
    )
    return [
        File(f"{name}.nc", "NetCDF", "All draws and the settings, for ArviZ", lambda: netcdf(run)),
        table,
        File(f"{name}-density.csv", "Figure's data", "Histogram and true density", lambda: density(result), "text/csv"),
        File(f"{name}.json", "Settings", "The settings of this run", lambda: _text(spec.to_json()), "application/json"),
    ]


def _text(text: str) -> Iterator[bytes]:
    yield text.encode()


def text_file(name: str, label: str, help: str, make: Callable[[], str], media: str = "text/plain") -> File:
    """A file that is one text."""
    return File(name, label, help, lambda: _text(make()), media)


def _from_disk(write: Callable[[Path], object], ending: str) -> Iterator[bytes]:
    """The bytes that `write` puts into a temporary file, in pieces."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        write(path)
        with path.open("rb") as file:
            while piece := file.read(BYTES_AT_ONCE):
                yield piece


def netcdf(run: Run) -> Iterator[bytes]:
    """The run as a NetCDF file."""
    return _from_disk(run.to_netcdf, ".nc")


def _columns(result: RunResult) -> Mapping[str, np.ndarray]:
    """Every recorded scalar, (chains, draws)."""
    return {name: result.get(name) for name in result.names if name not in result.target.presentation.derived}


def csv(result: RunResult) -> Iterator[bytes]:
    """One row for each draw: chain, draw, and every recorded scalar."""
    columns = _columns(result)
    for chain in range(result.spec.chains):
        for first in range(0, result.drawn, ROWS_AT_ONCE):
            part = slice(first, min(first + ROWS_AT_ONCE, result.drawn))
            frame = pd.DataFrame({"chain": chain, "draw": np.arange(part.start, part.stop)}
                                 | {name: x[chain, part] for name, x in columns.items()})  # fmt: skip
            yield frame.to_csv(index=False, header=not chain and not first).encode()


def parquet(result: RunResult) -> Iterator[bytes]:
    """The same table as a Parquet file."""
    chains = np.arange(result.spec.chains)
    columns = {"chain": np.repeat(chains, result.drawn), "draw": np.tile(np.arange(result.drawn), chains.size)}
    columns |= {name: x.ravel() for name, x in _columns(result).items()}
    return _from_disk(lambda path: pd.DataFrame(columns).to_parquet(path, index=False), ".parquet")


def density(result: RunResult) -> Iterator[bytes]:
    """The histogram of the target's main quantity beside the true density, as CSV."""
    name = result.target.presentation.main_quantity
    x, truth = result.get(name), result.target.truth.of(name)
    low, high = truth.support if truth else np.quantile(x, [0.001, 0.999])
    edges = np.linspace(low, high, 61)
    seen, _ = np.histogram(x, edges)
    centres = (edges[1:] + edges[:-1]) / 2
    frame = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "density": seen / (x.size * np.diff(edges))})
    if truth:
        frame[truth.source] = truth.density(centres)
    return _text(frame.to_csv(index=False))
