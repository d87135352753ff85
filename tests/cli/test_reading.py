"""Data files as people have them: what is found out, what can be said, and what the model remembers of it."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum.cli.reading import Reading, read_data
from arboretum.errors import DataError, ParameterError
from tests.cli.cli_helpers import fact, fails, ok, rows_of, run

N = 200


def messy(path, n=N, seed=0):
    """Write what a spreadsheet of a Swiss shop looks like."""
    rng = np.random.default_rng(seed)
    income, day = 1e4 + 8e4 * rng.random(n), rng.integers(1, 29, n)
    lines = ["id;when;income;rate;town;price;bought"]
    for i in range(n):
        money = f"{income[i]:,.2f}".translate(str.maketrans(",.", ".,"))
        price = f"${income[i] / 40:,.2f}"
        bought = "" if i % 20 == 7 else ("yes" if income[i] > 5e4 else "no")
        when = f"{day[i]:02d}/{1 + i % 12:02d}/2023"
        lines.append(f"C{i:04d};{when};{money};{i % 90}%;Zürich;{price};{bought}")
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    return path


READ = ["--drop", "id", "--as-number", "income", "--as-number", "rate", "--as-number", "price"]
READ += ["--as-date", "when"]


@pytest.fixture
def data(tmp_path):
    return messy(tmp_path / "messy.csv")


def test_what_was_found_out_is_told(data, tmp_path):
    result = run("train", data, "-t", "bought", "-o", tmp_path / "m.arb")
    assert result.exit_code == 0
    for words in (
        "read as cp1252, because it is not UTF-8 text",
        "fields are separated by semicolons",
        f"10 rows of {N} without 'bought' left out",
        "column 'id' holds a different word in nearly every row",
        "columns 'income', 'rate', 'price' hold numbers written as words",
        "column 'when' holds dates written as words",
        "column 'town' holds the same value in every row",
    ):
        assert words in result.stderr, words


def test_words_are_read_as_numbers_and_dates_and_the_model_knows_it(data, tmp_path):
    model, other = tmp_path / "m.arb", messy(tmp_path / "new.csv", 50, seed=1)
    output = ok("train", data, "-t", "bought", "-o", model, *READ)
    assert f"{N - 10} of them for training" in " ".join(
        output.split()
    )  # the line is broken where the path is long
    schema = arboretum.load(model).schema_
    kinds = {column.name: column.dtype for column in schema.columns}
    assert kinds == {
        "when": "datetime", "income": "float64", "rate": "float64", "town": "str", "price": "float64",
    }  # fmt: skip
    predicted = rows_of(ok("predict", model, other))
    truth = pd.read_csv(other, sep=";", encoding="cp1252")["bought"]
    known = truth.notna()
    answers = pd.Series([row["prediction"] for row in predicted])
    assert (answers[known] == truth[known]).mean() > 0.95
    assert "accuracy" in ok("evaluate", model, other)


def test_a_target_of_written_numbers_is_not_600_classes(data, tmp_path):
    code, line = fails("train", data, "-t", "price", "-o", tmp_path / "m.arb")
    assert code == 1
    assert "numbers written as words, e.g. '$" in line
    assert "--as-number" in line
    output = ok(
        "train",
        data,
        "-t",
        "price",
        "--as-number",
        "price",
        "--drop",
        "id",
        "-o",
        tmp_path / "m.arb",
    )
    assert fact(output, "target").startswith("price: regression")


def test_options_that_force(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("1,5!a\n2,5!miss\n3,5!b\n")
    words = ["--sep", "!", "--decimal", ",", "--na", "miss", "--no-header", "--encoding", "utf-8"]
    output = ok("train", path, "-t", "x1", "-o", tmp_path / "m.arb", *words)
    assert "2 of them for training" in fact(output, "data")
    assert len(rows_of(ok("predict", tmp_path / "m.arb", path, *words))) == 3


BAD = [
    (["--sep", ";;"], "--sep is one character"),
    (["--decimal", "x"], "--decimal is . or ,"),
    (["--encoding", "klingon"], "unknown encoding 'klingon'"),
    (["--as-number", "town"], "column 'town' cannot be read as numbers: 'Zürich'"),
    (["--as-date", "town"], "column 'town' cannot be read as dates"),
    (["--as-date", "when=%Y"], "--as-date when=%d.%m.%Y"),
    (["--as-number", "inkome"], "no column 'inkome' for --as-number (did you mean 'income'?)"),
    (["--as-number", "when", "--as-date", "when"], "both a number and a date"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_wrong_options_are_one_line(data, tmp_path, words, message):
    _, line = fails("train", data, "-t", "bought", "-o", tmp_path / "m.arb", *words)
    assert message in line


def test_dates_of_a_given_form(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("when,y\n03/04/2024,1\n05/06/2024,2\n")
    day_first = read_data(path, Reading(as_date=("when",))).table.columns[0].values
    month_first = read_data(path, Reading(as_date=("when=%m/%d/%Y",))).table.columns[0].values
    assert (day_first[0] - month_first[0]) / 86400 == 30  # 3 April, 4 March
    with pytest.raises(DataError, match="cannot be read as dates"):
        read_data(path, Reading(as_date=("when=%Y",)))


def test_standard_input_and_parquet(data, tmp_path, monkeypatch):
    model, output = tmp_path / "m.arb", tmp_path / "out.parquet"
    ok("train", data, "-t", "bought", "-o", model, *READ)
    stdin = io.TextIOWrapper(io.BytesIO(data.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    from arboretum.cli.commands.predict import predict

    predict(model, "-", output, proba=True, identifier="id")
    table = pd.read_parquet(output)
    assert list(table.columns) == ["id", "prediction", "p_no", "p_yes"]
    assert len(table) == N
    assert table["p_no"].dtype == np.float64
    _, line = fails("predict", model, data, "-o", tmp_path / "out.xlsx")
    assert "predictions are .csv or .parquet" in line


def test_dates_go_both_ways_between_files_and_frames(tmp_path):
    path, model = tmp_path / "d.csv", tmp_path / "m.arb"
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 120), "D")
    frame = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "x": rng.normal(size=120)})
    frame["y"] = np.where(days > pd.Timestamp("2024-06-01"), "late", "early")
    frame.to_csv(path, index=False)
    ok("train", path, "-t", "y", "-o", model)
    expected = [row["prediction"] for row in rows_of(ok("predict", model, path))]
    X = pd.read_csv(path).drop(columns="y")
    assert arboretum.load(model).predict(X).tolist() == expected
    with pytest.warns(arboretum.SuspiciousColumnWarning, match="dates written as words"):
        arboretum.CARTClassifier().fit(X, frame["y"]).save(model)
    assert [row["prediction"] for row in rows_of(ok("predict", model, path))] == frame["y"].tolist()


def test_a_target_of_one_value_and_of_many_is_told(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{i},a\n" for i in range(30)))
    (line,) = run("train", path, "-t", "y", "-o", tmp_path / "m.arb").stderr.splitlines()
    assert "the target is constant ('a' in all 30 rows)" in line
    path.write_text("x,y\n" + "".join(f"{i},w{i}\n" for i in range(600)))
    stderr = run("train", path, "-t", "y", "-o", tmp_path / "m.arb", "--set", "max_depth=1").stderr
    assert "holds 600 classes: the model will be large" in stderr


@pytest.mark.parametrize(
    ("typed", "name"),
    [("xgboost", "XGB"), ("RandomForest", "RandomForest"), ("random-forest", "RandomForest"),
     ("LGBMClassifier", "LGBM"), ("decision_tree", "DecisionTree"), ("vote", "Voting")],
)  # fmt: skip
def test_names_that_people_type(typed, name):
    from arboretum.cli.models import find_estimator

    assert find_estimator(typed, "classification").__name__ == f"{name}Classifier"


def test_unknown_names_suggest_the_right_one():
    from arboretum.cli.models import check_model

    with pytest.raises(ParameterError, match="did you mean 'rf'"):
        check_model("randomforests")
    with pytest.raises(ParameterError, match="did you mean 'xgb'"):
        check_model("xgbost")


def test_set_help_lists_the_parameters(data, tmp_path):
    output = ok(
        "train", data, "-t", "bought", "-o", tmp_path / "m.arb", "--model", "rf", "--set", "help"
    )
    assert "n_estimators : int ≥ 1, default=100" in output
    assert not (tmp_path / "m.arb").exists()


def test_no_color_is_honoured(monkeypatch, capfd):
    from arboretum.cli.guard import complain

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    complain("nothing works")
    assert capfd.readouterr().err == "error: nothing works\n"


def test_progress_is_told_with_counts_and_the_time_left(monkeypatch, capsys):
    from arboretum import RandomForestClassifier
    from arboretum.base import progress
    from arboretum.cli import screen

    monkeypatch.setattr(screen, "_BETWEEN", 0.0)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    with screen.stage("training"):
        RandomForestClassifier(60, random_state=0, n_jobs=1).fit(X, y)
    told = capsys.readouterr().err
    assert "note: training …" in told
    assert "of 60, about 1 s left" in told


def test_a_bar_on_a_terminal(monkeypatch):
    from rich.console import Console

    from arboretum import GradientBoostingClassifier
    from arboretum.cli import screen

    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100, no_color=True)
    monkeypatch.setattr(screen, "_console", lambda **_: console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    with screen.stage("training"):
        GradientBoostingClassifier(n_estimators=30).fit(X, y)
    assert "GradientBoostingClassifier" in shown.getvalue()
    assert "30 of 30" in shown.getvalue()
