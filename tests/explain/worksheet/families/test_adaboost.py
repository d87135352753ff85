"""Sheets of AdaBoost and of coordinate descent: weights, errors and steps are the model's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from arboretum import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    CARTClassifier,
    CoordinateBoostingClassifier,
    ParameterError,
    worksheet,
)
from tests.explain.worksheet.families.test_cart import check_leaf, check_node
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights

WAYS = {
    "discrete": ({"algorithm": "discrete"}, 2),
    "SAMME": ({"algorithm": "SAMME"}, 3),
    "SAMME two": ({"algorithm": "SAMME", "learning_rate": 0.5}, 2),
    "SAMME.R": ({"algorithm": "SAMME.R", "estimator": CARTClassifier(max_depth=2)}, 3),
    "resample": ({"sampling": "resample", "random_state": 4}, 2),
    "deep": ({"estimator": CARTClassifier(max_depth=3, min_samples_leaf=5)}, 3),
    "entropy": ({"estimator": CARTClassifier(criterion="entropy", max_depth=1)}, 2),
    "error": ({"estimator": CARTClassifier(criterion="error", max_depth=1)}, 2),
    "stopping": ({"n_iter_no_change": 3, "random_state": 1}, 2),
}


def check_ada(model, sheets, X) -> None:
    check_shown(sheets.sheet())
    last = len(model.estimators_) - 1
    for t in (0, last // 2, last):
        tree = model.trees_[t]
        for node in range(len(tree)):
            check_node(tree, node, sheets.node(t, node))
            if tree.is_leaf[node]:
                leaf = sheets.leaf(t, node)
                check_leaf(tree, node, leaf)
        sheet = check_shown(sheets.round(t))
        assert_allclose(sheet.value("ε"), model.estimator_errors_[t], rtol=1e-9, atol=1e-12)
        if any(f.name == "α" for f in sheet.formulas):
            assert_allclose(sheet.value("α"), model.estimator_weights_[t], rtol=1e-9)
        if hasattr(model, "sample_weights_"):
            assert_allclose(
                sheets._family.weights[t], model.sample_weights_[t], rtol=1e-9, atol=1e-15
            )
        if any(f.name == "Z" for f in sheet.formulas):
            assert_allclose(sheet.value("Z"), model.normalisers_[t], rtol=1e-9)
    for i in (0, 5):
        sheet = check_shown(sheets.row(i))
        said = model.predict(X.iloc[[i]])[0]
        assert sheet.facts["answer"] == (said if isinstance(said, str) else pytest.approx(said))
        rounds = sheet.table("Round by round")
        assert rounds.column("leaf") == model.apply(X.iloc[[i]])[0].tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_classes(name, weighted):
    more, k = WAYS[name]
    X = table(160, seed=41)
    y, w = classes(X, k), weights(160) if weighted else None
    model = AdaBoostClassifier(n_estimators=6, keep_weights=True, n_jobs=1, **more).fit(X, y, w)
    check_ada(model, worksheet(model, X, y, w), X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"loss": "square"},
        {"loss": "exponential", "combine": "mean"},
        {"sampling": "resample", "random_state": 3},
    ],
)
def test_numbers(more, weighted):
    X = table(160, seed=42)
    y, w = signal(X).round(2), weights(160) if weighted else None
    model = AdaBoostRegressor(n_estimators=5, keep_weights=True, n_jobs=1, **more).fit(X, y, w)
    check_ada(model, worksheet(model, X, y, w), X)


def test_other_learners():
    X = table(120, seed=43, words=False).fillna(0.0)
    y = classes(X, 2)
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=3, random_state=0).fit(X, y)
    sheets = worksheet(model, X, y)
    for m in range(len(model.estimators_)):
        assert_allclose(
            check_shown(sheets.round(m)).value("ε"), model.estimator_errors_[m], rtol=1e-9
        )
    assert check_shown(sheets.row(3)).facts["answer"] == model.predict(X.iloc[[3]])[0]
    with pytest.raises(ParameterError, match="not CART trees"):
        sheets.node(0, 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"order": "cyclic"},
        {"order": "random", "random_state": 1},
        {"n_iter_no_change": 5, "random_state": 2},
    ],
)
def test_coordinate_descent(more, weighted):
    X = table(120, seed=44)
    y, w = classes(X, 2), weights(120) if weighted else None
    model = CoordinateBoostingClassifier(max_iter=8, max_bins=8, n_jobs=1, **more).fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_shown(sheets.sheet())
    for m in range(len(model.report_)):
        sheet = check_shown(sheets.round(m))
        assert_allclose(sheet.value("e"), model.report_.error[m], rtol=1e-9, atol=1e-12)
        assert_allclose(sheet.value("δ"), model.report_.delta[m], rtol=1e-9, atol=1e-12)
        assert_allclose(sheet.value("loss after"), model.report_.loss[m], rtol=1e-9)
    sheet = check_shown(sheets.row(2))
    assert_allclose(
        sheet.value("decision"), model.decision_function(X.iloc[[2]])[0], rtol=1e-9, atol=1e-12
    )
    assert np.isclose(sheet.facts["decision"], sheet.value("decision"))
    with pytest.raises(ParameterError, match="dictionary"):
        sheets.node(0, 0)
