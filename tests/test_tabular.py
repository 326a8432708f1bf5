"""A person's CSV as X and y: what is read, and one message for each thing that is wrong."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import mahmc
from mahmc import InvalidInput
from mahmc.tabular import FEWEST_ROWS, INTERCEPT, MOST_FEATURES, MOST_ROWS, Table, design, read
from tests.support.refusals import refusal_of

pytestmark = pytest.mark.quick


def table(columns: dict[str, list[object]], end: str = "\n") -> bytes:
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    return end.join(",".join(map(str, row)) for row in rows).encode() + end.encode()


def right(**changes: list[object]) -> dict[str, list[object]]:
    x = np.random.default_rng(1).normal(5.0, 3.0, 20)
    columns: dict[str, list[object]] = {"age": [float(v) for v in x], "dose": list(range(20)), "cured": [0, 1] * 10}
    return columns | changes


def test_a_right_table_is_standardised_and_gets_an_intercept() -> None:
    found = read(table(right()))
    assert found.names == ("age", "dose", "cured")
    assert len(found.preview) == 5
    assert found.problems == ()
    X, y, names = design(found, "cured")
    assert names == ("age", "dose", INTERCEPT)
    assert X.shape == (20, 3)
    assert np.allclose(X[:, :2].mean(axis=0), 0.0)
    assert np.allclose(X[:, :2].std(axis=0), 1.0)
    assert np.all(X[:, 2] == 1.0)
    assert y.tolist() == [0.0, 1.0] * 10
    run = mahmc.sample(mahmc.targets.blr(X, y), "hmc", draws=20, chains=2)
    assert run.draws["beta"].shape == (2, 20, 3)


def test_columns_that_can_be_explained() -> None:
    columns = right(all_one=[1] * 20, text=["a"] * 20, also=["1.0", "0"] * 10, gap=["", 1] * 10)
    assert read(table(columns)).binary == ("cured", "also")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_marks_of_order_quotes_and_empty_lines(end: str) -> None:
    data = b"\xef\xbb\xbf" + table(right(), end) + end.encode() * 3
    assert read(data).names == ("age", "dose", "cured")
    quoted = data.replace(b"age", b'"age, in ""years"""')
    assert read(quoted).names[0] == 'age, in "years"'


def test_the_breast_cancer_data_come_out_as_they_are_used() -> None:
    data = tuple(mahmc.targets.blr().density.arrays.values())
    file = Path(mahmc.__file__).parent / "data" / "breast_cancer.csv"
    found = read(file.read_bytes())
    X, y, _ = design(found, found.names[-1])
    assert np.allclose(X, data[0])
    assert np.array_equal(y, data[1])


def test_extreme_numbers_do_not_overflow() -> None:
    for scale in (1e300, 1e-300, 5e-324):
        X, _, _ = design(read(table(right(dose=[scale * (1 + i % 3) for i in range(20)]))), "cured")
        assert np.isfinite(X).all()
        assert np.allclose(X.std(axis=0)[:2], 1.0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\n\n \n", "the file is empty"),
        (b",,\n1,2,3\n", "the file is empty"),
        (b"PK\x03\x04\x00\x00binary", "it holds binary data"),
        ("å,b\n".encode("latin-1") + b"1,2\n" * 20, "line 1 is not UTF-8"),
        (table(right()) + b"\xff\xfe", "line 22 is not UTF-8"),
        (table(right()).decode().encode("utf-16"), "it holds binary data"),
        (table(right()) + b"1,2\n", "row 21 has 2 cells and the header 3"),
        (table(right()) + b"1,2,0,9\n", "row 21 has 4 cells and the header 3"),
        (table(right()) + b'1,"2,0\n', "this is not a CSV file"),
        (table(right()) + b'1,"2"x,0\n', "this is not a CSV file"),
        (b"1.5,2,0\n" * 20, "the first row holds numbers"),
        (b"a;b;c\n" + b"1;2;0\n" * 20, "separated by semicolons"),
        (b"a\tb\n" + b"1\t2\n" * 20, "separated by tabs"),
        (b"a\n" + b"1\n" * 20, "there is only one column"),
        (b"a,,c\n" + b"1,2,0\n" * 20, "column 2 has no name"),
        (b"a,a,c\n" + b"1,2,0\n" * 20, "column 'a' is there twice"),
        (b"a,(intercept),c\n" + b"1,2,0\n" * 20, "is the name of the column that is added"),
        (b"a,b,c\n" + b"1,2,0\n" * (FEWEST_ROWS - 1), "at least 10 are needed"),
        (b"a,b,c\n", "there are 0 rows"),
        (b"a,b,c\n" + b"1,2,0\n" * (MOST_ROWS + 1), "more than 5000 rows"),
        (",".join(f"c{i}" for i in range(MOST_FEATURES + 2)).encode() + b"\n", "there are 202 columns"),
        (b"x" * (10 * 2**20 + 1), "at most 10 MB"),
        (b"," * (10 * 2**20), "the file is empty"),
        (b'"' + b"x" * 200_000 + b'",b\n', "field larger than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table(data: bytes, words: str) -> None:
    message = refusal_of(read, data)
    assert words in message
    assert len(message) < 250


NOTHING: list[object] = [1.0] * 20


@pytest.mark.parametrize(
    ("changes", "column", "words"),
    [
        ({"age": ["young"] * 20}, "cured", "column 'age' holds text, 'young' in row 1"),
        ({"age": [1] * 19 + ["12 years"]}, "cured", "column 'age' holds text, '12 years' in row 20"),
        ({"age": ["1_0", *range(19)]}, "cured", "holds text, '1_0'"),
        ({"age": ["١", *range(19)]}, "cured", "holds text"),
        ({"age": ["0x1f", *range(19)]}, "cured", "holds text"),
        ({"age": ["<script>alert(1)</script>" * 9, *range(19)]}, "cured", "…"),
        ({"age": [1, 2, "", *range(17)]}, "cured", "column 'age' has no value in row 3"),
        ({"age": [1, 2, "NaN", *range(17)]}, "cured", "column 'age' has no value in row 3"),
        ({"age": ["inf", *range(19)]}, "cured", "holds text, 'inf'"),
        ({"age": ["1e999", *range(19)]}, "cured", "too large for a number"),
        ({"age": NOTHING}, "cured", "column 'age' is '1.0' in every row"),
        ({"age": NOTHING, "dose": NOTHING}, "cured", "(and 1 more columns cannot be used)"),
        ({}, "curd", "Did you mean 'cured'?"),
        ({}, "dose", "must hold only zeros and ones, but it holds '0', '1', '2', '3', '4', …"),
        ({"cured": ["yes", "no"] * 10}, "cured", "must hold only zeros and ones, but it holds 'yes', 'no'"),
        ({"cured": [1] * 20}, "cured", "column 'cured' is '1' in every row: both 0 and 1 must occur"),
        ({"cured": [0, 1] * 9 + [0, ""]}, "cured", "column 'cured' has no value in row 20"),
    ],
)
def test_what_cannot_be_used(changes: dict[str, list[object]], column: str, words: str) -> None:
    found = read(table(right(**changes)))
    message = refusal_of(design, found, column)
    assert words in message
    assert len(message) < 250
    if column == "cured" and words.startswith("column 'age'"):
        assert message == f"{found.problems[0]}."


def test_problems_are_there_before_a_column_is_chosen() -> None:
    found = read(table(right(age=["a"] * 20, dose=[1] * 20)))
    assert ["age" in found.problems[0], "dose" in found.problems[1], len(found.problems)] == [True, True, 2]


def test_nasty_bytes_give_a_table_or_a_message() -> None:
    """Random bytes, random edits of a right file, and random tables of nasty cells: never any other exception."""
    rng = np.random.default_rng(7)
    good = table(right())
    cells = ["", "1", "-1e5", "nan", '"', "a,b", "\n", "\x1b[0m", "🙂", "=1+1", "1" * 400, "1e400", "-0", ".", "0", "1"]
    outcomes, lengths = {"table": 0, "used": 0, "refused": 0}, set()
    for trial in range(3000):
        if trial % 3 == 0:
            data = rng.bytes(int(rng.integers(0, 400)))
        elif trial % 3 == 1:
            edited = bytearray(good)
            for _ in range(int(rng.integers(1, 4))):
                edited[int(rng.integers(len(edited)))] = int(rng.choice(list(b'0123456789.,e-"\n\xff\x00')))
            data = bytes(edited)
        else:
            out = io.StringIO()
            writer = csv.writer(out)
            writer.writerow(["a", "b", "y"])
            writer.writerows([str(c) for c in rng.choice(cells, 3)] for _ in range(12))
            data = out.getvalue().encode()
        try:
            found = read(data)
            outcomes["table"] += 1
            assert isinstance(found, Table)
            assert all(isinstance(problem, str) for problem in found.problems)
            X, y, _ = design(found, found.names[-1])
            assert np.isfinite(X).all()
            assert set(y) == {0.0, 1.0}
            outcomes["used"] += 1
        except InvalidInput as refusal:
            outcomes["refused"] += 1
            lengths.add(len(str(refusal)))
    assert min(outcomes.values()) > 50, outcomes
    assert 10 < min(lengths) < max(lengths) < 300
