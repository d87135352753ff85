"""Bags: which rows a tree sees. Everybody who asks is told the same, also of a bag drawn twice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import DataError, RandomForestClassifier, RandomForestRegressor, load
from arboretum.base.bags import Bootstrap
from arboretum.forest import variance
from arboretum.forest.proximity import unseen_rows
from tests.forest.forest_cases import saved

N, WEIGHING = 40, np.array([3, 8, 21])
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.arange(N) % 7.0
W = np.zeros(N)
W[WEIGHING] = [1.0, 2.0, 1.0]


def test_a_bag_without_any_weight_is_drawn_again_from_the_others():
    bags, plain = Bootstrap(5, N, 10, WEIGHING), Bootstrap(5, N, 10)
    again = 0
    for t in range(60):
        first = plain.counts(t)
        if first[WEIGHING].any():
            assert_array_equal(bags.counts(t), first)
        else:
            again += 1
            assert bags.counts(t)[WEIGHING].sum() == bags.counts(t).sum() == 10
    assert again > 10


@pytest.fixture(scope="module", params=["grown", "loaded"])
def forest(request):
    model = RandomForestRegressor(
        80, max_samples=10, oob_score=True, keep_leaves=True, random_state=5
    ).fit(X, Y, W)
    return model if request.param == "grown" else load(saved(model))


def test_every_user_goes_by_the_same_bags(forest):
    counts = np.array([forest._bags.counts(t) for t in range(80)])
    first = np.array([Bootstrap(forest.seed_, N, 10).counts(t) for t in range(80)])
    assert (counts != first).any(axis=1).sum() > 10  # so many were drawn again
    assert_allclose([tree.weight[0] for tree in forest.trees_], counts @ W)
    assert_array_equal(forest.oob_n_trees_, (counts == 0).sum(axis=0))
    assert_array_equal(unseen_rows(forest), counts.T == 0)
    assert_array_equal(variance._bags(forest), counts)


def test_quantiles_know_the_rows_of_a_bag_drawn_again(forest):
    said = forest.predict(X, quantiles=[0.0, 0.3, 1.0])
    assert np.isin(said, Y[WEIGHING]).all()


def test_importance_asks_the_trees_of_all_bags(forest):
    rows_of = np.array([(forest._bags.counts(t)[WEIGHING] == 0).any() for t in range(80)])
    assert len(forest.permutation_importance(X, Y, W).per_tree) == rows_of.sum()


def test_proximities_out_of_bag(forest):
    away = np.array([forest._bags.counts(t) == 0 for t in range(80)]).T
    leaves = forest.apply(X)
    both = away[3] & away[8]
    expected = (leaves[3] == leaves[8])[both].mean()
    assert_allclose(forest.proximity(kind="oob")[3, 8], expected)


def test_a_warm_start_keeps_the_rows_of_weight_0():
    model = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, Y > 3, W)
    with pytest.raises(DataError, match="weight 0"):
        model.set_params(n_estimators=4).fit(X, Y > 3)
