"""Deep and best-first trees from columns sorted once, against trees whose columns are sorted for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.data.schema import learn_schema
from arboretum.engine.split import statistic as stat
from arboretum.grow.cart import grow_in_order
from arboretum.grow.settings import Growth
from arboretum.grow.grower import GrowTarget
from arboretum.grow.presorted.table import Bag, presort
from arboretum.predict.walk import leaves_of


def words_and_gaps(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["b"] = X["b"].round(0)  # few values: kept as codes
    X.loc[rng.random(n) < 0.1, "c"] = np.nan
    X["word"] = pd.Categorical(np.array(list("pqrst"))[rng.integers(0, 5, n)])
    return X, X["a"].to_numpy() + (X["word"] == "q").to_numpy() + rng.normal(size=n)


def bags(n: int) -> dict[str, Bag]:
    rng = np.random.default_rng(1)
    some, weight = (rng.random(n) < 0.6).astype(np.uint8), rng.integers(1, 4, n).astype(float)
    nothing = np.empty(0)
    return {
        "all rows": Bag(np.zeros(0, np.uint8), nothing),
        "a bag": Bag(some, nothing),
        "a weighted bag": Bag(some, weight),
    }


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize(
    "limits", [{"max_depth": 10}, {"max_leaf_nodes": 12}], ids=["deep", "best first"]
)
@pytest.mark.parametrize("name", ["all rows", "a bag", "a weighted bag"])
def test_trees_are_those_of_the_bags_rows_alone(name, limits, max_features):
    X, r = words_and_gaps()
    schema, matrix = learn_schema(X)
    bag = bags(len(r))[name]
    settings = Growth(criterion=stat.SQUARED, max_features=max_features, **limits)
    ready = presort(matrix, schema, settings, 0.0, 0.0, 1.0)
    tree, leaf = ready.grow(r, bag, 5)
    weight = np.empty(0) if bag.weight_inside is None else bag.weight_inside
    alone, _ = grow_in_order(
        matrix,
        schema,
        GrowTarget(bag.of(r)[:, None], None, weight),
        bag.rows,
        replace(settings, seed=5),
    )
    assert len(tree) > 10
    for part in ("kind", "feature", "threshold", "first_child", "missing_child", "count"):
        assert_array_equal(getattr(tree, part), getattr(alone, part))
    assert_allclose(tree.value, alone.value, rtol=1e-12, atol=1e-14)
    assert_array_equal(leaf, leaves_of(alone, matrix, 1))
    again, _ = ready.grow(r, bag, 5)  # what was sorted once is as it was
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
    bag = bags(len(r))[name]
    settings = Growth(criterion=stat.SQUARED, **limits)
    whole = presort(matrix, schema, settings, 0.0, 0.0, 1.0)
    assert whole._is_quicker_whole(bag)
    tree, leaf = whole.grow(r, bag, 0)
    monkeypatch.setattr(type(whole), "_is_quicker_whole", lambda self, bag: False)
    levels, same_leaf = presort(matrix, schema, settings, 0.0, 0.0, 1.0).grow(r, bag, 0)
    assert_array_equal(leaf, same_leaf)
    for part in ("kind", "feature", "threshold", "first_child", "missing_child", "count", "weight"):
        assert_array_equal(getattr(tree, part), getattr(levels, part))
    for part in ("value", "impurity", "gain"):
        assert getattr(tree, part).tobytes() == getattr(levels, part).tobytes()
