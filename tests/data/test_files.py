"""CSV and Parquet: the same table from each reader, and one clear line for a broken file."""

import gzip

import numpy as np
import pandas as pd
import pytest

from arboretum.data import files
from arboretum.data.schema import learn_schema
from arboretum.data.table import read_table
from arboretum.errors import DataError

READERS = {"pyarrow": (), "pandas": ("pyarrow",), "polars": ("pyarrow", "pandas")}


@pytest.fixture(params=READERS)
def reader(request, monkeypatch):
    """Pretend that only one of the libraries is installed."""
    hide(monkeypatch, READERS[request.param])
    return request.param


def hide(monkeypatch, libraries):
    real = files.find_spec
    monkeypatch.setattr(files, "find_spec", lambda name: None if name in libraries else real(name))


def write(folder, content, name="data.csv"):
    path = folder / name
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


MIXED = (
    "n,größe,flag,day,moment,clock,spaced,empty\n"
    "1,x,True,2020-01-01,2020-01-01 10:00:00,10:00, 1.5,NA\n"
    '2,"a,b",false,2020-01-02,2020-01-01T10:00:00Z,11:30, 2,\n'
    "\n"
    ",NaN,,,,,,null\n"
)


@pytest.mark.parametrize("name", ["data.csv", "DATA.CSV", "data.csv.gz"])
def test_csv_types(reader, tmp_path, name):
    schema, matrix = learn_schema(str(write(tmp_path, MIXED, name)))
    assert schema.named
    assert [(c.name, c.kind) for c in schema.columns] == [
        ("n", "numeric"),
        ("größe", "categorical"),
        ("flag", "categorical"),
        ("day", "numeric"),
        ("moment", "numeric"),
        ("clock", "numeric"),
        ("spaced", "numeric"),
        ("empty", "numeric"),
    ]
    assert [schema.columns[f].categories for f in (1, 2)] == [("a,b", "x"), (False, True)]
    assert [schema.columns[f].dtype for f in (3, 4, 5)] == ["datetime", "datetime", "time"]
    nan = np.nan
    expected = [
        [1, 1, 1, 1577836800, 1577872800, 36000, 1.5, nan],
        [2, 0, 0, 1577923200, 1577872800, 41400, 2.0, nan],
        [nan] * 8,
    ]
    np.testing.assert_array_equal(matrix.rows(0, 3), expected)


def test_csv_numbers_are_read_to_the_last_bit(reader, tmp_path):
    numbers = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    path = write(tmp_path, "a\n" + "\n".join(map(repr, numbers.tolist())) + "\n")
    np.testing.assert_array_equal(read_table(path).columns[0].values, numbers)


def test_csv_dates_must_be_dates(reader, tmp_path):
    schema, _ = learn_schema(write(tmp_path, "a,b\n2020-02-30,1\n2020-01-01,2\n"))
    assert schema.columns[0].categories == ("2020-01-01", "2020-02-30")


BROKEN = {
    "short line": ("a,b,c\n1,2,3\n4,5\n", r"data.csv', line 3: 2 fields where the header has 3"),
    "long line": ("a,b\n1,2\n\n4,5,6\n", r"line 4: 3 fields where the header has 2"),
    "open quote": ('a,b\n1,2\n"x,2\nz,3\n', r"line 3: a quote is opened and never closed"),
    "empty": ("", "line 1: no header"),
    "only a header": ("a,b\n", "no rows"),
    "latin-1": (b"a,b\n1,2\n\xe9,2\n", r"line 3: not UTF-8 text \(byte 0xe9\)"),
    "late latin-1": (b"a,b\n" + b"1,2\n" * 9999 + b"\xe9,2\n", "line 10001: not UTF-8"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0", "line 1: not UTF-8"),
    "NUL bytes": (b"a\0,b\n1,2\n", "line 1: .*not a text file"),
    "semicolons": ("a;b\n1;2\n", r"line 1: .*';'.*sep=';'"),
    "names twice": ("a,b,a\n1,2,3\n", "line 1: .*unique.*'a'"),
    "long identifier": ("a\n12345678901234567\n1.5\n", "'a' holds the whole number 123456789"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_csv(reader, tmp_path, content, message):
    with pytest.raises(DataError, match=message) as error:
        read_table(write(tmp_path, content))
    assert "\n" not in str(error.value)


def test_broken_gzip(reader, tmp_path):
    path = write(tmp_path, "a,b\n1,2\n", "data.csv.gz")
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(DataError, match=r"data\.csv\.gz"):
        read_table(path)


@pytest.mark.parametrize("hidden", [(), ("pyarrow",)])
def test_parquet(tmp_path, monkeypatch, hidden):
    frame = pd.DataFrame({"a": [1.5, None], "city": pd.Categorical(["x", "y"])}, index=[7, 9])
    frame.to_parquet(tmp_path / "data.parquet")
    hide(monkeypatch, hidden)
    table = read_table(tmp_path / "data.parquet")
    assert (table.names, table.n_rows) == (("a", "city"), 2)


@pytest.mark.parametrize("hidden", [(), ("pyarrow",)])
def test_broken_parquet(tmp_path, monkeypatch, hidden):
    hide(monkeypatch, hidden)
    with pytest.raises(DataError, match=r"data\.parquet' cannot be read as Parquet"):
        read_table(write(tmp_path, b"PAR1 not really", "data.parquet"))


def test_paths_that_lead_nowhere(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"no such file: .*missing\.csv"):
        read_table(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="is a directory"):
        read_table(tmp_path)
    with pytest.raises(DataError, match=r"reads \.csv, \.csv\.gz and \.parquet"):
        read_table(write(tmp_path, "", "data.xlsx"))
    hide(monkeypatch, ("pyarrow", "pandas", "polars"))
    with pytest.raises(DataError, match=r"pip install arboretum\[frames\]"):
        read_table(write(tmp_path, "a\n1\n"))


def test_an_unclosed_quote_does_not_swallow_the_rest_of_the_file(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('x,y\n1,"a\n2,b\n3,c\n')
    with pytest.raises(DataError, match=r"line 2: a quote is opened and never closed"):
        read_table(path)
    path.write_text('x,y\n1,a 12" pipe\n2,b\n')  # a lone quote inside a value is text
    assert read_table(path).n_rows == 2
