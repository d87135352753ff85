"""`arboretum describe`: what a model file holds, for people and for programs."""

import json

import pytest

from arboretum import DecisionTreeClassifier, __version__, load
from arboretum.io.native import save
from tests.cli.cli_helpers import cells, fact, ok


def test_for_people(shelf):
    text = ok("describe", shelf / "fate.arb")
    model = load(shelf / "fate.arb")
    assert fact(text, "file").startswith(str(shelf / "fate.arb"))
    assert fact(text, "model") == "DecisionTreeClassifier"
    assert fact(text, "written by") == f"arboretum {__version__}"
    assert fact(text, "target") == "fate"
    assert fact(text, "task") == "classification"
    assert fact(text, "size") == f"one tree of {model.get_n_leaves()} leaves, depth 3"
    assert fact(text, "trained on") == "600 rows"
    assert fact(text, "classes") == "dies, survives, thrives"
    assert cells(text, "max_depth") == ["3"]
    assert "criterion='gini'" in fact(text, "defaults")
    assert text.index("soil") < text.index("max_depth") < text.index("criterion")
    assert cells(text, "soil")[1:] == ["yes", "chalk, clay, loam, peat, sand"]
    assert cells(text, "planted")[1] == "dates"
    importance = dict(zip(model.schema_.names, model.feature_importances_))
    assert cells(text, "height_cm")[0] == f"{importance['height_cm']:.3f}"


def test_for_programs(shelf):
    document = json.loads(ok("describe", shelf / "fate.arb", "--json"))
    model = load(shelf / "fate.arb")
    assert document["model"] == "DecisionTreeClassifier"
    assert document["arboretum"] == __version__
    assert document["notes"] == {"target": "fate", "task": "classification"}
    assert document["parameters"] == model.get_params()
    assert document["changed"] == ["max_depth", "random_state"]
    assert document["classes"] == ["dies", "survives", "thrives"]
    assert document["tree"] == {
        "nodes": model.tree_.node_count,
        "leaves": model.get_n_leaves(),
        "depth": 3,
        "rows": 600,
    }
    columns = {column.pop("name"): column for column in document["columns"]}
    assert list(columns) == list(model.schema_.names)
    assert columns["watered"]["categories"] == ["no", "yes"]
    assert columns["watered"]["missing"] is False
    assert columns["ph"]["missing"] is True
    assert columns["ph"]["categories"] is None
    assert sum(column["importance"] for column in columns.values()) == pytest.approx(1)


def test_a_regressor_and_several_outputs(shelf, tmp_path):
    assert "classes" not in ok("describe", shelf / "height.arb")
    assert json.loads(ok("describe", shelf / "height.arb", "--json"))["classes"] is None
    model = DecisionTreeClassifier().fit([[1], [2]], [["a", "x"], ["b", "y"]])
    save(model, tmp_path / "m.arb")
    assert fact(ok("describe", tmp_path / "m.arb"), "outputs") == "2"
    document = json.loads(ok("describe", tmp_path / "m.arb", "--json"))
    assert document["classes"] == [["a", "b"], ["x", "y"]]


def test_parameters_json_does_not_know(tmp_path):
    import numpy as np

    model = DecisionTreeClassifier(
        random_state=np.random.RandomState(0), monotonic_cst=np.array([1])
    )
    save(model.fit([[1], [2]], [0, 1]), tmp_path / "m.arb")
    document = json.loads(ok("describe", tmp_path / "m.arb", "--json"))
    assert document["changed"] == ["monotonic_cst", "random_state"]
    assert "RandomState" in document["parameters"]["random_state"]
    assert cells(ok("describe", tmp_path / "m.arb"), "monotonic_cst") == ["array([1])"]


def test_long_lists_of_categories_are_cut(csv, tmp_path):
    table = csv("x,y\n" + "".join(f"c{i},{i % 2}\n" for i in range(9)))
    ok("train", table, "-t", "y", "-o", tmp_path / "m.arb")
    assert cells(ok("describe", tmp_path / "m.arb"), "x")[1] == "9: c0, c1, c2, c3, c4, c5, …"


def test_boosters_tell_what_was_in_effect(shelf, tmp_path):
    file = tmp_path / "b.arb"
    how = ["--set", "n_estimators=2"]
    ok("train", shelf / "few.csv", "-t", "fate", "--model", "xgb", *how, "-o", file)
    text = ok("describe", file)
    assert "learning_rate=0.3" in fact(text, "defaults")
    assert "objective='multi:softprob'" in fact(text, "defaults")
    assert cells(text, "n_estimators") == ["2"]
    assert "base_score, callbacks" in fact(text, "not set")
    assert "  None" not in text
    document = json.loads(ok("describe", file, "--json"))
    assert document["in_effect"]["max_depth"] == 6
    assert document["parameters"]["max_depth"] is None


def test_counted_importances_are_whole_numbers(shelf, tmp_path):
    file = tmp_path / "b.arb"
    how = ["--set", "n_estimators=3", "--set", "min_child_samples=3"]
    ok("train", shelf / "few.csv", "-t", "fate", "--model", "lgbm", *how, "-o", file)
    counts = dict(zip(load(file).schema_.names, load(file).feature_importances_))
    text = ok("describe", file)
    assert "splits" in text
    assert cells(text, "height_cm")[0] == str(int(counts["height_cm"]))
    assert f"{int(counts['height_cm']):10d}  height_cm" in ok("show", file)
