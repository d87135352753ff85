"""Friedman's boosting under monotone constraints: steps of leaves keep the order, whatever the loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import CARTRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from arboretum.errors import ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
X[rng.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1])) + rng.normal(size=300)
SIGNS = [1, 0, -1]


def is_in_order(answer) -> bool:
    rows = np.nan_to_num(X[:25])
    for column, sign in ((0, 1), (2, -1)):
        table = np.repeat(rows, 40, axis=0)
        table[:, column] = np.tile(np.linspace(-3, 3, 40), len(rows))
        if (sign * np.diff(answer(table).reshape(len(rows), 40), axis=1) < 0).any():
            return False
    return True


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"]
)
@pytest.mark.parametrize("options", [{}, {"subsample": 0.5}, {"max_leaf_nodes": 6}], ids=str)
def test_predictions_follow_the_columns(loss, options):
    y = np.exp(Y / 2) if loss == "poisson" else Y
    model = GradientBoostingRegressor(
        loss=loss, n_estimators=15, monotonic_cst=SIGNS, random_state=0, **options
    ).fit(X, y)
    assert is_in_order(model.predict)
    assert model.train_score_[-1] < model.train_score_[0]


def test_two_classes_follow_the_columns_and_more_are_an_error():
    labels = (Y > 0).astype(int)
    free = GradientBoostingClassifier(n_estimators=20).fit(X, labels)
    assert not is_in_order(free.decision_function)
    bound = GradientBoostingClassifier(n_estimators=20, monotonic_cst={"x0": 1, "x2": -1})
    assert is_in_order(bound.fit(X, labels).decision_function)
    with pytest.raises(ParameterError, match="works for two classes, y holds 3"):
        bound.fit(X, np.digitize(Y, [-1, 1]))


def test_one_round_of_squared_error_is_a_tree():
    options = {"max_depth": 4, "monotonic_cst": SIGNS}
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, **options).fit(X, Y)
    tree = CARTRegressor(**options).fit(X, Y - Y.mean())
    assert_allclose(model.predict(X) - Y.mean(), tree.predict(X), atol=1e-12)
