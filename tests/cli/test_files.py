"""Data files, their columns, and the table estimators get."""

import gzip

import numpy as np
import pytest

from arboretum.cli.files import check_output, column_text, pick
from arboretum.cli.reading import read_data
from arboretum.errors import DataError


def test_columns_and_rows_are_chosen_by_name_and_place(csv):
    data = read_data(csv("a,b,c\n1,x,5\n2,y,6\n3,x,7\n"))
    assert (data.names, data.n_rows) == (("a", "b", "c"), 3)
    part = data.select(["c", "b"]).take(np.array([2, 0]))
    size, word = part.table.columns
    assert part.names == ("c", "b")
    assert size.values.tolist() == [7, 5]
    assert [word.values[code] for code in word.codes] == ["x", "x"]
    assert data.without({"b", "unknown"}).names == ("a", "c")
    with pytest.raises(DataError, match=r"no column 'd' for the weights; it has 'a', 'b', 'c'"):
        data.column("d", "the weights")


def test_pick_tells_what_it_leaves_out(csv, capsys):
    data = read_data(csv("a,b,c,d\n1,2,3,4\n"))
    assert pick(data, ["c", "a"], known=["d"]).names == ("c", "a")
    assert capsys.readouterr().err.endswith("the model does not use 'b'\n")
    pick(data, ["c", "a"], known=["d", "b"])
    assert capsys.readouterr().err == ""
    with pytest.raises(DataError, match=r"lacks a column .*: 'aa' \(did you mean 'a'\?\)$"):
        pick(data, ["aa", "b"])
    many = [f"x{i}" for i in range(9)]
    with pytest.raises(DataError, match=r"lacks columns .*'x4', … and 4 more$"):
        pick(data, many)


def test_identifiers_are_copied_as_they_are_written(tmp_path):
    text = '\ufeffid,x\n007,1\n\n"a, ""b""",2\n,3\n'
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "a.csv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    for name in ("a.csv", "a.csv.gz"):
        assert column_text(read_data(tmp_path / name), "id") == ["007", 'a, "b"', ""]


def test_identifiers_of_parquet_files(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"n": [3, None, 1], "s": ["x", "y", None]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    data = read_data(tmp_path / "a.parquet")
    assert column_text(data, "n") == ["3", "", "1"]
    assert column_text(data, "s") == ["x", "y", ""]


def test_output_places(tmp_path, monkeypatch):
    assert check_output(str(tmp_path / "new.arb"), "model file") == tmp_path / "new.arb"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(DataError, match="permission denied"):
        check_output(tmp_path / "new.arb", "model file")
