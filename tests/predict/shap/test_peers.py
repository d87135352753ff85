"""The peers' ways of asking, and their own values: XGBoost's, LightGBM's and, where installed, shap's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arboretum as ab
from arboretum.data.matrix import DenseMatrix
from arboretum.errors import ParameterError
from arboretum.predict.link import Link
from arboretum.predict.shap.rescaled import loss_curve, probability_curve, rescaled_values
from arboretum.predict.shap.values import contributions_of
from arboretum.textbook import background_game, shapley_values
from benchmarks.foreign_trees import ensemble_of_lightgbm
from tests.predict.shap.shap_cases import textbook_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 6))
Z = X @ [1.0, 2.0, 3.0, 1.0, 0.0, 1.0] + X[:, 0] * X[:, 1]
TARGETS = {2: (Z > 0).astype(int), 3: np.digitize(Z, [-1, 1])}
HOLES = X.copy()
HOLES[RNG.random(X.shape) < 0.05] = np.nan
ROWS = 40


@pytest.mark.parametrize("n_classes", [2, 3])
def test_xgboosts_booster(n_classes):
    """The same trees, grown exactly; theirs are float32."""
    xgboost = pytest.importorskip("xgboost")
    y, asked = TARGETS[n_classes], {"n_estimators": 4, "tree_method": "exact", "max_depth": 4}
    ours = ab.XGBClassifier(**asked).fit(HOLES, y).get_booster()
    theirs = xgboost.XGBClassifier(**asked).fit(HOLES, y).get_booster()
    for question in (
        {}, {"output_margin": True}, {"pred_leaf": True}, {"pred_contribs": True},
        {"pred_contribs": True, "approx_contribs": True}, {"pred_interactions": True},
        {"pred_contribs": True, "iteration_range": (0, 3)},
    ):  # fmt: skip
        found = ours.predict(HOLES[:ROWS], **question)
        expected = theirs.predict(xgboost.DMatrix(HOLES[:ROWS]), **question)
        assert found.shape == expected.shape
        assert_allclose(found, expected, atol=2e-5, err_msg=str(question))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lightgbms_contributions(n_classes):
    """Of LightGBM's own trees: the same numbers to rounding."""
    lightgbm = pytest.importorskip("lightgbm")
    asked = {"n_estimators": 3, "num_leaves": 8, "verbose": -1}
    theirs = lightgbm.LGBMClassifier(**asked).fit(HOLES, TARGETS[n_classes])
    ensemble = ensemble_of_lightgbm(theirs.booster_)
    found = contributions_of(ensemble, X.shape[1], "count")
    values = found.values(DenseMatrix(HOLES[:ROWS]))
    expected = theirs.predict(HOLES[:ROWS], pred_contrib=True).reshape(ROWS, -1, 7)
    assert_allclose(values, expected[:, :, :-1], atol=1e-12)
    assert_allclose(found.base, expected[0, :, -1], atol=1e-12)


def test_contributions_in_lightgbms_shape():
    model = ab.LGBMClassifier(n_estimators=3, num_leaves=8).fit(X, TARGETS[3])
    found = model.predict(X[:ROWS], pred_contrib=True)
    assert found.shape == (ROWS, 7 * 3)
    values = model.shap_values(X[:ROWS]).transpose(0, 2, 1)
    assert_array_equal(found.reshape(ROWS, 3, 7)[:, :, :-1], values)
    assert_array_equal(found.reshape(ROWS, 3, 7)[0, :, -1], model.shap_base_value())
    assert_array_equal(model.predict_proba(X[:ROWS], pred_contrib=True), found)
    assert_array_equal(model.booster_.predict(X[:ROWS], pred_contrib=True), found)


@pytest.mark.parametrize("start", [0, 1])
def test_lightgbms_rounds(start):
    """Contributions of some rounds sum to the raw score of the same rounds."""
    model = ab.LGBMClassifier(n_estimators=4, num_leaves=8).fit(X, TARGETS[3])
    asked = {"start_iteration": start, "num_iteration": 2}
    found = model.predict(X[:ROWS], pred_contrib=True, **asked).reshape(ROWS, 3, 7)
    assert_allclose(found.sum(axis=2), model.predict(X[:ROWS], raw_score=True, **asked), atol=1e-12)


def test_contributions_stop_where_predictions_do():
    model = ab.XGBRegressor(n_estimators=30, early_stopping_rounds=2, learning_rate=1.0)
    model.fit(X[:600], Z[:600], eval_set=[(X[600:], Z[600:])])
    assert model.best_iteration + 1 < model.ensemble_.n_rounds
    total = model.shap_base_value() + model.shap_values(X[:ROWS]).sum(axis=1)
    assert_allclose(total, model.predict(X[:ROWS]), rtol=1e-10)
    every = model.get_booster().predict(X[:ROWS], pred_contribs=True)
    iterations = {"iteration_range": (0, model.ensemble_.n_rounds)}
    assert_allclose(every.sum(axis=1), model.predict(X[:ROWS], **iterations), rtol=1e-10)


def test_questions_that_exclude_each_other():
    booster = ab.XGBRegressor(n_estimators=2).fit(X, Z).get_booster()
    with pytest.raises(ParameterError, match="pred_leaf and pred_contribs exclude each other"):
        booster.predict(X, pred_leaf=True, pred_contribs=True)
    with pytest.raises(ParameterError, match="approx_contribs sets how"):
        booster.predict(X, approx_contribs=True)


def test_shaps_own_values():
    """Of LightGBM's own trees, in both games."""
    shap = pytest.importorskip("shap")
    lightgbm = pytest.importorskip("lightgbm")
    theirs = lightgbm.LGBMRegressor(n_estimators=3, num_leaves=8, verbose=-1).fit(X, Z)
    found = contributions_of(ensemble_of_lightgbm(theirs.booster_), X.shape[1], "count")
    rows, some = DenseMatrix(X[:ROWS]), DenseMatrix(X[:9])
    expected = shap.TreeExplainer(theirs).shap_values(X[:ROWS])
    assert_allclose(found.values(rows)[:, 0], expected, atol=1e-6)
    against = shap.TreeExplainer(theirs, X[:9]).shap_values(X[:ROWS])
    assert_allclose(found.values(rows, some)[:, 0], against, atol=1e-6)


@pytest.mark.parametrize("output", ["probability", "log_loss"])
def test_bent_values_are_shaps_rule(output):
    """Of LightGBM's own trees: the mean over the background of values against one row of it, times a slope.

    To 1e-12 by the definition over all sets of columns; shap's own, whose raw values against a background are
    1e-8 off as well, to 1e-7.
    """
    lightgbm = pytest.importorskip("lightgbm")
    y, few, some = TARGETS[2], X[:8], X[50:57]
    theirs = lightgbm.LGBMClassifier(n_estimators=4, num_leaves=8, verbose=-1).fit(X, y)
    ensemble = ensemble_of_lightgbm(theirs.booster_)
    form = ensemble.additive()
    sums = tuple(form.sums(DenseMatrix(rows), 1) for rows in (few, some))
    is_loss = output == "log_loss"
    link = Link("logit")
    curve = loss_curve(link, y[:8], classes=True) if is_loss else probability_curve(link)
    found, base = rescaled_values(
        contributions_of(ensemble, X.shape[1], "count"), DenseMatrix(few), DenseMatrix(some), sums,
        curve, pairs=False, n_jobs=1,
    )  # fmt: skip

    def bend(margin, label):
        share = 1 / (1 + np.exp(-margin))
        return -np.log(share if label else 1 - share) if is_loss else share

    trees = textbook_trees(form)
    for k, (x, m) in enumerate(zip(few, sums[0][:, 0], strict=True)):
        expected = np.zeros(X.shape[1])
        for b, other in zip(some, sums[1][:, 0], strict=True):
            gap, share = m - other, 1 / (1 + np.exp(-m))
            slope = share - y[k] if is_loss else share * (1 - share)  # where the sums are the same
            if gap:
                slope = (bend(m, y[k]) - bend(other, y[k])) / gap
            game = background_game(trees, x, b[None])
            expected += slope * shapley_values(game, X.shape[1]).values[:, 0] / len(some)
        assert_allclose(found[k, 0], expected, rtol=0, atol=1e-12)
        assert_allclose(base[k, 0] + found[k, 0].sum(), bend(m, y[k]), rtol=1e-12)

    shap = pytest.importorskip("shap")
    explainer = shap.TreeExplainer(
        theirs.booster_, some, feature_perturbation="interventional", model_output=output
    )
    said = explainer.shap_values(few, y[:8]) if is_loss else explainer.shap_values(few)
    assert_allclose(found[:, 0], said, rtol=0, atol=1e-7)
