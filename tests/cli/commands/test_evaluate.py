"""`arboretum evaluate`: the figures are scikit-learn's, the tables are right."""

import numpy as np
import pytest
from sklearn import metrics

import arboretum
from arboretum import DecisionTreeClassifier, DecisionTreeRegressor, load
from arboretum.io.native import save
from tests.cli.cli_helpers import cells, fails, ok, run


def read(shelf):
    import pandas as pd

    frame = pd.read_csv(shelf / "seedlings.csv")
    frame["planted"] = pd.to_datetime(frame["planted"])
    return frame


def test_classification_figures(shelf):
    output = ok("evaluate", shelf / "fate.arb", shelf / "seedlings.csv")
    frame, model = read(shelf), load(shelf / "fate.arb")
    X, y = frame[list(model.feature_names_in_)], frame["fate"]
    guess = model.predict(X)
    assert f"DecisionTreeClassifier on 600 rows of {shelf / 'seedlings.csv'}" in output
    expected = {
        "accuracy": metrics.accuracy_score(y, guess),
        "balanced accuracy": metrics.balanced_accuracy_score(y, guess),
        "log loss": metrics.log_loss(y, model.predict_proba(X)),
    }
    for name, value in expected.items():
        assert cells(output, name) == [f"{value:.4f}"]
    assert "ROC AUC" not in output  # three classes
    by_class = output[output.index("Class by class") : output.index("Confusion matrix")]
    matrix = output[output.index("Confusion matrix") :]
    counts = metrics.confusion_matrix(y, guess)
    for k, name in enumerate(model.classes_):
        precision, recall = counts[k, k] / counts[:, k].sum(), counts[k, k] / counts[k].sum()
        row = cells(by_class, name)
        assert row[:2] == [f"{precision:.3f}", f"{recall:.3f}"]
        assert row[3] == str(counts[k].sum())
        assert cells(matrix, name) == [str(c) for c in counts[k]]


def test_two_classes_have_an_area_under_the_curve(shelf):
    output = ok("evaluate", shelf / "watered.arb", shelf / "seedlings.csv")
    frame, model = read(shelf), load(shelf / "watered.arb")
    share = model.predict_proba(frame[list(model.feature_names_in_)])[:, 1]
    area = metrics.roc_auc_score(frame["watered"] == "yes", share)
    assert cells(output, "ROC AUC") == [f"{area:.4f}"]


def test_regression_figures(shelf):
    output = ok("evaluate", shelf / "height.arb", shelf / "seedlings.csv")
    frame, model = read(shelf), load(shelf / "height.arb")
    y, guess = frame["height_cm"], model.predict(frame[list(model.feature_names_in_)])
    assert cells(output, "R²") == [f"{metrics.r2_score(y, guess):.4f}"]
    assert cells(output, "RMSE") == [f"{np.sqrt(((y - guess) ** 2).mean()):.4f}"]
    assert cells(output, "MAE") == [f"{np.abs(y - guess).mean():.4f}"]
    assert "Confusion" not in output


@pytest.fixture
def model(csv, tmp_path):
    """A model that says "a" up to 2 and "b" beyond."""
    table = csv("x,y\n1,a\n2,a\n3,b\n4,b\n", "training.csv")
    ok("train", table, "-t", "y", "-o", tmp_path / "m.arb")
    return tmp_path / "m.arb"


def test_weights(model, csv):
    table = csv("x,y,w\n1,a,3\n1,b,1\n")
    result = run("evaluate", model, table, "--weight", "w")
    assert cells(result.stdout, "accuracy") == ["0.7500"]
    assert "weighted by w" in result.stdout
    assert result.stderr == ""
    result = run("evaluate", model, table)
    assert cells(result.stdout, "accuracy") == ["0.5000"]
    assert "'w'" in result.stderr  # left out, with a note


def test_another_target(model, csv):
    table = csv("x,y,truth\n1,a,b\n4,b,b\n")
    assert cells(ok("evaluate", model, table), "accuracy") == ["1.0000"]
    output = ok("evaluate", model, table, "--target", "truth")
    assert cells(output, "accuracy") == ["0.5000"]


def test_a_class_the_model_does_not_know_is_an_error_of_the_model(model, csv):
    output = ok("evaluate", model, csv("x,y\n1,a\n2,a\n3,b\n4,c\n"))
    assert cells(output, "accuracy") == ["0.7500"]
    assert "log loss" not in output[: output.index("note")]
    assert "was trained without the class 'c'" in output
    assert cells(output[output.index("Confusion") :], "c") == ["0", "1", "0"]


def test_one_class_only(model, csv):
    output = ok("evaluate", model, csv("x,y\n1,a\n2,a\n"))
    assert cells(output, "ROC AUC") == ["undefined"]
    assert "needs rows of both classes" in output


def test_one_row_has_no_r2(csv, tmp_path):
    ok("train", csv("x,y\n1,1.5\n2,2.5\n"), "-t", "y", "-o", tmp_path / "m.arb")
    output = ok("evaluate", tmp_path / "m.arb", csv("x,y\n1,2\n", "one.csv"))
    assert cells(output, "R²") == ["undefined"]
    assert cells(output, "MAE") == ["0.5000"]


def test_many_classes_are_not_drawn_as_a_matrix(csv, tmp_path):
    rows = "".join(f"{i % 15},k{i % 15:02}\n" for i in range(60))
    ok("train", csv("x,y\n" + rows, "a.csv"), "-t", "y", "-o", tmp_path / "m.arb")
    wrong = "".join("3,k07\n" for _ in range(4)) + "1,k02\n"
    output = ok("evaluate", tmp_path / "m.arb", csv("x,y\n" + rows + wrong, "b.csv"))
    assert "Confusion matrix" not in output
    table = output[output.index("Most frequent confusions among 15 classes") :]
    assert cells(table, "k07") == ["k03", "4"]
    assert cells(table, "k02") == ["k01", "1"]
    assert "k05" not in table


def test_numbers_as_classes_match_however_they_are_written(csv, tmp_path):
    ok("train", csv("x,y\n1,0\n2,1\n3,0\n4,1\n"), "-t", "y", "-o", tmp_path / "m.arb")
    output = ok("evaluate", tmp_path / "m.arb", csv("x,y\n1,0.0\n2,1.0\n", "b.csv"))
    assert cells(output, "accuracy") == ["1.0000"]


def test_unseen_categories_are_a_warning_in_one_line(csv, tmp_path):
    ok("train", csv("x,y\nr,a\ng,b\n"), "-t", "y", "-o", tmp_path / "m.arb")
    result = run("evaluate", tmp_path / "m.arb", csv("x,y\nblue,a\nr,a\n", "b.csv"))
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("warning: ")
    assert "blue" in lines[0]


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize("command", ["evaluate", "report", "explain"])
def test_a_model_without_a_target(command, csv, tmp_path):
    arboretum.IsolationForest(n_estimators=5).fit([[1.0], [2.0]]).save(tmp_path / "m.arb")
    code, line = fails(command, tmp_path / "m.arb", csv("x,y\n1,a\n2,b\n"))
    assert code == 2
    assert "IsolationForest learns without a target: predict, show and describe take it" in line


def test_a_model_that_does_not_know_its_target(shelf, csv, tmp_path):
    table = csv("x,y\n1,a\n2,b\n")
    arboretum.DecisionTreeClassifier().fit([[1], [2]], ["a", "b"]).save(tmp_path / "m.arb")
    code, line = fails("evaluate", tmp_path / "m.arb", table)
    assert code == 2
    assert "does not name its target: give --target COLUMN" in line
    # trained without names: columns are taken in order, and a warning says so
    result = run("evaluate", tmp_path / "m.arb", table, "--target", "y")
    assert cells(result.stdout, "accuracy") == ["1.0000"]
    assert result.stderr.startswith("warning: X has feature names")


def test_several_outputs_are_judged_in_python(csv, tmp_path):
    model = DecisionTreeRegressor().fit([[1], [2]], [[1.0, 2], [3, 4]])
    save(model, tmp_path / "m.arb")
    code, line = fails("evaluate", tmp_path / "m.arb", csv("x,y\n1,2\n"), "-t", "y")
    assert code == 1
    assert "predicts 2 targets at once" in line


BAD = [
    ("x,z\n1,a\n", [], "no column 'y' for the target"),
    ("x,z\n1,a\n", ["--target", "zz"], "no column 'zz' for the target (did you mean 'z'?)"),
    ("xx,y\n1,a\n", [], "lacks a column the model was trained on: 'x' (did you mean 'xx'?)"),
    ("x,y\n1,no\n2,yes\n", [], "holds 'no', 'yes', the model has the classes 'a', 'b'"),
    ("x,y\n1,\n2,\n", [], "has no value in any row"),
    ("x,y,w\n1,a,1\n", ["--weight", "v"], "no column 'v' for the weights"),
    ("x,y,w\n1,a,0\n", ["--weight", "w"], "weight column 'w': sample_weight is zero in every row"),
    ("x,y\nred,a\n", [], "column 'x'"),
]


@pytest.mark.parametrize(("text", "words", "message"), BAD)
def test_bad_data_are_one_line(model, csv, text, words, message):
    code, line = fails("evaluate", model, csv(text), *words)
    assert code == 1
    assert message in line


def test_a_classifier_is_not_judged_by_fractions(model, csv):
    code, line = fails("evaluate", model, csv("x,y\n1,0.5\n"))
    assert code == 1
    assert "target 'y'" in line
    assert isinstance(load(model), DecisionTreeClassifier)


def test_only_held_out_rows_of_the_training_file_are_scored(shelf, tmp_path):
    data, model = shelf / "seedlings.csv", tmp_path / "m.arb"
    trained = ok("train", data, "-t", "fate", "--test-size", 0.25, "--seed", 1, "-o", model)
    result = run("evaluate", model, data)
    assert "on 150 held-out rows of" in result.stdout
    assert (
        "only its 150 held-out rows (--test-size) are scored, not the 450 training rows"
        in result.stderr
    )
    for name in ("accuracy", "balanced accuracy"):
        assert cells(result.stdout, name) == cells(trained, name)


def test_all_rows_of_another_file_are_scored(shelf, tmp_path):
    data, model, other = shelf / "seedlings.csv", tmp_path / "m.arb", tmp_path / "other.csv"
    ok("train", data, "-t", "fate", "--test-size", 0.25, "-o", model)
    header, *lines = data.read_text().splitlines()
    other.write_text("\n".join([header, *lines[::-1]]) + "\n")  # as many rows, in another order
    assert "DecisionTreeClassifier on 600 rows of" in ok("evaluate", model, other)
