"""What is written as CSV: as it is, or so that a spreadsheet runs nothing."""

import csv
import io
import re

import numpy as np
import pytest

from arboretum.cli.csv_output import copy_csv, escape_formula, write_csv
from arboretum.data.reading.dialect import CsvDialect, open_csv
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


# separator, decimal sign, line end, encoding, byte order mark, quotes, lines above the header, last line end
_DIALECTS = {
    "plain": (",", ".", "\n", "utf-8", b"", "few", "", True),
    "windows": (";", ",", "\r\n", "cp1252", b"", "few", "", True),
    "excel utf-8": (",", ".", "\r\n", "utf-8", b"\xef\xbb\xbf", "all", "", True),
    "excel unicode": ("\t", ",", "\r\n", "utf-16-le", b"\xff\xfe", "few", "", True),
    "big endian": (";", ".", "\n", "utf-16-be", b"\xfe\xff", "words", "", False),
    "bars, no last line end": ("|", ".", "\n", "utf-8", b"", "few", "", False),
    "title": (";", ",", "\r\n", "cp1252", b"", "words", 'Umsätze "2024"; Blatt 1\r\n\r\n', True),
    "everything quoted": (",", ".", "\n", "utf-8", b"", "all", "", False),
}
_GAPS = ("", "NA", "n/a")


def _cell(text, sep, quotes, is_word):
    if (
        quotes == "all"
        or (quotes == "words" and is_word)
        or any(s in text for s in (sep, '"', "\n"))
    ):
        return '"' + text.replace('"', '""') + '"'
    return text


def _table(rng, sep, decimal, quotes):
    """Return a header and rows as lists of written cells, with gaps, quotes and line breaks."""
    number = lambda x, form: format(x, form).replace(".", decimal)  # noqa: E731
    words = ["süß", " oak", 'a "b" c', "x" + sep + "y", "two\nlines", "=1+1"]
    rows = [[_cell(name, sep, quotes, True) for name in ("größe", "word", "day", "price", "y")]]
    for _ in range(40):
        price = f"{rng.uniform(1, 5000):,.2f}"
        if decimal == ",":
            price = price.translate(str.maketrans(",.", ".,"))
        cells = [
            number(rng.normal(50, 20), ".2f"),
            words[rng.integers(len(words))],
            f"{rng.integers(1, 29):02}.{rng.integers(1, 13):02}.2023",
            price + " €",
            "uv"[rng.integers(2)],
        ]
        row = []
        for j, text in enumerate(cells):
            is_gap = j < 4 and rng.random() < 0.15
            gap = _GAPS[rng.integers(2)] if j != 3 else ""
            row.append(gap if is_gap else _cell(text, sep, quotes, j in (1, 2, 4)))
        rows.append(row)
    return rows


@pytest.mark.parametrize("name", _DIALECTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_only_gaps_change(tmp_path, name, seed):
    sep, decimal, end, encoding, mark, quotes, above, ends = _DIALECTS[name]
    rows = _table(np.random.default_rng(seed), sep, decimal, quotes)
    text = above + end.join(sep.join(row) for row in rows) + (end if ends else "")
    data, filled = tmp_path / "d.csv", tmp_path / "f.csv"
    data.write_bytes(mark + text.encode(encoding))
    skip = ("--skip", above.count("\n")) if above else ()
    options = ("--as-number", "price", "--as-date", "day", "--trees", 5, "--max-iter", 2, *skip)
    ok("impute", data, "-o", filled, *options)
    after = filled.read_bytes()
    assert after.startswith(mark)
    after = after[len(mark) :].decode(encoding)
    value = rf'("[^"]*(?:""[^"]*)*"|[^"{re.escape(sep)}\r\n]+)'  # instead of a gap
    lines = [
        re.escape(sep).join(value if c in _GAPS else re.escape(c) for c in row) for row in rows
    ]
    expected = re.escape(above) + end.join(lines) + (end if ends else "")
    found = re.fullmatch(expected, after)
    assert found, after
    assert found.groups()
    assert not set(found.groups()) & set(_GAPS)


def test_nothing_missing_is_the_same_file(tmp_path):
    written = b'\xef\xbb\xbfa,b\r\n\r\n"1","x ""y"""\n2,z\r\n\r\n3," x"'
    (tmp_path / "d.csv").write_bytes(written)
    ok("impute", tmp_path / "d.csv", "-o", tmp_path / "f.csv", "--trees", 5)
    assert (tmp_path / "f.csv").read_bytes() == written


def test_dropped_columns_leave_the_others_as_they_are(tmp_path):
    written = b'a;"b";c\r\n1,5;;"x"\r\n2,5;"3";\r\n'
    text = open_csv("t.csv", written, CsvDialect())
    assert copy_csv(text, {}, drop=["b"]) == b'a;c\r\n1,5;"x"\r\n2,5;\r\n'
    assert copy_csv(text, {}, drop=["a", "c"]) == b'"b"\r\n""\r\n"3"\r\n'
    assert copy_csv(text, {"c": {1: "y"}}) == b'a;"b";c\r\n1,5;;"x"\r\n2,5;"3";"y"\r\n'


@pytest.mark.parametrize("cell", ["=1+1", '=HYPERLINK("x")', "-A1", "fine", "-5"])
@pytest.mark.parametrize("quoted", [False, True])
def test_formulas_are_escaped_in_a_copy(cell, quoted):
    field = '"' + cell.replace('"', '""') + '"' if quoted or '"' in cell else cell
    text = open_csv("t.csv", f"a,b\n{field},1\n".encode(), CsvDialect())
    copied = copy_csv(text, {}, escape_formulas=True).decode()
    found = list(csv.reader(io.StringIO(copied)))[1][0]
    assert found == (cell if cell in ("fine", "-5") else "'" + cell)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_without_a_mark_gets_none(encoding):
    written = "a,b\n1,ü\n".encode("utf-8" if encoding == "utf-8-sig" else "utf-16-le")
    text = open_csv("t.csv", written, CsvDialect(encoding=encoding))
    assert copy_csv(text, {}) == written
