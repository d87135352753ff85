"""Trees of codes as trees of values, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum.data.schema import learn_schema
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.decoding import grown_of, trees_of

RNG = np.random.default_rng(3)
N = 600
X = pd.DataFrame({"a": RNG.normal(size=N), "few": RNG.integers(0, 5, N).astype(float)})
X.loc[RNG.random(N) < 0.1, "a"] = np.nan
X["word"] = RNG.choice(list("pqrstuvw"), N)
X["grade"] = pd.Categorical(
    RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True
)
Y = X["a"].fillna(1) * X["few"] + X["word"].isin(["q", "t"]) * 2 + X["grade"].cat.codes


def fitted(**more):
    model = arb.XGBRegressor(n_estimators=4, tree_method="hist", enable_categorical=True, **more)
    return model.fit(X, Y)


def bins_of(max_bin):
    schema, matrix = learn_schema(X)
    return schema, find_bins(
        matrix, schema, BinRules(max_bin=max_bin, min_data_in_bin=1, sample=10**6)
    )


@pytest.mark.parametrize("max_bin", [20, 256, 400])
def test_trees_come_back(max_bin):
    model = fitted(max_bin=max_bin)
    schema, bins = bins_of(max_bin)
    for tree in model.trees_:
        grown = grown_of(tree, bins, schema)
        assert grown is not None
        grown.nodes["value"] = tree.value[:, 0, 0]
        (again,) = trees_of(grown, np.array([len(tree)]), bins, schema)
        for name in (
            "kind",
            "feature",
            "threshold",
            "first_child",
            "missing_child",
            "bits",
            "value",
        ):
            assert np.array_equal(getattr(again, name), getattr(tree, name), equal_nan=True), name


def test_trees_of_other_bins_have_no_codes():
    schema, bins = bins_of(4)
    assert all(grown_of(tree, bins, schema) is None for tree in fitted(max_bin=50).trees_)
