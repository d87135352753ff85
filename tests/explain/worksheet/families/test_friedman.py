"""Sheets of Friedman's boosting: residuals, steps and scores of every loss are the model's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from arboretum import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    worksheet,
)
from tests.explain.worksheet.families.test_cart import check_node
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights

LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]


def check_boosting(model, sheets, X, y) -> None:
    count = len(model.trees_)
    for t in (0, count // 2, count - 1):
        tree = model.trees_[t]
        for node in range(len(tree)):
            check_node(tree, node, sheets.node(t, node))
            if tree.is_leaf[node]:
                leaf = check_shown(sheets.leaf(t, node))
                kept = tree.value[node, 0, 0]
                names = [f.name for f in leaf.formulas]
                if "kept in order" not in names:
                    assert_allclose(leaf.value("step"), kept, rtol=1e-9, atol=1e-12)
                rate = model._rates[t // model._width]
                assert_allclose(leaf.value("F moves by"), rate * kept, rtol=1e-12, atol=1e-15)
    check_rounds(model, sheets, X, y)


def check_rounds(model, sheets, X, y) -> None:
    check_shown(sheets.sheet())
    for m in (0, model.n_estimators_ - 1):
        sheet = check_shown(sheets.round(m))
        assert_allclose(sheet.value("score after"), model.train_score_[m], rtol=1e-9)
    for i in (0, 7):
        sheet = check_shown(sheets.row(i))
        raw = np.atleast_1d(np.asarray(model._raw(X.iloc[[i]])[0]))
        assert_allclose(np.atleast_1d(sheet.facts["F"]), raw, rtol=1e-9, atol=1e-12)
        assert (
            sheet.facts["answer"] == pytest.approx(model.predict(X.iloc[[i]])[0])
            if not isinstance(sheet.facts["answer"], str)
            else sheet.facts["answer"] == model.predict(X.iloc[[i]])[0]
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_numbers(loss, weighted):
    X = table(100, seed=31)
    y, w = np.abs(signal(X)).round(2) + 0.1, weights(100) if weighted else None
    model = GradientBoostingRegressor(loss=loss, n_estimators=3, random_state=1, n_jobs=1).fit(
        X, y, w
    )
    check_boosting(model, worksheet(model, X, y, w), X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "k"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)])
def test_classes(loss, k, weighted):
    X = table(100, seed=32)
    y, w = classes(X, k), weights(100) if weighted else None
    model = GradientBoostingClassifier(loss=loss, n_estimators=2, random_state=1, n_jobs=1).fit(
        X, y, w
    )
    check_boosting(model, worksheet(model, X, y, w), X, y)


OPTIONS = {
    "stochastic": {"subsample": 0.6},
    "columns": {"max_features": 2, "subsample": 0.8},
    "line search": {"step": "line_search"},
    "gradient": {"step": "gradient"},
    "squared": {"criterion": "squared_error", "max_leaf_nodes": 5},
    "least weight": {"min_weight_fraction_leaf": 0.1},
    "stopping": {"n_iter_no_change": 3, "n_estimators": 6},
    "monotone": {"monotonic_cst": {"age": 1}},
    "start": {"init": "zero", "learning_rate": 0.5},
    "pruned": {"ccp_alpha": 0.01},
    "deep": {"max_depth": 12, "min_samples_leaf": 4},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    X = table(100, seed=33)
    y, w = signal(X).round(2), weights(100)
    model = GradientBoostingRegressor(
        **{"n_estimators": 3, "random_state": 2, "n_jobs": 1, **OPTIONS[name]}
    )
    model.fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_boosting(model, sheets, X, y)
    if name in ("stochastic", "columns"):
        sheet = check_shown(sheets.oob())
        assert_allclose(sheet.table("After").column("score"), model.oob_scores_, rtol=1e-9)
    else:
        with pytest.raises(ParameterError, match="subsample"):
            sheets.oob()


def test_other_learners():
    X = table(120, seed=34, words=False).fillna(0.0)
    y = signal(X)
    model = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=3, n_jobs=1).fit(
        X, y
    )
    sheets = worksheet(model, X, y)
    check_rounds(model, sheets, X, y)
    with pytest.raises(ParameterError, match="not trees"):
        sheets.node(0, 0)
