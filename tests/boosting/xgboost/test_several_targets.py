"""Several columns of y: a tree for each in every round, as XGBoost grows them."""

import io

import numpy as np
import pytest

import arboretum
from arboretum import ParameterError, XGBClassifier, XGBModel, XGBRanker, XGBRegressor
from tests.boosting.xgboost.xgb_cases import halves, numbers

X, Y = numbers(200)
TWO = np.column_stack([Y, np.abs(Y[::-1]) + 0.1])
LABELS = np.column_stack([halves(Y), halves(Y[::-1]), halves(np.abs(Y))])
EXACT = {"n_estimators": 4, "max_depth": 3, "tree_method": "exact", "min_child_weight": 5.0}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"objective": "reg:absoluteerror"},
        {"objective": "reg:pseudohubererror"},
        {"num_parallel_tree": 2},
        {"base_score": [0.5, 1.5]},
        {"tree_method": "hist", "subsample": 0.7, "colsample_bytree": 0.5},
    ],
    ids=str,
)
def test_every_target_has_the_trees_it_has_alone(more):
    together = XGBRegressor(**{**EXACT, **more}).fit(X, TWO)
    assert len(together.trees_) == 8 * more.get("num_parallel_tree", 1)
    assert together.n_outputs_ == 2
    if "subsample" in more or "base_score" in more:  # draws differ by output
        assert together.predict(X).shape == (200, 2)
        return
    alone = [XGBRegressor(**{**EXACT, **more}).fit(X, y).predict(X) for y in TWO.T]
    np.testing.assert_array_equal(together.predict(X), np.column_stack(alone))


def test_targets_and_metrics_are_those_of_xgboost():
    peer = pytest.importorskip("xgboost")
    weight = np.linspace(0.5, 2.0, 200)
    how = {"eval_set": [(X, TWO)], "sample_weight_eval_set": [weight], "verbose": False}
    ours = XGBRegressor(**EXACT, eval_metric=["rmse", "mae"]).fit(
        X, TWO, sample_weight=weight, **how
    )
    theirs = peer.XGBRegressor(**EXACT, eval_metric=["rmse", "mae"])
    theirs.fit(X, TWO, sample_weight=weight, **how)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-4)
    for name, values in theirs.evals_result()["validation_0"].items():
        np.testing.assert_allclose(ours.evals_result()["validation_0"][name], values, rtol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)


def test_labels_are_those_of_xgboost():
    peer = pytest.importorskip("xgboost")
    how = {"eval_set": [(X, LABELS)], "verbose": False}
    ours, theirs = XGBClassifier(**EXACT).fit(X, LABELS, **how), peer.XGBClassifier(**EXACT)
    theirs.fit(X, LABELS, **how)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).dtype == np.int64
    assert ours.n_classes_ == theirs.n_classes_ == 2
    mine, other = (one.evals_result()["validation_0"]["logloss"] for one in (ours, theirs))
    np.testing.assert_allclose(mine, other, rtol=1e-5)
    assert ours.decision_function(X).shape == (200, 3)
    assert ours.fit(X, LABELS[:, 0]).predict_proba(X).shape == (200, 2)  # one target again


def test_functions_get_all_columns():
    seen = []

    def squares(y, margin):
        return margin - y, np.ones_like(y)

    def largest(y, prediction, sample_weight=None):
        seen.append(
            (y.shape, prediction.shape, None if sample_weight is None else len(sample_weight))
        )
        return np.abs(y - prediction).max()

    named = XGBRegressor(**EXACT, base_score=0.5).fit(X, TWO)
    model = XGBRegressor(**EXACT, objective=squares, eval_metric=largest)
    model.fit(X, TWO, eval_set=[(X, TWO)], sample_weight_eval_set=[np.ones(200)], verbose=False)
    np.testing.assert_allclose(model.predict(X), named.predict(X), rtol=1e-6)
    assert set(seen) == {((200, 2), (200, 2), 200)}


@pytest.mark.parametrize("kind", [XGBRegressor, XGBClassifier], ids=lambda kind: kind.__name__)
def test_files_and_more_rounds(kind):
    y, model = LABELS if kind is XGBClassifier else TWO, kind(**EXACT)
    model.fit(X, y)
    file = io.BytesIO()
    model.save(file)
    again = arboretum.load(file.getvalue())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        model.predictor("decision_function")(X), model.get_booster().predict(X, output_margin=True)
    )
    on = type(model)(**EXACT).fit(X, y, xgb_model=again)
    whole = type(model)(**{**EXACT, "n_estimators": 8}).fit(X, y)
    np.testing.assert_array_equal(on.predict(X), whole.predict(X))
    assert "output 1" in arboretum.export_text(model, tree=(0, 1))
    with pytest.raises(ParameterError, match="trees for each"):
        model.report(X, y)


def test_xgbmodel_is_the_base_and_predicts_numbers():
    class Own(XGBRegressor):
        pass

    for kind in (XGBClassifier, XGBRegressor, XGBRanker, Own):
        assert isinstance(kind(), XGBModel)
    plain = XGBModel(**EXACT).fit(X, TWO)
    np.testing.assert_array_equal(plain.predict(X), XGBRegressor(**EXACT).fit(X, TWO).predict(X))
    chances = XGBModel(**EXACT, objective="binary:logistic").fit(X, halves(Y)).predict(X)
    expected = XGBClassifier(**EXACT).fit(X, halves(Y)).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(chances, expected)
