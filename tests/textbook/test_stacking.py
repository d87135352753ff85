"""Stacking in the textbook: what the final learner sees, and the estimators do the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import PredefinedSplit

from arboretum import CARTClassifier, CARTRegressor, StackingClassifier, StackingRegressor
from arboretum.textbook.splits import Rules
from arboretum.textbook.stacking import predict_stack, stack
from arboretum.textbook.weak_learners import tree_learner


def make(n_classes=0, n=150):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return X, y, rng.integers(0, 4, n)


def fitted(model):
    """Return a scikit-learn estimator as a learner of the textbook."""

    def learn(X, y, w):
        known = type(model)(**model.get_params()).fit(X, y)
        return known.predict_proba if hasattr(known, "predict_proba") else known.predict

    return learn


@pytest.mark.parametrize("passthrough", [False, True])
def test_numbers(passthrough):
    X, y, fold_of = make()
    book = stack(
        X, y, [tree_learner(Rules("squared_error", max_depth=d)) for d in (1, 2)],
        fitted(LinearRegression()), fold_of, passthrough=passthrough,
    )  # fmt: skip
    model = StackingRegressor(
        [(f"depth {d}", CARTRegressor(max_depth=d)) for d in (1, 2)],
        LinearRegression(), cv=PredefinedSplit(fold_of), passthrough=passthrough,
    ).fit(X, y)  # fmt: skip
    assert_allclose(predict_stack(book, X), model.predict(X), rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    X, y, fold_of = make(n_classes, 300)
    learners = [
        tree_learner(Rules("gini", n_classes=n_classes, max_depth=d), shares=True) for d in (1, 2)
    ]
    book = stack(X, y, learners, fitted(LogisticRegression()), fold_of)
    model = StackingClassifier(
        [(f"depth {d}", CARTClassifier(max_depth=d)) for d in (1, 2)],
        LogisticRegression(), cv=PredefinedSplit(fold_of),
    ).fit(X, y)  # fmt: skip
    assert book.answers.shape[1] == (2 if n_classes == 2 else 6)
    assert_allclose(predict_stack(book, X), model.predict_proba(X), rtol=1e-8)


def test_answers_are_out_of_fold():
    X, y, _ = make()
    seen = []

    def spy(X, y, w):
        seen.append(len(X))
        return lambda rows: np.full(len(rows), float(len(X)))

    model = stack(X, y, [spy], spy, folds=4)
    assert seen[:5] == [112, 112, 113, 113, 150]
    assert set(model.answers.ravel()) == {112.0, 113.0}


@pytest.mark.parametrize("folds", [1, [0] * 4])
def test_one_fold_is_not_enough(folds):
    with pytest.raises(ValueError, match="at least two folds"):
        stack(np.zeros((4, 1)), np.zeros(4), [tree_learner(Rules("squared_error"))], None, folds)
