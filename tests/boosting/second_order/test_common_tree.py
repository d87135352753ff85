"""One tree for all classes of a round: as in the textbook, with values and covers of every class."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.boosting.names.find import find_objective
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.common_tree import group_of_classes
from arboretum.boosting.second_order.recipe import BoostPlan
from arboretum.engine.keys import key_of
from arboretum.predict.ensemble import Ensemble
from arboretum.textbook.common_trees import boost_common
from arboretum.textbook.xgboost_splits import XGBSettings
from tests.boosting.second_order.test_booster import RULES, boosted, new_booster

N_CLASSES, RATE, SEED = 4, 0.3, 5
RULES_OF_DEPTH = RULES._replace(
    min_rows=1.0, min_weight=1.0, l2=2.0, max_depth=3, max_leaves=1 << 30, depth_first=True
)


def classes(n=300):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 30, size=(n, 4)).astype(float)  # every value has a bin
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 2, n) + 2 * (np.nan_to_num(X[:, 0]) + X[:, 1] > 30)


def common(**changes) -> Booster:
    X, y = classes()
    plan = BoostPlan(RULES_OF_DEPTH, RATE, seed=SEED, common_trees=True, unsplit_answers=False)
    plan = BoostPlan(**(vars(plan) | changes))
    objective = find_objective("multiclass", "lightgbm", n_classes=N_CLASSES)
    return new_booster(plan, objective, X, y.astype(float))


def test_rounds_are_those_of_the_textbook():
    booster, _ = common()
    X, y = classes()
    keys = [key_of(SEED, m, 0, 0) for m in range(5)]
    groups = [np.flatnonzero(group_of_classes(key, N_CLASSES)) for key in keys]
    settings = XGBSettings(max_depth=3, reg_lambda=2.0, min_child_weight=1.0)
    factor = N_CLASSES / (N_CLASSES - 1)
    book = boost_common(X, y, groups, RATE, settings, factor)
    for one in book:
        booster.round()
        assert np.allclose(booster.margin - booster.base, one.F - book_start(y), atol=2e-4)


def book_start(y):
    return np.log(np.bincount(y) / len(y))


def test_trees_of_a_round_have_the_same_splits_and_covers_of_their_classes():
    booster, _ = common()
    g_and_h = []
    for _ in range(2):
        booster.round()
        g_and_h.append(booster.rows.h.sum(axis=1))
    assert booster.n_rounds == 2
    for m in range(2):
        trees = booster.trees[m * N_CLASSES : (m + 1) * N_CLASSES]
        for tree in trees:
            assert np.array_equal(tree.feature, trees[0].feature)
            assert np.array_equal(tree.threshold, trees[0].threshold, equal_nan=True)
        assert np.allclose([tree.weight[0] for tree in trees], g_and_h[m], rtol=1e-5)
        leaves = trees[0].first_child < 0
        assert len({tuple(tree.value[leaves].ravel()) for tree in trees}) == N_CLASSES


@pytest.mark.parametrize("changes", [{}, {"subsample": 0.6}, {"columns_by_tree": 0.5}])
def test_margins_are_the_sums_of_the_trees(changes):
    booster, matrix = common(**changes)
    for _ in range(4):
        booster.round()
    ensemble = Ensemble(booster.trees, np.array(booster.weights), booster.base)
    assert ensemble.n_rounds == 4
    assert np.allclose(ensemble.answers(matrix), booster.margin, rtol=0, atol=1e-12)


def test_threads_change_nothing():
    one, two = (
        boosted({"common_trees": True}, "multiclass", 3, n=3_000, n_jobs=n_jobs)[0]
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.margin, two.margin)


def test_groups_have_classes_on_both_sides_and_separate_every_pair():
    groups = np.array([group_of_classes(key_of(0, m), 5) for m in range(200)])
    assert groups.any(axis=1).all()
    assert not groups.all(axis=1).any()
    apart = (groups[:, :, None] != groups[:, None, :]).mean(axis=0)
    assert apart[~np.eye(5, dtype=bool)].min() > 0.3


def test_a_class_without_splits_keeps_its_start():
    X = np.ones((20, 2))
    plan = BoostPlan(RULES, RATE, common_trees=True, unsplit_answers=False)
    objective = find_objective("multiclass", "lightgbm", n_classes=3)
    booster, _ = new_booster(plan, objective, X, np.arange(20.0) % 3)
    booster.round()
    assert [len(tree) for tree in booster.trees] == [1, 1, 1]
    assert np.array_equal(booster.margin, np.tile(booster.base, (20, 1)))
