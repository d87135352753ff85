"""AdaBoost and stacks from the command line."""

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum import load
from arboretum.cli.files import features_of
from arboretum.cli.reading import read_data
from tests.cli.cli_helpers import fails, ok

CLASSES = {
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "stack": ("StackingClassifier", "StackingRegressor"),
}


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize(("target", "task"), [("fate", 0), ("height_cm", 1)])
@pytest.mark.parametrize("name", list(CLASSES))
def test_every_command_takes_them(shelf, tmp_path, name, target, task):
    file, data = tmp_path / "model.arb", shelf / "seedlings.csv"
    options = ["--set", "n_estimators=7"] if name == "adaboost" else ["--set", "cv=3"]
    ok("train", data, "-t", target, "--model", name, *options, "-o", file)
    model = load(file)
    assert type(model) is getattr(arboretum, CLASSES[name][task])
    features = features_of(model, read_data(data), known=[target]).table
    truth = pd.read_csv(data)[target].to_numpy()
    assert f"{model.score(features, truth):.4f}" in ok("evaluate", file, data)
    ok("predict", file, data, "-o", tmp_path / "p.csv", *(["--proba"] if task == 0 else []))
    answers = pd.read_csv(tmp_path / "p.csv")
    if task == 0:
        assert answers["prediction"].tolist() == model.predict(features).tolist()
        np.testing.assert_allclose(answers.iloc[:, 1:], model.predict_proba(features))
    else:
        np.testing.assert_allclose(answers["prediction"], model.predict(features))
    described = ok("describe", file)
    assert f"{len(truth)} rows" in described
    shown = ok("show", file)
    if name == "adaboost":
        assert f"{len(model)} trees of" in described
        assert "importance" in shown
        assert model.schema_.names[0] in ok("show", file, "--tree", 0) + shown
        assert f"tree 1 of {len(model)}, estimator weight " in ok("show", file, "--tree", 1)
    else:
        assert "on their predictions" in described
        assert "add --member random_forest, extra_trees, adaboost\n" in shown
        for words in (["--tree", 0], ["--format", "rules"], ["-o", tmp_path / "t.png"]):
            message = fails("show", file, *words)[1]
            assert f"{type(model).__name__} joins other models" in message
            assert "add --member, one of random_forest, extra_trees, adaboost" in message
        one = ok("show", file, "--member", "random_forest", "--tree", 3)
        assert one.startswith("tree 3 of 100\n")
        assert model.schema_.names[0] in ok("show", file, "--member", "random_forest")
        assert "there is random_forest, " in fails("show", file, "--member", "final")[1]  # linear
        trees = arboretum.CARTClassifier if task == 0 else arboretum.CARTRegressor
        model.set_params(final_estimator=trees(max_depth=2)).fit(features, truth).save(file)
        assert "THEN" in ok("show", file, "--member", "final", "--format", "rules")
        assert "there is random_forest, " in fails("show", file, "--member", "svm")[1]
        if task == 0:
            assert "class: survives" in one  # by name, not by the number that the stack tells it


def test_a_vote_shows_its_models(shelf, tmp_path):
    file = tmp_path / "vote.arb"
    ok("train", shelf / "few.csv", "-t", "fate", "--model", "vote", "-o", file)
    names = list(load(file).named_estimators_)
    assert f"add --member {', '.join(names)}" in ok("show", file)
    assert ok("show", file, "--member", names[0], "--tree", 0).startswith("tree 0 of ")
    assert "leave it out" in fails("show", shelf / "fate.arb", "--member", "x")[1]
