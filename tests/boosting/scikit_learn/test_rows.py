"""`min_samples_leaf` counts rows, however much their hessians differ; histograms hold no counts."""

import numpy as np
import pytest

from arboretum import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboretum.predict.walk import leaves_of
from tests.boosting.scikit_learn.hist_cases import numbers, two_classes, with_categories

LEAST = 25  # rows; the estimates that LightGBM makes allow 11 to 23


def words():
    X, y = with_categories(1, missing=0.1)
    return X, y > 1, {"categorical_features": [5]}


def gaps():
    X, y = numbers(1, missing=0.2)
    return X, y > 1, {}


def many_rows():
    """Return more rows than the sums of two in one number hold."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((70_000, 3)) < 0.1, np.nan, rng.normal(size=(70_000, 3)))
    y = 3 * np.nan_to_num(X[:, 0]) + rng.normal(size=70_000) > 4
    return X, y, {"max_leaf_nodes": 300, "max_iter": 3}


def many_words():
    """Return a column of codes of 16 bits."""
    rng = np.random.default_rng(0)
    word, number = rng.integers(0, 400, 4000), rng.normal(size=4000)
    y = np.sin(word) + rng.normal(size=4000) > 1
    return np.column_stack([word, number]), y, {"categorical_features": [0]}


def zeros():
    """Return columns that share a place."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((2000, 12)) < 0.93, 0, rng.integers(1, 4, (2000, 12))).astype(float)
    return X, X.sum(axis=1) + rng.normal(size=2000) > 1.5, {}


TABLES = {
    "numbers": lambda: (*two_classes(1), {}),
    "signs": lambda: (*two_classes(1), {"monotonic_cst": [1, 0, -1, 0, 0]}),
    "words": words,
    "gaps": gaps,
    "many rows": many_rows,
    "many words": many_words,
    "zeros": zeros,
}


def smallest_leaf(model, X):
    matrix = model._encode(X)
    sizes = [np.bincount(leaves_of(tree, matrix)) for tree in model.trees_]
    return min(size[size > 0].min() for size in sizes)


@pytest.mark.parametrize("name", TABLES)
def test_no_leaf_has_fewer_rows(name):
    X, y, more = TABLES[name]()
    model = HistGradientBoostingClassifier(**{"max_iter": 20, "min_samples_leaf": LEAST, **more})
    assert smallest_leaf(model.fit(X, y), X) == LEAST


def test_weights_are_no_rows():
    X, y = numbers(2)
    w = np.random.default_rng(0).integers(1, 9, len(y)).astype(float)
    model = HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=LEAST).fit(X, y, w)
    assert smallest_leaf(model, X) == LEAST
