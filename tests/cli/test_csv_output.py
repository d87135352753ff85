"""What is written as CSV: as it is, or so that a spreadsheet runs nothing."""

import csv
import io

import pytest

from arboretum.cli.csv_output import escape_formula, write_csv
from tests.cli.cli_helpers import ok

BAD = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("cell", [BAD, "+A1", "-A1", "@SUM(A1)", "\t=1", "- 5", "\r=1", "=", "-"])
def test_formulas_get_a_quote(cell):
    assert escape_formula(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["", "maple", "-5", "+1e3", "-inf", 3, -2.5, None, "a=b", "'=1"])
def test_others_stay(cell):
    assert escape_formula(cell) is cell


def test_names_and_cells_are_written():
    file = io.StringIO()
    write_csv(file, [("=name", ["a", BAD]), ("x", [1.5, -2])], escape_formulas=True)
    rows = list(csv.reader(io.StringIO(file.getvalue())))
    assert rows == [["'=name", "x"], ["a", "1.5"], ["'" + BAD, "-2"]]


def test_predict_and_impute_write_as_it_is_unless_they_are_asked(csv, tmp_path):
    rows = "".join(f"{i},{'' if i == 5 else i % 4},{('fine', BAD)[i % 2]}\n" for i in range(20))
    data, model, out = csv("a,b,y\n" + rows), tmp_path / "m.arb", tmp_path / "p.csv"
    ok("train", data, "-t", "y", "--drop", "a", "-o", model)
    for how, expected in (([], BAD), (["--escape-formulas"], "'" + BAD)):
        ok("predict", model, data, "-o", out, "--id", "y", *how)
        cells = {cell for row in out.read_text("utf-8").splitlines()[1:] for cell in row.split(",")}
        assert cells == {"fine", expected}
        ok("impute", data, "--keep", "y", "--keep", "a", "--trees", 5, "-o", out, *how)
        assert out.read_text("utf-8").count(expected) == 10
        assert out.read_text("utf-8").count("'=") == (10 if how else 0)


def test_a_carriage_return_is_quoted():
    file = io.StringIO()
    write_csv(file, [("label", ["a\rb", "c\nd", 'e"', "f,g"])])
    assert file.getvalue() == 'label\n"a\rb"\n"c\nd"\n"e"""\n"f,g"\n'
    assert list(csv.reader(io.StringIO(file.getvalue(), newline="")))[1:] == [
        ["a\rb"], ["c\nd"], ['e"'], ["f,g"],
    ]  # fmt: skip
