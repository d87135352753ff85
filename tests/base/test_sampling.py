"""Ways to draw rows, each beside its obvious version; and bags: everybody who asks is told the same."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import (
    BaggingClassifier,
    DataError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
)
from arboretum.base.sampling import (
    Bootstrap,
    draw_by_weight,
    draw_counts,
    draw_heavier,
    draw_in_turn,
    hashes,
    smallest,
)
from arboretum.engine.keys import key_of, uniform_array
from arboretum.forest import variance
from arboretum.forest.proximity import unseen_rows
from tests.forest.forest_cases import saved


@pytest.mark.parametrize(("n", "size"), [(1, 5), (7, 7), (50, 20), (3, 0)])
def test_counts_are_those_of_draws_one_by_one(n, size):
    shares = uniform_array(key_of(9, 0xBA6), size)
    expected = np.zeros(n)
    for share in shares:
        expected[int(share * n)] += 1
    assert_array_equal(draw_counts(9, n, size), expected)


def test_by_weight_a_row_owns_a_stretch():
    rng = np.random.default_rng(3)
    for n in (1, 2, 40):
        w = rng.random(n) * (rng.random(n) < 0.7)
        w[n // 2] = 1.0
        shares = np.append(rng.random(100), [0.0, 1 - 2**-53])
        rows = draw_by_weight(w, shares)
        assert (w[rows] > 0).all()
        ends = np.cumsum(w / w.sum())
        assert (shares <= ends[rows] + 1e-12).all()
        assert (shares >= ends[rows] - w[rows] / w.sum() - 1e-12).all()


@pytest.mark.parametrize(("n", "k"), [(1, 0), (1, 1), (200, 31), (200, 200), (5, 9)])
def test_the_smallest_hashes_are_a_choice_without_replacement(n, k):
    keys = hashes(5, n)
    assert keys.tolist() == [key_of(5, i) for i in range(n)]
    rows = smallest(keys, k)
    assert_array_equal(rows, np.sort(np.argsort(keys, kind="stable")[:k]))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 0), (30, 7), (30, 30)])
def test_in_turn_row_after_row_is_drawn_or_left(n, k):
    expected, need = np.zeros(n, np.uint8), k
    for i in range(n):
        share = (key_of(11, i) >> 11) / 2**53
        if share * (n - i) < need:
            expected[i], need = 1, need - 1
    assert_array_equal(draw_in_turn(11, n, k), expected)
    assert expected.sum() == k


def test_in_turn_rows_that_all_weigh_nothing_are_drawn_again():
    w = np.zeros(100)
    w[[4, 60]] = 1
    again = 0
    for key in range(20):
        drawn = draw_in_turn(key, 100, 10, w)
        first = draw_in_turn(key, 100, 10)
        if first[[4, 60]].any():
            assert_array_equal(drawn, first)
        else:
            again += 1
            assert_array_equal(np.flatnonzero(drawn), [4, 60])
    assert again > 5


def test_every_row_is_as_likely_as_any_other():
    times = {"smallest": np.zeros(20), "in turn": np.zeros(20)}
    for key in range(3000):
        times["smallest"][smallest(hashes(key, 20), 5)] += 1
        times["in turn"] += draw_in_turn(key, 20, 5)
    for drawn in times.values():
        assert abs(drawn / 3000 - 0.25).max() < 0.035  # 4.4 standard deviations


def test_heavier_rows_are_drawn_sooner_and_none_twice():
    w = np.array([1.0, 4.0, 2.0])
    firsts = np.zeros(3)
    for t in range(700):
        rows = draw_heavier(w, uniform_array(t, 3), 2)
        assert len(set(rows.tolist())) == 2
        firsts[rows[0]] += 1
    assert_allclose(firsts / firsts.sum(), w / w.sum(), atol=0.06)


# ---------------------------------------------------------------------- bags
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


@pytest.mark.parametrize(
    "make",
    [RandomForestClassifier, lambda n, **more: BaggingClassifier(n_estimators=n, **more)],
    ids=["forest", "bagging"],
)
def test_a_warm_start_may_see_other_rows_whose_bags_are_known(make):
    model = make(2, warm_start=True, random_state=0).fit(X, Y > 3, W)
    first = [one.tree_.value.copy() for one in model.estimators_]
    model.set_params(n_estimators=4).fit(X[::2], Y[::2] > 3)
    again = make(4, random_state=0).fit(X[::2], Y[::2] > 3)
    assert [one.tree_.value.tolist() for one in model] == [
        *(value.tolist() for value in first),
        *(one.tree_.value.tolist() for one in again.estimators_[2:]),
    ]
    assert_array_equal(model._bags.counts(3), again._bags.counts(3))
    kept = pickle.loads(pickle.dumps(model))
    for read in (
        lambda: model.estimators_samples_,
        lambda: kept.estimators_samples_,
        lambda: type(model._bags).from_state(model._bags.to_state(), *_width(model)).counts(0),
        lambda: model.set_params(oob_score=True, n_estimators=5).fit(X[::2], Y[::2] > 3),
    ):
        with pytest.raises(DataError, match="the 2 members before the last fit"):
            read()
    assert "first" not in again._bags.to_state()


def _width(model):
    return (X.shape[1],) if isinstance(model, BaggingClassifier) else ()
