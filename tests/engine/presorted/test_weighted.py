"""Trees of weighted rows: dealing, bounds and counting grow what the general walk grows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor
from arboretum.engine.presorted import parts
from arboretum.grow.presorted import table
from tests.grow.reweighted import Reweighted

KEPT = ("feature", "threshold", "first_child", "missing_child", "value", "gain", "weight", "bits")


def _table(n, gaps):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 6)).round(1)
    X[:, 3] = rng.integers(0, 4, n)
    X[:, 5] = rng.normal(size=n)  # many values
    if gaps:
        X[rng.random((n, 6)) < 0.2] = np.nan
    return X, X[:, 0] * 0 + rng.normal(size=n) + np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 5])


@pytest.mark.parametrize("whole_weights", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n", [2, 7, 300, 2500])
def test_the_trees_are_those_of_the_general_walk(monkeypatch, n, gaps, whole_weights):
    X, y = _table(n, gaps)
    y = np.nan_to_num(y)
    model = CARTRegressor(max_depth=4, min_samples_leaf=1 + n // 100, categorical_features=[3])
    model.fit(X, y)
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 4, n).astype(float) if whole_weights else rng.random(n) + 0.01
    trees = Reweighted(model, model._encode(X), model.schema_, y)
    assert (trees.grower.table.coded >= 0).any() == (n >= 300)
    own = trees.grow(weights)
    monkeypatch.setattr(parts, "scan_weighted", parts.scan_full)
    monkeypatch.setattr(table, "code_columns", lambda *_: {})
    general = Reweighted(model, model._encode(X), model.schema_, y).grow(weights)
    for name in KEPT:
        assert_array_equal(getattr(own.tree, name), getattr(general.tree, name))
    assert_array_equal(own.leaf_of_row, general.leaf_of_row)
