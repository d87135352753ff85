"""CSV and Parquet: the same table from each reader, and one clear line for a broken file."""

import gzip

import numpy as np
import pandas as pd
import pytest

from arboretum.data import frames
from arboretum.data.checks import DataTypeError
from arboretum.data.reading import csv_table, limits, parquet
from arboretum.data.reading.dialect import CsvDialect
from arboretum.data.reading.files import read_bytes, read_file
from arboretum.data.schema import learn_schema
from arboretum.data.table import read_table
from arboretum.errors import DataError

READERS = {"pyarrow": (), "csv module": ("pyarrow",)}


@pytest.fixture(params=READERS)
def reader(request, monkeypatch):
    """Pretend that only one of the libraries is installed."""
    hide(monkeypatch, READERS[request.param])
    return request.param


def hide(monkeypatch, libraries):
    real = parquet.find_spec
    for module in (parquet, csv_table):
        monkeypatch.setattr(
            module, "find_spec", lambda name: None if name in libraries else real(name)
        )


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
    "picture": (b"\x89PNG\r\n\x1a\n\0\0", "line 1: .*not a text file"),
    "NUL bytes": (b"a\0,b\n1,2\n", "line 1: .*not a text file"),
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
    with pytest.raises(DataError, match=r"reads \.csv, \.tsv, \.txt \(also \.gz\) and \.parquet"):
        read_table(write(tmp_path, "", "data.xlsx"))
    hide(monkeypatch, ("pyarrow", "pandas", "polars"))
    with pytest.raises(DataError, match="needs pyarrow or polars: pip install pyarrow"):
        read_table(write(tmp_path, b"PAR1", "data.parquet"))
    assert read_table(write(tmp_path, "a\n1\n")).n_rows == 1  # no library at all


def test_an_unclosed_quote_does_not_swallow_the_rest_of_the_file(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('x,y\n1,"a\n2,b\n3,c\n')
    with pytest.raises(DataError, match=r"line 2: a quote is opened and never closed"):
        read_table(path)
    path.write_text('x,y\n1,a 12" pipe\n2,b\n')  # a lone quote inside a value is text
    assert read_table(path).n_rows == 2


# ---------------------------------------------------------------------- as people write
WRITTEN = {
    "semicolons, decimal commas": ("tree;height\nmaple;1,5\noak;22,75\n", "data.csv", "semicolons, "
    "decimals by commas"),
    "tabs": ("tree\theight\nmaple\t1.5\noak\t22.75\n", "data.txt", "separated by tabs"),
    "tsv": ("tree\theight\nmaple\t1.5\noak\t22.75\n", "data.tsv", "separated by tabs"),
    "bars": ("tree|height\nmaple|1.5\noak|22.75\n", "data.csv", "separated by bars"),
    "gzipped tabs": ("tree\theight\nmaple\t1.5\noak\t22.75\n", "data.tsv.gz", "tabs"),
    "Windows": ("tree,height\nmaple,1.5\noak \u20ac,22.75\n".encode("cp1252"), "data.csv", "read as cp1252"),
    "UTF-16": ("tree,height\nmaple,1.5\noak,22.75\n".encode("utf-16"), "data.csv", "read as utf-16"),
    "marks for missing": ("tree,height\nmaple,1.5\noak,22.75\nelm,?\nfir,-\n", "data.csv", "'-', "
    "'?' is read as missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN)
def test_how_a_file_is_written_is_found_out_and_told(reader, tmp_path, case):
    content, name, note = WRITTEN[case]
    found = read_file(write(tmp_path, content, name))
    assert found.names == ("tree", "height")
    assert found.columns[1].values[:2].tolist() == [1.5, 22.75]
    assert np.isnan(found.columns[1].values[2:]).all()
    assert any(note in text for text in found.notes)


def test_plain_files_need_no_notes(reader, tmp_path):
    assert read_file(write(tmp_path, MIXED)).notes == []


def test_what_is_said_of_a_file_is_not_found_out(reader, tmp_path):
    path = write(tmp_path, "1,5;x\n2,5;-\n")
    said = CsvDialect(sep=";", decimal=",", na=("-",), header=False, encoding="utf-8")
    found = read_file(path, said)
    assert found.names == ("x0", "x1")
    assert found.columns[0].values.tolist() == [1.5, 2.5]
    assert found.columns[1].codes.tolist() == [0, -1]
    assert found.notes == []
    with pytest.raises(DataError, match="unknown encoding 'klingon'"):
        read_file(path, CsvDialect(encoding="klingon"))
    with pytest.raises(DataError, match="line 1: not utf-16 text"):
        read_file(write(tmp_path, "abc"), CsvDialect(encoding="utf-16"))


def test_a_first_line_of_numbers_and_a_column_without_name(reader, tmp_path):
    found = read_file(write(tmp_path, ",1.5,b\n1,2,3\n"))
    assert found.names == ("Unnamed: 0", "1.5", "b")  # as pandas calls it
    assert "read as column names, but holds '1.5'" in found.notes[0]


def test_what_keeps_numbers_from_being_numbers_is_told(reader, tmp_path):
    path = write(tmp_path, "a\n" + "".join(f"{i}\n" for i in range(50)) + "12x\n")
    (note,) = read_file(path).notes
    assert "column 'a' is read as words because of '12x' (row 50)" in note
    assert "--na '12x'" in note
    assert read_file(path, CsvDialect(na=("12x",))).notes == []


def test_whole_numbers_stay_whole(reader, tmp_path):
    found = read_file(write(tmp_path, "a,b\n1,1\n2,\n"))
    assert [raw.dtype for raw in found.columns] == ["int64", "int64"]


def test_bytes_of_a_pipe(tmp_path):
    assert read_bytes("standard input", b"a,b\n1,2\n").names == ("a", "b")
    assert read_bytes("standard input", gzip.compress(b"a,b\n1,2\n")).n_rows == 1
    pd.DataFrame({"a": [1.5]}).to_parquet(tmp_path / "x.parquet")
    assert read_bytes("standard input", (tmp_path / "x.parquet").read_bytes()).names == ("a",)


def test_a_cell_may_be_longer_than_a_block(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n1," + "q" * 3_000_000 + "\n2,r\n", encoding="utf-8")
    table = read_table(path)
    assert table.n_rows == 2
    assert [len(value) for value in table.columns[1].values] == [3_000_000, 1]


# --------------------------------------------------------------------------- small files of large tables
def bomb(path, rows=3000, length=1_000_000):
    """Write one long string in many rows: some hundred bytes that are gigabytes of text."""
    import pyarrow as pa
    from pyarrow import parquet

    codes = pa.array(np.zeros(rows, np.int32))
    word = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length]))
    table = pa.table({"word": word, "number": np.arange(rows) % 2})
    parquet.write_table(table, path, compression="zstd", store_schema=False)
    return path


@pytest.mark.parametrize("hidden", [(), ("pyarrow",)])
def test_a_long_string_in_many_rows_takes_its_length_once(tmp_path, monkeypatch, hidden):
    path = bomb(tmp_path / "data.parquet")
    hide(monkeypatch, hidden)
    monkeypatch.setattr(frames, "find_spec", parquet.find_spec)
    table = read_file(path)
    assert table.columns[0].values == ["x" * 1_000_000]
    assert table.columns[0].dtype == "str"
    assert table.n_rows == 3000


def test_strings_of_parquet_are_the_strings_of_the_frame(tmp_path):
    words = ["b", None, "a", "b", "", "c"] * 3
    frame = pd.DataFrame({"word": words, "kind": pd.Categorical(words), "number": range(18)})
    for name, options in {
        "a": {},
        "b": {"use_dictionary": False},
        "c": {"row_group_size": 4},
    }.items():
        path = tmp_path / f"{name}.parquet"
        frame.to_parquet(path, **options)
        for source in (path, path.read_bytes()):
            found = read_file(source) if source is path else read_bytes("pipe", source)
            word, kind, _ = found.columns
            assert (word.dtype, kind.dtype) == ("str", "category")
            assert sorted(word.values) == ["", "a", "b", "c"]
            assert [None if c < 0 else word.values[c] for c in word.codes] == words


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_strings_of_parquet_in_every_encoding(tmp_path, encoding, kind):
    import pyarrow as pa
    from pyarrow import parquet

    words = ["oak", "oaks", None, "ash", "oak"]
    table = pa.table({"word": pa.array(words, getattr(pa, kind)()), "number": range(5)})
    options = {"use_dictionary": False, "column_encoding": {"word": encoding}}
    parquet.write_table(table, tmp_path / "t.parquet", **options)
    word, _ = read_file(tmp_path / "t.parquet").columns
    assert word.dtype == "str"
    assert [None if c < 0 else word.values[c] for c in word.codes] == words


def test_strings_that_repeat_the_one_before_are_counted(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    table = pa.table({"word": [100_000 * "x" + str(i) for i in range(100)]})
    options = {"use_dictionary": False, "column_encoding": {"word": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(table, path, **options)
    monkeypatch.setattr(limits, "memory_size", lambda: 5_000_000)
    with pytest.raises(DataError, match=r"unpacks to at least 0\.0 GB.*pass that table"):
        read_file(path)


@pytest.mark.parametrize("kind", ["binary", "list<", "struct<"])
def test_bytes_and_nested_columns_are_refused_unread(tmp_path, monkeypatch, kind):
    import pyarrow as pa
    from pyarrow import parquet

    cell = {"binary": b"x", "list<": ["x"], "struct<": {"a": "x"}}[kind]
    parquet.write_table(pa.table({"odd": [cell] * 3, "n": range(3)}), tmp_path / "t.parquet")
    monkeypatch.setattr(parquet, "read_table", None)
    with pytest.raises(DataTypeError, match=f"column 'odd' of .* is of type {kind}"):
        read_file(tmp_path / "t.parquet")


def test_values_of_a_dictionary_that_do_not_occur_are_no_categories(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    word = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2]), pa.array(["c", "b", "a"]))
    parquet.write_table(pa.table({"word": word}), tmp_path / "t.parquet", store_schema=False)
    (raw,) = read_file(tmp_path / "t.parquet").columns
    assert [raw.values[c] for c in raw.codes if c >= 0] == ["a", "c", "a"]
    assert sorted(raw.values) == ["a", "c"]


def test_a_table_larger_than_the_memory_is_refused_by_its_footer(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"zero": np.zeros(1_000_000)}), path)
    monkeypatch.setattr(limits, "memory_size", lambda: 8_000_000)
    assert read_file(path).n_rows == 1_000_000
    monkeypatch.setattr(limits, "memory_size", lambda: 7_999_999)
    monkeypatch.setattr(parquet, "read_table", None)  # is not called
    with pytest.raises(DataError, match=r"unpacks to at least 0\.0 GB, more than .* with pyarrow"):
        read_file(path)


def test_a_gzipped_file_larger_than_the_memory_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, b"a\n" + b"1\n" * 20_000_000, "data.csv.gz")
    monkeypatch.setattr(limits, "memory_size", lambda: 20_000_000)
    with pytest.raises(DataError, match=r"data\.csv\.gz' unpacks to at least .*: split the file"):
        read_file(path)


def test_the_memory_of_a_system_that_does_not_tell_is_taken_for_large(monkeypatch):
    assert 1 << 27 < limits.memory_size() < 1 << 50
    monkeypatch.delattr(limits.os, "sysconf")
    assert limits.memory_size() == 1 << 40


@pytest.mark.parametrize("long", ["header", "row"])
def test_a_line_of_two_megabytes(reader, tmp_path, long):
    word = "x" * 2_000_000
    header, row = (word, "1") if long == "header" else ("a", word)
    table = read_file(write(tmp_path, f"{header},b\n{row},2\n"))
    assert table.names == (header, "b")
    assert table.n_rows == 1
