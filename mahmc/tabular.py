"""A person's own data for BLR: a CSV file as bytes → a table → X and y.

    table = read(data)                          # InvalidInput if the bytes are not a table
    X, y, names = design(table, "survived")     # InvalidInput if the table cannot explain this column
    target = mahmc.targets.blr(X, y)

Every message says what is wrong, where, and what to do. This module does not guess: no column is dropped, no missing
value is replaced, no text is encoded.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mahmc.parameters import InvalidInput, choose

MOST_BYTES = 10 * 2**20
MOST_ROWS, MOST_FEATURES = 5_000, 200
FEWEST_ROWS = 10
PREVIEW = 5  # rows
INTERCEPT = "(intercept)"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "."}


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text, and the problems that prevent their use as features."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]  # by row

    @property
    def preview(self) -> tuple[tuple[str, ...], ...]:
        """The first rows."""
        return self.cells[:PREVIEW]

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of all columns; empty if there is none."""
        return tuple(problem for name in self.names if (problem := self.problem(name)))

    def problem(self, name: str) -> str:
        """The problem of a column in words; empty if there is none."""
        column = self.column(name)
        for row, cell in enumerate(column, start=1):
            if cell.lower() in _MISSING:
                return f"column {_shown(name)} has no value in row {row}: fill it in, or leave out that row or column"
            if not _NUMBER.fullmatch(cell):
                return f"column {_shown(name)} holds text, {_shown(cell)} in row {row}: encode it, or leave it out"
            if not np.isfinite(float(cell)):
                return f"column {_shown(name)} has {_shown(cell)} in row {row}, which is too large for a number"
        if len({float(cell) for cell in column}) == 1:
            return f"column {_shown(name)} is {_shown(column[0])} in every row, so it has no information: leave it out"
        return ""

    @property
    def binary(self) -> tuple[str, ...]:
        """The columns of zeros and ones. Each of them can be explained."""
        return tuple(name for name in self.names if {_value(cell) for cell in self.column(name)} == {0.0, 1.0})

    def column(self, name: str) -> list[str]:
        j = self.names.index(name)
        return [row[j] for row in self.cells]


def read(data: bytes) -> Table:
    """The table in a CSV file; InvalidInput if the bytes are not a table."""
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"the file has {len(data) / 2**20:.1f} MB; at most {MOST_BYTES // 2**20} MB can be read.")
    if b"\0" in data:
        raise InvalidInput("this is not a CSV file: it holds binary data. Save the table as CSV, in UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(f"line {line} is not UTF-8 text: save the table as CSV in UTF-8.") from None
    rows = _rows(text)
    names = _header(next(rows, []))
    cells = []
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise InvalidInput(f"there are more than {MOST_ROWS} rows: take a sample of them.")
        if len(row) != len(names):
            raise InvalidInput(
                f"row {number} has {len(row)} cells and the header {len(names)}: every row must have as many as"
                " the header, separated by commas. Put a cell with a comma into quotes."
            )
        cells.append(tuple(cell.strip() for cell in row))
    if len(cells) < FEWEST_ROWS:
        raise InvalidInput(f"there are {len(cells)} rows below the header; at least {FEWEST_ROWS} are needed.")
    return Table(names, tuple(cells))


def design(table: Table, target_column: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """X, y and the names of X's columns: all other columns, standardised, and an intercept at the end."""
    y = _labels(table, choose(target_column, table.names, "column"))
    names = [name for name in table.names if name != target_column]
    if not names:
        raise InvalidInput(
            f"{_shown(target_column)} is the only column: at least one more column is needed to explain it."
        )
    problems = [problem for name in names if (problem := table.problem(name))]
    if problems:
        more = f" (and {len(problems) - 1} more columns cannot be used)" if len(problems) > 1 else ""
        raise InvalidInput(f"{problems[0]}{more}.")
    features = np.array([[float(cell) for cell in table.column(name)] for name in names]).T
    features /= np.abs(features).max(axis=0)  # squares of very large numbers would overflow
    standardised = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([standardised, np.ones(len(y))]), y, (*names, INTERCEPT)


def _labels(table: Table, name: str) -> np.ndarray:
    cells = table.column(name)
    missing = next((row for row, cell in enumerate(cells, start=1) if cell.lower() in _MISSING), None)
    if missing is not None:
        raise InvalidInput(f"column {_shown(name)} has no value in row {missing}: every row needs a 0 or a 1.")
    values = {cell: _value(cell) for cell in cells}
    if not set(values.values()) <= {0.0, 1.0}:
        shown = ", ".join(_shown(cell) for cell in itertools.islice(values, 5)) + (", …" if len(values) > 5 else "")
        raise InvalidInput(
            f"column {_shown(name)} must hold only zeros and ones, but it holds {shown}. Choose another column."
        )
    if len(set(values.values())) == 1:
        raise InvalidInput(f"column {_shown(name)} is {_shown(cells[0])} in every row: both 0 and 1 must occur.")
    return np.array([values[cell] for cell in cells], float)


def _value(cell: str) -> float | None:
    return float(cell) if _NUMBER.fullmatch(cell) else None


def _rows(text: str) -> Iterator[list[str]]:
    """Rows of cells, without empty lines."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield row
    except csv.Error as error:
        raise InvalidInput(f"this is not a CSV file: {error} in line {reader.line_num}.") from None


def _header(row: Sequence[str]) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in row)
    if not any(names):
        raise InvalidInput("the file is empty: the first row must have the names of the columns.")
    if len(names) == 1:
        hint = next((f" They seem to be separated by {word}." for mark, word in ((";", "semicolons"), ("\t", "tabs"))
                     if mark in names[0]), "")  # fmt: skip
        raise InvalidInput(f"there is only one column: cells must be separated by commas.{hint}")
    if len(names) > MOST_FEATURES + 1:
        raise InvalidInput(
            f"there are {len(names)} columns; at most {MOST_FEATURES} and the one to explain can be used."
        )
    if all(_NUMBER.fullmatch(name) or name.lower() in _MISSING for name in names):
        raise InvalidInput("the first row holds numbers: it must be a header with the names of the columns.")
    for place, name in enumerate(names, start=1):
        if not name:
            raise InvalidInput(f"column {place} has no name in the header: give it one.")
        if name == INTERCEPT or name in names[: place - 1]:
            reason = "is the name of the column that is added" if name == INTERCEPT else "is there twice"
            raise InvalidInput(f"column {_shown(name)} {reason}: rename it.")
    return names


def _shown(text: str) -> str:
    """Somebody's text, short and on one line."""
    return repr(text if len(text) <= 30 else text[:29] + "…")
