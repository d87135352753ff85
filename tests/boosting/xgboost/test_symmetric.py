"""grow_policy="symmetric": the textbook's tree, one cut per level under all options, the laws of boosting."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum import XGBClassifier, XGBRanker, XGBRegressor
from arboretum.explain.worksheet.families.second_order.levels import levels_of, takers
from arboretum.textbook.gradient_scan import GradientRules
from arboretum.textbook.symmetric import grow_symmetric
from tests.boosting.xgboost.xgb_cases import halves, mixed, numbers, saved, thirds


def check_levels(model, max_depth):
    """Check that the nodes of a level have one cut, levels follow each other on a path, and rules hold."""
    gamma, weight = (
        model.gamma or 0.0,
        1.0 if model.min_child_weight is None else model.min_child_weight,
    )
    for tree in model.trees_:
        inner, level = np.flatnonzero(~tree.is_leaf), levels_of(tree)
        assert level.max() <= max_depth
        for node in inner.tolist():
            above = int(tree.parent[node])
            assert above < 0 or level[above] < level[node]
        for number in range(int(level.max())):
            cuts = {tree.split_of(node) for node in takers(tree, number)}
            assert len(cuts) == 1
        assert (tree.gain[inner] >= gamma).all()
        assert (tree.gain[inner] > 0).all()
        if len(tree) > 1:
            assert tree.weight.min() >= weight * (1 - 1e-3)
            assert tree.count.min() > 0


def test_the_first_tree_is_that_of_the_textbook():
    X, _ = numbers(300)
    y = np.random.default_rng(0).integers(-20, 20, 300).astype(float)
    model = XGBRegressor(
        grow_policy="symmetric", n_estimators=1, learning_rate=1.0, base_score=0.0, max_depth=5
    ).fit(X, y)
    book = grow_symmetric(X, -y, np.ones(300), GradientRules(), 5)
    np.testing.assert_allclose(model.predict(X), book.predict(X), rtol=1e-6)


def test_the_first_tree_of_words_is_that_of_the_textbook():
    X, _ = mixed(300)
    y = np.random.default_rng(1).integers(-20, 20, 300) + 9.0 * (X["colour"] == "red")
    model = XGBRegressor(
        grow_policy="symmetric", n_estimators=1, learning_rate=1.0, base_score=0.0, max_depth=4
    ).fit(X, y)
    codes = np.column_stack([
        X["city"].cat.codes, np.unique(X["colour"], return_inverse=True)[1], X["age"]
    ]).astype(float)  # fmt: skip
    book = grow_symmetric(codes, -y, np.ones(300), GradientRules(), 4, categorical=(0, 1))
    assert any(level.chosen.categories for level in book.levels)
    np.testing.assert_allclose(model.predict(X), book.predict(codes), rtol=1e-6)


WAYS = {
    "plain": {},
    "samples": {"subsample": 0.6, "colsample_bytree": 0.8, "colsample_bylevel": 0.7, "colsample_bynode": 0.7},
    "penalties": {"reg_alpha": 0.5, "gamma": 0.8, "min_child_weight": 7.0, "max_delta_step": 0.5},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "parallel": {"num_parallel_tree": 2, "subsample": 0.7},
    "approx": {"tree_method": "approx", "max_bin": 20},
    "approx for a tree": {"tree_method": "approx", "proposals": "global", "sketch_eps": 0.1},
    "many bins": {"max_bin": 400},
    "one hot": {"max_cat_to_onehot": 30},
    "few categories": {"max_cat_threshold": 2},
    "median": {"objective": "reg:absoluteerror"},
    "counts": {"objective": "count:poisson"},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_margins_of_boosting_are_those_of_the_trees(way):
    X, y = mixed(500)
    y = np.abs(y.round()) if way == "counts" else y
    how = {"grow_policy": "symmetric", "max_depth": 4, "n_estimators": 8, "random_state": 2} | WAYS[
        way
    ]
    model = XGBRegressor(**how).fit(X, y, eval_set=[(X, y)], verbose=False)
    check_levels(model, 4)
    metric, values = next(iter(model.evals_result()["validation_0"].items()))
    assert values[-1] < values[0]
    if metric == "rmse":
        assert values[-1] == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)), rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 9), st.integers(1, 7), st.sampled_from([0.0, 1.0, 8.0]), st.sampled_from([0.0, 2.0]),
    st.sampled_from([1.0, 0.6]), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_every_level_has_one_cut(seed, depth, weight, gamma, share, missing):
    X, y = numbers(200, seed, missing)
    X = pd.DataFrame(X).assign(word=np.random.default_rng(seed).choice(list("abcdefghi"), 200))
    X.columns = [str(name) for name in X.columns]
    model = XGBRegressor(
        grow_policy="symmetric", max_depth=depth, min_child_weight=weight, gamma=gamma, n_estimators=4,
        subsample=share, colsample_bynode=share, random_state=seed,
    ).fit(X, y)  # fmt: skip
    check_levels(model, depth)


def test_classes_and_orders():
    X, y = numbers(400)
    two = XGBClassifier(grow_policy="symmetric", n_estimators=20).fit(X, halves(y))
    three = XGBClassifier(grow_policy="symmetric", n_estimators=20).fit(X, thirds(y))
    ranker = XGBRanker(grow_policy="symmetric", n_estimators=20).fit(X, thirds(y), group=[100] * 4)
    assert two.score(X, halves(y)) > 0.9
    assert three.score(X, thirds(y)) > 0.8
    assert np.corrcoef(ranker.predict(X), y)[0, 1] > 0.5
    for model in (two, three, ranker):
        check_levels(model, 6)


def test_rows_of_weight_two_are_rows_twice():
    X, y = numbers(200)
    y = y.round()
    weight = np.random.default_rng(0).integers(1, 3, 200)
    how = {"grow_policy": "symmetric", "n_estimators": 1, "base_score": 0.0, "max_depth": 4}
    weighted = XGBRegressor(**how).fit(X, y, sample_weight=weight)
    twice = XGBRegressor(**how).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), twice.predict(X), rtol=1e-5)


def test_a_fit_that_goes_on_and_a_fit_in_one_are_the_same():
    X, y = numbers(300)
    how = {"grow_policy": "symmetric", "subsample": 0.8, "random_state": 0}
    whole = XGBRegressor(n_estimators=12, **how).fit(X, y)
    half = XGBRegressor(n_estimators=6, **how).fit(X, y)
    rest = XGBRegressor(n_estimators=6, **how).fit(X, y, xgb_model=half)
    assert np.array_equal(whole.predict(X), rest.predict(X))


def test_one_column_without_a_split_and_one_of_gaps_only():
    y = np.arange(50.0)
    constant = XGBRegressor(grow_policy="symmetric", n_estimators=3).fit(np.ones((50, 1)), y)
    assert all(len(tree) == 1 for tree in constant.trees_)
    X = np.column_stack([np.full(50, np.nan), np.where(y < 20, np.nan, 1.0)])
    gaps = XGBRegressor(grow_policy="symmetric", n_estimators=30).fit(X, y)
    assert gaps.predict(X)[[0, 49]] == pytest.approx([9.5, 34.5], abs=0.1)


def test_the_same_file_for_any_number_of_threads_and_a_second_fit():
    X, y = mixed(3_000)
    files = {
        saved(XGBRegressor(grow_policy="symmetric", n_estimators=10, n_jobs=jobs).fit(X, y))
        for jobs in (1, 2, 1)
    }
    assert len(files) == 1


@pytest.mark.parametrize("seed", range(3))
def test_catboost_predicts_the_same_where_no_leaf_loses_by_a_cut(seed):
    """Without λ and missing values no node refuses the cut of its level, as in CatBoost."""
    catboost = pytest.importorskip("catboost")
    X, y = numbers(400, seed, missing=0.0)
    theirs = catboost.CatBoostRegressor(
        iterations=5, learning_rate=0.5, depth=4, l2_leaf_reg=0.0, random_strength=0.0,
        bootstrap_type="No", boosting_type="Plain", score_function="L2", boost_from_average=False,
        leaf_estimation_method="Gradient", leaf_estimation_iterations=1, border_count=254,
        feature_border_type="MinEntropy", verbose=False, allow_writing_files=False,
    ).fit(X, y)  # fmt: skip
    ours = XGBRegressor(
        grow_policy="symmetric", n_estimators=5, learning_rate=0.5, max_depth=4, reg_lambda=0.0,
        min_child_weight=0.0, base_score=0.0,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
