"""`arboretum predict` writes what the model says, and nothing else, to stdout."""

import numpy as np
import pytest

from arboretum import CARTRegressor, load
from arboretum.io.native import save
from tests.cli.cli_helpers import fails, ok, rows_of, run


def test_predictions_are_the_models(shelf):
    result = run("predict", shelf / "fate.arb", shelf / "few.csv")
    rows = rows_of(result.stdout)
    assert list(rows[0]) == ["prediction"]
    import pandas as pd

    model, frame = load(shelf / "fate.arb"), pd.read_csv(shelf / "few.csv")
    frame["planted"] = pd.to_datetime(frame["planted"])
    X = frame[list(model.feature_names_in_)]
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    assert "the model does not use" not in result.stderr  # the target is no surprise
    # with probabilities
    rows = rows_of(ok("predict", shelf / "fate.arb", shelf / "few.csv", "--proba"))
    assert list(rows[0]) == ["prediction", "p_dies", "p_survives", "p_thrives"]
    shares = [[float(row[f"p_{c}"]) for c in model.classes_] for row in rows]
    np.testing.assert_array_equal(shares, model.predict_proba(X))  # written to the last digit
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()


def test_numbers_are_written_to_the_last_digit(shelf):
    import pandas as pd

    rows = rows_of(ok("predict", shelf / "height.arb", shelf / "few.csv"))
    model, frame = load(shelf / "height.arb"), pd.read_csv(shelf / "few.csv")
    frame["planted"] = pd.to_datetime(frame["planted"])
    expected = model.predict(frame[list(model.feature_names_in_)])
    np.testing.assert_array_equal([float(row["prediction"]) for row in rows], expected)


def test_a_file_instead_of_stdout(shelf, tmp_path):
    result = run("predict", shelf / "fate.arb", shelf / "few.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"note: 40 predictions in {tmp_path / 'out.csv'}" in result.stderr
    written = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert written == ok("predict", shelf / "fate.arb", shelf / "few.csv")


@pytest.fixture
def model(csv, tmp_path):
    """A model that says "ä, b" up to 2 and "c" beyond."""
    table = csv('x,y\n1,"ä, b"\n2,"ä, b"\n3,c\n4,c\n', "training.csv")
    ok("train", table, "-t", "y", "-o", tmp_path / "m.arb")
    return tmp_path / "m.arb"


def test_identifiers_and_quotes(model, csv):
    table = csv('id,other,x\n007,1,4\n"x, y",1,1\n')
    result = run("predict", model, table, "--id", "id")
    assert result.stdout == 'id,prediction\n007,c\n"x, y","ä, b"\n'
    assert "'other'" in result.stderr
    assert "'id'" not in result.stderr
    # an identifier may be a column the model uses
    assert ok("predict", model, table, "--id", "x") == 'x,prediction\n4,c\n1,"ä, b"\n'


def test_columns_go_by_name(model, csv):
    assert ok("predict", model, csv("b,x,a\n9,4,9\n")) == "prediction\nc\n"


def test_several_outputs(csv, tmp_path):
    save(CARTRegressor().fit([[1], [2]], [[1.0, 2], [3, 4]]), tmp_path / "m.arb")
    result = run("predict", tmp_path / "m.arb", csv("x\n2\n"))
    assert result.stdout == "prediction_0,prediction_1\n3.0,4.0\n"


def test_true_and_false(csv, tmp_path):
    ok("train", csv("x,y\n1,true\n2,false\n"), "-t", "y", "-o", tmp_path / "m.arb")
    assert ok("predict", tmp_path / "m.arb", csv("x\n1\n2\n")) == "prediction\nTrue\nFalse\n"


BAD = [
    ("x\n1\n", ["--id", "name"], 1, "no column 'name' for --id"),
    ("X\n1\n", [], 1, "lacks a column the model was trained on: 'x'"),
    ("prediction,x\n1,1\n", ["--id", "prediction"], 2, "rename it"),
    ("x\nred\n", [], 1, "column 'x'"),
    ("x\ninf\n", [], 1, "column 'x' holds an infinite value (row 0)"),
    ("x\n1\n", ["-o", "nowhere/out.csv"], 1, "the directory 'nowhere' does not exist"),
]


@pytest.mark.parametrize(("text", "words", "code", "message"), BAD)
def test_bad_input_is_one_line(model, csv, text, words, code, message):
    found, line = fails("predict", model, csv(text), *words)
    assert found == code
    assert message in line


def test_the_data_are_not_overwritten(model, csv):
    table = csv("x\n1\n")
    code, line = fails("predict", model, table, "-o", table)
    assert code == 2
    assert "it is the data file" in line
    assert table.read_text() == "x\n1\n"


def test_a_regressor_has_no_probabilities(shelf):
    code, line = fails("predict", shelf / "height.arb", shelf / "few.csv", "--proba")
    assert code == 2
    assert "--proba is for models that predict one class" in line


def test_a_cell_of_any_length_and_names_a_terminal_would_obey(tmp_path):
    rows = [f"{i},{i % 7},{'w' * (200_000 if i == 3 else 1)},{'ab'[i % 2]}" for i in range(40)]
    name = "x\x1b[2J\x07"
    (tmp_path / "wide.csv").write_text("\n".join([f"id,{name},text,y", *rows]) + "\n")
    words = ("train", tmp_path / "wide.csv", "-t", "y", "--drop", "text", "-o", tmp_path / "m.arb")
    assert "\x1b" not in ok(*words)
    assert "\x1b" not in ok("describe", tmp_path / "m.arb")
    said = ok("predict", tmp_path / "m.arb", tmp_path / "wide.csv", "--id", "id")
    assert [row["id"] for row in rows_of(said)] == [str(i) for i in range(40)]
