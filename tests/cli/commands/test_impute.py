"""`arboretum impute`: what is filled, what stays as it is written, and what it says."""

import pytest

from tests.cli.cli_helpers import cells, fact, fails, ok, rows_of, run

TABLE = """id,size,colour,seen,day,kind
007,1.0,red,TRUE,2024-01-01,a
008,1.50,,TRUE,2024-01-02,a
009,,red,,2024-01-03,a
010,1.25,red,TRUE,,a
011,8.0,blue,FALSE,2024-03-01,b
012,,blue,FALSE,2024-03-02,b
013,9.0,NA,FALSE,2024-03-03,b
014,8.5,blue,,2024-03-04,b
"""
QUICK = ("--trees", 20, "--max-iter", 4)


@pytest.fixture
def table(csv):
    return csv(TABLE)


def test_gaps_are_filled_and_cells_stay_as_written(table, tmp_path):
    output = tmp_path / "filled.csv"
    text = ok("impute", table, "-o", output, "--target", "kind", "--keep", "id", *QUICK)
    rows = rows_of(output.read_text())
    assert [row["id"] for row in rows] == [f"{i:03}" for i in range(7, 15)]
    assert rows[1]["size"] == "1.50"
    assert (rows[1]["colour"], rows[6]["colour"]) == ("red", "blue")
    assert (rows[2]["seen"], rows[7]["seen"]) == ("TRUE", "FALSE")
    assert float(rows[2]["size"]) < 4 < float(rows[5]["size"]) <= 9
    assert "2024-01-01" <= rows[3]["day"] <= "2024-03-04"
    assert len(rows[3]["day"]) == 10
    assert rows[0]["day"] == "2024-01-01"
    before = rows_of(TABLE)
    for old, new in zip(before, rows, strict=True):
        for name, value in old.items():
            assert new[name] == value or value in ("", "NA"), name
            assert new[name]
    assert fact(text, "filled") == "7 cells"
    assert fact(text, "target") == "kind: classification"
    assert cells(text, "size")[:3] == ["numeric", "2", "25.0%"]
    assert "red (1), blue (1)" in text
    assert "Rounds: " in text


def test_the_same_command_gives_the_same_file(table, tmp_path):
    for name in ("one.csv", "two.csv"):
        ok("impute", table, "-o", tmp_path / name, "--keep", "id", "--jobs", 1, *QUICK)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_without_a_target(table, tmp_path):
    text = ok("impute", table, "-o", tmp_path / "filled.csv", *QUICK)
    assert fact(text, "target").startswith("none")
    assert all(all(row.values()) for row in rows_of((tmp_path / "filled.csv").read_text()))


def test_a_number_as_target_and_categories_of_numbers(csv, tmp_path):
    lines = [f"{i % 3 if i % 4 else ''},{i * 1.5}" for i in range(40)]
    data = csv("\n".join(["group,height", *lines]) + "\n")
    output = tmp_path / "filled.csv"
    text = ok("impute", data, "-o", output, "-t", "height", "--categorical", "group", *QUICK)
    assert fact(text, "target") == "height: regression"
    assert {row["group"] for row in rows_of(output.read_text())} == {"0", "1", "2"}


def test_nothing_missing_is_a_copy(csv, tmp_path):
    data = csv("a,b\n1,x\n2,y\n3,x\n")
    result = run("impute", data, "-o", tmp_path / "filled.csv", *QUICK)
    assert result.exit_code == 0
    assert "nothing is missing" in result.stderr
    assert (tmp_path / "filled.csv").read_text() == "a,b\n1,x\n2,y\n3,x\n"


def test_parquet_in(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": ["x", "y", None, "y"]})
    table.to_parquet(tmp_path / "data.parquet")
    ok("impute", tmp_path / "data.parquet", "-o", tmp_path / "filled.csv", *QUICK)
    rows = rows_of((tmp_path / "filled.csv").read_text())
    assert all(all(row.values()) for row in rows)
    assert rows[0] == {"a": "1.0", "b": "x"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--target", "kin"], 1, "no column 'kin' for the target (did you mean 'kind'?)"),
        (["--target", "size"], 1, "target 'size'"),
        (["--keep", "nam"], 1, "no column 'nam' for --keep"),
        (["--target", "kind", "--keep", "kind"], 2, "a column has one role"),
        (["--task", "regression"], 2, "give --target too"),
        (["--trees", "0"], 2, "--trees"),
        (["--max-iter", "0"], 2, "--max-iter"),
        (["--tol", "-1"], 2, "--tol"),
        (["-o", "filled.parquet"], 2, "the filled table is CSV"),
        (["-o", "nowhere/filled.csv"], 1, "does not exist"),
    ],
)
def test_errors_are_one_line(table, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    found, line = fails("impute", table, "-o", tmp_path / "filled.csv", *words)
    assert found == code
    assert message in line


def test_an_empty_column_is_one_line(csv, tmp_path):
    data = csv("a,b\n1,\n2,\n")
    _, line = fails("impute", data, "-o", tmp_path / "filled.csv")
    assert "column 'b' has no value at all" in line
    ok("impute", data, "-o", tmp_path / "filled.csv", "--drop", "b")
    assert (tmp_path / "filled.csv").read_text() == "a\n1\n2\n"


def test_the_data_file_is_never_overwritten(table):
    code, line = fails("impute", table, "-o", table)
    assert code == 2
    assert "it is the data file" in line
    assert table.read_text() == TABLE
