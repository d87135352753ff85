"""What one command writes or keeps, the next one reads in the same way."""

import json

import pytest

from arboretum import load
from arboretum.cli.reading import Reading, read_data
from tests.cli.cli_helpers import cells, fails, ok, run


def _german(path, end="\r\n", encoding="cp1252"):
    rows = ["größe;preis;tag;y"]
    for i in range(1, 41):
        size = f"{i},25" if i % 7 else ""
        price = f"{i}.001,50 €" if i % 6 else ""
        day = f"{i % 18 + 10}.12.2023" if i % 5 else ""
        rows.append(f"{size};{price};{day};{'u' if i % 2 else 'v'}")
    path.write_bytes((end.join(rows) + end).encode(encoding))
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_impute_writes_what_it_read(tmp_path, end, encoding):
    data, filled = _german(tmp_path / "d.csv", end, encoding), tmp_path / "f.csv"
    options = ("--as-number", "preis", "--as-date", "tag")
    ok("impute", data, "-o", filled, "--trees", 10, *options)
    before = data.read_bytes().decode(encoding).split(end)
    after = filled.read_bytes().decode(encoding).split(end)
    assert len(before) == len(after)
    for old, new in zip(before, after):
        for was, cell in zip(old.split(";"), new.split(";"), strict=True):
            assert cell == was if was or not old else cell
    kinds = [
        [(raw.dtype, type(raw).__name__) for raw in read_data(path, _reading()).table.columns]
        for path in (data, filled)
    ]
    assert kinds[0] == kinds[1]
    assert read_data(filled, _reading()).text.decimal == ","


def _reading():
    return Reading.of(None, None, None, None, False, 0, ["preis"], ["tag"])


def test_impute_warns_of_numbers_written_as_words(tmp_path):
    data = _german(tmp_path / "d.csv")
    result = run("impute", data, "-o", tmp_path / "f.csv", "--trees", 5)
    assert "--as-number preis reads them as numbers" in " ".join(result.stderr.split())
    assert "--as-date tag reads them as dates" in " ".join(result.stderr.split())


# option -> header, row, decimal sign and encoding of a file whose training needs it
_FORMS = {
    "--sep": ("a!day!y", "{a}!{day}!{y}", ".", "utf-8", ["--sep", "!"]),
    "--decimal": ("a;day;y", "{a};{day};{y}", ",", "utf-8", ["--decimal", ","]),
    "--encoding": ("größe,day,y", "{a},{day},{y}", ".", "cp850", ["--encoding", "cp850"]),
    "--no-header": (None, "{a},{day},{y}", ".", "utf-8", ["--no-header"]),
    "--skip": ("A title, 2024\n\na,day,y", "{a},{day},{y}", ".", "utf-8", ["--skip", "2"]),
    "--na": ("a,day,y", "{na},{day},{y}", ".", "utf-8", ["--na", "unknown"]),
    "--as-number": ("a,day,y", "${a},{day},{y}", ".", "utf-8", ["--as-number", "a"]),
    "--as-date": ("a,day,y", "{a},{day},{y}", ".", "utf-8", ["--as-date", "day=%d/%m/%Y"]),
}


@pytest.mark.parametrize("name", _FORMS)
def test_every_way_of_reading_is_kept_and_used(tmp_path, name):
    header, line, decimal, encoding, options = _FORMS[name]
    rows = [] if header is None else [header]
    for i in range(60):
        values = {
            "a": f"{i}.25".replace(".", decimal),
            "na": "unknown" if i % 5 == 0 else f"{i}.25",
            "day": f"{i % 28 + 1:02}/{i % 12 + 1:02}/2023",
            "y": "uv"[i % 3 == 0],
        }
        rows.append(line.format(**values))
    data, model = tmp_path / "d.csv", tmp_path / "m.arb"
    data.write_bytes(("\n".join(rows) + "\n").encode(encoding))
    target = "x2" if header is None else "y"
    words = ["train", data, "-t", target, "-o", model, *options, "--test-size", "0.25"]
    if name != "--as-date":
        words += ["--drop", "x1" if header is None else "day"]
    trained = ok(*words)
    kept, first = load(model), "größe" if name == "--encoding" else "x0" if header is None else "a"
    column = dict(zip(kept.schema_.names, kept.schema_.columns))[first]
    assert (column.kind, column.has_missing) == ("numeric", name == "--na")
    if name == "--as-date":
        assert kept.schema_.columns[1].dtype == "datetime"
    scores = ok("evaluate", model, data)  # none of them needs the options again
    assert "on 15 held-out rows" in scores
    assert cells(scores, "accuracy") == cells(trained, "accuracy")
    assert len(ok("predict", model, data).splitlines()) == 61
    assert "rows" in ok("explain", model, data, "--node", 0)
    ok("explain", model, data, "--row", 59)
    result = run("report", model, data, "--train", data, "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.stderr
    assert "no worksheets" not in result.stderr


def test_impute_without_a_header_writes_none(csv, tmp_path):
    data = csv("1,2\n,3\n4,5\n6,7\n")
    ok("impute", data, "-o", tmp_path / "f.csv", "--no-header", "--trees", 5)
    lines = (tmp_path / "f.csv").read_text().splitlines()
    assert (len(lines), lines[0], lines[2]) == (4, "1,2", "4,5")


def _churn(csv):
    rows = [
        f"{'?' if i % 9 == 0 else f'${i}.50'},{'n/k' if i % 4 else 'x'},{i % 2}" for i in range(60)
    ]
    return csv("charge,plan,y\n" + "\n".join(rows) + "\n")


def test_the_model_file_keeps_how_its_data_file_is_read(csv, tmp_path):
    data, model = _churn(csv), tmp_path / "m.arb"
    ok("train", data, "-t", "y", "--as-number", "charge", "--na", "?", "--na", "n/k", "-o", model)
    for words in (["predict"], ["evaluate"], ["explain"], ["report", "-o", tmp_path / "r.html"]):
        ok(words[0], model, data, *words[1:])
    assert "missing ?; missing n/k" in ok("describe", model)


def test_marks_are_missing_in_columns_read_as_numbers(csv, tmp_path):
    result = run("train", _churn(csv), "-t", "y", "--as-number", "charge", "-o", tmp_path / "m.arb")
    assert result.exit_code == 0
    assert "'charge' '?' is read as missing" in result.stderr


def test_the_split_is_kept_and_taken_again(shelf, tmp_path):
    data, model = shelf / "seedlings.csv", tmp_path / "m.arb"
    ok("train", data, "-t", "fate", "--test-size", "30", "--seed", 3, "-o", model)
    noted = json.loads(load(model).notes_["held out"])
    assert (noted["share"], noted["seed"]) == (0.3, 3)
    assert "30% of the rows" in ok("describe", model)
    assert "420" in ok("explain", model, data, "--node", 0)
    ok("explain", model, data, "--row", 590)
    page = tmp_path / "r.html"
    result = run("report", model, shelf / "few.csv", "--train", data, "-o", page)
    assert result.exit_code == 0
    assert "no worksheets" not in result.stderr
    result = run("report", model, data, "--train", shelf / "few.csv", "-o", page)
    assert result.exit_code == 0
    assert "no worksheets" in result.stderr


def test_lines_above_the_header(csv, tmp_path):
    data = csv("# Export of March\n\nA title, of sorts\na,b,y\n" + "1,2,u\n3,4,v\n" * 20)
    _, line = fails("train", data, "-t", "y", "-o", tmp_path / "m.arb")
    assert "begins at line 4" in line
    assert "(--skip 3)" in line
    ok("train", data, "-t", "y", "-o", tmp_path / "m.arb", "--skip", 3)
    ok("evaluate", tmp_path / "m.arb", data)


def test_lines_above_a_table_of_decimal_commas(csv, tmp_path):
    data = csv("Export 2024\nStand: 31.12.2023; Blatt 7\na;b;y\n" + "1,5;2,5;u\n3,5;4,5;v\n" * 20)
    _, line = fails("train", data, "-t", "y", "-o", tmp_path / "m.arb")
    assert "(--skip 2)" in line
    ok("train", data, "-t", "y", "-o", tmp_path / "m.arb", "--skip", 2)


def test_a_row_with_too_many_fields_is_no_title(csv, tmp_path):
    data = csv("a,b,y\n1,2,u\n1,2,3,u\n" + "1,2,u\n3,4,v\n" * 20)
    _, line = fails("train", data, "-t", "y", "-o", tmp_path / "m.arb")
    assert "line 3: 4 fields where the header has 3" in line
    assert "--skip" not in line


def test_lists_of_columns_and_shares_as_people_write_them(shelf, tmp_path):
    data, model = shelf / "few.csv", tmp_path / "m.arb"
    names = data.read_text().splitlines()[0].split(",")
    dropped = [name for name in names if name != "fate"][:2]
    ok("train", data, "-t", "fate", "--drop", ",".join(dropped), "-o", model)
    assert not set(dropped) & set(load(model).schema_.names)


def test_swapped_arguments_are_named(shelf):
    code, line = fails("predict", shelf / "few.csv", shelf / "fate.arb")
    assert (code, "the model comes first" in line) == (2, True)
    code, line = fails("predict", shelf / "fate.arb", shelf / "fate.arb")
    assert "is a model file" in line


def test_words_that_differ_by_blanks_are_noted(csv, tmp_path):
    data = csv("sex,y\n" + "female,1\nfemale ,2\nmale,1\n" * 10)
    result = run("train", data, "-t", "y", "-o", tmp_path / "m.arb")
    assert "'female ' and the same without blanks are different categories" in result.stderr
