"""XGBoost's random forests: one round of trees, with other defaults."""

import inspect

import numpy as np
import pytest

from arboretum import XGBClassifier, XGBRegressor, XGBRFClassifier, XGBRFRegressor
from tests.boosting.xgboost.xgb_cases import halves, numbers, thirds

X, Y = numbers(300)
HOW = {"subsample": 1.0, "colsample_bynode": 1.0, "tree_method": "exact", "max_depth": 4}


@pytest.mark.parametrize("kind", [XGBRFClassifier, XGBRFRegressor], ids=lambda kind: kind.__name__)
def test_the_defaults_are_those_of_xgboost(kind):
    peer = pytest.importorskip("xgboost")
    theirs = getattr(peer, kind.__name__)().get_params()
    names = ("learning_rate", "subsample", "colsample_bynode", "reg_lambda", "objective")
    assert {name: kind().get_params()[name] for name in names} == {n: theirs[n] for n in names}
    assert set(inspect.signature(kind.fit).parameters) <= set(
        inspect.signature(XGBRegressor.fit).parameters
    )


@pytest.mark.parametrize("labels", [Y, halves(Y), thirds(Y)])
def test_one_round_has_all_trees(labels):
    peer = pytest.importorskip("xgboost")
    name = "XGBRFRegressor" if labels is Y else "XGBRFClassifier"
    kind = {"XGBRFRegressor": XGBRFRegressor, "XGBRFClassifier": XGBRFClassifier}[name]
    ours = kind(n_estimators=3, **HOW).fit(X, labels)
    theirs = getattr(peer, name)(n_estimators=3, **HOW).fit(X, labels)
    assert len(ours.trees_) == len(theirs.get_booster().get_dump())
    assert ours.get_num_boosting_rounds() == ours.get_booster().num_boosted_rounds() == 1
    assert ours.get_xgb_params()["num_parallel_tree"] == 3
    if labels is Y:
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-3)
    else:
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_it_is_boosting_of_one_round_with_parallel_trees():
    forest = XGBRFRegressor(n_estimators=7, max_depth=3).fit(X, Y)
    boosted = XGBRegressor(
        n_estimators=1, num_parallel_tree=7, max_depth=3, learning_rate=1.0, subsample=0.8,
        colsample_bynode=0.8, reg_lambda=1e-5,
    ).fit(X, Y)  # fmt: skip
    np.testing.assert_array_equal(forest.predict(X), boosted.predict(X))
    assert isinstance(XGBRFClassifier(), XGBClassifier)


def test_a_loaded_forest_predicts_alike(tmp_path):
    forest = XGBRFClassifier(n_estimators=5).fit(X, thirds(Y))
    forest.save_model(tmp_path / "forest.arb")
    again = XGBRFClassifier()
    again.load_model(tmp_path / "forest.arb")
    assert again.n_estimators == 5
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))


@pytest.mark.parametrize("given", [{"early_stopping_rounds": 3}, {"callbacks": []}])
def test_nothing_acts_between_rounds_where_there_is_one(given):
    with pytest.raises(NotImplementedError, match="in one round"):
        XGBRFRegressor(**given).fit(X, Y, eval_set=[(X, Y)])
