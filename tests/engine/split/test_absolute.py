"""Medians that move with the rows, and medians found by descents where rows have weights: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor


@pytest.mark.parametrize("n", [2, 3, 64, 65, 700])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("digits", [1, 9])
def test_rows_without_weights_are_split_as_rows_of_weight_one(n, gaps, digits):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 3)).round(digits), rng.normal(size=(n, 2)).round(digits)
    if gaps:
        X[rng.random(X.shape) < 0.3] = np.nan
    settings = {"criterion": "absolute_error", "min_samples_leaf": 1 + n // 100}
    plain = CARTRegressor(**settings).fit(X, y).tree_
    weighted = CARTRegressor(**settings).fit(X, y, sample_weight=np.ones(n)).tree_
    assert len(plain) > 1 or gaps
    for name in ("feature", "threshold", "missing_child", "impurity", "value"):
        assert_array_equal(getattr(plain, name), getattr(weighted, name))
