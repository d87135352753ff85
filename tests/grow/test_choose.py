"""Deep and best-first trees from columns sorted once, against trees whose columns are sorted for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.data.schema import learn_schema
from arboretum.engine.split import statistic as stat
from arboretum.grow import choose
from arboretum.grow.cart import CartGrower
from arboretum.grow.choose import Use, choose_grower
from arboretum.grow.depth_first.grower import DepthFirstGrower
from arboretum.grow.grower import GrowTarget
from arboretum.grow.settings import Growth
from arboretum.predict.walk import leaves_of


def words_and_gaps(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["b"] = X["b"].round(0)  # few values: kept as codes
    X.loc[rng.random(n) < 0.1, "c"] = np.nan
    X["word"] = pd.Categorical(np.array(list("pqrst"))[rng.integers(0, 5, n)])
    return X, X["a"].to_numpy() + (X["word"] == "q").to_numpy() + rng.normal(size=n)


def bags(n: int) -> dict[str, tuple[np.ndarray | None, np.ndarray]]:
    """Return rows and weights."""
    rng = np.random.default_rng(1)
    some, weight = np.flatnonzero(rng.random(n) < 0.6), rng.integers(1, 4, n).astype(float)
    return {
        "all rows": (None, np.empty(0)),
        "a bag": (some, np.empty(0)),
        "a weighted bag": (some, weight),
    }


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize(
    "limits", [{"max_depth": 10}, {"max_leaf_nodes": 12}], ids=["deep", "best first"]
)
@pytest.mark.parametrize("name", ["all rows", "a bag", "a weighted bag"])
def test_trees_are_those_of_the_bags_rows_alone(name, limits, max_features):
    X, r = words_and_gaps()
    schema, matrix = learn_schema(X)
    rows, weights = bags(len(r))[name]
    target = GrowTarget(r[:, None], None, weights)
    settings = Growth(criterion=stat.SQUARED, max_features=max_features, **limits)
    ready = choose_grower(matrix, schema, settings, target, Use.RESIDUALS)
    grown = ready.grow(target, rows, 5)
    tree = grown.tree
    alone = CartGrower(matrix, schema, settings).grow(target, rows, 5).tree
    assert len(tree) > 10
    for part in ("kind", "feature", "threshold", "first_child", "missing_child", "count"):
        assert_array_equal(getattr(tree, part), getattr(alone, part))
    assert_allclose(tree.value, alone.value, rtol=1e-12, atol=1e-14)
    assert_array_equal(grown.leaf_of_row, leaves_of(alone, matrix, 1))
    again = ready.grow(target, rows, 5).tree  # what was sorted once is as it was
    assert_array_equal(again.threshold, tree.threshold)


@pytest.mark.parametrize(
    "limits",
    [{"max_depth": 10}, {"max_leaf_nodes": 12}, {"max_depth": 9, "min_samples_leaf": 4}],
    ids=["deep", "best first", "leaves"],
)
@pytest.mark.parametrize("name", ["all rows", "a bag"])
@pytest.mark.parametrize("gaps", [False, True])
def test_trees_of_few_rows_grown_in_one_call_are_the_same_to_the_last_bit(
    monkeypatch, name, limits, gaps
):
    X, r = words_and_gaps()
    X = X.drop(columns="word") if gaps else X[["a", "b", "d"]]
    schema, matrix = learn_schema(X)
    rows, weights = bags(len(r))[name]
    target, settings = GrowTarget(r[:, None], None, weights), Growth(stat.SQUARED, **limits)
    growers = [choose_grower(matrix, schema, settings, target, Use.RESIDUALS)]
    monkeypatch.setattr(choose, "FEW_ROWS", 0)
    growers.append(choose_grower(matrix, schema, settings, target, Use.RESIDUALS))
    assert [type(one) for one in growers] == [DepthFirstGrower, CartGrower]
    one, other = (grower.grow(target, rows, 0) for grower in growers)
    assert_array_equal(one.leaf_of_row, other.leaf_of_row)
    tree, levels = one.tree, other.tree
    for part in ("kind", "feature", "threshold", "first_child", "missing_child", "count", "weight"):
        assert_array_equal(getattr(tree, part), getattr(levels, part))
    for part in ("value", "impurity", "gain"):
        assert getattr(tree, part).tobytes() == getattr(levels, part).tobytes()
