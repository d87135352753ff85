"""The budget of conflicts: more columns share one, and trees are those of the table that bundles remember."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import LGBMRegressor, ParameterError
from arboretum.textbook.lightgbm_bins import bin_table
from arboretum.textbook.lightgbm_boosting import (
    LGBMRules,
    boost_lgbm,
    bundle_table,
    predict_model_lgbm,
)
from arboretum.textbook.lightgbm_splits import LGBMSettings

GROW = {"num_leaves": 4, "min_child_samples": 8}


def sparse(seed=0, n=400, columns=6):
    """Return columns that are used in a tenth of the rows, some of them together."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 5, (n, columns)) * (rng.random((n, columns)) < 0.1)
    return X.astype(float), X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=n)


def test_a_larger_budget_makes_fewer_bundles():
    X, y = sparse()
    sizes = [
        len(LGBMRegressor(n_estimators=2, max_conflict_rate=rate).fit(X, y).bundles_ or [])
        for rate in (0.0, 0.5)
    ]
    none, loose = (
        LGBMRegressor(n_estimators=20, max_conflict_rate=rate).fit(X, y) for rate in (0.0, 0.5)
    )
    assert sizes[1] >= 1
    assert max(map(len, loose.bundles_)) > max(map(len, none.bundles_), default=1)
    assert not np.allclose(none.predict(X), loose.predict(X))


def test_trees_are_the_textbooks():
    X, y = sparse(1, columns=2)
    table = bundle_table(bin_table(X), 0.1)
    assert [len(bundle.features) for bundle in table.bundles] == [2]
    assert table.bundles[0].conflicts > 0
    model = LGBMRegressor(
        n_estimators=3, learning_rate=0.5, min_data_in_bin=1, max_conflict_rate=0.1, **GROW
    ).fit(X, y)
    assert model.bundles_ == [["Column_0", "Column_1"]]
    # the column of more rows joins first in the engine; the textbook is given it first
    order = np.argsort(-(X != 0).sum(axis=0), kind="stable")
    book = boost_lgbm(
        X[:, order], y, LGBMRules("regression", 3, 0.5, max_conflict_rate=0.1), LGBMSettings(**GROW)
    )
    assert_allclose(model.predict(X), predict_model_lgbm(book, X[:, order]), atol=1e-5)


@pytest.mark.parametrize("rate", [-0.1, 1, "some"])
def test_a_budget_is_a_share(rate):
    X, y = sparse()
    with pytest.raises(ParameterError, match="max_conflict_rate"):
        LGBMRegressor(max_conflict_rate=rate).fit(X, y)
