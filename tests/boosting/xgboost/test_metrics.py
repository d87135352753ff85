"""A metric of the user's own gets from XGBoost's API what xgboost gives it, and joins the metrics by name."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import log_loss

import arboretum
from arboretum import XGBClassifier, XGBRegressor
from arboretum.errors import ArboretumError
from tests.boosting.xgboost.xgb_cases import halves, numbers, thirds

X, Y = numbers(160)
WEIGHT = np.random.default_rng(3).uniform(0.1, 3.0, 160)


def logistic(y, margin):
    p = 1 / (1 + np.exp(-margin))
    return p - y, p * (1 - p)


def softmax(y, margin):
    shares = np.exp(margin - margin.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares - np.eye(3)[y.astype(int)], np.maximum(2 * shares * (1 - shares), 1e-6)


def squares(y, margin):
    return margin - y, np.ones_like(y)


GIVEN = {
    "numbers": ("XGBRegressor", None, {}),
    "own objective of numbers": ("XGBRegressor", None, {"objective": squares}),
    "two classes": ("XGBClassifier", halves, {}),
    "raw margins": ("XGBClassifier", halves, {"objective": "binary:logitraw"}),
    "hinge": ("XGBClassifier", halves, {"objective": "binary:hinge"}),
    "own objective of two": ("XGBClassifier", halves, {"objective": logistic, "base_score": 0.5}),
    "shares": ("XGBClassifier", thirds, {"objective": "multi:softprob"}),
    "labels": ("XGBClassifier", thirds, {"objective": "multi:softmax"}),
    "own objective of three": ("XGBClassifier", thirds, {"objective": softmax}),
}


@pytest.mark.parametrize(("name", "kind", "how"), GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_function_is_given_what_xgboost_gives_it(name, kind, how, weighted):
    xgboost = pytest.importorskip("xgboost")
    y = Y if kind is None else kind(Y)
    seen = []

    def metric(truth, prediction, sample_weight=None):
        seen.append((truth, prediction, sample_weight))
        return 0.5

    metrics = []
    for module in (arboretum, xgboost):
        make = getattr(module, name)
        model = make(
            n_estimators=1, max_depth=2, min_child_weight=5, eval_metric=metric, tree_method="exact", **how
        )  # fmt: skip
        weights = {"sample_weight_eval_set": [WEIGHT]} if weighted else {}
        model.fit(X, y, eval_set=[(X, y)], verbose=False, **weights)
        metrics.append(list(model.evals_result()["validation_0"]))
    (truth, prediction, weight), peer = seen
    assert prediction.shape == peer[1].shape
    np.testing.assert_allclose(truth, peer[0], rtol=1e-6)
    np.testing.assert_allclose(prediction, peer[1], rtol=1e-4, atol=1e-5)
    assert (weight is None) == (peer[2] is None) == (not weighted)
    if weighted:
        np.testing.assert_allclose(weight, WEIGHT)
    assert metrics[0] == metrics[1]
    assert metrics[0][-1] == "metric"
    assert len(metrics[0]) == 2


def test_a_weighted_log_loss_is_the_one_of_that_name():
    y = halves(Y)
    model = XGBClassifier(n_estimators=3, eval_metric=log_loss)
    model.fit(X, y, eval_set=[(X, y)], sample_weight_eval_set=[WEIGHT], verbose=False)
    values = model.evals_result()["validation_0"]
    np.testing.assert_allclose(values["log_loss"], values["logloss"])


def test_functions_stand_behind_names_and_are_stopped_by():
    def worse(y, prediction, count=[0]):  # noqa: B006 - one count for all calls
        count[0] += 1
        return float(count[0])

    model = XGBRegressor(n_estimators=30, eval_metric=[worse, "mae"], early_stopping_rounds=3)
    model.fit(X, Y, eval_set=[(X, Y)], verbose=False)
    assert list(model.evals_result()["validation_0"]) == ["mae", "worse"]
    assert model.best_iteration == 0
    assert len(model.evals_result()["validation_0"]["mae"]) == 4


def test_a_function_without_weights_says_once_that_it_counts_rows_alike():
    def plain(y, prediction):
        return float(np.abs(y - prediction).mean())

    model = XGBRegressor(n_estimators=4, eval_metric=plain)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, Y, eval_set=[(X, Y)], sample_weight_eval_set=[WEIGHT], verbose=False)
    assert ["takes no sample_weight" in str(one.message) for one in told] == [True]


def test_what_is_no_metric():
    with pytest.raises(ArboretumError, match="must return a number"):
        XGBRegressor(eval_metric=lambda y, p: "x").fit(X, Y, eval_set=[(X, Y)])
