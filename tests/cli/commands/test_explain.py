"""`arboretum explain`: what it prints is what the worksheet says, and errors are one line."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from arboretum import load
from tests.cli.cli_helpers import fails, ok, run


@pytest.fixture(scope="module")
def booster(shelf):
    path = shelf / "explained.arb"
    result = run("train", shelf / "seedlings.csv", "-t", "height_cm", "--model", "xgb", "-o", path,
                 "--set", "n_estimators=4", "--set", "max_depth=3")  # fmt: skip
    assert result.exit_code == 0, result.output
    return path


def test_what_there_is_to_ask(shelf):
    result = run("explain", shelf / "fate.arb", shelf / "seedlings.csv")
    assert "worksheet of DecisionTreeClassifier" in result.stdout
    assert "Ask ." not in result.stdout  # no Python where commands are typed
    assert "--row NUMBER, --node NUMBER --tree NUMBER" in result.stderr.replace(
        "--node NUMBER --tree NUMBER, --row NUMBER", "--row NUMBER, --node NUMBER --tree NUMBER"
    )
    assert "--round" not in result.stderr  # a tree has none


def test_a_row_of_a_tree_has_its_leaf(shelf):
    output = ok("explain", shelf / "fate.arb", shelf / "seedlings.csv", "--row", "17")
    assert "row 17 in DecisionTreeClassifier" in output
    assert "The way down" in output
    assert "contributions of the columns to row 17" in output
    assert output.count("leaf ") >= 1


def test_a_row_of_a_booster(shelf, booster):
    output = ok("explain", booster, shelf / "seedlings.csv", "--row", "3", "--tree", "1")
    assert "Round by round" in output
    assert "leaf" in output
    assert " of tree 1" in output
    assert "value the model keeps" in output


def test_a_node_and_a_round(shelf, booster):
    tree = load(booster).trees_[2]
    output = ok("explain", booster, shelf / "seedlings.csv", "--node", "0", "--tree", "2")
    assert f"node 0 of tree 2: {tree.condition(0, 0).pretty()}" in output
    assert "Best split of every column" in output
    output = ok("explain", booster, shelf / "seedlings.csv", "--round", "1")
    assert "round 1 of XGBRegressor" in output
    assert "loss after" in output


def test_shap_values_of_all_rows(shelf, booster, tmp_path):
    path = tmp_path / "shap.csv"
    run("explain", booster, shelf / "seedlings.csv", "--shap", path)
    model = load(booster)
    with path.open() as file:
        header, *rows = list(csv.reader(file))
    assert header == ["row", "prediction", *model.schema_.names, "base"]
    values = np.array(rows, dtype=float)
    sums = values[:, 2:].sum(axis=1)
    assert np.allclose(values[:, 1], sums, rtol=1e-6)
    import pandas as pd

    frame = pd.read_csv(shelf / "seedlings.csv")
    frame["planted"] = pd.to_datetime(frame["planted"])
    assert np.allclose(sums, model.predict(frame[list(model.schema_.names)]), rtol=1e-9)


def test_another_file_than_that_of_the_training(shelf, booster):
    few = shelf / "few.csv.gz"
    result = run("explain", booster, few, "--row", "2")
    assert result.exit_code == 0, result.output
    assert "Round by round" in result.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--tree", "1"], 2, "--node NUMBER"),
        (["--row", "1", "--node", "2"], 2, "cannot be combined"),
        (["--row", "600"], 2, "there is no row 600: the file has rows 0 to 599"),
        (["--node", "9999"], 2, "there is no node 9999"),
        (["--node", "0", "--tree", "77"], 2, "there is no tree 77"),
        (["--round", "99"], 2, "error: there is no round 99"),
        (["--node", "0", "--tree", "one"], 2, "--tree takes a number"),
    ],
)
def test_errors(shelf, booster, words, code, message):
    got, line = fails("explain", booster, shelf / "seedlings.csv", *words)
    assert got == code, line
    assert message in line


def test_what_a_tree_has_not(shelf):
    code, line = fails("explain", shelf / "fate.arb", shelf / "seedlings.csv", "--round", "1")
    assert code == 2
    assert "not made in rounds" in line
    assert "worksheet." not in line


@pytest.fixture(scope="module")
def stack(shelf):
    path = shelf / "explained_stack.arb"
    ok("train", shelf / "seedlings.csv", "-t", "fate", "--model", "stack", "-o", path)
    return path


def test_a_member_of_a_stack_has_classes_by_name(shelf, stack):
    table, member = shelf / "seedlings.csv", "random_forest"
    output = ok("explain", stack, table, "--member", member, "--tree", "1", "--node", "0")
    assert "node 0 of tree 1" in output
    names = [str(name) for name in load(stack).classes_]
    assert any(f"{name} (probability" in output for name in names)
    row = ok("explain", stack, table, "--member", member, "--row", "3")
    assert "row 3 in RandomForestClassifier" in row
    assert "contributions of the columns to row 3" in row


def test_a_row_of_a_stack_says_how_to_go_on(shelf, stack):
    result = run("explain", stack, shelf / "seedlings.csv", "--row", "3")
    assert "What the final model" in result.stdout
    assert "add --member, one of random_forest" in result.stderr
    assert "model." not in result.stderr
    overview = run("explain", stack, shelf / "seedlings.csv")
    assert "--member NAME one of random_forest" in overview.stderr
    assert "Ask ." not in overview.stdout


def test_the_final_model_of_a_stack(shelf, stack):
    table = shelf / "seedlings.csv"
    final = run("explain", stack, table, "--member", "final")
    assert "Weights of the final model" in final.stdout
    assert "--member final" not in final.stderr  # it has no trees
    row = ok("explain", stack, table, "--member", "final", "--row", "3")
    assert "What the final model" in row


def test_a_row_of_another_file_is_not_said_to_be_of_the_training(shelf, tmp_path):
    table = shelf / "seedlings.csv"
    part = tmp_path / "part.csv"
    part.write_text("".join(table.read_text().splitlines(keepends=True)[:40]))
    assert "in training" in ok("explain", shelf / "fate.arb", table, "--row", "3")
    result = run("explain", shelf / "fate.arb", part, "--row", "3")
    assert "in training" not in result.stdout
    assert "in the table" in result.stdout
    assert (
        "no worksheet of its leaf: worksheets need the training file: DecisionTreeClassifier was trained on"
        in result.stderr
    )


def test_errors_about_members(shelf, stack):
    table = shelf / "seedlings.csv"
    code, told = fails("explain", stack, table, "--node", "0")
    assert (code, "add --member, one of random_forest" in told) == (2, True)
    code, told = fails("explain", stack, table, "--member", "nobody", "--node", "0")
    assert (code, "no model 'nobody'" in told) == (2, True)
    code, told = fails("explain", stack, table, "--round", "0")
    assert (code, "no round of its own: add --member, one of random_forest" in told) == (2, True)
    code, told = fails("explain", stack, table, "--member", "final", "--node", "0")
    assert (code, "not kept" in told) == (2, True)
    code, told = fails("explain", stack, table, "--shap", shelf / "stack.csv")
    assert (code, "add --member, one of random_forest" in told) == (2, True)
    assert "estimators_" not in told
    code, told = fails("explain", shelf / "fate.arb", table, "--member", "tree")
    assert (code, "not made of other models" in told) == (2, True)


@pytest.mark.parametrize("name", ["lgbm", "rf", "c45", "gbm", "stacking"])
def test_a_row_of_new_rows(csv, tmp_path, name):
    """Probabilities have the name of a class; an unseen word is named once, by the row's number."""
    rows = [f"{i % 5},{'abc'[i % 3]},{'Yes' if i % 3 else 'No'}" for i in range(60)]
    model, new = tmp_path / "m.arb", tmp_path / "new.csv"
    ok("train", csv("x,plan,y\n" + "\n".join(rows) + "\n"), "-t", "y", "--model", name, "-o", model)
    new.write_text("x,plan,y\n1,a,Yes\n2,b,No\n3,zzz,Yes\n4,other,No\n")
    result = run("explain", model, new, "--row", 2)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("unseen at fit") == 1, result.stderr
    assert "'zzz' (row 2)" in result.stderr
    if name in ("lgbm", "rf", "c45"):
        assert re.search(r"^probability of (Yes|No) +[01]\.", result.stdout, re.MULTILINE)
