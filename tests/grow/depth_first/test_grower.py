"""Trees grown in one call are those grown level by level: words, gaps, weights, limits, constraints.

Where two columns divide a node alike the last bit of a score decides, and the two ways compute it
differently. That is common in small nodes only, so growth is stopped before.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import (
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
)
from arboretum.data.schema import learn_schema
from arboretum.engine.split import statistic as stat
from arboretum.grow import choose
from arboretum.grow.cart import CartGrower
from arboretum.grow.depth_first import arrays, table
from arboretum.grow.depth_first.grower import DepthFirstGrower
from arboretum.grow.grower import make_target
from arboretum.grow.settings import Growth
from arboretum.predict.walk import leaves_of

CRITERIA = {
    "gini, two classes": (stat.GINI, 2, 1),
    "gini, four classes": (stat.GINI, 4, 1),
    "entropy, two classes": (stat.ENTROPY, 2, 1),
    "entropy, three classes": (stat.ENTROPY, 3, 1),
    "gini, two outputs": (stat.GINI, 3, 2),
    "squared error": (stat.SQUARED, 0, 1),
    "squared error, two outputs": (stat.SQUARED, 0, 2),
    "Friedman, two outputs": (stat.FRIEDMAN, 0, 2),
    "Poisson": (stat.POISSON, 0, 1),
}
WAYS = {
    "plain": {},
    "some columns": {"max_features": 2, "seed": 7},
    "random splits": {"random_splits": True, "seed": 8},
    "best first": {"max_leaf_nodes": 9, "min_samples_leaf": 3},
    "no charge": {"category_penalty": 0.0},
    "decrease": {"min_impurity_decrease": 0.01},
}


def words_and_numbers(rng: np.random.RandomState, n: int) -> pd.DataFrame:
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.randint(0, 6, n), "c": rng.normal(size=n)})
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X["few"] = np.array([f"w{k}" for k in rng.randint(0, 5, n)], object)
    X["many"] = np.array([f"v{k}" for k in rng.randint(0, 40, n)], object)
    X.loc[rng.random(n) < 0.1, "few"] = None
    X["rank"] = pd.Categorical.from_codes(rng.randint(0, 4, n), list("abcd"), ordered=True)
    return X


def target_of(rng, X, n_classes, outputs, weights):
    n = len(X)
    signal = X["c"].to_numpy() + (X["b"].to_numpy() > 2) + rng.normal(size=n)
    y = np.column_stack([signal + rng.normal(size=n) for _ in range(outputs)])
    if n_classes:
        y = np.clip(np.floor(y + n_classes / 2), 0, n_classes - 1).astype(np.int32)
        return make_target(y, np.full(outputs, n_classes), weights)
    return make_target(np.exp(y), None, weights)


def both(X, target, how, weights):
    schema, matrix = learn_schema(X)
    rows = None if weights is None else np.flatnonzero(weights)
    return (
        Grower(matrix, schema, how).grow(target, rows, how.seed).tree
        for Grower in (CartGrower, DepthFirstGrower)
    )


def sets_of(tree):
    """Return the categories that go left at every node."""
    words = [-(-len(c.categories or ()) // 32) for c in tree.schema.columns]
    start = tree.bits_start
    return [
        None if start[i] < 0 else tuple(tree.bits[start[i] : start[i] + words[tree.feature[i]]])
        for i in range(len(tree))
    ]


def assert_same(a, b):
    for name in ("kind", "feature", "first_child", "missing_child", "count"):
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in ("threshold", "value", "impurity", "gain", "weight"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert sets_of(a) == sets_of(b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", CRITERIA)
def test_one_call_grows_the_level_wise_tree(what, way):
    criterion, n_classes, outputs = CRITERIA[what]
    how = Growth(criterion=criterion, **{"min_samples_split": 24, **WAYS[way]})
    if n_classes:
        how = replace(how, max_depth=2)
    for seed in range(3):
        rng = np.random.RandomState(seed)
        X = words_and_numbers(rng, 240)
        weights = (None, rng.randint(0, 3, 240).astype(float), rng.uniform(0.2, 2, 240))[seed]
        if criterion in (stat.SQUARED, stat.POISSON) and outputs == 1:
            how = replace(how, monotone=np.array([1, -1, 0, 0, 0, 1], np.int8) if seed else None)
        target = target_of(rng, X, n_classes, outputs, weights)
        assert_same(*both(X, target, how, weights))


@pytest.mark.parametrize("what", ["gini, two classes", "gini, four classes", "squared error"])
def test_every_row_has_its_leaf(what):
    criterion, n_classes, outputs = CRITERIA[what]
    for seed, limit in enumerate([{"max_depth": 5}, {"max_leaf_nodes": 12}, {"max_depth": 5}]):
        rng = np.random.RandomState(seed)
        X = words_and_numbers(rng, 400)
        weights = (np.ones(400), rng.randint(0, 2, 400) * 1.0, rng.uniform(0.2, 2, 400))[seed]
        target = target_of(rng, X, n_classes, outputs, weights)
        how = Growth(criterion=criterion, max_features=4, seed=seed, **limit)
        schema, matrix = learn_schema(X)
        rows = None if weights.all() else np.flatnonzero(weights)
        grown = DepthFirstGrower(matrix, schema, how).grow(target, rows, seed)
        assert_array_equal(grown.leaf_of_row, leaves_of(grown.tree, matrix))


@pytest.mark.parametrize("weights", ["whole", "any", "of several sizes"])
@pytest.mark.parametrize(
    "what", ["gini, two classes", "gini, four classes", "squared error", "Poisson"]
)
@pytest.mark.parametrize("random_splits", [False, True])
def test_trees_grown_together_are_those_grown_one_by_one(what, weights, random_splits):
    criterion, n_classes, outputs = CRITERIA[what]
    rng = np.random.RandomState(5)
    X = words_and_numbers(rng, 150)
    target = target_of(rng, X, n_classes, outputs, None)
    bags = rng.randint(0, 3, (4, 150)).astype(float)
    if weights == "any":
        bags *= rng.uniform(0.5, 1, 150)
    elif weights == "of several sizes":
        bags *= np.array([[1], [1], [40], [1]])
    how = Growth(criterion=criterion, max_features=3, random_splits=random_splits)
    grower, keys = DepthFirstGrower(*learn_schema(X)[::-1], how), [3, 1, 4, 1]
    together = grower.grow_trees(target, bags, keys)
    for key, bag, tree in zip(keys, bags, together, strict=True):
        alone = grower.grow_trees(target, bag[None], [key])[0]
        assert_array_equal(tree.gain, alone.gain)
        assert_array_equal(tree.value, alone.value)
        assert_same(tree, alone)


def test_small_tables_are_grown_in_one_call_and_large_ones_level_by_level():
    rng = np.random.RandomState(3)
    X = words_and_numbers(rng, 300)
    y = target_of(rng, X, 0, 1, None).y[:, 0]
    small = CARTRegressor(min_samples_split=24).fit(X, y)
    with patch.object(choose, "FEW_ROWS", 0):
        large = CARTRegressor(min_samples_split=24).fit(X, y)
    assert_same(small.tree_, large.tree_)


@pytest.mark.parametrize("forest", [False, True])
def test_what_many_categories_gain_by_chance_does_not_count(forest):
    rng = np.random.RandomState(0)
    X = pd.DataFrame({"signal": rng.normal(size=600)})
    X["noise"] = np.array([f"k{k}" for k in rng.randint(0, 150, 600)], object)
    y = (0.6 * X["signal"] + rng.normal(size=600) > 0).astype(int)
    model = CARTClassifier(max_depth=1)
    if forest:
        model = RandomForestClassifier(5, max_features=None, max_depth=1, bootstrap=False)
    charged = model.set_params(category_penalty=1.0).fit(X, y).feature_importances_
    free = model.set_params(category_penalty=0.0).fit(X, y).feature_importances_
    assert_array_equal(charged, [1.0, 0.0])
    assert_array_equal(free, [0.0, 1.0])


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_random_cuts_of_ranks_are_ranks(kind, tmp_path):
    """Also in nodes of two rows, which have a way of their own."""
    rng = np.random.RandomState(0)
    words = ["low", "mid", "high"]
    X = pd.DataFrame({"x": rng.normal(size=240).round(3)})
    X["g"] = pd.Categorical(rng.choice(words, 240), words, ordered=True)
    y = (X["x"] + rng.normal(size=240) > 0).astype(int)
    model = kind(6, random_state=0).fit(X, y)
    for tree in model.trees_:
        cuts = tree.threshold[(tree.feature == 1) & np.isfinite(tree.threshold)]
        assert_array_equal(cuts, np.floor(cuts))
    model.save(tmp_path / "ranks.arb")
    assert_array_equal(load(tmp_path / "ranks.arb").predict(X), model.predict(X))


def test_nobody_gives_anything_for_a_word_per_row():
    """Two classes are parted perfectly by names of rows: single trees and forests charge all of that."""
    rng = np.random.RandomState(0)
    X = pd.DataFrame({"signal": rng.normal(size=200), "name": [f"row {k}" for k in range(200)]})
    y = (X["signal"] + rng.normal(size=200) > 0).astype(int)
    options = {"max_features": None, "max_depth": 1, "random_state": 0}
    forest = RandomForestClassifier(1, bootstrap=False, **options).fit(X, y)
    assert_array_equal(forest.feature_importances_, [1.0, 0.0])
    assert_array_equal(CARTClassifier(**options).fit(X, y).feature_importances_, [1.0, 0.0])
    free = CARTClassifier(category_penalty=0, **options).fit(X, y)
    assert_array_equal(free.feature_importances_, [0.0, 1.0])


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 8}, {"criterion": "entropy"}])
def test_forests_with_words_do_not_depend_on_threads(forest, options):
    rng = np.random.RandomState(1)
    X = words_and_numbers(rng, 200)
    y = target_of(rng, X, 3, 1, None).y[:, 0]
    one, two = (
        forest(8, random_state=2, n_jobs=jobs, **options).fit(X, y).predict_proba(X)
        for jobs in (1, 2)
    )
    assert_array_equal(one, two)


def test_a_forest_of_counts_and_of_several_outputs_has_words():
    rng = np.random.RandomState(2)
    X = words_and_numbers(rng, 200)
    counts = rng.poisson(np.exp(X["c"].clip(-2, 2)))
    poisson = RandomForestRegressor(20, criterion="poisson", random_state=0).fit(X, counts)
    assert np.corrcoef(poisson.predict(X), counts)[0, 1] > 0.8
    two = RandomForestRegressor(20, random_state=0).fit(X, np.column_stack([counts, -counts]))
    assert two.predict(X).shape == (200, 2)
    assert_allclose(two.predict(X)[:, 0], -two.predict(X)[:, 1], atol=1e-9)


@pytest.mark.parametrize("make", [ExtraTreesClassifier, RandomForestClassifier])
def test_a_branch_grown_on_a_copy_of_its_rows_is_the_same(make, monkeypatch):
    """Rows of a copy lie row by row, those of the table column by column."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(800, 6))
    X[:, 4] = rng.integers(0, 5, 800)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0] + X[:, 4]) + rng.normal(size=800) > 1).astype(int)
    answers, questions = [], []
    for near in (1 << 20, 6 * 8 * 100):
        monkeypatch.setattr(arrays, "_NEAR", near)
        monkeypatch.setattr(table, "_LARGE", near)
        model = make(n_estimators=3, random_state=0, categorical_features=[4]).fit(X, y)
        answers.append(model.predict_proba(X))
        # copied branches are grown after the others, so nodes are numbered in another order
        questions.append([np.lexsort((t.threshold, t.feature)) for t in model.trees_])
        questions[-1] = [
            (t.feature[order], t.threshold[order])
            for t, order in zip(model.trees_, questions[-1], strict=True)
        ]
    assert_array_equal(*answers)
    for whole, copied in zip(*questions, strict=True):
        assert_array_equal(whole, copied)
