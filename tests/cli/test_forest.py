"""Forests and bags from the command line: training, judging, predicting, describing, showing."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum import export_text, load
from arboretum.cli.files import features_of
from arboretum.cli.reading import read_data
from tests.cli.cli_helpers import fails, ok

CLASSES = {
    "rf": ("RandomForestClassifier", "RandomForestRegressor"),
    "extratrees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
}


@pytest.fixture(scope="module")
def forests(shelf, tmp_path_factory):
    """A file of every kind and task, trained with the command."""
    folder = tmp_path_factory.mktemp("forests")
    for name in CLASSES:
        for target, task in (("fate", 0), ("height_cm", 1)):
            ok("train", shelf / "seedlings.csv", "-t", target, "--model", name, "--set",
               "n_estimators=7", "-o", folder / f"{name}{task}.arb")  # fmt: skip
    return folder


@pytest.mark.parametrize("task", [0, 1])
@pytest.mark.parametrize("name", list(CLASSES))
def test_every_command_takes_forests(shelf, forests, tmp_path, name, task):
    file, data = forests / f"{name}{task}.arb", shelf / "seedlings.csv"
    model = load(file)
    assert type(model) is getattr(arboretum, CLASSES[name][task])
    frame = pd.read_csv(data)
    truth = frame[model.notes_["target"]].to_numpy()
    features = features_of(model, read_data(data), known=[model.notes_["target"]]).table
    evaluated = ok("evaluate", file, data)
    assert f"{model.score(features, truth):.4f}" in evaluated
    ok("predict", file, data, "-o", tmp_path / "p.csv", *(["--proba"] if task == 0 else []))
    answers = pd.read_csv(tmp_path / "p.csv")
    if task == 0:
        assert answers["prediction"].tolist() == model.predict(features).tolist()
        np.testing.assert_allclose(answers.iloc[:, 1:], model.predict_proba(features))
    else:
        np.testing.assert_allclose(answers["prediction"], model.predict(features))
    described = ok("describe", file)
    assert "7 trees of" in described
    assert f"{len(frame)} rows" in described
    document = json.loads(ok("describe", file, "--json"))
    assert document["forest"]["estimators"] == 7
    assert document["forest"]["rows"] == len(frame)
    shares = [column["importance"] for column in document["columns"]]
    np.testing.assert_allclose(shares, model.feature_importances_)


@pytest.mark.parametrize("name", list(CLASSES))
def test_a_forest_is_shown_by_size_and_importances(forests, name):
    model = load(forests / f"{name}0.arb")
    text = ok("show", forests / f"{name}0.arb")
    assert text.startswith(f"{type(model).__name__}: 7 trees of ")
    assert "--tree 0 … 6" in text
    lines = re.findall(r"^ +([\d.]+)  (.+)$", text, re.MULTILINE)
    shares = [float(share) for share, _ in lines]
    assert shares == sorted(shares, reverse=True)
    best = model.feature_names_in_[model.feature_importances_.argmax()]
    assert lines[0][1] == best


@pytest.mark.parametrize("task", [0, 1])
@pytest.mark.parametrize("name", list(CLASSES))
def test_one_tree_is_shown_in_every_format(forests, tmp_path, name, task):
    file = forests / f"{name}{task}.arb"
    text = ok("show", file, "--tree", "2", "--max-depth", "2")
    assert text.startswith("tree 2 of 7\n|--- ")
    assert text != ok("show", file, "--tree", "3", "--max-depth", "2")
    if name == "bagging":
        assert text == "tree 2 of 7\n" + export_text(load(file).estimators_[2], max_depth=2)
    if task == 0:
        assert any(label in text for label in map(str, load(file).classes_))
    assert ok("show", file, "--tree", "0", "--format", "rules").startswith("tree 0 of 7\nIF ")
    dot = ok("show", file, "--tree", "-1", "--format", "dot")
    assert dot.startswith("digraph")
    assert "tree 6 of 7" in dot
    if (name, task) == ("rf", 0):
        ok("show", file, "--tree", "0", "--max-depth", "2", "-o", tmp_path / "tree.png")
        assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_command_gives_the_same_file(shelf, tmp_path):
    for name, jobs in (("a", 1), ("b", 2)):
        ok("train", shelf / "few.csv", "-t", "fate", "--model", "rf", "--set", "n_estimators=5",
           "--seed", "4", "--set", f"n_jobs={jobs}", "-o", tmp_path / f"{name}.arb")  # fmt: skip
    first, second = (load(tmp_path / f"{name}.arb") for name in "ab")
    for one, two in zip(first.trees_, second.trees_, strict=True):
        np.testing.assert_array_equal(one.threshold, two.threshold)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tree", "7"], "--tree: there is no tree 7, RandomForestClassifier has trees 0 to 6"),
        (["--tree", "-8"], "--tree: there is no tree -8"),
        (["--tree", "0,1"], "--tree: tree must be a whole number for RandomForestClassifier"),
        (["--tree", "last"], "--tree takes a number, for boosters also round,class"),
        (["--tree", "3,"], "--tree takes a number"),
    ],
)
def test_what_cannot_be_shown_is_one_line(forests, words, message):
    code, line = fails("show", forests / "rf0.arb", *words)
    assert code == 2
    assert message in line


def test_where_no_tree_is_named_the_first_one_is_shown(forests):
    file = forests / "rf0.arb"
    for words in (["--format", "dot"], ["--format", "rules"], ["--max-depth", "1"]):
        assert ok("show", file, *words) == ok("show", file, "--tree", "0", *words)


def test_a_single_tree_is_tree_0(shelf):
    assert ok("show", shelf / "fate.arb", "--tree", "0") == ok("show", shelf / "fate.arb")
    code, line = fails("show", shelf / "fate.arb", "--tree", "1")
    assert code == 2
    assert "--tree: there is no tree 1, DecisionTreeClassifier has only tree 0" in line


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        (
            "rf",
            ["--set", "n_estimators=0"],
            "'n_estimators' parameter of RandomForestClassifier must be",
        ),
        ("rf", ["--prune-cv"], "RandomForestClassifier has no pruning path"),
        ("extratrees", ["--set", "oob_score=True"], "bootstrap=True"),
        ("bagging", ["--set", "max_features=99"], "max_features is 99"),
        ("extratreez", [], "did you mean 'extratree'?"),
    ],
)
def test_a_wrong_command_is_one_line(shelf, tmp_path, model, words, message):
    _, line = fails(
        "train", shelf / "few.csv", "-t", "fate", "--model", model, *words, "-o", tmp_path / "m.arb"
    )
    assert message in line
    assert not (tmp_path / "m.arb").exists()


def test_commands_without_a_target_take_isolation_forests(shelf, tmp_path):
    data = shelf / "seedlings.csv"
    model = arboretum.IsolationForest(n_estimators=7, contamination=0.1, random_state=0).fit(data)
    model.save(tmp_path / "odd.arb")
    ok("predict", tmp_path / "odd.arb", data, "-o", tmp_path / "p.csv")
    answers = pd.read_csv(tmp_path / "p.csv")["prediction"]
    np.testing.assert_array_equal(answers, model.predict(data))
    assert set(answers) == {-1, 1}
    assert "7 trees of" in ok("describe", tmp_path / "odd.arb")
    assert ok("show", tmp_path / "odd.arb", "--tree", "3").startswith("tree 3 of 7")
    leaves = arboretum.RandomTreesEmbedding(3, random_state=0).fit(data)
    leaves.save(tmp_path / "leaves.arb")
    assert "does not predict" in fails("predict", tmp_path / "leaves.arb", data)[1]
