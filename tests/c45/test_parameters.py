"""Every parameter of Quinlan's models does something: another value, another model."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboretum import C45Classifier, C45Rules, ID3Classifier

DATA = Path(__file__).parents[1] / "data" / "c45"
HELD_OUT = {"pruning": "reduced_error", "random_state": 0}

# model, table, parameters before, what changes
CHANGES = [
    (C45Classifier, "breast-cancer.csv", {}, {"confidence": 0.01}),
    (C45Classifier, "breast-cancer.csv", {}, {"min_cases": 10}),
    (C45Classifier, "breast-cancer.csv", {}, {"criterion": "gain"}),
    (C45Classifier, "breast-cancer.csv", {}, {"epsilon": 0.2}),
    (C45Classifier, "soybean.csv.gz", {}, {"gate": False}),
    (C45Classifier, "breast-cancer.csv", {}, {"subset": True}),
    (C45Classifier, "breast-cancer.csv", {}, {"max_depth": 1}),
    (C45Classifier, "breast-cancer.csv", {}, {"pruning": None}),
    (C45Classifier, "soybean.csv.gz", {}, {"subtree_raising": False}),
    (C45Classifier, "breast-cancer.csv", {"pruning": None}, {"collapse": False}),
    (C45Classifier, "breast-cancer.csv", {"confidence": 0.5}, {"error_limit": "binomial"}),
    (C45Classifier, "diabetes.csv", {}, {"error_limit": "weka"}),
    (C45Classifier, "breast-cancer.csv", HELD_OUT, {"holdout": 0.6}),
    (C45Classifier, "breast-cancer.csv", HELD_OUT, {"random_state": 1}),
    (C45Classifier, "breast-cancer.csv", {}, {"laplace": True}),
    (C45Classifier, "breast-cancer.csv", {}, {"class_weight": "balanced"}),
    (C45Classifier, "breast-cancer.csv", {}, {"categorical_features": ["deg-malig"]}),
    (ID3Classifier, "vote.csv", {}, {"epsilon": 0.3}),
    (ID3Classifier, "vote.csv", {}, {"max_depth": 1}),
    (ID3Classifier, "vote.csv", {}, {"min_samples_split": 100}),
    (ID3Classifier, "vote.csv", {}, {"laplace": True}),
    (ID3Classifier, "vote.csv", {"max_depth": 1}, {"class_weight": "balanced"}),
    (ID3Classifier, "diabetes.csv", {"discretize": "mdl"}, {"discretize": "quantile"}),
    (ID3Classifier, "diabetes.csv", {"discretize": "quantile"}, {"n_bins": 3}),
    (C45Rules, "breast-cancer.csv", {}, {"confidence": 0.01}),
    (C45Rules, "breast-cancer.csv", {}, {"min_cases": 10}),
    (C45Rules, "breast-cancer.csv", {}, {"epsilon": 0.1}),
    (C45Rules, "soybean.csv.gz", {}, {"gate": False}),
    (C45Rules, "breast-cancer.csv", {}, {"max_depth": 1}),
    (C45Rules, "breast-cancer.csv", {}, {"subset": True}),
    (C45Rules, "breast-cancer.csv", {}, {"theory_weight": 4.0}),
    (C45Rules, "breast-cancer.csv", {}, {"class_weight": "balanced"}),
]


@pytest.mark.parametrize(("model", "table", "before", "change"), CHANGES)
def test_every_parameter_is_alive(model, table, before, change):
    X = pd.read_csv(DATA / table)
    y = X.pop(X.columns[-1])
    one = model(**before).fit(X, y).predict_proba(X)
    other = model(**{**before, **change}).fit(X, y).predict_proba(X)
    assert not np.allclose(one, other)
