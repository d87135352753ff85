"""Trees of few different splits as tables: the same bits as walking, for numbers, sets and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum import LGBMRegressor, RandomForestClassifier, XGBClassifier, XGBRegressor
from arboretum.predict.engines import choose
from arboretum.predict.engines.bit_tables import BitTableEngine
from arboretum.predict.engines.walk import WalkEngine


def table(n, seed=0, *, words=3, missing=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{k}": rng.normal(size=n) for k in range(4)})
    X["few"] = rng.integers(0, 5, n).astype(float)
    for k in range(words):
        X[f"word{k}"] = rng.choice([f"w{j}" for j in range(4 + 40 * k)], n)
    y = X["x0"] * (X["x1"] > 0) + X["few"] + np.sin(3 * X["x2"])
    y += sum((X[f"word{k}"] < "w2") * 1.0 for k in range(words))
    return X.mask(rng.random(X.shape) < missing), y.to_numpy()


def both(model, X):
    """Return what tables and walking add, for rows as the model encodes them."""
    terms, rows = model.ensemble_.terms, model.predictor().encode(X)
    shape = len(rows), model.ensemble_.base.size
    totals = np.full(shape, 0.1), np.full(shape, 0.1)
    for engine, total in zip((BitTableEngine, WalkEngine), totals, strict=True):
        engine.lay_out(terms).add(rows, total)
    return totals


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.integers(0, 3), st.sampled_from([0.0, 0.2]), st.integers(0, 9))
def test_the_same_bits_as_walking(depth, words, missing, seed):
    X, y = table(300, seed, words=words, missing=missing)
    how = {"grow_policy": "symmetric", "max_depth": depth, "n_estimators": 12, "n_jobs": 1}
    model = XGBRegressor(**how, random_state=seed).fit(X, y)
    new, _ = table(257, seed + 1, words=words, missing=0.3)
    model.unseen = "ignore"
    tables, walked = both(model, new)
    assert np.array_equal(tables, walked)


def test_words_only():
    X, y = table(400)
    X = X[["word0", "word1"]]
    tables, walked = both(XGBRegressor(grow_policy="symmetric", max_depth=3).fit(X, y), X)
    assert np.array_equal(tables, walked)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 127, 128, 129])
def test_blocks_of_any_size(n):
    X, y = table(400)
    model = XGBRegressor(grow_policy="symmetric", n_estimators=9).fit(X, y)
    tables, walked = both(model, X[:n])
    assert np.array_equal(tables, walked)


def test_several_outputs_and_many_cuts():
    X, y = table(3_000, words=2)
    classes = pd.qcut(y, 4, labels=False)
    model = XGBClassifier(grow_policy="symmetric", max_bin=2_000, n_estimators=200).fit(X, classes)
    engine = BitTableEngine.lay_out(model.ensemble_.terms)
    assert np.diff(engine.layout.cuts_start).max() > 255  # codes of two bytes
    tables, walked = both(model, X)
    assert np.array_equal(tables, walked)


def test_leaves_with_several_numbers():
    X, y = table(500)
    model = RandomForestClassifier(8, max_depth=2, random_state=0).fit(X, y > y.mean())
    tables, walked = both(model, X)
    assert np.array_equal(tables, walked)


def test_infinite_values_and_categories_that_do_not_exist():
    X, y = table(400, words=1)
    model = XGBRegressor(grow_policy="symmetric", n_estimators=20).fit(X, y)
    rows = model.predictor().encode(X)
    rows[:9, :2] = [np.inf, -np.inf]
    rows[:9, 5] = [-1.0, 4.0, 99.0, np.nan, np.inf, -np.inf, 0.5, 1e300, 3.0]
    totals = np.zeros((len(rows), 1)), np.zeros((len(rows), 1))
    for engine, total in zip((BitTableEngine, WalkEngine), totals, strict=True):
        engine.lay_out(model.ensemble_.terms).add(rows, total)
    assert np.array_equal(*totals)


def test_which_trees_it_takes():
    X, y = table(2_000, words=1)
    symmetric = XGBRegressor(grow_policy="symmetric", n_estimators=20).fit(X, y)
    assert isinstance(choose.choose(symmetric.ensemble_.terms, 10_000), BitTableEngine)
    deep = XGBRegressor(grow_policy="symmetric", max_depth=9, n_estimators=2).fit(X, y)
    assert BitTableEngine.lay_out(deep.ensemble_.terms) is None
    ordinary = LGBMRegressor(n_estimators=20).fit(X, y)
    assert BitTableEngine.lay_out(ordinary.ensemble_.terms) is None
    assert not isinstance(choose.choose(ordinary.ensemble_.terms, 10_000), BitTableEngine)


def test_trees_of_which_only_some_are_symmetric():
    X, y = table(1_000, words=0)
    first = XGBRegressor(grow_policy="symmetric", n_estimators=3).fit(X, y)
    both_kinds = XGBRegressor(n_estimators=3).fit(X, y, xgb_model=first)
    assert BitTableEngine.lay_out(both_kinds.ensemble_.terms) is None
    again = both_kinds.predictor()(both_kinds.predictor().encode(X))
    assert np.array_equal(both_kinds.predict(X), again)
